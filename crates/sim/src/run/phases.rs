//! Parts of a run, each measured on its own: counters as they stand where one begins and ends.

use super::parts::Baseline;
use super::summary::{Energies, energy, ratio, since};
use super::world::World;
use crate::net::link::LinkCounters;
use crate::scenario::{PhaseSpec, Scenario};
use netlull_power::{Residency, Traffic};
use netlull_units::Instant;
use serde::{Serialize, Serializer};

/// What there was at one instant.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    counters: Baseline,
    /// Of each link whose rate varies, since measurement began.
    residencies: Vec<Option<Residency>>,
}

/// Where phases begin and end, and what there was.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    /// Instants strictly between the start of measurement and the end of the run, ascending.
    due: Vec<Instant>,
    seen: Vec<Mark>,
}

impl Marks {
    pub fn new(scenario: &Scenario) -> Self {
        let (start, end) = (Instant::ZERO + scenario.warm_up, Instant::ZERO + scenario.duration);
        let edges = scenario.phases.iter().flat_map(|phase| [phase.from, phase.to]);
        let mut due: Vec<Instant> = edges.filter(|&edge| edge > start && edge < end).collect();
        due.sort_unstable();
        due.dedup();
        Self { due, seen: Vec::new() }
    }

    /// The next instant at which to look.
    pub fn next(&self) -> Instant {
        self.due.get(self.seen.len()).copied().unwrap_or(Instant::NEVER)
    }

    fn at(&self, instant: Instant) -> Option<&Mark> {
        self.due.binary_search(&instant).ok().and_then(|index| self.seen.get(index))
    }
}

/// A part of the run in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseSummary {
    /// When it begins.
    pub from_s: f64,
    /// When it ends.
    pub to_s: f64,
    /// Bits that applications got per second, all flows together.
    pub goodput_bps: f64,
    /// Links by name.
    pub link: ByName<LinkPhase>,
    /// Flows by name.
    pub flow: ByName<FlowPhase>,
}

/// Entries by name, in the order of the scenario; a map when serialised.
#[derive(Clone, Debug)]
pub struct ByName<T>(pub Vec<(String, T)>);

impl<T> ByName<T> {
    /// The entry of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, entry)| entry)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Serialize> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, entry)| (name, entry)))
    }
}

/// A link in a part of the run; fields as in the run's summary.
#[derive(Clone, Debug, Serialize)]
pub struct LinkPhase {
    /// Packets offered.
    pub offered_packets: u64,
    /// Bytes offered.
    pub offered_bytes: u64,
    /// Packets that found the buffer full or that queue management dropped.
    pub dropped_packets: u64,
    /// Packets that the link's loss model took.
    pub lost_packets: u64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Dropped over offered.
    pub drop_fraction: f64,
    /// Bits delivered per second.
    pub throughput_bps: f64,
    /// Bits delivered over what the mean rate would have carried.
    pub utilisation: f64,
    /// Service rate averaged over time; a transition counts at its new rate.
    pub mean_rate_bps: f64,
    /// Changes of the rate.
    pub rate_changes: u64,
    /// Waiting packets averaged over time.
    pub mean_queue_packets: f64,
    /// Energy under each power model.
    pub energy: Energies,
}

/// A flow in a part of the run; fields as in the run's summary.
#[derive(Clone, Debug, Serialize)]
pub struct FlowPhase {
    /// Packets the sender sent.
    pub packets_sent: u64,
    /// Packets from the sender that queues dropped or links lost.
    pub packets_dropped: u64,
    /// Dropped over sent.
    pub loss_fraction: f64,
    /// Bytes the receiving application got.
    pub delivered_bytes: u64,
    /// Bits delivered per second.
    pub goodput_bps: f64,
}

impl World {
    /// A phase begins or ends. Not counted as an event: looking changes nothing.
    pub(super) fn mark(&mut self) {
        self.events -= 1;
        self.draw_all();
        let mark = self.mark_now();
        self.marks.seen.push(mark);
        self.schedule.set(self.slots.mark(), self.marks.next());
        self.read();
    }

    fn mark_now(&self) -> Mark {
        let residencies =
            self.links.iter().map(|link| link.variable().map(|variable| variable.meter().finish(self.now)));
        Mark { counters: self.counters_now(), residencies: residencies.collect() }
    }
}

/// Every phase of a run that is over.
pub(super) fn phases(world: &World, scenario: &Scenario) -> ByName<PhaseSummary> {
    if scenario.phases.is_empty() {
        return ByName(Vec::new());
    }
    let first = Mark { counters: world.baseline.clone(), residencies: vec![None; world.links.len()] };
    let last = world.mark_now();
    let all = scenario.phases.iter().map(|phase| {
        let from = world.marks.at(phase.from).unwrap_or(&first);
        let to = world.marks.at(phase.to).unwrap_or(&last);
        (phase.name.clone(), summary(scenario, phase, from, to))
    });
    ByName(all.collect())
}

#[allow(clippy::cast_precision_loss)]
fn summary(scenario: &Scenario, phase: &PhaseSpec, from: &Mark, to: &Mark) -> PhaseSummary {
    let seconds = (phase.to - phase.from).as_secs_f64();
    let links = (0..scenario.links.len())
        .map(|index| (scenario.links[index].name.clone(), link(scenario, index, (from, to), seconds)));
    let flows = scenario.flow_paths().enumerate();
    let flow = ByName(flows.map(|(index, path)| (path.name.clone(), flow((from, to), index, seconds))).collect());
    let delivered: u64 = flow.0.iter().map(|(_, flow): &(String, FlowPhase)| flow.delivered_bytes).sum();
    PhaseSummary {
        from_s: phase.from.as_secs_f64(),
        to_s: phase.to.as_secs_f64(),
        goodput_bps: (delivered * 8) as f64 / seconds,
        link: ByName(links.collect()),
        flow,
    }
}

#[allow(clippy::cast_precision_loss)]
fn link(scenario: &Scenario, index: usize, (from, to): (&Mark, &Mark), seconds: f64) -> LinkPhase {
    let (spec, counters) = (&scenario.links[index], since(&to.counters.links[index], &from.counters.links[index]));
    let residency = residency(scenario, index, (from, to));
    let throughput = (counters.delivered_bytes * 8) as f64 / seconds;
    let LinkCounters { offered_packets, offered_bytes, dropped_packets, lost_packets, .. } = counters;
    let traffic = Traffic { bits: counters.delivered_bytes * 8, packets: counters.delivered_packets };
    LinkPhase {
        offered_packets,
        offered_bytes,
        dropped_packets,
        lost_packets,
        delivered_packets: counters.delivered_packets,
        delivered_bytes: counters.delivered_bytes,
        drop_fraction: ratio(dropped_packets, offered_packets),
        throughput_bps: throughput,
        utilisation: throughput / residency.mean_rate(),
        mean_rate_bps: residency.mean_rate(),
        rate_changes: (to.counters.rate_changes[index] - from.counters.rate_changes[index]) as u64,
        mean_queue_packets: counters.queued_ns as f64 / (seconds * 1e9),
        energy: energy(scenario, spec, &residency, traffic),
    }
}

/// Time at each rate between two marks.
fn residency(scenario: &Scenario, index: usize, (from, to): (&Mark, &Mark)) -> Residency {
    match (&to.residencies[index], &from.residencies[index]) {
        (Some(to), Some(from)) => to.since(from),
        (Some(to), None) => to.clone(),
        (None, _) => Residency::constant(scenario.links[index].rate, to.counters.at - from.counters.at),
    }
}

#[allow(clippy::cast_precision_loss)]
fn flow((from, to): (&Mark, &Mark), flow: usize, seconds: f64) -> FlowPhase {
    let (sender, receiver) = (2 * flow, 2 * flow + 1);
    let (then, now) = (&from.counters, &to.counters);
    let sent = now.agents[sender].sent_packets - then.agents[sender].sent_packets;
    let dropped = now.agents[receiver].dropped_packets - then.agents[receiver].dropped_packets;
    let delivered = now.delivered[flow] - then.delivered[flow];
    FlowPhase {
        packets_sent: sent,
        packets_dropped: dropped,
        loss_fraction: ratio(dropped, sent),
        delivered_bytes: delivered,
        goodput_bps: (delivered * 8) as f64 / seconds,
    }
}
