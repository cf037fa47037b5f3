//! Totals and means of a run, over the time measured.

use super::energy::{EnergySummary, NetworkSummary, ratio};
use super::phases::{Census, LinkPhase, PhaseSummary, Span, Whole, phases};
use super::pool::{Completions, Pool};
use super::rerouting::{Rerouting, RoutingSummary};
use super::stations::{self, StationSummary};
use super::world::World;
use crate::net::ids::{AgentId, FlowId, LinkId};
use crate::net::link::Link;
use crate::probe::{Column, Table};
use crate::scenario::{RequestFlow, Scenario};
use netlull_network::by_name::ByName;
use netlull_network::gateway_summary::GatewaySummary;
use netlull_power::Residency;
use netlull_units::{BitRate, Duration, Instant};
use serde::Serialize;

/// A run in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The scenario's name.
    pub name: String,
    /// The seed.
    pub seed: u64,
    /// Version of netlull.
    pub version: &'static str,
    /// Simulated time.
    pub duration_s: f64,
    /// Not measured.
    pub warm_up_s: f64,
    /// Measured.
    pub measured_s: f64,
    /// Events handled.
    pub events: u64,
    /// Packets that crossed a link, each counted at each link, since the start.
    pub packet_hops: u64,
    /// Bits that applications got per second, all flows together.
    pub goodput_bps: f64,
    /// The run before, in which arrivals were recorded that this one replays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingSummary>,
    /// Which verifier ran.
    pub verify: crate::scenario::document::Verify,
    /// How many checks it made.
    pub checks: u64,
    /// All links together.
    pub network: NetworkSummary,
    /// Links that slept and packets that lost their way; null where routes never change.
    pub routing: Option<RoutingSummary>,
    /// Links, in the order of the scenario.
    pub links: Vec<LinkSummary>,
    /// Flows, TCP first.
    pub flows: Vec<FlowSummary>,
    /// Stations, in the order of the scenario.
    pub stations: Vec<StationSummary>,
    /// Parts of the run by their names, if there are any.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub phase: ByName<PhaseSummary>,
}

/// What was recorded in a run before. Nothing else of that run is in a summary.
#[derive(Clone, Debug, Serialize)]
pub struct RecordingSummary {
    /// The link to which the packets were offered.
    pub link: String,
    /// The flow that replays them.
    pub flow: String,
    /// How many.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
}

/// A link over the time measured.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSummary {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// (Maximum) rate, bit/s.
    pub rate_bps: u64,
    /// Propagation delay.
    pub delay_s: f64,
    /// Limit of the queue, with its unit.
    pub buffer: String,
    /// How the queue is managed: drop_tail, red or codel.
    pub queue: &'static str,
    /// Packets offered.
    pub offered_packets: u64,
    /// Bytes offered.
    pub offered_bytes: u64,
    /// Packets that found the buffer full or that queue management dropped.
    pub dropped_packets: u64,
    /// Those of them that queue management dropped: RED's, also above its thresholds, and CoDel's.
    pub managed_drops: u64,
    /// Packets that queue management marked (ECN).
    pub marked_packets: u64,
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
    /// Bits delivered over what the mean rate would have carried; 0 of a link that slept all the time. Above 1 where packets finish at a higher rate that has
    /// been left, or were sent before the measurement began.
    pub utilisation: f64,
    /// Service rate averaged over time; a transition counts at its new rate, sleep as 0.
    pub mean_rate_bps: f64,
    /// Changes of the rate.
    pub rate_changes: u64,
    /// Waiting packets averaged over time.
    pub mean_queue_packets: f64,
    /// Most packets that waited at once, since the start.
    pub max_queue_packets: u64,
    /// Mean time that a packet waited before its first bit was sent; of one that a link fell asleep with, what it would have waited.
    pub mean_wait_s: f64,
    /// Time at each rate; empty for a capacity that took more than `MOST_RATES` of them.
    pub residency: Vec<Residence>,
    /// The gateway that steers TCP here; null where there is none.
    pub gateway: Option<GatewaySummary>,
    /// Energy under each power model.
    pub energy: ByName<EnergySummary>,
}

/// A list of more rates than this tells nobody anything.
pub const MOST_RATES: usize = 256;

/// Time at one rate.
#[derive(Clone, Debug, Serialize)]
pub struct Residence {
    /// Rate, bit/s.
    pub rate_bps: u64,
    /// In service.
    pub seconds: f64,
    /// In transitions to it.
    pub transition_seconds: f64,
}

/// A flow over the time measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlowSummary {
    /// Name.
    pub name: String,
    /// tcp, cbr, poisson, bursts or requests.
    pub kind: &'static str,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// When it opened; null if it never did. Of other flows when they would send first, before jitter.
    pub start_s: Option<f64>,
    /// Packets the sender sent: TCP's segments of any kind, or datagrams.
    pub packets_sent: u64,
    /// Their bytes on the wire.
    pub bytes_sent: u64,
    /// Packets from the sender that queues dropped, or that links or nodes lost.
    pub packets_dropped: u64,
    /// Packets from the sender that arrived with a mark (ECN).
    pub packets_marked: u64,
    /// Dropped over sent.
    pub loss_fraction: f64,
    /// Bytes the receiving application got (TCP: in order, without headers; datagrams: on the wire).
    pub delivered_bytes: u64,
    /// Bits delivered per second.
    pub goodput_bps: f64,
    /// TCP segments sent again.
    pub retransmissions: u64,
    /// TCP retransmission timeouts.
    pub timeouts: u64,
    /// TCP fast retransmits.
    pub fast_retransmits: u64,
    /// From opening to the last byte acknowledged; null while it goes on, and for anything but a single transfer.
    pub completion_time_s: Option<f64>,
    /// TCP's congestion control, as scenarios name it; null for datagrams.
    pub congestion_control: Option<&'static str>,
    /// Data in a full TCP segment, bytes; null for datagrams, and before a request has agreed on it.
    pub segment_bytes: Option<u32>,
    /// Congestion window averaged over time, the inflation of fast recovery included; null for datagrams and requests.
    pub mean_cwnd_bytes: Option<f64>,
    /// Requests that came in the time measured; this and the fields below are null for other flows. Those of them that
    /// were complete by the end of the run make up the rest.
    pub requests_started: Option<u64>,
    /// Bytes that they asked for.
    pub requested_bytes: Option<u64>,
    /// How many were complete: all data acknowledged.
    pub requests_completed: Option<u64>,
    /// Bytes that these asked for.
    pub completed_bytes: Option<u64>,
    /// From the SYN sent to the last byte acknowledged, the mean; null if none was complete.
    pub mean_completion_s: Option<f64>,
    /// The median of these times: the least that half of them do not exceed.
    pub p50_completion_s: Option<f64>,
    /// The least that 95 % of them do not exceed.
    pub p95_completion_s: Option<f64>,
    /// The least that 99 % of them do not exceed.
    pub p99_completion_s: Option<f64>,
    /// The longest.
    pub max_completion_s: Option<f64>,
    /// The most connections open at once, each from its SYN until nothing of it is left anywhere.
    pub most_open: Option<u32>,
}

pub(super) fn summarise(world: &World, scenario: &Scenario, checks: u64) -> Summary {
    let first = Census::new(world.baseline.clone(), vec![None; world.net.links.len()]);
    let whole = Whole::of(first, world.census());
    let span = whole.span();
    let flows: Vec<FlowSummary> = world.hosts.flows().map(|flow| flow_summary(world, scenario, flow, span)).collect();
    let (links, network) = span.links(scenario);
    Summary {
        name: scenario.name.clone(),
        seed: scenario.seed,
        version: env!("CARGO_PKG_VERSION"),
        duration_s: scenario.duration.as_secs_f64(),
        warm_up_s: scenario.warm_up.as_secs_f64(),
        measured_s: span.time().as_secs_f64(),
        events: world.net.events + world.net.links.iter().map(Link::taken_on).sum::<u64>(),
        packet_hops: world.net.links.iter().map(|link| link.counters(world.net.now).delivered_packets).sum(),
        goodput_bps: span.bits_per_second(flows.iter().map(|flow| flow.delivered_bytes).sum()),
        recording: None,
        verify: scenario.verify,
        checks,
        network,
        routing: world.rerouting.as_ref().map(|rerouting| rerouting.summarise(world.net.now, span.asleep_packets())),
        links: links
            .into_iter()
            .enumerate()
            .map(|(index, all)| {
                let gateway = world.controllers.gateway_summary(world.net.now, LinkId::new(index));
                link_summary(scenario, index, MeasuredLink { span, all, gateway })
            })
            .collect(),
        flows,
        stations: stations::summaries(&world.stations.outcomes(&world.net), scenario, world.baseline.at),
        phase: phases(&world.phase_edges, &whole, scenario),
    }
}

/// A link over the time measured, and what its gateway did, if it has one.
pub(super) struct MeasuredLink<'a> {
    pub span: Span<'a>,
    pub all: LinkPhase,
    pub gateway: Option<GatewaySummary>,
}

pub(super) fn link_summary(scenario: &Scenario, index: usize, measured: MeasuredLink<'_>) -> LinkSummary {
    let MeasuredLink { span, all, gateway } = measured;
    let (spec, counters) = (&scenario.links[index], span.counted(index));
    LinkSummary {
        name: spec.name.clone(),
        from: scenario.nodes[spec.from].clone(),
        to: scenario.nodes[spec.to].clone(),
        rate_bps: spec.rate.as_bps(),
        delay_s: spec.delay.as_secs_f64(),
        buffer: spec.buffer.to_string(),
        queue: spec.queue.kind(),
        offered_packets: all.offered_packets,
        offered_bytes: all.offered_bytes,
        dropped_packets: all.dropped_packets,
        managed_drops: counters.managed_drops,
        marked_packets: counters.marked_packets,
        lost_packets: all.lost_packets,
        asleep_packets: all.asleep_packets,
        asleep_s: all.asleep_s,
        delivered_packets: all.delivered_packets,
        delivered_bytes: all.delivered_bytes,
        drop_fraction: all.drop_fraction,
        throughput_bps: all.throughput_bps,
        utilisation: all.utilisation,
        mean_rate_bps: all.mean_rate_bps,
        rate_changes: all.rate_changes,
        mean_queue_packets: all.mean_queue_packets,
        max_queue_packets: counters.most_waiting,
        mean_wait_s: ratio(counters.waited_ns, counters.served_packets) * 1e-9,
        residency: residences(&span.residency(scenario, index)),
        gateway,
        energy: all.energy,
    }
}

fn residences(residency: &Residency) -> Vec<Residence> {
    if residency.in_service().len() > MOST_RATES {
        return Vec::new();
    }
    let mut residences: Vec<Residence> = residency
        .in_service()
        .iter()
        .map(|part| Residence {
            rate_bps: part.rate.as_bps(),
            seconds: part.time.as_secs_f64(),
            transition_seconds: 0.0,
        })
        .collect();
    for part in residency.in_transition() {
        match residences.binary_search_by_key(&part.new.as_bps(), |residence| residence.rate_bps) {
            Ok(at) => residences[at].transition_seconds += part.time.as_secs_f64(),
            Err(at) => residences.insert(
                at,
                Residence { rate_bps: part.new.as_bps(), seconds: 0.0, transition_seconds: part.time.as_secs_f64() },
            ),
        }
    }
    residences
}

fn flow_summary(world: &World, scenario: &Scenario, flow: FlowId, span: Span<'_>) -> FlowSummary {
    let (sender, receiver) = (AgentId::sender(flow).index(), AgentId::receiver(flow).index());
    let (base, all) = (&world.baseline, span.flow(flow));
    let common = FlowSummary {
        packets_sent: all.packets_sent,
        bytes_sent: world.hosts.agents[sender].counters.sent_bytes - base.agents[sender].sent_bytes,
        packets_dropped: all.packets_dropped,
        packets_marked: world.hosts.agents[receiver].counters.received_marked - base.agents[receiver].received_marked,
        loss_fraction: all.loss_fraction,
        delivered_bytes: all.delivered_bytes,
        goodput_bps: all.goodput_bps,
        ..FlowSummary::default()
    };
    let (datagrams, place) = (scenario.tcp_flows.len()..world.requests.first_flow.index(), flow.index());
    let (path, summary) = if place < datagrams.start {
        (&scenario.tcp_flows[place].path, tcp_summary(world, scenario, flow, common))
    } else if place < datagrams.end {
        let spec = &scenario.datagram_flows[place - datagrams.start];
        (&spec.path, FlowSummary { kind: spec.kind(), start_s: Some(spec.start.as_secs_f64()), ..common })
    } else {
        let spec = &scenario.request_flows[place - datagrams.end];
        (&spec.path, requests_summary(&world.requests.pools[place - datagrams.end], spec, common))
    };
    FlowSummary {
        name: path.name.clone(),
        from: scenario.nodes[path.from].clone(),
        to: scenario.nodes[path.to].clone(),
        ..summary
    }
}

fn tcp_summary(world: &World, scenario: &Scenario, flow: FlowId, common: FlowSummary) -> FlowSummary {
    let (connection, base, sender) =
        (&world.hosts.connections[flow.index()], &world.baseline, AgentId::sender(flow).index());
    let endpoint = &world.hosts.endpoints[sender];
    let (now, then) = (endpoint.counters(), &base.tcp[sender]);
    let lasted = (world.net.now - base.at.max(connection.opened.unwrap_or(world.net.now))).as_secs_f64();
    let completion = connection.completed.zip(connection.opened).map(|(completed, opened)| completed - opened);
    FlowSummary {
        kind: "tcp",
        start_s: connection.opened.map(Instant::as_secs_f64),
        retransmissions: now.retransmitted_segments - then.retransmitted_segments,
        timeouts: now.timeouts - then.timeouts,
        fast_retransmits: now.fast_retransmits - then.fast_retransmits,
        completion_time_s: completion.map(Duration::as_secs_f64),
        congestion_control: Some(scenario.tcp_flows[flow.index()].config.congestion_control.name()),
        segment_bytes: Some(endpoint.smss()),
        mean_cwnd_bytes: (lasted > 0.0).then(|| connection.cwnd_area / lasted),
        ..common
    }
}

fn requests_summary(pool: &Pool, spec: &RequestFlow, common: FlowSummary) -> FlowSummary {
    let (totals, measured) = (pool.totals_measured(), &pool.measured);
    let completions = measured.summarise();
    let seconds = |pick: fn(&Completions) -> Duration| completions.as_ref().map(|all| pick(all).as_secs_f64());
    FlowSummary {
        kind: "requests",
        start_s: Some(spec.start.as_secs_f64()),
        retransmissions: totals.retransmissions,
        timeouts: totals.timeouts,
        fast_retransmits: totals.fast_retransmits,
        congestion_control: Some(spec.config.congestion_control.name()),
        segment_bytes: pool.smss,
        requests_started: Some(measured.started),
        requested_bytes: Some(measured.bytes_requested),
        requests_completed: Some(measured.completions.len() as u64),
        completed_bytes: Some(measured.bytes_completed),
        mean_completion_s: seconds(|all| all.mean),
        p50_completion_s: seconds(|all| all.p50),
        p95_completion_s: seconds(|all| all.p95),
        p99_completion_s: seconds(|all| all.p99),
        max_completion_s: seconds(|all| all.max),
        most_open: Some(measured.most_open),
        ..common
    }
}

/// Table `rate`: the initial rate and every change of each link whose rate varies, or that sleeps, which is a rate of 0.
pub(super) fn rate_table(world: &World, scenario: &Scenario) -> Table {
    let log = |link: LinkId| {
        let log = world.net.links[link].variable().map_or(&[][..], |variable| variable.log());
        log.iter().map(|change| (change.at, change.rate)).collect()
    };
    rates_of(scenario, log, world.rerouting.as_deref(), world.net.now)
}

/// The same of a run up to `end`: `log` gives the initial rate and every change of a link whose rate varies.
pub(super) fn rates_of(
    scenario: &Scenario,
    log: impl Fn(LinkId) -> Vec<(Instant, BitRate)>,
    rerouting: Option<&Rerouting>,
    end: Instant,
) -> Table {
    let (mut times, mut links, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for (index, spec) in (0..).zip(&scenario.links) {
        let mut entry = |at: Instant, rate: u64| {
            times.push(at.as_secs_f64());
            links.push(index);
            rates.push(rate);
        };
        if spec.varies() {
            log(LinkId::numbered(index)).into_iter().for_each(|(at, rate)| entry(at, rate.as_bps()));
        } else if let Some(naps) = rerouting.map(|rerouting| rerouting.naps_of(LinkId::numbered(index), end))
            && !naps.is_empty()
        {
            entry(Instant::ZERO, spec.rate.as_bps());
            for (asleep, awake) in naps {
                entry(asleep, 0);
                awake.into_iter().for_each(|at| entry(at, spec.rate.as_bps()));
            }
        }
    }
    let columns =
        vec![("time_s", Column::Float(times)), ("link", Column::Index(links)), ("rate_bps", Column::Count(rates))];
    Table::new("rate", columns)
}
