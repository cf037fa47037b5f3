//! Low-power idle of Energy Efficient Ethernet (IEEE 802.3az, 802.3bj): a link that sleeps between packets and holds
//! packets until it is awake.
//!
//! ```text
//!            idle for the hysteresis        T_s, 1st frame held, then a threshold
//!   Awake ──────────────────────────► Low ────────────────────────────────────────► Waking
//!     ▲     (coupled: both directions)  │ deep_after: fast wake ──► deep sleep         │ T_w
//!     └─────────────────────────────────┴──────────────────────────────────────────────┘
//! ```
//!
//! A link may have given times of sleep ([`Naps`]) in place of the hysteresis: `[[sleep]]` of links that hold packets.
//! `Low` begins with the transition of T_s. A frame that arrives then waits for the rest of T_s and for T_w.

mod alone;
mod config;
mod phy;
#[cfg(test)]
mod tests;
mod tuner;

use crate::link::{self, LinkAction, LinkEvent, LowPowerTimes};
use crate::view::Admission;
use crate::{ConfigError, Machine};
use config::{Coalescing, Mode, Timing};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use tuner::Tuner;

pub use alone::LpiAlone;
pub use config::{LpiConfig, LpiThreshold};
pub use phy::{LpiDevice, Phy};

/// The state of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Active since `from`. `sleeps_at` is the end of the hysteresis of an idle link.
    Awake { from: Instant, sleeps_at: Option<Instant> },
    /// In low power since `from`, with a transition until `until`.
    Low { mode: Mode, from: Instant, until: Instant },
    /// Waking from `from` to `until`.
    Waking { from: Instant, until: Instant },
}

/// The frames held in low power.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    frames: u64,
    /// The time from which the link may wake, once it is known.
    wakes_at: Option<Instant>,
}

/// Given times of sleep, in place of a hysteresis (docs/models/sleep.md). The link falls asleep in a nap as soon as it is
/// empty, and at most once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Naps {
    /// The begin of each nap, and its end, when the link begins to wake; in the order of time. `NEVER` is no end.
    pub times: VecDeque<(Instant, Instant)>,
    /// True if the first held packet wakes the link, if it comes before the end of the nap.
    pub wake_on_arrival: bool,
}

impl Naps {
    /// The time from which a link that is idle since `now` may sleep. Naps that are over are forgotten.
    fn next(&mut self, now: Instant) -> Instant {
        while self.times.front().is_some_and(|&(_, to)| to <= now) {
            self.times.pop_front();
        }
        self.times.front().map_or(Instant::NEVER, |&(from, _)| from.max(now))
    }

    /// Takes the present nap, and returns its end; `None` between two naps.
    fn take(&mut self, now: Instant) -> Option<Instant> {
        if self.next(now) > now {
            return None;
        }
        self.times.pop_front().map(|(_, to)| to)
    }

    /// The longest lateness of a packet, from that of a link that its first packet wakes at once. The link is empty when it
    /// falls asleep, so the first held packet is the latest.
    #[must_use]
    pub fn lateness_bound(&self, woken_at_once: Duration) -> Option<Duration> {
        if self.wake_on_arrival {
            return Some(woken_at_once);
        }
        let longest = self.times.iter().map(|&(from, to)| to - from).max().unwrap_or_default();
        let has_no_end = self.times.iter().any(|&(_, to)| to == Instant::NEVER);
        (!has_no_end).then_some(longest + woken_at_once)
    }
}

/// The controller of a link with low-power idle.
#[derive(Clone, Debug)]
pub struct Lpi {
    timing: Timing,
    rate: BitRate,
    tuner: Option<Tuner>,
    state: State,
    held: Held,
    /// The time at which fast wake becomes deep sleep, if no frame is held.
    deepens_at: Option<Instant>,
    /// True if this direction has been idle for its hysteresis.
    is_ready: bool,
    /// The same of the other direction; always true if the directions are not coupled.
    other_is_ready: bool,
    /// The times of sleep, in place of the hysteresis.
    naps: Option<Box<Naps>>,
    /// The times of the states before the present one.
    past: LowPowerTimes,
    action: Option<LinkAction>,
}

impl Lpi {
    fn new(timing: Timing, rate: BitRate, start: Instant) -> Self {
        Self {
            timing,
            rate,
            tuner: timing.target.map(|target| Tuner::new(target, rate, start)),
            state: State::Low { mode: Mode::Deep, from: start, until: start },
            held: Held::default(),
            deepens_at: None,
            is_ready: true,
            other_is_ready: true,
            naps: None,
            past: LowPowerTimes::default(),
            action: None,
        }
    }

    /// Sleeps at these times only. To be called before the first event.
    pub(crate) fn follow(&mut self, mut naps: Naps, is_coupled: bool) {
        let State::Low { from, .. } = self.state else { return };
        self.state = State::Awake { from, sleeps_at: Some(naps.next(from)) };
        (self.is_ready, self.other_is_ready) = (false, !is_coupled);
        self.naps = Some(Box::new(naps));
    }

    /// Ends the present state at `now`.
    fn go(&mut self, now: Instant, state: State) {
        self.timing.add_state(self.state, &mut self.past, now);
        self.state = state;
    }

    /// Active: `is_empty` says if the link has no packet.
    fn attend(&mut self, now: Instant, is_empty: bool, is_timeout: bool) {
        let State::Awake { sleeps_at, .. } = &mut self.state else { return };
        if !is_empty {
            *sleeps_at = None;
            self.is_ready = false;
            return;
        }
        // With a hysteresis of zero the timeout follows at once, after all arrivals of this instant.
        let at = *sleeps_at.get_or_insert_with(|| match &mut self.naps {
            None => now + self.timing.hysteresis,
            Some(naps) => naps.next(now),
        });
        self.is_ready |= is_timeout && now >= at;
        self.sleep_if_both_are_ready(now);
    }

    fn sleep_if_both_are_ready(&mut self, now: Instant) {
        if self.is_ready && self.other_is_ready && matches!(self.state, State::Awake { .. }) {
            self.sleep(now);
        }
    }

    fn sleep(&mut self, now: Instant) {
        // A link with naps is ready in one of them only.
        let ends = self.naps.as_mut().and_then(|naps| naps.take(now)).filter(|&to| to < Instant::NEVER);
        self.past.sleeps += 1;
        self.held = Held { frames: 0, wakes_at: ends };
        if let Some(tuner) = &mut self.tuner {
            tuner.end_cycle(now);
        }
        let mode = self.timing.first_mode();
        let entry = self.timing.entry(mode);
        self.enter(now, mode, entry);
        self.deepens_at = self.timing.deepens_after().map(|after| now + entry + after);
    }

    fn enter(&mut self, now: Instant, mode: Mode, pause: Duration) {
        self.go(now, State::Low { mode, from: now, until: now + pause });
        self.action = Some(LinkAction::SetRate { rate: BitRate::default(), pause });
    }

    /// In low power: holds an arrival, and wakes if it is time.
    fn hold(&mut self, now: Instant, event: &LinkEvent, waiting: Bytes) {
        let State::Low { mode, until, .. } = self.state else { return };
        if let LinkEvent::Arrival { admission, .. } = event {
            let at = if admission.is_accepted() {
                self.held.frames += 1;
                if self.held.frames == 1
                    && let Some(tuner) = &self.tuner
                {
                    self.timing.coalescing = tuner.tuned(self.timing.coalescing, self.timing.wake(mode));
                }
                self.deepens_at = None;
                self.timing.coalescing.wakes_at(now, self.held.frames, waiting)
            } else {
                // Nothing more fits into the buffer.
                (*admission == Admission::Dropped).then_some(now)
            };
            if self.naps.as_ref().is_none_or(|naps| naps.wake_on_arrival) {
                self.held.wakes_at = earlier(self.held.wakes_at, at);
            }
        }
        if self.held.wakes_at.is_some_and(|at| now >= at.max(until)) {
            self.wake(now);
        } else if self.deepens_at.is_some_and(|at| now >= at) {
            self.deepen(now);
        }
    }

    fn deepen(&mut self, now: Instant) {
        self.deepens_at = None;
        self.past.deepenings += 1;
        self.enter(now, Mode::Deep, self.timing.deepening());
    }

    fn wake(&mut self, now: Instant) {
        let State::Low { mode, .. } = self.state else { return };
        *if mode == Mode::Fast { &mut self.past.fast_wakes } else { &mut self.past.wakes } += 1;
        let pause = self.timing.wake(mode);
        self.go(now, State::Waking { from: now, until: now + pause });
        (self.is_ready, self.deepens_at) = (false, None);
        self.action = Some(LinkAction::SetRate { rate: self.rate, pause });
    }
}

/// The earlier of two instants, if both are known.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

impl Timing {
    /// Adds the part of a state up to `now`.
    fn add_state(&self, state: State, times: &mut LowPowerTimes, now: Instant) {
        match state {
            State::Awake { from, .. } => times.awake_ns += now.saturating_since(from).as_nanos(),
            State::Low { mode, from, until } => {
                times.entering_ns += until.min(now).saturating_since(from).as_nanos();
                let low = now.saturating_since(until).as_nanos();
                let refresh = if mode == Mode::Deep { self.refresh_in(low) } else { 0 };
                times.refresh_ns += refresh;
                *if mode == Mode::Fast { &mut times.fast_ns } else { &mut times.asleep_ns } += low - refresh;
            }
            State::Waking { from, until } => {
                times.waking_ns += until.min(now).saturating_since(from).as_nanos();
                times.awake_ns += now.saturating_since(until).as_nanos();
            }
        }
    }
}

impl Coalescing {
    /// The time at which held frames wake the link, as far as it is known at the arrival of the last of them.
    fn wakes_at(&self, now: Instant, frames: u64, bytes: Bytes) -> Option<Instant> {
        let is_reached = self.frames.is_some_and(|most| frames >= most) || self.bytes.is_some_and(|most| bytes >= most);
        if is_reached || *self == Self::default() {
            return Some(now);
        }
        self.time.map(|time| now + time)
    }
}

impl Machine for Lpi {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, now: Instant, event: LinkEvent) {
        let Some(queue) = event.queue() else { return };
        if let (Some(tuner), LinkEvent::Arrival { size, admission, .. }) = (&mut self.tuner, &event)
            && admission.is_accepted()
        {
            tuner.count(*size);
        }
        if let State::Waking { until, .. } = self.state
            && now >= until
        {
            self.go(until, State::Awake { from: until, sleeps_at: None });
        }
        match self.state {
            State::Awake { .. } => {
                let is_empty = queue.waiting + queue.in_service == Bytes::ZERO;
                self.attend(now, is_empty, matches!(event, LinkEvent::Timeout { .. }));
            }
            State::Low { .. } => self.hold(now, &event, queue.waiting),
            State::Waking { .. } => {
                let is_held = matches!(event, LinkEvent::Arrival { admission, .. } if admission.is_accepted());
                self.held.frames += u64::from(is_held);
            }
        }
    }

    fn poll_action(&mut self) -> Option<LinkAction> {
        self.action.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Awake { sleeps_at, .. } => sleeps_at.filter(|_| !self.is_ready),
            State::Low { until, .. } => self.held.wakes_at.map(|at| at.max(until)).or(self.deepens_at),
            // Departures follow if a frame is held. Otherwise the hysteresis begins at the end of the waking.
            State::Waking { until, .. } => (self.held.frames == 0).then_some(until),
        }
    }
}

impl link::Controller for Lpi {
    fn rate(&self) -> BitRate {
        if matches!(self.state, State::Low { .. }) { BitRate::default() } else { self.rate }
    }

    fn changes(&self) -> u64 {
        self.past.sleeps + self.past.wakes + self.past.fast_wakes
    }

    fn stops(&self) -> bool {
        true
    }

    // A tuner counts all arrivals.
    fn hears_busy(&self) -> bool {
        self.tuner.is_some()
    }

    fn is_ready_to_stop(&self) -> bool {
        self.is_ready
    }

    fn on_other_direction(&mut self, now: Instant, is_ready: bool) {
        self.other_is_ready = is_ready;
        match self.state {
            State::Low { .. } if !is_ready => self.wake(now),
            _ => self.sleep_if_both_are_ready(now),
        }
    }

    fn low_power(&self, now: Instant) -> Option<LowPowerTimes> {
        let mut times = self.past;
        self.timing.add_state(self.state, &mut times, now);
        Some(times)
    }
}

impl link::Parameters for LpiConfig {
    type Machine = Lpi;
    const CHANGES_RATE: bool = false;
    const STOPS: bool = true;

    fn build(&self, link: link::Context, start: Instant) -> Result<Lpi, ConfigError> {
        Ok(Lpi::new(self.timing(link)?, link.rate, start))
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        None
    }

    fn initial_rate(&self) -> Option<BitRate> {
        None
    }

    fn lateness_bound(&self, link: link::Context) -> Option<Duration> {
        self.timing(link).ok()?.lateness_bound()
    }

    fn needed_queue(&self, link: link::Context) -> Option<link::NeededQueue> {
        let Coalescing { frames, bytes, .. } = self.timing(link).ok()?.coalescing;
        let otherwise = "the full buffer wakes the link".to_owned();
        match (frames, bytes) {
            (Some(frames), _) => {
                let queue = Bytes::new(frames.saturating_mul(link.mtu.as_u64()));
                Some(link::NeededQueue { field: "coalesce_frames", queue, otherwise })
            }
            (None, Some(queue)) => Some(link::NeededQueue { field: "coalesce_bytes", queue, otherwise }),
            (None, None) => None,
        }
    }
}
