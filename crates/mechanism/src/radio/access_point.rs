//! The access point of one dozing station: beacons, buffered packets and answers to polls (IEEE 802.11 section
//! 11.2).

use super::access_config::Beacons;
use super::{AccessPointConfig, Polling};
use crate::station::PowerMode;
use crate::{ConfigError, Machine};
use netlull_units::Instant;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;

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
        let beacons = config.check_own()?;
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

/// Passes an event to an access point, which may be recorded. Returns its action, if it has one.
pub fn answer(
    access: &mut impl Machine<Event = AccessEvent, Action = AccessAction>,
    now: Instant,
    event: AccessEvent,
) -> Option<AccessAction> {
    let mut answer = None;
    let Ok(_) = access.tell(now, event, &mut |action| {
        answer = Some(action);
        Ok::<_, Infallible>(())
    });
    answer
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessAction::{Beacon, Forward, Hold, Refuse, Release};
    use AccessEvent::{Announced, Arrival, Polled, Timeout};
    use netlull_units::Duration;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn built(buffer: u32, poll: Polling) -> AccessPoint {
        AccessPoint::new(&AccessPointConfig { buffer, poll, ..AccessPointConfig::default() }, at(0)).unwrap()
    }

    /// The action after an event.
    fn after(access: &mut AccessPoint, millis: u64, event: AccessEvent) -> Option<AccessAction> {
        let action = answer(access, at(millis), event);
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
