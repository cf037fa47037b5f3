//! Queue management of a link. The queue's limit is the link's `buffer`.

use crate::scenario::quantity::BufferSize;
pub use netlull_network::queue::red::{RedEcn, RedProbability, RedRules};
use netlull_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Queue management.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueDocument {
    /// Drops packets only if the buffer is full; the default.
    #[schemars(extend("x-source" = "-"))]
    DropTail(DropTailDocument),
    /// Random early detection: drops or marks arriving packets with a probability that grows with the average queue.
    #[schemars(extend("x-source" = "Floyd and Jacobson 1993; Floyd 2000 (gentle)"))]
    Red(RedDocument),
    /// Controlled delay: drops or marks departing packets while the queueing delay stays too long.
    ///
    /// A link of fixed rate then schedules its departures, with an extra event per packet.
    #[schemars(extend("x-source" = "RFC 8289"))]
    Codel(CodelDocument),
}

/// Drop-tail. It has no parameters; the link's `buffer` is its limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTailDocument {}

/// RED and its readings. Thresholds in packets or BDP count packets; thresholds in bytes count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedDocument {
    /// min_th: no early drops while the average queue is below it.
    #[serde(default = "default_min_threshold")]
    #[schemars(extend("x-source" = "Floyd 1997; ns-2"))]
    pub min_threshold: BufferSize,
    /// max_th: average queue above which RED drops all packets, or gently more and more; default three times min_th.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "as min_threshold, not below it", "x-default" = "3 min_th", "x-source" = "Floyd 1997"))]
    pub max_threshold: Option<BufferSize>,
    /// max_p: drop probability at max_th.
    #[serde(default = "default_max_probability")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "Floyd 1997; the 1993 paper has 0.02"))]
    pub max_probability: f64,
    /// w_q: weight of the newest sample in the average.
    #[serde(default = "default_queue_weight")]
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "Floyd and Jacobson 1993 section 6"))]
    pub weight: f64,
    /// Raises the drop probability from max_p to 1 between max_th and twice max_th, instead of at once.
    #[serde(default = "default_true")]
    #[schemars(extend("x-source" = "Floyd 2000; ns-2"))]
    pub gentle: bool,
    /// Effect of the packet size on the drop probability.
    #[serde(default)]
    #[schemars(extend("x-source" = "RFC 7141 section 2.2; per_byte: the paper's byte mode, with the MTU as the largest packet"))]
    pub probability: RedProbability,
    /// Rules that exempt packets from early drops.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading; ns2: ns-2.35's red.cc"))]
    pub rules: RedRules,
    /// Typical packet size, the unit for idle time; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 B", "x-unit" = "data", "x-default" = "the MTU", "x-source" = "reading: the paper's typical transmission time; ns-2 has 500 B"))]
    pub mean_packet: Option<Bytes>,
    /// Marking of ECN-capable packets instead of drops. Other packets are dropped.
    #[serde(default)]
    #[schemars(extend("x-source" = "RFC 3168 section 7"))]
    pub ecn: RedEcn,
}

/// CoDel (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodelDocument {
    /// TARGET: acceptable standing queueing delay.
    #[serde(default = "default_target")]
    #[schemars(extend("x-exclusiveMinimum" = "0 s", "x-source" = "RFC 8289 section 4.3"))]
    pub target: Duration,
    /// INTERVAL: time for which the queueing delay must exceed TARGET before the first drop.
    #[serde(default = "default_interval")]
    #[schemars(extend("x-unit" = "time above target", "x-source" = "RFC 8289 section 4.2"))]
    pub interval: Duration,
    /// Marks ECN-capable packets instead of dropping them.
    #[serde(default = "default_true")]
    #[schemars(extend("x-source" = "reading: RFC 8289 is silent; Linux's fq_codel marks"))]
    pub ecn: bool,
}

fn default_min_threshold() -> BufferSize {
    BufferSize::Packets(5)
}

fn default_max_probability() -> f64 {
    0.1
}

fn default_queue_weight() -> f64 {
    0.002
}

fn default_true() -> bool {
    true
}

fn default_target() -> Duration {
    Duration::from_millis(5)
}

fn default_interval() -> Duration {
    Duration::from_millis(100)
}
