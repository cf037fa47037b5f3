//! Sleeping links, the plans that choose them, and the routing around them.

use netlull_document::table_of_kind;
use netlull_mechanism::topology::SleepAlgorithm;
use netlull_units::{BitRate, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sleeping links, and their sleep times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepDocument {
    /// Time of the decision and announcement that the (first) link sleeps.
    pub at: Duration,
    /// Links, in the order in which they fall asleep. A duplex link sleeps in both directions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// Plan that chooses the links, instead of `links`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanDocument>,
    /// Time between the decisions for successive links.
    #[serde(default)]
    pub spacing: Duration,
    /// Time for which a link still carries packets after its announcement. Routes change in this time.
    #[serde(default)]
    pub drain: Duration,
    /// Time at which the (first) link starts to wake; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<Duration>,
    /// Time from the start of waking until the link carries packets and is announced.
    #[serde(default)]
    pub wake_time: Duration,
}

table_of_kind! {
    /// A plan that chooses the sleeping links among the scenario's duplex links (docs/models/estop.md).
    pub struct PlanDocument {
        /// The algorithm with its parameters.
        pub algorithm: SleepAlgorithm = SleepAlgorithm::KINDS,
        /// The options of an algorithm that reads the traffic.
        pub traffic: TrafficOptions if reads_traffic,
        /// The options of every algorithm.
        pub network: NetworkOptions,
    }
}

/// The traffic input of a plan.
///
/// A flow counts if it may send while the links sleep: datagrams and requests with their offered rate, TCP with its
/// `write_rate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficOptions {
    /// Rate assumed for each TCP flow without a `write_rate`; default none.
    #[serde(default)]
    #[schemars(extend("x-source" = "own"))]
    pub tcp_rate: BitRate,
}

/// The part of the network that a plan knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkOptions {
    /// Nodes known to the plan, together with the links between them; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "names", "x-default" = "all", "x-source" = "reading"))]
    pub nodes: Option<Vec<String>>,
}

/// Routing of packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutingDocument {
    /// Path length that routing minimises.
    #[serde(default)]
    pub metric: PathMetric,
    /// Maximum number of hops of a packet; default 64 if links sleep, otherwise unlimited.
    ///
    /// Routes that never change have no loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 255))]
    pub ttl: Option<u32>,
    /// Announcement of sleeping and waking links to routers.
    #[serde(default)]
    pub update: UpdateDocument,
}

/// The length of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathMetric {
    /// The sum of the links' costs.
    #[default]
    Cost,
    /// The number of links, whatever their costs.
    Hops,
}

/// The propagation of routing updates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum UpdateDocument {
    /// Both ends of the link announce its state. Announcements travel hop by hop over links that are up.
    Flooding(FloodingDocument),
    /// All routers install their new tables at the same time.
    Simultaneous(SimultaneousDocument),
}

impl Default for UpdateDocument {
    fn default() -> Self {
        Self::Flooding(FloodingDocument::default())
    }
}

/// Link-state flooding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloodingDocument {
    /// Processing time that every router on the way adds to the propagation delay.
    #[serde(default = "default_processing")]
    pub processing: Duration,
    /// Time from the first announcement to a router's new table. The table includes announcements received in between.
    #[serde(default = "default_computation")]
    pub computation: Duration,
}

impl Default for FloodingDocument {
    fn default() -> Self {
        Self { processing: default_processing(), computation: default_computation() }
    }
}

/// Simultaneous updates of all routers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimultaneousDocument {
    /// Time from the announcement to the new tables.
    pub after: Duration,
}

fn default_processing() -> Duration {
    Duration::from_millis(1)
}

fn default_computation() -> Duration {
    Duration::from_millis(10)
}
