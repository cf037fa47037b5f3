//! EARTH: the service rate steps down when the queue empties and up when it is about to overflow (g-router section 1, on the
//! authors' mechanism of 2010: "a step by step heuristic mechanism").
//!
//! ```text
//!            up: q >= threshold           down: q = 0
//!   r_i  ──────────────────────► r_{i+1}   r_i ──────────► r_{i-1}
//!
//!   after either: nothing is sent for the transition, and no further change for the least interval
//! ```

use super::{QueueCount, QueueView, RateAction, RateEvent, RateSet};
use crate::{ConfigError, Machine};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde::{Deserialize, Serialize};

/// EARTH's parameters; the paper prints none of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EarthConfig {
    /// r_1 < ... < r_n in bit/s.
    pub rates: RateSet,
    /// The queue, in bytes, from which it "is likely to overflow".
    pub threshold: Bytes,
    /// The least time between two changes. Default 100 ms (reading).
    pub min_interval: Duration,
    /// How long nothing is sent after a change. Default zero (reading).
    pub transition: Duration,
    /// Default [`QueueCount::Waiting`] (reading).
    pub queue: QueueCount,
    /// Where the run starts, in bit/s. Default `None`: the highest rate (reading).
    pub initial_rate: Option<BitRate>,
}

impl EarthConfig {
    /// The default parameters on the given rates.
    #[must_use]
    pub fn new(rates: RateSet, threshold: Bytes) -> Self {
        Self {
            rates,
            threshold,
            min_interval: Duration::from_millis(100),
            transition: Duration::ZERO,
            queue: QueueCount::default(),
            initial_rate: None,
        }
    }

    /// Checks every value and every pair that must fit; gives the initial rate's position in the set.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value and what was expected.
    pub fn validate(&self) -> Result<usize, ConfigError> {
        if self.threshold == Bytes::ZERO {
            return Err(ConfigError::new("threshold", self.threshold, "more than nothing"));
        }
        if self.transition >= self.min_interval {
            let expected = format!("more than transition ({})", self.transition);
            return Err(ConfigError::new("min_interval", self.min_interval, expected));
        }
        let rates = self.rates.as_slice();
        let Some(initial) = self.initial_rate else { return Ok(rates.len() - 1) };
        let place = rates.iter().position(|&rate| rate == initial);
        place.ok_or_else(|| ConfigError::new("initial_rate", initial, "one of rates"))
    }
}

/// A link's EARTH controller.
#[derive(Clone, Debug)]
pub struct Earth {
    config: EarthConfig,
    level: usize,
    queue: Bytes,
    hold_until: Instant,
    changes: u64,
    action: Option<RateAction>,
}

impl Earth {
    /// A controller whose run begins at `start`.
    ///
    /// # Errors
    /// If a value of `config` is out of range or contradicts another: see [`EarthConfig::validate`].
    pub fn new(config: EarthConfig, start: Instant) -> Result<Self, ConfigError> {
        let level = config.validate()?;
        Ok(Self { config, level, queue: Bytes::ZERO, hold_until: start, changes: 0, action: None })
    }

    /// The service rate in bit/s.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        self.config.rates.as_slice()[self.level]
    }

    /// How many rate changes there have been.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    fn see(&mut self, queue: QueueView) {
        self.queue = match self.config.queue {
            QueueCount::Waiting => queue.waiting,
            QueueCount::WaitingAndInService => queue.waiting + queue.in_service,
        };
    }

    /// The level that the queue asks for.
    fn wanted(&self) -> usize {
        if self.queue >= self.config.threshold {
            (self.level + 1).min(self.config.rates.as_slice().len() - 1)
        } else if self.queue == Bytes::ZERO {
            self.level.saturating_sub(1)
        } else {
            self.level
        }
    }
}

impl Machine for Earth {
    type Event = RateEvent;
    type Action = RateAction;

    fn handle(&mut self, now: Instant, event: RateEvent) {
        match event {
            RateEvent::Arrival { queue, .. } | RateEvent::Departure { queue } | RateEvent::Timeout { queue } => {
                self.see(queue)
            }
        }
        let wanted = self.wanted();
        if wanted != self.level && now >= self.hold_until {
            self.level = wanted;
            self.hold_until = now + self.config.min_interval;
            self.changes += 1;
            self.action = Some(RateAction::SetRate { rate: self.rate(), pause: self.config.transition });
        }
    }

    fn poll_action(&mut self) -> Option<RateAction> {
        self.action.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.wanted() != self.level).then_some(self.hold_until)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// 1 to 4 Mb/s from 4 Mb/s, threshold 90 kB, 100 ms between changes.
    fn config() -> EarthConfig {
        let mbps = BitRate::from_mbps;
        EarthConfig::new(RateSet::from_range(mbps(1), mbps(4), mbps(1)).unwrap(), Bytes::new(90_000))
    }

    fn waiting(bytes: u64) -> RateEvent {
        RateEvent::Departure { queue: QueueView { waiting: Bytes::new(bytes), in_service: Bytes::new(1500) } }
    }

    #[test]
    fn an_empty_queue_steps_down_one_rate_at_a_time_and_a_full_one_up() {
        let mut earth = Earth::new(config(), Instant::ZERO).unwrap();
        earth.handle(at(10), waiting(0));
        let down = RateAction::SetRate { rate: BitRate::from_mbps(3), pause: Duration::ZERO };
        assert_eq!(earth.poll_action(), Some(down));
        earth.handle(at(50), waiting(0));
        assert_eq!((earth.poll_action(), earth.next_timeout()), (None, Some(at(110))), "held for 100 ms");
        earth.handle(at(60), waiting(89_999));
        assert_eq!(earth.next_timeout(), None, "neither empty nor about to overflow");
        earth.handle(at(110), waiting(90_000));
        assert_eq!(earth.rate(), BitRate::from_mbps(4));
        assert_eq!(earth.changes(), 2);
    }

    #[test]
    fn an_idle_link_walks_down_and_falls_quiet() {
        let mut earth = Earth::new(config(), Instant::ZERO).unwrap();
        earth.handle(at(0), RateEvent::Departure { queue: QueueView::EMPTY });
        while let Some(due) = earth.next_timeout() {
            let _ = earth.poll_action();
            earth.handle(due, RateEvent::Timeout { queue: QueueView::EMPTY });
        }
        assert_eq!((earth.rate(), earth.changes()), (BitRate::from_mbps(1), 3));
    }

    #[test]
    fn wrong_values_are_named() {
        let wrong = |config: EarthConfig| Earth::new(config, Instant::ZERO).unwrap_err().field;
        assert_eq!(wrong(EarthConfig { threshold: Bytes::ZERO, ..config() }), "threshold");
        assert_eq!(wrong(EarthConfig { transition: Duration::from_secs(1), ..config() }), "min_interval");
        assert_eq!(wrong(EarthConfig { initial_rate: Some(BitRate::from_mbps(7)), ..config() }), "initial_rate");
    }
}
