//! Flows: TCP transfers, datagrams, recorded packets.

use super::frame::{FASTEST, Frame, Result, check, flow_path, node, refuse, start, stop_after, tcp_config};
use super::quantity::TransferSize;
use super::requests::{self, RequestsDocument};
use crate::traffic::sizes::LARGEST;
use crate::traffic::{ArrivalPattern, DatagramFlow, FlowPath, Record, RequestFlow};
use netlull_document::within;
use netlull_tcp::Config;
use netlull_tcp::TcpOptions as TcpDocument;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// A source of traffic.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum FlowDocument {
    /// A TCP connection, or `count` of them.
    Tcp(TcpFlowDocument),
    /// Datagrams at a constant rate.
    Cbr(CbrDocument),
    /// Datagrams of constant size whose arrivals are a Poisson process.
    Poisson(CbrDocument),
    /// Datagrams at a constant rate in bursts of exponential length, one burst per cycle.
    Bursts(BurstsDocument),
    /// Short-lived TCP connections with Poisson arrivals and random sizes.
    Requests(RequestsDocument),
    /// Recorded datagrams.
    Replay(ReplayDocument),
}

/// TCP transfers between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpFlowDocument {
    /// Name; with `count` above one, `NAME-1`, `NAME-2`, ...
    pub name: String,
    /// Node that opens the connection and sends data.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Opening time of the first connection.
    #[serde(default)]
    pub start: Duration,
    /// Time between the openings of successive connections.
    #[serde(default)]
    pub spacing: Duration,
    /// Upper limit of the random delay of each start, drawn uniformly.
    #[serde(default)]
    pub jitter: Duration,
    /// Number of connections.
    #[serde(default = "default_count")]
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// Amount of data per connection, at most 2^50 B.
    #[serde(default)]
    pub size: TransferSize,
    /// Time from which the application of the first connection writes no more data; default never.
    ///
    /// The connection closes when all earlier data is acknowledged. Without `write_rate`, that is the data sent before
    /// the stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Time between the stops of successive connections; default 0 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_spacing: Option<Duration>,
    /// Constant rate at which the application writes, data without headers; default unlimited.
    ///
    /// Writing starts when the connection opens. Without a rate, TCP always has data to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub write_rate: Option<BitRate>,
    /// Size of each write; default the data of a full segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_size: Option<Bytes>,
    /// Changes of the application's rate, sorted by time; default none. They need endless data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_steps: Vec<WriteStepDocument>,
    /// A sender of its own for each connection, behind an access link to `from`; default none.
    ///
    /// Nodes have the names of the connections. The access link is duplex and has an unlimited buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<AccessDocument>,
    /// TCP options of this flow. They take precedence over those of the scenario.
    #[serde(default)]
    pub tcp: TcpDocument,
}

impl TcpFlowDocument {
    /// The name of a connection, counted from 0.
    #[must_use]
    pub fn connection(&self, number: u32) -> String {
        match self.count {
            1 => self.name.clone(),
            _ => format!("{}-{}", self.name, number + 1),
        }
    }
}

/// A change of an application's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteStepDocument {
    /// Time of the change, after the opening of the connection.
    pub at: Duration,
    /// Rate from then on; 0 b/s for a pause. Default unlimited: TCP always has data to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-maximum" = FASTEST.to_string()))]
    pub rate: Option<BitRate>,
}

/// The access links of a flow's connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessDocument {
    /// Rate of each access link.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub rate: BitRate,
    /// Round trips of the connections: evenly spaced, or a list with one for each.
    pub round_trip: RoundTrips,
}

/// Two-way propagation delays of a flow's connections, access link included.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RoundTrips {
    /// The first and the last one.
    Spaced(RoundTripDocument),
    /// Every one, in the order of the connections.
    Each(Vec<Duration>),
}

impl<'de> Deserialize<'de> for RoundTrips {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if value.is_array() { within(&value).map(Self::Each) } else { within(&value).map(Self::Spaced) }
    }
}

/// Evenly spaced round trips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundTripDocument {
    /// Round trip of the first connection.
    pub from: Duration,
    /// Round trip of the last connection.
    pub to: Duration,
}

/// Datagrams at a constant or mean rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrDocument {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Rate on the wire, headers included.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub rate: BitRate,
    /// Size of each packet on the wire; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// Start time.
    #[serde(default)]
    pub start: Duration,
    /// Upper limit of the random delay of the start, drawn uniformly.
    #[serde(default)]
    pub jitter: Duration,
    /// Stop time; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Bursts on a fixed cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BurstsDocument {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Rate on the wire during a burst, headers included.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub rate: BitRate,
    /// Size of each packet on the wire; default the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// Time between the starts of two bursts. The next burst ends a burst that is still active.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub cycle: Duration,
    /// Mean of a burst's exponential length.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub mean_on: Duration,
    /// Start time of the first cycle.
    #[serde(default)]
    pub start: Duration,
    /// Stop time; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// Datagrams with recorded times and sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayDocument {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Packets: times in nanoseconds since the start, in ascending order, and bytes on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Vec<(u64, u32)>>,
    /// File with the time and bytes of a packet on each line. It becomes `arrivals` when the scenario is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A first run that records packets for a replay in the second run.
///
/// The first run is the scenario without the components in `without`. It records the packets that `flows` offer to
/// `link`. In the second run, an open-loop source replaces these flows. It sends the recorded packets at the recorded
/// times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordingDocument {
    /// Link of the recorded packets. The source is at the link's first node.
    pub link: String,
    /// Flows to record and to replace.
    #[schemars(length(min = 1))]
    pub flows: Vec<String>,
    /// Components to omit in the first run, as paths such as `link.N1-N2.controller`.
    #[serde(default)]
    pub without: Vec<String>,
    /// Name of the replay flow.
    #[serde(default = "default_name")]
    pub name: String,
    /// Destination of the packets; default the destination of the recorded flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

fn default_count() -> u32 {
    1
}

fn default_name() -> String {
    "replay".to_owned()
}

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
    /// Later changes of the writes, in the order of time.
    pub steps: Vec<WriteStep>,
    /// TCP options.
    pub config: Config,
}

impl TcpFlow {
    /// Returns true if its application acts after the opening.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.writes.is_some() || !self.steps.is_empty() || self.stop != Instant::NEVER
    }
}

/// A change of an application's writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteStep {
    /// Time of the change.
    pub at: Instant,
    /// The writes from then on; a rate of zero is a pause. `None` if TCP always has data to send.
    pub writes: Option<Writes>,
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

pub(super) fn flows(documents: &[FlowDocument], frame: &Frame<'_>) -> Result<Flows> {
    // Check these options even if every flow overrides them.
    tcp_config(frame, &TcpDocument::default(), "")?;
    let mut flows = Flows::default();
    let steady = |flow: &CbrDocument, pattern| steady_flow(frame, flow, pattern);
    for flow in documents {
        match flow {
            FlowDocument::Tcp(flow) => flows.tcp.extend(tcp_flows(frame, flow)?),
            FlowDocument::Cbr(flow) => flows.datagrams.push(steady(flow, ArrivalPattern::Constant)?),
            FlowDocument::Poisson(flow) => flows.datagrams.push(steady(flow, ArrivalPattern::Poisson)?),
            FlowDocument::Bursts(flow) => flows.datagrams.push(burst_flow(frame, flow)?),
            FlowDocument::Replay(flow) => flows.datagrams.push(replay_flow(frame, flow)?),
            FlowDocument::Requests(flow) => flows.requests.push(requests::request_flow(frame, flow)?),
        }
    }
    Ok(flows)
}

fn tcp_flows(frame: &Frame<'_>, flow: &TcpFlowDocument) -> Result<Vec<TcpFlow>> {
    let path = flow_path(&frame.nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    check(&field, flow)?;
    let first = start(&field, flow.start, frame)?;
    let config = tcp_config(frame, &flow.tcp, &field)?;
    let numbered = |number: u32| -> Result<FlowPath> {
        let name = flow.connection(number);
        let from = if flow.access.is_some() { node(&frame.nodes, &field, &name)? } else { path.from };
        Ok(FlowPath { name, from, to: path.to })
    };
    let writes = writes(flow, &field, &config)?;
    let opens = first + flow.spacing.saturating_mul(u64::from(flow.count.saturating_sub(1))) + flow.jitter;
    let steps = write_steps(flow, &field, &config, opens)?;
    if let TransferSize::Bytes(size) = flow.size
        && size.as_u64() > LARGEST
    {
        let message = format!("is {} B; expected at most {LARGEST} B, or \"endless\"", size.as_u64());
        return refuse(format!("{field}.size"), message);
    }
    let connection = |number: u32| {
        let start = first + flow.spacing.saturating_mul(u64::from(number));
        let stop = stop(flow, &field, number, start + flow.jitter)?;
        let (path, jitter, size) = (numbered(number)?, flow.jitter, flow.size);
        Ok(TcpFlow { path, start, jitter, size, stop, writes, steps: steps.clone(), config: config.clone() })
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
fn writes(flow: &TcpFlowDocument, field: &str, config: &Config) -> Result<Option<Writes>> {
    let Some(rate) = flow.write_rate else {
        if let Some(size) = flow.write_size.filter(|_| flow.write_steps.is_empty()) {
            let message = format!("is {} without a `write_rate`; expected also `write_rate`", size);
            return refuse(format!("{field}.write_size"), message);
        }
        return Ok(None);
    };
    Ok(Some(Writes { rate, size: write_size(flow, field, config)? }))
}

/// The changes of an application's rate. `opens` is the latest time at which a connection opens.
fn write_steps(flow: &TcpFlowDocument, field: &str, config: &Config, opens: Instant) -> Result<Vec<WriteStep>> {
    if let (TransferSize::Bytes(size), false) = (flow.size, flow.write_steps.is_empty()) {
        let message = format!("is set with a size of {} B; expected \"endless\" data with it", size.as_u64());
        return refuse(format!("{field}.write_steps"), message);
    }
    let size = write_size(flow, field, config)?;
    let mut last = opens;
    let step = |(index, step): (usize, &WriteStepDocument)| {
        let at = Instant::ZERO + step.at;
        if at <= last {
            let last = last - Instant::ZERO;
            let message = format!(
                "is {}; expected a time after the opening of the connection and the step before, {last}",
                step.at
            );
            return refuse(format!("{field}.write_steps.{index}.at"), message);
        }
        last = at;
        Ok(WriteStep { at, writes: step.rate.map(|rate| Writes { rate, size }) })
    };
    flow.write_steps.iter().enumerate().map(step).collect()
}

/// The size of a write.
#[allow(clippy::cast_possible_truncation)]
fn write_size(flow: &TcpFlowDocument, field: &str, config: &Config) -> Result<u32> {
    let size = flow.write_size.map_or(u64::from(config.full_segment()), |size| size.as_u64());
    if !(1..=LARGEST_WRITE).contains(&size) {
        let message = format!("is {size} B; expected 1 B to {LARGEST_WRITE} B");
        return refuse(format!("{field}.write_size"), message);
    }
    Ok(size as u32)
}

fn steady_flow(frame: &Frame<'_>, flow: &CbrDocument, pattern: ArrivalPattern) -> Result<DatagramFlow> {
    let field = format!("flow.{}", flow.name);
    check(&field, flow)?;
    let start = start(&field, flow.start, frame)?;
    Ok(DatagramFlow {
        path: flow_path(&frame.nodes, &flow.name, &flow.from, &flow.to)?,
        pattern,
        rate: flow.rate,
        size: datagram_size(&field, flow.packet, frame.mtu)?,
        start,
        jitter: flow.jitter,
        stop: stop_after(&field, flow.stop, start)?,
    })
}

fn burst_flow(frame: &Frame<'_>, flow: &BurstsDocument) -> Result<DatagramFlow> {
    let field = format!("flow.{}", flow.name);
    let (cycle, mean_on) = (flow.cycle, flow.mean_on);
    check(&field, flow)?;
    let start = start(&field, flow.start, frame)?;
    Ok(DatagramFlow {
        path: flow_path(&frame.nodes, &flow.name, &flow.from, &flow.to)?,
        pattern: ArrivalPattern::Bursts { cycle, mean_on },
        rate: flow.rate,
        size: datagram_size(&field, flow.packet, frame.mtu)?,
        start,
        jitter: Duration::ZERO,
        stop: stop_after(&field, flow.stop, start)?,
    })
}

#[allow(clippy::cast_possible_truncation)]
fn replay_flow(frame: &Frame<'_>, flow: &ReplayDocument) -> Result<DatagramFlow> {
    let path = flow_path(&frame.nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    let arrivals = match (&flow.arrivals, &flow.file) {
        (Some(arrivals), None) => arrivals,
        (None, Some(file)) => {
            let message = format!("\"{file}\" has not been read; expected its packets as `arrivals` by now");
            return refuse(format!("{field}.file"), message);
        }
        _ => return refuse(field, "has both or neither of `arrivals` and `file`; expected one of them"),
    };
    let mtu = frame.mtu.as_u64();
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
