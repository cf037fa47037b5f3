//! Recorded and replayed arrivals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

fn default_name() -> String {
    "replay".to_owned()
}
