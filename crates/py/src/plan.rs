//! Sleep plans: a graph as JSON in, the plan as JSON out.

use crate::catalogue::mechanism;
use crate::errors;
use netlull_mechanism::topology::{Demand, Graph, SleepAlgorithm, SleepKind, Traffic, Verdict, loads, worst_failure};
use netlull_units::BitRate;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// A graph, its traffic, and the requested plan.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    nodes: usize,
    links: Vec<(usize, usize)>,
    /// The nodes' names for messages. Without them, their numbers are used.
    #[serde(default)]
    names: Vec<String>,
    plan: SleepAlgorithm,
    #[serde(default)]
    capacities_bps: Vec<u64>,
    #[serde(default)]
    weights: Vec<u32>,
    #[serde(default)]
    demands: Vec<(usize, usize, u64)>,
}

/// The kinds of sleep plans with their parameters, as JSON.
#[pyfunction]
pub(crate) fn sleep_plans() -> PyResult<String> {
    let kinds: Vec<Value> = SleepAlgorithm::KINDS.iter().map(kind).collect();
    serde_json::to_string(&kinds).map_err(errors::internal)
}

fn kind(kind: &SleepKind) -> Value {
    let described = (kind.describe)();
    let required = described.parameters.iter().filter(|parameter| parameter.is_required());
    let required: Vec<_> = required.map(|parameter| &parameter.name).collect();
    let mut entry = mechanism(kind.name, &described);
    entry["required"] = json!(required);
    entry["reads_traffic"] = kind.properties.reads_traffic.into();
    let rank = &kind.properties.rank;
    entry["rank"] = json!({ "name": rank.name, "unit": rank.unit });
    entry
}

/// Computes the links to put to sleep, without the GIL, and the awake links whose failure disconnects the graph.
/// With capacities, also the loads of the links and the worst failure.
#[pyfunction]
pub(crate) fn sleep_plan(py: Python<'_>, request_json: &str) -> PyResult<String> {
    let request: Value = serde_json::from_str(request_json).map_err(errors::request)?;
    let request: Request = netlull_document::read(&request).map_err(errors::plan)?;
    let plan = py.detach(|| make(request))?;
    serde_json::to_string(&plan).map_err(errors::internal)
}

fn make(request: Request) -> PyResult<Value> {
    let Request { nodes, links, names, plan, capacities_bps, weights, demands } = request;
    let graph = Graph::new(nodes, links).map_err(errors::plan)?.with_names(names);
    let demand = |(from, to, bps)| Demand { from, to, rate: BitRate::from_bps(bps) };
    let traffic = Traffic {
        capacities: capacities_bps.into_iter().map(BitRate::from_bps).collect(),
        weights,
        demands: demands.into_iter().map(demand).collect(),
    };
    let made = plan.plan(&graph, &traffic).map_err(errors::plan)?;
    let (loads, worst) = if traffic.capacities.is_empty() {
        (None, None)
    } else {
        traffic.check(&graph).map_err(errors::plan)?;
        (Some(loads(&graph, &traffic, &made.off)), worst_failure(&graph, &traffic, &made.off))
    };
    let worst = worst.map(|worst| json!({ "failure": worst.failure, "link": worst.link, "load_bps": worst.load }));
    let rest: Vec<usize> = (0..graph.links().len()).filter(|link| !made.off.contains(link)).collect();
    let awake = Graph::new(nodes, rest.iter().map(|&link| graph.links()[link]).collect()).map_err(errors::plan)?;
    let bridges: Vec<usize> =
        rest.into_iter().zip(awake.bridges()).filter_map(|(link, is_bridge)| is_bridge.then_some(link)).collect();
    let steps: Vec<_> = made
        .steps
        .iter()
        .map(|step| json!({ "link": step.link, "rank": step.rank, "verdict": word(step.verdict), "connectivity": step.connectivity }))
        .collect();
    let initial = made.initial_connectivity;
    Ok(json!({
        "initial_connectivity": initial, "off": made.off, "steps": steps,
        "bridges": bridges, "loads_bps": loads, "worst_failure": worst,
    }))
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Off => "off",
        Verdict::Disconnects => "disconnects",
        Verdict::TooWeak => "too_weak",
        Verdict::TooLoaded => "too_loaded",
        Verdict::Fragile => "fragile",
    }
}
