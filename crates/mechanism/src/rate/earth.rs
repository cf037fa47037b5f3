//! EARTH: the service rate steps down when the queue empties and up when the queue is about to overflow.
//!
//! The source is g-router section 1, on the authors' mechanism of 2010: "a step by step heuristic mechanism".
//!
//! ```text
//!            up: q >= threshold           down: q = 0
//!   r_i  ──────────────────────► r_{i+1}   r_i ──────────► r_{i-1}
//!
//!   after either: nothing is sent for the transition, and no further change for the least interval
//! ```

use super::{QueueCount, QueueLength, RateSet};
use crate::link::{self, Controller as _, LinkAction, LinkEvent, NeededQueue};
use crate::{ConfigError, Machine};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps a link's rate down when its queue empties, and up when the queue is about to overflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend(
    "x-source" = "g-router section 1 (Panarello et al., e-Energy 2010), which characterises it and prints no rule"
))]
pub struct EarthConfig {
    /// The possible rates, r_1 < ... < r_n; the highest is the link's.
    #[schemars(extend("x-unit" = "bit rates", "x-source" = "reading"))]
    pub rates: RateSet,
    /// The queue length at which an overflow is near, in data or packets of one MTU.
    #[schemars(extend("x-unit" = "packets or data", "x-source" = "reading"))]
    pub threshold: QueueLength,
    /// The shortest time between two changes; above `transition`.
    #[serde(default = "default_interval")]
    #[schemars(extend("x-source" = "reading"))]
    pub min_interval: Duration,
    /// The time without transmission after a change.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub transition: Duration,
    /// The packets that the queue counts.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub queue: QueueCount,
    /// The rate at the start; default the highest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the highest", "x-source" = "reading"))]
    pub initial_rate: Option<BitRate>,
}

fn default_interval() -> Duration {
    Duration::from_millis(100)
}

impl EarthConfig {
    /// Creates the default parameters for the given rates.
    #[must_use]
    pub fn new(rates: RateSet, threshold: QueueLength) -> Self {
        Self {
            rates,
            threshold,
            min_interval: default_interval(),
            transition: Duration::ZERO,
            queue: QueueCount::default(),
            initial_rate: None,
        }
    }

    /// Checks every value. Returns the position of the initial rate in the set.
    fn validate(&self, link: link::Context) -> Result<usize, ConfigError> {
        self.rates.end_at(link.rate)?;
        let threshold = self.threshold.bytes(link.mtu);
        if threshold == Bytes::ZERO {
            return Err(ConfigError::new("threshold", threshold, "a length above zero"));
        }
        if self.transition >= self.min_interval {
            let expected = format!("more than transition ({})", self.transition);
            return Err(ConfigError::new("min_interval", self.min_interval, expected));
        }
        let initial = self.initial_rate.unwrap_or(self.rates.highest());
        self.rates.position(initial).ok_or_else(|| ConfigError::new("initial_rate", initial, "one of rates"))
    }
}

impl link::Parameters for EarthConfig {
    type Machine = Earth;

    fn build(&self, link: link::Context, start: Instant) -> Result<Earth, ConfigError> {
        let level = self.validate(link)?;
        Ok(Earth {
            config: self.clone(),
            threshold: self.threshold.bytes(link.mtu),
            level,
            queue: Bytes::ZERO,
            hold_until: start,
            changes: 0,
            action: None,
        })
    }

    fn lowest_rate(&self) -> Option<(&'static str, BitRate)> {
        Some(("the lowest of rates", self.rates.lowest()))
    }

    fn initial_rate(&self) -> Option<BitRate> {
        self.initial_rate
    }

    fn needed_queue(&self, link: link::Context) -> Option<NeededQueue> {
        let otherwise = "the rate never rises".to_owned();
        Some(NeededQueue { field: "threshold", queue: self.threshold.bytes(link.mtu), otherwise })
    }
}

/// The EARTH controller of a link.
#[derive(Clone, Debug)]
pub struct Earth {
    config: EarthConfig,
    /// The threshold in bytes.
    threshold: Bytes,
    level: usize,
    queue: Bytes,
    hold_until: Instant,
    changes: u64,
    action: Option<LinkAction>,
}

impl Earth {
    /// Event with a queue of `queue` bytes, counted by the caller. Returns true if the rate has changed.
    pub(crate) fn update(&mut self, now: Instant, queue: Bytes) -> bool {
        self.queue = queue;
        self.step(now)
    }

    /// The transition time: the link sends nothing for this long after a change.
    pub(crate) fn transition(&self) -> Duration {
        self.config.transition
    }

    /// Moves one level towards the one that the queue requires, if the last change is old enough.
    fn step(&mut self, now: Instant) -> bool {
        let wanted = self.wanted();
        if wanted == self.level || now < self.hold_until {
            return false;
        }
        self.level = wanted;
        self.hold_until = now + self.config.min_interval;
        self.changes += 1;
        true
    }

    /// The level that the queue requires.
    fn wanted(&self) -> usize {
        if self.queue >= self.threshold {
            (self.level + 1).min(self.config.rates.as_slice().len() - 1)
        } else if self.queue == Bytes::ZERO {
            self.level.saturating_sub(1)
        } else {
            self.level
        }
    }
}

impl Machine for Earth {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, now: Instant, event: LinkEvent) {
        match event {
            LinkEvent::Arrival { queue, .. } | LinkEvent::Departure { queue } | LinkEvent::Timeout { queue } => {
                self.queue = self.config.queue.of(queue);
            }
            LinkEvent::Acknowledgement { .. } => {}
            LinkEvent::Managed { .. } => return,
        }
        if self.step(now) {
            self.action = Some(LinkAction::SetRate { rate: self.rate(), pause: self.config.transition });
        }
    }

    fn poll_action(&mut self) -> Option<LinkAction> {
        self.action.take()
    }

    fn next_timeout(&self) -> Option<Instant> {
        (self.wanted() != self.level).then_some(self.hold_until)
    }
}

impl link::Controller for Earth {
    fn rate(&self) -> BitRate {
        self.config.rates.as_slice()[self.level]
    }

    fn changes(&self) -> u64 {
        self.changes
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::QueueView;
    use super::*;
    use crate::link::Parameters as _;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    /// 1 to 4 Mb/s from 4 Mb/s on, threshold 90 kB, 100 ms between changes.
    fn config() -> EarthConfig {
        let mbps = BitRate::from_mbps;
        EarthConfig::new(
            RateSet::from_range(mbps(1), mbps(4), mbps(1)).unwrap(),
            QueueLength::Bytes(Bytes::new(90_000)),
        )
    }

    fn link() -> link::Context {
        link::Context::new(BitRate::from_mbps(4), Bytes::new(1500))
    }

    fn waiting(bytes: u64) -> LinkEvent {
        LinkEvent::Departure { queue: QueueView { waiting: Bytes::new(bytes), in_service: Bytes::new(1500) } }
    }

    #[test]
    fn an_empty_queue_steps_down_one_rate_at_a_time_and_a_full_one_up() {
        let mut earth = config().build(link(), Instant::ZERO).unwrap();
        earth.handle(at(10), waiting(0));
        let down = LinkAction::SetRate { rate: BitRate::from_mbps(3), pause: Duration::ZERO };
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
        let mut earth = config().build(link(), Instant::ZERO).unwrap();
        earth.handle(at(0), LinkEvent::Departure { queue: QueueView::EMPTY });
        while let Some(due) = earth.next_timeout() {
            let _ = earth.poll_action();
            earth.handle(due, LinkEvent::Timeout { queue: QueueView::EMPTY });
        }
        assert_eq!((earth.rate(), earth.changes()), (BitRate::from_mbps(1), 3));
    }

    #[test]
    fn wrong_values_are_named() {
        let wrong = |config: EarthConfig| config.build(link(), Instant::ZERO).unwrap_err().field;
        assert_eq!(wrong(EarthConfig { threshold: QueueLength::Bytes(Bytes::ZERO), ..config() }), "threshold");
        assert_eq!(wrong(EarthConfig { transition: Duration::from_secs(1), ..config() }), "min_interval");
        assert_eq!(wrong(EarthConfig { initial_rate: Some(BitRate::from_mbps(7)), ..config() }), "initial_rate");
    }
}
