//! How a link's queue is managed. Its limit is the link's `buffer`.

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
    /// Only a full buffer drops.
    DropTail(DropTailDocument),
    /// Random early detection (Floyd and Jacobson 1993).
    Red(RedDocument),
    /// Controlled delay (RFC 8289). A fixed rate is then sent by scheduled departures, which takes an event more per packet.
    Codel(CodelDocument),
}

/// Drop-tail has no parameters but the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTailDocument {}

/// RED and its readings. Thresholds in packets (or BDP) measure the queue in packets, thresholds in bytes in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedDocument {
    /// min_th: with a lower average nothing is dropped early.
    #[serde(default = "default_min_threshold")]
    pub min_threshold: BufferSize,
    /// max_th: from this average on all is dropped, or gently more and more; default three times min_th.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_threshold: Option<BufferSize>,
    /// max_p: the probability at max_th, in (0, 1].
    #[serde(default = "default_max_probability")]
    pub max_probability: f64,
    /// w_q: weight of the newest sample in the average, in (0, 1].
    #[serde(default = "default_queue_weight")]
    pub weight: f64,
    /// Between max_th and twice max_th the probability goes from max_p to 1, instead of to 1 at once.
    #[serde(default = "default_true")]
    pub gentle: bool,
    /// Whether large packets are more likely to be dropped.
    #[serde(default)]
    pub probability: RedProbabilityReading,
    /// Whether some packets are spared.
    #[serde(default)]
    pub rules: RedRulesReading,
    /// Typical packet, in which idle time is counted; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Bytes>,
    /// When ECN-capable packets are marked instead of dropped; others are dropped.
    #[serde(default)]
    pub ecn: RedEcnReading,
}

/// CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodelDocument {
    /// TARGET: waiting that is acceptable when it lasts.
    #[serde(default = "default_target")]
    pub target: Duration,
    /// INTERVAL: how long waiting must stay above TARGET before anything is dropped.
    #[serde(default = "default_interval")]
    pub interval: Duration,
    /// Whether ECN-capable packets are marked instead of dropped.
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
