//! Plug-ins in Python: controllers of links, policies of stations, congestion controls and sleep plans.
//!
//! `netlull.plugins.loading` finds the classes and reads their parameters. Here, each kind is a factory for the core: values go
//! to Python as views, and answers come back as the core's types.

mod control;
mod link;
mod plan;
mod session;
mod station;
mod views;

pub(crate) use session::{Loaded, Tapes, cause, load, raised, run};
pub(crate) use views::register_views;

use netlull_mechanism::ConfigError;
use netlull_units::Instant;
use pyo3::IntoPyObjectExt;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The value of `kind` in documents.
const KIND: &str = "python";

/// Lets documents of this process contain Python classes.
pub(crate) fn register() {
    netlull_mechanism::link::PLUG_INS.add(KIND, link::load);
    netlull_mechanism::station::PLUG_INS.add(KIND, station::load);
    netlull_tcp::cc::PLUG_INS.add(KIND, control::load);
    netlull_mechanism::topology::PLUG_INS.add(KIND, plan::load);
}

/// A class with its parameters, as `netlull.plugins.loading` has found it.
#[derive(Debug)]
struct Class {
    /// A `netlull.plugins.classes.Found`.
    found: Py<PyAny>,
    name: String,
    table: Value,
}

impl Class {
    /// Finds the class of a table.
    ///
    /// # Errors
    /// If there is no such class, or a parameter is refused.
    fn find(family: &str, fields: &Map<String, Value>) -> Result<Self, ConfigError> {
        let table = table(fields);
        if family != "sleep_plans" {
            session::has_class();
        }
        Python::attach(|py| {
            let found = (|| {
                let found = py.import("netlull.plugins.loading")?.call_method1("found", (family, table.to_string()))?;
                let name = found.getattr("name")?.extract()?;
                PyResult::Ok(Self { found: found.unbind(), name, table })
            })();
            found.map_err(|error| refused(py, error, "class"))
        })
    }

    /// An attribute of the class.
    fn attribute<T: for<'py> FromPyObjectOwned<'py>>(&self, name: &str) -> Result<T, ConfigError> {
        Python::attach(|py| {
            let value = self.found.bind(py).getattr(name).and_then(|value| value.extract().map_err(Into::into));
            value.map_err(|error| refused(py, error, name))
        })
    }

    /// Makes an object of the class for one run, and starts it with `context`.
    fn start<'py>(&self, py: Python<'py>, context: impl IntoPyObject<'py>) -> Result<Bound<'py, PyAny>, ConfigError> {
        self.begin(py, context, "start")
    }

    /// Starts an object. The name of its method is the field of an error.
    fn begin<'py>(
        &self,
        py: Python<'py>,
        context: impl IntoPyObject<'py>,
        method: &str,
    ) -> Result<Bound<'py, PyAny>, ConfigError> {
        let object = (|| {
            let context = context.into_bound_py_any(py)?;
            self.found.bind(py).call_method1("start", (context, session::seed()))
        })();
        object.map_err(|error| refused(py, error, method))
    }
}

/// The table of a class in documents.
fn table(fields: &Map<String, Value>) -> Value {
    let mut table = Map::new();
    table.insert("kind".to_owned(), KIND.into());
    table.extend(fields.clone());
    Value::Object(table)
}

/// The error of a plug-in: a refusal by `netlull.plugins.loading`, or an exception of the plug-in's own code, which becomes the
/// cause of the error that ends the run.
fn refused(py: Python<'_>, error: PyErr, field: &str) -> ConfigError {
    let value = error.value(py);
    let refusal: PyResult<(String, String, String)> = value.getattr("refusal").and_then(|parts| parts.extract());
    if let Ok((field, value, expected)) = refusal {
        return ConfigError { field, value, expected };
    }
    let text = value.str().map_or_else(|_| String::new(), |text| text.to_string());
    let kind = error.get_type(py).name().map_or_else(|_| "an exception".to_owned(), |name| name.to_string());
    let text = if text.is_empty() { kind } else { format!("{kind}: {text}") };
    session::raised(error);
    ConfigError::new(field, text, "no exception")
}

/// The longest answer in an error, in characters.
const LONGEST: usize = 100;

/// The error of an answer of the wrong type.
fn nonsense(answer: &Bound<'_, PyAny>, method: &str, expected: &str) -> ConfigError {
    let text = answer.repr().map_or_else(|_| "an object".to_owned(), |text| text.to_string());
    ConfigError::new(method, cut(text, LONGEST), expected)
}

/// The first characters of a text.
fn cut(text: String, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// A value of the vocabulary from Python: text, or a dict in the form of the JSON Schema, with quantities as text or as
/// numbers.
///
/// # Errors
/// The reason, which is empty for other types.
fn from_vocabulary<T: DeserializeOwned>(answer: &Bound<'_, PyAny>) -> Result<T, String> {
    if !answer.is_instance_of::<PyString>() && !answer.is_instance_of::<PyDict>() {
        return Err(String::new());
    }
    let text = answer.py().import("json").and_then(|json| json.call_method1("dumps", (answer,)));
    let text = text.and_then(|text| text.extract::<String>()).map_err(|error| error.value(answer.py()).to_string())?;
    let mut value: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if let Value::Object(fields) = &mut value {
        fields.iter_mut().for_each(|(name, value)| with_unit(name, value));
    }
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// Gives a number of a quantity its unit.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn with_unit(name: &str, value: &mut Value) {
    let whole = |number: f64| (number >= 0.0).then(|| number.round() as u64);
    let number = |value: &Value| value.as_f64();
    let text = match name {
        "rate" => number(value).and_then(whole).map(|rate| format!("{rate} b/s")),
        "pause" => number(value).and_then(|pause| whole(pause * 1e9)).map(|pause| format!("{pause} ns")),
        "set_window" => number(value).and_then(whole).map(|size| format!("{size} B")),
        _ => None,
    };
    if let Some(text) = text {
        *value = text.into();
    } else if let Value::Object(fields) = value {
        fields.iter_mut().for_each(|(name, value)| with_unit(name, value));
    }
}

/// The expected answer, with the reason of a refusal.
fn because(expected: &str, reason: &str) -> String {
    if reason.is_empty() {
        expected.to_owned()
    } else {
        format!("{expected} ({})", cut(reason.to_owned(), 3 * LONGEST))
    }
}

/// A time in seconds since the start of the run; `None` if it is no time.
fn instant(seconds: f64) -> Option<Instant> {
    netlull_units::Duration::from_secs_f64(seconds).map(|since| Instant::ZERO + since)
}
