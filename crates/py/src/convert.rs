//! Conversion of columns to numpy arrays.

use netlull_sim::probe::{Column, Table, Word};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A table as a dictionary: column -> array.
pub(crate) fn table<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in &table.columns {
        match column {
            Column::Float(values) => columns.set_item(name.as_ref(), values.clone().into_pyarray(py))?,
            Column::Count(values) => columns.set_item(name.as_ref(), values.clone().into_pyarray(py))?,
            Column::Index(values) => columns.set_item(name.as_ref(), values.clone().into_pyarray(py))?,
            Column::Flag(values) => columns.set_item(name.as_ref(), values.clone().into_pyarray(py))?,
            Column::Text(values) => columns.set_item(name.as_ref(), words(py, values)?)?,
        }
    }
    Ok(columns)
}

/// Lets numpy make its arrays of text. The type `U` is needed for an empty array.
fn words<'py>(py: Python<'py>, words: &[Word]) -> PyResult<Bound<'py, PyAny>> {
    py.import("numpy")?.call_method1("array", (words.iter().map(Word::as_ref).collect::<Vec<_>>(), "U"))
}
