//! Sleep plans: an algorithm that chooses the sleeping links, and the scenario's options for it.

use netlull_document::table_of_kind;
use netlull_mechanism::topology::SleepAlgorithm;
use netlull_units::BitRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
