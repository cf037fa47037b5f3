//! Conversion of losses in the document: probabilities in range, flows on the link.

use super::links::Wire;
use super::{Result, refuse};
use crate::net::loss::{GilbertElliott, LossModel, ScriptedDrops};
use crate::scenario::document::{GilbertElliottDocument, LossDocument, ScriptedDropsDocument};

/// The index and name of each flow that crosses a link.
pub(super) type Crossing<'a> = [(u32, &'a str)];

pub(super) fn loss(wire: &Wire<'_>, crossing: &Crossing<'_>) -> Result<Option<LossModel>> {
    let field = format!("link.{}.loss", wire.name);
    let Some(document) = wire.document.loss.as_ref().filter(|_| wire.is_there()) else { return Ok(None) };
    match document {
        LossDocument::Bernoulli(document) => {
            let probability = document.probability;
            if !(0.0..1.0).contains(&probability) {
                let message = format!("is {probability}; expected 0 or more and less than 1");
                return refuse(format!("{field}.probability"), message);
            }
            Ok((probability > 0.0).then_some(LossModel::Bernoulli(probability)))
        }
        LossDocument::GilbertElliott(document) => gilbert_elliott(&field, *document).map(Some),
        LossDocument::Scripted(document) => scripted(&field, &document.drops, crossing).map(Some),
    }
}

fn gilbert_elliott(field: &str, document: GilbertElliottDocument) -> Result<LossModel> {
    let GilbertElliottDocument { to_bad, to_good, loss_bad, loss_good } = document;
    for (name, step) in [("to_bad", to_bad), ("to_good", to_good)] {
        if !(step > 0.0 && step <= 1.0) {
            return refuse(format!("{field}.{name}"), format!("is {step}; expected more than 0 and at most 1"));
        }
    }
    if !(0.0..=1.0).contains(&loss_bad) {
        return refuse(format!("{field}.loss_bad"), format!("is {loss_bad}; expected 0 to 1"));
    }
    if !(0.0..1.0).contains(&loss_good) {
        return refuse(format!("{field}.loss_good"), format!("is {loss_good}; expected 0 or more and less than 1"));
    }
    Ok(LossModel::GilbertElliott(GilbertElliott { to_bad, to_good, loss_bad, loss_good }))
}

fn scripted(field: &str, drops: &[ScriptedDropsDocument], crossing: &Crossing<'_>) -> Result<LossModel> {
    let mut scripts: Vec<ScriptedDrops> = Vec::with_capacity(drops.len());
    for (index, document) in drops.iter().enumerate() {
        let field = format!("{field}.drops.{index}");
        let name = &document.flow;
        let Some((flow, _)) = crossing.iter().find(|(_, known)| known == name) else {
            let known = match crossing {
                [] => "none: no flow does".to_owned(),
                known => format!("one of {}", known.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ")),
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

/// Checks that packet numbers start at 1 or later and increase.
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
