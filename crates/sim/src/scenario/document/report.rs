//! Measurements of a run: phases, power models, probes.

use netlull_power::PowerModel;
use netlull_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of the run with separate measurements. Phases may overlap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhaseDocument {
    /// Name in metrics such as `phase.NAME.link.LINK.mean_rate_bps`.
    pub name: String,
    /// Start time; default the end of the warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Duration>,
    /// End time; default the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Duration>,
}

/// A power model and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "docs/models/power.md"))]
pub struct PowerDocument {
    /// Name in results; default the model's name, with P_s if it is not zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "the model's", "x-source" = "-"))]
    pub name: Option<String>,
    /// Model from `netlull list power`, such as `fs`, `dvs` or `ncs-55a1-24h`.
    #[schemars(extend("x-unit" = PowerModel::names(" | "), "x-source" = "of the model"))]
    pub model: String,
    /// P_s as a fraction of the maximum power; ideal models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1.0, "x-default" = "0"))]
    #[schemars(extend("x-source" = "intertwining-2012 uses 0, .25, .5, .75; 0 is the upper bound on saving"))]
    pub static_fraction: Option<f64>,
    /// phi: the voltage scales down to u_max/phi; voltage-scaling models only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 1.0, "x-default" = "2", "x-source" = "intertwining-2012"))]
    pub phi: Option<f64>,
}

/// The time series to record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeDocument {
    /// Width of the bins of the tables `link` and `flow`. Without it, these tables are not recorded.
    ///
    /// A bin is written at its end. An incomplete last bin is not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Records every change of a congestion window (table `window`).
    #[serde(default)]
    pub window: bool,
    /// Records every dropped packet (table `drop`).
    #[serde(default)]
    pub drops: bool,
    /// Records every data segment of TCP senders (table `segment`).
    #[serde(default)]
    pub segments: bool,
    /// Records events of TCP senders: timeouts, fast retransmits, ends of recoveries (table `event`).
    #[serde(default)]
    pub events: bool,
    /// Records every request (table `request`).
    #[serde(default)]
    pub requests: bool,
    /// Records the activity of stations.
    ///
    /// The tables are `radio` (radio states), `air` (transmissions to and from the stations) and `burst` (bursts
    /// detected by shapers).
    #[serde(default)]
    pub stations: bool,
    /// Records every packet offered to these links (table `arrivals`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Vec<String>>,
    /// Links in the tables; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// Flows in the tables; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows: Option<Vec<String>>,
}

/// The ideal models without static power and one measured device.
pub(super) fn default_power() -> Vec<PowerDocument> {
    ["fs", "dvs", "ncs-55a1-24h"]
        .into_iter()
        .map(|model| PowerDocument { name: None, model: model.to_owned(), static_fraction: None, phi: None })
        .collect()
}
