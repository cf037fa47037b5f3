//! The host of a document in Python: files in its folder, and what `netlull.host.Host` gives.

use crate::plugin;
use netlull_plugin::{digest_of, limit};
use netlull_sim::scenario::{Family, File, Folder, Host, Module, PlugIn};
use netlull_text::Error;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use serde_json::{Map, Value};
use std::cell::Cell;
use std::path::PathBuf;

/// Calls Python only for what the document names.
pub(crate) struct PythonHost<'py> {
    object: Option<Bound<'py, PyAny>>,
    folder: Folder,
    /// An exception that is no error of the document, such as that of Ctrl-C.
    pub raised: Cell<Option<PyErr>>,
}

impl<'py> PythonHost<'py> {
    pub(crate) fn new(object: Option<Bound<'py, PyAny>>, folder: PathBuf) -> Self {
        Self { object, folder: Folder(folder), raised: Cell::new(None) }
    }

    /// The error of a call: a refusal of a plug-in, an invalid file, or any other exception, which ends the reading.
    fn wrong(&self, error: PyErr, is_of_class: bool) -> Error {
        let Some(object) = &self.object else { return Error::new("", error.to_string()) };
        let py = object.py();
        let text = error.value(py).to_string();
        let refusal = error.value(py).getattr("refusal").and_then(|parts| parts.extract());
        if let Ok((field, value, expected)) = refusal {
            let (field, value, expected): (String, String, String) = (field, value, expected);
            if let Some(cause) = error.cause(py) {
                plugin::raised(cause);
            }
            return Error::new(field, format!("is {value}; expected {expected}"));
        }
        let input = py.import("netlull.errors").and_then(|errors| errors.getattr("InputError"));
        if input.is_ok_and(|input| error.is_instance(py, &input)) {
            return Error::input("", text);
        }
        if is_of_class && error.is_instance_of::<PyTypeError>(py) {
            // A class that netlull cannot use, such as one with parameters of unknown types.
            plugin::raised(error);
            return Error::new("class", text);
        }
        self.raised.set(Some(error));
        Error::new("", text)
    }
}

impl Host for PythonHost<'_> {
    fn file(&self, name: &str, most: usize) -> Result<File, Error> {
        self.folder.file(name, most)
    }

    fn packets(&self, name: &str) -> Result<Vec<(u64, u64)>, Error> {
        let Some(object) = &self.object else { return self.folder.packets(name) };
        let packets = object.call_method1("packets", (self.folder.find(name),)).and_then(|packets| packets.extract());
        packets.map_err(|error| self.wrong(error, false))
    }

    fn network(&self, table: &Map<String, Value>) -> Result<Value, Error> {
        let Some(object) = &self.object else { return self.folder.network(table) };
        let text = Value::Object(table.clone()).to_string();
        let network = object.call_method1("network", (text,)).and_then(|network| network.extract::<String>());
        let network = network.map_err(|error| self.wrong(error, false))?;
        serde_json::from_str(&network).map_err(|error| Error::input("", error.to_string()))
    }

    fn module(&self, name: &str) -> Result<Module, Error> {
        let file = self.folder.find(name);
        let wrong = |why: String| Error::input("module", format!("\"{name}\": {why}"));
        let digest = digest_of(&netlull_document::read_regular(&file, limit::MODULE).map_err(wrong)?);
        let file = std::fs::canonicalize(&file).map_err(|error| wrong(format!("cannot be read: {}", error.kind())))?;
        Ok(Module { file: file.display().to_string(), digest })
    }

    fn plug_in(&self, family: Family, table: &Map<String, Value>) -> Result<PlugIn, Error> {
        let Some(object) = &self.object else { return self.folder.plug_in(family, table) };
        let text = Value::Object(table.clone()).to_string();
        let answer = object.call_method1("plug_in", (family.name(), text)).and_then(|answer| answer.extract());
        let answer: Option<String> = answer.map_err(|error| self.wrong(error, true))?;
        let Some(answer) = answer else { return Ok(PlugIn::BuiltIn) };
        let whole: Value = serde_json::from_str(&answer).map_err(|error| Error::new("", error.to_string()))?;
        Ok(if whole.is_null() { PlugIn::LeftOut } else { PlugIn::Table(whole) })
    }
}
