//! Conversion of links in the document: rates, controllers, capacities.

use super::control;
use super::control::check;
use super::queueing::{self, Measure};
use super::{Capacity, LinkSpec, Nodes, Result, check_name, refuse, two_nodes};
use crate::net::routing::Edge;
use crate::scenario::document::{
    CapacityDocument, Document, LinkDocument, NoiseDocument, PathMetric, StepsDocument, UniformRedrawDocument,
};
use netlull_network::noise::NoiseModel;
use netlull_units::{BitRate, Duration, Instant};
use std::collections::BTreeSet;

/// A direction of a link of the document.
pub(super) struct Wire<'a> {
    pub name: String,
    pub document: &'a LinkDocument,
    pub edge: Edge,
    way: Way,
}

impl Wire<'_> {
    /// Returns true for the direction in the document, false for the reverse link of a duplex link.
    pub fn is_there(&self) -> bool {
        self.way == Way::There
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

pub(super) fn wire_up<'a>(document: &'a Document, nodes: &Nodes<'_>) -> Result<Vec<Wire<'a>>> {
    let mut wires = Vec::new();
    let hops = document.routing.metric == PathMetric::Hops;
    for link in &document.link {
        let name = link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to));
        let field = format!("link.{name}");
        check_name(&format!("{field}.name"), &name)?;
        let (from, to) = two_nodes(nodes, &field, &link.from, &link.to)?;
        check(&field, link)?;
        let cost = if hops { 1 } else { link.cost };
        wires.push(Wire { name, document: link, edge: Edge { from, to, cost }, way: Way::There });
        if link.duplex {
            let name = format!("{}-{}", link.to, link.from);
            wires.push(Wire { name, document: link, edge: Edge { from: to, to: from, cost }, way: Way::Back });
        }
    }
    no_reverse_link_is_written(&wires)?;
    Ok(wires)
}

/// Refuses a duplex link whose reverse link the document also has.
fn no_reverse_link_is_written(wires: &[Wire<'_>]) -> Result<()> {
    let written: BTreeSet<&str> = wires.iter().filter(|wire| wire.is_there()).map(|wire| wire.name.as_str()).collect();
    let Some(place) = wires.iter().position(|wire| !wire.is_there() && written.contains(wire.name.as_str())) else {
        return Ok(());
    };
    let (there, back) = (&wires[place - 1].name, &wires[place].name);
    let message = format!("makes the link \"{back}\", which is also written; expected only one of them");
    refuse(format!("link.{there}.duplex"), message)
}

pub(super) fn link(wire: &Wire<'_>, measure: Measure) -> Result<LinkSpec> {
    let (document, field) = (wire.document, format!("link.{}", wire.name));
    let rate = document.rate;
    let there = wire.is_there();
    let control = document
        .controller
        .as_ref()
        .filter(|_| there)
        .map(|doc| control::control(&field, doc, document, measure))
        .transpose()?;
    let capacity = document.capacity.as_ref().filter(|_| there).map(|doc| capacity(&field, doc, rate)).transpose()?;
    if control.is_some() && capacity.is_some() {
        return refuse(format!("{field}.capacity"), "conflicts with a controller; expected only one of them");
    }
    Ok(LinkSpec {
        name: wire.name.clone(),
        from: wire.edge.from,
        to: wire.edge.to,
        rate,
        delay: document.delay,
        buffer: queueing::buffer(&field, document, measure)?,
        queue: queueing::queue(&field, document, measure)?,
        control: control.map(Box::new),
        capacity,
        loss: None,
        noise: document.noise.filter(|_| there).and_then(noise),
        air: None,
    })
}

fn noise(NoiseDocument { mean, shape }: NoiseDocument) -> Option<NoiseModel> {
    (mean > Duration::ZERO).then_some(NoiseModel { mean, shape })
}

/// Finds the links that carry the acknowledgements of gateways.
pub(super) fn join_gateways(wiring: &[Wire<'_>], links: &mut [LinkSpec]) -> Result<()> {
    for (index, wire) in wiring.iter().enumerate() {
        let document = wire.document.controller.as_ref().filter(|_| wire.is_there());
        let Some(named) = document.and_then(control::acknowledgements) else { continue };
        let field = format!("link.{}.controller.acknowledgements", wire.name);
        let found = match named {
            Some(name) => wiring.iter().position(|other| other.name == name),
            None => wiring.iter().position(|other| (other.edge.from, other.edge.to) == (wire.edge.to, wire.edge.from)),
        };
        let Some(found) = found else {
            let problem = named
                .map_or("is missing, and no link leads back".to_owned(), |name| format!("\"{name}\" is not a link"));
            return refuse(field, format!("{problem}; expected the link that carries the acknowledgements"));
        };
        if wiring[found].edge.to != wire.edge.from {
            let message = format!("\"{}\" does not end where this link begins", wiring[found].name);
            return refuse(field, format!("{message}; expected the link that carries the acknowledgements"));
        }
        if let Some(control) = &mut links[index].control {
            control.acknowledgements = Some(found);
        }
    }
    Ok(())
}

fn capacity(field: &str, document: &CapacityDocument, rate: BitRate) -> Result<Capacity> {
    let field = format!("{field}.capacity");
    match document {
        CapacityDocument::UniformRedraw(document) => redraws(&field, document, rate),
        CapacityDocument::Steps(document) => steps(&field, document, rate),
    }
}

fn redraws(field: &str, document: &UniformRedrawDocument, rate: BitRate) -> Result<Capacity> {
    let (min, max, mean_interval) = (document.min, document.max, document.mean_interval);
    if max <= min || max > rate {
        let message = format!("is {max}; expected more than min, {min}, and at most the link's rate, {rate}");
        return refuse(format!("{field}.max"), message);
    }
    Ok(Capacity::Redraws { min, max, mean_interval })
}

fn steps(field: &str, document: &StepsDocument, most: BitRate) -> Result<Capacity> {
    if document.steps.is_empty() {
        return refuse(format!("{field}.steps"), "is empty; expected at least one step");
    }
    let mut steps: Vec<(Instant, BitRate)> = Vec::with_capacity(document.steps.len());
    for (index, step) in document.steps.iter().enumerate() {
        let (at, rate) = (Instant::ZERO + step.at, step.rate);
        if steps.last().is_some_and(|&(before, _)| at <= before) {
            let message = format!("is {}; expected a time after the step before it", step.at);
            return refuse(format!("{field}.steps.{index}.at"), message);
        }
        if rate.is_zero() || rate > most {
            let message = format!(
                "is {rate}; expected more than 0 b/s and at most the link's rate, {most}, the highest of all steps"
            );
            return refuse(format!("{field}.steps.{index}.rate"), message);
        }
        steps.push((at, rate));
    }
    Ok(Capacity::Steps(steps))
}
