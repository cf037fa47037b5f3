//! The interface to the emulation. It converts a scenario to a [`Plan`], and an [`Outcome`] to the summary and tables of
//! a simulated run.
//!
//! The emulator (`netlulld`) does not know scenarios, and this crate does not know real packets.

pub use crate::run::{Emulated, check_format, emulated};
pub use netlull_network::outcome::Outcome;
pub use netlull_network::plan::Head;

use crate::net::ids::{FlowId, LinkId, NodeId};
use crate::net::routing::NextHop;
use crate::run::{edges, routing_plan};
use crate::scenario::document::Verify;
use crate::scenario::{
    Capacity, ControlSpec, DatagramFlow, FlowPath, LinkSpec, RequestFlow, Scenario, ScenarioError, StationSpec,
    TcpFlow, TransferSize, listed,
};
use crate::traffic::{DatagramSource, RequestSource};
use netlull_mechanism::{link, station};
use netlull_network::plan::{ControlPlan, FORMAT, FlowPlan, LinkPlan, Plan, ProbePlan, StationPlan, TcpPlan, Traffic};
use netlull_network::random::Stream;
use netlull_network::trace::Trace;
use netlull_tcp::{Algorithm, Config, Ecn, InitialWindow, LossRecovery};
use netlull_units::{BitRate, Bytes, Duration, Instant};
use serde_json::Value;

/// The maximum number of emulated hosts. Each host has a network namespace.
const MOST_HOSTS: usize = 250;
/// The most datagrams or requests of a flow: a plan lists them, and real time allows fewer.
const MOST_ARRIVALS: usize = 10_000_000;

/// The emulation plan of a scenario.
///
/// It keeps the links and mechanisms, draws random arrivals from the seed, and maps TCP options to those of a real
/// kernel.
///
/// # Errors
/// Names the part of the scenario that cannot be emulated, and the supported alternatives.
pub fn plan(scenario: &Scenario) -> Result<Plan, ScenarioError> {
    if scenario.recording.is_some() {
        return refuse("recording", "needs a first, simulated run; expected a scenario without a recording");
    }
    let hosts = scenario.hosts();
    if hosts.len() > MOST_HOSTS {
        let message = format!("has {} hosts with traffic; expected at most {MOST_HOSTS}", hosts.len());
        return refuse("flow", message);
    }
    if let Some(link) = scenario.links.iter().find(|link| link.air.is_some()) {
        let message = "names a shared air, which only the simulator has; expected a link without it";
        return refuse(format!("link.{}.air", link.name), message);
    }
    for LinkSpec { name, control, .. } in scenario.links.iter() {
        if let Some(link::Config::PlugIn(plug_in)) = control.as_ref().map(|control| &control.mechanism)
            && is_of_this_program(plug_in.factory().table().as_ref())
        {
            let message = format!("is \"{}\", a custom controller of this program", plug_in.factory().name());
            return refuse(format!("link.{name}.controller"), format!("{message}; expected one of netlull's own"));
        }
    }
    for StationSpec { node, mechanism, .. } in &scenario.stations {
        if let Some(station::Config::PlugIn(plug_in)) = mechanism
            && is_of_this_program(plug_in.0.table().as_ref())
        {
            let message = format!("is \"{}\", a custom machine of this program", plug_in.0.name());
            let field = format!("station.{}.mechanism", scenario.nodes[*node]);
            return refuse(field, format!("{message}; expected one of netlull's own"));
        }
    }
    let tcp = scenario.tcp_flows.iter().map(|flow| tcp_flow(scenario, flow));
    let datagrams = scenario.datagram_flows.iter().map(|flow| datagram_flow(scenario, flow));
    let requests = scenario.request_flows.iter().map(|flow| request_flow(scenario, flow));
    let flows: Vec<FlowPlan> = tcp.chain(datagrams).chain(requests).collect::<Result<_, _>>()?;
    Ok(Plan {
        format: FORMAT,
        name: scenario.name.clone(),
        duration: scenario.duration,
        marks: edges(scenario),
        seed: scenario.seed,
        mtu: scenario.mtu,
        nodes: scenario.nodes.to_vec(),
        links: scenario.links.iter().map(|spec| link(scenario, spec)).collect(),
        routes: routes(scenario, &hosts),
        routing: routing_plan(scenario, &hosts),
        flows,
        stations: scenario.stations.iter().map(station).collect(),
        probe: probe(scenario),
        differences: differences(scenario),
    })
}

/// Returns true for a part that netlulld does not have: one without a table, or a class in Python.
fn is_of_this_program(table: Option<&Value>) -> bool {
    table.is_none_or(|table| table["kind"] == "python")
}

fn refuse<T>(field: impl Into<String>, message: impl Into<String>) -> Result<T, ScenarioError> {
    Err(ScenarioError::new(field, message))
}

impl Scenario {
    /// Nodes where flows begin or end, in ascending order.
    fn hosts(&self) -> Vec<usize> {
        let mut hosts: Vec<usize> = self.flow_paths().flat_map(|path| [path.from, path.to]).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts
    }
}

fn routes(scenario: &Scenario, hosts: &[usize]) -> Vec<Vec<Option<u32>>> {
    let hop = |node: usize, destination: usize| {
        if hosts.binary_search(&destination).is_err() {
            return None;
        }
        match scenario.routes.next_hop(NodeId::new(node), NodeId::new(destination)) {
            NextHop::Link(link) | NextHop::Ahead(link) | NextHop::Changeable(link) => Some(link.number()),
            NextHop::Here | NextHop::Unreachable => None,
        }
    };
    let nodes = scenario.nodes.len();
    (0..nodes).map(|node| (0..nodes).map(|destination| hop(node, destination)).collect()).collect()
}

fn link(scenario: &Scenario, spec: &LinkSpec) -> LinkPlan {
    LinkPlan {
        name: spec.name.clone(),
        from: NodeId::new(spec.from).number(),
        to: NodeId::new(spec.to).number(),
        rate: spec.first_rate(),
        overhead: spec.overhead,
        delay: spec.delay,
        buffer: spec.buffer,
        queue: spec.queue,
        loss: spec.loss.as_deref().cloned(),
        arrival: spec.arrival.clone(),
        control: spec.control.as_deref().map(control),
        steps: spec.capacity.as_ref().and_then(|capacity| steps(scenario, spec, capacity)),
        trace: spec.trace().map(|trace| Trace::clone(trace)),
    }
}

fn control(control: &ControlSpec) -> ControlPlan {
    ControlPlan {
        mechanism: control.mechanism.clone(),
        link: control.link,
        acknowledgements: control.acknowledgements.map(|link| LinkId::new(link).number()),
        coupled_with: control.coupled_with.map(|link| LinkId::new(link).number()),
        naps: control.naps.clone(),
        in_service: control.in_service,
    }
}

/// A capacity's changes, drawn in the same way as in the simulator; `None` for a trace.
fn steps(scenario: &Scenario, spec: &LinkSpec, capacity: &Capacity) -> Option<Vec<(Instant, BitRate)>> {
    match capacity {
        Capacity::Trace(_) => None,
        // The link starts with the rate of a step at 0 s.
        Capacity::Steps(steps) => Some(steps.iter().copied().filter(|(at, _)| *at > Instant::ZERO).collect()),
        Capacity::Redraws { min, max, mean_interval } => {
            let mut stream = Stream::new(scenario.seed, &format!("capacity.{}", spec.name));
            let (mut steps, mut at) = (Vec::new(), Instant::ZERO);
            loop {
                at += stream.exponential(*mean_interval);
                if at > Instant::ZERO + scenario.duration {
                    return Some(steps);
                }
                steps.push((at, BitRate::from_bps(stream.between(min.as_bps(), max.as_bps() + 1))));
            }
        }
    }
}

fn flow(path: &FlowPath, traffic: Traffic) -> FlowPlan {
    let [from, to] = [path.from, path.to].map(|node| NodeId::new(node).number());
    FlowPlan { name: path.name.clone(), from, to, traffic }
}

fn tcp_flow(scenario: &Scenario, spec: &TcpFlow) -> Result<FlowPlan, ScenarioError> {
    let mut stream = Stream::new(scenario.seed, &format!("start.{}", spec.path.name));
    let jitter = match spec.jitter.as_nanos() {
        0 => Duration::ZERO,
        below => Duration::from_nanos(stream.between(0, below)),
    };
    let size = match spec.size {
        TransferSize::Endless => None,
        TransferSize::Bytes(size) => Some(size.as_u64()),
    };
    // The interval between two writes is the size of a write divided by the rate.
    let writes = spec.writes.map(|writes| (writes.rate.time_for(Bytes::new(u64::from(writes.size))), writes.size));
    let stop = (spec.stop != Instant::NEVER).then_some(spec.stop);
    let tcp = tcp(&spec.path, &spec.config)?;
    Ok(flow(&spec.path, Traffic::Tcp { start: spec.start + jitter, size, stop, writes, tcp }))
}

/// The arrivals of a flow, which a plan lists.
fn arrivals_of<T>(path: &FlowPath, arrivals: impl Iterator<Item = T>) -> Result<Vec<T>, ScenarioError> {
    let listed: Vec<T> = arrivals.take(MOST_ARRIVALS + 1).collect();
    if listed.len() > MOST_ARRIVALS {
        let message = format!("has more than {MOST_ARRIVALS} arrivals; expected at most that in an emulation");
        return refuse(format!("flow.{}", path.name), message);
    }
    Ok(listed)
}

fn datagram_flow(scenario: &Scenario, spec: &DatagramFlow) -> Result<FlowPlan, ScenarioError> {
    let (mut source, end) = (DatagramSource::new(spec, scenario.seed), Instant::ZERO + scenario.duration);
    let packets = std::iter::from_fn(|| {
        let (now, size) = (source.next(), source.size());
        (now <= end).then(|| source.sent(now))?;
        Some((now, size))
    });
    Ok(flow(&spec.path, Traffic::Datagrams { packets: arrivals_of(&spec.path, packets)? }))
}

fn request_flow(scenario: &Scenario, spec: &RequestFlow) -> Result<FlowPlan, ScenarioError> {
    let (mut source, end) = (RequestSource::new(spec, scenario.seed), Instant::ZERO + scenario.duration);
    let requests = std::iter::from_fn(|| {
        let now = source.next();
        (now <= end).then(|| (now, source.take(now)))
    });
    let (requests, tcp) = (arrivals_of(&spec.path, requests)?, tcp(&spec.path, &spec.config)?);
    Ok(flow(&spec.path, Traffic::Requests { requests, most_open: spec.most_open, tcp }))
}

/// The TCP options requested from a real kernel. The kernel itself reports whether it has the algorithm.
fn tcp(path: &FlowPath, config: &Config) -> Result<TcpPlan, ScenarioError> {
    let Some(congestion_control) = config.congestion_control.info().and_then(|info| info.linux) else {
        let message = format!("is {}, which Linux does not have", config.congestion_control.name());
        let catalogue = Algorithm::catalogue().iter();
        let known: Vec<_> = catalogue.filter(|info| info.linux.is_some()).map(|info| info.name).collect();
        let expected = format!("one of {} in an emulation", known.join(", "));
        return refuse(format!("flow.{}.tcp.congestion_control", path.name), format!("{message}; expected {expected}"));
    };
    Ok(TcpPlan {
        congestion_control: congestion_control.to_owned(),
        mss: config.mss,
        timestamps: config.timestamps,
        window_scaling: config.flow_control.window_scaling,
        sack: matches!(config.recovery.loss_recovery, LossRecovery::Sack | LossRecovery::Rack),
        ecn: config.ecn != Ecn::Off,
        receive_buffer: config.flow_control.receive_buffer,
        send_buffer: config.flow_control.send_buffer,
        initial_window: match config.cwnd.initial_window {
            InitialWindow::Rfc6928 => 10,
            InitialWindow::Segments(segments) => segments,
        },
        nagle: config.nagle,
        min_rto: config.timer.min_rto,
    })
}

fn station(spec: &StationSpec) -> StationPlan {
    StationPlan {
        node: NodeId::new(spec.node).number(),
        access: NodeId::new(spec.access).number(),
        down: LinkId::new(spec.down).number(),
        up: LinkId::new(spec.up).number(),
        context: spec.context,
        mechanism: spec.mechanism.clone(),
    }
}

fn probe(scenario: &Scenario) -> ProbePlan {
    let probe = &scenario.probe;
    let links = match &probe.links {
        Some(chosen) => chosen.iter().copied().map(LinkId::new).collect(),
        None => LinkId::all(scenario.links.len()).collect::<Vec<_>>(),
    };
    let flows = match &probe.flows {
        Some(chosen) => chosen.iter().copied().map(FlowId::new).collect(),
        None => FlowId::all(scenario.flow_paths().count()).collect::<Vec<_>>(),
    };
    ProbePlan {
        interval: probe.interval,
        window: probe.window,
        drops: probe.drops,
        requests: probe.requests,
        stations: probe.stations,
        arrivals: probe.arrivals.iter().flatten().map(|&link| LinkId::new(link).number()).collect(),
        links: links.into_iter().map(LinkId::number).collect(),
        flows: flows.into_iter().map(FlowId::number).collect(),
    }
}

/// The differences from the simulation: options that the kernel cannot set, and values that are not recorded.
fn differences(scenario: &Scenario) -> Vec<String> {
    let tcp = scenario.tcp_flows.iter().map(|flow| (&flow.path.name, &flow.config));
    let requests = scenario.request_flows.iter().map(|flow| (&flow.path.name, &flow.config));
    // The flows by message, both in the order of the flows.
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, config) in tcp.chain(requests) {
        for text in flow_differences(config) {
            match said.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(name),
                None => said.push((text, vec![name])),
            }
        }
    }
    let mut differences: Vec<String> =
        said.into_iter().map(|(text, names)| format!("{}: {text}", named(&names))).collect();
    let probe = &scenario.probe;
    let unrecorded = [(probe.segments, "segments"), (probe.events, "events")];
    for (_, table) in unrecorded.into_iter().filter(|(wanted, _)| *wanted) {
        differences.push(format!("probe.{table}: is not recorded in an emulation"));
    }
    if scenario.verify == Verify::Replay {
        differences.push("verify: no verifier follows the packets of an emulation".to_owned());
    }
    differences
}

/// Names flows.
fn named(names: &[&str]) -> String {
    let flows = if names.len() == 1 { "flow" } else { "flows" };
    format!("{flows} {}", listed(names))
}

/// The differences between the kernel's TCP and a flow's TCP, a sentence each.
fn flow_differences(config: &Config) -> Vec<String> {
    let mut found = Vec::new();
    let others = not_asked_for(config);
    if !others.is_empty() {
        let others = others.join(", ");
        found.push(format!("{others} cannot be set in the kernel, which behaves as with preset = \"linux-6\""));
    }
    if config.congestion_control == Algorithm::Bbr {
        found.push("the kernel's bbr is version 1, the simulator's version 3".to_owned());
    }
    found
}

/// TCP options in which a flow differs from the preset `linux-6` and that a kernel cannot set.
fn not_asked_for(config: &Config) -> Vec<&'static str> {
    let linux = Config::linux_6().with(|c| {
        c.flow_control.receive_buffer = config.flow_control.receive_buffer;
        c.mss = config.mss;
    });
    let linux = linux.with_linux_6_quick_acks();
    let linux = linux.with_linux_6_algorithm(config.congestion_control.clone());
    let options = [
        (config.recovery.loss_recovery != linux.recovery.loss_recovery, "loss_recovery"),
        (config.recovery.window_reduction != linux.recovery.window_reduction, "window_reduction"),
        (config.acks.delayed_ack != linux.acks.delayed_ack, "delayed_ack"),
        (config.acks.quick_acks != linux.acks.quick_acks, "quick_acks"),
        (config.cwnd.cwnd_unit != linux.cwnd.cwnd_unit, "cwnd_unit"),
        (config.cwnd.hystart != linux.cwnd.hystart, "hystart"),
        (config.cwnd.growth != linux.cwnd.growth, "growth"),
        (config.recovery.limited_transmit != linux.recovery.limited_transmit, "limited_transmit"),
        (config.timer.initial_rto != linux.timer.initial_rto, "initial_rto"),
        (config.timer.max_rto != linux.timer.max_rto, "max_rto"),
        (config.cwnd.initial_ssthresh != linux.cwnd.initial_ssthresh, "initial_ssthresh"),
    ];
    options.into_iter().filter(|(differs, _)| *differs).map(|(_, name)| name).collect()
}
