//! The single conversion from Rust's errors to Python's exceptions.

use netlull_sim::probe::CaptureError;
use netlull_sim::run::RunError;
use netlull_sim::scenario;
use netlull_text::Kind;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::types::PyAnyMethods;
use pyo3::{PyErr, Python, create_exception};

create_exception!(
    netlull._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run: the field, its value and the expected value."
);
create_exception!(
    netlull._core,
    MemoryLimitError,
    ScenarioError,
    "A run above its memory limit: the field that bounds most of the memory, its value and the expected value."
);
create_exception!(
    netlull._core,
    VerificationError,
    PyRuntimeError,
    "A run that violates conservation: a defect of netlull."
);
create_exception!(netlull._core, Cancelled, PyException, "A cancelled run.");

/// The exception of an error in a document. It has the attributes `field`, `file`, `line` and `column`, which are `None`
/// where they are unknown.
pub(crate) fn scenario(error: scenario::ScenarioError) -> PyErr {
    let raised = match error.kind {
        Kind::Value => ScenarioError::new_err(error.to_string()),
        Kind::Path => of_package("FieldPathError", &error),
        Kind::Input => of_package("InputError", &error),
    };
    Python::attach(|py| {
        let value = raised.value(py);
        let place = error.place.as_ref();
        // They are only more than the message.
        let _ = value.setattr("field", (!error.field.is_empty()).then_some(&error.field));
        let _ = value.setattr("file", place.map(|place| &place.origin));
        let _ = value.setattr("line", place.map(|place| place.line));
        let _ = value.setattr("column", place.map(|place| place.column));
    });
    caused(raised)
}

/// An exception of `netlull.errors`.
fn of_package(name: &str, error: &scenario::ScenarioError) -> PyErr {
    Python::attach(|py| {
        let class = py.import("netlull.errors").and_then(|errors| errors.getattr(name));
        let made = class.and_then(|class| class.call1((error.to_string(),)));
        made.map_or_else(|error| error, PyErr::from_value)
    })
}

/// The error with the exception of a plug-in as its cause, if there is one.
fn caused(error: PyErr) -> PyErr {
    let Some(cause) = crate::plugin::cause() else { return error };
    Python::attach(|py| {
        // Ctrl-C while a method runs.
        if cause.is_instance_of::<PyKeyboardInterrupt>(py) {
            return cause;
        }
        error.set_cause(py, Some(cause));
        error
    })
}

pub(crate) fn module(error: netlull_mechanism::ConfigError) -> PyErr {
    ScenarioError::new_err(format!("{}: {}", error.field, error.reason()))
}

pub(crate) fn capture(error: CaptureError) -> PyErr {
    match error {
        CaptureError::UnknownLink { .. } | CaptureError::TooManyFlows { .. } => {
            ScenarioError::new_err(error.to_string())
        }
        CaptureError::File { .. } => PyOSError::new_err(error.to_string()),
    }
}

pub(crate) fn request(error: serde_json::Error) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

pub(crate) fn plan(error: impl std::fmt::Display) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

pub(crate) fn internal(error: serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

pub(crate) fn run(error: RunError) -> PyErr {
    match error {
        RunError::Cancelled => Cancelled::new_err(error.to_string()),
        RunError::TooManyOpen { .. } | RunError::Machine(_) => caused(ScenarioError::new_err(error.to_string())),
        RunError::Memory(error) => MemoryLimitError::new_err(error.to_string()),
        RunError::Violation { .. } => VerificationError::new_err(error.to_string()),
        RunError::Capture(error) => capture(error),
    }
}
