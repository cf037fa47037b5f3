//! Requests: connections that come and go.

use super::tcp::TcpDocument;
use crate::scenario::quantity::Quantity;
use netlull_units::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests that arrive as a Poisson process; each is a TCP connection of its own, from SYN to FIN, and sends a random
/// amount of data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestsDocument {
    /// The flow's name.
    pub name: String,
    /// The node that opens the connections and sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Mean rate at which data is asked for, without headers: requests come at this rate over the mean size.
    pub offered: Quantity<BitRate>,
    /// How much each request asks for.
    pub size: SizeDocument,
    /// Requests come from here on.
    #[serde(default)]
    pub start: Quantity<Duration>,
    /// No request comes from here on; those that have come go on. Default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Quantity<Duration>>,
    /// At most so many connections may be open at once; the run ends with an error if another request comes then.
    #[serde(default = "default_most_open")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub most_open: u32,
    /// TCP options of this flow, over the scenario's.
    #[serde(default)]
    pub tcp: TcpDocument,
}

/// A law of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SizeDocument {
    /// All the same.
    Fixed(FixedSizeDocument),
    /// Exponential.
    Exponential(ExponentialSizeDocument),
    /// Pareto: heavy-tailed.
    Pareto(ParetoSizeDocument),
}

/// One size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedSizeDocument {
    /// The size.
    pub size: Quantity<Bytes>,
}

/// Exponential sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSizeDocument {
    /// The mean, at least 100 B.
    pub mean: Quantity<Bytes>,
}

/// Sizes after Pareto's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoSizeDocument {
    /// The mean of what is drawn (with `max`: of the bounded law), at least 100 B.
    pub mean: Quantity<Bytes>,
    /// The tail's exponent, above 1; at 2 or less the variance is infinite without `max`.
    pub shape: f64,
    /// No size is larger: the law is cut off here and scaled up to make up for it. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Quantity<Bytes>>,
}

fn default_most_open() -> u32 {
    10_000
}
