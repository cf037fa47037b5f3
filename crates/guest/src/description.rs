//! The texts of a module: its description, its settings and its errors, as JSON.

use crate::abi::{Kind, VERSION};
use netlull_document::ConfigError;
use netlull_mechanism::observe::Subscription;
use netlull_mechanism::radio::AccessPointConfig;
use netlull_mechanism::station::Serves;
use netlull_units::{BitRate, Duration};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The description of a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The version of the interface.
    pub netlull: u64,
    /// The name of a [`Kind`].
    pub kind: String,
    /// The name of the machine in results.
    pub name: String,
    /// The machine in one line.
    #[serde(default)]
    pub summary: String,
    /// True if a link controller needs the segments of arrivals and the returning acknowledgements.
    #[serde(default)]
    pub reads_segments: bool,
    /// The observations of a link controller that gets no events. Parameters `tick` and `transition` of the type
    /// `duration` set the interval of ticks and the pause of a [`Rate`](netlull_mechanism::observe::Decision::Rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subscription: Option<Subscription>,
    /// The traffic that a station's machine can serve: `everything`, `lasting_connections` or `one_download`.
    #[serde(default = "everything")]
    pub serves: String,
    /// The parameters, each of which takes one word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Declared>,
    /// The JSON Schema of the parameters of a module that reads them as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

/// The default of [`Description::serves`].
fn everything() -> String {
    serves_name(Serves::Everything).to_owned()
}

/// The name of [`Serves`] in descriptions.
#[must_use]
pub fn serves_name(serves: Serves) -> &'static str {
    match serves {
        Serves::Everything => "everything",
        Serves::LastingConnections => "lasting_connections",
        Serves::OneDownload => "one_download",
    }
}

impl Description {
    /// The description of a machine that reads its parameters as JSON.
    #[must_use]
    pub fn new(kind: Kind, name: &str, schema: Value) -> Self {
        let summary = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        Self {
            netlull: VERSION,
            kind: kind.name().to_owned(),
            name: name.to_owned(),
            summary: summary.split("\n\n").next().unwrap_or_default().replace('\n', " "),
            reads_segments: false,
            subscription: None,
            serves: everything(),
            parameters: Vec::new(),
            schema: Some(schema),
        }
    }
}

/// A parameter that takes one word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The name in documents.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub of: Type,
    /// The meaning.
    #[serde(default)]
    pub summary: String,
    /// The default, as in documents. Without it, a document must give the parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The least value, as in documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Value>,
    /// The largest value, as in documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Value>,
}

/// The type of a declared parameter, and its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// A number: the bits of a 64-bit float.
    Number,
    /// A whole number from 0.
    Integer,
    /// True or false: 1 or 0.
    Boolean,
    /// A duration such as "2 ms": nanoseconds.
    Duration,
    /// A bit rate such as "10 Mb/s": bit/s.
    Rate,
    /// An amount of data such as "15 kB": bytes.
    Bytes,
}

/// The settings that follow from the parameters of a module that reads them as JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The rate of a link at the start; by default the link's own.
    #[serde(default)]
    pub initial_rate: Option<BitRate>,
    /// The parameters of the access point that a station's machine requires.
    #[serde(default)]
    pub access_point: Option<AccessPointConfig>,
    /// The observations of a link controller, in place of those of the description.
    #[serde(default)]
    pub subscription: Option<Subscription>,
    /// The pause of a [`Rate`](netlull_mechanism::observe::Decision::Rate).
    #[serde(default)]
    pub transition: Duration,
}

/// An error of a module about a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The field.
    pub field: String,
    /// Its value.
    pub value: String,
    /// The expectation.
    pub expected: String,
}

impl From<ConfigError> for Refusal {
    fn from(error: ConfigError) -> Self {
        let ConfigError { field, value, expected } = error;
        Self { field, value, expected }
    }
}
