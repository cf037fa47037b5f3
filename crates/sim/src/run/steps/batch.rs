//! Many environments that step in one call.

use super::Environment;
use crate::run::RunOutcome;
use crate::run::error::RunError;

/// Environments of the same shape, one after the other.
///
/// An environment whose episode is over starts a new one at the next step: its action is then ignored, its reward is 0,
/// and its observation is the first of the new episode.
pub struct Batch {
    each: Vec<Box<dyn Environment>>,
    actions: usize,
    observed: usize,
    raw: Vec<&'static str>,
}

/// The output of a step: one row per environment.
#[derive(Debug)]
pub struct Row<'a> {
    /// The rewards.
    pub rewards: &'a mut [f64],
    /// Whether the episodes are over.
    pub over: &'a mut [bool],
    /// The observations, one environment after the other.
    pub observations: &'a mut [f32],
    /// The raw values, one name after the other: value i of environment k is at i times the number of environments, plus k.
    pub raw: &'a mut [f64],
}

impl Batch {
    /// A batch of environments, which have the same numbers of actions, observed and raw values.
    #[must_use]
    pub fn new(each: Vec<Box<dyn Environment>>) -> Self {
        let (mut raw, mut shape) = (Vec::new(), (0, 0));
        if let Some(first) = each.first() {
            first.raw(&mut raw);
            shape = (first.actions().len(), first.observed().len());
        }
        let raw = raw.into_iter().map(|(name, _)| name).collect();
        Self { each, actions: shape.0, observed: shape.1, raw }
    }

    /// The environments.
    #[must_use]
    pub fn environments(&self) -> &[Box<dyn Environment>] {
        &self.each
    }

    /// The number of entries of an action.
    #[must_use]
    pub fn actions(&self) -> usize {
        self.actions
    }

    /// The names of the raw values.
    #[must_use]
    pub fn raw_names(&self) -> &[&'static str] {
        &self.raw
    }

    /// Empty rows for observations and raw values.
    #[must_use]
    pub fn rows(&self) -> (Vec<f32>, Vec<f64>) {
        (vec![0.0; self.each.len() * self.observed], vec![0.0; self.each.len() * self.raw.len()])
    }

    /// Starts an episode of environment `number`.
    ///
    /// # Errors
    /// If a machine of the scenario cannot be built.
    pub fn reset(&mut self, number: usize, seed: u64) -> Result<(), RunError> {
        self.each[number].reset(seed)
    }

    /// Steps every environment. `seeds` are the seeds of episodes that begin.
    ///
    /// # Errors
    /// The first error of an environment.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn step(&mut self, actions: &[i64], seeds: &[u64], row: &mut Row<'_>) -> Result<(), RunError> {
        for (number, each) in self.each.iter_mut().enumerate() {
            if each.is_over() {
                each.reset(seeds[number])?;
                row.rewards[number] = 0.0;
            } else {
                row.rewards[number] = each.step(&actions[number * self.actions..][..self.actions])?;
            }
            row.over[number] = each.is_over();
        }
        self.read(row.observations, row.raw);
        Ok(())
    }

    /// Writes the observations and the raw values, as in [`Row`].
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn read(&self, observations: &mut [f32], raw: &mut [f64]) {
        let mut values = Vec::with_capacity(self.raw.len());
        for (number, each) in self.each.iter().enumerate() {
            each.observe(&mut observations[number * self.observed..][..self.observed]);
            values.clear();
            each.raw(&mut values);
            for (place, (_, value)) in values.iter().enumerate() {
                raw[place * self.each.len() + number] = *value;
            }
        }
    }

    /// The result of environment `number`, whose episode is over.
    ///
    /// # Errors
    /// Those of [`Environment::finish`].
    pub fn finish(&mut self, number: usize) -> Result<RunOutcome, RunError> {
        self.each[number].finish()
    }
}
