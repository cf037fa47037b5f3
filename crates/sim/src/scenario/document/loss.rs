//! Losses and noise of a link: packets that it drops before the queue, and their random extra delay.

use netlull_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packet losses of a link.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum LossDocument {
    /// Each packet is lost with this probability, independently.
    #[schemars(extend("x-source" = "-"))]
    Bernoulli(BernoulliDocument),
    /// Losses in bursts: two states with different loss probabilities.
    #[schemars(extend("x-source" = "Gilbert 1960; Elliott 1963"))]
    GilbertElliott(GilbertElliottDocument),
    /// Losses of packets with given numbers.
    #[schemars(extend("x-source" = "ns-2's ErrorModel/List, which counts from 0 and all flows together"))]
    Scripted(ScriptedDocument),
}

/// Independent losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BernoulliDocument {
    /// Probability of loss.
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0, "x-source" = "-"))]
    pub probability: f64,
}

/// The Gilbert-Elliott chain. It starts in the good state and takes a step per packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottDocument {
    /// p: probability of a step from the good to the bad state.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "Gilbert 1960; p as in tc-netem's gemodel"))]
    pub to_bad: f64,
    /// r: probability of a step from the bad to the good state.
    #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0, "x-source" = "Gilbert 1960; r as in tc-netem's gemodel"))]
    pub to_good: f64,
    /// 1 - h: probability of loss in the bad state.
    #[serde(default = "default_loss_bad")]
    #[schemars(range(min = 0.0, max = 1.0), extend("x-source" = "Gilbert 1960: h in [0, 1); the default is tc-netem's"))]
    pub loss_bad: f64,
    /// 1 - k: probability of loss in the good state.
    #[serde(default)]
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0, "x-source" = "Elliott 1963; Gilbert 1960 has k = 1"))]
    pub loss_good: f64,
}

/// Losses of packets with given numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedDocument {
    /// Packets to drop, flow by flow.
    #[schemars(extend("x-unit" = "list of flow, packets", "x-source" = "-"))]
    pub drops: Vec<ScriptedDropsDocument>,
}

/// Packets of one flow that a link drops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedDropsDocument {
    /// Flow; with `count` above one, `NAME-1`, `NAME-2`, ...
    pub flow: String,
    /// Numbers of the packets, in ascending order.
    ///
    /// All packets that the flow offers to the link count, from 1. These include TCP's SYN, acknowledgements, FIN and
    /// retransmissions.
    #[schemars(inner(range(min = 1)))]
    pub packets: Vec<u64>,
}

/// Noise of round-trip times: each packet has an independent, gamma-distributed extra delay.
///
/// Packets stay in order (docs/models/link.md).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseDocument {
    /// Mean extra delay; 0 s turns the noise off.
    pub mean: Duration,
    /// Shape. The standard deviation is mean / sqrt(shape); 1 is exponential.
    #[schemars(range(min = 0.01, max = 1e6))]
    pub shape: f64,
}

fn default_loss_bad() -> f64 {
    1.0
}
