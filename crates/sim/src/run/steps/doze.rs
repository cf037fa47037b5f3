//! Doze of a client.

use super::{Desk, Environment, Episode, MACHINE, RawValue, Weights};
use crate::net::ids::StationId;
use crate::run::error::RunError;
use crate::run::stations::StationReading;
use crate::scenario::{Scenario, ScenarioError};
use netlull_mechanism::radio::AccessPointConfig;
use netlull_mechanism::station::{self, PowerMode, StationAction, StationEvent};
use netlull_mechanism::{ConfigError, Machine};
use netlull_power::RadioPower;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde::Deserialize;
use std::collections::VecDeque;
use std::fmt::Arguments;
use std::sync::Arc;

/// The parameters of doze control.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DozeControl {
    /// The name of the station's node.
    pub station: String,
    /// The interval of ticks.
    pub step: Duration,
    /// The name of the radio in results; `None` for the first.
    #[serde(default)]
    pub radio: Option<String>,
    /// The parameters of the access point.
    #[serde(default)]
    pub access_point: AccessPointConfig,
    /// The weights of the reward.
    pub weights: Weights,
    /// A silence of this length is 1 in observations, and longer ones too.
    pub silence_scale: Duration,
}

/// The traffic of a station in a step.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    received: (u64, Bytes),
    sent: (u64, Bytes),
    /// The time of the last packet.
    last: Option<Instant>,
}

#[derive(Debug, Default)]
struct Papers {
    traffic: Traffic,
    /// True if the machine has reached the next tick.
    at_tick: bool,
    decision: Option<PowerMode>,
}

/// A machine that dozes or stays awake as the agent decides.
///
/// While it dozes, the access point holds packets for it, and the radio wakes only to send the host's packets.
#[derive(Debug)]
struct Remote {
    desk: Arc<Desk<Papers>>,
    interval: Duration,
    tick: Instant,
    mode: PowerMode,
    actions: VecDeque<StationAction>,
}

impl Machine for Remote {
    type Event = StationEvent;
    type Action = StationAction;

    fn handle(&mut self, now: Instant, event: StationEvent) {
        let mut papers = self.desk.lock();
        let traffic = &mut papers.traffic;
        match event {
            StationEvent::Received { packet, .. } => {
                traffic.received.0 += 1;
                traffic.received.1 += Bytes::new(u64::from(packet.size));
                traffic.last = Some(now);
            }
            StationEvent::Sending { packet } => {
                traffic.sent.0 += 1;
                traffic.sent.1 += Bytes::new(u64::from(packet.size));
                traffic.last = Some(now);
                if self.mode == PowerMode::Dozing {
                    self.actions.push_back(StationAction::Sleep);
                }
            }
            StationEvent::Timeout => {
                if let Some(mode) = papers.decision.take() {
                    self.mode = mode;
                    self.actions.extend(match mode {
                        PowerMode::Awake => [StationAction::Wake, StationAction::Announce(mode)],
                        PowerMode::Dozing => [StationAction::Announce(mode), StationAction::Sleep],
                    });
                }
                if self.tick <= now {
                    self.tick += self.interval;
                    papers.at_tick = true;
                }
            }
            StationEvent::Acknowledged { .. } | StationEvent::Beacon { .. } => {}
        }
    }

    fn poll_action(&mut self) -> Option<StationAction> {
        self.actions.pop_front()
    }

    fn next_timeout(&self) -> Option<Instant> {
        Some(self.tick)
    }
}

impl station::Policy for Remote {}

#[derive(Debug)]
struct RemoteFactory {
    desk: Arc<Desk<Papers>>,
    interval: Duration,
    access_point: AccessPointConfig,
}

impl station::Factory for RemoteFactory {
    fn name(&self) -> &'static str {
        MACHINE
    }

    fn access_point(&self) -> Option<&AccessPointConfig> {
        Some(&self.access_point)
    }

    fn build(&self, _station: station::Context, start: Instant) -> Result<Box<dyn station::Policy>, ConfigError> {
        if self.interval.is_zero() {
            return Err(ConfigError::new("step", self.interval, "more than 0 s"));
        }
        Ok(Box::new(Remote {
            desk: Arc::clone(&self.desk),
            interval: self.interval,
            tick: start + self.interval,
            mode: PowerMode::Awake,
            actions: VecDeque::new(),
        }))
    }
}

/// A client whose radio dozes or stays awake until the next tick, as the agent decides.
///
/// A decision acts at its tick, after the station's other actions of that instant (`run/stations`).
pub struct ClientDoze {
    episode: Episode,
    station: StationId,
    air_rate: BitRate,
    radio: RadioPower,
    desk: Arc<Desk<Papers>>,
    config: DozeControl,
    last: Last,
}

/// The last step.
#[derive(Clone, Copy, Debug)]
struct Last {
    now: Instant,
    mode: PowerMode,
    /// Since when the agent lets the radio doze.
    dozes_since: Option<Instant>,
    traffic: Traffic,
    reading: StationReading,
    missed: u64,
    /// The ticks in a row at which the access point held packets.
    holds: u64,
    energy: f64,
    always_on: f64,
}

impl Last {
    /// Before the first step.
    fn new() -> Self {
        Self {
            now: Instant::ZERO,
            mode: PowerMode::Awake,
            dozes_since: None,
            traffic: Traffic::default(),
            reading: StationReading::default(),
            missed: 0,
            holds: 0,
            energy: 0.0,
            always_on: 0.0,
        }
    }
}

impl ClientDoze {
    /// Doze of a station of a scenario. It replaces the station's machine.
    ///
    /// # Errors
    /// If the station, its radio, the step or a weight is impossible.
    pub fn new(scenario: &Scenario, config: &DozeControl) -> Result<Self, ScenarioError> {
        config.weights.check()?;
        if config.silence_scale.is_zero() {
            return Err(ScenarioError::new("silence_scale", "is 0 s; expected more than 0 s"));
        }
        let desk = Arc::<Desk<Papers>>::default();
        let factory =
            RemoteFactory { desk: Arc::clone(&desk), interval: config.step, access_point: config.access_point };
        let mut scenario = scenario.clone();
        scenario.set_station_machine(&config.station, Arc::new(factory))?;
        let found = scenario.stations.iter().position(|station| scenario.nodes[station.node] == config.station);
        let Some(index) = found else {
            return Err(ScenarioError::new("station", format!("is {}; expected a station's node", config.station)));
        };
        let spec = &scenario.stations[index];
        let radio = spec.radios.iter().find(|radio| config.radio.as_ref().is_none_or(|name| radio.name == *name));
        let Some(radio) = radio.map(|radio| radio.power) else {
            let names: Vec<&str> = spec.radios.iter().map(|radio| radio.name.as_str()).collect();
            let name = config.radio.as_deref().unwrap_or("missing");
            let message = format!("is {name}; expected a radio of the station: {}", names.join(", "));
            return Err(ScenarioError::new("radio", message));
        };
        let (air_rate, place) = (spec.context.air_rate, format!("station.{}.mechanism", config.station));
        Ok(Self {
            episode: Episode::new(scenario, config.step, place)?,
            station: StationId::new(index),
            air_rate,
            radio,
            desk,
            config: config.clone(),
            last: Last::new(),
        })
    }

    /// The share of a time in the scale of silences.
    #[allow(clippy::cast_possible_truncation, reason = "an observation has single precision")]
    fn scaled(&self, since: Instant) -> f32 {
        let seconds = self.last.now.saturating_since(since).as_secs_f64();
        (seconds / self.config.silence_scale.as_secs_f64()).min(1.0) as f32
    }
}

impl Environment for ClientDoze {
    fn actions(&self) -> Vec<u32> {
        vec![2]
    }

    fn episode(&self) -> &Episode {
        &self.episode
    }

    fn episode_mut(&mut self) -> &mut Episode {
        &mut self.episode
    }

    fn reset(&mut self, seed: u64) -> Result<(), RunError> {
        *self.desk.lock() = Papers::default();
        self.episode.begin(seed)?;
        self.last = Last::new();
        Ok(())
    }

    #[allow(clippy::cast_precision_loss, reason = "numbers of packets are small")]
    fn step(&mut self, action: &[i64]) -> Result<f64, RunError> {
        let mode = if self.episode.choice(action, 0, 2)? == 1 { PowerMode::Awake } else { PowerMode::Dozing };
        let (station, desk, then) = (self.station, &self.desk, self.last);
        let (world, due) = self.episode.go_on()?;
        // The access point knows no mode before the first step.
        if mode != then.mode || then.now == Instant::ZERO {
            desk.lock().decision = Some(mode);
            world.prompt_station(station);
        }
        world.advance_to(Instant::from_nanos(due.as_nanos() - 1));
        while !desk.lock().at_tick && world.advance_once(due) {}
        let traffic = {
            let mut papers = desk.lock();
            papers.at_tick = false;
            let last = papers.traffic.last;
            std::mem::replace(&mut papers.traffic, Traffic { last, ..Traffic::default() })
        };
        let reading = world.stations.reading(station, &world.net);
        self.episode.stopped()?;
        let times = reading.times.since(&then.reading.times);
        let missed = reading.missed_packets - then.reading.missed_packets;
        let (energy, always_on) =
            (self.radio.energy(&times).total().as_f64(), self.radio.energy(&times.awake()).total().as_f64());
        let holds = if reading.held > 0 { then.holds + 1 } else { 0 };
        let dozes_since = (mode == PowerMode::Dozing).then(|| then.dozes_since.unwrap_or(then.now));
        self.last = Last { now: due, mode, dozes_since, traffic, reading, missed, holds, energy, always_on };
        let lost = missed as f64 / (missed + traffic.received.0).max(1) as f64;
        Ok(self.config.weights.reward(energy / always_on, self.held_s(), lost))
    }

    #[allow(clippy::cast_possible_truncation, reason = "an observation has single precision")]
    fn show(&self, entry: &mut dyn FnMut(Arguments<'_>, f32, f32)) {
        let last = &self.last;
        let capacity = self.air_rate.as_f64() * self.config.step.as_secs_f64() / 8.0;
        let share = |bytes: Bytes| ((bytes.as_f64() / capacity) as f32).min(1.0);
        entry(format_args!("awake"), 1.0, if last.mode == PowerMode::Awake { 1.0 } else { 0.0 });
        entry(format_args!("received"), 1.0, share(last.traffic.received.1));
        entry(format_args!("sent"), 1.0, share(last.traffic.sent.1));
        entry(format_args!("silence"), 1.0, self.scaled(last.traffic.last.unwrap_or(Instant::ZERO)));
        entry(format_args!("dozing"), 1.0, last.dozes_since.map_or(0.0, |since| self.scaled(since)));
    }

    #[allow(clippy::cast_precision_loss, reason = "numbers of packets are small")]
    fn raw(&self, out: &mut Vec<RawValue>) {
        let Last { now, mode, traffic, reading, missed, energy, always_on, .. } = &self.last;
        out.extend([
            ("time_s", now.as_secs_f64()),
            ("awake", f64::from(u8::from(*mode == PowerMode::Awake))),
            ("received_packets", traffic.received.0 as f64),
            ("received_bytes", traffic.received.1.as_f64()),
            ("sent_packets", traffic.sent.0 as f64),
            ("sent_bytes", traffic.sent.1.as_f64()),
            ("held_packets", reading.held as f64),
            ("held_s", self.held_s()),
            ("missed_packets", *missed as f64),
            ("asleep_s", reading.times.asleep.as_secs_f64()),
            ("energy_j", *energy),
            ("always_on_j", *always_on),
        ]);
    }
}

impl ClientDoze {
    /// The time for which the access point has held packets, in whole steps.
    #[allow(clippy::cast_precision_loss, reason = "numbers of steps are small")]
    fn held_s(&self) -> f64 {
        self.last.holds as f64 * self.config.step.as_secs_f64()
    }
}
