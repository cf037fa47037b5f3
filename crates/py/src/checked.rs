//! A checked scenario and its operations.

use crate::monitor::{Monitor, Watcher};
use crate::{RawResult, bound, errors};
use netlull_sim::emulation::{Head, Outcome, check_format, emulated, plan};
use netlull_sim::probe::{CaptureWriter, Table};
use netlull_sim::run::{RunError, RunOutcome, measure, run};
use netlull_sim::scenario::document::Document;
use netlull_sim::scenario::{Offer, RunOptions, Scenario, read_document};
use netlull_units::{BitRate, Instant};
use pyo3::prelude::*;
use pyo3::types::PyType;
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;

/// A scenario that has been fully checked. All its runs share it, with any seed and on any thread.
#[pyclass(frozen, module = "netlull._core")]
pub(crate) struct Checked {
    document: Document,
    scenario: Scenario,
}

#[pymethods]
impl Checked {
    #[new]
    fn new(scenario_json: &str) -> PyResult<Self> {
        let document = read_document(scenario_json).map_err(errors::scenario)?;
        let scenario = Scenario::from_document(&document).map_err(errors::scenario)?;
        Ok(Self { document, scenario })
    }

    /// The scenario as JSON with every default filled in.
    fn canonical(&self) -> PyResult<String> {
        serde_json::to_string(&self.document).map_err(errors::internal)
    }

    /// Warnings about unusual but allowed values, a sentence each.
    fn warnings(&self) -> Vec<String> {
        self.scenario.warnings()
    }

    /// The traffic that each flow offers, as JSON: name, ends, times in s, rate in b/s or null.
    fn offers(&self) -> PyResult<String> {
        let node = |node: usize| &self.scenario.nodes[node];
        let seconds = |at: Instant| (at < Instant::NEVER).then(|| at.as_secs_f64());
        let offer = |offer: Offer<'_>| {
            json!({
                "name": offer.path.name, "from": node(offer.path.from), "to": node(offer.path.to),
                "rate_bps": offer.rate.map(BitRate::as_bps),
                "start_s": seconds(offer.start), "stop_s": seconds(offer.stop),
            })
        };
        serde_json::to_string(&self.scenario.offers().map(offer).collect::<Vec<_>>()).map_err(errors::internal)
    }

    /// The expected number of packet-hops of a run.
    fn expected_hops(&self) -> f64 {
        self.scenario.expected_hops()
    }

    /// The expected memory of a run, in bytes.
    fn expected_memory(&self) -> f64 {
        self.scenario.expected_memory()
    }

    /// The same scenario with other run options. `probe` is a table in JSON.
    #[pyo3(signature = (seed=None, probe=None, verify=None))]
    fn with_options(&self, seed: Option<u64>, probe: Option<&str>, verify: Option<&str>) -> PyResult<Self> {
        let options = RunOptions::read(seed, probe, verify).map_err(errors::scenario)?;
        let scenario = self.scenario.with_options(&options).map_err(errors::scenario)?;
        Ok(Self { document: self.document.with_options(&options), scenario })
    }

    /// Runs the scenario without the GIL. The options are those of `with_options`. `memory` is the limit in bytes.
    #[pyo3(signature = (seed=None, probe=None, verify=None, monitor=None, memory=None))]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        probe: Option<&str>,
        verify: Option<&str>,
        monitor: Option<PyRef<'_, Monitor>>,
        memory: Option<u64>,
    ) -> PyResult<RawResult> {
        self.with_options(seed, probe, verify)?.execute(py, monitor, memory, None)
    }

    /// Runs the scenario and writes the packets on `links` to `path` as pcapng.
    #[pyo3(signature = (links, path, monitor=None, memory=None))]
    fn trace(
        &self,
        py: Python<'_>,
        links: Vec<String>,
        path: PathBuf,
        monitor: Option<PyRef<'_, Monitor>>,
        memory: Option<u64>,
    ) -> PyResult<RawResult> {
        let capture = CaptureWriter::of(&self.scenario, &links, &path).map_err(errors::capture)?;
        self.execute(py, monitor, memory, Some(capture))
    }

    /// Runs the scenario without the GIL and returns the summary as JSON, without times per rate and without tables.
    #[pyo3(signature = (seed, monitor, memory=None))]
    fn measure(&self, py: Python<'_>, seed: u64, monitor: PyRef<'_, Monitor>, memory: Option<u64>) -> PyResult<String> {
        let scenario = Scenario { seed, ..self.scenario.clone() };
        let mut summary = watched(py, Some(monitor), memory, |watcher| measure(&scenario, watcher))?;
        py.detach(|| {
            summary.links.iter_mut().for_each(|link| link.residency.clear());
            serde_json::to_string(&summary)
        })
        .map_err(errors::internal)
    }

    /// Bounds the energy of a link with these accepted packets, without the GIL: times in ns, sizes in bytes.
    fn bound(&self, py: Python<'_>, request_json: &str, times: Vec<u64>, sizes: Vec<u64>) -> PyResult<String> {
        let request = bound::Request::read(request_json)?;
        let bounds = py.detach(|| request.bounds(&self.scenario, &bound::arrivals(&times, &sizes)));
        serde_json::to_string(&bounds).map_err(errors::internal)
    }

    /// The emulation plan of the scenario, in the format of `netlulld emulate`.
    fn emulation_plan(&self, py: Python<'_>) -> PyResult<String> {
        let plan = py.detach(|| plan(&self.scenario)).map_err(errors::scenario)?;
        serde_json::to_string(&plan).map_err(errors::internal)
    }

    /// Converts the counts of an emulation to the result of a run.
    fn emulation_result(&self, py: Python<'_>, outcome_json: &str) -> PyResult<RawResult> {
        let head: Head = serde_json::from_str(outcome_json).map_err(errors::request)?;
        check_format(head).map_err(errors::scenario)?;
        let outcome: Outcome = py.detach(|| serde_json::from_str(outcome_json)).map_err(errors::request)?;
        let run = emulated(&self.scenario, &outcome).map_err(errors::scenario)?;
        self.result(&run.summary, run.tables)
    }

    /// Copies and pickles the scenario through its JSON, which the other process reads once.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (String,))> {
        Ok((py.get_type::<Self>(), (self.canonical()?,)))
    }
}

impl Checked {
    fn execute(
        &self,
        py: Python<'_>,
        monitor: Option<PyRef<'_, Monitor>>,
        memory: Option<u64>,
        capture: Option<CaptureWriter>,
    ) -> PyResult<RawResult> {
        let RunOutcome { summary, tables } =
            watched(py, monitor, memory, |watcher| run(&self.scenario, watcher, capture))?;
        self.result(&summary, tables)
    }

    fn result(&self, summary: &impl Serialize, tables: Vec<Table>) -> PyResult<RawResult> {
        let summary = serde_json::to_string(summary).map_err(errors::internal)?;
        Ok(RawResult { scenario: self.canonical()?, summary, tables })
    }
}

/// Runs a scenario without the GIL.
fn watched<T: Send>(
    py: Python<'_>,
    monitor: Option<PyRef<'_, Monitor>>,
    memory: Option<u64>,
    simulate: impl FnOnce(&mut Watcher) -> Result<T, RunError> + Send,
) -> PyResult<T> {
    let mut watcher = Watcher::new(py, monitor.map(|monitor| monitor.shared()), memory)?;
    let outcome = py.detach(|| simulate(&mut watcher));
    if let Some(interrupt) = watcher.interrupt {
        return Err(interrupt);
    }
    outcome.map_err(errors::run)
}
