//! Losses and noise of links. Scripted losses go by the numbers of a flow's packets on the link.

use super::links::Wire;
use super::{Result, refuse};
use crate::scenario::document::{
    BernoulliDocument, GilbertElliottDocument, LossDocument, NoiseDocument, ScriptedDropsDocument,
};
use crate::scenario::listed;
use netlull_network::loss::{GilbertElliott, LossModel, ScriptedDrops};
use netlull_network::noise::NoiseModel;
use netlull_units::Duration;

/// The index and name of each flow that crosses a link.
pub(super) type Crossing<'a> = [(u32, &'a str)];

pub(super) fn loss(wire: &Wire<'_>, crossing: &Crossing<'_>) -> Result<Option<LossModel>> {
    let field = format!("link.{}.loss", wire.name);
    let Some(document) = wire.document.loss.as_ref().filter(|_| wire.is_there()) else { return Ok(None) };
    match document {
        LossDocument::Bernoulli(BernoulliDocument { probability }) => {
            Ok((*probability > 0.0).then_some(LossModel::Bernoulli(*probability)))
        }
        LossDocument::GilbertElliott(document) => {
            let GilbertElliottDocument { to_bad, to_good, loss_bad, loss_good } = *document;
            let chain = GilbertElliott { to_bad, to_good, loss_bad, loss_good };
            Ok(Some(LossModel::GilbertElliott(chain)))
        }
        LossDocument::Scripted(document) => scripted(&field, &document.drops, crossing).map(Some),
    }
}

fn scripted(field: &str, drops: &[ScriptedDropsDocument], crossing: &Crossing<'_>) -> Result<LossModel> {
    let mut scripts: Vec<ScriptedDrops> = Vec::with_capacity(drops.len());
    for (index, document) in drops.iter().enumerate() {
        let field = format!("{field}.drops.{index}");
        let name = &document.flow;
        let Some((flow, _)) = crossing.iter().find(|(_, known)| known == name) else {
            let known = match crossing {
                [] => "none: no flow does".to_owned(),
                known => {
                    let names: Vec<_> = known.iter().map(|(_, name)| *name).collect();
                    format!("one of {}", listed(&names))
                }
            };
            return refuse(format!("{field}.flow"), format!("\"{name}\" does not cross the link; expected {known}"));
        };
        if scripts.iter().any(|script| script.flow == *flow) {
            let message = format!("\"{name}\" is named twice; expected one list of packets for each flow");
            return refuse(format!("{field}.flow"), message);
        }
        scripts.push(ScriptedDrops { flow: *flow, packets: numbers(&field, &document.packets)? });
    }
    Ok(LossModel::Scripted(scripts))
}

/// Checks that packet numbers increase.
fn numbers(field: &str, packets: &[u64]) -> Result<Vec<u64>> {
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

pub(super) fn noise(NoiseDocument { mean, shape }: NoiseDocument) -> Option<NoiseModel> {
    (mean > Duration::ZERO).then_some(NoiseModel { mean, shape })
}
