//! The power-saving mode of IEEE 802.11: asleep but for beacons (section 11.2; client-centered-2004 section IV-C).

use super::beacons::Beacons;
use super::doze::{Actions, Doze, Rules};
use super::{Polling, PowerMode, StationAction, StationEvent};
use crate::{ConfigError, Machine};
use netlull_units::{Duration, Instant};

/// Parameters of [`Psm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PsmConfig {
    /// The time from one beacon of the access point to the next. Default 100 ms (client-centered-2004 section IV-C).
    pub beacon_period: Duration,
    /// When the access point sends its first beacon. Default one period after the start of the run (reading).
    pub first_beacon: Instant,
    /// How long the radio takes to wake, less than a beacon period. Default 2 ms (client-centered-2004 section IV-A).
    pub wake: Duration,
    /// Every how many-th beacon it wakes for, counted from the first, at least 1. Default 1, as in the paper.
    pub listen_interval: u32,
    /// What the access point answers a poll by. Default [`Polling::All`], as in the paper.
    pub poll: Polling,
    /// How long after a poll, or after a packet with the More Data bit, the next packet of the burst may come; less than a beacon period. It
    /// matters only if a beacon comes within that time. Default 20 ms: a packet of 1500 bytes takes 12 at 1 Mb/s (reading).
    pub patience: Duration,
}

impl Default for PsmConfig {
    fn default() -> Self {
        let beacon_period = Duration::from_millis(100);
        Self {
            beacon_period,
            first_beacon: Instant::ZERO + beacon_period,
            wake: Duration::from_millis(2),
            listen_interval: 1,
            poll: Polling::All,
            patience: Duration::from_millis(20),
        }
    }
}

/// A station in power-saving mode: it sleeps, wakes for beacons, and polls for what they tell of.
///
/// ```text
///   Starting{at}  -- announces that it dozes, sleeps -->  Dozing(asleep <-> listening <-> waiting for a burst)
/// ```
///
/// It never announces that it is awake: what its host sends while the radio sleeps is sent, and the radio sleeps again.
///
/// A radio that is to wake while it is about to sleep stays awake: the driver takes the later of [`StationAction::Sleep`] and
/// [`StationAction::Wake`].
#[derive(Clone, Debug)]
pub struct Psm {
    rules: Rules,
    listen_interval: u32,
    state: State,
    actions: Actions,
    now: Instant,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Starting { at: Instant },
    Dozing(Doze),
}

impl Psm {
    /// A station that begins to doze at `start`.
    ///
    /// # Errors
    /// If a value of `config` is out of range or contradicts another.
    pub fn new(config: &PsmConfig, start: Instant) -> Result<Self, ConfigError> {
        if config.listen_interval == 0 {
            return Err(ConfigError::new("listen_interval", config.listen_interval, "at least 1 beacon"));
        }
        let beacons = Beacons::new(config.first_beacon, config.beacon_period)?;
        let rules = Rules { beacons, wake: config.wake, poll: config.poll, patience: config.patience }.checked()?;
        Ok(Self {
            rules,
            listen_interval: config.listen_interval,
            state: State::Starting { at: start },
            actions: Actions::default(),
            now: start,
        })
    }
}

impl Machine for Psm {
    type Event = StationEvent;
    type Action = StationAction;

    fn handle(&mut self, now: Instant, event: StationEvent) {
        self.now = now;
        let next = self.rules.beacons.every_after(self.listen_interval, now);
        let doze = match self.state {
            State::Starting { .. } => {
                self.actions.push(StationAction::Announce(PowerMode::Dozing));
                self.rules.sleep(now, next, &mut self.actions)
            }
            State::Dozing(doze) => doze,
        };
        self.state = State::Dozing(self.rules.step(doze, now, event, next, &mut self.actions));
    }

    fn poll_action(&mut self) -> Option<StationAction> {
        self.actions.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        let due = match self.state {
            State::Starting { at } => Some(at),
            State::Dozing(doze) => self.rules.timeout(doze),
        };
        due.map(|due| due.max(self.now))
    }
}
