//! What there is: mechanisms, TCPs, queues, losses, power models.

use crate::errors;
use pyo3::prelude::*;
use serde_json::json;

/// Names, descriptions, parameters and sources as JSON.
#[pyfunction]
pub(crate) fn catalogue() -> PyResult<String> {
    let mechanisms: Vec<_> = netlull_mechanism::catalogue()
        .iter()
        .map(|mechanism| {
            let parameters: Vec<_> = mechanism
                .parameters
                .iter()
                .map(|p| json!({ "name": p.name, "unit": p.unit, "default": p.default, "description": p.meaning, "source": p.source }))
                .collect();
            json!({ "name": mechanism.name, "description": mechanism.summary, "source": mechanism.source, "parameters": parameters })
        })
        .collect();
    let power: Vec<_> = netlull_power::PowerModel::catalogue()
        .iter()
        .map(|model| json!({ "name": model.name, "description": model.summary, "source": model.source }))
        .collect();
    let tcp: Vec<_> = netlull_tcp::Algorithm::catalogue()
        .iter()
        .map(|tcp| json!({ "name": tcp.name, "description": tcp.summary, "source": tcp.source }))
        .collect();
    let kinds = |kinds: &[netlull_sim::catalogue::KindInfo]| -> Vec<_> {
        kinds
            .iter()
            .map(|kind| json!({ "name": kind.name, "description": kind.summary, "source": kind.source }))
            .collect()
    };
    let (queues, losses) = (kinds(netlull_sim::catalogue::queues()), kinds(netlull_sim::catalogue::losses()));
    let all = json!({ "mechanisms": mechanisms, "tcp": tcp, "queues": queues, "losses": losses, "power": power });
    serde_json::to_string(&all).map_err(errors::internal)
}
