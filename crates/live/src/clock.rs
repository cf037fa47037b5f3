//! The one clock: nanoseconds of CLOCK_MONOTONIC since a process began to look.

use netlull_units::{Duration, Instant};

/// Where instants of a run begin.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// CLOCK_MONOTONIC, as eBPF programs and timers see it, in ns.
    origin: u64,
}

/// The one place where time is read.
#[inline]
fn monotonic() -> u64 {
    nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC)
        // It counts from the machine's start.
        .map_or(0, |time| time.tv_sec().cast_unsigned() * 1_000_000_000 + time.tv_nsec().cast_unsigned())
}

impl Clock {
    /// A clock that shows zero now.
    #[must_use]
    pub fn start() -> Self {
        Self { origin: monotonic() }
    }

    /// Now.
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

    /// What CLOCK_MONOTONIC shows at an instant, in ns.
    #[must_use]
    #[inline]
    pub fn monotonic_at(&self, at: Instant) -> u64 {
        self.origin.saturating_add(at.as_nanos())
    }
}
