//! Conversion of shared airs: links whose transmissions never overlap.

use super::links::Wire;
use super::{LinkSpec, Result, check_name, refuse};
use crate::scenario::document::Document;
use crate::scenario::listed;
use netlull_mechanism::machines::StationMechanism;
use netlull_network::queue::QueueModel;
use netlull_units::Duration;

/// An air that links share.
#[derive(Clone, Debug)]
pub struct AirSpec {
    /// Name.
    pub name: String,
    /// The time on the air that each packet takes in addition to its bits.
    pub overhead: Duration,
}

/// The longest overhead of a packet.
const MOST_OVERHEAD: Duration = Duration::from_secs(1);

/// The airs, in the order of the document. Each link gets the index of its air.
pub(super) fn airs(document: &Document, wires: &[Wire<'_>], links: &mut [LinkSpec]) -> Result<Vec<AirSpec>> {
    let mut airs: Vec<AirSpec> = Vec::with_capacity(document.air.len());
    for air in &document.air {
        let field = format!("air.{}", air.name);
        check_name(&format!("{field}.name"), &air.name)?;
        if airs.iter().any(|other| other.name == air.name) {
            return refuse(format!("{field}.name"), "is given twice; expected different names");
        }
        if air.overhead > MOST_OVERHEAD {
            return refuse(
                format!("{field}.overhead"),
                format!("is {}; expected at most {MOST_OVERHEAD}", air.overhead),
            );
        }
        airs.push(AirSpec { name: air.name.clone(), overhead: air.overhead });
    }
    for (wire, link) in wires.iter().zip(links) {
        let Some(name) = &wire.document.air else { continue };
        let field = format!("link.{}.air", link.name);
        let Some(place) = airs.iter().position(|air| air.name == *name) else {
            let known: Vec<&str> = airs.iter().map(|air| air.name.as_str()).collect();
            let known = if known.is_empty() { "an entry [[air]]".to_owned() } else { listed(&known) };
            return refuse(field, format!("\"{name}\" is unknown; expected {known}"));
        };
        if link.control.is_some() || link.capacity.is_some() || matches!(link.queue, QueueModel::CoDel(_)) {
            let message = "conflicts with a controller, a varying capacity or CoDel";
            return refuse(field, format!("{message}; expected a link of fixed rate"));
        }
        if !document.sleep.is_empty() {
            return refuse(field, "conflicts with [[sleep]]; expected an air only if no link sleeps");
        }
        link.air = Some(place);
    }
    Ok(airs)
}

/// Checks that a station's machine needs no access point. Beacons and polls do not contend for the air.
pub(super) fn check_station(field: &str, mechanism: &StationMechanism, links: [&LinkSpec; 2]) -> Result<()> {
    if mechanism.access_point().is_some() && links.iter().any(|link| link.air.is_some()) {
        let message = format!("is {}, whose beacons and polls do not contend for a shared air", mechanism.name());
        return refuse(format!("{field}.mechanism.kind"), format!("{message}; expected client_shaper, eager or none"));
    }
    Ok(())
}
