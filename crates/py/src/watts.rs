//! The power of a device by cause: its table and ports as JSON, states and loads as arrays.

use crate::errors;
use netlull_power::{CAUSES, ConfigError, Loads, PortState, PortUse, PowerDocument, Watched};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;
use serde_json::Value;

/// The powers by cause, a row for each, and by port.
type Powers<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// The names of the causes, in the order of the rows.
#[pyfunction]
pub(crate) fn power_causes() -> Vec<&'static str> {
    CAUSES.to_vec()
}

/// The power of a device by cause and by port over time. The GIL is released meanwhile.
#[pyfunction]
pub(crate) fn device_watts<'py>(
    py: Python<'py>,
    table: &str,
    uses: &str,
    states: PyReadonlyArray2<'py, u8>,
    bits: PyReadonlyArray3<'py, f64>,
    packets: PyReadonlyArray3<'py, f64>,
) -> PyResult<Powers<'py>> {
    let value = |json: &str| serde_json::from_str::<Value>(json).map_err(errors::request);
    let device = netlull_document::read::<PowerDocument>(&value(table)?).map_err(errors::plan)?;
    let device = device.device().map_err(errors::plan)?;
    let uses: Vec<PortUse> = netlull_document::read(&value(uses)?).map_err(|error| {
        let path = [vec!["uses".to_owned()], error.path].concat();
        errors::plan(netlull_document::ReadError { path, message: error.message })
    })?;
    let wrong = |field: &str, shape: &[usize], expected: &str| {
        errors::plan(ConfigError::new(field, format!("of shape {shape:?}"), expected))
    };
    let (ports, times) = (states.as_array().nrows(), states.as_array().ncols());
    if ports != uses.len() {
        return Err(wrong("states", &[ports, times], "ports x times"));
    }
    let mut numbers = Vec::with_capacity(ports * times);
    for &number in &states.as_array() {
        let expected = "0 (down), 1 (up) or 2 (asleep)";
        numbers.push(PortState::of(number).ok_or_else(|| errors::plan(ConfigError::new("states", number, expected)))?);
    }
    let mut halves = Vec::with_capacity(4);
    for (field, array) in [("bits", &bits), ("packets", &packets)] {
        let array = array.as_array();
        if array.shape() != [ports, 2, times] {
            return Err(wrong(field, array.shape(), "ports x 2 (in, out) x times"));
        }
        for way in 0..2 {
            halves.push(array.index_axis(numpy::ndarray::Axis(1), way).iter().copied().collect::<Vec<f64>>());
        }
    }
    let watched = py.detach(|| {
        let loads = Loads {
            times,
            states: &numbers,
            bits_in: &halves[0],
            bits_out: &halves[1],
            packets_in: &halves[2],
            packets_out: &halves[3],
        };
        device.watts(&uses, loads)
    });
    let Watched { causes, ports: each } = watched.map_err(|error| errors::plan(error.within("uses")))?;
    let rows = |list: Vec<f64>, rows: usize| list.into_pyarray(py).reshape([rows, times]);
    Ok((rows(causes, CAUSES.len())?, rows(each, ports)?))
}
