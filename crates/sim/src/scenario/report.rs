//! Reports of a run: phases with separate measurements, power models, probes.

use super::frame::{Frame, Nodes, Result, ScenarioError, check_name, listed, node, refuse, refused};
use super::link::LinkSpec;
use crate::traffic::FlowPath;
use netlull_power::{PowerDocument, PowerModel};
use netlull_units::{Duration, Instant, Watts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
    /// Records every change of a variable of a TCP sender's congestion control (table `variable`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("x-default" = "false"))]
    pub variables: bool,
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
    ["fs", "dvs", "ncs-55a1-24h"].into_iter().map(PowerDocument::named).collect()
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

/// A power model under a name: one for all links, or several for parts of the network.
#[derive(Clone, Debug)]
pub struct NamedPower {
    /// Name in results.
    pub name: String,
    models: Vec<PowerModel>,
    /// The index of the model of each link; empty if all have the first.
    of_link: Vec<u32>,
}

impl NamedPower {
    /// The model of a link.
    #[must_use]
    pub fn of(&self, index: usize, link: &LinkSpec) -> PowerModel {
        let place = self.of_link.get(index).map_or(0, |&place| place as usize);
        self.models[place].of_speed(link.speed)
    }
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
    /// Variables of congestion controls.
    pub variables: bool,
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

/// The power models. Their names can be part of a metric's path.
pub(super) fn named_models(
    documents: &[PowerDocument],
    nodes: &Nodes<'_>,
    links: &[LinkSpec],
) -> Result<Vec<NamedPower>> {
    let entries: Vec<Entry<'_>> = documents
        .iter()
        .enumerate()
        .map(|(index, document)| {
            let field = format!("power.{index}");
            // A share such as 0.25 puts a dot into a default name; names in the document may not have dots.
            if let Some(name) = &document.name {
                check_name(&format!("{field}.name"), name)?;
            }
            if let Some(model) = document.model.as_ref().filter(|model| PowerModel::by_name(model).is_none()) {
                let known = PowerModel::names(", ");
                return refuse(format!("{field}.model"), format!("\"{model}\" is unknown; expected one of {known}"));
            }
            let model = document.model().map_err(|error| refused(&field, &error))?;
            Ok(Entry { name: name_of(document, &field)?, field, document, model })
        })
        .collect::<Result<_>>()?;
    let mut models: Vec<NamedPower> = Vec::new();
    for entry in &entries {
        if models.iter().any(|known| known.name == entry.name) {
            continue;
        }
        let parts: Vec<&Entry<'_>> = entries.iter().filter(|other| other.name == entry.name).collect();
        models.push(joined(&parts, nodes, links)?);
    }
    Ok(models)
}

/// An entry of the document.
struct Entry<'a> {
    field: String,
    name: String,
    document: &'a PowerDocument,
    model: PowerModel,
}

impl Entry<'_> {
    fn is_for_all(&self) -> bool {
        self.document.links.is_none() && self.document.nodes.is_none()
    }
}

fn name_of(document: &PowerDocument, field: &str) -> Result<String> {
    let Some(model) = &document.model else {
        let Some(name) = &document.name else {
            return refuse(format!("{field}.name"), "is missing; expected a name for this device");
        };
        return Ok(name.clone());
    };
    // In percent, because a dot would end the name in a metric's path.
    Ok(document.name.clone().unwrap_or_else(|| match document.static_fraction {
        Some(share) if share > 0.0 => format!("{model}-{:.0}%", share * 100.0),
        _ => model.clone(),
    }))
}

/// Joins the entries of a name to a model of the network.
fn joined(parts: &[&Entry<'_>], nodes: &Nodes<'_>, links: &[LinkSpec]) -> Result<NamedPower> {
    let name = parts[0].name.clone();
    let mut rest = parts.iter().filter(|part| part.is_for_all());
    let (for_all, second) = (rest.next(), rest.next());
    if let Some(second) = second {
        let message = format!("\"{name}\" is named twice; expected different names, or nodes or links of one of them");
        return refuse(format!("{}.name", second.field), message);
    }
    if let (Some(part), 1) = (for_all, parts.len()) {
        return Ok(NamedPower { name, models: vec![part.model.clone()], of_link: Vec::new() });
    }
    // Links without an entry have no power.
    let none = PowerDocument { base: Some(Watts::default()), ..PowerDocument::default() };
    let none = none.model().map_err(|error| refused(&parts[0].field, &error))?;
    let mut models = vec![for_all.map_or(none, |part| part.model.clone())];
    let mut of_link: Vec<Option<u32>> = vec![None; links.len()];
    let put = |models: &mut Vec<PowerModel>, model: PowerModel| {
        models.push(model);
        u32::try_from(models.len() - 1).unwrap_or(u32::MAX)
    };
    let twice =
        |field: String, name: &str| refuse(field, format!("\"{name}\" is given twice; expected one entry for it"));
    let by_name: BTreeMap<&str, usize> =
        links.iter().enumerate().map(|(index, link)| (link.name.as_str(), index)).collect();
    for part in parts {
        let field = format!("{}.links", part.field);
        let place = put(&mut models, part.model.clone());
        for name in part.document.links.iter().flatten() {
            let Some(&link) = by_name.get(name.as_str()) else {
                let known: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
                return refuse(field, format!("\"{name}\" is unknown; expected one of {}", listed(&known)));
            };
            if of_link[link].replace(place).is_some() {
                return twice(field, name);
            }
        }
    }
    let own = of_link.clone();
    let mut ports: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        ports.entry(link.from).or_default().push(index);
    }
    let mut seen = BTreeSet::new();
    for part in parts {
        let field = format!("{}.nodes", part.field);
        for name in part.document.nodes.iter().flatten() {
            let node = node(nodes, &field, name)?;
            if !seen.insert(node) {
                return twice(field, name);
            }
            let ports = ports.get(&node).map_or(&[][..], Vec::as_slice);
            let place = put(&mut models, shared(&part.model, ports.len()));
            for &link in ports {
                if own[link].is_none() {
                    of_link[link] = Some(place);
                }
            }
        }
    }
    let of_link = of_link.into_iter().map(Option::unwrap_or_default).collect();
    Ok(NamedPower { name, models, of_link })
}

/// The model of a port of a node with so many.
fn shared(model: &PowerModel, ports: usize) -> PowerModel {
    match model {
        PowerModel::Device(device) => {
            PowerModel::Device(device.clone().shared_by(u32::try_from(ports).unwrap_or(u32::MAX)))
        }
        PowerModel::Ideal(_) => model.clone(),
    }
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
        variables: wanted.variables,
        requests: wanted.requests,
        stations: wanted.stations,
        arrivals: pick("probe.arrivals", &wanted.arrivals, links.iter().map(|link| link.name.as_str()).collect())?,
        nameless: false,
        links: pick("probe.links", &wanted.links, links.iter().map(|link| link.name.as_str()).collect())?,
        flows: pick("probe.flows", &wanted.flows, flows.map(|path| path.name.as_str()).collect())?,
    })
}
