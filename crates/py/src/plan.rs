//! Plans of sleep: a graph in as JSON, the plan out as JSON.

use crate::errors;
use netlull_mechanism::ConfigError;
use netlull_mechanism::topology::{Demand, Graph, LoadAwareConfig, SleepPlan, Verdict, esacon, estop, load_aware};
use netlull_units::BitRate;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

/// A graph, and what to do with it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    nodes: usize,
    links: Vec<(usize, usize)>,
    /// What messages call the nodes; their numbers, if it is missing.
    #[serde(default)]
    names: Vec<String>,
    plan: Plan,
    #[serde(default)]
    capacities_bps: Vec<u64>,
    #[serde(default)]
    weights: Vec<u32>,
    #[serde(default)]
    demands: Vec<(usize, usize, u64)>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Plan {
    Estop { threshold: f64 },
    Esacon { threshold: f64 },
    LoadAware { bound: f64, threshold: f64 },
}

/// Which links sleep, without the GIL.
#[pyfunction]
pub(crate) fn sleep_plan(py: Python<'_>, request_json: &str) -> PyResult<String> {
    let request: Request = serde_json::from_str(request_json).map_err(errors::request)?;
    let plan = py.detach(|| make(request))?;
    serde_json::to_string(&written(&plan)).map_err(errors::internal)
}

fn make(request: Request) -> PyResult<SleepPlan> {
    let Request { nodes, links, names, plan, capacities_bps, weights, demands } = request;
    let graph = Graph::new(nodes, links).map_err(errors::plan)?.with_names(names);
    let made: Result<SleepPlan, ConfigError> = match plan {
        Plan::Estop { threshold } => estop(&graph, threshold),
        Plan::Esacon { threshold } => esacon(&graph, threshold),
        Plan::LoadAware { bound, threshold } => {
            let capacities = capacities_bps.into_iter().map(BitRate::from_bps).collect();
            let demand = |(from, to, bps)| Demand { from, to, rate: BitRate::from_bps(bps) };
            let demands = demands.into_iter().map(demand).collect();
            load_aware(&graph, &LoadAwareConfig { capacities, weights, demands, bound, threshold })
        }
    };
    made.map_err(errors::plan)
}

fn written(plan: &SleepPlan) -> Value {
    let steps: Vec<_> = plan
        .steps
        .iter()
        .map(|step| json!({ "link": step.link, "rank": step.rank, "verdict": word(step.verdict), "connectivity": step.connectivity }))
        .collect();
    json!({ "initial_connectivity": plan.initial_connectivity, "off": plan.off, "steps": steps })
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Off => "off",
        Verdict::Disconnects => "disconnects",
        Verdict::TooWeak => "too_weak",
        Verdict::TooLoaded => "too_loaded",
    }
}
