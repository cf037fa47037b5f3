//! The summary of an emulated run. The functions of simulated runs compute it from the emulation's counts, so columns
//! and meanings are the same.

use super::hosts::AgentCounters;
use super::link_summary::LinkSummaries;
use super::phases::{Census, Counts, LowPower, PhaseEdges, Span, Whole, edges, phases};
use super::rerouting::Rerouting;
use super::stations;
use super::summary::{FlowSummary, Summary, rates_of};
use super::transfers::{Completions, Transfer};
use crate::net::ids::FlowId;
use crate::probe::{RequestRow, RequestTable, Table};
use crate::scenario::document::Verify;
use crate::scenario::{Scenario, ScenarioError, TransferSize};
use netlull_network::outcome::{self, FlowOutcome, NetworkMark, Outcome, ResidencyMark};
use netlull_network::plan::{FORMAT, Head};
use netlull_power::{RateTime, Residency, TransitionTime};
use netlull_tcp::Counters;
use netlull_units::{Duration, Instant};

/// The result of an emulated run, in the form of a simulated run.
#[derive(Debug)]
pub struct Emulated {
    /// Totals and means.
    pub summary: Summary,
    /// Recorded tables; always contains the table `rate`.
    pub tables: Vec<Table>,
}

/// Converts the counts of a scenario's emulation to a result.
///
/// # Errors
/// If the outcome belongs to another scenario or another version.
pub fn emulated(scenario: &Scenario, outcome: &Outcome) -> Result<Emulated, ScenarioError> {
    fits(scenario, outcome)?;
    let measured = (&outcome.marks[0], &outcome.marks[outcome.marks.len() - 1]);
    let whole = Whole::of(census(measured.0), census(measured.1));
    let span = whole.span();
    let of_flow = |flow: usize| flow_summary(scenario, outcome, flow, span);
    let flows: Vec<FlowSummary> = (0..outcome.flows.len()).map(of_flow).collect();
    let gateways = outcome.gateways.iter().enumerate().filter_map(|(index, gateway)| Some((index, (*gateway)?)));
    let summary = Summary {
        name: scenario.name.clone(),
        seed: scenario.seed,
        version: env!("CARGO_PKG_VERSION"),
        duration_s: scenario.duration.as_secs_f64(),
        warm_up_s: scenario.warm_up.as_secs_f64(),
        measured_s: span.time().as_secs_f64(),
        events: outcome.events,
        packet_hops: outcome.packet_hops,
        goodput_bps: span.bits_per_second(flows.iter().map(|flow| flow.delivered_bytes).sum()),
        recording: None,
        verify: Verify::Off,
        checks: 0,
        network: span.network(scenario),
        routing: Rerouting::new(scenario)
            .map(|rerouting| rerouting.of_emulation(measured.0, measured.1, span.asleep_packets())),
        flows,
        stations: stations::summaries(&outcome.stations, scenario, outcome.marks[0].at),
        phase: phases(&PhaseEdges::of(outcome.marks.iter().map(census).collect()), &whole, scenario, |flow| {
            transfers(scenario, outcome, flow.index())
        }),
        links: LinkSummaries::new(scenario, whole, gateways.collect()),
    };
    Ok(Emulated { summary, tables: tables(scenario, outcome) })
}

/// The transfers of a flow. Flows without a size have none.
fn transfers(scenario: &Scenario, outcome: &Outcome, flow: usize) -> Vec<Transfer> {
    let own = &outcome.flows[flow];
    match scenario.tcp_flows.get(flow) {
        Some(spec) if spec.size == TransferSize::Endless => Vec::new(),
        Some(_) => own
            .opened
            .map(|start| Transfer { start, completion: own.completed.map(|completed| completed - start) })
            .into_iter()
            .collect(),
        None => own
            .requests
            .iter()
            .map(|request| Transfer { start: request.start, completion: request.completion })
            .collect(),
    }
}

fn fits(scenario: &Scenario, outcome: &Outcome) -> Result<(), ScenarioError> {
    let wrong = |message: String| Err(ScenarioError::new("outcome", message));
    check_format(Head { format: outcome.format })?;
    let (links, flows) = (scenario.links.len(), scenario.flow_paths().count());
    let edges = edges(scenario);
    let same = outcome.marks.iter().map(|mark| mark.at).eq(edges.iter().copied())
        && outcome.marks.iter().all(|mark| (mark.links.len(), mark.flows.len()) == (links, flows))
        && (outcome.gateways.len(), outcome.rates.len(), outcome.flows.len()) == (links, links, flows)
        && outcome.stations.len() == scenario.stations.len();
    if same {
        return Ok(());
    }
    wrong("is of another scenario; expected its links, flows, stations and marks".to_owned())
}

fn census(mark: &NetworkMark) -> Census {
    let agents = mark.flows.iter().flat_map(|flow| {
        let sender =
            AgentCounters { sent_packets: flow.sent_packets, sent_bytes: flow.sent_bytes, ..AgentCounters::default() };
        let receiver = AgentCounters {
            received_marked: flow.marked_packets,
            dropped_packets: flow.dropped_packets,
            ..AgentCounters::default()
        };
        [sender, receiver]
    });
    let tcp = mark.flows.iter().flat_map(|flow| {
        let sender = Counters {
            retransmitted_segments: flow.retransmissions,
            timeouts: flow.timeouts,
            fast_retransmits: flow.fast_retransmits,
            ..Counters::default()
        };
        [sender, Counters::default()]
    });
    let low_power = mark.links.iter().enumerate().filter_map(|(index, link)| Some((index, link.low_power?)));
    let counters = Counts {
        at: mark.at,
        links: mark.links.iter().map(|link| link.counters).collect(),
        agents: agents.collect(),
        tcp: tcp.collect(),
        delivered: mark.flows.iter().map(|flow| flow.delivered_bytes).collect(),
        rate_changes: mark.links.iter().map(|link| link.rate_changes).collect(),
        low_power: LowPower::from_iter(low_power),
    };
    let links = mark.links.iter().enumerate();
    let residencies = links.filter_map(|(index, link)| Some((index, residency(link.residency.as_ref()?))));
    Census::new(counters, residencies.collect())
}

fn residency(mark: &ResidencyMark) -> Residency {
    let in_service = mark.in_service.iter().map(|&(rate, time)| RateTime { rate, time });
    let in_transition = mark.in_transition.iter().map(|&(old, new, time)| TransitionTime { old, new, time });
    Residency::from_parts(in_service.collect(), in_transition.collect(), mark.changes)
}

fn flow_summary(scenario: &Scenario, outcome: &Outcome, flow: usize, span: Span<'_>) -> FlowSummary {
    let (first, last) = (&outcome.marks[0].flows[flow], &outcome.marks[outcome.marks.len() - 1].flows[flow]);
    let (all, own) = (span.flow(FlowId::new(flow)), &outcome.flows[flow]);
    let common = FlowSummary {
        packets_sent: all.packets_sent,
        bytes_sent: last.sent_bytes - first.sent_bytes,
        packets_dropped: all.packets_dropped,
        packets_marked: last.marked_packets - first.marked_packets,
        loss_fraction: all.loss_fraction,
        delivered_bytes: all.delivered_bytes,
        goodput_bps: all.goodput_bps,
        retransmissions: last.retransmissions - first.retransmissions,
        timeouts: last.timeouts - first.timeouts,
        fast_retransmits: last.fast_retransmits - first.fast_retransmits,
        ..FlowSummary::default()
    };
    let datagrams = scenario.tcp_flows.len()..scenario.tcp_flows.len() + scenario.datagram_flows.len();
    let (path, summary) = if flow < datagrams.start {
        let spec = &scenario.tcp_flows[flow];
        let completion = own.completed.zip(own.opened).map(|(completed, opened)| completed - opened);
        let tcp = FlowSummary {
            kind: "tcp",
            start_s: own.opened.map(Instant::as_secs_f64),
            completion_time_s: completion.map(Duration::as_secs_f64),
            congestion_control: Some(spec.config.congestion_control.name().to_owned()),
            segment_bytes: own.segment_bytes,
            mean_cwnd_bytes: own.mean_cwnd_bytes,
            ..common
        };
        (&spec.path, tcp)
    } else if datagrams.contains(&flow) {
        let spec = &scenario.datagram_flows[flow - datagrams.start];
        (&spec.path, FlowSummary { kind: spec.kind(), start_s: Some(spec.start.as_secs_f64()), ..common })
    } else {
        let spec = &scenario.request_flows[flow - datagrams.end];
        let name = spec.config.congestion_control.name().to_owned();
        let requests = requests(own, outcome.marks[0].at);
        let flow = FlowSummary {
            kind: "requests",
            start_s: Some(spec.start.as_secs_f64()),
            congestion_control: Some(name),
            segment_bytes: own.segment_bytes,
            retransmissions: common.retransmissions,
            timeouts: common.timeouts,
            fast_retransmits: common.fast_retransmits,
            ..requests.over(common)
        };
        (&spec.path, flow)
    };
    FlowSummary {
        name: path.name.clone(),
        from: scenario.nodes[path.from].clone(),
        to: scenario.nodes[path.to].clone(),
        ..summary
    }
}

/// Requests that arrived in the measured time.
struct Requests {
    started: u64,
    requested: u128,
    completed: u64,
    completed_bytes: u64,
    times: Option<Completions>,
    most_open: u32,
}

fn requests(own: &FlowOutcome, measured: Instant) -> Requests {
    let came: Vec<_> = own.requests.iter().filter(|request| request.start >= measured).collect();
    let complete = || came.iter().filter_map(|request| Some((request.size, request.completion?)));
    Requests {
        started: came.len() as u64,
        requested: came.iter().map(|request| u128::from(request.size)).sum(),
        completed: complete().count() as u64,
        completed_bytes: complete().map(|(size, _)| size).sum(),
        times: Completions::of(complete().map(|(_, time)| time.as_nanos()).collect()),
        most_open: own.most_open,
    }
}

impl Requests {
    fn over(&self, common: FlowSummary) -> FlowSummary {
        let seconds = |pick: fn(&Completions) -> Duration| self.times.as_ref().map(|all| pick(all).as_secs_f64());
        FlowSummary {
            requests_started: Some(self.started),
            requested_bytes: Some(self.requested),
            requests_completed: Some(self.completed),
            completed_bytes: Some(self.completed_bytes),
            mean_completion_s: seconds(|all| all.mean),
            p50_completion_s: seconds(|all| all.p50),
            p95_completion_s: seconds(|all| all.p95),
            p99_completion_s: seconds(|all| all.p99),
            max_completion_s: seconds(|all| all.max),
            most_open: Some(self.most_open),
            ..common
        }
    }
}

/// The table `rate`, the recorded tables, and the table `request`.
fn tables(scenario: &Scenario, outcome: &Outcome) -> Vec<Table> {
    let (rerouting, end) = (Rerouting::new(scenario), Instant::ZERO + scenario.duration);
    let mut tables = vec![rates_of(scenario, |link| outcome.rates[link.index()].clone(), rerouting.as_deref(), end)];
    tables.extend(outcome.tables.iter().cloned());
    if scenario.probe.requests {
        let mut table = RequestTable::default();
        for (flow, own) in (0..).zip(&outcome.flows) {
            for request in &own.requests {
                let outcome::RequestOutcome { start, size, completion, retransmissions, timeouts } = *request;
                table.push(&RequestRow { flow, start, size, completion, retransmissions, timeouts });
            }
        }
        tables.push(table.into_table());
    }
    tables.sort_by_key(|table| ORDER.iter().position(|known| *known == table.name));
    tables
}

/// Checks that an outcome has a supported format, before the rest is read.
///
/// # Errors
/// If the format is not supported.
pub fn check_format(head: Head) -> Result<(), ScenarioError> {
    let Head { format } = head;
    if format == FORMAT {
        return Ok(());
    }
    let message = format!("has format {format}; expected {FORMAT}: use netlulld and netlull of one version");
    Err(ScenarioError::new("outcome", message))
}

/// The order of tables in a simulated run.
const ORDER: [&str; 11] =
    ["rate", "link", "flow", "window", "drop", "gateway", "request", "arrivals", "radio", "air", "burst"];
