//! The parameters of an access point, and the times of its beacons.

use crate::ConfigError;
use crate::station;
use netlull_document::check_ranges;
use netlull_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of an access point to a poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Polling {
    /// All buffered packets, the last one marked: the ideal PSM of client-centered-2004 section IV-C.
    #[default]
    All,
    /// A single packet, whose More Data bit announces further ones: the PS-Poll frame of IEEE 802.11 section 11.2.
    One,
}

/// The access point of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessPointConfig {
    /// The time from one beacon to the next.
    #[serde(default = "default_beacon_period")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "client-centered-2004 section IV-C, as an Orinoco access point"))]
    pub beacon_period: Duration,
    /// The time of the first beacon, from the start of the run; default one period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "one period", "x-source" = "reading"))]
    pub first_beacon: Option<Duration>,
    /// The transmission time of a beacon. The default is at most a tenth of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = BEACON_TIME.to_string(), "x-source" = "reading; 0 in client-centered-2004"))]
    pub beacon_time: Option<Duration>,
    /// The time from a poll to the packet that answers it.
    #[serde(default = "default_poll_time")]
    #[schemars(extend("x-source" = "client-centered-2004 section IV-C: less than 1 ms"))]
    pub poll_time: Duration,
    /// The answer to a poll.
    #[serde(default)]
    #[schemars(extend("x-source" = "client-centered-2004 section IV-C"))]
    pub poll: Polling,
    /// The longest time from a poll or a packet with the More Data bit to the burst's next packet.
    /// A beacon within that time does not end the burst. The default is at most half a period, and at least the
    /// time of a packet of one MTU after a poll.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = PATIENCE.to_string(), "x-source" = "reading"))]
    pub patience: Option<Duration>,
    /// The packets that the access point buffers for the station.
    #[serde(default = "default_buffer")]
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unit" = "packets", "x-source" = "reading: above the window of a TCP without scaling"))]
    pub buffer: u32,
}

/// The beacon time: about 100 bytes at 1 Mb/s and a preamble.
const BEACON_TIME: Duration = Duration::from_millis(1);
/// The default patience: a packet of 1500 bytes takes 12 ms at 1 Mb/s.
const PATIENCE: Duration = Duration::from_millis(20);

const fn default_beacon_period() -> Duration {
    Duration::from_millis(100)
}

const fn default_poll_time() -> Duration {
    Duration::from_micros(500)
}

const fn default_buffer() -> u32 {
    1000
}

impl Default for AccessPointConfig {
    fn default() -> Self {
        Self {
            beacon_period: default_beacon_period(),
            first_beacon: None,
            beacon_time: None,
            poll_time: default_poll_time(),
            poll: Polling::default(),
            patience: None,
            buffer: default_buffer(),
        }
    }
}

impl AccessPointConfig {
    /// The transmission time of a beacon.
    #[must_use]
    pub fn beacon_time(&self) -> Duration {
        self.beacon_time.unwrap_or(BEACON_TIME.min(self.beacon_period / 10))
    }

    /// The longest time from a poll to the burst's next packet, at a station.
    pub(super) fn patience(&self, station: station::Context) -> Duration {
        let packet = self.answer_time(station);
        self.patience.unwrap_or(PATIENCE.min(self.beacon_period / 2).max(packet))
    }

    /// The time of a packet of one MTU after a poll.
    fn answer_time(&self, station: station::Context) -> Duration {
        station.air_rate.time_for(station.mtu) + self.poll_time
    }

    /// The times of the beacons.
    pub(super) fn beacons(&self) -> Beacons {
        Beacons::new(Instant::ZERO + self.first_beacon.unwrap_or(self.beacon_period), self.beacon_period)
    }

    /// Checks the values that need no station, and returns the times of the beacons.
    pub(super) fn check_own(&self) -> Result<Beacons, ConfigError> {
        check_ranges(self)?;
        Ok(self.beacons())
    }

    /// Checks every value by itself and against the station.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value and the expectation.
    pub fn check(&self, station: station::Context) -> Result<(), ConfigError> {
        self.check_own()?;
        let (period, beacon_time) = (self.beacon_period, self.beacon_time());
        if beacon_time >= period {
            let expected = format!("less than the beacon period, {period}");
            return Err(ConfigError::new("beacon_time", beacon_time, expected));
        }
        let (packet, patience) = (self.answer_time(station), self.patience(station));
        if patience < packet {
            let expected = format!("at least {packet}, a packet of one MTU after a poll");
            return Err(ConfigError::new("patience", patience, expected));
        }
        if patience >= period {
            let expected = format!("more than {patience}, the patience after a poll");
            return Err(ConfigError::new("beacon_period", period, expected));
        }
        Ok(())
    }
}

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
