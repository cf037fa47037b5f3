//! A link's controller: a mechanism, and the link's own options for it.

use super::InService;
use netlull_document::table_of_kind;
use netlull_mechanism::machines::LinkMechanism;
use netlull_power::TransitionPower;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

table_of_kind! {
    /// A controller that changes a link's rate, the windows of the TCP flows that cross it, or both.
    pub struct ControllerDocument {
        /// The controller with its parameters.
        pub mechanism: LinkMechanism = LinkMechanism::KINDS,
        /// The link options for controllers that change its rate.
        pub rate: RateOptions if changes_rate,
        /// The link options for controllers that read segments.
        pub segments: SegmentOptions if reads_segments,
    }
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
    #[schemars(extend("x-unit" = "link", "x-default" = "the reverse link", "x-source" = "-"))]
    pub acknowledgements: Option<String>,
}
