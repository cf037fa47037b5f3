//! Requests, short-lived TCP connections: their arrivals, and the laws of their sizes.

use super::frame::{FASTEST, Frame, Result, ScenarioError, check, flow_path, refuse, start, stop_after, tcp_config};
use crate::traffic::sizes::{CAMPUS, LARGEST, WEB_SEARCH};
use crate::traffic::{Component, Empirical, Lognormal, Pareto, RequestFlow, SizeLaw};
use netlull_tcp::TcpOptions as TcpDocument;
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
    /// Points: bytes, and the share of sizes up to that number. Both are in ascending order, and the last share is 1, or
    /// 100 in percent. A first point of 0 B with a share of 0 is one of 1 B.
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

/// The smallest mean. Sizes are whole bytes, and rounding shifts smaller means by more than 10^-4.
const SMALLEST_MEAN: u64 = 100;
/// The largest sigma. A wider lognormal distribution exceeds the range of numbers.
const LARGEST_SIGMA: f64 = 10.0;
/// The tolerance for a last share of 1 that is written with few digits.
const NEAR_ONE: f64 = 1e-9;

pub(super) fn request_flow(frame: &Frame<'_>, flow: &RequestsDocument) -> Result<RequestFlow> {
    let path = flow_path(&frame.nodes, &flow.name, &flow.from, &flow.to)?;
    let field = format!("flow.{}", flow.name);
    let start = start(&field, flow.start, frame)?;
    let stop = stop_after(&field, flow.stop, start)?;
    check(&field, flow)?;
    Ok(RequestFlow {
        path,
        offered: flow.offered,
        sizes: size_law(&format!("{field}.size"), &flow.size)?,
        start,
        stop,
        most_open: flow.most_open,
        config: tcp_config(frame, &flow.tcp, &field)?,
    })
}

#[allow(clippy::cast_precision_loss)]
fn size_law(field: &str, size: &SizeDocument) -> Result<SizeLaw> {
    match size {
        SizeDocument::Fixed(law) => Ok(SizeLaw::Fixed(amount(&format!("{field}.size"), law.size, 1)?)),
        SizeDocument::Exponential(law) => {
            let mean = amount(&format!("{field}.mean"), law.mean, SMALLEST_MEAN)? as f64;
            Ok(SizeLaw::Exponential { mean })
        }
        SizeDocument::Pareto(law) => pareto(field, law),
        SizeDocument::Lognormal(law) => lognormal(field, law),
        SizeDocument::Campus(law) => campus(field, law),
        SizeDocument::Empirical(law) => empirical(field, law),
        SizeDocument::WebSearch(law) => web_search(field, law),
    }
}

#[allow(clippy::cast_precision_loss)]
fn pareto(field: &str, law: &ParetoSizeDocument) -> Result<SizeLaw> {
    let mean = amount(&format!("{field}.mean"), law.mean, SMALLEST_MEAN)?;
    if !(law.shape > 1.0 && law.shape.is_finite()) {
        let message = format!("is {}; expected more than 1 for a finite mean", law.shape);
        return refuse(format!("{field}.shape"), message);
    }
    let max = law.max.map(|max| amount(&format!("{field}.max"), max, 1)).transpose()?;
    if let Some(max) = max.filter(|max| *max <= mean) {
        return refuse(format!("{field}.max"), format!("is {max} B; expected more than the mean, {mean} B"));
    }
    Ok(SizeLaw::Pareto(Pareto::with_mean(mean as f64, law.shape, max.map(|max| max as f64))))
}

#[allow(clippy::cast_precision_loss)]
fn lognormal(field: &str, law: &LognormalSizeDocument) -> Result<SizeLaw> {
    if law.components.is_empty() {
        return refuse(
            format!("{field}.components"),
            "is empty; expected at least one table of weight, median and sigma",
        );
    }
    let read =
        |(index, law): (usize, &LognormalComponentDocument)| component(&format!("{field}.components.{index}"), law);
    let components = law.components.iter().enumerate().map(read).collect::<Result<Vec<_>>>()?;
    let min = law.min.map(|min| amount(&format!("{field}.min"), min, 1)).transpose()?;
    let max = law.max.map(|max| amount(&format!("{field}.max"), max, 1)).transpose()?.unwrap_or(LARGEST);
    if let Some(min) = min.filter(|min| *min >= max) {
        return refuse(format!("{field}.max"), format!("is {max} B; expected more than min, {min} B"));
    }
    let min = min.unwrap_or(0);
    let mixture = Lognormal::truncated(&components, min as f64, max as f64);
    let mixture = mixture.filter(|mixture| mixture.mean().is_finite() && mixture.mean() >= 1.0);
    mixture.map(SizeLaw::Lognormal).ok_or_else(|| {
        let message = format!("has almost no sizes between {min} B and {max} B; expected wider bounds");
        ScenarioError::new(field, message)
    })
}

#[allow(clippy::cast_precision_loss)]
fn component(field: &str, law: &LognormalComponentDocument) -> Result<Component> {
    if !(law.weight > 0.0 && law.weight.is_finite()) {
        return refuse(format!("{field}.weight"), format!("is {}; expected more than 0", law.weight));
    }
    if !(law.sigma > 0.0 && law.sigma <= LARGEST_SIGMA) {
        let message = format!("is {}; expected more than 0 and at most {LARGEST_SIGMA}", law.sigma);
        return refuse(format!("{field}.sigma"), message);
    }
    let median = amount(&format!("{field}.median"), law.median, 1)? as f64;
    Ok(Component { weight: law.weight, median, sigma: law.sigma })
}

#[allow(clippy::cast_precision_loss)]
fn campus(field: &str, law: &CampusSizeDocument) -> Result<SizeLaw> {
    let (field, most) = (format!("{field}.mean"), LARGEST as f64);
    let mean = amount(&field, law.mean, SMALLEST_MEAN)?;
    Lognormal::with_mean(&CAMPUS, mean as f64, most).map(SizeLaw::Lognormal).ok_or_else(|| {
        let whole = Lognormal::truncated(&CAMPUS, 0.0, most).map_or(0.0, |law| law.mean());
        let message = format!("is {mean} B; expected {SMALLEST_MEAN} B to {whole:.0} B, the mean of the whole mixture");
        ScenarioError::new(field, message)
    })
}

fn empirical(field: &str, law: &EmpiricalSizeDocument) -> Result<SizeLaw> {
    let points = match (&law.cdf, &law.file) {
        (Some(points), None) => points,
        (None, Some(file)) => {
            let message = format!("\"{file}\" has not been read; expected its points as `cdf` by now");
            return refuse(format!("{field}.file"), message);
        }
        _ => return refuse(field, "has both or neither of `cdf` and `file`; expected one of them"),
    };
    let points = shares(&format!("{field}.cdf"), points)?;
    check_points(&format!("{field}.cdf"), &points)?;
    Ok(SizeLaw::Empirical(Empirical::new(&points, 1.0)))
}

/// The last share of a table in percent.
pub(super) const PERCENT: f64 = 100.0;

/// The whole that the last share of a table is: 1, or 100 in percent.
pub(super) fn whole_of(last: f64) -> Option<f64> {
    [1.0, PERCENT].into_iter().find(|whole| (last / whole - 1.0).abs() <= NEAR_ONE)
}

/// The points with shares of 1, as the tables of data-centre simulators mean theirs: from 0 B, in percent.
fn shares(field: &str, points: &[(u64, f64)]) -> Result<Vec<(u64, f64)>> {
    let Some(&(_, last)) = points.last() else {
        return refuse(field, "is empty; expected points such as [10000, 0.15], the last with a share of 1");
    };
    let Some(whole) = whole_of(last) else {
        return refuse(field, format!("rises to {last}; expected 1 at the last point, or 100 in percent"));
    };
    let mut points: Vec<_> = points.iter().map(|&(size, share)| (size, share / whole)).collect();
    if let (0, share) = points[0]
        && share <= 0.0
    {
        points[0].0 = 1;
    }
    Ok(points)
}

fn check_points(field: &str, points: &[(u64, f64)]) -> Result<()> {
    let mut before = (1, 0.0);
    for (index, &(size, share)) in points.iter().enumerate() {
        amount(&format!("{field}.{index}"), Bytes::new(size), 1)?;
        if !(0.0..=1.0 + NEAR_ONE).contains(&share) {
            return refuse(format!("{field}.{index}"), format!("has the share {share}; expected 0 to 1"));
        }
        if size < before.0 || share < before.1 {
            let (size_before, share_before) = before;
            let message = format!(
                "is {size} B, {share} after {size_before} B, {share_before}; expected sizes and shares that do not decrease"
            );
            return refuse(format!("{field}.{index}"), message);
        }
        before = (size, share);
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss)]
fn web_search(field: &str, law: &WebSearchSizeDocument) -> Result<SizeLaw> {
    let own = Empirical::new(&WEB_SEARCH, 1.0);
    let Some(mean) = law.mean else { return Ok(SizeLaw::Empirical(own)) };
    let mean = amount(&format!("{field}.mean"), mean, SMALLEST_MEAN)? as f64;
    Ok(SizeLaw::Empirical(Empirical::new(&WEB_SEARCH, mean / own.mean())))
}

fn amount(field: &str, amount: Bytes, least: u64) -> Result<u64> {
    let bytes = amount.as_u64();
    if !(least..=LARGEST).contains(&bytes) {
        return refuse(field, format!("is {bytes} B; expected {least} to {LARGEST} B"));
    }
    Ok(bytes)
}
