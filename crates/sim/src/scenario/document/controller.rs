//! A link's controller: a mechanism, and the link's own options for it.

use super::InService;
use netlull_describe::table_of_kind;
use netlull_mechanism::machines::LinkMechanism;
use netlull_power::TransitionPower;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A controller that changes a link's rate, the windows of the TCP flows that cross it, or both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ControllerDocument {
    /// The controller with its parameters.
    #[serde(flatten)]
    pub mechanism: LinkMechanism,
    /// The link options for controllers that change its rate.
    #[serde(flatten)]
    pub rate: Option<RateOptions>,
    /// The link options for controllers that read segments.
    #[serde(flatten)]
    pub segments: Option<SegmentOptions>,
}

/// The link options for a controller that changes its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateOptions {
    /// Treatment of the packet in service when the rate changes.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub in_service: InService,
    /// Rate that determines the power while the link pauses for a change.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub transition_power: TransitionPower,
}

/// The link options for a controller that reads segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SegmentOptions {
    /// Link that carries the acknowledgements; default the reverse link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "link", "x-default" = "the way back", "x-source" = "-"))]
    pub acknowledgements: Option<String>,
}

table_of_kind!(
    "A controller that scales a link's rate, steers the windows of the TCPs that cross it, or both.",
    ControllerDocument {
        mechanism: LinkMechanism::KINDS,
        rate: RateOptions if changes_rate,
        segments: SegmentOptions if reads_segments,
    }
);
