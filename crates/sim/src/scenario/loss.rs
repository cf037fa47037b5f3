//! Losses of links: packets that a link drops before its queue.

use super::frame::{Result, listed, refuse};
use netlull_network::loss::{GilbertElliott, LossModel, Policer, ScriptedDrops};
use netlull_units::{BitRate, Bytes, Duration};
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
    /// Losses of packets beyond a rate and a burst: a token bucket without a buffer.
    #[schemars(extend("x-source" = "RFC 2697 with EBS = 0; red packets are dropped"))]
    Policer(PolicerDocument),
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

/// A token-bucket policer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicerDocument {
    /// CIR: rate of the tokens.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-source" = "RFC 2697 section 2"))]
    pub rate: BitRate,
    /// CBS: size of the bucket. A packet larger than it is always lost.
    #[schemars(extend("x-exclusiveMinimum" = "0 B", "x-source" = "RFC 2697 section 2"))]
    pub burst: Bytes,
    /// Time from which it polices. The bucket is full then.
    #[serde(default)]
    #[schemars(extend("x-source" = "-"))]
    pub start: Duration,
}

fn default_loss_bad() -> f64 {
    1.0
}

/// The index and name of each flow that crosses a link.
pub(super) type Crossing<'a> = [(u32, &'a str)];

pub(super) fn loss(field: &str, document: &LossDocument, crossing: &Crossing<'_>) -> Result<Option<LossModel>> {
    match document {
        LossDocument::Bernoulli(BernoulliDocument { probability }) => {
            Ok((*probability > 0.0).then_some(LossModel::Bernoulli(*probability)))
        }
        LossDocument::GilbertElliott(document) => {
            let GilbertElliottDocument { to_bad, to_good, loss_bad, loss_good } = *document;
            let chain = GilbertElliott { to_bad, to_good, loss_bad, loss_good };
            Ok(Some(LossModel::GilbertElliott(chain)))
        }
        LossDocument::Scripted(document) => scripted(field, &document.drops, crossing).map(Some),
        LossDocument::Policer(PolicerDocument { rate, burst, start }) => {
            Ok(Some(LossModel::Policer(Policer { rate: *rate, burst: *burst, start: *start })))
        }
    }
}

fn scripted(field: &str, drops: &[ScriptedDropsDocument], crossing: &Crossing<'_>) -> Result<LossModel> {
    let mut scripts: Vec<ScriptedDrops> = Vec::with_capacity(drops.len());
    for (index, document) in drops.iter().enumerate() {
        let field = format!("{field}.drops.{index}");
        let name = &document.flow;
        let flow = flow_of(&field, name, crossing)?;
        if scripts.iter().any(|script| script.flow == flow) {
            let message = format!("\"{name}\" is named twice; expected one list of packets for each flow");
            return refuse(format!("{field}.flow"), message);
        }
        scripts.push(ScriptedDrops { flow, packets: numbers(&field, &document.packets)? });
    }
    Ok(LossModel::Scripted(scripts))
}

/// The index of a flow that crosses the link.
pub(super) fn flow_of(field: &str, name: &str, crossing: &Crossing<'_>) -> Result<u32> {
    if let Some((flow, _)) = crossing.iter().find(|(_, known)| *known == name) {
        return Ok(*flow);
    }
    let known = match crossing {
        [] => "none: no flow does".to_owned(),
        known => {
            let names: Vec<_> = known.iter().map(|(_, name)| *name).collect();
            format!("one of {}", listed(&names))
        }
    };
    refuse(format!("{field}.flow"), format!("\"{name}\" does not cross the link; expected {known}"))
}

/// Checks that packet numbers increase.
pub(super) fn numbers(field: &str, packets: &[u64]) -> Result<Vec<u64>> {
    let mut before = 0;
    for &number in packets {
        if number <= before {
            let message = format!("has {number} after {before}; expected ascending numbers from 1");
            return refuse(format!("{field}.packets"), message);
        }
        before = number;
    }
    Ok(packets.to_vec())
}
