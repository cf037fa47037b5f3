//! Sleep between beacons: the common part of PSM and BSD.

use super::access_config::Beacons;
use super::{AccessPointConfig, Polling};
use crate::ConfigError;
use crate::station::{self, StationAction, StationEvent};
use netlull_units::{Duration, Instant};

/// The rules of a dozing station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) beacons: Beacons,
    /// The radio's wake time.
    pub(super) wake: Duration,
    pub(super) poll: Polling,
    /// The longest time from a poll or a packet with the More Data bit to the burst's next packet.
    pub(super) patience: Duration,
}

/// The state of a dozing station.
///
/// ```text
///               wake time before the beacon            buffered: polls
///   Asleep{beacon}  ------------->  Listening  ---------------------------->  Waiting
///      ^                             |     ^  not buffered          more, a beacon  | ^ (One polls again)
///      |        not buffered         |     | (if the next beacon           +--------+ |
///      +-----------------------------+     |  is too near to sleep)        |          |
///      |                                   |                               | the last |
///      |             at once               |                               v          |
///      +-----------------------------------+---------------------------  Over  <------+
/// ```
///
/// A burst whose last packet is lost ends with the next beacon, whose bit then decides as without a burst. The
/// exception is a beacon shortly after a poll or a packet with the More Data bit, because the burst may still be
/// running. Two polls at once would make the first burst's last packet look like the end of both. The station
/// therefore stores the beacon's bit until the burst's last packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doze {
    /// Asleep until the wake-up for a beacon.
    Asleep {
        /// The time of the beacon.
        beacon: Instant,
    },
    /// Awake for the next beacon.
    Listening,
    /// Waiting for packets after a poll.
    Waiting {
        /// The time of the burst's last sign: the poll or a packet.
        seen: Instant,
        /// The step after the burst's last packet.
        then: Then,
    },
    /// The burst is over. The station sleeps after the host's immediate answers.
    Over {
        /// The present instant.
        at: Instant,
    },
}

/// The step after a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Sleep.
    Sleep,
    /// Another poll: a beacon announced packets that arrived after the release of the burst.
    Poll,
}

impl Rules {
    /// Creates the rules of a station at an access point.
    ///
    /// # Errors
    /// If a value of `access` is out of range, or a beacon period is too short for the wake time.
    pub(super) fn new(access: &AccessPointConfig, station: station::Context) -> Result<Self, ConfigError> {
        access.check(station).map_err(|error| error.within("access_point"))?;
        let beacons = access.beacons();
        beacons.outlast("wake_time", station.wake)?;
        Ok(Self { beacons, wake: station.wake, poll: access.poll, patience: access.patience(station) })
    }

    /// The time of the next timeout.
    pub(super) fn timeout(&self, doze: Doze) -> Option<Instant> {
        match doze {
            Doze::Asleep { beacon } => Some(self.wakes_at(beacon)),
            Doze::Over { at } => Some(at),
            Doze::Listening | Doze::Waiting { .. } => None,
        }
    }

    /// Sleeps until `beacon`; stays awake if there is no time to wake for it.
    pub(super) fn sleep(&self, now: Instant, beacon: Instant, actions: &mut Actions) -> Doze {
        if self.wakes_at(beacon) <= now {
            return Doze::Listening;
        }
        actions.push(StationAction::Sleep);
        Doze::Asleep { beacon }
    }

    /// The next state of a dozing station; `next` is the beacon to hear if it falls asleep now.
    pub(super) fn step(
        &self,
        doze: Doze,
        now: Instant,
        event: StationEvent,
        next: Instant,
        actions: &mut Actions,
    ) -> Doze {
        match (doze, event) {
            (Doze::Asleep { beacon }, StationEvent::Timeout) if self.wakes_at(beacon) <= now => {
                actions.push(StationAction::Wake);
                Doze::Listening
            }
            // The driver woke the radio for this packet.
            (Doze::Asleep { .. }, StationEvent::Sending { .. } | StationEvent::Acknowledged { .. }) => {
                actions.push(StationAction::Sleep);
                doze
            }
            (Doze::Over { .. }, StationEvent::Timeout) => self.sleep(now, next, actions),
            (Doze::Waiting { seen, .. }, StationEvent::Beacon { buffered }) if now <= seen + self.patience => {
                Doze::Waiting { seen, then: if buffered { Then::Poll } else { Then::Sleep } }
            }
            (Doze::Asleep { .. }, StationEvent::Beacon { .. }) => doze,
            (_, StationEvent::Beacon { buffered: true }) => self.ask(now, actions),
            (_, StationEvent::Beacon { buffered: false }) => self.sleep(now, next, actions),
            (Doze::Waiting { then, .. }, StationEvent::Received { more, .. }) => {
                self.received(now, more, then, actions)
            }
            _ => doze,
        }
    }

    fn wakes_at(&self, beacon: Instant) -> Instant {
        Instant::ZERO + beacon.saturating_since(Instant::ZERO + self.wake)
    }

    fn ask(&self, now: Instant, actions: &mut Actions) -> Doze {
        actions.push(StationAction::Poll);
        Doze::Waiting { seen: now, then: Then::Sleep }
    }

    /// Handles a packet of a burst. After a poll for one frame, the More Data bit is newer than any beacon's bit.
    fn received(&self, now: Instant, more: bool, then: Then, actions: &mut Actions) -> Doze {
        match (more, self.poll, then) {
            (true, Polling::All, _) => Doze::Waiting { seen: now, then },
            (true, Polling::One, _) | (false, _, Then::Poll) => self.ask(now, actions),
            (false, _, Then::Sleep) => Doze::Over { at: now },
        }
    }
}

/// The actions that the driver has yet to take. One event requests no more than the array holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Actions {
    waiting: [Option<StationAction>; 4],
    len: usize,
    taken: usize,
}

impl Actions {
    pub(super) fn push(&mut self, action: StationAction) {
        debug_assert!(self.len < self.waiting.len(), "{action:?} is one too many");
        if let Some(place) = self.waiting.get_mut(self.len) {
            *place = Some(action);
            self.len += 1;
        }
    }

    pub(super) fn take(&mut self) -> Option<StationAction> {
        let action = self.waiting.get_mut(self.taken).and_then(Option::take);
        match action {
            Some(_) => self.taken += 1,
            None => *self = Self::default(),
        }
        action
    }
}
