//! Flows: ends, times, sizes, rates, and the options of TCP.

use super::{
    ArrivalPattern, DatagramFlow, FlowPath, Nodes, RequestFlow, Result, check, check_name, node, refuse, requests,
    two_nodes,
};
use crate::scenario::ScenarioError;
use crate::scenario::document::{
    BurstsDocument, CbrDocument, Document, FASTEST, FlowDocument, ReplayDocument, TcpDocument, TcpFlowDocument,
};
use crate::scenario::quantity::TransferSize;
use crate::traffic::Record;
use netlull_tcp::Config;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use std::sync::Arc;

/// A TCP connection.
#[derive(Clone, Debug)]
pub struct TcpFlow {
    /// Name and ends.
    pub path: FlowPath,
    /// Opening time, before jitter.
    pub start: Instant,
    /// Upper limit of the random delay of the opening, drawn uniformly.
    pub jitter: Duration,
    /// Amount of data.
    pub size: TransferSize,
    /// Time from which its application writes no data.
    pub stop: Instant,
    /// The writes of its application; `None` if TCP always has data to send.
    pub writes: Option<Writes>,
    /// TCP options.
    pub config: Config,
}

impl TcpFlow {
    /// Returns true if its application acts after the opening.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.writes.is_some() || self.stop != Instant::NEVER
    }
}

/// The writes of an application: `size` bytes when the connection opens, then again every 8 `size` / `rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Data rate.
    pub rate: BitRate,
    /// Size of a write, bytes.
    pub size: u32,
}

/// An IPv4 header and a UDP header.
const DATAGRAM_HEADER: u64 = 28;

/// The maximum size of an application's write, bytes.
const LARGEST_WRITE: u64 = 1_000_000_000;

/// IPv4 and TCP headers without options. The announced segment size does not count options (RFC 6691).
const HEADERS: u64 = 40;

/// The flows of a scenario.
#[derive(Debug, Default)]
pub(super) struct Flows {
    pub tcp: Vec<TcpFlow>,
    pub datagrams: Vec<DatagramFlow>,
    pub requests: Vec<RequestFlow>,
}

impl Flows {
    /// The paths, each with true if data is acknowledged, in the order of flow numbers: TCP, datagrams, requests.
    pub fn ways(&self) -> impl Iterator<Item = (&FlowPath, bool)> {
        let datagrams = self.datagrams.iter().map(|flow| (&flow.path, false));
        let requests = self.requests.iter().map(|flow| (&flow.path, true));
        self.tcp.iter().map(|flow| (&flow.path, true)).chain(datagrams).chain(requests)
    }

    /// The paths in the same order.
    pub fn paths(&self) -> impl Iterator<Item = &FlowPath> {
        self.ways().map(|(path, _)| path)
    }
}

pub(super) fn flows(document: &Document, nodes: &Nodes<'_>) -> Result<Flows> {
    // Check these options even if every flow overrides them.
    tcp_config(&document.tcp, &TcpDocument::default(), "", document.mtu)?;
    let mut flows = Flows::default();
    let steady = |flow: &CbrDocument, pattern| steady_flow(document, nodes, flow, pattern);
    for flow in &document.flow {
        match flow {
            FlowDocument::Tcp(flow) => flows.tcp.extend(tcp_flows(document, nodes, flow)?),
            FlowDocument::Cbr(flow) => flows.datagrams.push(steady(flow, ArrivalPattern::Constant)?),
            FlowDocument::Poisson(flow) => flows.datagrams.push(steady(flow, ArrivalPattern::Poisson)?),
            FlowDocument::Bursts(flow) => flows.datagrams.push(burst_flow(document, nodes, flow)?),
            FlowDocument::Replay(flow) => flows.datagrams.push(replay_flow(document, nodes, flow)?),
            FlowDocument::Requests(flow) => flows.requests.push(requests::request_flow(document, nodes, flow)?),
        }
    }
    Ok(flows)
}

pub(super) fn flow_path(nodes: &Nodes<'_>, name: &str, from: &str, to: &str) -> Result<FlowPath> {
    check_name("flow.name", name)?;
    let (from, to) = two_nodes(nodes, &format!("flow.{name}"), from, to)?;
    Ok(FlowPath { name: name.to_owned(), from, to })
}

/// Checks that a start is within the run.
pub(super) fn start(field: &str, start: Duration, document: &Document) -> Result<Instant> {
    if start >= document.duration {
        let message = format!("is {start}; expected a time before the run ends at {}", document.duration);
        return refuse(format!("{field}.start"), message);
    }
    Ok(Instant::ZERO + start)
}

/// The stop time of datagrams or requests; [`Instant::NEVER`] if none is given.
pub(super) fn stop_after(field: &str, stop: Option<Duration>, start: Instant) -> Result<Instant> {
    let stop = stop.map_or(Instant::NEVER, |stop| Instant::ZERO + stop);
    if stop <= start {
        let (stop, start) = (stop - Instant::ZERO, start - Instant::ZERO);
        return refuse(format!("{field}.stop"), format!("is {stop}; expected a time after the start, {start}"));
    }
    Ok(stop)
}

fn tcp_flows(document: &Document, nodes: &Nodes<'_>, flow: &TcpFlowDocument) -> Result<Vec<TcpFlow>> {
    let path = flow_path(nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    check(&field, flow)?;
    let first = start(&field, flow.start, document)?;
    let config = tcp_config(&document.tcp, &flow.tcp, &field, document.mtu)?;
    let numbered = |number: u32| -> Result<FlowPath> {
        let name = flow.connection(number);
        let from = if flow.access.is_some() { node(nodes, &field, &name)? } else { path.from };
        Ok(FlowPath { name, from, to: path.to })
    };
    let writes = writes(flow, &field, &config)?;
    let connection = |number: u32| {
        let start = first + flow.spacing.saturating_mul(u64::from(number));
        let stop = stop(flow, &field, number, start + flow.jitter)?;
        let (path, jitter, size) = (numbered(number)?, flow.jitter, flow.size);
        Ok(TcpFlow { path, start, jitter, size, stop, writes, config: config.clone() })
    };
    (0..flow.count).map(connection).collect()
}

/// The stop time of a connection's application. `opens` is the latest time at which the connection opens.
fn stop(flow: &TcpFlowDocument, field: &str, number: u32, opens: Instant) -> Result<Instant> {
    let spacing = flow.stop_spacing.unwrap_or(Duration::ZERO);
    let Some(first) = flow.stop else {
        if flow.stop_spacing.is_some() {
            let message =
                format!("is {spacing} without a `stop`; expected also `stop`, the stop time of the first connection");
            return refuse(format!("{field}.stop_spacing"), message);
        }
        return Ok(Instant::NEVER);
    };
    let stop = Instant::ZERO + first + spacing.saturating_mul(u64::from(number));
    if stop <= opens {
        let whose = match flow.count {
            1 => String::new(),
            _ => format!(" for connection {}", number + 1),
        };
        let (stop, opens) = (stop - Instant::ZERO, opens - Instant::ZERO);
        let message = format!("is {stop}{whose}; expected a time after its start and jitter, {opens}");
        return refuse(format!("{field}.stop"), message);
    }
    Ok(stop)
}

/// The size and rate of an application's writes.
#[allow(clippy::cast_possible_truncation)]
fn writes(flow: &TcpFlowDocument, field: &str, config: &Config) -> Result<Option<Writes>> {
    let Some(rate) = flow.write_rate else {
        if let Some(size) = flow.write_size {
            let message = format!("is {} without a `write_rate`; expected also `write_rate`", size);
            return refuse(format!("{field}.write_size"), message);
        }
        return Ok(None);
    };
    let size = flow.write_size.map_or(u64::from(config.full_segment()), |size| size.as_u64());
    if !(1..=LARGEST_WRITE).contains(&size) {
        let message = format!("is {size} B; expected 1 B to {LARGEST_WRITE} B");
        return refuse(format!("{field}.write_size"), message);
    }
    Ok(Some(Writes { rate, size: size as u32 }))
}

fn steady_flow(
    document: &Document,
    nodes: &Nodes<'_>,
    flow: &CbrDocument,
    pattern: ArrivalPattern,
) -> Result<DatagramFlow> {
    let field = format!("flow.{}", flow.name);
    check(&field, flow)?;
    let start = start(&field, flow.start, document)?;
    Ok(DatagramFlow {
        path: flow_path(nodes, &flow.name, &flow.from, &flow.to)?,
        pattern,
        rate: flow.rate,
        size: datagram_size(&field, flow.packet, document.mtu)?,
        start,
        jitter: flow.jitter,
        stop: stop_after(&field, flow.stop, start)?,
    })
}

fn burst_flow(document: &Document, nodes: &Nodes<'_>, flow: &BurstsDocument) -> Result<DatagramFlow> {
    let field = format!("flow.{}", flow.name);
    let (cycle, mean_on) = (flow.cycle, flow.mean_on);
    check(&field, flow)?;
    let start = start(&field, flow.start, document)?;
    Ok(DatagramFlow {
        path: flow_path(nodes, &flow.name, &flow.from, &flow.to)?,
        pattern: ArrivalPattern::Bursts { cycle, mean_on },
        rate: flow.rate,
        size: datagram_size(&field, flow.packet, document.mtu)?,
        start,
        jitter: Duration::ZERO,
        stop: stop_after(&field, flow.stop, start)?,
    })
}

#[allow(clippy::cast_possible_truncation)]
fn replay_flow(document: &Document, nodes: &Nodes<'_>, flow: &ReplayDocument) -> Result<DatagramFlow> {
    let path = flow_path(nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    let arrivals = match (&flow.arrivals, &flow.file) {
        (Some(arrivals), None) => arrivals,
        (None, Some(file)) => {
            let message = format!("\"{file}\" has not been read; expected its packets as `arrivals` by now");
            return refuse(format!("{field}.file"), message);
        }
        _ => return refuse(field, "has both or neither of `arrivals` and `file`; expected one of them"),
    };
    let mtu = document.mtu.as_u64();
    let (mut record, mut last) = (Record::default(), 0);
    for (index, &(time, size)) in arrivals.iter().enumerate() {
        let field = || format!("{field}.arrivals.{index}");
        if time < last {
            return refuse(field(), format!("is at {time} ns after {last} ns; expected times that do not decrease"));
        }
        if !(DATAGRAM_HEADER..=mtu).contains(&u64::from(size)) {
            let message = format!("has {size} B; expected {DATAGRAM_HEADER} B of headers to the MTU, {mtu} B");
            return refuse(field(), message);
        }
        record.push(time, size);
        last = time;
    }
    let pattern = ArrivalPattern::Replay(Arc::new(record));
    let (start, jitter, stop) = (Instant::ZERO, Duration::ZERO, Instant::NEVER);
    Ok(DatagramFlow { path, pattern, rate: FASTEST, size: mtu as u32, start, jitter, stop })
}

#[allow(clippy::cast_possible_truncation)]
fn datagram_size(field: &str, packet: Option<Bytes>, mtu: Bytes) -> Result<u32> {
    let size = packet.unwrap_or(mtu).as_u64();
    if !(DATAGRAM_HEADER..=mtu.as_u64()).contains(&size) {
        let message = format!("is {size} B; expected {DATAGRAM_HEADER} B of headers to the MTU, {} B", mtu.as_u64());
        return refuse(format!("{field}.packet"), message);
    }
    Ok(size as u32)
}

/// The configuration of a flow. Its own options come first, then the scenario's, then the preset's.
pub(super) fn tcp_config(scenario: &TcpDocument, flow: &TcpDocument, field: &str, mtu: Bytes) -> Result<Config> {
    let options = flow.over(scenario);
    // An error names the table with the option: the flow's, if it is set there, otherwise the scenario's.
    let refused = |option: &str, message: &str| {
        let own = serde_json::to_value(flow).is_ok_and(|table| table.get(option).is_some());
        let table = if own { format!("{field}.tcp") } else { "tcp".to_owned() };
        ScenarioError::new(format!("{table}.{option}"), message)
    };
    let mss = mss(&options, mtu).map_err(|message| refused("mss", &message))?;
    options.config(mss).map_err(|error| {
        if error.field() == "mss" && options.mss.is_none() {
            let why = format!("is {} B, which leaves TCP segments of {mss} B; expected more", mtu.as_u64());
            return ScenarioError::new("mtu", format!("{why} ({})", error.message()));
        }
        refused(error.field(), error.message())
    })
}

/// The given segment size, or the size from the MTU. An error if it exceeds the MTU.
fn mss(options: &TcpDocument, mtu: Bytes) -> std::result::Result<u16, String> {
    let most = mtu.as_u64() - HEADERS;
    let mss = options.mss.map_or(most, |size| size.as_u64());
    match u16::try_from(mss) {
        Ok(mss) if mss > 0 && u64::from(mss) <= most => Ok(mss),
        _ => Err(format!("is {mss} B; expected 1 to {most} B, the MTU less {HEADERS} B of headers")),
    }
}
