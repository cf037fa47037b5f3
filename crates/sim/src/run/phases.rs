//! Parts of a run with separate measurements, from the counters at their boundaries and the transfers that start in
//! them, and the energy of links under every power model.

use super::hosts::AgentCounters;
use super::transfers::{CompletionTimes, RequestPhase, Transfer, TransferSummary, numbers, transfers_summary};
use crate::net::ids::{AgentId, FlowId};
use crate::net::link::LinkCounters;
use crate::scenario::{LinkSpec, NamedPower, PhaseSpec, Scenario};
use netlull_mechanism::link::LowPowerTimes;
use netlull_network::outcome::ByName;
use netlull_power::{EnergyLedger, PowerModel, RateTime, Residency, Traffic, TransitionPower, TransitionTime, saving};
use netlull_units::{BitRate, Duration, Instant, Joules};
use serde::Serialize;
use std::collections::BTreeMap;

/// All counters at one instant. The default has those at the start of a run: all are 0, and none is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub at: Instant,
    pub links: Vec<LinkCounters>,
    pub agents: Vec<AgentCounters>,
    pub tcp: Vec<netlull_tcp::Counters>,
    pub delivered: Vec<u64>,
    pub rate_changes: Vec<u64>,
    /// The times of the links with low-power idle.
    pub low_power: LowPower,
}

impl Counts {
    /// The counters of a sender or receiver.
    pub fn agent(&self, agent: AgentId) -> AgentCounters {
        at(&self.agents, agent.index())
    }

    /// The counters of a TCP endpoint.
    pub fn endpoint(&self, agent: AgentId) -> netlull_tcp::Counters {
        at(&self.tcp, agent.index())
    }
}

/// A counter from a list that is empty at the start of a run.
fn at<T: Copy + Default>(counters: &[T], index: usize) -> T {
    counters.get(index).copied().unwrap_or_default()
}

/// The times in each state of links with low-power idle, by their indices.
pub(super) type LowPower = BTreeMap<usize, LowPowerTimes>;

/// The time at each rate since the start of the measured time, for each link with a varying rate.
pub(super) type Residencies = BTreeMap<usize, Residency>;

/// All counters at one instant, and the time at each rate.
#[derive(Clone, Debug)]
pub(super) struct Census {
    counters: Counts,
    residencies: Residencies,
}

impl Census {
    /// Combines counters and times at each rate.
    pub fn new(counters: Counts, residencies: Residencies) -> Self {
        Self { counters, residencies }
    }

    /// The counters of each link.
    pub fn links(&self) -> &[LinkCounters] {
        &self.counters.links
    }
}

/// The boundaries of phases, and the counters there.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseEdges {
    /// Instants strictly between the start of the measured time and the end of the run, in ascending order.
    due: Vec<Instant>,
    seen: Vec<Census>,
}

impl PhaseEdges {
    pub fn new(scenario: &Scenario) -> Self {
        let (start, end) = (Instant::ZERO + scenario.warm_up, Instant::ZERO + scenario.duration);
        let due = edges(scenario).into_iter().filter(|&edge| edge > start && edge < end).collect();
        Self { due, seen: Vec::new() }
    }

    /// Stores the census of the due boundary.
    pub fn push(&mut self, census: Census) {
        self.seen.push(census);
    }

    /// The next instant for a census.
    pub fn next(&self) -> Instant {
        self.due.get(self.seen.len()).copied().unwrap_or(Instant::NEVER)
    }

    /// Phase boundaries from existing censuses: all boundaries within the run, in ascending order.
    pub fn of(seen: Vec<Census>) -> Self {
        Self { due: seen.iter().map(|census| census.counters.at).collect(), seen }
    }

    fn at(&self, instant: Instant) -> Option<&Census> {
        self.due.binary_search(&instant).ok().and_then(|index| self.seen.get(index))
    }
}

/// The end of the warm-up, the boundaries of phases, and the end of the run.
pub(crate) fn edges(scenario: &Scenario) -> Vec<Instant> {
    let (start, end) = (Instant::ZERO + scenario.warm_up, Instant::ZERO + scenario.duration);
    let mut edges: Vec<Instant> = scenario.phases.iter().flat_map(|phase| [phase.from, phase.to]).collect();
    edges.extend([start, end]);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The results of a phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseSummary {
    /// Start time.
    pub from_s: f64,
    /// End time.
    pub to_s: f64,
    /// Bits per second delivered to applications, sum of all flows.
    pub goodput_bps: f64,
    /// Transfers of a known size that started in the phase, of all flows.
    pub transfers: TransferSummary,
    /// Sum over all links.
    pub network: NetworkSummary,
    /// Links by name.
    pub link: ByName<LinkPhase>,
    /// Flows by name.
    pub flow: ByName<FlowPhase>,
}

/// A link in a phase. The fields are those of the run's summary.
#[derive(Clone, Debug, Serialize)]
pub struct LinkPhase {
    /// Packets offered.
    pub offered_packets: u64,
    /// Bytes offered.
    pub offered_bytes: u64,
    /// Packets dropped because of a full buffer or by queue management.
    pub dropped_packets: u64,
    /// Packets dropped by the link's loss model.
    pub lost_packets: u64,
    /// Packets lost because the link slept or fell asleep.
    pub asleep_packets: u64,
    /// Time asleep.
    pub asleep_s: f64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Dropped / offered packets.
    pub drop_fraction: f64,
    /// Delivered bits per second.
    pub throughput_bps: f64,
    /// Delivered bits / capacity at the mean rate; 0 for a link that always slept.
    pub utilisation: f64,
    /// Mean service rate over time. A transition counts at its new rate, sleep as 0.
    pub mean_rate_bps: f64,
    /// Changes of the rate.
    pub rate_changes: u64,
    /// Mean number of packets in the queue.
    pub mean_queue_packets: f64,
    /// Energy under each power model.
    pub energy: ByName<EnergySummary>,
}

/// A flow in a phase. The fields are those of the run's summary.
#[derive(Clone, Debug, Serialize)]
pub struct FlowPhase {
    /// Packets sent.
    pub packets_sent: u64,
    /// Packets from the sender that queues dropped, or that links or nodes lost.
    pub packets_dropped: u64,
    /// Dropped / sent packets.
    pub loss_fraction: f64,
    /// Bytes delivered to the receiving application.
    pub delivered_bytes: u64,
    /// Delivered bits per second.
    pub goodput_bps: f64,
    /// The requests of a flow of requests.
    #[serde(flatten)]
    pub requests: Option<RequestPhase>,
}

/// A part of a run, given by the counters at its start and end.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    from: &'a Census,
    to: &'a Census,
}

/// All measurements of a finished run. Phases are parts of it.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    first: Census,
    last: Census,
}

impl Whole {
    pub fn of(first: Census, last: Census) -> Self {
        Self { first, last }
    }

    pub fn span(&self) -> Span<'_> {
        Span { from: &self.first, to: &self.last }
    }

    fn phase<'a>(&'a self, edges: &'a PhaseEdges, phase: &PhaseSpec) -> Span<'a> {
        Span { from: edges.at(phase.from).unwrap_or(&self.first), to: edges.at(phase.to).unwrap_or(&self.last) }
    }
}

/// Every phase of a run. `transfers` gives the transfers of a flow.
///
/// A transfer belongs to a phase if it starts at the phase's first instant or later, but before its end.
pub(super) fn phases(
    edges: &PhaseEdges,
    whole: &Whole,
    scenario: &Scenario,
    transfers: impl Fn(FlowId) -> Vec<Transfer>,
) -> ByName<PhaseSummary> {
    if scenario.phases.is_empty() {
        return ByName(Vec::new());
    }
    let all: Vec<Vec<Transfer>> =
        scenario.flow_paths().enumerate().map(|(flow, _)| transfers(FlowId::new(flow))).collect();
    let summary = |phase: &PhaseSpec| {
        let within = |transfer: &&Transfer| transfer.start >= phase.from && transfer.start < phase.to;
        let own: Vec<Vec<Transfer>> = all.iter().map(|flow| flow.iter().filter(within).copied().collect()).collect();
        (phase.name.clone(), whole.phase(edges, phase).summary(scenario, &own))
    };
    ByName(scenario.phases.iter().map(summary).collect())
}

impl Span<'_> {
    pub fn time(&self) -> Duration {
        self.to.counters.at - self.from.counters.at
    }

    /// Converts an amount of data to a rate.
    #[allow(clippy::cast_precision_loss)]
    pub fn bits_per_second(&self, bytes: u64) -> f64 {
        (bytes * 8) as f64 / self.time().as_secs_f64()
    }

    /// The results, with the transfers of each flow that started in this part.
    fn summary(&self, scenario: &Scenario, transfers: &[Vec<Transfer>]) -> PhaseSummary {
        let named = |(index, spec): (usize, &LinkSpec)| (spec.name.clone(), self.link(scenario, index));
        let link = scenario.links.iter().enumerate().map(named).collect();
        let first_request = scenario.tcp_flows.len() + scenario.datagram_flows.len();
        let requests = |place: usize| {
            let [requests_started, requests_completed] = numbers(&transfers[place]);
            let times = CompletionTimes::of(&transfers[place]);
            (place >= first_request).then_some(RequestPhase { requests_started, requests_completed, times })
        };
        let flow: Vec<_> = scenario
            .flow_paths()
            .enumerate()
            .map(|(place, path)| {
                (path.name.clone(), FlowPhase { requests: requests(place), ..self.flow(FlowId::new(place)) })
            })
            .collect();
        PhaseSummary {
            from_s: self.from.counters.at.as_secs_f64(),
            to_s: self.to.counters.at.as_secs_f64(),
            goodput_bps: self.bits_per_second(flow.iter().map(|(_, flow)| flow.delivered_bytes).sum()),
            transfers: transfers_summary(scenario, transfers),
            network: self.network(scenario),
            link: ByName(link),
            flow: ByName(flow),
        }
    }

    /// The counters of a link in this part.
    pub fn counted(&self, index: usize) -> LinkCounters {
        self.to.counters.links[index].since(&at(&self.from.counters.links, index))
    }

    /// Packets that links lost because of sleep.
    pub fn asleep_packets(&self) -> u64 {
        (0..self.to.counters.links.len()).map(|index| self.counted(index).asleep_packets).sum()
    }

    /// The times in each state, for a link with low-power idle.
    pub fn low_power(&self, index: usize) -> Option<LowPowerTimes> {
        let to = self.to.counters.low_power.get(&index)?;
        Some(to.since(&self.from.counters.low_power.get(&index).copied().unwrap_or_default()))
    }

    /// The time at each rate, and asleep. A link of fixed rate has its rate whenever it is awake.
    pub fn residency(&self, scenario: &Scenario, index: usize) -> Residency {
        if let Some(times) = self.low_power(index) {
            return low_power_residency(&times, scenario.links[index].rate);
        }
        let awake = match (self.to.residencies.get(&index), self.from.residencies.get(&index)) {
            (Some(to), Some(from)) => to.since(from),
            (Some(to), None) => to.clone(),
            (None, _) => Residency::constant(scenario.links[index].rate, self.time()),
        };
        match self.counted(index).asleep_ns {
            0 => awake,
            asleep => awake.with_sleep(Duration::from_nanos(asleep)),
        }
    }

    /// The energy of a link with this residency under each model, and without rate changes and sleep.
    fn spent(&self, scenario: &Scenario, index: usize, residency: &Residency) -> Vec<[EnergyLedger; 2]> {
        let LinkCounters { delivered_bytes, delivered_packets, .. } = self.counted(index);
        let traffic = Traffic { bits: delivered_bytes * 8, packets: delivered_packets };
        ledgers(scenario, index, residency, traffic, self.low_power(index).as_ref())
    }

    /// The sum over all links.
    pub fn network(&self, scenario: &Scenario) -> NetworkSummary {
        let (mut all, mut slept) = (vec![[EnergyLedger::default(); 2]; scenario.power.len()], false);
        for index in 0..scenario.links.len() {
            let residency = self.residency(scenario, index);
            // Packets make no detour around low-power idle.
            slept |= self.counted(index).asleep_ns > 0;
            for (sum, link) in all.iter_mut().zip(self.spent(scenario, index, &residency)) {
                *sum = [sum[0] + link[0], sum[1] + link[1]];
            }
        }
        NetworkSummary { energy: energy(scenario, &all, self.time(), slept) }
    }

    /// A link.
    #[allow(clippy::cast_precision_loss)]
    pub fn link(&self, scenario: &Scenario, index: usize) -> LinkPhase {
        let (counters, residency) = (self.counted(index), self.residency(scenario, index));
        let throughput = self.bits_per_second(counters.delivered_bytes);
        let LinkCounters { offered_packets, offered_bytes, dropped_packets, lost_packets, .. } = counters;
        let LinkCounters { asleep_packets, delivered_packets, delivered_bytes, .. } = counters;
        let mean_rate = residency.mean_rate();
        LinkPhase {
            offered_packets,
            offered_bytes,
            dropped_packets,
            lost_packets,
            asleep_packets,
            asleep_s: residency.asleep().as_secs_f64(),
            delivered_packets,
            delivered_bytes,
            drop_fraction: ratio(dropped_packets, offered_packets),
            throughput_bps: throughput,
            utilisation: if mean_rate > 0.0 { throughput / mean_rate } else { 0.0 },
            mean_rate_bps: mean_rate,
            rate_changes: self.to.counters.rate_changes[index] - at(&self.from.counters.rate_changes, index),
            mean_queue_packets: counters.queued_ns as f64 / self.time().as_nanos() as f64,
            energy: energy(scenario, &self.spent(scenario, index, &residency), self.time(), false),
        }
    }

    pub fn flow(&self, flow: FlowId) -> FlowPhase {
        let (sender, receiver) = (AgentId::sender(flow), AgentId::receiver(flow));
        let (then, now) = (&self.from.counters, &self.to.counters);
        let sent = now.agent(sender).sent_packets - then.agent(sender).sent_packets;
        let dropped = now.agent(receiver).dropped_packets - then.agent(receiver).dropped_packets;
        let delivered = now.delivered[flow.index()] - at(&then.delivered, flow.index());
        FlowPhase {
            packets_sent: sent,
            packets_dropped: dropped,
            loss_fraction: ratio(dropped, sent),
            delivered_bytes: delivered,
            goodput_bps: self.bits_per_second(delivered),
            requests: None,
        }
    }
}

/// The sum over all links.
#[derive(Clone, Debug, Serialize)]
pub struct NetworkSummary {
    /// Energy of all links under each power model.
    pub energy: ByName<EnergySummary>,
}

/// The energy of links under one model, in joules. An ideal model without a stated power has 1 W at its maximum rate.
#[derive(Clone, Debug, Serialize)]
pub struct EnergySummary {
    /// Static energy, independent of rate and traffic.
    pub static_j: f64,
    /// Energy that depends on the rate.
    pub rate_dependent_j: f64,
    /// Energy of bits and packets.
    pub traffic_j: f64,
    /// Rate-dependent energy during transitions.
    pub transitions_j: f64,
    /// Energy that remains while a link sleeps.
    pub asleep_j: f64,
    /// Total energy.
    pub total_j: f64,
    /// Mean power: the total energy / the time.
    pub mean_w: f64,
    /// Energy for the same links and this run's traffic on them, always awake and at the maximum rates.
    pub reference_j: f64,
    /// 1 - total/reference.
    ///
    /// `None` for a network with sleeping links under a model that charges traffic: the reference would carry the
    /// detours. The run without sleep is the reference then.
    pub saving: Option<f64>,
}

pub(super) fn transition_power(spec: &LinkSpec) -> TransitionPower {
    spec.control.as_ref().map_or(TransitionPower::default(), |control| control.transition_power)
}

/// A link's actual energy under each model, and its energy without rate changes and sleep.
pub(super) fn ledgers(
    scenario: &Scenario,
    index: usize,
    residency: &Residency,
    traffic: Traffic,
    low_power: Option<&LowPowerTimes>,
) -> Vec<[EnergyLedger; 2]> {
    let spec = &scenario.links[index];
    let reference = Residency::constant(spec.rate, residency.total());
    let under = |power: &NamedPower| {
        let model = power.of(index, spec).with_transition_power(transition_power(spec));
        let [mut energy, reference] =
            [residency, &reference].map(|residency| model.energy(residency, spec.rate, traffic));
        if let (Some(times), Some((asleep, fast))) = (low_power, spec.low_power_shares()) {
            energy.asleep += low_power_energy(&model, spec.rate, times, [asleep, fast]);
        }
        [energy, reference]
    };
    scenario.power.iter().map(under).collect()
}

/// The residency of a link with low-power idle: transitions at full power, then sleep.
pub(super) fn low_power_residency(times: &LowPowerTimes, rate: BitRate) -> Residency {
    let (time, stopped) = (Duration::from_nanos, BitRate::default());
    let low = time(times.low_ns());
    let entering = TransitionTime { old: rate, new: stopped, time: time(times.entering_ns) };
    let waking = TransitionTime { old: stopped, new: rate, time: time(times.waking_ns) };
    let transitions = [entering, waking].into_iter().filter(|part| !part.time.is_zero()).collect();
    // `with_sleep` takes the sleep out of the time in service.
    let service = RateTime { rate, time: time(times.awake_ns) + low };
    Residency::from_parts(vec![service], transitions, 0).with_sleep(low)
}

/// The energy in low power above the model's power of a sleeping link: shares of the power that low-power idle can save.
/// A refresh takes it in full.
#[allow(clippy::cast_precision_loss)]
fn low_power_energy(model: &PowerModel, rate: BitRate, times: &LowPowerTimes, [asleep, fast]: [f64; 2]) -> Joules {
    let saved = model.power(rate, rate).as_f64() - model.sleep_power(rate).as_f64();
    let weighted = times.asleep_ns as f64 * asleep + times.fast_ns as f64 * fast + times.refresh_ns as f64;
    Joules::new(saved * weighted / 1e9)
}

/// The energy of this time for the summary. `detoured` is true if the traffic would have taken other links without sleep.
pub(super) fn energy(
    scenario: &Scenario,
    ledgers: &[[EnergyLedger; 2]],
    time: Duration,
    detoured: bool,
) -> ByName<EnergySummary> {
    let summary = |[energy, reference]: &[EnergyLedger; 2]| EnergySummary {
        static_j: energy.static_.as_f64(),
        rate_dependent_j: energy.rate_dependent.as_f64(),
        traffic_j: energy.traffic.as_f64(),
        transitions_j: energy.transitions.as_f64(),
        asleep_j: energy.asleep.as_f64(),
        total_j: energy.total().as_f64(),
        mean_w: energy.total().as_f64() / time.as_secs_f64(),
        reference_j: reference.total().as_f64(),
        saving: (!detoured || energy.traffic.as_f64() == 0.0).then(|| saving(energy, reference)),
    };
    ByName(scenario.power.iter().zip(ledgers).map(|(power, pair)| (power.name.clone(), summary(pair))).collect())
}

#[allow(clippy::cast_precision_loss)]
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
