//! The clock of a process: nanoseconds of CLOCK_MONOTONIC since the clock's start.

use netlull_units::{Duration, Instant};

/// A clock whose instants begin at its start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// CLOCK_MONOTONIC at the start in ns, as eBPF programs and timers see it.
    origin: u64,
}

/// Reads CLOCK_MONOTONIC in ns; all of netlulld reads the time here.
#[inline]
fn monotonic() -> u64 {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC)
        // The clock counts from the machine's start, so it is never negative.
        .map_or(0, |time| time.tv_sec().cast_unsigned() * 1_000_000_000 + time.tv_nsec().cast_unsigned())
}

impl Clock {
    /// Starts a clock at zero.
    #[must_use]
    pub fn start() -> Self {
        Self { origin: monotonic() }
    }

    /// The current instant.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Instant {
        self.at_monotonic(monotonic())
    }

    /// The instant at which CLOCK_MONOTONIC shows `nanos`; zero if that was before the start.
    #[must_use]
    #[inline]
    pub fn at_monotonic(&self, nanos: u64) -> Instant {
        Instant::ZERO + Duration::from_nanos(nanos.saturating_sub(self.origin))
    }

    /// The value of CLOCK_MONOTONIC at an instant, in ns.
    #[must_use]
    #[inline]
    pub fn monotonic_at(&self, at: Instant) -> u64 {
        self.origin.saturating_add(at.as_nanos())
    }
}
