//! Links: ends, rates, controllers, varying capacities, shared airs.

use super::arrival::{self, AggregationDocument, LateDocument, NoiseDocument};
use super::frame::{FASTEST, Nodes, Result, check, check_name, listed, refuse, refused, two_nodes};
use super::loss::LossDocument;
use super::quantity::BufferSize;
use super::queue::{self, Measure, QueueDocument};
use crate::net::routing::Edge;
use netlull_document::table_of_kind;
use netlull_mechanism::rate::{LpiAlone, LpiConfig, Naps};
use netlull_mechanism::{ConfigError, link};
use netlull_network::arrival::ArrivalModel;
use netlull_network::loss::LossModel;
use netlull_network::plan::InService;
use netlull_network::queue::{Buffer, QueueModel};
use netlull_network::trace::Trace;
use netlull_power::TransitionPower;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A link from one node to another; `duplex` adds the reverse link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkDocument {
    /// Name; default `FROM-TO`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Adds the link `TO-FROM` with the same rate, overhead, delay, buffer and queue (no controller, capacity, loss, noise,
    /// late packets or aggregation).
    #[serde(default)]
    pub duplex: bool,
    /// Rate; the maximum if a controller or a varying capacity changes it.
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-maximum" = FASTEST.to_string()))]
    pub rate: BitRate,
    /// Speed of the port whose power the link is charged, if `rate` is that of a smaller network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exclusiveMinimum" = "0 b/s", "x-default" = "`rate`"))]
    pub port_speed: Option<BitRate>,
    /// Layer-2 bytes of each packet on the wire: 20 B for Ethernet's preamble and gap, 38 B with its header and FCS; at most
    /// 1 kB. Counters of bytes exclude them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-maximum" = "1 kB", "x-default" = "0 B"))]
    pub overhead: Option<Bytes>,
    /// Propagation delay, one way.
    #[serde(default)]
    pub delay: Duration,
    /// Maximum backlog, without the packet in service.
    ///
    /// `BDP` is rate x two-way propagation delay of the longest route of any flow across the link. It is counted in
    /// packets of one MTU and rounded to the nearest.
    #[serde(default = "default_buffer")]
    pub buffer: BufferSize,
    /// Minimum number of packets in a buffer given in BDP.
    #[serde(default = "default_buffer_floor")]
    #[schemars(range(min = 1))]
    pub buffer_floor: u64,
    /// Queue management within the buffer; default drop-tail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueDocument>,
    /// Routing cost.
    #[serde(default = "default_cost")]
    #[schemars(range(min = 1))]
    pub cost: u32,
    /// Controller that scales the link's rate with its traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerDocument>,
    /// Capacity that varies independently of the traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityDocument>,
    /// Packet losses before the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossDocument>,
    /// Random extra delay of each packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseDocument>,
    /// Packets that arrive later than they would. Others overtake them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<LateDocument>,
    /// Delivery in batches: all packets since the last batch arrive together, in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<AggregationDocument>,
    /// Name of the air that the link, and with `duplex` also its reverse link, shares with other links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub air: Option<String>,
}

table_of_kind! {
    /// A controller that changes a link's rate, the windows of the TCP flows that cross it, or both.
    pub struct ControllerDocument {
        /// The controller with its parameters.
        pub mechanism: link::Config = link::Config::KINDS,
        /// The link options for controllers that change its rate.
        pub rate: RateOptions if changes_rate,
        /// The link options for controllers that read segments.
        pub segments: SegmentOptions if reads_segments,
    }
}

/// The link options for a controller that changes its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateOptions {
    /// Treatment of the packet in service when the rate changes.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub in_service: InService,
    /// Rate that determines the power while the link pauses for a change.
    #[serde(default)]
    #[schemars(extend("x-source" = "reading"))]
    pub transition_power: TransitionPower,
}

/// The link options for a controller that reads segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SegmentOptions {
    /// Link that carries the acknowledgements; default the reverse link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "link", "x-default" = "the reverse link", "x-source" = "-"))]
    pub acknowledgements: Option<String>,
}

/// A capacity that varies independently of the traffic.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum CapacityDocument {
    /// Uniform redraws on [min, max] after exponential intervals. The link starts at its `rate`.
    UniformRedraw(UniformRedrawDocument),
    /// New rates at given times. The link starts at its `rate`, or with a step at 0 s.
    Steps(StepsDocument),
    /// Delivery opportunities of a trace of Mahimahi: at each, the link delivers up to 1504 B of waiting packets.
    Trace(TraceDocument),
}

/// A trace of delivery opportunities.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceDocument {
    /// Times of the opportunities in milliseconds, ascending, with repetitions. After the last one the trace begins again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opportunities: Option<Vec<u64>>,
    /// File of Mahimahi's mm-link, with a time on each line. It becomes `opportunities` when the scenario is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// Steps of a capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepsDocument {
    /// Steps, sorted by time.
    pub steps: Vec<StepDocument>,
}

/// A step of a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepDocument {
    /// Time of the step.
    pub at: Duration,
    /// Rate after the step, from 0 b/s to the link's `rate`, the highest of all steps. It applies at once, also to the
    /// packet in service.
    pub rate: BitRate,
}

/// Uniform redraws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UniformRedrawDocument {
    /// Lowest capacity.
    pub min: BitRate,
    /// Highest capacity.
    pub max: BitRate,
    /// Mean of the intervals between redraws.
    #[schemars(extend("x-exclusiveMinimum" = "0 s"))]
    pub mean_interval: Duration,
}

/// An air that several links share. It carries one packet at a time, in the order of their arrivals at the links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AirDocument {
    /// Name for the field `air` of links.
    pub name: String,
    /// Time on the air that each packet takes in addition to its bits; at most 1 s.
    #[serde(default)]
    pub overhead: Duration,
}

fn default_buffer() -> BufferSize {
    BufferSize::BandwidthDelay(1.0)
}

fn default_buffer_floor() -> u64 {
    5
}

fn default_cost() -> u32 {
    1
}

/// A direction of a link. Boxes hold the parts that few links have.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Name.
    pub name: String,
    /// Sending node.
    pub from: usize,
    /// Receiving node.
    pub to: usize,
    /// Rate, or maximum rate.
    pub rate: BitRate,
    /// The speed of its port for power models.
    pub speed: BitRate,
    /// The bytes on the wire that each packet has in addition to its size.
    pub overhead: u32,
    /// Propagation delay.
    pub delay: Duration,
    /// Limit of the queue.
    pub buffer: Buffer,
    /// Queue management.
    pub queue: QueueModel,
    /// Rate controller.
    pub control: Option<Box<ControlSpec>>,
    /// Varying capacity.
    pub capacity: Option<Capacity>,
    /// Packet losses.
    pub loss: Option<Box<LossModel>>,
    /// Laws of arrivals.
    pub arrival: Option<Box<ArrivalModel>>,
    /// The index of the air that it shares with other links.
    pub air: Option<usize>,
}

impl LinkSpec {
    /// Returns true if the rate can change. A trace has opportunities instead of rates.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.control.is_some() || (self.capacity.is_some() && self.trace().is_none())
    }

    /// Its trace of delivery opportunities, if it follows one.
    #[must_use]
    pub fn trace(&self) -> Option<&Arc<Trace>> {
        match &self.capacity {
            Some(Capacity::Trace(trace)) => Some(trace),
            _ => None,
        }
    }

    /// Returns true if departures are scheduled instead of computed ahead.
    #[must_use]
    pub fn schedules_departures(&self) -> bool {
        (self.varies() || matches!(self.queue, QueueModel::CoDel(_))) && self.alone().is_none()
    }

    /// Returns true if a machine of the run controls it.
    pub(crate) fn is_controlled(&self) -> bool {
        self.control.is_some() && self.alone().is_none()
    }

    /// Its low-power idle, if the first packet alone wakes it: departures are computed ahead then.
    pub(crate) fn alone(&self) -> Option<LpiAlone> {
        let control = self.control.as_ref().filter(|control| control.naps.is_none())?;
        let config = self.low_power().filter(|_| matches!(self.queue, QueueModel::DropTail))?;
        config.alone(control.link, Instant::ZERO).ok().flatten()
    }

    /// The longest lateness that its controller guarantees. A queue that drops packets at departures, CoDel, voids the
    /// guarantee.
    #[must_use]
    pub fn lateness_bound(&self) -> Option<Duration> {
        let control = self.control.as_ref().filter(|_| !matches!(self.queue, QueueModel::CoDel(_)))?;
        control.mechanism.lateness_bound_with(control.link, control.naps.as_ref())
    }

    /// The parameters of its low-power idle, if it has any.
    #[must_use]
    pub fn low_power(&self) -> Option<&LpiConfig> {
        match &self.control.as_ref()?.mechanism {
            link::Config::Lpi(config) => Some(config),
            _ => None,
        }
    }

    /// The power asleep and in fast wake as shares of the active power, with low-power idle.
    pub(crate) fn low_power_shares(&self) -> Option<(f64, f64)> {
        self.low_power().map(LpiConfig::shares)
    }

    /// The initial rate.
    #[must_use]
    pub fn first_rate(&self) -> BitRate {
        match &self.capacity {
            Some(Capacity::Steps(steps)) => {
                steps.first().filter(|(at, _)| *at == Instant::ZERO).map_or(self.rate, |&(_, rate)| rate)
            }
            _ => self.control.as_ref().and_then(|control| control.mechanism.initial_rate()).unwrap_or(self.rate),
        }
    }
}

/// A controller and the link's options for it.
#[derive(Clone, Debug)]
pub struct ControlSpec {
    /// The controller with its parameters.
    pub mechanism: link::Config,
    /// The link as the controller sees it.
    pub link: link::Context,
    /// The index of the link with a gateway's acknowledgements.
    pub acknowledgements: Option<usize>,
    /// The index of the other direction, if both sleep and wake together.
    pub coupled_with: Option<usize>,
    /// The times at which the link sleeps, if `[[sleep]]` gives them.
    pub naps: Option<Naps>,
    /// Treatment of the packet in service when the rate changes.
    pub in_service: InService,
    /// Power charged during a transition.
    pub transition_power: TransitionPower,
}

/// A capacity that varies independently of the traffic.
#[derive(Clone, Debug)]
pub enum Capacity {
    /// Uniform redraws on [min, max] after exponential intervals.
    Redraws {
        /// Lowest capacity.
        min: BitRate,
        /// Highest capacity.
        max: BitRate,
        /// Mean interval.
        mean_interval: Duration,
    },
    /// Rates at given times, in ascending order.
    Steps(Vec<(Instant, BitRate)>),
    /// The opportunities of a trace.
    Trace(Arc<Trace>),
}

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

pub(super) fn wire_up<'a>(documents: &'a [LinkDocument], by_hops: bool, nodes: &Nodes<'_>) -> Result<Vec<Wire<'a>>> {
    let mut wires = Vec::new();
    for link in documents {
        let name = link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to));
        let field = format!("link.{name}");
        check_name(&format!("{field}.name"), &name)?;
        let (from, to) = two_nodes(nodes, &field, &link.from, &link.to)?;
        check(&field, link)?;
        let cost = if by_hops { 1 } else { link.cost };
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
        .map(|doc| control(&field, doc, document, measure))
        .transpose()?;
    let capacity = document.capacity.as_ref().filter(|_| there).map(|doc| capacity(&field, doc, rate)).transpose()?;
    if control.is_some() && capacity.is_some() {
        return refuse(format!("{field}.capacity"), "conflicts with a controller; expected only one of them");
    }
    let overhead = u32::try_from(document.overhead.unwrap_or_default().as_u64()).unwrap_or(u32::MAX);
    let is_fixed = control.as_ref().is_none_or(|control| control.mechanism.stops()) && capacity.is_none();
    if overhead > 0 && !is_fixed {
        let expected = "expected a link of fixed rate, or a controller of kind \"lpi\"";
        return refuse(format!("{field}.overhead"), format!("conflicts with a rate that varies; {expected}"));
    }
    let queue = queue::queue(&field, document.queue.as_ref(), measure)?;
    if matches!(capacity, Some(Capacity::Trace(_))) && matches!(queue, QueueModel::CoDel(_)) {
        let message = "is \"codel\", but the link follows a trace; expected \"drop_tail\" or \"red\"";
        return refuse(format!("{field}.queue.kind"), message);
    }
    Ok(LinkSpec {
        name: wire.name.clone(),
        from: wire.edge.from,
        to: wire.edge.to,
        rate,
        speed: document.port_speed.unwrap_or(rate),
        overhead,
        delay: document.delay,
        buffer: queue::buffer(&field, document.buffer, document.buffer_floor, measure)?,
        queue,
        control: control.map(Box::new),
        capacity,
        loss: None,
        arrival: arrival::without_late(document.noise, document.aggregation).filter(|_| there),
        air: None,
    })
}

/// A link's controller, checked.
pub(super) fn control(
    field: &str,
    document: &ControllerDocument,
    link: &LinkDocument,
    measure: Measure,
) -> Result<ControlSpec> {
    let options = document.rate.unwrap_or_default();
    let link = link::Context {
        rate: link.rate,
        mtu: measure.mtu,
        buffer: queue::buffer(field, link.buffer, link.buffer_floor, measure)?.length(measure.mtu),
        suspends: options.in_service == InService::Suspend,
    };
    document.mechanism.build(link, Instant::ZERO).map_err(|error| refused(&format!("{field}.controller"), &error))?;
    Ok(ControlSpec {
        mechanism: document.mechanism.clone(),
        link,
        acknowledgements: None,
        coupled_with: None,
        naps: None,
        in_service: options.in_service,
        transition_power: options.transition_power,
    })
}

/// The name of the link with a controller's acknowledgements; `None` if the controller reads no segments.
pub(super) fn acknowledgements(document: &ControllerDocument) -> Option<Option<&str>> {
    document
        .segments
        .as_ref()
        .filter(|_| document.mechanism.reads_segments())
        .map(|options| options.acknowledgements.as_deref())
}

/// Finds the links that carry the acknowledgements of gateways.
pub(super) fn join_gateways(wiring: &[Wire<'_>], links: &mut [LinkSpec]) -> Result<()> {
    for (index, wire) in wiring.iter().enumerate() {
        let document = wire.document.controller.as_ref().filter(|_| wire.is_there());
        let Some(named) = document.and_then(acknowledgements) else { continue };
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

/// Checks links with low-power idle: the hysteresis against the run, and the two directions of a coupled link.
pub(super) fn join_directions(duration: Duration, links: &mut [LinkSpec]) -> Result<()> {
    for index in 0..links.len() {
        let spec = &links[index];
        let (Some(config), Some(control)) = (spec.low_power(), &spec.control) else { continue };
        let field = format!("link.{}.controller", spec.name);
        let told = |error: ConfigError| refused(&field, &error);
        let hysteresis = config.hysteresis(control.link).map_err(told)?;
        if hysteresis >= duration {
            let message = format!("is {hysteresis}; expected less than the duration, {duration}");
            return refuse(format!("{field}.hysteresis"), message);
        }
        if !config.is_coupled() {
            continue;
        }
        let reverse = links.iter().position(|other| (other.from, other.to) == (spec.to, spec.from));
        let other = reverse.and_then(|reverse| links[reverse].low_power().filter(|other| other.is_coupled()));
        let (Some(reverse), Some(other)) = (reverse, other) else {
            let message = "is true, but the reverse link has no coupled controller of kind \"lpi\"";
            let expected = "one there, or coupled = false on a link whose directions sleep alone";
            return refuse(format!("{field}.coupled"), format!("{message}; expected {expected}"));
        };
        if let Some((name, own, there)) = config.differs_from(other, control.link).map_err(told)? {
            let message = format!("is {own}, but {there} on the reverse link \"{}\"", links[reverse].name);
            return refuse(format!("{field}.{name}"), format!("{message}; expected the same in coupled directions"));
        }
        if let Some(control) = &mut links[index].control {
            control.coupled_with = Some(reverse);
        }
    }
    Ok(())
}

fn capacity(field: &str, document: &CapacityDocument, rate: BitRate) -> Result<Capacity> {
    let field = format!("{field}.capacity");
    match document {
        CapacityDocument::UniformRedraw(document) => redraws(&field, document, rate),
        CapacityDocument::Steps(document) => steps(&field, document, rate),
        CapacityDocument::Trace(document) => trace(&field, document, rate),
    }
}

fn trace(field: &str, document: &TraceDocument, most: BitRate) -> Result<Capacity> {
    let times = match (&document.opportunities, &document.file) {
        (Some(times), None) => times.clone(),
        (None, Some(file)) => {
            let message = format!("\"{file}\" has not been read; expected its times as `opportunities` by now");
            return refuse(format!("{field}.file"), message);
        }
        _ => return refuse(field, "has both or neither of `opportunities` and `file`; expected one of them"),
    };
    let trace = match Trace::try_from(times) {
        Ok(trace) => trace,
        Err(expected) => {
            return refuse(format!("{field}.opportunities"), format!("has no time or a wrong one; {expected}"));
        }
    };
    let mean = trace.mean_rate();
    if mean > most {
        let message = format!("has a mean rate of {mean}; expected at most the link's rate, {most}");
        return refuse(field, message);
    }
    Ok(Capacity::Trace(Arc::new(trace)))
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
        if rate > most {
            let message = format!("is {rate}; expected at most the link's rate, {most}, the highest of all steps");
            return refuse(format!("{field}.steps.{index}.rate"), message);
        }
        steps.push((at, rate));
    }
    Ok(Capacity::Steps(steps))
}

/// The airs, in the order of the document. Each link gets the index of its air.
pub(super) fn airs(
    documents: &[AirDocument],
    sleeps: bool,
    wires: &[Wire<'_>],
    links: &mut [LinkSpec],
) -> Result<Vec<AirSpec>> {
    let mut airs: Vec<AirSpec> = Vec::with_capacity(documents.len());
    for air in documents {
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
        if link.overhead > 0 {
            return refuse(field, "conflicts with overhead; expected the overhead of the air alone, as a time");
        }
        if sleeps {
            return refuse(field, "conflicts with [[sleep]]; expected an air only if no link sleeps");
        }
        link.air = Some(place);
    }
    Ok(airs)
}
