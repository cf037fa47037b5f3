//! The one clock: nanoseconds of CLOCK_MONOTONIC since a process began to look.

use netlull_units::{Duration, Instant};

/// Where instants of a run begin.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: std::time::Instant,
}

impl Clock {
    /// A clock that shows zero now.
    #[must_use]
    #[allow(clippy::disallowed_methods)] // The one place where time is read.
    pub fn start() -> Self {
        Self { origin: std::time::Instant::now() }
    }

    /// Now.
    #[must_use]
    #[inline]
    #[allow(clippy::disallowed_methods, clippy::cast_possible_truncation)] // 2^64 ns are 584 years.
    pub fn now(&self) -> Instant {
        Instant::ZERO + Duration::from_nanos(self.origin.elapsed().as_nanos() as u64)
    }
}
