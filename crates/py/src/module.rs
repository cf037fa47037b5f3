//! WebAssembly modules: their description, and the bindings of their interface.

use crate::errors;
use netlull_guest::bindings::{Language, bindings, tables};
use netlull_plugin::{Module, limit};
use pyo3::prelude::*;
use serde_json::json;
use std::path::PathBuf;

/// The description of a module in a file, its digest and the limits, as JSON.
#[pyfunction]
pub(crate) fn module_description(py: Python<'_>, file: PathBuf) -> PyResult<String> {
    let module = py.detach(|| Module::load(&file, None)).map_err(errors::module)?;
    let limits = json!({
        "event_instructions": limit::EVENT, "start_instructions": limit::START, "memory_bytes": limit::MEMORY,
        "stack_bytes": limit::STACK, "module_bytes": limit::MODULE,
    });
    let value = json!({ "description": module.description(), "digest": module.digest(), "limits": limits });
    serde_json::to_string(&value).map_err(errors::internal)
}

/// The bindings of modules in C and Rust, and the tables of the interface, as JSON.
#[pyfunction]
pub(crate) fn module_bindings() -> PyResult<String> {
    let value = json!({
        "netlull.h": bindings(Language::C),
        "netlull.rs": bindings(Language::Rust),
        "tables": tables(),
    });
    serde_json::to_string(&value).map_err(errors::internal)
}
