//! Conversion of power models in the document.

use super::control::check;
use super::{NamedPower, Result, refuse};
use crate::scenario::ScenarioError;
use crate::scenario::document::PowerDocument;
use netlull_power::{BelowFloor, IdealModel, PowerModel, Scaling};

pub(super) fn named_power(index: usize, document: &PowerDocument) -> Result<NamedPower> {
    let field = format!("power.{index}");
    check(&field, document)?;
    let Some(model) = PowerModel::by_name(&document.model) else {
        let known = PowerModel::names(", ");
        let message = format!("\"{}\" is unknown; expected one of {known}", document.model);
        return refuse(format!("{field}.model"), message);
    };
    let model = match (model, document.static_fraction, document.phi) {
        (model, None, None) => model,
        (PowerModel::Ideal(ideal), share, phi) => PowerModel::Ideal(ideal_with(&field, ideal, share, phi)?),
        (PowerModel::Device(_) | PowerModel::LineCards(_), _, _) => {
            return refuse(
                field,
                format!("\"{}\" is not an ideal model; expected no static_fraction or phi", document.model),
            );
        }
    };
    // In percent, because a dot would end the name in a metric's path.
    let default_name = || match document.static_fraction {
        Some(share) if share > 0.0 => format!("{}-{:.0}%", document.model, share * 100.0),
        _ => document.model.clone(),
    };
    Ok(NamedPower { name: document.name.clone().unwrap_or_else(default_name), model })
}

fn ideal_with(field: &str, model: IdealModel, share: Option<f64>, phi: Option<f64>) -> Result<IdealModel> {
    let refused = |error: netlull_power::ConfigError| {
        ScenarioError::new(
            format!("{field}.{}", error.field),
            format!("is {}; expected {}", error.value, error.expected),
        )
    };
    let below = |scaling: Scaling| match scaling {
        Scaling::Voltage { below_floor, .. } => Some(below_floor),
        Scaling::Frequency => None,
    };
    let scaling = match (model.scaling(), phi) {
        (scaling, None) => scaling,
        (Scaling::Frequency, Some(_)) => {
            return refuse(format!("{field}.phi"), "is given for frequency scaling; expected no phi");
        }
        (voltage, Some(phi)) => {
            Scaling::Voltage { phi, below_floor: below(voltage).unwrap_or(BelowFloor::FrequencyStillScales) }
        }
    };
    IdealModel::new(share.unwrap_or(model.static_fraction()), scaling).map_err(refused)
}
