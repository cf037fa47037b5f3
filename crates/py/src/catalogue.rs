//! The lists of mechanisms, TCPs, queues, losses, power models and radios.

use crate::errors;
use netlull_document::{Description, Parameter};
use netlull_power::{PowerModel, PowerModelInfo, Transceiver};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

/// Names, descriptions, parameters and sources as JSON.
#[pyfunction]
pub(crate) fn catalogue() -> PyResult<String> {
    let listed = |kinds: Vec<(String, Description)>| -> Vec<_> {
        kinds.iter().map(|(name, described)| mechanism(name, described)).collect()
    };
    let mechanisms = listed(netlull_sim::catalogue::mechanisms());
    let (queues, losses) = (listed(netlull_sim::catalogue::queues()), listed(netlull_sim::catalogue::losses()));
    let power: Vec<_> = PowerModel::catalogue().iter().map(power).collect();
    let options: Vec<_> = netlull_tcp::options().iter().map(option).collect();
    let transceivers: Vec<_> = Transceiver::catalogue().iter().map(transceiver).collect();
    let radios: Vec<_> = netlull_power::RadioPower::catalogue().iter().map(radio).collect();
    let all = json!({
        "mechanisms": mechanisms, "tcp": tcp(), "tcp-options": options, "queues": queues, "losses": losses, "power": power,
        "transceivers": transceivers, "radios": radios,
    });
    serde_json::to_string(&all).map_err(errors::internal)
}

/// A mechanism, or a kind of queue or loss, with its parameters, as JSON.
pub(crate) fn mechanism(name: &str, described: &Description) -> Value {
    let parameter = |p: &Parameter| json!({ "name": p.name, "unit": p.unit, "default": p.default, "description": p.meaning, "source": p.source });
    let parameters: Vec<_> = described.parameters.iter().map(parameter).collect();
    json!({ "name": name, "description": described.summary, "source": described.source, "parameters": parameters })
}

/// A power model. A device has its table.
fn power(info: &PowerModelInfo) -> Value {
    let mut entry = json!({ "name": info.name, "description": info.summary, "source": info.source });
    if let Some(table) = PowerModel::document(info.name) {
        entry["device"] = json!(table);
    }
    entry
}

fn transceiver(transceiver: &Transceiver) -> Value {
    json!({
        "name": transceiver.name, "in_w": transceiver.plugged.as_f64(), "up_w": transceiver.up.as_f64(),
        "source": transceiver.source,
    })
}

/// A radio with its powers in watts and its wake-up time in seconds.
fn radio(radio: &netlull_power::RadioPower) -> Value {
    json!({
        "name": radio.name, "description": radio.summary, "source": radio.source,
        "asleep_w": radio.asleep.as_f64(), "idle_w": radio.idle.as_f64(), "receive_w": radio.receive.as_f64(),
        "transmit_w": radio.transmit.as_f64(), "waking_w": radio.waking.as_f64(), "wake_time_s": radio.wake.as_secs_f64(),
    })
}

fn tcp() -> Vec<Value> {
    let parameter = |p: &netlull_tcp::ParameterInfo| json!({ "name": p.name, "unit": p.unit, "default": p.value, "description": p.meaning, "source": p.source, "is_option": p.is_option });
    let entry = |tcp: &netlull_tcp::AlgorithmInfo| {
        let parameters: Vec<_> = tcp.algorithm.parameters().iter().map(parameter).collect();
        let defaults: Map<String, Value> =
            tcp.algorithm.defaults().into_iter().map(|(option, value)| (option.to_owned(), value.into())).collect();
        json!({
            "name": tcp.name, "description": tcp.summary, "source": tcp.source, "defaults": defaults,
            "page": netlull_tcp::Algorithm::page(tcp.name), "parameters": parameters,
        })
    };
    netlull_tcp::Algorithm::catalogue().iter().copied().map(entry).collect()
}

fn option(option: &netlull_tcp::OptionInfo) -> Value {
    let value = |choice: &netlull_tcp::Choice| json!({ "name": choice.name, "description": choice.summary, "source": choice.source });
    let values: Vec<_> = option.choices.iter().map(value).collect();
    let defaults: Map<String, Value> =
        option.defaults.iter().map(|(preset, value)| (preset.clone(), value.clone().into())).collect();
    json!({
        "name": option.name, "description": option.summary, "source": option.source, "values": values, "default": option.default,
        "defaults": defaults,
    })
}
