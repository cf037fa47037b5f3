//! Totals and means of a run in the measured time.

use super::link_summary::LinkSummaries;
use super::phases::{Census, NetworkSummary, PhaseSummary, Residencies, Span, Whole, phases};
use super::pool::Pool;
use super::rerouting::{Rerouting, RoutingSummary};
use super::stations::{self, StationSummary};
use super::transfers::{Completions, Transfer};
use super::world::World;
use crate::net::ids::{AgentId, FlowId, LinkId};
use crate::net::link::Link;
use crate::probe::{Column, Table};
use crate::scenario::{RequestFlow, Scenario, TransferSize};
use netlull_network::outcome::ByName;
use netlull_units::{BitRate, Duration, Instant};
use serde::Serialize;

/// The results of a run.
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
    /// Duration of the warm-up.
    pub warm_up_s: f64,
    /// Duration of the measured time.
    pub measured_s: f64,
    /// Events handled.
    pub events: u64,
    /// Packets that crossed a link, counted at each link, since the start.
    pub packet_hops: u64,
    /// Bits per second delivered to applications, sum of all flows.
    pub goodput_bps: f64,
    /// The first run, which recorded the arrivals replayed here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingSummary>,
    /// The verifier of the run.
    pub verify: crate::scenario::document::Verify,
    /// The number of its checks.
    pub checks: u64,
    /// Sum over all links.
    pub network: NetworkSummary,
    /// Sleeping links and lost packets; null if routes never change.
    pub routing: Option<RoutingSummary>,
    /// Links, in the order of the scenario.
    pub links: LinkSummaries,
    /// Flows, TCP first.
    pub flows: Vec<FlowSummary>,
    /// Stations, in the order of the scenario.
    pub stations: Vec<StationSummary>,
    /// Parts of the run by name, if there are any.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub phase: ByName<PhaseSummary>,
}

impl Summary {
    /// The summary with empty lists of links and flows.
    #[must_use]
    pub fn head(&self) -> Self {
        Self { links: self.links.part(0..0), flows: Vec::new(), ..self.clone() }
    }
}

/// The recording of the first run. The summary contains no other results of that run.
#[derive(Clone, Debug, Serialize)]
pub struct RecordingSummary {
    /// The link with the recorded packets.
    pub link: String,
    /// The flow that replays them.
    pub flow: String,
    /// The number of packets.
    pub packets: u64,
    /// The total size of the packets on the wire, bytes.
    pub bytes: u64,
}

/// A flow in the measured time.
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
    /// Opening time; null if it never opened. For other flows, the planned time of the first packet, before jitter.
    pub start_s: Option<f64>,
    /// Packets sent: TCP's segments of any kind, or datagrams.
    pub packets_sent: u64,
    /// Bytes sent, on the wire.
    pub bytes_sent: u64,
    /// Packets from the sender that queues dropped, or that links or nodes lost.
    pub packets_dropped: u64,
    /// Packets from the sender that arrived with a mark (ECN).
    pub packets_marked: u64,
    /// Dropped / sent packets.
    pub loss_fraction: f64,
    /// Bytes delivered to the receiving application (TCP: in order, without headers; datagrams: on the wire).
    pub delivered_bytes: u64,
    /// Delivered bits per second.
    pub goodput_bps: f64,
    /// Retransmitted TCP segments.
    pub retransmissions: u64,
    /// TCP retransmission timeouts.
    pub timeouts: u64,
    /// TCP fast retransmits.
    pub fast_retransmits: u64,
    /// Fast retransmits that proved needless and were undone (option `undo`), if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub undone_fast_retransmits: u64,
    /// Timeouts that proved needless and were undone (option `undo`), if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    pub undone_timeouts: u64,
    /// Time from opening to the last acknowledged byte; null for unfinished transfers, and for anything but a single
    /// transfer.
    pub completion_time_s: Option<f64>,
    /// TCP's congestion control, by its name in scenarios; null for datagrams.
    pub congestion_control: Option<String>,
    /// Data in a full TCP segment, bytes; null for datagrams, and before a request has agreed on it.
    pub segment_bytes: Option<u32>,
    /// Mean congestion window over time, including the inflation of fast recovery; null for datagrams and requests.
    pub mean_cwnd_bytes: Option<f64>,
    /// Requests that arrived in the measured time. This and the following fields are null for other flows.
    ///
    /// The fields on completions cover those that were complete by the end of the run.
    pub requests_started: Option<u64>,
    /// Bytes requested.
    pub requested_bytes: Option<u128>,
    /// Completed requests: all data acknowledged.
    pub requests_completed: Option<u64>,
    /// Bytes of completed requests.
    pub completed_bytes: Option<u64>,
    /// Mean completion time, from the SYN to the last acknowledged byte; null without completed requests.
    pub mean_completion_s: Option<f64>,
    /// Median completion time: the smallest time that half of the requests do not exceed.
    pub p50_completion_s: Option<f64>,
    /// Smallest time that 95 % of the requests do not exceed.
    pub p95_completion_s: Option<f64>,
    /// Smallest time that 99 % of the requests do not exceed.
    pub p99_completion_s: Option<f64>,
    /// Maximum completion time.
    pub max_completion_s: Option<f64>,
    /// Maximum number of open connections. A connection is open from its SYN until none of its packets is left.
    pub most_open: Option<u32>,
}

/// The summary of a finished run, whose counters are in `last`.
pub(super) fn summarise(world: &World, scenario: &Scenario, last: Census, checks: u64) -> Summary {
    let whole = Whole::of(Census::new(world.baseline.clone(), Residencies::new()), last);
    let span = whole.span();
    let flows: Vec<FlowSummary> = world.hosts.flows().map(|flow| flow_summary(world, scenario, flow, span)).collect();
    let gateway = |link: LinkId| Some((link.index(), world.controllers.driver(link)?.summary(world.net.now)?));
    let gateways = LinkId::all(scenario.links.len()).filter_map(gateway).collect();
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
        network: span.network(scenario),
        routing: world.rerouting.as_ref().map(|rerouting| rerouting.summarise(world.net.now, span.asleep_packets())),
        flows,
        stations: stations::summaries(&world.stations.outcomes(&world.net), scenario, world.baseline.at),
        phase: phases(&world.phase_edges, &whole, scenario, |flow| transfers(world, flow)),
        links: LinkSummaries::new(scenario, whole, gateways),
    }
}

fn flow_summary(world: &World, scenario: &Scenario, flow: FlowId, span: Span<'_>) -> FlowSummary {
    let [sender, receiver] = [AgentId::sender(flow), AgentId::receiver(flow)];
    let (base, all) = (&world.baseline, span.flow(flow));
    let now = |agent: AgentId| world.hosts.agents[agent.index()].counters;
    let common = FlowSummary {
        packets_sent: all.packets_sent,
        bytes_sent: now(sender).sent_bytes - base.agent(sender).sent_bytes,
        packets_dropped: all.packets_dropped,
        packets_marked: now(receiver).received_marked - base.agent(receiver).received_marked,
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

/// The transfers of a flow. Flows without a size have none.
fn transfers(world: &World, flow: FlowId) -> Vec<Transfer> {
    if let Some(pool) = world.requests.pool_of(flow) {
        return world.requests.pools[pool].transfers();
    }
    let sized = world.hosts.connections.get(flow.index()).filter(|connection| connection.size != TransferSize::Endless);
    let opened = sized.and_then(|connection| Some((connection.opened?, connection.completed)));
    let transfer = |(start, completed): (Instant, Option<Instant>)| Transfer {
        start,
        completion: completed.map(|completed| completed - start),
    };
    opened.map(transfer).into_iter().collect()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn tcp_summary(world: &World, scenario: &Scenario, flow: FlowId, common: FlowSummary) -> FlowSummary {
    let (connection, base, sender) = (&world.hosts.connections[flow.index()], &world.baseline, AgentId::sender(flow));
    let endpoint = &world.hosts.endpoints[sender.index()];
    let (now, then) = (endpoint.counters(), base.endpoint(sender));
    let lasted = (world.net.now - base.at.max(connection.opened.unwrap_or(world.net.now))).as_secs_f64();
    let completion = connection.completed.zip(connection.opened).map(|(completed, opened)| completed - opened);
    FlowSummary {
        kind: "tcp",
        start_s: connection.opened.map(Instant::as_secs_f64),
        retransmissions: now.retransmitted_segments - then.retransmitted_segments,
        timeouts: now.timeouts - then.timeouts,
        fast_retransmits: now.fast_retransmits - then.fast_retransmits,
        undone_fast_retransmits: now.undone_fast_retransmits - then.undone_fast_retransmits,
        undone_timeouts: now.undone_timeouts - then.undone_timeouts,
        completion_time_s: completion.map(Duration::as_secs_f64),
        congestion_control: Some(scenario.tcp_flows[flow.index()].config.congestion_control.name().to_owned()),
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
        undone_fast_retransmits: totals.undone_fast_retransmits,
        undone_timeouts: totals.undone_timeouts,
        congestion_control: Some(spec.config.congestion_control.name().to_owned()),
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

/// The table `rate`: the initial rate and every change of each link with a varying rate. A sleeping link has rate 0.
pub(super) fn rate_table(world: &World, scenario: &Scenario) -> Table {
    let log = |link: LinkId| match world.net.links[link].variable() {
        Some(variable) => variable.log().iter().map(|change| (change.at, change.rate)).collect(),
        None => vec![(Instant::ZERO, scenario.links[link.index()].rate)],
    };
    rates_of(scenario, log, world.rerouting.as_deref(), world.net.now)
}

/// The table `rate` of a run up to `end`. `log` gives the initial rate and every change of a link with a varying rate.
pub(super) fn rates_of(
    scenario: &Scenario,
    log: impl Fn(LinkId) -> Vec<(Instant, BitRate)>,
    rerouting: Option<&Rerouting>,
    end: Instant,
) -> Table {
    let (mut times, mut links, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    for (index, spec) in (0..).zip(scenario.links.iter()) {
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
