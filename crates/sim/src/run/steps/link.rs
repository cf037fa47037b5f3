//! Rate control of a link, and its energy up to now, step by step.

use super::{Desk, Environment, Episode, MACHINE, RawValue, Weights};
use crate::net::ids::{ControllerId, LinkId};
use crate::net::transmitter::EffectiveRate;
use crate::run::error::RunError;
use crate::run::phases::transition_power;
use crate::scenario::{NamedPower, Scenario, ScenarioError};
use netlull_mechanism::link::{self, Estimates, LinkAction, LinkEvent};
use netlull_mechanism::observe::{Adapter, Decision, Observation, Plug, Subscriber, Subscription};
use netlull_mechanism::{ConfigError, Machine};
use netlull_power::PowerModel;
use netlull_units::{BitRate, Duration, Instant};
use serde::Deserialize;
use std::fmt::Arguments;
use std::sync::Arc;

/// The parameters of rate control.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateControl {
    /// The name of the link.
    pub link: String,
    /// The rates to choose from; an action is the number of a rate.
    pub rates: Vec<BitRate>,
    /// The interval of ticks.
    pub step: Duration,
    /// Nothing is sent for this long after a change of the rate.
    pub transition: Duration,
    /// The name of the power model in results; `None` for the first.
    #[serde(default)]
    pub power: Option<String>,
    /// The weights of the reward.
    pub weights: Weights,
    /// A backlog that takes this time at the link's rate is 1 in observations, and longer ones too.
    pub backlog_scale: Duration,
}

/// The largest arrivals in an observation, in capacities of the link.
const MOST_ARRIVALS: f32 = 4.0;

#[derive(Debug, Default)]
struct Papers {
    seen: Option<Observation>,
    decision: Option<BitRate>,
}

/// Keeps observations for the agent.
#[derive(Debug)]
struct Keeper(Arc<Desk<Papers>>);

impl Subscriber for Keeper {
    fn observe(&mut self, seen: &Observation) -> Result<Option<Decision>, ConfigError> {
        self.0.lock().seen = Some(*seen);
        Ok(None)
    }
}

/// A controller that carries out the agent's decisions at its next event.
#[derive(Debug)]
struct Remote {
    desk: Arc<Desk<Papers>>,
    adapter: Adapter<Keeper>,
}

impl Machine for Remote {
    type Event = LinkEvent;
    type Action = LinkAction;

    fn handle(&mut self, now: Instant, event: LinkEvent) {
        // The agent decides while the world stops, and then prompts its controller with a timeout.
        if matches!(event, LinkEvent::Timeout { .. })
            && let Some(rate) = self.desk.lock().decision.take()
        {
            self.adapter.decide(Decision::Rate(rate));
        }
        self.adapter.handle(now, event);
    }

    #[inline]
    fn poll_action(&mut self) -> Option<LinkAction> {
        self.adapter.poll_action()
    }

    #[inline]
    fn next_timeout(&self) -> Option<Instant> {
        self.adapter.next_timeout()
    }
}

impl link::Controller for Remote {
    fn rate(&self) -> BitRate {
        self.adapter.rate()
    }

    fn changes(&self) -> u64 {
        self.adapter.changes()
    }

    fn estimates(&self) -> Estimates {
        self.adapter.estimates()
    }

    fn fault(&self) -> Option<&ConfigError> {
        self.adapter.fault()
    }
}

#[derive(Debug)]
struct RemoteFactory {
    desk: Arc<Desk<Papers>>,
    plug: Plug,
}

impl link::Factory for RemoteFactory {
    fn name(&self) -> &'static str {
        MACHINE
    }

    fn build(&self, link: link::Context, start: Instant) -> Result<Box<dyn link::Controller>, ConfigError> {
        let desk = Arc::clone(&self.desk);
        let adapter = Adapter::new(self.plug.clone(), Keeper(Arc::clone(&desk)), link, start)?;
        Ok(Box::new(Remote { desk, adapter }))
    }
}

/// A link whose rate the agent chooses at every tick.
pub struct LinkRate {
    episode: Episode,
    link: LinkId,
    controller: ControllerId,
    highest: BitRate,
    /// The time of a packet of one MTU at the link's rate, in seconds.
    packet_s: f64,
    desk: Arc<Desk<Papers>>,
    model: PowerModel,
    config: RateControl,
    spending: Spending,
    last: Last,
}

/// The last step.
#[derive(Clone, Copy, Debug)]
struct Last {
    seen: Option<Observation>,
    rate: BitRate,
    queued_ns: u128,
    /// The mean number of packets in the backlog.
    mean_waiting: f64,
    energy: f64,
}

impl LinkRate {
    /// Rate control of a link of a scenario. It replaces the link's controller.
    ///
    /// # Errors
    /// If the link, a rate, the step or a weight is impossible.
    pub fn new(scenario: &Scenario, config: &RateControl) -> Result<Self, ScenarioError> {
        config.weights.check()?;
        if config.rates.is_empty() {
            return Err(ScenarioError::new("rates", "is empty; expected at least one rate"));
        }
        if config.backlog_scale.is_zero() {
            return Err(ScenarioError::new("backlog_scale", "is 0 s; expected more than 0 s"));
        }
        let desk = Arc::<Desk<Papers>>::default();
        let subscription = Subscription::ticks(config.step);
        let plug = Plug { subscription, initial_rate: None, transition: config.transition };
        let mut scenario = scenario.clone();
        scenario.set_controller(&config.link, Arc::new(RemoteFactory { desk: Arc::clone(&desk), plug }))?;
        let Some(index) = scenario.links.iter().position(|link| link.name == config.link) else {
            return Err(ScenarioError::new("link", format!("is {}; expected the name of a link", config.link)));
        };
        let (highest, mtu) = (scenario.links[index].rate, f64::from(scenario.mtu));
        for (number, rate) in config.rates.iter().enumerate() {
            if rate.is_zero() || *rate > highest {
                let message = format!("is {rate}; expected more than 0 b/s and at most the link's rate, {highest}");
                return Err(ScenarioError::new(format!("rates.{number}"), message));
            }
        }
        let model = power_model(&scenario.power, config.power.as_deref())?.of(index, &scenario.links[index]);
        let model = model.with_transition_power(transition_power(&scenario.links[index]));
        let controller = scenario.links[..index].iter().filter(|link| link.is_controlled()).count();
        let place = format!("link.{}.controller", config.link);
        Ok(Self {
            episode: Episode::new(scenario, config.step, place)?,
            link: LinkId::new(index),
            controller: ControllerId::new(controller),
            highest,
            packet_s: 8.0 * mtu / highest.as_f64(),
            desk,
            spending: Spending::new(model.clone(), highest, highest),
            model,
            config: config.clone(),
            last: Last { seen: None, rate: highest, queued_ns: 0, mean_waiting: 0.0, energy: 0.0 },
        })
    }

    /// The energy of a step at the link's rate, in joules.
    fn always_on(&self) -> f64 {
        (self.model.power(self.highest, self.highest) * self.config.step).as_f64()
    }

    /// The share of a time in the scale of backlogs.
    #[allow(clippy::cast_possible_truncation, reason = "an observation has single precision")]
    fn scaled(&self, seconds: f64) -> f32 {
        (seconds / self.config.backlog_scale.as_secs_f64()).min(1.0) as f32
    }
}

/// The power model with this name, or the first.
pub(super) fn power_model<'a>(models: &'a [NamedPower], name: Option<&str>) -> Result<&'a NamedPower, ScenarioError> {
    let found = models.iter().find(|power| name.is_none_or(|name| power.name == name));
    found.ok_or_else(|| {
        let names: Vec<&str> = models.iter().map(|power| power.name.as_str()).collect();
        let name = name.unwrap_or("missing");
        ScenarioError::new("power", format!("is {name}; expected a power model of the scenario: {}", names.join(", ")))
    })
}

impl Environment for LinkRate {
    fn actions(&self) -> Vec<u32> {
        vec![u32::try_from(self.config.rates.len()).unwrap_or(u32::MAX)]
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
        self.spending = Spending::new(self.model.clone(), self.highest, self.highest);
        self.last = Last { seen: None, rate: self.highest, queued_ns: 0, mean_waiting: 0.0, energy: 0.0 };
        Ok(())
    }

    #[allow(clippy::cast_precision_loss, reason = "times of a step and numbers of packets are small")]
    fn step(&mut self, action: &[i64]) -> Result<f64, RunError> {
        let rate = self.config.rates[self.episode.choice(action, 0, self.config.rates.len())?];
        let (link, controller, desk) = (self.link, self.controller, &self.desk);
        let (world, due) = self.episode.go_on()?;
        if rate != self.last.rate {
            desk.lock().decision = Some(rate);
            world.prompt(controller);
        }
        world.advance_to(Instant::from_nanos(due.as_nanos() - 1));
        let mut seen = None;
        while seen.is_none() && world.advance_once(due) {
            seen = desk.lock().seen.take();
        }
        let (now, place) = (world.now(), &world.net.links[link]);
        let queued_ns = place.queued_ns(now);
        let rates = place.variable().map_or(&[][..], |variable| variable.effective());
        let energy = self.spending.up_to(now, rates);
        self.episode.stopped()?;
        let step_ns = self.config.step.as_nanos() as f64;
        let mean_waiting = (queued_ns - self.last.queued_ns) as f64 / step_ns;
        self.last = Last { seen, rate, queued_ns, mean_waiting, energy };
        let (arrived, dropped) = seen.map_or((0, 0), |seen| (seen.arrived.packets, seen.dropped.packets));
        let lost = dropped as f64 / arrived.max(1) as f64;
        Ok(self.config.weights.reward(energy / self.always_on(), mean_waiting * self.packet_s, lost.min(1.0)))
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "an observation has single precision"
    )]
    fn show(&self, entry: &mut dyn FnMut(Arguments<'_>, f32, f32)) {
        let (highest, seen) = (self.highest.as_f64(), self.last.seen.as_ref());
        let of = |value: &dyn Fn(&Observation) -> f32| seen.map_or(0.0, value);
        entry(format_args!("rate"), 1.0, (self.last.rate.as_f64() / highest) as f32);
        entry(format_args!("backlog"), 1.0, of(&|seen| self.scaled(8.0 * seen.queue.waiting.as_f64() / highest)));
        entry(format_args!("mean_backlog"), 1.0, of(&|_| self.scaled(self.last.mean_waiting * self.packet_s)));
        let arrivals = |seen: &Observation| {
            let capacity = highest * seen.span.as_secs_f64() / 8.0;
            ((seen.arrived.bytes.as_f64() / capacity) as f32).min(MOST_ARRIVALS)
        };
        entry(format_args!("arrivals"), MOST_ARRIVALS, of(&arrivals));
        entry(format_args!("utilisation"), 1.0, of(&|seen| (seen.utilisation as f32).min(1.0)));
        let drops = |seen: &Observation| (seen.dropped.packets as f32 / seen.arrived.packets.max(1) as f32).min(1.0);
        entry(format_args!("drops"), 1.0, of(&drops));
    }

    #[allow(clippy::cast_precision_loss, reason = "numbers of packets are small")]
    fn raw(&self, out: &mut Vec<RawValue>) {
        let (rate, seen) = (self.last.rate.as_f64(), self.last.seen.as_ref());
        let of = |value: fn(&Observation) -> f64| seen.map_or(0.0, value);
        out.extend([
            ("time_s", of(|seen| seen.now.as_secs_f64())),
            ("rate_bps", rate),
            ("backlog_bytes", of(|seen| seen.queue.waiting.as_f64())),
            ("waiting_packets", of(|seen| seen.waiting_packets as f64)),
            ("mean_waiting_packets", self.last.mean_waiting),
            ("arrived_bytes", of(|seen| seen.arrived.bytes.as_f64())),
            ("arrived_packets", of(|seen| seen.arrived.packets as f64)),
            ("departed_bytes", of(|seen| seen.departed.bytes.as_f64())),
            ("dropped_packets", of(|seen| seen.dropped.packets as f64)),
            ("marked_packets", of(|seen| seen.marked.packets as f64)),
            ("energy_j", self.last.energy),
            ("always_on_j", seen.map_or(0.0, |_| self.always_on())),
        ]);
    }
}

/// Sums up the energy of a link of varying rate between readings, without the energy of bits and packets.
#[derive(Clone, Debug)]
pub(super) struct Spending {
    model: PowerModel,
    highest: BitRate,
    /// The number of rates taken from the link's list.
    taken: usize,
    rate: BitRate,
    /// The rate before a pause, and the end of the pause.
    pause: Option<(BitRate, Instant)>,
    settled: Instant,
}

impl Spending {
    /// A link at its initial rate, at the start of the run.
    pub fn new(model: PowerModel, highest: BitRate, rate: BitRate) -> Self {
        Self { model, highest, taken: 1, rate, pause: None, settled: Instant::ZERO }
    }

    /// The energy in joules since the last call. `rates` is the link's list of rates with the times of the switches.
    pub fn up_to(&mut self, now: Instant, rates: &[EffectiveRate]) -> f64 {
        let mut joules = 0.0;
        while let Some(change) = rates.get(self.taken).filter(|change| change.at <= now) {
            joules += self.settle(change.at);
            self.pause = (!change.pause.is_zero()).then_some((self.rate, change.at + change.pause));
            self.rate = change.rate;
            self.taken += 1;
        }
        joules + self.settle(now)
    }

    fn settle(&mut self, now: Instant) -> f64 {
        let mut joules = 0.0;
        if let Some((old, end)) = self.pause {
            let until = end.min(now);
            if until > self.settled {
                joules +=
                    (self.model.power_in_transition(old, self.rate, self.highest) * (until - self.settled)).as_f64();
                self.settled = until;
            }
            if end <= now {
                self.pause = None;
            }
        }
        if now > self.settled {
            joules += (self.model.power(self.rate, self.highest) * (now - self.settled)).as_f64();
            self.settled = now;
        }
        joules
    }
}
