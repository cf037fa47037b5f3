//! The times of a link that stops between packets.

use serde::{Deserialize, Serialize};

/// The times of a link with low-power idle in each of its states, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LowPowerTimes {
    /// Active: sending, or idle before it goes to sleep.
    pub awake_ns: u64,
    /// In transitions to low power.
    pub entering_ns: u64,
    /// In fast wake, the first of two modes.
    pub fast_ns: u64,
    /// Asleep, without refreshes.
    pub asleep_ns: u64,
    /// In refreshes during sleep.
    pub refresh_ns: u64,
    /// Waking.
    pub waking_ns: u64,
    /// Transitions to low power from the active state.
    pub sleeps: u64,
    /// Transitions from fast wake to deep sleep.
    pub deepenings: u64,
    /// Transitions back from fast wake.
    pub fast_wakes: u64,
    /// Transitions back from sleep.
    pub wakes: u64,
}

impl LowPowerTimes {
    /// The part after `earlier`, previous times of the same link.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            awake_ns: self.awake_ns - earlier.awake_ns,
            entering_ns: self.entering_ns - earlier.entering_ns,
            fast_ns: self.fast_ns - earlier.fast_ns,
            asleep_ns: self.asleep_ns - earlier.asleep_ns,
            refresh_ns: self.refresh_ns - earlier.refresh_ns,
            waking_ns: self.waking_ns - earlier.waking_ns,
            sleeps: self.sleeps - earlier.sleeps,
            deepenings: self.deepenings - earlier.deepenings,
            fast_wakes: self.fast_wakes - earlier.fast_wakes,
            wakes: self.wakes - earlier.wakes,
        }
    }

    /// The time in low power, refreshes included, without transitions.
    #[must_use]
    pub const fn low_ns(&self) -> u64 {
        self.fast_ns + self.asleep_ns + self.refresh_ns
    }

    /// The time in all states.
    #[must_use]
    pub const fn total_ns(&self) -> u64 {
        self.awake_ns + self.entering_ns + self.low_ns() + self.waking_ns
    }
}
