//! Sleeping between beacons: what PSM and BSD have in common.

use super::beacons::Beacons;
use super::{AccessPointConfig, Polling};
use crate::ConfigError;
use crate::station::{StationAction, StationContext, StationEvent};
use netlull_units::{Duration, Instant};

/// How a station dozes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) beacons: Beacons,
    /// How long the radio takes to wake.
    pub(super) wake: Duration,
    pub(super) poll: Polling,
    /// How long after a poll, or after a packet with the More Data bit, the next packet of a burst may come.
    pub(super) patience: Duration,
}

/// Where a station that dozes is.
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
/// A burst whose last packet is lost ends with the next beacon: its bit decides, as if no burst had been. Only where a packet with the More
/// Data bit, or the poll, came just before that beacon the burst may still be running: two polls at once would make the first burst's last
/// packet look like the end of both. What the beacon tells is then remembered until the burst's last packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doze {
    /// Asleep until it must wake for a beacon.
    Asleep {
        /// Which.
        beacon: Instant,
    },
    /// Awake for the next beacon that it hears.
    Listening,
    /// It has polled.
    Waiting {
        /// When the burst was last known to run.
        seen: Instant,
        /// What comes after its last packet.
        then: Then,
    },
    /// The burst is over; it sleeps as soon as the host has sent what it answers at once.
    Over {
        /// Since when: now.
        at: Instant,
    },
}

/// What comes after a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Sleep.
    Sleep,
    /// Another poll: a beacon told of packets that came after the burst was released.
    Poll,
}

impl Rules {
    /// The rules of a station at an access point.
    ///
    /// # Errors
    /// If a value of `access` is out of range, or a beacon period is too short for the wake time.
    pub(super) fn new(access: &AccessPointConfig, station: StationContext) -> Result<Self, ConfigError> {
        access.check(station).map_err(|error| error.within("access_point"))?;
        let beacons = access.beacons()?;
        beacons.outlast("wake_time", station.wake)?;
        Ok(Self { beacons, wake: station.wake, poll: access.poll, patience: access.patience(station) })
    }

    /// When to deliver a timeout.
    pub(super) fn timeout(&self, doze: Doze) -> Option<Instant> {
        match doze {
            Doze::Asleep { beacon } => Some(self.wakes_at(beacon)),
            Doze::Over { at } => Some(at),
            Doze::Listening | Doze::Waiting { .. } => None,
        }
    }

    /// Sleeps until `beacon`; stays awake if that is too near to wake for.
    pub(super) fn sleep(&self, now: Instant, beacon: Instant, actions: &mut Actions) -> Doze {
        if self.wakes_at(beacon) <= now {
            return Doze::Listening;
        }
        actions.push(StationAction::Sleep);
        Doze::Asleep { beacon }
    }

    /// What becomes of a station that dozes; `next` is the beacon to hear if it falls asleep now.
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

    /// A packet of a burst. In a poll's answer of one frame the More Data bit is newer than any beacon's.
    fn received(&self, now: Instant, more: bool, then: Then, actions: &mut Actions) -> Doze {
        match (more, self.poll, then) {
            (true, Polling::All, _) => Doze::Waiting { seen: now, then },
            (true, Polling::One, _) | (false, _, Then::Poll) => self.ask(now, actions),
            (false, _, Then::Sleep) => Doze::Over { at: now },
        }
    }
}

/// What a station asks for, until its driver has taken it. One event asks for no more than there is room for.
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
