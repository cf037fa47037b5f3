//! A checked scenario and its operations.

use crate::host::PythonHost;
use crate::monitor::{Monitor, Watcher};
use crate::plugin::{self, Loaded, Tapes};
use crate::{RawResult, bound, errors};
use netlull_network::capture::Form;
use netlull_sim::emulation::{Head, Outcome, check_format, emulated, plan};
use netlull_sim::probe::{CaptureWriter, Table};
use netlull_sim::run::{RunError, RunOutcome, Summary, measure, run};
use netlull_sim::scenario::{Family, Offer, PlugIn, RunOptions, Scenario, Source, load, load_directly, spelled_out};
use netlull_sim::tape;
use netlull_text::{Change, Text};
use netlull_units::{BitRate, Instant};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// The decisions of a run's plug-ins.
#[pyclass(frozen, module = "netlull._core")]
pub(crate) struct Tape(Arc<tape::Tape>);

#[pymethods]
impl Tape {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        tape::Tape::read(text).map(|tape| Self(Arc::new(tape))).map_err(errors::plan)
    }

    /// The seed of the run.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// The digest of the run's scenario, and the tables and defaults of its plug-ins, as JSON.
    fn stamp(&self) -> PyResult<String> {
        serde_json::to_string(self.0.stamp()).map_err(errors::internal)
    }
}

/// The document of a run. Copies share its text, which takes a fifth of the memory of its tables.
#[derive(Clone)]
#[pyclass(frozen, module = "netlull._core")]
pub(crate) struct Given {
    text: Arc<str>,
    options: RunOptions,
}

#[pymethods]
impl Given {
    /// The scenario as JSON with every default filled in.
    pub(crate) fn canonical(&self) -> PyResult<String> {
        if self.options == RunOptions::default() {
            return Ok(self.text.to_string());
        }
        self.options.set_in(&self.text).map_err(errors::internal)
    }
}

impl Given {
    fn with_options(&self, options: &RunOptions) -> Self {
        Self { text: Arc::clone(&self.text), options: options.after(&self.options) }
    }
}

/// A scenario that has been fully checked. All its runs share it, with any seed and on any thread.
#[pyclass(frozen, module = "netlull._core")]
pub(crate) struct Checked {
    given: Given,
    /// The document as the user gave it.
    document: Arc<str>,
    scenario: Scenario,
    plug_ins: Vec<(Family, PlugIn)>,
    plugins: Loaded,
}

#[pymethods]
impl Checked {
    /// Checks a scenario: TOML with an origin, such as the name of its file, else JSON.
    ///
    /// `changes` are tables of paths and values in JSON, in their order. The `host` is a `netlull.host.Host`; without one,
    /// the scenario names no files of other formats and no classes. The answers of a tape replace its plug-ins.
    #[new]
    #[pyo3(signature = (text, origin=None, changes=None, host=None, folder=None, tape=None))]
    fn new(
        text: &str,
        origin: Option<&str>,
        changes: Option<&str>,
        host: Option<Bound<'_, PyAny>>,
        folder: Option<PathBuf>,
        tape: Option<PyRef<'_, Tape>>,
    ) -> PyResult<Self> {
        let source = origin.map_or(Source::Json(text), |origin| Source::Toml(Text { origin, text }));
        let steps: Vec<Map<String, Value>> = serde_json::from_str(changes.unwrap_or("[]")).map_err(errors::internal)?;
        let change =
            |(path, value): (String, Value)| Change { path, value: Some(value).filter(|value| !value.is_null()) };
        let steps: Vec<Vec<Change>> = steps.into_iter().map(|step| step.into_iter().map(change).collect()).collect();
        let host = PythonHost::new(host, folder.unwrap_or_default());
        let play = tape.map(|tape| Arc::clone(&tape.0));
        let (read, plugins) = plugin::load(play, || {
            let directly = if origin.is_none() && steps.is_empty() { load_directly(text) } else { None };
            directly.map_or_else(|| load(source, &steps, &host), Ok)
        });
        if let Some(raised) = host.raised.take() {
            return Err(raised);
        }
        let read = read.map_err(errors::scenario)?;
        let text: Arc<str> = read.canonical().map_err(errors::internal)?.into();
        // A document without defaults to fill in is kept once.
        let document = if *text == *read.given { Arc::clone(&text) } else { read.given.into() };
        let given = Given { text, options: RunOptions::default() };
        Ok(Self { given, document, scenario: read.scenario, plug_ins: read.plug_ins, plugins })
    }

    /// The document as the user gave it, with the content of its files, as JSON.
    fn document(&self) -> &str {
        &self.document
    }

    /// The document as the user gave it, with the links of its topology, as JSON.
    fn spelled_out(&self) -> PyResult<String> {
        spelled_out(&self.document).map_err(errors::scenario)
    }

    /// The families and tables of its Python classes, with all parameters, as JSON. A class that was left out has no table.
    fn plug_ins(&self) -> PyResult<String> {
        let listed = |(family, plug_in): &(Family, PlugIn)| match plug_in {
            PlugIn::Table(table) => json!([family.name(), table]),
            PlugIn::BuiltIn | PlugIn::LeftOut => json!([family.name(), null]),
        };
        serde_json::to_string(&self.plug_ins.iter().map(listed).collect::<Vec<_>>()).map_err(errors::internal)
    }

    /// The scenario as JSON with every default filled in.
    pub(crate) fn canonical(&self) -> PyResult<String> {
        self.given.canonical()
    }

    /// True if runs call Python classes, so that they share the GIL.
    #[getter]
    fn calls_python(&self) -> bool {
        self.plugins.calls_python
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
        let (document, plug_ins) = (Arc::clone(&self.document), self.plug_ins.clone());
        Ok(Self {
            given: self.given.with_options(&options),
            document,
            scenario,
            plug_ins,
            plugins: self.plugins.clone(),
        })
    }

    /// Runs the scenario without the GIL. The options are those of `with_options`. `memory` is the limit in bytes. With a
    /// `stamp` (JSON) for its tape, the result has the decisions of the plug-ins.
    #[pyo3(signature = (seed=None, probe=None, verify=None, monitor=None, memory=None, stamp=None))]
    #[allow(clippy::too_many_arguments, reason = "the options of one run")]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        probe: Option<&str>,
        verify: Option<&str>,
        monitor: Option<PyRef<'_, Monitor>>,
        memory: Option<u64>,
        stamp: Option<&str>,
    ) -> PyResult<RawResult> {
        let stamp = stamp.map(serde_json::from_str).transpose().map_err(errors::request)?;
        self.with_options(seed, probe, verify)?.execute(py, monitor, memory, None, stamp)
    }

    /// Runs the scenario and writes the packets on `links` to `path`, as pcapng or as classic pcap: the name `named`
    /// decides, or that of `path`.
    #[pyo3(signature = (links, path, monitor=None, memory=None, *, named=None))]
    fn trace(
        &self,
        py: Python<'_>,
        links: Vec<String>,
        path: PathBuf,
        monitor: Option<PyRef<'_, Monitor>>,
        memory: Option<u64>,
        named: Option<PathBuf>,
    ) -> PyResult<RawResult> {
        let form = Form::of(named.as_ref().unwrap_or(&path));
        let capture = CaptureWriter::of(&self.scenario, &links, &path, form).map_err(errors::capture)?;
        self.execute(py, monitor, memory, Some(capture), None)
    }

    /// Runs the scenario without the GIL and returns the summary as JSON, without times per rate and without tables.
    #[pyo3(signature = (seed, monitor, memory=None))]
    fn measure(&self, py: Python<'_>, seed: u64, monitor: PyRef<'_, Monitor>, memory: Option<u64>) -> PyResult<String> {
        let scenario = Scenario { seed, ..self.scenario.clone() };
        let measured =
            |watcher: &mut Watcher| played(plugin::run(&self.plugins, seed, None, || measure(&scenario, watcher)));
        let (mut summary, tapes) = self.watched(py, Some(monitor), memory, measured)?;
        tapes.unplayed.map_or(Ok(()), |error| Err(errors::plan(error)))?;
        py.detach(|| {
            summary.links.leave_out_residencies();
            serde_json::to_string(&summary)
        })
        .map_err(errors::internal)
    }

    /// Bounds the energy of a link with these accepted packets, without the GIL: times in ns, sizes in bytes.
    fn bound(&self, py: Python<'_>, request_json: &str, times: Vec<u64>, sizes: Vec<u64>) -> PyResult<String> {
        let request = bound::Request::read(request_json)?;
        let bounds = py.detach(|| request.bounds(&self.scenario, &bound::arrivals(&times, &sizes)))?;
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
        Ok(self.result(run.summary, run.tables, None))
    }

    /// A scenario from the two texts of another one that is in this process or was in another.
    #[staticmethod]
    fn restored(py: Python<'_>, canonical: &str, document: &str, plug_ins: &str) -> PyResult<Self> {
        let listed: Vec<(String, Value)> = serde_json::from_str(plug_ins).map_err(errors::internal)?;
        // Who reads a pickle runs its code anyway.
        let text = |table: &Value, field: &str| Some(table.get(field)?.as_str()?.to_owned());
        let class = |table: &Value| Some((text(table, "class")?, text(table, "source")?));
        let classes: Vec<(String, String)> = listed.iter().filter_map(|(_, table)| class(table)).collect();
        if !classes.is_empty() {
            let folders: Vec<String> = Vec::new();
            py.import("netlull.plugins.loading")?.call_method1("take", ((folders, classes),))?;
        }
        let copy = Self::new(canonical, None, None, None, None, None)?;
        let plug_in = |(family, table): (String, Value)| {
            let family = Family::ALL.into_iter().find(|known| known.name() == family)?;
            Some((family, if table.is_null() { PlugIn::LeftOut } else { PlugIn::Table(table) }))
        };
        let plug_ins = listed.into_iter().filter_map(plug_in).collect();
        Ok(Self { document: document.into(), plug_ins, ..copy })
    }

    /// Copies and pickles the scenario through its texts, which the other process reads once.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, String, String))> {
        let restored = py.get_type::<Self>().getattr("restored")?;
        Ok((restored, (self.canonical()?, self.document.to_string(), self.plug_ins()?)))
    }
}

/// The outcome of a run with its tapes, unless the run has failed.
fn played<T>((outcome, tapes): (Result<T, RunError>, Tapes)) -> Result<(T, Tapes), RunError> {
    outcome.map(|outcome| (outcome, tapes))
}

impl Checked {
    pub(crate) fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    pub(crate) fn given(&self) -> Given {
        self.given.clone()
    }

    fn execute(
        &self,
        py: Python<'_>,
        monitor: Option<PyRef<'_, Monitor>>,
        memory: Option<u64>,
        capture: Option<CaptureWriter>,
        stamp: Option<tape::Stamp>,
    ) -> PyResult<RawResult> {
        let (RunOutcome { summary, tables }, tapes) = self.watched(py, monitor, memory, |watcher| {
            played(plugin::run(&self.plugins, self.scenario.seed, stamp, || run(&self.scenario, watcher, capture)))
        })?;
        tapes.unplayed.map_or(Ok(()), |error| Err(errors::plan(error)))?;
        Ok(self.result(summary, tables, tapes.recorded))
    }

    fn result(&self, summary: Summary, tables: Vec<Table>, tape: Option<String>) -> RawResult {
        RawResult { given: self.given.clone(), summary: Arc::new(summary), tables, tape }
    }

    /// Runs the scenario without the GIL. A run that calls Python keeps it, because each call would take it again; other
    /// threads then run whenever the run reports its progress.
    fn watched<T: Send>(
        &self,
        py: Python<'_>,
        monitor: Option<PyRef<'_, Monitor>>,
        memory: Option<u64>,
        simulate: impl FnOnce(&mut Watcher) -> Result<T, RunError> + Send,
    ) -> PyResult<T> {
        let keeps_gil = self.plugins.calls_python;
        let mut watcher = Watcher::new(py, monitor.map(|monitor| monitor.shared()), memory)?;
        watcher.yields = keeps_gil;
        let outcome = if keeps_gil { simulate(&mut watcher) } else { py.detach(|| simulate(&mut watcher)) };
        if let Some(interrupt) = watcher.interrupt {
            return Err(interrupt);
        }
        outcome.map_err(errors::run)
    }
}
