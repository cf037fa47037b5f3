//! Environments: runs that stop at every tick and wait for a decision.
//!
//! ```text
//!   reset(seed) ─► decide ─► run to the next tick ─► observe ─► decide ─► ... ─► observe at the end ─► finish
//!                    ▲                                  │
//!                    └──────────── the agent ◄──────────┘
//! ```
//!
//! # Time of a decision
//! Tick number k is due at k times the interval. The world handles the events before it, and stops at once after the
//! event in which the tick is observed. The decision acts at this instant, before any other event. A run whose
//! controller answers the same at its ticks therefore has the same summary, to the byte
//! (`tests/steps.rs`). The first decision acts at the start of the run, before its first event.
//!
//! A [`Batch`] has many environments that step in one call.
//!
//! # End
//! The last tick is at the end of the run: the episode is truncated there. It never ends earlier.

mod doze;
mod link;
mod sleep;

pub use doze::{ClientDoze, DozeControl};
pub use link::{LinkRate, RateControl};
pub use sleep::{LinksSleep, SleepControl};

use super::RunOutcome;
use super::error::{MachineError, RunError};
use super::finish::{Wanted, finish};
use super::world::World;
use crate::scenario::{Scenario, ScenarioError};
use netlull_mechanism::ConfigError;
use netlull_units::{Duration, Instant};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Arguments;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A simulator that an agent controls step by step.
pub trait Environment: Send + Sync {
    /// The number of values for each entry of an action: entry i is a whole number from 0 to `actions()[i]` - 1.
    fn actions(&self) -> Vec<u32>;

    /// Shows each entry of the observation: its name, its largest value and its value, always in the same order. The
    /// smallest values are 0.
    fn show(&self, entry: &mut dyn FnMut(Arguments<'_>, f32, f32));

    /// The names of the entries of an observation, and their largest values.
    fn observed(&self) -> Vec<(String, f32)> {
        let mut entries = Vec::new();
        self.show(&mut |name, largest, _| entries.push((name.to_string(), largest)));
        entries
    }

    /// The present episode.
    fn episode(&self) -> &Episode;

    /// The present episode, to change it.
    fn episode_mut(&mut self) -> &mut Episode;

    /// The number of steps in an episode.
    fn steps(&self) -> u64 {
        self.episode().ticks.count
    }

    /// Starts a new episode with this seed of the run.
    ///
    /// # Errors
    /// If a machine of the scenario cannot be built.
    fn reset(&mut self, seed: u64) -> Result<(), RunError>;

    /// Carries out an action, runs to the next tick and returns the reward.
    ///
    /// # Errors
    /// If the action is impossible, the episode is over, or the run fails.
    fn step(&mut self, action: &[i64]) -> Result<f64, RunError>;

    /// Writes the observation. `out` has an entry for each name.
    fn observe(&self, out: &mut [f32]) {
        let mut places = out.iter_mut();
        self.show(&mut |_, _, value| {
            if let Some(place) = places.next() {
                *place = value;
            }
        });
    }

    /// Appends the raw values with their names: always the same names in the same order.
    fn raw(&self, out: &mut Vec<RawValue>);

    /// Returns true if the episode has reached the end of its run.
    fn is_over(&self) -> bool {
        self.episode().ticks.is_over()
    }

    /// The result of an episode that is over, checked like that of any run.
    ///
    /// # Errors
    /// If the episode is not over, or the verifier finds a violated rule.
    fn finish(&mut self) -> Result<RunOutcome, RunError> {
        self.episode_mut().finish()
    }
}

/// A raw value of a step, with its name. The name has the unit.
pub type RawValue = (&'static str, f64);

/// An environment of a scenario by its kind, with its parameters as JSON.
///
/// # Errors
/// If there is no such kind, or a parameter is impossible.
pub fn environment(scenario: &Scenario, kind: &str, options: &str) -> Result<Box<dyn Environment>, ScenarioError> {
    match kind {
        "link_rate" => Ok(Box::new(LinkRate::new(scenario, &read(options)?)?)),
        "client_doze" => Ok(Box::new(ClientDoze::new(scenario, &read(options)?)?)),
        "links_sleep" => Ok(Box::new(LinksSleep::new(scenario, &read(options)?)?)),
        _ => Err(ScenarioError::new("kind", format!("is {kind}; expected link_rate, client_doze or links_sleep"))),
    }
}

/// Reads the parameters of an environment.
fn read<T: DeserializeOwned>(options: &str) -> Result<T, ScenarioError> {
    let value: Value = serde_json::from_str(options)
        .map_err(|error| ScenarioError::new("options", format!("is not JSON: {error}")))?;
    netlull_document::read(&value).map_err(|error| ScenarioError::new(error.path.join("."), error.message))
}

/// The weights of a reward: minus the weighted sum of the costs of a step.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// The weight of the energy over the energy of the same step without savings.
    pub energy: f64,
    /// The weight of the delay over `delay_scale`.
    pub delay: f64,
    /// The weight of lost packets over arrived packets.
    pub loss: f64,
    /// The delay that costs as much as the whole energy, for equal weights.
    pub delay_scale: Duration,
}

impl Weights {
    /// Checks the values.
    fn check(&self) -> Result<(), ScenarioError> {
        for (name, weight) in [("energy", self.energy), ("delay", self.delay), ("loss", self.loss)] {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(ScenarioError::new(format!("{name}_weight"), format!("is {weight}; expected 0 or more")));
            }
        }
        if self.delay_scale.is_zero() {
            return Err(ScenarioError::new("delay_scale", "is 0 s; expected more than 0 s"));
        }
        Ok(())
    }

    /// The reward for relative energy, a delay in seconds and a share of lost packets.
    fn reward(&self, energy: f64, delay: f64, lost: f64) -> f64 {
        -(self.energy * energy + self.delay * delay / self.delay_scale.as_secs_f64() + self.loss * lost)
    }
}

/// The ticks of an episode.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    interval: Duration,
    count: u64,
    done: u64,
}

impl Ticks {
    /// The ticks of a run.
    ///
    /// # Errors
    /// If the interval is zero or the run does not end at a tick.
    fn new(interval: Duration, scenario: &Scenario) -> Result<Self, ScenarioError> {
        let (step, whole) = (interval.as_nanos(), scenario.duration.as_nanos());
        if step == 0 || !whole.is_multiple_of(step) {
            let message =
                format!("is {interval}; expected a time of which the duration, {}, is a multiple", scenario.duration);
            return Err(ScenarioError::new("step", message));
        }
        Ok(Self { interval, count: whole / step, done: 0 })
    }

    /// The time of the next tick.
    fn next(&self) -> Instant {
        Instant::ZERO + self.interval.saturating_mul(self.done + 1)
    }

    fn is_over(&self) -> bool {
        self.done >= self.count
    }
}

/// The desk between an agent and its machine in the world.
#[derive(Debug, Default)]
struct Desk<P>(Mutex<P>);

impl<P> Desk<P> {
    fn lock(&self) -> MutexGuard<'_, P> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run under way.
pub struct Episode {
    scenario: Scenario,
    world: Option<World>,
    ticks: Ticks,
    /// The place of the controlled part, such as `link.N1-N2.controller`.
    place: String,
}

impl Episode {
    /// An episode that has not begun.
    fn new(scenario: Scenario, interval: Duration, place: String) -> Result<Self, ScenarioError> {
        if scenario.recording.is_some() {
            return Err(ScenarioError::new("recording", "needs two runs; expected a scenario with a single run"));
        }
        Ok(Self { ticks: Ticks::new(interval, &scenario)?, scenario, world: None, place })
    }

    /// Begins with a new world at time zero.
    fn begin(&mut self, seed: u64) -> Result<&mut World, RunError> {
        self.scenario.seed = seed;
        self.ticks.done = 0;
        Ok(self.world.insert(World::new(&self.scenario, None)?))
    }

    /// The world of an episode that is not over, and the time of its next tick.
    fn go_on(&mut self) -> Result<(&mut World, Instant), RunError> {
        let next = self.ticks.next();
        if self.world.is_none() || self.ticks.is_over() {
            return Err(self.error("episode", "over", "a reset before the next step"));
        }
        match &mut self.world {
            Some(world) => Ok((world, next)),
            None => unreachable!("it was checked above"),
        }
    }

    /// Ends a step: counts its tick.
    ///
    /// # Errors
    /// If the run has failed.
    fn stopped(&mut self) -> Result<(), RunError> {
        self.ticks.done += 1;
        match self.world.as_mut().and_then(World::take_failure) {
            Some(failure) => {
                self.world = None;
                Err(failure)
            }
            None => Ok(()),
        }
    }

    /// Checks an entry of an action.
    fn choice(&self, action: &[i64], entry: usize, count: usize) -> Result<usize, RunError> {
        let chosen = action.get(entry).and_then(|&value| usize::try_from(value).ok()).filter(|&value| value < count);
        chosen.ok_or_else(|| {
            let value = action.get(entry).map_or_else(|| "missing".to_owned(), i64::to_string);
            self.error("action", &value, &format!("a whole number from 0 to {}", count - 1))
        })
    }

    #[cold]
    fn error(&self, field: &str, value: &str, expected: &str) -> RunError {
        let at = self.world.as_ref().map_or(Instant::ZERO, World::now);
        let error = ConfigError::new(field, value, expected);
        RunError::Machine(Box::new(MachineError { place: self.place.clone(), machine: MACHINE.to_owned(), at, error }))
    }

    fn finish(&mut self) -> Result<RunOutcome, RunError> {
        match self.world.take() {
            Some(mut world) if self.ticks.is_over() => {
                while world.advance(u32::MAX) {}
                finish(world, &self.scenario, Wanted::All)
            }
            world => {
                self.world = world;
                Err(self.error("episode", "under way", "an episode that is over"))
            }
        }
    }
}

/// The name of the controlled part in results and errors.
const MACHINE: &str = "environment";

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
    /// True if the episodes are over.
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
