//! Sleep plans: an algorithm that chooses the sleeping links, and the scenario's options for it.

use netlull_describe::{Fields, Tagged, schema_of_kind, tagged, unknown_kind};
use netlull_mechanism::topology::SleepAlgorithm;
use netlull_units::BitRate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// A plan that chooses the sleeping links among the scenario's duplex links (docs/models/estop.md).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanDocument {
    /// The algorithm with its parameters.
    #[serde(flatten)]
    pub algorithm: SleepAlgorithm,
    /// The options of an algorithm that reads the traffic.
    #[serde(flatten)]
    pub traffic: Option<TrafficOptions>,
    /// The options of every algorithm.
    #[serde(flatten)]
    pub network: NetworkOptions,
}

/// The traffic input of a plan.
///
/// Datagram and request flows count with their offered rates, and TCP flows with a common rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficOptions {
    /// Rate assumed for each TCP flow; default none.
    #[serde(default)]
    #[schemars(extend("x-source" = "own"))]
    pub tcp_rate: BitRate,
}

/// The part of the network that a plan may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkOptions {
    /// Nodes known to the plan, together with the links between them; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "names", "x-default" = "all", "x-source" = "reading"))]
    pub nodes: Option<Vec<String>>,
}

impl<'de> Deserialize<'de> for PlanDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let kinds = SleepAlgorithm::KINDS.iter().map(|kind| format!("\"{}\"", kind.name));
        let expected = kinds.collect::<Vec<_>>().join(" ");
        let Tagged { kind: name, fields } = tagged(deserializer, &expected)?;
        let kind = SleepAlgorithm::kind(&name).ok_or_else(|| unknown_kind::<D::Error>(&name, &expected))?;
        let mut fields = Fields::new(fields);
        let traffic = kind.reads_traffic.then(|| fields.part::<_, D::Error>()).transpose()?;
        let network = fields.part::<_, D::Error>()?;
        let names: Vec<String> = (kind.describe)().parameters.into_iter().map(|each| each.name).collect();
        let parameters = fields.rest::<D::Error>(&names)?;
        let algorithm = kind.read(&parameters).map_err(|error| error.custom::<D::Error>())?;
        Ok(Self { algorithm, traffic, network })
    }
}

impl JsonSchema for PlanDocument {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("PlanDocument")
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds: Vec<Value> = SleepAlgorithm::KINDS
            .iter()
            .map(|kind| {
                let traffic = kind.reads_traffic.then(|| TrafficOptions::json_schema(generator));
                let options: Vec<Schema> =
                    traffic.into_iter().chain([NetworkOptions::json_schema(generator)]).collect();
                schema_of_kind(kind.name, (kind.schema)(generator), &options)
            })
            .collect();
        let description =
            "A plan that chooses the links that sleep, among the scenario's duplex links (docs/models/estop.md).";
        json_schema!({ "description": description, "oneOf": kinds })
    }
}
