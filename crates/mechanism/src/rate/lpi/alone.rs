//! Low-power idle without events: of a link that its first packet wakes, and whose directions sleep alone.
//!
//! Such a link's states follow from its arrivals and departures. Its owner asks at each arrival, and computes the
//! departure at once. The machine then makes up for the timeouts since the last arrival.

use super::config::Coalescing;
use super::{Lpi, LpiConfig, State};
use crate::link::{self, Controller as _, LowPowerTimes};
use crate::{ConfigError, Machine as _};
use netlull_units::Instant;

/// The low-power idle of such a link.
#[derive(Clone, Debug)]
pub struct LpiAlone(Lpi);

impl LpiConfig {
    /// The low-power idle of a link that begins at `start`; `None` if a threshold or the other direction may wake it.
    ///
    /// # Errors
    /// Names the first field that is missing or out of range.
    pub fn alone(&self, link: link::Context, start: Instant) -> Result<Option<LpiAlone>, ConfigError> {
        let timing = self.timing(link)?;
        let is_alone = !self.is_coupled() && timing.target.is_none() && timing.coalescing == Coalescing::default();
        Ok(is_alone.then(|| LpiAlone(Lpi::new(timing, link.rate, start))))
    }
}

impl LpiAlone {
    /// The time from which the link can send a packet that arrives at `now`: `now` if it is awake. It has sent all earlier
    /// packets at `free`.
    ///
    /// At the instant of a timeout the packet comes first, or last if `is_last`. The link wakes for a dropped packet too.
    #[inline]
    pub fn arrives(&mut self, now: Instant, free: Instant, is_last: bool) -> Instant {
        self.make_up(now, free, is_last);
        match self.0.state {
            State::Awake { .. } => now,
            State::Waking { until, .. } => until.max(now),
            State::Low { mode, until, .. } => {
                self.0.deepens_at = None;
                let wakes_at = *self.0.held.wakes_at.get_or_insert(now);
                wakes_at.max(until) + self.0.timing.wake(mode)
            }
        }
    }

    /// The state up to `now`, timeouts of that instant included, for a link that has sent all packets at `free`: its times,
    /// and true if it is in low power.
    #[must_use]
    pub fn up_to(&self, now: Instant, free: Instant) -> (LowPowerTimes, bool) {
        let mut then = self.clone();
        then.make_up(now, free, true);
        (then.0.low_power(now).unwrap_or_default(), matches!(then.0.state, State::Low { .. }))
    }

    /// Handles the timeouts before `now`, and those at `now` if `is_last`.
    #[inline]
    fn make_up(&mut self, now: Instant, free: Instant, is_last: bool) {
        loop {
            let Lpi { state, timing, .. } = &self.0;
            let due = match *state {
                // A link that has woken stays in `Waking` while it is awake.
                State::Awake { from: awake, .. } | State::Waking { until: awake, .. } => {
                    free.max(awake) + timing.hysteresis
                }
                State::Low { .. } => self.0.next_timeout().unwrap_or(Instant::NEVER),
            };
            if due > now || due == now && !is_last {
                return;
            }
            match self.0.state {
                State::Awake { .. } | State::Waking { .. } => self.0.sleep(due),
                State::Low { .. } if self.0.held.wakes_at.is_some() => self.0.wake(due),
                State::Low { .. } => self.0.deepen(due),
            }
        }
    }
}
