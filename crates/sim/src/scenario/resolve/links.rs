//! Links of the document: rates, controllers, capacities.

use super::queueing::{self, Measure};
use super::{Capacity, Control, FASTEST, LinkSpec, Nodes, Result, check_name, refuse, two_nodes};
use crate::net::routing::Edge;
use crate::scenario::ScenarioError;
use crate::scenario::document::{
    ArrivalsReading, CapacityDocument, ControllerDocument, Document, ForecastStartReading, LinkDocument,
    PractraDocument, QueueReading, RatesDocument, ReachReading, StepsDocument, TransitionPowerReading,
    UniformRedrawDocument,
};
use netlull_mechanism::rate::{ArrivalCount, Evaluate, ForecastStart, PractRaConfig, QueueCount, RateSet, Reach};
use netlull_power::TransitionPower;
use netlull_units::{BitRate, Instant};

/// One direction of a link of the document.
pub(super) struct Wire<'a> {
    pub name: String,
    pub document: &'a LinkDocument,
    pub edge: Edge,
    way: Way,
}

impl Wire<'_> {
    /// Whether it is the way that the document describes, not the way back of a duplex link.
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
    for link in &document.link {
        let name = link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to));
        let field = format!("link.{name}");
        check_name(&format!("{field}.name"), &name)?;
        let (from, to) = two_nodes(nodes, &field, &link.from, &link.to)?;
        if link.cost == 0 {
            return refuse(format!("{field}.cost"), "is 0; expected 1 or more");
        }
        wires.push(Wire { name, document: link, edge: Edge { from, to, cost: link.cost }, way: Way::There });
        if link.duplex {
            let name = format!("{}-{}", link.to, link.from);
            wires.push(Wire {
                name,
                document: link,
                edge: Edge { from: to, to: from, cost: link.cost },
                way: Way::Back,
            });
        }
    }
    Ok(wires)
}

pub(super) fn link(wire: &Wire<'_>, measure: Measure) -> Result<LinkSpec> {
    let (document, field) = (wire.document, format!("link.{}", wire.name));
    let rate = document.rate.0;
    if rate.is_zero() || rate > FASTEST {
        return refuse(format!("{field}.rate"), format!("is {rate}; expected more than 0 b/s and at most {FASTEST}"));
    }
    let there = wire.is_there();
    let control = document.controller.as_ref().filter(|_| there).map(|doc| control(&field, doc, rate)).transpose()?;
    let capacity = document.capacity.as_ref().filter(|_| there).map(|doc| capacity(&field, doc, rate)).transpose()?;
    if control.is_some() && capacity.is_some() {
        return refuse(format!("{field}.capacity"), "stands beside a controller; expected one or the other");
    }
    Ok(LinkSpec {
        name: wire.name.clone(),
        from: wire.edge.from,
        to: wire.edge.to,
        rate,
        delay: document.delay.0,
        buffer: queueing::buffer(&field, document, measure)?,
        queue: queueing::queue(&field, document, measure)?,
        control,
        capacity,
        loss: None,
    })
}

fn control(field: &str, document: &ControllerDocument, rate: BitRate) -> Result<Control> {
    let ControllerDocument::Practra(document) = document;
    let field = format!("{field}.controller");
    let practra = practra(&field, document)?;
    if practra.rates.highest() != rate {
        let message = format!("end at {}; expected the link's rate, {rate}, as the highest", practra.rates.highest());
        return refuse(format!("{field}.rates"), message);
    }
    let transition_power = match document.transition_power {
        TransitionPowerReading::Higher => TransitionPower::Higher,
        TransitionPowerReading::New => TransitionPower::New,
        TransitionPowerReading::Old => TransitionPower::Old,
    };
    Ok(Control { practra, in_service: document.in_service, transition_power })
}

fn practra(field: &str, document: &PractraDocument) -> Result<PractRaConfig> {
    let rates = match &document.rates {
        RatesDocument::List(list) => RateSet::from_list(&list.iter().map(|rate| rate.0).collect::<Vec<_>>()),
        RatesDocument::Steps(steps) => RateSet::from_range(steps.from.0, steps.to.0, steps.step.0),
    };
    let refused = |error: netlull_mechanism::ConfigError| {
        ScenarioError::new(
            format!("{field}.{}", error.field),
            format!("is {}; expected {}", error.value, error.expected),
        )
    };
    let config = PractRaConfig {
        transition: document.transition.0,
        min_interval: document.min_interval.0,
        delay_bound: document.delay_bound.0,
        forecast_weight: document.forecast_weight,
        forecast_interval: document.forecast_interval.map(|interval| interval.0),
        forecast_start: match document.forecast_start {
            ForecastStartReading::FirstSample => ForecastStart::FirstSample,
            ForecastStartReading::Zero => ForecastStart::Zero,
        },
        evaluate: document.tick.map_or(Evaluate::EveryEvent, |tick| Evaluate::Tick(tick.0)),
        queue: match document.queue {
            QueueReading::Waiting => QueueCount::Waiting,
            QueueReading::WaitingAndInService => QueueCount::WaitingAndInService,
        },
        arrivals: match document.arrivals {
            ArrivalsReading::Offered => ArrivalCount::Offered,
            ArrivalsReading::Accepted => ArrivalCount::Accepted,
        },
        steps: match document.steps {
            ReachReading::Adjacent => Reach::Adjacent,
            ReachReading::Any => Reach::Any,
        },
        initial_rate: document.initial_rate.map(|rate| rate.0),
        ..PractRaConfig::new(rates.map_err(refused)?)
    };
    config.validate().map_err(refused)?;
    Ok(config)
}

fn capacity(field: &str, document: &CapacityDocument, rate: BitRate) -> Result<Capacity> {
    let field = format!("{field}.capacity");
    match document {
        CapacityDocument::UniformRedraw(document) => redraws(&field, document, rate),
        CapacityDocument::Steps(document) => steps(&field, document, rate),
    }
}

fn redraws(field: &str, document: &UniformRedrawDocument, rate: BitRate) -> Result<Capacity> {
    let (min, max, mean_interval) = (document.min.0, document.max.0, document.mean_interval.0);
    if min.is_zero() {
        return refuse(format!("{field}.min"), "is 0 b/s; expected more than 0 b/s");
    }
    if max <= min || max > rate {
        let message = format!("is {max}; expected more than min, {min}, and at most the link's rate, {rate}");
        return refuse(format!("{field}.max"), message);
    }
    if mean_interval.is_zero() {
        return refuse(format!("{field}.mean_interval"), "is 0 s; expected more than 0 s");
    }
    Ok(Capacity::Redraws { min, max, mean_interval })
}

fn steps(field: &str, document: &StepsDocument, most: BitRate) -> Result<Capacity> {
    if document.steps.is_empty() {
        return refuse(format!("{field}.steps"), "is empty; expected at least one step");
    }
    let mut steps: Vec<(Instant, BitRate)> = Vec::with_capacity(document.steps.len());
    for (index, step) in document.steps.iter().enumerate() {
        let (at, rate) = (Instant::ZERO + step.at.0, step.rate.0);
        if at == Instant::ZERO || steps.last().is_some_and(|&(before, _)| at <= before) {
            let message = format!("is {}; expected a time after 0 s and after the step before it", step.at.0);
            return refuse(format!("{field}.steps.{index}.at"), message);
        }
        if rate.is_zero() || rate > most {
            let message = format!("is {rate}; expected more than 0 b/s and at most the link's rate, {most}");
            return refuse(format!("{field}.steps.{index}.rate"), message);
        }
        steps.push((at, rate));
    }
    Ok(Capacity::Steps(steps))
}
