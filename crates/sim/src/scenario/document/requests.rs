//! Requests: short-lived TCP connections.

use super::{FASTEST, TcpDocument};
use netlull_units::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests that arrive as a Poisson process.
///
/// Each request is a separate TCP connection, from SYN to FIN, with a random amount of data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestsDocument {
    /// Name.
    pub name: String,
    /// Node that opens the connections and sends data.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Mean offered data rate, without headers. The arrival rate is this rate divided by the mean size.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub offered: BitRate,
    /// Amount of data per request.
    pub size: SizeDocument,
    /// Time of the first possible arrival.
    #[serde(default)]
    pub start: Duration,
    /// Time from which no requests arrive; default never. Open connections continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// Maximum number of open connections. The run ends with an error if another request arrives.
    #[serde(default = "default_most_open")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub most_open: u32,
    /// TCP options of this flow. They take precedence over those of the scenario.
    #[serde(default)]
    pub tcp: TcpDocument,
}

/// A distribution of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SizeDocument {
    /// Constant.
    Fixed(FixedSizeDocument),
    /// Exponential.
    Exponential(ExponentialSizeDocument),
    /// Pareto: heavy-tailed.
    Pareto(ParetoSizeDocument),
    /// Mixture of lognormal distributions.
    Lognormal(LognormalSizeDocument),
    /// Flows of a campus: a lognormal mixture, truncated to give the mean.
    Campus(CampusSizeDocument),
    /// Points of a cumulative distribution.
    Empirical(EmpiricalSizeDocument),
    /// Flows of a web-search cluster: points of a cumulative distribution.
    WebSearch(WebSearchSizeDocument),
}

/// A constant size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedSizeDocument {
    /// Size.
    pub size: Bytes,
}

/// Exponential sizes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSizeDocument {
    /// Mean, at least 100 B.
    pub mean: Bytes,
}

/// Sizes with a Pareto distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoSizeDocument {
    /// Mean of the sizes (with `max`, of the bounded distribution), at least 100 B.
    pub mean: Bytes,
    /// Tail exponent, above 1. At 2 or less the variance is infinite without `max`.
    pub shape: f64,
    /// Maximum size; default no bound. The distribution is truncated here and scaled up to keep the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
}

/// Sizes with a mixture of lognormal distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalSizeDocument {
    /// Distributions of the mixture.
    #[schemars(length(min = 1))]
    pub components: Vec<LognormalComponentDocument>,
    /// Minimum size; default no bound. The part below is omitted, and the rest is scaled up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Bytes>,
    /// Maximum size; default no bound. The part above is omitted, and the rest is scaled up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bytes>,
}

/// A lognormal distribution of a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalComponentDocument {
    /// Share of the mixture before truncation. Weights are divided by their sum.
    pub weight: f64,
    /// Median.
    pub median: Bytes,
    /// Standard deviation of the logarithm, above 0 and at most 10.
    pub sigma: f64,
}

/// Sizes of a campus's flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CampusSizeDocument {
    /// Mean, at least 100 B. It determines the truncation; docs/models/traffic.md gives the possible range.
    pub mean: Bytes,
}

/// Sizes with a cumulative distribution given by points, linear between them.
///
/// All sizes below the first point are equal to its size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmpiricalSizeDocument {
    /// Points: bytes, and the share of sizes up to that number. Both are in ascending order, and the last share is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdf: Option<Vec<(u64, f64)>>,
    /// File with the bytes and share of a point on each line. It becomes `cdf` when the scenario is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Sizes of web-search flows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSearchSizeDocument {
    /// Mean to which all sizes are scaled; default the mean of the distribution, 1712 kB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Bytes>,
}

fn default_most_open() -> u32 {
    10_000
}
