//! The judgement of bursts and rounds: is shaping of use (sections III-B.2 and V-f)?
//!
//! A burst that is bad, fills the air or is spread extends a streak. Long streaks end shaping.

use super::burst::Arriving;
use super::config::{PacedFrom, STRETCH};
use super::rounds::SlowStart;
use super::state::{Fallback, ShaperState};
use super::{Shaper, default_longest_wait};
use netlull_units::{Bytes, Duration, Instant};

/// The lengths of the current streaks: of bad, saturated and spread bursts, and of small rounds after saturation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Streaks {
    pub bad: u32,
    pub saturated: u32,
    pub spread: u32,
    pub small: u32,
}

/// Extends a streak, or resets it to zero.
pub(super) fn grow(streak: &mut u32, holds: bool) {
    *streak = if holds { streak.saturating_add(1) } else { 0 };
}

impl Shaper {
    /// Returns true if a window of `bytes` fills this share of air rate x RTT (section III-B.2; in bytes: reading).
    pub(super) fn fills(&self, share: f64, bytes: u64) -> bool {
        let rtt = self.rtt().unwrap_or(default_longest_wait());
        let product = self.station.air_rate.as_f64() * rtt.as_secs_f64();
        Bytes::new(bytes).as_f64() * 8.0 >= share * product
    }

    /// Returns true if the prediction of the slowdown reaches the user's bound. A burst costs the time from its first
    /// packet to its detected end (section IV-B). Without this cost the download would have taken the rest of its time
    /// so far.
    fn is_too_slow(&self, now: Instant) -> bool {
        let (Some(most), Some(begun)) = (self.config.most_slowdown, self.begun) else { return false };
        let rest = now.saturating_since(begun).saturating_sub(self.delayed);
        self.delayed.as_secs_f64() >= most * rest.as_secs_f64()
    }

    /// Counts spread rounds of slow start. Slow writes of an application are spread too, but such rounds do not
    /// grow.
    pub(super) fn count_round(&mut self, round: &SlowStart) {
        if self.config.paced_from != PacedFrom::SlowStart {
            return;
        }
        let (round, counts) = match round {
            SlowStart::GoesOn => return,
            SlowStart::Grown(round) => (round, true),
            SlowStart::Over(round) => (round, self.streaks.spread > 0),
        };
        // Not the configured `stretch`: a round of a sender that does not pace has gaps, a burst after an open
        // ACK has none.
        let spread = counts && self.is_spread(round, STRETCH);
        grow(&mut self.streaks.spread, spread);
    }

    /// Returns true if the arrival took longer than the guard's share of the round trip.
    fn is_spread(&self, arriving: &Arriving, stretch: f64) -> bool {
        let (Some(share), Some(rtt)) = (self.config.paced_share, self.rtt()) else { return false };
        let span = Duration::from_secs_f64(rtt.as_secs_f64() * share).unwrap_or(Duration::MAX);
        let least = match self.config.paced_from {
            PacedFrom::Bursts => self.station.air_rate.time_for(Bytes::new(arriving.bytes)),
            PacedFrom::SlowStart => self.fastest.time_for(arriving.bytes, self.station.air_rate),
        };
        arriving.is_spread(span, stretch, least)
    }

    /// True after enough spread bursts or rounds in a row.
    pub(super) fn spread_for_long(&self) -> bool {
        self.config.paced_share.is_some() && self.streaks.spread >= self.config.paced_bursts
    }

    /// Extends or ends the streaks with a burst.
    pub(super) fn count(&mut self, burst: &Arriving, intact: bool) {
        grow(&mut self.streaks.bad, !intact);
        let fills = self.fills(self.config.saturation, burst.bytes);
        grow(&mut self.streaks.saturated, fills);
        // The first burst was released by slow start and is as smooth as any stream.
        let stretch = self.config.paced_stretch;
        let spread = self.bursts > 1 && self.is_spread(burst, stretch);
        grow(&mut self.streaks.spread, spread);
    }

    /// The state after a burst.
    pub(super) fn judge(&self, now: Instant, intact: bool) -> ShaperState {
        if self.streaks.bad >= self.config.patience {
            ShaperState::Standard(Fallback::BadBursts)
        } else if self.streaks.saturated >= self.config.saturated_bursts {
            ShaperState::Standard(Fallback::Saturated)
        } else if self.spread_for_long() {
            ShaperState::Standard(Fallback::Paced)
        } else if self.is_too_slow(now) {
            ShaperState::Standard(Fallback::Slowdown)
        } else if intact {
            ShaperState::Saving
        } else {
            ShaperState::Recovery
        }
    }
}
