//! Conversion of sleeping links in the document: links, times and router updates.

use super::links::Wire;
use super::sleep_plan::{Network, planned};
use super::{LinkSpec, Result, refuse};
use crate::net::ids::LinkId;
use crate::net::routing::link_state::{Announcement, Cable, Outage, Update};
use crate::scenario::document::{Document, SleepDocument, UpdateDocument};
use crate::scenario::{ScenarioError, listed};
use netlull_units::Instant;

/// The maximum number of hops if links sleep (the default of RFC 1700).
const DEFAULT_TTL: u8 = 64;

/// Routing of packets.
#[derive(Clone, Copy, Debug)]
pub struct RoutingSpec {
    /// Maximum number of hops of a packet; `None` if hops are not counted.
    pub ttl: Option<u8>,
    /// Announcement of sleeping and waking links to routers.
    pub update: Update,
}

/// A single sleep of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nap {
    /// The number of the cable.
    pub cable: usize,
    /// Time of the announcement.
    pub announced: Instant,
    /// Start of the sleep.
    pub asleep: Instant,
    /// Start of waking; [`Instant::NEVER`] if the cable is never woken.
    pub wakes: Instant,
    /// Time at which the cable is awake and announced.
    pub awake: Instant,
}

/// Sleeping links.
#[derive(Clone, Debug, Default)]
pub struct SleepSpec {
    /// The cables that sleep at least once.
    pub cables: Vec<Cable>,
    /// The sleeps, in the order of their announcements.
    pub naps: Vec<Nap>,
}

impl SleepSpec {
    /// The announcements of the cables' ends, sorted by time.
    #[must_use]
    pub fn announcements(&self) -> Vec<Announcement> {
        let both = |nap: &Nap| {
            let Nap { cable, announced, awake, .. } = *nap;
            [Announcement { at: announced, cable, up: false }, Announcement { at: awake, cable, up: true }]
        };
        let mut announcements: Vec<Announcement> = self.naps.iter().flat_map(both).collect();
        announcements.retain(|announcement| announcement.at < Instant::NEVER);
        announcements.sort_by_key(|announcement| announcement.at);
        announcements
    }

    /// The times in which cables carry nothing, sorted by time.
    #[must_use]
    pub fn outages(&self) -> Vec<Outage> {
        let outage = |nap: &Nap| Outage { cable: nap.cable, from: nap.asleep, to: nap.awake };
        let mut outages: Vec<Outage> = self.naps.iter().map(outage).collect();
        outages.sort_by_key(|outage| outage.from);
        outages
    }
}

/// The routing options. Their defaults depend on the presence of sleeping links.
pub(super) fn routing(document: &Document) -> Result<RoutingSpec> {
    let written = &document.routing;
    let ttl = match written.ttl.map(|hops| (hops, u8::try_from(hops))) {
        None => (!document.sleep.is_empty()).then_some(DEFAULT_TTL),
        Some((_, Ok(hops @ 1..))) => Some(hops),
        Some((hops, _)) => return refuse("routing.ttl", format!("is {hops}; expected 1 to 255 hops")),
    };
    let update = match &written.update {
        UpdateDocument::Flooding(flooding) => {
            Update::Flooding { processing: flooding.processing, computation: flooding.computation }
        }
        UpdateDocument::Simultaneous(together) => Update::Simultaneous { after: together.after },
    };
    Ok(RoutingSpec { ttl, update })
}

/// Every sleep of every link. Sleeps of a link must not overlap.
pub(super) fn sleep(network: Network<'_>, links: &[LinkSpec]) -> Result<SleepSpec> {
    let (mut spec, document) = (SleepSpec::default(), network.document);
    for (index, written) in document.sleep.iter().enumerate() {
        let field = format!("sleep.{index}");
        if written.at >= document.duration {
            let message = format!("is {}; expected a time before the run ends at {}", written.at, document.duration);
            return refuse(format!("{field}.at"), message);
        }
        for (number, (field, cable)) in (0_u64..).zip(chosen(&field, written, network)?) {
            can_sleep(&field, &cable, links)?;
            let nap = nap(&field, written, number, spec.number(cable))?;
            spec.lie_down(&field, nap)?;
        }
    }
    spec.naps.sort_by_key(|nap| nap.announced);
    Ok(spec)
}

impl SleepSpec {
    /// The number of a cable, which is added if it is new.
    fn number(&mut self, cable: Cable) -> usize {
        self.cables.iter().position(|known| *known == cable).unwrap_or_else(|| {
            self.cables.push(cable);
            self.cables.len() - 1
        })
    }

    fn lie_down(&mut self, field: &str, nap: Nap) -> Result<()> {
        let same = self.naps.iter().filter(|other| other.cable == nap.cable);
        if let Some(other) = same.into_iter().find(|other| nap.announced <= other.awake && other.announced <= nap.awake)
        {
            let name = &self.cables[nap.cable].name;
            let until =
                if other.awake == Instant::NEVER { "the end of the run".to_owned() } else { other.awake.to_string() };
            let message = format!(
                "puts \"{name}\" to sleep, which sleeps from {} to {until}; expected another link",
                other.announced
            );
            return refuse(field, message);
        }
        self.naps.push(nap);
        Ok(())
    }
}

/// The cables of an entry, each with its field, in the order in which they fall asleep.
fn chosen(field: &str, written: &SleepDocument, network: Network<'_>) -> Result<Vec<(String, Cable)>> {
    match (&written.links, &written.plan) {
        (Some(names), None) if names.is_empty() => {
            refuse(format!("{field}.links"), "is empty; expected at least one link")
        }
        (Some(names), None) => {
            let find = |(number, name): (usize, &String)| {
                let field = format!("{field}.links.{number}");
                named(&field, name, network.wires).map(|cable| (field, cable))
            };
            names.iter().enumerate().map(find).collect()
        }
        (None, Some(plan)) => {
            let field = format!("{field}.plan");
            let wakes = written.wake.map_or(Instant::NEVER, |wake| Instant::ZERO + wake);
            let wires = planned(&field, plan, network, (Instant::ZERO + written.at, wakes))?;
            Ok(wires.into_iter().map(|wire| (field.clone(), cable(network.wires, wire))).collect())
        }
        _ => refuse(field, "has both or neither of `links` and `plan`; expected one of them"),
    }
}

/// The cable of a link.
fn named(field: &str, name: &str, wires: &[Wire<'_>]) -> Result<Cable> {
    match wires.iter().position(|wire| wire.name == name) {
        Some(place) => Ok(cable(wires, place)),
        None => {
            let known: Vec<&str> = wires.iter().filter(|wire| wire.is_there()).map(|wire| wire.name.as_str()).collect();
            let known = listed(&known);
            Err(ScenarioError::new(field, format!("\"{name}\" is not a link; expected one of {known}")))
        }
    }
}

/// The cable of the wire at `place`. It includes the adjacent wire, the other direction of a duplex link.
fn cable(wires: &[Wire<'_>], place: usize) -> Cable {
    let there = if wires[place].is_there() { place } else { place - 1 };
    let wires_of_it = if wires[there].document.duplex { there..there + 2 } else { there..there + 1 };
    Cable { name: wires[there].name.clone(), links: wires_of_it.map(LinkId::new).collect() }
}

/// Checks that a cable may sleep. A controller would not learn of the sleep, so the rate must be fixed.
fn can_sleep(field: &str, cable: &Cable, links: &[LinkSpec]) -> Result<()> {
    for link in cable.links.iter().map(|&link| &links[link.index()]) {
        let what = match (&link.control, &link.capacity) {
            (Some(_), _) => "controller",
            (None, Some(_)) => "varying capacity",
            (None, None) => continue,
        };
        return refuse(field, format!("\"{}\" has a {what}; expected a link of fixed rate", link.name));
    }
    Ok(())
}

fn nap(field: &str, written: &SleepDocument, number: u64, cable: usize) -> Result<Nap> {
    let later = written.spacing.saturating_mul(number);
    let announced = Instant::ZERO + written.at + later;
    let asleep = announced + written.drain;
    let wakes = written.wake.map_or(Instant::NEVER, |wake| Instant::ZERO + wake + later);
    if let Some(wake) = written.wake.filter(|wake| *wake <= written.at + written.drain) {
        let entry = field.split(".links").next().and_then(|entry| entry.split(".plan").next()).unwrap_or(field);
        let asleep = written.at + written.drain;
        return refuse(
            format!("{entry}.wake"),
            format!("is {}; expected a time after the first link has fallen asleep, at {asleep}", wake),
        );
    }
    Ok(Nap { cable, announced, asleep, wakes, awake: wakes + written.wake_time })
}
