//! Sleep and wake of the links of a network.

use super::link::power_model;
use super::{Environment, Episode, RawValue, Weights};
use crate::run::error::RunError;
use crate::run::hosts::AgentCounters;
use crate::run::phases::Counts;
use crate::run::rerouting::SleepTimes;
use crate::scenario::{Scenario, ScenarioError};
use netlull_power::PowerModel;
use netlull_units::{Duration, Instant};
use serde::Deserialize;
use std::fmt::Arguments;

/// The parameters of sleep control.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SleepControl {
    /// The interval of ticks.
    pub step: Duration,
    /// The time from the announcement of a sleep until the link sleeps.
    pub notice: Duration,
    /// The time from the decision to wake a link until it carries packets. The link has its full power meanwhile.
    pub wake_time: Duration,
    /// The name of the power model in results; `None` for the first.
    #[serde(default)]
    pub power: Option<String>,
    /// The weights of the reward.
    pub weights: Weights,
}

/// A network whose links sleep or carry packets until the next tick, as the agent decides.
///
/// The links are those of the scenario's entries of `sleep`; the times of these entries have no meaning here. The run
/// stops after the network's other steps at a tick (`run/rerouting.rs`), and before all later events of the instant.
pub struct LinksSleep {
    episode: Episode,
    /// The power model of each link.
    models: Vec<PowerModel>,
    config: SleepControl,
    then: Counts,
    last: Last,
}

/// The last step.
#[derive(Clone, Debug, Default)]
struct Last {
    now: Instant,
    /// For each cable, true if it is awake by decision.
    awake: Vec<bool>,
    /// For each cable, the load of the direction with more load: delivered bytes over capacity.
    loads: Vec<f64>,
    sent: u64,
    received: u64,
    lost: u64,
    /// The mean time on links of a packet that has arrived, in seconds.
    delay: f64,
    energy: f64,
    always_on: f64,
}

impl LinksSleep {
    /// Sleep of the links that sleep in a scenario.
    ///
    /// # Errors
    /// If no link may sleep, or a time or a weight is impossible.
    pub fn new(scenario: &Scenario, config: &SleepControl) -> Result<Self, ScenarioError> {
        config.weights.check()?;
        let mut scenario = scenario.clone();
        if scenario.sleep.cables.is_empty() {
            return Err(ScenarioError::new("sleep", "is missing; expected an entry with the links that may sleep"));
        }
        scenario.sleep.naps.clear();
        for (name, time) in [("notice", config.notice), ("wake_time", config.wake_time)] {
            if time >= config.step {
                return Err(ScenarioError::new(name, format!("is {time}; expected less than a step, {}", config.step)));
            }
        }
        let model = power_model(&scenario.power, config.power.as_deref())?;
        let models = scenario.links.iter().enumerate().map(|(index, link)| model.of(index, link)).collect();
        let cables = scenario.sleep.cables.len();
        let episode = Episode::new(scenario, config.step, "sleep".to_owned())?;
        Ok(Self { episode, models, config: config.clone(), then: Counts::default(), last: Last::awake(cables) })
    }

    /// The energy of all links in the step, and that of links that are always awake, in joules.
    fn energy(&self, counts: &Counts) -> (f64, f64) {
        let (mut energy, mut always_on) = (0.0, 0.0);
        let links = self.episode.scenario.links.iter().zip(&self.models);
        for ((spec, model), (now, then)) in links.zip(counts.links.iter().zip(&self.then.links)) {
            let asleep = Duration::from_nanos(now.asleep_ns - then.asleep_ns);
            let awake = self.config.step.saturating_sub(asleep);
            let power = model.power(spec.rate, spec.rate);
            energy += (power * awake).as_f64() + (model.sleep_power(spec.rate) * asleep).as_f64();
            always_on += (power * self.config.step).as_f64();
        }
        (energy, always_on)
    }

    /// The last step, from the counts at its end.
    #[allow(clippy::cast_precision_loss, reason = "counts of a step are small")]
    fn measured(&self, due: Instant, awake: Vec<bool>, counts: &Counts) -> Last {
        let links = &self.episode.scenario.links;
        let step_s = self.config.step.as_secs_f64();
        let load = |link: usize| {
            let bytes = counts.links[link].delivered_bytes - self.then.links[link].delivered_bytes;
            8.0 * bytes as f64 / (links[link].rate.as_f64() * step_s)
        };
        let cables = &self.episode.scenario.sleep.cables;
        let loads = cables.iter().map(|cable| cable.links.iter().map(|link| load(link.index())).fold(0.0, f64::max));
        let mut on_links = 0.0;
        for (spec, (now, then)) in links.iter().zip(counts.links.iter().zip(&self.then.links)) {
            let crossed = (now.delivered_packets - then.delivered_packets) as f64;
            let queued = (now.queued_ns - then.queued_ns) as f64 / 1e9;
            on_links += crossed * spec.delay.as_secs_f64() + queued;
        }
        let sum = |pick: fn(&AgentCounters) -> u64| -> u64 {
            counts.agents.iter().zip(&self.then.agents).map(|(now, then)| pick(now) - pick(then)).sum()
        };
        let (sent, received, lost) =
            (sum(|agent| agent.sent_packets), sum(|agent| agent.received_packets), sum(|agent| agent.dropped_packets));
        let (energy, always_on) = self.energy(counts);
        Last {
            now: due,
            awake,
            loads: loads.collect(),
            sent,
            received,
            lost,
            delay: if received > 0 { on_links / received as f64 } else { 0.0 },
            energy,
            always_on,
        }
    }
}

impl Last {
    /// Before the first step.
    fn awake(cables: usize) -> Self {
        Self { awake: vec![true; cables], loads: vec![0.0; cables], ..Self::default() }
    }

    #[allow(clippy::cast_precision_loss, reason = "counts of a step are small")]
    fn lost_share(&self) -> f64 {
        (self.lost as f64 / self.sent.max(1) as f64).min(1.0)
    }
}

impl Environment for LinksSleep {
    fn actions(&self) -> Vec<u32> {
        vec![2; self.episode.scenario.sleep.cables.len()]
    }

    fn episode(&self) -> &Episode {
        &self.episode
    }

    fn episode_mut(&mut self) -> &mut Episode {
        &mut self.episode
    }

    fn reset(&mut self, seed: u64) -> Result<(), RunError> {
        let (interval, count) = (self.config.step, self.episode.ticks.count);
        let world = self.episode.begin(seed)?;
        world.stop_at((1..=count).map(|tick| Instant::ZERO + interval.saturating_mul(tick)));
        self.then = world.counts();
        self.last = Last::awake(self.last.awake.len());
        Ok(())
    }

    fn step(&mut self, action: &[i64]) -> Result<f64, RunError> {
        let entries = 0..self.last.awake.len();
        let awake = entries.map(|entry| self.episode.choice(action, entry, 2).map(|choice| choice == 1));
        let awake = awake.collect::<Result<Vec<bool>, RunError>>()?;
        let times = SleepTimes { notice: self.config.notice, wake: self.config.wake_time };
        let (world, due) = self.episode.go_on()?;
        world.decide_sleep(&awake, times);
        while !world.is_halted() && world.advance_once(due) {}
        let counts = world.counts();
        self.episode.stopped()?;
        self.last = self.measured(due, awake, &counts);
        self.then = counts;
        let Last { energy, always_on, delay, .. } = self.last;
        Ok(self.config.weights.reward(energy / always_on, delay, self.last.lost_share()))
    }

    #[allow(clippy::cast_possible_truncation, reason = "an observation has single precision")]
    fn show(&self, entry: &mut dyn FnMut(Arguments<'_>, f32, f32)) {
        let Last { awake, loads, .. } = &self.last;
        let cables = &self.episode.scenario.sleep.cables;
        for (cable, awake) in cables.iter().zip(awake) {
            entry(format_args!("awake {}", cable.name), 1.0, f32::from(u8::from(*awake)));
        }
        for (cable, load) in cables.iter().zip(loads) {
            entry(format_args!("load {}", cable.name), 1.0, load.min(1.0) as f32);
        }
        entry(format_args!("lost"), 1.0, self.last.lost_share() as f32);
    }

    #[allow(clippy::cast_precision_loss, reason = "counts of a step are small")]
    fn raw(&self, out: &mut Vec<RawValue>) {
        let last = &self.last;
        out.extend([
            ("time_s", last.now.as_secs_f64()),
            ("links_awake", last.awake.iter().filter(|awake| **awake).count() as f64),
            ("sent_packets", last.sent as f64),
            ("received_packets", last.received as f64),
            ("lost_packets", last.lost as f64),
            ("mean_delay_s", last.delay),
            ("energy_j", last.energy),
            ("always_on_j", last.always_on),
        ]);
    }
}
