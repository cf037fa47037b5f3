//! The border to `netlulld`: a scenario's plan out as JSON, what was counted in as JSON.

use crate::{RawResult, checked, errors};
use netlull_sim::emulation::{Head, Outcome, check_format, emulated, plan};
use pyo3::prelude::*;

/// What to emulate of a scenario, as `netlulld emulate` reads it.
#[pyfunction]
#[pyo3(signature = (scenario_json, seed=None))]
pub(crate) fn emulation_plan(py: Python<'_>, scenario_json: &str, seed: Option<u64>) -> PyResult<String> {
    let scenario = checked(scenario_json, seed)?;
    let plan = py.detach(|| plan(&scenario)).map_err(errors::scenario)?;
    serde_json::to_string(&plan).map_err(errors::internal)
}

/// What an emulation counted, as a run of the scenario.
#[pyfunction]
#[pyo3(signature = (scenario_json, outcome_json, seed=None))]
pub(crate) fn emulation_result(
    py: Python<'_>,
    scenario_json: &str,
    outcome_json: &str,
    seed: Option<u64>,
) -> PyResult<RawResult> {
    let scenario = checked(scenario_json, seed)?;
    let head: Head = serde_json::from_str(outcome_json).map_err(errors::request)?;
    check_format(head).map_err(errors::scenario)?;
    let read: Result<Outcome, _> = py.detach(|| serde_json::from_str(outcome_json));
    let outcome = read.map_err(errors::request)?;
    let run = emulated(&scenario, &outcome).map_err(errors::scenario)?;
    let summary = serde_json::to_string(&run.summary).map_err(errors::internal)?;
    Ok(RawResult { summary, tables: run.tables })
}
