//! A link's controller: a mechanism, and the link's own options for it.

use super::InService;
use netlull_describe::{Fields, Tagged, schema_of_kind, tagged, unknown_kind};
use netlull_mechanism::machines::LinkMechanism;
use netlull_power::TransitionPower;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;

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

impl<'de> Deserialize<'de> for ControllerDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kinds = LinkMechanism::KINDS.iter().map(|kind| format!("\"{}\"", kind.name));
        let expected = kinds.collect::<Vec<_>>().join(" ");
        let Tagged { kind: name, fields } = tagged(deserializer, &expected)?;
        let kind = LinkMechanism::kind(&name).ok_or_else(|| unknown_kind::<D::Error>(&name, &expected))?;
        let mut fields = Fields::new(fields);
        let rate = kind.changes_rate.then(|| fields.part::<_, D::Error>()).transpose()?;
        let segments = kind.reads_segments.then(|| fields.part::<_, D::Error>()).transpose()?;
        let parameters = fields.rest::<D::Error>(&(kind.fields)())?;
        let mechanism = kind.read(&parameters).map_err(|error| error.custom::<D::Error>())?;
        Ok(Self { mechanism, rate, segments })
    }
}

impl JsonSchema for ControllerDocument {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("ControllerDocument")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds: Vec<Value> = LinkMechanism::KINDS
            .iter()
            .map(|kind| {
                let mut options = Vec::new();
                if kind.changes_rate {
                    options.push(RateOptions::json_schema(generator));
                }
                if kind.reads_segments {
                    options.push(SegmentOptions::json_schema(generator));
                }
                schema_of_kind(kind.name, (kind.schema)(generator), &options)
            })
            .collect();
        let description =
            "A controller that scales a link's rate, steers the windows of the TCPs that cross it, or both.";
        json_schema!({ "description": description, "oneOf": kinds })
    }
}
