//! Reports of a run: phases with separate measurements, power models, probes.

use super::frame::{Frame, Result, ScenarioError, check, check_name, listed, refuse};
use super::link::LinkSpec;
use crate::traffic::FlowPath;
use netlull_power::{BelowFloor, IdealModel, PowerModel, Scaling};
use netlull_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of the run with separate measurements. Phases may overlap. A transfer counts where it starts.
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

/// A part of the measured time.
#[derive(Clone, Debug)]
pub struct PhaseSpec {
    /// Name.
    pub name: String,
    /// Start time.
    pub from: Instant,
    /// End time.
    pub to: Instant,
}

/// A power model under a name.
#[derive(Clone, Debug)]
pub struct NamedPower {
    /// Name in results.
    pub name: String,
    /// The model.
    pub model: PowerModel,
}

/// The data to record.
#[derive(Clone, Debug, Default)]
pub struct ProbeSpec {
    /// Width of the bins.
    pub interval: Option<Duration>,
    /// Changes of congestion windows.
    pub window: bool,
    /// Dropped packets.
    pub drops: bool,
    /// Data segments of TCP senders.
    pub segments: bool,
    /// Events of TCP senders.
    pub events: bool,
    /// Requests.
    pub requests: bool,
    /// Activity of stations.
    pub stations: bool,
    /// Packets offered to these links, by index.
    pub arrivals: Option<Vec<usize>>,
    /// True if arrivals are recorded without their flows.
    pub nameless: bool,
    /// Indices of the recorded links; all if `None`.
    pub links: Option<Vec<usize>>,
    /// Indices of the recorded flows (TCP flows first); all if `None`.
    pub flows: Option<Vec<usize>>,
}

/// The maximum number of bins. A larger number is assumed to be a mistake.
const MOST_BINS: u64 = 10_000_000;

/// Every phase, within the measured time. Their names differ.
pub(super) fn phases(documents: &[PhaseDocument], frame: &Frame<'_>) -> Result<Vec<PhaseSpec>> {
    let mut phases: Vec<PhaseSpec> = Vec::with_capacity(documents.len());
    for (index, written) in documents.iter().enumerate() {
        check_name(&format!("phase.{index}.name"), &written.name)?;
        if phases.iter().any(|other| other.name == written.name) {
            let message = format!("\"{}\" is named twice; expected different names", written.name);
            return refuse(format!("phase.{index}.name"), message);
        }
        phases.push(phase(frame, written)?);
    }
    Ok(phases)
}

fn phase(frame: &Frame<'_>, written: &PhaseDocument) -> Result<PhaseSpec> {
    let (first, last) = (frame.warm_up, frame.duration);
    let from = written.from.unwrap_or(first);
    let to = written.to.unwrap_or(last);
    let refused = |field: &str, is: Duration, expected: String| {
        refuse(format!("phase.{}.{field}", written.name), format!("is {is}; expected {expected}"))
    };
    if from < first || from >= last {
        return refused(
            "from",
            from,
            format!("a time from the end of the warm-up ({first}) to before the end of the run ({last})"),
        );
    }
    if to <= from || to > last {
        return refused(
            "to",
            to,
            format!("a time after the phase begins ({from}), at most the end of the run ({last})"),
        );
    }
    Ok(PhaseSpec { name: written.name.clone(), from: Instant::ZERO + from, to: Instant::ZERO + to })
}

/// The power models. Their names differ and can be part of a metric's path.
pub(super) fn named_models(documents: &[PowerDocument]) -> Result<Vec<NamedPower>> {
    let mut models: Vec<NamedPower> = Vec::new();
    for (index, power) in documents.iter().enumerate() {
        let named = named_power(index, power)?;
        // A share such as 0.25 puts a dot into a default name; names in the document may not have dots.
        if let Some(name) = &power.name {
            check_name(&format!("power.{index}.name"), name)?;
        }
        if models.iter().any(|other| other.name == named.name) {
            let message = format!("\"{}\" is named twice; expected different names", named.name);
            return refuse(format!("power.{index}.name"), message);
        }
        models.push(named);
    }
    Ok(models)
}

fn named_power(index: usize, document: &PowerDocument) -> Result<NamedPower> {
    let field = format!("power.{index}");
    check(&field, document)?;
    let Some(model) = PowerModel::by_name(&document.model) else {
        let known = PowerModel::names(", ");
        let message = format!("\"{}\" is unknown; expected one of {known}", document.model);
        return refuse(format!("{field}.model"), message);
    };
    let model = match (model, document.static_fraction, document.phi) {
        (model, None, None) => model,
        (PowerModel::Ideal(ideal), share, phi) => PowerModel::Ideal(ideal_with(&field, ideal, share, phi)?),
        (PowerModel::Device(_) | PowerModel::LineCards(_), _, _) => {
            return refuse(
                field,
                format!("\"{}\" is not an ideal model; expected no static_fraction or phi", document.model),
            );
        }
    };
    // In percent, because a dot would end the name in a metric's path.
    let default_name = || match document.static_fraction {
        Some(share) if share > 0.0 => format!("{}-{:.0}%", document.model, share * 100.0),
        _ => document.model.clone(),
    };
    Ok(NamedPower { name: document.name.clone().unwrap_or_else(default_name), model })
}

fn ideal_with(field: &str, model: IdealModel, share: Option<f64>, phi: Option<f64>) -> Result<IdealModel> {
    let refused = |error: netlull_power::ConfigError| {
        ScenarioError::new(
            format!("{field}.{}", error.field),
            format!("is {}; expected {}", error.value, error.expected),
        )
    };
    let below = |scaling: Scaling| match scaling {
        Scaling::Voltage { below_floor, .. } => Some(below_floor),
        Scaling::Frequency => None,
    };
    let scaling = match (model.scaling(), phi) {
        (scaling, None) => scaling,
        (Scaling::Frequency, Some(_)) => {
            return refuse(format!("{field}.phi"), "is given for frequency scaling; expected no phi");
        }
        (voltage, Some(phi)) => {
            Scaling::Voltage { phi, below_floor: below(voltage).unwrap_or(BelowFloor::FrequencyStillScales) }
        }
    };
    IdealModel::new(share.unwrap_or(model.static_fraction()), scaling).map_err(refused)
}

/// Resolves the links and flows of a probe.
pub(super) fn probe<'a>(
    wanted: &ProbeDocument,
    duration: Duration,
    links: &[LinkSpec],
    flows: impl Iterator<Item = &'a FlowPath>,
) -> Result<ProbeSpec> {
    if let Some(interval) = wanted.interval
        && (interval.is_zero() || duration.as_nanos() / interval.as_nanos() > MOST_BINS)
    {
        let message = format!("is {interval}; expected more than 0 s and at most {MOST_BINS} intervals in the run");
        return refuse("probe.interval", message);
    }
    let pick = |field: &str, names: &Option<Vec<String>>, known: Vec<&str>| {
        let find = |name: &String| {
            known.iter().position(|have| have == name).ok_or_else(|| {
                ScenarioError::new(field, format!("\"{name}\" is unknown; expected one of {}", listed(&known)))
            })
        };
        names.as_ref().map(|names| names.iter().map(find).collect::<Result<Vec<_>>>()).transpose()
    };
    Ok(ProbeSpec {
        interval: wanted.interval,
        window: wanted.window,
        drops: wanted.drops,
        segments: wanted.segments,
        events: wanted.events,
        requests: wanted.requests,
        stations: wanted.stations,
        arrivals: pick("probe.arrivals", &wanted.arrivals, links.iter().map(|link| link.name.as_str()).collect())?,
        nameless: false,
        links: pick("probe.links", &wanted.links, links.iter().map(|link| link.name.as_str()).collect())?,
        flows: pick("probe.flows", &wanted.flows, flows.map(|path| path.name.as_str()).collect())?,
    })
}
