//! The Python module `netlull._core`: converts, releases the GIL, maps errors. No logic.

// PyO3's macros expand to unsafe glue that this crate does not write itself.
#![allow(unsafe_code)]

mod catalogue;
mod convert;
mod emulation;
mod errors;
mod monitor;
mod plan;

use netlull_sim::probe::{CaptureWriter, Table};
use netlull_sim::run::{RunOutcome, run as run_scenario};
use netlull_sim::scenario::{Scenario, json_schema, read_document};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::path::PathBuf;

/// What a run returned.
#[pyclass(frozen)]
struct RawResult {
    summary: String,
    tables: Vec<Table>,
}

#[pymethods]
impl RawResult {
    /// The summary as JSON.
    fn summary(&self) -> &str {
        &self.summary
    }

    /// The tables: name -> column -> numpy array.
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        convert::tables(py, &self.tables)
    }
}

/// A scenario that has been checked whole; its runs, whatever their seeds and threads, read it together.
#[pyclass(frozen, module = "netlull._core")]
struct Checked {
    scenario: Scenario,
    canonical: String,
}

#[pymethods]
impl Checked {
    #[new]
    fn new(scenario_json: &str) -> PyResult<Self> {
        let document = read_document(scenario_json).map_err(errors::scenario)?;
        let scenario = Scenario::from_document(&document).map_err(errors::scenario)?;
        let canonical = serde_json::to_string(&document).map_err(errors::internal)?;
        Ok(Self { scenario, canonical })
    }

    /// The scenario as JSON with every default filled in.
    fn canonical(&self) -> &str {
        &self.canonical
    }

    /// What may be meant, but usually is not: a sentence each.
    fn warnings(&self) -> Vec<String> {
        self.scenario.warnings()
    }

    /// Packet-hops that a run may be expected to take.
    fn expected_hops(&self) -> f64 {
        self.scenario.expected_hops()
    }

    /// Runs it without the GIL; the summary as JSON, without the times at each rate and without tables.
    fn measure(&self, py: Python<'_>, seed: u64, monitor: PyRef<'_, monitor::Monitor>) -> PyResult<String> {
        let mut watcher = monitor::Watcher::new(py, Some(monitor.shared()))?;
        let measured = py.detach(|| {
            let mut outcome = run_scenario(&Scenario { seed, ..self.scenario.clone() }, &mut watcher, None)?;
            outcome.summary.links.iter_mut().for_each(|link| link.residency.clear());
            Ok(serde_json::to_string(&outcome.summary))
        });
        if let Some(interrupt) = watcher.interrupt {
            return Err(interrupt);
        }
        measured.map_err(errors::run)?.map_err(errors::internal)
    }

    /// Copies and pickles by its JSON.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (&str,)) {
        (py.get_type::<Self>(), (&self.canonical,))
    }
}

/// The JSON Schema of a scenario.
#[pyfunction]
fn schema() -> PyResult<String> {
    serde_json::to_string_pretty(&json_schema()).map_err(errors::internal)
}

/// Runs a scenario without the GIL.
#[pyfunction]
#[pyo3(signature = (scenario_json, seed=None, monitor=None))]
fn run(
    py: Python<'_>,
    scenario_json: &str,
    seed: Option<u64>,
    monitor: Option<PyRef<'_, monitor::Monitor>>,
) -> PyResult<RawResult> {
    let scenario = checked(scenario_json, seed)?;
    execute(py, &scenario, monitor, None)
}

/// Runs a scenario and writes the packets seen at `links` to `path` as pcapng.
#[pyfunction]
#[pyo3(signature = (scenario_json, links, path, seed=None, monitor=None))]
fn trace(
    py: Python<'_>,
    scenario_json: &str,
    links: Vec<String>,
    path: PathBuf,
    seed: Option<u64>,
    monitor: Option<PyRef<'_, monitor::Monitor>>,
) -> PyResult<RawResult> {
    let scenario = checked(scenario_json, seed)?;
    let capture = CaptureWriter::of(&scenario, &links, &path).map_err(errors::capture)?;
    execute(py, &scenario, monitor, Some(capture))
}

fn checked(scenario_json: &str, seed: Option<u64>) -> PyResult<Scenario> {
    let mut document = read_document(scenario_json).map_err(errors::scenario)?;
    if let Some(seed) = seed {
        document.seed = seed;
    }
    Scenario::from_document(&document).map_err(errors::scenario)
}

fn execute(
    py: Python<'_>,
    scenario: &Scenario,
    monitor: Option<PyRef<'_, monitor::Monitor>>,
    capture: Option<CaptureWriter>,
) -> PyResult<RawResult> {
    let mut watcher = monitor::Watcher::new(py, monitor.map(|monitor| monitor.shared()))?;
    let outcome = py.detach(|| run_scenario(scenario, &mut watcher, capture));
    if let Some(interrupt) = watcher.interrupt {
        return Err(interrupt);
    }
    let RunOutcome { summary, tables } = outcome.map_err(errors::run)?;
    let summary = serde_json::to_string(&summary).map_err(errors::internal)?;
    Ok(RawResult { summary, tables })
}

/// The private core of netlull.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ScenarioError", module.py().get_type::<errors::ScenarioError>())?;
    module.add("VerificationError", module.py().get_type::<errors::VerificationError>())?;
    module.add("Cancelled", module.py().get_type::<errors::Cancelled>())?;
    module.add_class::<Checked>()?;
    module.add_class::<monitor::Monitor>()?;
    module.add_class::<RawResult>()?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(trace, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(plan::sleep_plan, module)?)?;
    module.add_function(wrap_pyfunction!(emulation::emulation_plan, module)?)?;
    module.add_function(wrap_pyfunction!(emulation::emulation_result, module)?)?;
    Ok(())
}
