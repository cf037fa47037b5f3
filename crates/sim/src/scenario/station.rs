//! Stations: nodes behind a wireless link, with radios that may sleep.

use super::flow::{Flows, TcpFlow};
use super::frame::{Frame, Result, ScenarioError, check_name, node, refuse, refused};
use super::link::{LinkSpec, Wire};
use crate::traffic::{FlowPath, RequestFlow};
use netlull_mechanism::ConfigError;
use netlull_mechanism::station::{self, Serves};
use netlull_network::outcome::NamedRadio;
use netlull_network::queue::QueueModel;
use netlull_power::RadioPower;
use netlull_units::{Duration, Instant, Watts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wireless stations. Each is a node with a link to its access point and a link from it.
///
/// Packets that arrive while the radio sleeps are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationDocument {
    /// Name of these stations for `--set` and sweeps: `station.NAME.mechanism`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Nodes. Each is a separate station.
    pub nodes: Vec<String>,
    /// Power models for the radio's reported energy. The first also gives the wake-up time.
    #[serde(default = "default_radio")]
    pub radio: Vec<RadioDocument>,
    /// Wake-up time of the radio; default the wake-up time of the first model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_time: Option<Duration>,
    /// Machine that lets the radio sleep; default none, with the radio always awake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<station::Config>,
}

/// The power of each radio state: the name of a built-in model, or numbers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RadioDocument {
    /// Built-in model (`netlull list radios`).
    Name(String),
    /// Power of each state.
    Powers(RadioPowersDocument),
}

/// The power of each radio state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-source" = "docs/models/radio.md"))]
pub struct RadioPowersDocument {
    /// Name in results.
    #[schemars(extend("x-source" = "-"))]
    pub name: String,
    /// Power while asleep.
    #[schemars(extend("x-source" = "-"))]
    pub asleep: Watts,
    /// Power while awake without a transmission to or from the station.
    #[schemars(extend("x-source" = "-"))]
    pub idle: Watts,
    /// Power while receiving.
    #[schemars(extend("x-source" = "-"))]
    pub receive: Watts,
    /// Power while transmitting.
    #[schemars(extend("x-source" = "-"))]
    pub transmit: Watts,
    /// Power while waking up; default the idle power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "`idle`", "x-source" = "reading"))]
    pub waking: Option<Watts>,
    /// Wake-up time.
    #[schemars(extend("x-source" = "-"))]
    pub wake_time: Duration,
}

fn default_radio() -> Vec<RadioDocument> {
    vec![RadioDocument::Name(RadioPower::DEFAULT.to_owned())]
}

/// A wireless station.
#[derive(Clone, Debug)]
pub struct StationSpec {
    /// The station's node.
    pub node: usize,
    /// The access point's node.
    pub access: usize,
    /// The index of the link from the access point.
    pub down: usize,
    /// The index of the link to the access point.
    pub up: usize,
    /// The station's links and its radio's wake-up time.
    pub context: station::Context,
    /// Power models for the radio's reported energy.
    pub radios: Vec<NamedRadio>,
    /// The machine that lets the radio sleep; `None` for a radio that is always on.
    pub mechanism: Option<station::Config>,
}

impl StationSpec {
    /// The kind of its mechanism in summaries: `always_on` without a mechanism.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.mechanism.as_ref().map_or("always_on", station::Config::name)
    }
}

/// The parts of the scenario needed to resolve stations.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub frame: &'a Frame<'a>,
    pub wires: &'a [Wire<'a>],
    pub links: &'a [LinkSpec],
    pub flows: &'a Flows,
}

/// The stations, in the order of the document and of their nodes.
pub(super) fn stations(documents: &[StationDocument], around: Around<'_>) -> Result<Vec<StationSpec>> {
    let mut stations: Vec<StationSpec> = Vec::new();
    for (index, document) in documents.iter().enumerate() {
        let field = format!("station.{}", document.name.clone().unwrap_or_else(|| index.to_string()));
        if let Some(name) = &document.name {
            check_name(&format!("station.{index}.name"), name)?;
        }
        let namesake = |other: &StationDocument| other.name.is_some() && other.name == document.name;
        if documents[..index].iter().any(namesake) {
            return refuse(format!("{field}.name"), "is given twice; expected different names");
        }
        if around.frame.sleeps {
            return refuse(field, "conflicts with [[sleep]]; expected stations only if no link sleeps");
        }
        if document.nodes.is_empty() {
            return refuse(format!("{field}.nodes"), "is empty; expected at least one node");
        }
        let radios = radios(&field, document)?;
        for name in &document.nodes {
            let own = node(&around.frame.nodes, &format!("{field}.nodes"), name)?;
            if stations.iter().any(|other| other.node == own) {
                return refuse(
                    format!("{field}.nodes"),
                    format!("\"{name}\" is named twice; expected different nodes"),
                );
            }
            let member = Member { field: &field, document, name, own, radios: &radios };
            stations.push(station(around, member)?);
        }
    }
    let is_station = |node: usize| stations.iter().any(|other| other.node == node);
    if let Some(station) = stations.iter().find(|station| is_station(station.access)) {
        let (name, access) = (&around.frame.names[station.node], &around.frame.names[station.access]);
        let message = format!("has \"{name}\", whose access point is \"{access}\", a station");
        return refuse("station", format!("{message}; expected an access point that is not a station"));
    }
    Ok(stations)
}

/// A node of a station's document.
struct Member<'a> {
    field: &'a str,
    document: &'a StationDocument,
    name: &'a str,
    own: usize,
    radios: &'a [NamedRadio],
}

fn station(around: Around<'_>, station: Member<'_>) -> Result<StationSpec> {
    let Member { field, document, name, own, radios } = station;
    let nodes = format!("{field}.nodes");
    let only = |way: &str, mut found: Vec<usize>| match (found.pop(), found.is_empty()) {
        (Some(link), true) => Ok(link),
        (link, _) => {
            let count = found.len() + usize::from(link.is_some());
            let message = format!("\"{name}\" has {count} links {way}; expected exactly one");
            Err(ScenarioError::new(nodes.clone(), message))
        }
    };
    let ends = |end: fn(&Wire<'_>) -> usize| -> Vec<usize> {
        (0..around.wires.len()).filter(|&index| end(&around.wires[index]) == own).collect()
    };
    let down = only("to it", ends(|wire| wire.edge.to))?;
    let up = only("from it", ends(|wire| wire.edge.from))?;
    let access = around.wires[down].edge.from;
    if around.wires[up].edge.to != access {
        let message = format!("\"{name}\" sends to and receives from different nodes; expected one access point");
        return refuse(nodes, message);
    }
    for link in [&around.links[down], &around.links[up]] {
        if link.control.is_some() || link.capacity.is_some() || matches!(link.queue, QueueModel::CoDel(_)) {
            let message =
                format!("\"{name}\" has the link {}, whose rate varies or whose queue CoDel manages", link.name);
            return refuse(nodes, format!("{message}; expected a wireless link of fixed rate"));
        }
        if link.overhead > 0 {
            let message = format!("\"{name}\" has the link {}, which has an overhead", link.name);
            return refuse(nodes, format!("{message}; expected overheads only on other links of the path"));
        }
        if let Some(arrival) = &link.arrival {
            let what = match (arrival.noise, arrival.aggregation) {
                (Some(_), _) => "noise",
                (None, Some(_)) => "aggregation",
                (None, None) => "late packets",
            };
            let message = format!("\"{name}\" has the link {}, which has {what}", link.name);
            return refuse(nodes, format!("{message}; expected {what} only on other links of the path"));
        }
    }
    let context = station::Context {
        air_rate: around.links[down].rate,
        wake: document.wake_time.unwrap_or(radios[0].power.wake),
        mtu: around.frame.mtu,
    };
    if let Some(mechanism) = &document.mechanism {
        check_station(field, mechanism, [&around.links[down], &around.links[up]])?;
        let Flows { tcp, requests, .. } = around.flows;
        check_traffic(mechanism.serves(), tcp, requests, At { field: nodes, name, node: own })?;
        mechanism.build(context, Instant::ZERO).map_err(|error| refused_mechanism(station.field, &error))?;
    }
    let mechanism = document.mechanism.clone();
    Ok(StationSpec { node: own, access, down, up, context, radios: radios.to_vec(), mechanism })
}

/// Converts a mechanism's error to one with the field's path. The wake-up time belongs to the station.
pub(super) fn refused_mechanism(field: &str, error: &ConfigError) -> ScenarioError {
    if error.field == "wake_time" { refused(field, error) } else { refused(&format!("{field}.mechanism"), error) }
}

/// A station's node.
pub(super) struct At<'a> {
    /// The field that errors name.
    pub field: String,
    pub name: &'a str,
    pub node: usize,
}

/// Checks that a machine can serve a station's traffic.
pub(super) fn check_traffic(serves: Serves, tcp: &[TcpFlow], requests: &[RequestFlow], station: At<'_>) -> Result<()> {
    let At { field, name, node } = station;
    let touches = |path: &FlowPath| path.from == node || path.to == node;
    match serves {
        Serves::Everything => Ok(()),
        Serves::LastingConnections if requests.iter().all(|flow| flow.path.to != node) => Ok(()),
        Serves::LastingConnections => {
            let message = "receives requests; expected only TCP flows with eager acknowledgements";
            refuse(field, format!("\"{name}\" {message}"))
        }
        Serves::OneDownload => {
            let received = tcp.iter().any(|flow| flow.path.to == node);
            let tcp = tcp.iter().filter(|flow| touches(&flow.path)).count();
            let requests = requests.iter().filter(|flow| touches(&flow.path)).count();
            if tcp == 1 && received && requests == 0 {
                return Ok(());
            }
            let message = format!("\"{name}\" has {tcp} TCP flows and {requests} flows of requests");
            refuse(field, format!("{message}; expected one TCP flow, to the station, for a client that shapes traffic"))
        }
    }
}

fn radios(field: &str, document: &StationDocument) -> Result<Vec<NamedRadio>> {
    let mut radios: Vec<NamedRadio> = Vec::with_capacity(document.radio.len());
    for (index, radio) in document.radio.iter().enumerate() {
        let field = format!("{field}.radio.{index}");
        let named = radio_model(&field, radio)?;
        check_name(&format!("{field}.name"), &named.name)?;
        if radios.iter().any(|other| other.name == named.name) {
            return refuse(field, format!("\"{}\" is named twice; expected different names", named.name));
        }
        radios.push(named);
    }
    if radios.is_empty() {
        return refuse(format!("{field}.radio"), "is empty; expected at least one radio");
    }
    Ok(radios)
}

fn radio_model(field: &str, document: &RadioDocument) -> Result<NamedRadio> {
    match document {
        RadioDocument::Name(name) => match RadioPower::by_name(name) {
            Some(power) => Ok(NamedRadio { name: name.clone(), power }),
            None => {
                let known: Vec<_> = RadioPower::catalogue().iter().map(|radio| radio.name).collect();
                refuse(field, format!("\"{name}\" is unknown; expected one of {}", known.join(", ")))
            }
        },
        RadioDocument::Powers(document) => {
            let power = RadioPower {
                name: "",
                summary: "",
                source: "",
                asleep: document.asleep,
                idle: document.idle,
                receive: document.receive,
                transmit: document.transmit,
                waking: document.waking.unwrap_or(document.idle),
                wake: document.wake_time,
            };
            let power = power.checked().map_err(|error| {
                ScenarioError::new(
                    format!("{field}.{}", error.field),
                    format!("is {}; expected {}", error.value, error.expected),
                )
            })?;
            Ok(NamedRadio { name: document.name.clone(), power })
        }
    }
}

/// Checks that a station's machine needs no access point. Beacons and polls do not contend for the air.
fn check_station(field: &str, mechanism: &station::Config, links: [&LinkSpec; 2]) -> Result<()> {
    if mechanism.access_point().is_some() && links.iter().any(|link| link.air.is_some()) {
        let message = format!("is {}, whose beacons and polls do not contend for a shared air", mechanism.name());
        return refuse(format!("{field}.mechanism.kind"), format!("{message}; expected client_shaper, eager or none"));
    }
    Ok(())
}
