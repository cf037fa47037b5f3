//! Parts of a run, each measured on its own: counters as they stand where one begins and ends.

use super::agents::AgentCounters;
use super::energy::{EnergySummary, NetworkSummary, energy, ledgers, ratio};
use crate::net::ids::{AgentId, FlowId};
use crate::net::link::LinkCounters;
use crate::scenario::{PhaseSpec, Scenario};
use netlull_network::by_name::ByName;
use netlull_power::{EnergyLedger, Residency, Traffic};
use netlull_units::{Duration, Instant};
use serde::Serialize;

/// Every counter at one instant.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub at: Instant,
    pub links: Vec<LinkCounters>,
    pub agents: Vec<AgentCounters>,
    pub tcp: Vec<netlull_tcp::Counters>,
    pub delivered: Vec<u64>,
    pub rate_changes: Vec<u64>,
}

/// Every counter at one instant, and the time at each rate.
#[derive(Clone, Debug)]
pub(super) struct Census {
    counters: Counts,
    /// Of each link whose rate varies, since measurement began.
    residencies: Vec<Option<Residency>>,
}

impl Census {
    /// Counters with residencies since measurement began, of links whose rate varies.
    pub fn new(counters: Counts, residencies: Vec<Option<Residency>>) -> Self {
        Self { counters, residencies }
    }
}

/// Where phases begin and end, and the counters there.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseEdges {
    /// Instants strictly between the start of measurement and the end of the run, ascending.
    due: Vec<Instant>,
    seen: Vec<Census>,
}

impl PhaseEdges {
    pub fn new(scenario: &Scenario) -> Self {
        let (start, end) = (Instant::ZERO + scenario.warm_up, Instant::ZERO + scenario.duration);
        let due = edges(scenario).into_iter().filter(|&edge| edge > start && edge < end).collect();
        Self { due, seen: Vec::new() }
    }

    /// Takes the census of the edge that is due.
    pub fn push(&mut self, census: Census) {
        self.seen.push(census);
    }

    /// The next instant at which to look.
    pub fn next(&self) -> Instant {
        self.due.get(self.seen.len()).copied().unwrap_or(Instant::NEVER)
    }

    /// Censuses that were taken elsewhere: at every edge of a phase within the run, ascending.
    pub fn of(seen: Vec<Census>) -> Self {
        Self { due: seen.iter().map(|census| census.counters.at).collect(), seen }
    }

    fn at(&self, instant: Instant) -> Option<&Census> {
        self.due.binary_search(&instant).ok().and_then(|index| self.seen.get(index))
    }
}

/// The end of the warm-up, the edges of phases, the end of the run.
pub(crate) fn edges(scenario: &Scenario) -> Vec<Instant> {
    let (start, end) = (Instant::ZERO + scenario.warm_up, Instant::ZERO + scenario.duration);
    let mut edges: Vec<Instant> = scenario.phases.iter().flat_map(|phase| [phase.from, phase.to]).collect();
    edges.extend([start, end]);
    edges.sort_unstable();
    edges.dedup();
    edges
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
    /// All links together.
    pub network: NetworkSummary,
    /// Links by name.
    pub link: ByName<LinkPhase>,
    /// Flows by name.
    pub flow: ByName<FlowPhase>,
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
    /// Packets that were lost because the link slept, or fell asleep with them on it.
    pub asleep_packets: u64,
    /// How long it slept.
    pub asleep_s: f64,
    /// Packets delivered.
    pub delivered_packets: u64,
    /// Bytes delivered.
    pub delivered_bytes: u64,
    /// Dropped over offered.
    pub drop_fraction: f64,
    /// Bits delivered per second.
    pub throughput_bps: f64,
    /// Bits delivered over what the mean rate would have carried; 0 of a link that slept all the time.
    pub utilisation: f64,
    /// Service rate averaged over time; a transition counts at its new rate, sleep as 0.
    pub mean_rate_bps: f64,
    /// Changes of the rate.
    pub rate_changes: u64,
    /// Waiting packets averaged over time.
    pub mean_queue_packets: f64,
    /// Energy under each power model.
    pub energy: ByName<EnergySummary>,
}

/// A flow in a part of the run; fields as in the run's summary.
#[derive(Clone, Debug, Serialize)]
pub struct FlowPhase {
    /// Packets the sender sent.
    pub packets_sent: u64,
    /// Packets from the sender that queues dropped, or that links or nodes lost.
    pub packets_dropped: u64,
    /// Dropped over sent.
    pub loss_fraction: f64,
    /// Bytes the receiving application got.
    pub delivered_bytes: u64,
    /// Bits delivered per second.
    pub goodput_bps: f64,
}

/// A part of a run: the counters at its beginning, and at its end.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    from: &'a Census,
    to: &'a Census,
}

/// All that was measured of a run that is over: what its phases are parts of.
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

/// Every phase of a run.
pub(super) fn phases(edges: &PhaseEdges, whole: &Whole, scenario: &Scenario) -> ByName<PhaseSummary> {
    let spans = scenario.phases.iter().map(|phase| (phase.name.clone(), whole.phase(edges, phase)));
    ByName(spans.map(|(name, span)| (name, span.summary(scenario))).collect())
}

impl Span<'_> {
    pub fn time(&self) -> Duration {
        self.to.counters.at - self.from.counters.at
    }

    /// An amount of data per second.
    #[allow(clippy::cast_precision_loss)]
    pub fn bits_per_second(&self, bytes: u64) -> f64 {
        (bytes * 8) as f64 / self.time().as_secs_f64()
    }

    fn summary(&self, scenario: &Scenario) -> PhaseSummary {
        let (links, network) = self.links(scenario);
        let link = scenario.links.iter().zip(links).map(|(spec, link)| (spec.name.clone(), link)).collect();
        let flow: Vec<_> = scenario
            .flow_paths()
            .enumerate()
            .map(|(place, path)| (path.name.clone(), self.flow(FlowId::new(place))))
            .collect();
        PhaseSummary {
            from_s: self.from.counters.at.as_secs_f64(),
            to_s: self.to.counters.at.as_secs_f64(),
            goodput_bps: self.bits_per_second(flow.iter().map(|(_, flow)| flow.delivered_bytes).sum()),
            network,
            link: ByName(link),
            flow: ByName(flow),
        }
    }

    /// What a link counted.
    pub fn counted(&self, index: usize) -> LinkCounters {
        self.to.counters.links[index].since(&self.from.counters.links[index])
    }

    /// Packets that links lost to sleep.
    pub fn asleep_packets(&self) -> u64 {
        (0..self.to.counters.links.len()).map(|index| self.counted(index).asleep_packets).sum()
    }

    /// Time at each rate, and asleep; a link of fixed rate was at it whenever it was awake.
    pub fn residency(&self, scenario: &Scenario, index: usize) -> Residency {
        let awake = match (&self.to.residencies[index], &self.from.residencies[index]) {
            (Some(to), Some(from)) => to.since(from),
            (Some(to), None) => to.clone(),
            (None, _) => Residency::constant(scenario.links[index].rate, self.time()),
        };
        match self.counted(index).asleep_ns {
            0 => awake,
            asleep => awake.with_sleep(Duration::from_nanos(asleep)),
        }
    }

    /// Every link, and all of them together.
    pub fn links(&self, scenario: &Scenario) -> (Vec<LinkPhase>, NetworkSummary) {
        let mut all = vec![[EnergyLedger::default(); 2]; scenario.power.len()];
        let links = (0..scenario.links.len()).map(|index| self.link(scenario, index, &mut all)).collect();
        (links, NetworkSummary { energy: energy(scenario, &all) })
    }

    /// A link, whose energy is added to that of `all`.
    #[allow(clippy::cast_precision_loss)]
    fn link(&self, scenario: &Scenario, index: usize, all: &mut [[EnergyLedger; 2]]) -> LinkPhase {
        let (counters, residency) = (self.counted(index), self.residency(scenario, index));
        let throughput = self.bits_per_second(counters.delivered_bytes);
        let LinkCounters { offered_packets, offered_bytes, dropped_packets, lost_packets, .. } = counters;
        let LinkCounters { asleep_packets, delivered_packets, delivered_bytes, .. } = counters;
        let mean_rate = residency.mean_rate();
        let traffic = Traffic { bits: delivered_bytes * 8, packets: delivered_packets };
        let spent = ledgers(scenario, &scenario.links[index], &residency, traffic);
        for (sum, link) in all.iter_mut().zip(&spent) {
            *sum = [sum[0] + link[0], sum[1] + link[1]];
        }
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
            rate_changes: self.to.counters.rate_changes[index] - self.from.counters.rate_changes[index],
            mean_queue_packets: counters.queued_ns as f64 / self.time().as_nanos() as f64,
            energy: energy(scenario, &spent),
        }
    }

    pub fn flow(&self, flow: FlowId) -> FlowPhase {
        let (sender, receiver) = (AgentId::sender(flow).index(), AgentId::receiver(flow).index());
        let (then, now) = (&self.from.counters, &self.to.counters);
        let sent = now.agents[sender].sent_packets - then.agents[sender].sent_packets;
        let dropped = now.agents[receiver].dropped_packets - then.agents[receiver].dropped_packets;
        let delivered = now.delivered[flow.index()] - then.delivered[flow.index()];
        FlowPhase {
            packets_sent: sent,
            packets_dropped: dropped,
            loss_fraction: ratio(dropped, sent),
            delivered_bytes: delivered,
            goodput_bps: self.bits_per_second(delivered),
        }
    }
}
