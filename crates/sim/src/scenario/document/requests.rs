//! Requests: connections that come and go.

use super::TcpDocument;
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
    pub offered: BitRate,
    /// How much each request asks for.
    pub size: SizeDocument,
    /// Requests come from here on.
    #[serde(default)]
    pub start: Duration,
    /// No request comes from here on; those that have come go on. Default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
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
    /// A mixture of lognormal laws.
    Lognormal(LognormalSizeDocument),
    /// A campus's flows: a lognormal mixture, truncated so that it has the mean given.
    Campus(CampusSizeDocument),
    /// Points of a cumulative distribution.
    Empirical(EmpiricalSizeDocument),
    /// Flows of a cluster that serves web search: points of a cumulative distribution.
    WebSearch(WebSearchSizeDocument),
}

/// One size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedSizeDocument {
    /// The size.
    pub size: Bytes,
}

/// Exponential sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSizeDocument {
    /// The mean, at least 100 B.
    pub mean: Bytes,
}

/// Sizes after Pareto's law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoSizeDocument {
    /// The mean of what is drawn (with `max`: of the bounded law), at least 100 B.
    pub mean: Bytes,
    /// The tail's exponent, above 1; at 2 or less the variance is infinite without `max`.
    pub shape: f64,
    /// No size is larger: the law is cut off here and scaled up to make up for it. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
}

/// Sizes after a mixture of lognormal laws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalSizeDocument {
    /// The laws that are mixed.
    #[schemars(length(min = 1))]
    pub components: Vec<LognormalComponentDocument>,
    /// No size is smaller: what is below is left out, and the rest scaled up. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Bytes>,
    /// No size is larger: what is above is left out, and the rest scaled up. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
}

/// A lognormal law of a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalComponentDocument {
    /// Its share of the mixture before truncation; weights are divided by their sum.
    pub weight: f64,
    /// The median.
    pub median: Bytes,
    /// The standard deviation of the logarithm, above 0 and at most 10.
    pub sigma: f64,
}

/// Sizes of a campus's flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CampusSizeDocument {
    /// The mean: decides where the mixture is cut off. At least 100 B; docs/models/traffic.md says what can be reached.
    pub mean: Bytes,
}

/// Sizes after points of a cumulative distribution, linear between them. What lies below the first point is all of its size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmpiricalSizeDocument {
    /// The points: bytes, and the share of sizes that do not exceed them. Neither decreases, and the last share is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdf: Option<Vec<(u64, f64)>>,
    /// A file with a point on each line, bytes and share, which becomes `cdf` when the scenario is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Sizes of flows of web search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSearchSizeDocument {
    /// The mean, to which all sizes are scaled; default that of the distribution, 1712 kB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Bytes>,
}

fn default_most_open() -> u32 {
    10_000
}
