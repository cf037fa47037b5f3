//! Arrivals that are recorded and replayed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams at recorded times with recorded sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayDocument {
    /// The flow's name.
    pub name: String,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// The packets: nanoseconds since the start, which do not decrease, and bytes on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Vec<(u64, u32)>>,
    /// A file with a packet on each line, its time and its bytes, which becomes `arrivals` when the scenario is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Runs the scenario first as it stands, without what `without` names, and records the packets that `flows` offer to `link`.
/// Then runs it with one open-loop source in place of these flows, which sends these packets at these times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordingDocument {
    /// The link to which the packets are offered; the source is at the node where it begins.
    pub link: String,
    /// The flows whose packets are recorded, and that are replaced.
    #[schemars(length(min = 1))]
    pub flows: Vec<String>,
    /// What the first run is without: paths, such as `link.N1-N2.controller`.
    #[serde(default)]
    pub without: Vec<String>,
    /// Name of the flow that replays.
    #[serde(default = "default_name")]
    pub name: String,
    /// Where the packets go; default where these flows go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

fn default_name() -> String {
    "replay".to_owned()
}
