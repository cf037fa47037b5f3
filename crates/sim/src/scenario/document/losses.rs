//! Which packets a link loses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Losses of a link.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum LossDocument {
    /// Each packet is lost with this probability, independently.
    Bernoulli(BernoulliDocument),
    /// Losses in bursts: two states, each with its own probability of loss.
    GilbertElliott(GilbertElliottDocument),
    /// Packets are lost by number.
    Scripted(ScriptedDocument),
}

/// Independent loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BernoulliDocument {
    /// Probability of loss, in [0, 1).
    pub probability: f64,
}

/// Gilbert and Elliott's chain: it starts in the good state and takes one step per packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliottDocument {
    /// p: probability of a step from the good to the bad state, in (0, 1].
    pub to_bad: f64,
    /// r: probability of a step from the bad to the good state, in (0, 1].
    pub to_good: f64,
    /// 1 - h: probability of loss in the bad state, in [0, 1].
    #[serde(default = "default_loss_bad")]
    pub loss_bad: f64,
    /// 1 - k: probability of loss in the good state, in [0, 1).
    #[serde(default)]
    pub loss_good: f64,
}

/// Losses by number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedDocument {
    /// What to drop, flow by flow.
    pub drops: Vec<ScriptedDropsDocument>,
}

/// Packets of one flow that a link drops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedDropsDocument {
    /// The flow; with `count` above one, `NAME-1`, `NAME-2`, ...
    pub flow: String,
    /// Numbers of the packets, ascending. All packets of the flow that are offered to the link count, from 1: TCP's SYN,
    /// acknowledgements, FIN and what it sends again.
    #[schemars(inner(range(min = 1)))]
    pub packets: Vec<u64>,
}

fn default_loss_bad() -> f64 {
    1.0
}
