//! Queue management of a link. The queue's limit is the link's `buffer`.

use crate::scenario::quantity::BufferSize;
pub use netlull_network::queue::red::{
    RedEcn as RedEcnReading, RedProbability as RedProbabilityReading, RedRules as RedRulesReading,
};
use netlull_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Queue management.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueueDocument {
    /// Drops packets only if the buffer is full.
    DropTail(DropTailDocument),
    /// Random early detection (Floyd and Jacobson 1993).
    Red(RedDocument),
    /// Controlled delay (RFC 8289).
    ///
    /// A link of fixed rate then schedules its departures, with an extra event per packet.
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
    pub min_threshold: BufferSize,
    /// max_th: average queue above which RED drops all packets, or gently more and more; default three times min_th.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<BufferSize>,
    /// max_p: drop probability at max_th, in (0, 1].
    #[serde(default = "default_max_probability")]
    pub max_probability: f64,
    /// w_q: weight of the newest sample in the average, in (0, 1].
    #[serde(default = "default_queue_weight")]
    pub weight: f64,
    /// Raises the drop probability from max_p to 1 between max_th and twice max_th, instead of at once.
    #[serde(default = "default_true")]
    pub gentle: bool,
    /// Effect of the packet size on the drop probability.
    #[serde(default)]
    pub probability: RedProbabilityReading,
    /// Rules that exempt packets from early drops.
    #[serde(default)]
    pub rules: RedRulesReading,
    /// Typical packet size, the unit for idle time; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Bytes>,
    /// Marking of ECN-capable packets instead of drops. Other packets are dropped.
    #[serde(default)]
    pub ecn: RedEcnReading,
}

/// CoDel (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodelDocument {
    /// TARGET: acceptable standing queueing delay.
    #[serde(default = "default_target")]
    pub target: Duration,
    /// INTERVAL: time for which the queueing delay must exceed TARGET before the first drop.
    #[serde(default = "default_interval")]
    pub interval: Duration,
    /// Marks ECN-capable packets instead of dropping them.
    #[serde(default = "default_true")]
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
