//! The times at which an access point sends its beacons.

use crate::ConfigError;
use netlull_units::{Duration, Instant};

/// The beacons of an access point: the first at `first`, then one per `period`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beacons {
    first: Instant,
    period: Duration,
}

impl Beacons {
    /// The period is above zero.
    pub(super) fn new(first: Instant, period: Duration) -> Self {
        Self { first, period }
    }

    /// Checks that a time is shorter than the period and therefore fits between two beacons.
    pub(super) fn outlast(&self, field: &'static str, time: Duration) -> Result<(), ConfigError> {
        if time < self.period {
            return Ok(());
        }
        Err(ConfigError::new(field, time, format!("less than the beacon period of {}", self.period)))
    }

    /// The first beacon at `start` or later.
    pub(super) fn first_from(&self, start: Instant) -> Instant {
        if start <= self.first { self.first } else { self.after(start) }
    }

    /// The first beacon after `now`.
    pub(super) fn after(&self, now: Instant) -> Instant {
        self.every_after(1, now)
    }

    /// The first heard beacon after `now` if the station hears only every `stride`-th beacon, counted from the
    /// first.
    pub(super) fn every_after(&self, stride: u32, now: Instant) -> Instant {
        if now < self.first {
            return self.first;
        }
        let stride = self.period.saturating_mul(u64::from(stride.max(1)));
        let gone = now.saturating_since(self.first).as_nanos() / stride.as_nanos();
        self.first + stride.saturating_mul(gone.saturating_add(1))
    }

    /// The last beacon at `limit` or earlier, but not before the first beacon after `now`.
    pub(super) fn last_until(&self, limit: Instant, now: Instant) -> Instant {
        let gone = limit.saturating_since(self.first).as_nanos() / self.period.as_nanos();
        (self.first + self.period.saturating_mul(gone)).max(self.after(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn beacons_are_counted_from_the_first() {
        // Beacons at 30, 130, 230 ms ...
        let beacons = Beacons::new(at(30), Duration::from_millis(100));
        assert_eq!([beacons.after(at(0)), beacons.after(at(29))], [at(30), at(30)]);
        assert_eq!([beacons.after(at(30)), beacons.after(at(229))], [at(130), at(230)], "after means after");
        // Every third: 30, 330, 630 ms.
        assert_eq!([beacons.every_after(3, at(30)), beacons.every_after(3, at(400))], [at(330), at(630)]);
        // Until 345 ms the last beacon is at 330 ms, and the same until 330 ms. Until 129 ms there is none after
        // 50 ms, so the next one counts.
        assert_eq!([beacons.last_until(at(345), at(50)), beacons.last_until(at(330), at(50))], [at(330), at(330)]);
        assert_eq!(beacons.last_until(at(129), at(50)), at(130));
        assert_eq!(beacons.last_until(at(10), at(0)), at(30));
    }

    #[test]
    fn the_end_of_time_is_no_beacon_too_many() {
        let beacons = Beacons::new(at(30), Duration::MAX);
        assert_eq!(beacons.after(at(30)), Instant::NEVER);
    }
}
