//! Flows: TCP transfers, datagrams, recorded packets. Requests have their own file.

use super::{FASTEST, RequestsDocument, TcpDocument};
use crate::scenario::quantity::TransferSize;
use netlull_units::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// Amount of data per connection.
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

/// The access links of a flow's connections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessDocument {
    /// Rate of each access link.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub rate: BitRate,
    /// Round trips of the connections, evenly spaced.
    pub round_trip: RoundTripDocument,
}

/// Two-way propagation delays of a flow's connections, access link included.
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
