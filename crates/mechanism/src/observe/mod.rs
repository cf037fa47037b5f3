//! Observation of a link by a plug-in: the vocabulary, and the adapter that makes a controller of a [`Subscriber`].
//!
//! ```text
//!             LinkEvent                 Observation
//!   driver ─────────────►  Adapter  ──────────────────►  Subscriber (Python, WASM, an environment)
//!          ◄─────────────           ◄──────────────────
//!             LinkAction                 Decision
//! ```
//!
//! A [`Subscription`] says when the subscriber is called: at ticks, when the backlog crosses a threshold, or at every
//! event. An [`Observation`] sums up all events since the previous one, so the counts of all observations add up to the
//! counts of all events.
//!
//! # Order
//! - Tick number k is due at k times the interval after the start of the run, whatever the delay of earlier ticks.
//! - A tick precedes all other events of its instant. Its counts end before them. This order does not depend on the
//!   order in which the driver delivers them. A late driver gives one observation for all missed ticks.
//! - If an event crosses a threshold and the subscription has every event, the threshold comes first.
//!   The counts are then in its observation.

mod adapter;
mod station;
#[cfg(test)]
mod tests;

pub use adapter::Adapter;
pub use station::{StationAdapter, StationAnswer, StationSubscriber};

use crate::ConfigError;
use crate::link::{self, LinkAction, LinkEvent};
use crate::view::QueueView;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// The version of the vocabulary: the events and actions of links and stations, the subscription and the observation.
///
/// A new optional field or a new kind of event keeps the version. Any other change increases it.
pub const VOCABULARY: u32 = 1;

/// The times at which a plug-in observes its link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    /// The interval of ticks; none without ticks.
    #[serde(default)]
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub tick: Option<Duration>,
    /// The lengths of the backlog, without the packet in service, whose crossing is observed in either direction.
    #[serde(default)]
    pub thresholds: Vec<Bytes>,
    /// True if every event is observed.
    #[serde(default)]
    pub every_event: bool,
    /// True if TCP segments are read. Then arrivals show their segments, acknowledgements on the reverse link are
    /// events, and observations have estimates of the round-trip time and of the number of flows.
    #[serde(default)]
    pub segments: bool,
}

impl Subscription {
    /// A subscription to ticks alone.
    #[must_use]
    pub fn ticks(interval: Duration) -> Self {
        Self { tick: Some(interval), ..Self::default() }
    }

    /// Checks the values.
    ///
    /// # Errors
    /// If the interval of ticks or a threshold is zero.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.tick == Some(Duration::ZERO) {
            return Err(ConfigError::new("tick", Duration::ZERO, "more than 0 s"));
        }
        if self.thresholds.contains(&Bytes::ZERO) {
            return Err(ConfigError::new("thresholds", "0 B", "more than 0 B"));
        }
        Ok(())
    }
}

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Amount {
    /// Packets.
    pub packets: u64,
    /// Their bytes.
    pub bytes: Bytes,
}

impl Amount {
    /// Adds a packet.
    #[inline]
    fn add(&mut self, bytes: Bytes) {
        self.packets += 1;
        self.bytes += bytes;
    }
}

/// The reason for an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A tick.
    Tick,
    /// The backlog has crossed a threshold. If it has crossed several, this is the one nearest to the new backlog.
    Threshold {
        /// The threshold.
        length: Bytes,
        /// True if the backlog is now at the threshold or above, false if it is below.
        reached: bool,
    },
    /// An event.
    Event(LinkEvent),
}

/// A link and its traffic since the previous observation, or since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// The time.
    pub now: Instant,
    /// The reason.
    pub reason: Reason,
    /// The time since the previous observation.
    pub span: Duration,
    /// The present service rate.
    pub rate: BitRate,
    /// The content of the link after the last event.
    pub queue: QueueView,
    /// Packets in the backlog, without the packet in service.
    pub waiting_packets: u64,
    /// Packets that reached the buffer, with those dropped there.
    pub arrived: Amount,
    /// Packets that left the transmitter.
    pub departed: Amount,
    /// Packets dropped by a full buffer or by queue management.
    pub dropped: Amount,
    /// Packets marked by queue management.
    pub marked: Amount,
    /// The bits of departed packets over the bits that the link's highest rate could have sent since the previous
    /// observation. It can exceed 1 on a short time, since a packet counts when its last bit leaves.
    pub utilisation: f64,
    /// The mean round-trip time of the flows, weighted by their segments; `None` before the first sample and without
    /// `segments`.
    pub round_trip: Option<Duration>,
    /// The number of active flows; `None` before the first data segment and without `segments`.
    pub flows: Option<f64>,
}

impl Observation {
    /// An observation without traffic.
    #[must_use]
    fn new(rate: BitRate, start: Instant) -> Self {
        Self {
            now: start,
            reason: Reason::Tick,
            span: Duration::ZERO,
            rate,
            queue: QueueView::EMPTY,
            waiting_packets: 0,
            arrived: Amount::default(),
            departed: Amount::default(),
            dropped: Amount::default(),
            marked: Amount::default(),
            utilisation: 0.0,
            round_trip: None,
            flows: None,
        }
    }
}

/// An answer to an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Serve at this rate, with the transition time of the plug-in as the pause. The present rate is no change.
    Rate(BitRate),
    /// Perform this action. A rate needs no change; a window answers an acknowledgement only.
    Action(LinkAction),
}

/// A plug-in that observes a link and decides its rate.
pub trait Subscriber: Debug + Send + Sync {
    /// Answers an observation; `None` changes nothing.
    ///
    /// # Errors
    /// If the plug-in cannot go on. It is not called again.
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError>;
}

/// The properties of a plug-in that the adapter needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plug {
    /// The times of its observations.
    pub subscription: Subscription,
    /// The rate at the start; `None` for the link's own rate.
    pub initial_rate: Option<BitRate>,
    /// Nothing is sent for this long after a change that a [`Decision::Rate`] requests.
    pub transition: Duration,
}

/// The JSON Schema of the vocabulary of links and stations.
#[must_use]
pub fn json_schema() -> Schema {
    use crate::station::{self, StationAction, StationEvent};
    let mut generator = SchemaGenerator::default();
    let roots = [
        generator.subschema_for::<link::Context>(),
        generator.subschema_for::<Subscription>(),
        generator.subschema_for::<Observation>(),
        generator.subschema_for::<LinkEvent>(),
        generator.subschema_for::<LinkAction>(),
        generator.subschema_for::<Decision>(),
        generator.subschema_for::<station::Context>(),
        generator.subschema_for::<StationEvent>(),
        generator.subschema_for::<StationAction>(),
    ];
    schemars::json_schema!({
        "title": "Vocabulary of netlull's plug-ins",
        "x-version": VOCABULARY,
        "anyOf": roots,
        "$defs": generator.take_definitions(true),
    })
}
