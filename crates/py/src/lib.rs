//! The Python module `netlull._core`. It converts values, releases the GIL and maps errors; it has no logic.

// PyO3's macros expand to unsafe code. This crate itself has none.
#![allow(unsafe_code)]

mod bound;
mod catalogue;
mod checked;
mod convert;
mod errors;
mod host;
mod memory;
mod module;
mod monitor;
mod plan;
mod plugin;
mod simulators;
mod watts;

use checked::Given;
use netlull_sim::probe::Table;
use netlull_sim::run::Summary;
use netlull_sim::scenario::json_schema;
use netlull_text::{Change, Text};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The result of a run. Its parts become text when they are read: those of 40,000 links take 100 MB as JSON.
#[pyclass(frozen)]
struct RawResult {
    given: Given,
    summary: Arc<Summary>,
    tables: Vec<Table>,
    tape: Option<String>,
}

#[pymethods]
impl RawResult {
    /// The scenario that ran.
    fn scenario(&self) -> Given {
        self.given.clone()
    }

    /// The summary of the results, as JSON.
    fn summary(&self) -> PyResult<String> {
        serde_json::to_string(&*self.summary).map_err(errors::internal)
    }

    /// The summary without its links and flows, as JSON: these lists are empty.
    fn head(&self) -> PyResult<String> {
        serde_json::to_string(&self.summary.head()).map_err(errors::internal)
    }

    /// The links and flows of the summary.
    fn lists(&self) -> Lists {
        Lists(Arc::clone(&self.summary))
    }

    /// The decisions of the plug-ins, if they were recorded.
    fn tape(&self) -> Option<&str> {
        self.tape.as_deref()
    }

    /// The names of the tables.
    fn tables(&self) -> Vec<&str> {
        self.tables.iter().map(|table| table.name.as_ref()).collect()
    }

    /// A table: column -> numpy array.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let found = self.tables.iter().find(|table| table.name == name);
        convert::table(py, found.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?)
    }
}

/// The links and flows of a summary. It outlives its result, and then keeps no tables.
#[pyclass(frozen, module = "netlull._core")]
struct Lists(Arc<Summary>);

#[pymethods]
impl Lists {
    /// The number of links and of flows.
    fn sizes(&self) -> (usize, usize) {
        (self.0.links.len(), self.0.flows.len())
    }

    /// The links from `start` up to `stop` in the summary, as JSON.
    fn links(&self, start: usize, stop: usize) -> PyResult<String> {
        serde_json::to_string(&self.0.links.part(start..stop)).map_err(errors::internal)
    }

    /// The flows from `start` up to `stop` in the summary, as JSON.
    fn flows(&self, start: usize, stop: usize) -> PyResult<String> {
        let end = stop.min(self.0.flows.len());
        serde_json::to_string(&self.0.flows[start.min(end)..end]).map_err(errors::internal)
    }
}

/// The JSON Schema of a scenario.
#[pyfunction]
fn schema() -> PyResult<String> {
    serde_json::to_string_pretty(&json_schema()).map_err(errors::internal)
}

/// The JSON Schema of the vocabulary of plug-ins.
#[pyfunction]
fn vocabulary() -> PyResult<String> {
    serde_json::to_string(&netlull_sim::catalogue::vocabulary()).map_err(errors::internal)
}

/// The words that have another name now, as JSON.
#[pyfunction]
fn renames() -> PyResult<String> {
    serde_json::to_string(netlull_document::RENAMES).map_err(errors::internal)
}

/// A document in TOML as JSON. `origin`, such as the name of its file, is in errors.
#[pyfunction]
fn read_toml(text: &str, origin: &str) -> PyResult<String> {
    let document = Text { origin, text }.parse().map_err(errors::scenario)?;
    serde_json::to_string(&document).map_err(errors::internal)
}

/// The path and the value, as JSON, of a setting PATH=VALUE.
#[pyfunction]
fn parse_setting(setting: &str) -> PyResult<(String, String)> {
    let change = Change::parse(setting).map_err(errors::scenario)?;
    Ok((change.path, serde_json::to_string(&change.value).map_err(errors::internal)?))
}

/// The private core of netlull.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    netlull_plugin::register();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("IS_CHECKED", cfg!(debug_assertions))?;
    let scenario_error = module.py().get_type::<errors::ScenarioError>();
    for attribute in ["field", "file", "line", "column"] {
        scenario_error.setattr(attribute, module.py().None())?;
    }
    module.add("ScenarioError", scenario_error)?;
    module.add("MemoryLimitError", module.py().get_type::<errors::MemoryLimitError>())?;
    module.add("VerificationError", module.py().get_type::<errors::VerificationError>())?;
    module.add("Cancelled", module.py().get_type::<errors::Cancelled>())?;
    module.add_class::<checked::Checked>()?;
    module.add_class::<monitor::Monitor>()?;
    module.add_class::<checked::Tape>()?;
    module.add_class::<checked::Given>()?;
    module.add_class::<Lists>()?;
    plugin::register();
    plugin::register_views(module)?;
    module.add_class::<RawResult>()?;
    module.add_class::<simulators::Simulators>()?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(renames, module)?)?;
    module.add_function(wrap_pyfunction!(read_toml, module)?)?;
    module.add_function(wrap_pyfunction!(parse_setting, module)?)?;
    module.add_function(wrap_pyfunction!(vocabulary, module)?)?;
    module.add_function(wrap_pyfunction!(module::module_description, module)?)?;
    module.add_function(wrap_pyfunction!(module::module_bindings, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(plan::sleep_plan, module)?)?;
    module.add_function(wrap_pyfunction!(plan::sleep_plans, module)?)?;
    module.add_function(wrap_pyfunction!(watts::power_causes, module)?)?;
    module.add_function(wrap_pyfunction!(watts::device_watts, module)?)?;
    Ok(())
}
