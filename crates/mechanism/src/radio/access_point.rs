//! The access point of one dozing station: beacons, buffered packets and answers to polls (IEEE 802.11 section
//! 11.2).

use super::beacons::Beacons;
use crate::station::{PowerMode, StationContext};
use crate::{ConfigError, Machine};
use netlull_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An event at an access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessEvent {
    /// A packet for the station has arrived.
    Arrival,
    /// The station has announced its power mode.
    Announced(PowerMode),
    /// The station has polled.
    Polled,
    /// The time of `next_timeout` has come.
    Timeout,
}

/// A request of an access point to its driver.
///
/// Held and forwarded packets share one queue and leave in the order of the actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessAction {
    /// Send the packet that has just arrived.
    Forward,
    /// Hold the packet that has just arrived.
    Hold,
    /// Drop the packet that has just arrived, because the buffer is full.
    Refuse,
    /// Send the oldest held packets. Each but the last has the More Data bit.
    Release {
        /// The number of packets, at least one.
        packets: u32,
        /// The More Data bit of the last packet: more packets are held.
        more: bool,
    },
    /// Send a beacon.
    Beacon {
        /// The traffic indication for the station: packets are held.
        buffered: bool,
    },
}

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
    #[schemars(extend("x-source" = "client-centered-2004 section IV-C, as an Orinoco access point"))]
    pub beacon_period: Duration,
    /// The time of the first beacon, from the start of the run; default one period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "100 ms", "x-source" = "reading"))]
    pub first_beacon: Option<Duration>,
    /// The transmission time of a beacon; default 1 ms, at most a tenth of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "1 ms", "x-source" = "reading; 0 in client-centered-2004"))]
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
    /// A beacon within that time does not end the burst. Default 20 ms, at most half a period, and at least the
    /// time of a packet of one MTU after a poll.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "20 ms", "x-source" = "reading"))]
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
    pub(super) fn patience(&self, station: StationContext) -> Duration {
        let packet = self.answer_time(station);
        self.patience.unwrap_or(PATIENCE.min(self.beacon_period / 2).max(packet))
    }

    /// The time of a packet of one MTU after a poll.
    fn answer_time(&self, station: StationContext) -> Duration {
        station.air_rate.time_for(station.mtu) + self.poll_time
    }

    /// The times of the beacons.
    pub(super) fn beacons(&self) -> Result<Beacons, ConfigError> {
        Beacons::new(Instant::ZERO + self.first_beacon.unwrap_or(self.beacon_period), self.beacon_period)
    }

    /// Checks every value by itself and against the station.
    pub(super) fn check(&self, station: StationContext) -> Result<(), ConfigError> {
        AccessPoint::new(self, Instant::ZERO)?;
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

/// The access point of one station, limited to its effect on that station's radio.
///
/// ```text
///                Announced(Awake): releases all
///   Dozing{held}  ------------------------------->  Awake
///   holds; releases when polled  <--------------  forwards
///                         Announced(Dozing)
/// ```
///
/// The access point sends beacons in both states, for ever. It assumes a dozing station until the station
/// announces a mode.
///
/// A poll without held packets gets no answer (IEEE 802.11 would send an empty frame). The station does not wait
/// for ever: it stays awake until the next beacon, which announces no packets.
#[derive(Clone, Debug)]
pub struct AccessPoint {
    beacons: Beacons,
    next_beacon: Instant,
    buffer: u32,
    poll: Polling,
    station: Station,
    /// The pending action; an event requests at most one.
    action: Option<AccessAction>,
    now: Instant,
}

#[derive(Clone, Copy, Debug)]
enum Station {
    Awake,
    Dozing { held: u32 },
}

impl AccessPoint {
    /// Creates an access point without held packets for a dozing station. It sends no beacon before `start`.
    ///
    /// # Errors
    /// If the beacon period is zero or the buffer holds no packet.
    pub fn new(config: &AccessPointConfig, start: Instant) -> Result<Self, ConfigError> {
        let beacons = config.beacons()?;
        if config.buffer == 0 {
            return Err(ConfigError::new("buffer", config.buffer, "at least one packet"));
        }
        let next_beacon = beacons.first_from(start);
        Ok(Self {
            beacons,
            next_beacon,
            buffer: config.buffer,
            poll: config.poll,
            station: Station::Dozing { held: 0 },
            action: None,
            now: start,
        })
    }

    /// The number of held packets.
    #[must_use]
    pub fn held(&self) -> u32 {
        match self.station {
            Station::Awake => 0,
            Station::Dozing { held } => held,
        }
    }

    /// The power mode that the station announced last.
    #[must_use]
    pub fn station(&self) -> PowerMode {
        match self.station {
            Station::Awake => PowerMode::Awake,
            Station::Dozing { .. } => PowerMode::Dozing,
        }
    }

    fn arrival(&mut self) -> AccessAction {
        match &mut self.station {
            Station::Awake => AccessAction::Forward,
            Station::Dozing { held } if *held < self.buffer => {
                *held += 1;
                AccessAction::Hold
            }
            Station::Dozing { .. } => AccessAction::Refuse,
        }
    }

    fn announced(&mut self, mode: PowerMode) -> Option<AccessAction> {
        match mode {
            PowerMode::Awake => {
                let released = self.release(self.held());
                self.station = Station::Awake;
                released
            }
            PowerMode::Dozing => {
                self.station = Station::Dozing { held: self.held() };
                None
            }
        }
    }

    /// Releases the oldest `packets` of the held packets.
    fn release(&mut self, packets: u32) -> Option<AccessAction> {
        let Station::Dozing { held } = &mut self.station else { return None };
        let packets = packets.min(*held);
        *held -= packets;
        (packets > 0).then_some(AccessAction::Release { packets, more: *held > 0 })
    }

    /// Returns the beacon if it is due. After a late timeout the beacon is late, and several missed beacons merge
    /// into one.
    fn beacon(&mut self, now: Instant) -> Option<AccessAction> {
        if now < self.next_beacon {
            return None;
        }
        self.next_beacon = self.beacons.after(now);
        Some(AccessAction::Beacon { buffered: self.held() > 0 })
    }
}

impl Machine for AccessPoint {
    type Event = AccessEvent;
    type Action = AccessAction;

    fn handle(&mut self, now: Instant, event: AccessEvent) {
        self.now = now;
        self.action = match event {
            AccessEvent::Arrival => Some(self.arrival()),
            AccessEvent::Announced(mode) => self.announced(mode),
            AccessEvent::Polled => match self.poll {
                Polling::All => self.release(u32::MAX),
                Polling::One => self.release(1),
            },
            AccessEvent::Timeout => self.beacon(now),
        };
    }

    fn poll_action(&mut self) -> Option<AccessAction> {
        self.action.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        Some(self.next_beacon.max(self.now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessAction::{Beacon, Forward, Hold, Refuse, Release};
    use AccessEvent::{Announced, Arrival, Polled, Timeout};

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn built(buffer: u32, poll: Polling) -> AccessPoint {
        AccessPoint::new(&AccessPointConfig { buffer, poll, ..AccessPointConfig::default() }, at(0)).unwrap()
    }

    /// The action after an event.
    fn after(access: &mut AccessPoint, millis: u64, event: AccessEvent) -> Option<AccessAction> {
        access.handle(at(millis), event);
        let action = access.poll_action();
        assert_eq!(access.poll_action(), None);
        assert!(access.next_timeout() >= Some(at(millis)), "a timeout in the past");
        action
    }

    #[test]
    fn one_poll_releases_the_burst() {
        let mut access = built(1000, Polling::All);
        assert_eq!(access.next_timeout(), Some(at(100)));
        assert_eq!(after(&mut access, 100, Timeout), Some(Beacon { buffered: false }));
        for millis in [110, 120, 130] {
            assert_eq!(after(&mut access, millis, Arrival), Some(Hold));
        }
        assert_eq!((access.held(), access.next_timeout()), (3, Some(at(200))));
        assert_eq!(after(&mut access, 200, Timeout), Some(Beacon { buffered: true }));
        assert_eq!(after(&mut access, 201, Polled), Some(Release { packets: 3, more: false }));
        assert_eq!(after(&mut access, 202, Polled), None, "nothing is held");
    }

    #[test]
    fn a_poll_of_802_11_releases_one() {
        let mut access = built(1000, Polling::One);
        after(&mut access, 10, Arrival);
        after(&mut access, 20, Arrival);
        assert_eq!(after(&mut access, 101, Polled), Some(Release { packets: 1, more: true }));
        assert_eq!(after(&mut access, 102, Polled), Some(Release { packets: 1, more: false }));
        assert_eq!(after(&mut access, 103, Polled), None);
    }

    #[test]
    fn a_station_that_wakes_gets_everything_and_then_at_once() {
        let mut access = built(2, Polling::One);
        let answers = [10, 20, 30].map(|millis| after(&mut access, millis, Arrival));
        assert_eq!(answers, [Some(Hold), Some(Hold), Some(Refuse)]);
        assert_eq!(after(&mut access, 40, Announced(PowerMode::Awake)), Some(Release { packets: 2, more: false }));
        assert_eq!(after(&mut access, 50, Arrival), Some(Forward));
        assert_eq!(after(&mut access, 60, Polled), None);
        assert_eq!(after(&mut access, 70, Announced(PowerMode::Dozing)), None);
        assert_eq!(after(&mut access, 80, Arrival), Some(Hold));
        assert_eq!(after(&mut access, 90, Announced(PowerMode::Dozing)), None);
        assert_eq!(access.held(), 1, "a station that says it twice loses nothing");
    }

    #[test]
    fn beacons_go_on_whatever_the_driver_does() {
        let mut access = built(10, Polling::All);
        assert_eq!(after(&mut access, 50, Timeout), None, "not asked for");
        assert_eq!(after(&mut access, 100, Timeout), Some(Beacon { buffered: false }));
        assert_eq!(after(&mut access, 100, Timeout), None, "one beacon is one beacon");
        // A timeout at 350 ms instead of 200 ms: one beacon, and the next at its regular time.
        after(&mut access, 340, Arrival);
        assert_eq!(access.next_timeout(), Some(at(340)), "overdue is due now");
        assert_eq!(after(&mut access, 350, Timeout), Some(Beacon { buffered: true }));
        assert_eq!(access.next_timeout(), Some(at(400)));
    }

    #[test]
    fn a_run_that_starts_late_hears_the_beacons_from_then_on() {
        let access = AccessPoint::new(&AccessPointConfig::default(), at(100)).unwrap();
        assert_eq!(access.next_timeout(), Some(at(100)));
        let access = AccessPoint::new(&AccessPointConfig::default(), at(101)).unwrap();
        assert_eq!(access.next_timeout(), Some(at(200)));
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let error = |config| AccessPoint::new(&config, at(0)).unwrap_err().field;
        assert_eq!(error(AccessPointConfig { buffer: 0, ..AccessPointConfig::default() }), "buffer");
        let no_time = Duration::ZERO;
        assert_eq!(
            error(AccessPointConfig { beacon_period: no_time, ..AccessPointConfig::default() }),
            "beacon_period"
        );
    }
}
