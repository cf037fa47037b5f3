//! Environments that step without the GIL.

use crate::RawResult;
use crate::checked::{Checked, Given};
use crate::errors;
use netlull_sim::run::RunOutcome;
use netlull_sim::run::steps::{Batch, Environment, Row, environment};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// The number of values per entry of an action, the names and largest values of an observation, the names of the raw
/// values, and the number of steps in an episode.
type Shape = (Vec<u32>, Vec<(String, f32)>, Vec<String>, u64);
/// Observations and raw values, as in [`Stepped`].
type Seen<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<f64>>);
/// Observations, rewards, ends of episodes and raw values, a row per environment and, for raw values, per name.
type Stepped<'py> =
    (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<bool>>, Bound<'py, PyArray2<f64>>);

/// Simulators that an agent controls step by step.
#[pyclass(module = "netlull._core")]
pub(crate) struct Simulators {
    batch: Batch,
    given: Given,
}

#[pymethods]
impl Simulators {
    /// `count` environments of a scenario. `kind` is the kind of environment, `options` its parameters as JSON.
    #[new]
    fn new(checked: PyRef<'_, Checked>, kind: &str, options: &str, count: usize) -> PyResult<Self> {
        let make = || environment(checked.scenario(), kind, options).map_err(errors::scenario);
        let each = (0..count.max(1)).map(|_| make()).collect::<PyResult<Vec<_>>>()?;
        Ok(Self { batch: Batch::new(each), given: checked.given() })
    }

    /// The shape of actions, observations and raw values, and the number of steps.
    fn shape(&self) -> Shape {
        let first: &dyn Environment = &*self.batch.environments()[0];
        let raw = self.batch.raw_names().iter().map(|&name| name.to_owned()).collect();
        (first.actions(), first.observed(), raw, first.steps())
    }

    /// Starts an episode of an environment with this seed.
    fn reset(&mut self, py: Python<'_>, number: usize, seed: u64) -> PyResult<()> {
        if number >= self.batch.environments().len() {
            return Err(PyValueError::new_err("there is no such environment"));
        }
        py.detach(|| self.batch.reset(number, seed)).map_err(errors::run)
    }

    /// Steps every environment. `seeds` are those of episodes that begin.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        actions: PyReadonlyArray1<'py, i64>,
        seeds: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Stepped<'py>> {
        let (actions, seeds) = (actions.as_slice()?, seeds.as_slice()?);
        let count = self.batch.environments().len();
        let (mut rewards, mut over) = (vec![0.0; count], vec![false; count]);
        let (mut observations, mut raw) = self.batch.rows();
        if actions.len() != count * self.batch.actions() || seeds.len() != count {
            return Err(PyValueError::new_err(format!("expected {count} actions of {} entries", self.batch.actions())));
        }
        py.detach(|| {
            let mut row =
                Row { rewards: &mut rewards, over: &mut over, observations: &mut observations, raw: &mut raw };
            self.batch.step(actions, seeds, &mut row)
        })
        .map_err(errors::run)?;
        let (observations, raw) = self.arrays(py, observations, raw)?;
        Ok((observations, rewards.into_pyarray(py), over.into_pyarray(py), raw))
    }

    /// The observations and the raw values.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Seen<'py>> {
        let (mut observations, mut raw) = self.batch.rows();
        self.batch.read(&mut observations, &mut raw);
        self.arrays(py, observations, raw)
    }

    /// The verified result of an environment whose episode is over.
    fn finish(&mut self, py: Python<'_>, number: usize) -> PyResult<RawResult> {
        if number >= self.batch.environments().len() {
            return Err(PyValueError::new_err("there is no such environment"));
        }
        let RunOutcome { summary, tables } = py.detach(|| self.batch.finish(number)).map_err(errors::run)?;
        Ok(RawResult { given: self.given.clone(), summary: Arc::new(summary), tables, tape: None })
    }
}

impl Simulators {
    fn arrays<'py>(&self, py: Python<'py>, observations: Vec<f32>, raw: Vec<f64>) -> PyResult<Seen<'py>> {
        let count = self.batch.environments().len();
        let (observed, values) = (observations.len() / count, raw.len() / count);
        Ok((observations.into_pyarray(py).reshape([count, observed])?, raw.into_pyarray(py).reshape([values, count])?))
    }
}
