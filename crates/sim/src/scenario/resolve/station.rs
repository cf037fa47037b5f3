//! Stations of the document: which links are theirs, what lets their radios sleep.

use super::control::refused;
use super::flows::Flows;
use super::links::Wire;
use super::{LinkSpec, Nodes, Result, node, refuse};
use crate::net::queue::QueueModel;
use crate::scenario::ScenarioError;
use crate::scenario::document::{
    AccessPointDocument, BsdDocument, ClientShaperDocument, Document, EagerDocument, PacedFromReading, PollReading,
    PsmDocument, RadioDocument, RepairReading, RequestReading, RttFromReading, StationDocument,
    StationMechanismDocument,
};
use netlull_mechanism::ConfigError;
use netlull_mechanism::radio::{
    AccessPointConfig, BsdConfig, EagerConfig, PacedFrom, PacedGuard, Polling, PsmConfig, RepairAcks, Requests,
    RttFrom, ShaperConfig,
};
use netlull_network::station::NamedRadio;
use netlull_power::RadioPower;
use netlull_units::{BitRate, Bytes, Duration, Instant};

/// A wireless station.
#[derive(Clone, Debug)]
pub struct StationSpec {
    /// Its node.
    pub node: usize,
    /// Its access point's node.
    pub access: usize,
    /// The link, by index, from the access point.
    pub down: usize,
    /// The link, by index, to the access point.
    pub up: usize,
    /// How long its radio takes to wake.
    pub wake: Duration,
    /// Power models under which its radio's energy is reported.
    pub radios: Vec<NamedRadio>,
    /// What lets its radio sleep.
    pub mechanism: StationMechanism,
}

/// What lets a station's radio sleep, with its parameters.
#[derive(Clone, Debug)]
pub enum StationMechanism {
    /// Nothing.
    AlwaysOn,
    /// Nothing, but acknowledgements are eager.
    Eager(EagerConfig),
    /// The client's shaper.
    ClientShaper(ShaperConfig),
    /// 802.11 power saving.
    Psm(PsmConfig, AccessSpec),
    /// Bounded slowdown.
    Bsd(BsdConfig, AccessSpec),
}

/// An access point that buffers.
#[derive(Clone, Copy, Debug)]
pub struct AccessSpec {
    /// What it does.
    pub config: AccessPointConfig,
    /// How long a beacon is on the air.
    pub beacon_time: Duration,
    /// From a poll to the packet that it asks for.
    pub poll_time: Duration,
    /// How long after a poll, or a packet, the next of a burst may come.
    pub patience: Duration,
}

impl StationMechanism {
    /// The kind as the document says it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::AlwaysOn => "always_on",
            Self::Eager(_) => "eager",
            Self::ClientShaper(_) => "client_shaper",
            Self::Psm(..) => "psm",
            Self::Bsd(..) => "bsd",
        }
    }

    /// Its access point, if that buffers.
    #[must_use]
    pub fn access(&self) -> Option<&AccessSpec> {
        match self {
            Self::Psm(_, access) | Self::Bsd(_, access) => Some(access),
            Self::AlwaysOn | Self::Eager(_) | Self::ClientShaper(_) => None,
        }
    }
}

/// What stations are resolved among.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub document: &'a Document,
    pub nodes: &'a Nodes<'a>,
    pub wires: &'a [Wire<'a>],
    pub links: &'a [LinkSpec],
    pub flows: &'a Flows,
}

/// The stations, in the order of the document and of their nodes.
pub(super) fn stations(around: Around<'_>) -> Result<Vec<StationSpec>> {
    let mut stations: Vec<StationSpec> = Vec::new();
    for (index, document) in around.document.station.iter().enumerate() {
        let field = format!("station.{}", document.name.clone().unwrap_or_else(|| index.to_string()));
        let namesake = |other: &StationDocument| other.name.is_some() && other.name == document.name;
        if around.document.station[..index].iter().any(namesake) {
            return refuse(format!("{field}.name"), "is given twice; expected different names");
        }
        if !around.document.sleep.is_empty() {
            return refuse(field, "stands beside [[sleep]]; expected stations where links do not sleep");
        }
        if document.nodes.is_empty() {
            return refuse(format!("{field}.nodes"), "is empty; expected at least one node");
        }
        let radios = radios(&field, document)?;
        for name in &document.nodes {
            let own = node(around.nodes, &format!("{field}.nodes"), name)?;
            if stations.iter().any(|other| other.node == own) {
                return refuse(
                    format!("{field}.nodes"),
                    format!("\"{name}\" is named twice; expected different nodes"),
                );
            }
            stations.push(station(around, (&field, document), (name, own), &radios)?);
        }
    }
    let is_station = |node: usize| stations.iter().any(|other| other.node == node);
    if let Some(station) = stations.iter().find(|station| is_station(station.access)) {
        let (name, access) = (&around.document.nodes[station.node], &around.document.nodes[station.access]);
        let message = format!("has \"{name}\", whose access point is \"{access}\", a station");
        return refuse("station", format!("{message}; expected an access point that is none"));
    }
    Ok(stations)
}

fn station(
    around: Around<'_>,
    (field, document): (&str, &StationDocument),
    (name, own): (&str, usize),
    radios: &[NamedRadio],
) -> Result<StationSpec> {
    let nodes = format!("{field}.nodes");
    let only = |way: &str, mut found: Vec<usize>| match (found.pop(), found.is_empty()) {
        (Some(link), true) => Ok(link),
        (link, _) => {
            let count = found.len() + usize::from(link.is_some());
            let message = format!("\"{name}\" has {count} links {way}; expected one, the air");
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
        let message = format!("\"{name}\" sends to another node than it receives from; expected one access point");
        return refuse(nodes, message);
    }
    for link in [&around.links[down], &around.links[up]] {
        if link.control.is_some() || link.capacity.is_some() || matches!(link.queue, QueueModel::CoDel(_)) {
            let message =
                format!("\"{name}\" has the link {}, whose rate varies or whose queue CoDel manages", link.name);
            return refuse(nodes, format!("{message}; expected an air of fixed rate"));
        }
        if link.noise.is_some() {
            let message = format!("\"{name}\" has the link {}, which has noise", link.name);
            return refuse(nodes, format!("{message}; expected noise on the path before the air"));
        }
    }
    let wake = document.wake_time.unwrap_or(radios[0].power.wake);
    let air = Air { rate: around.links[down].rate, wake, mtu: around.document.mtu };
    let field = format!("{field}.mechanism");
    let mechanism = match &document.mechanism {
        None => StationMechanism::AlwaysOn,
        Some(StationMechanismDocument::Eager(document)) => {
            no_requests(around.flows, (&nodes, name), own)?;
            StationMechanism::Eager(eager(&field, document)?)
        }
        Some(StationMechanismDocument::ClientShaper(document)) => {
            one_download(around.flows, (&nodes, name), own)?;
            StationMechanism::ClientShaper(shaper(&field, document, air)?)
        }
        Some(StationMechanismDocument::Psm(document)) => {
            let access = access_point(&field, &document.access_point, air)?;
            StationMechanism::Psm(psm(&field, document, &access, air)?, access)
        }
        Some(StationMechanismDocument::Bsd(document)) => {
            let access = access_point(&field, &document.access_point, air)?;
            StationMechanism::Bsd(bsd(&field, document, &access, air)?, access)
        }
    };
    Ok(StationSpec { node: own, access, down, up, wake, radios: radios.to_vec(), mechanism })
}

/// What a mechanism has to know of the air.
#[derive(Clone, Copy)]
struct Air {
    rate: BitRate,
    wake: Duration,
    mtu: Bytes,
}

/// Acknowledgements are eager of flows, not of requests, whose connections come and go.
fn no_requests(flows: &Flows, (field, name): (&str, &str), own: usize) -> Result<()> {
    if flows.requests.iter().all(|flow| flow.path.to != own) {
        return Ok(());
    }
    refuse(field, format!("\"{name}\" receives requests; expected TCP flows only where acknowledgements are eager"))
}

/// A shaper knows one connection, the one that it receives.
fn one_download(flows: &Flows, (field, name): (&str, &str), own: usize) -> Result<()> {
    let touches = |path: &super::FlowPath| path.from == own || path.to == own;
    let tcp = flows.tcp.iter().filter(|flow| touches(&flow.path)).count();
    let requests = flows.requests.iter().filter(|flow| touches(&flow.path)).count();
    let received = flows.tcp.iter().any(|flow| flow.path.to == own);
    if tcp == 1 && received && requests == 0 {
        return Ok(());
    }
    let message = format!("\"{name}\" has {tcp} TCP flows and {requests} flows of requests");
    refuse(field, format!("{message}; expected one TCP flow, to it, where its client shapes"))
}

fn radios(field: &str, document: &StationDocument) -> Result<Vec<NamedRadio>> {
    let mut radios: Vec<NamedRadio> = Vec::with_capacity(document.radio.len());
    for (index, radio) in document.radio.iter().enumerate() {
        let field = format!("{field}.radio.{index}");
        let named = radio_model(&field, radio)?;
        super::check_name(&format!("{field}.name"), &named.name)?;
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

fn eager(field: &str, document: &EagerDocument) -> Result<EagerConfig> {
    let config = EagerConfig { least_wait: document.least_wait, longest_wait: document.longest_wait };
    netlull_mechanism::radio::Eager::new(&config, Instant::ZERO).map_err(|error| refused(field, &error))?;
    Ok(config)
}

fn shaper(field: &str, document: &ClientShaperDocument, air: Air) -> Result<ShaperConfig> {
    if document.paced_share.is_none() {
        let (from, stretch) = (document.paced_from, document.paced_stretch);
        if from != PacedFromReading::Bursts || stretch.to_bits() != PacedGuard::STRETCH.to_bits() {
            let option = if from == PacedFromReading::Bursts { "paced_stretch" } else { "paced_from" };
            return refuse(format!("{field}.{option}"), "needs a guard; expected it beside paced_share");
        }
    }
    let config = ShaperConfig {
        least_wait: document.least_wait,
        margin: document.margin,
        growth: document.growth,
        patience: document.patience,
        saturation: document.saturation,
        saturated_bursts: document.saturated_bursts,
        eager: document.eager,
        rtt_from: match document.rtt_from {
            RttFromReading::AnyEcho => RttFrom::AnyEcho,
            RttFromReading::OpenAck => RttFrom::OpenAck,
        },
        repair: match document.repair {
            RepairReading::Closed => RepairAcks::Closed,
            RepairReading::AsTheyAre => RepairAcks::AsTheyAre,
        },
        paced: document.paced_share.map(|share| PacedGuard {
            share,
            stretch: document.paced_stretch,
            bursts: document.paced_bursts,
            from: match document.paced_from {
                PacedFromReading::Bursts => PacedFrom::Bursts,
                PacedFromReading::SlowStart => PacedFrom::SlowStart,
            },
        }),
        ..ShaperConfig::new(air.rate, air.wake)
    };
    netlull_mechanism::radio::Shaper::new(&config, Instant::ZERO).map_err(|error| refused(field, &error))?;
    Ok(config)
}

/// The same of a station that listens to beacons: some of its parameters are the access point's, or the radio's.
fn refused_listening(field: &str, error: &ConfigError) -> ScenarioError {
    let own = field.strip_suffix(".mechanism").unwrap_or(field);
    let path = match error.field.as_str() {
        "wake" => format!("{own}.wake_time"),
        "patience" | "beacon_period" | "first_beacon" | "poll" => format!("{field}.access_point.{}", error.field),
        other => format!("{field}.{other}"),
    };
    ScenarioError::new(path, format!("is {}; expected {}", error.value, error.expected))
}

/// What a beacon takes on the air, about 100 bytes at 1 Mb/s and a preamble.
const BEACON_TIME: Duration = Duration::from_millis(1);
/// A packet of 1500 bytes takes 12 ms at 1 Mb/s.
const PATIENCE: Duration = Duration::from_millis(20);

/// How long the next packet of a burst is waited for: at least what one of one MTU takes behind a poll.
fn patience(field: &str, document: &AccessPointDocument, air: Air) -> Result<Duration> {
    let period = document.beacon_period;
    let packet = air.rate.time_for(air.mtu) + document.poll_time;
    let patience = document.patience.unwrap_or(PATIENCE.min(period / 2).max(packet));
    if patience < packet {
        let message = format!("is {patience}; expected at least {packet}, a packet of one MTU behind a poll");
        return refuse(format!("{field}.patience"), message);
    }
    if patience >= period {
        let message =
            format!("is {period}; expected more than {patience}, which a packet of one MTU may need behind a poll");
        return refuse(format!("{field}.beacon_period"), message);
    }
    Ok(patience)
}

fn access_point(field: &str, document: &AccessPointDocument, air: Air) -> Result<AccessSpec> {
    let field = format!("{field}.access_point");
    let config = AccessPointConfig {
        beacon_period: document.beacon_period,
        first_beacon: Instant::ZERO + document.first_beacon.unwrap_or(document.beacon_period),
        buffer: document.buffer,
        poll: match document.poll {
            PollReading::One => Polling::One,
            PollReading::All => Polling::All,
        },
    };
    netlull_mechanism::radio::AccessPoint::new(&config, Instant::ZERO).map_err(|error| refused(&field, &error))?;
    let period = config.beacon_period;
    let beacon_time = document.beacon_time.unwrap_or(BEACON_TIME.min(period / 10));
    if beacon_time >= period {
        let message = format!("is {beacon_time}; expected less than the beacon period, {period}");
        return refuse(format!("{field}.beacon_time"), message);
    }
    let patience = patience(&field, document, air)?;
    Ok(AccessSpec { config, beacon_time, poll_time: document.poll_time, patience })
}

fn psm(field: &str, document: &PsmDocument, access: &AccessSpec, air: Air) -> Result<PsmConfig> {
    let config = PsmConfig {
        beacon_period: access.config.beacon_period,
        first_beacon: access.config.first_beacon,
        wake: air.wake,
        listen_interval: document.listen_interval,
        poll: access.config.poll,
        patience: access.patience,
    };
    netlull_mechanism::radio::Psm::new(&config, Instant::ZERO).map_err(|error| refused_listening(field, &error))?;
    Ok(config)
}

fn bsd(field: &str, document: &BsdDocument, access: &AccessSpec, air: Air) -> Result<BsdConfig> {
    let config = BsdConfig {
        slowdown: document.slowdown,
        beacon_period: access.config.beacon_period,
        first_beacon: access.config.first_beacon,
        wake: air.wake,
        longest_listen: document.longest_listen,
        request: match document.request {
            RequestReading::EveryPacket => Requests::EveryPacket,
            RequestReading::DataOnly => Requests::DataOnly,
        },
        poll: access.config.poll,
        patience: access.patience,
    };
    netlull_mechanism::radio::Bsd::new(&config, Instant::ZERO).map_err(|error| refused_listening(field, &error))?;
    Ok(config)
}
