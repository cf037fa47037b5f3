//! Sleeping links, the plans that choose them, and the routing around them.

use super::flow::Flows;
use super::frame::{Frame, Result, ScenarioError, listed, node, refuse};
use super::link::{ControlSpec, LinkSpec, Wire};
use super::offers::{Offer, offers};
use crate::net::ids::LinkId;
use crate::net::routing::link_state::{Announcement, Cable, Outage, Update};
use crate::net::routing::{Edge, Routes};
use crate::traffic::FlowPath;
use netlull_document::{check_ranges, table_of_kind};
use netlull_mechanism::rate::{LpiConfig, Naps};
use netlull_mechanism::topology::{Demand, Graph, GraphError, SleepAlgorithm, Traffic};
use netlull_mechanism::{ConfigError, link};
use netlull_network::plan::InService;
use netlull_power::TransitionPower;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Sleeping links, and their sleep times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepDocument {
    /// Time of the decision and announcement that the (first) link sleeps.
    pub at: Duration,
    /// Links, in the order in which they fall asleep. A duplex link sleeps in both directions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<String>>,
    /// Plan that chooses the links, instead of `links`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanDocument>,
    /// Time between the decisions for successive links.
    #[serde(default)]
    pub spacing: Duration,
    /// Time for which a link still carries packets after its announcement. Routes change in this time.
    #[serde(default)]
    pub drain: Duration,
    /// Time at which the (first) link starts to wake; default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake: Option<Duration>,
    /// Time from the start of waking until the link carries packets and is announced.
    #[serde(default)]
    pub wake_time: Duration,
    /// Treatment of packets for a sleeping link; default `refuse`.
    #[serde(default, skip_serializing_if = "WhileAsleep::is_refuse")]
    pub while_asleep: WhileAsleep,
    /// Event that begins to wake a link that holds packets; default `schedule`.
    #[serde(default, skip_serializing_if = "WakeOn::is_schedule")]
    pub wake_on: WakeOn,
}

/// The treatment of packets for a sleeping link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhileAsleep {
    /// The link loses them. It is announced, so routers send packets around it.
    #[default]
    Refuse,
    /// They wait in the link's buffer until it is awake. It is not announced.
    Hold,
}

impl WhileAsleep {
    fn is_refuse(&self) -> bool {
        *self == Self::Refuse
    }
}

/// Event that begins to wake a link that holds packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WakeOn {
    /// `wake`.
    #[default]
    Schedule,
    /// The first packet in either direction, or `wake` if that is earlier. Then the link stays awake.
    Arrival,
}

impl WakeOn {
    fn is_schedule(&self) -> bool {
        *self == Self::Schedule
    }
}

table_of_kind! {
    /// A plan that chooses the sleeping links among the scenario's duplex links (docs/models/estop.md).
    pub struct PlanDocument {
        /// The algorithm with its parameters.
        pub algorithm: SleepAlgorithm = SleepAlgorithm::KINDS,
        /// The options of an algorithm that reads the traffic.
        pub traffic: TrafficOptions if reads_traffic,
        /// The options of every algorithm.
        pub network: NetworkOptions,
    }
}

/// The traffic input of a plan.
///
/// A flow counts if it may send while the links sleep: datagrams and requests with their offered rate, TCP with its
/// `write_rate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficOptions {
    /// Rate assumed for each TCP flow without a `write_rate`; default none.
    #[serde(default)]
    #[schemars(extend("x-source" = "own"))]
    pub tcp_rate: BitRate,
}

/// The part of the network that a plan knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkOptions {
    /// Nodes known to the plan, together with the links between them; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "names", "x-default" = "all", "x-source" = "reading"))]
    pub nodes: Option<Vec<String>>,
}

/// Routing of packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutingDocument {
    /// Path length that routing minimises.
    #[serde(default)]
    pub metric: PathMetric,
    /// Maximum number of hops of a packet; default 64 if links sleep, otherwise unlimited.
    ///
    /// Routes that never change have no loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 255))]
    pub ttl: Option<u32>,
    /// Announcement of sleeping and waking links to routers.
    #[serde(default)]
    pub update: UpdateDocument,
}

/// The length of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathMetric {
    /// The sum of the links' costs.
    #[default]
    Cost,
    /// The number of links, whatever their costs.
    Hops,
}

/// The propagation of routing updates.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum UpdateDocument {
    /// Both ends of the link announce its state. Announcements travel hop by hop over links that are up.
    Flooding(FloodingDocument),
    /// All routers install their new tables at the same time.
    Simultaneous(SimultaneousDocument),
}

impl Default for UpdateDocument {
    fn default() -> Self {
        Self::Flooding(FloodingDocument::default())
    }
}

/// Link-state flooding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FloodingDocument {
    /// Processing time that every router on the way adds to the propagation delay.
    #[serde(default = "default_processing")]
    pub processing: Duration,
    /// Time from the first announcement to a router's new table. The table includes announcements received in between.
    #[serde(default = "default_computation")]
    pub computation: Duration,
}

impl Default for FloodingDocument {
    fn default() -> Self {
        Self { processing: default_processing(), computation: default_computation() }
    }
}

/// Simultaneous updates of all routers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimultaneousDocument {
    /// Time from the announcement to the new tables.
    pub after: Duration,
}

fn default_processing() -> Duration {
    Duration::from_millis(1)
}

fn default_computation() -> Duration {
    Duration::from_millis(10)
}

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
    /// Warnings about plans that know no rate of any flow. Each is a sentence that starts with the field.
    pub warnings: Vec<String>,
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

/// The parts of a scenario that a plan uses.
#[derive(Clone, Copy)]
pub(super) struct Network<'a> {
    pub frame: &'a Frame<'a>,
    pub wires: &'a [Wire<'a>],
    pub flows: &'a Flows,
    pub routes: &'a Routes,
    pub mtu: Bytes,
}

/// The routing options. Their defaults depend on the presence of sleeping links.
pub(super) fn routing(written: &RoutingDocument, sleeps: bool) -> Result<RoutingSpec> {
    let ttl = match written.ttl.map(|hops| (hops, u8::try_from(hops))) {
        None => sleeps.then_some(DEFAULT_TTL),
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

impl SleepDocument {
    /// The time in which up to `links` links sleep: until the last of them is awake.
    fn span(&self, links: usize) -> (Instant, Instant) {
        let later = self.spacing.saturating_mul(links.saturating_sub(1) as u64);
        let awake = self.wake.map_or(Instant::NEVER, |wake| Instant::ZERO + wake + later + self.wake_time);
        (Instant::ZERO + self.at, awake)
    }
}

/// A cable that holds packets while it sleeps: a controller of each direction keeps its times.
#[derive(Clone, Debug)]
struct Holding {
    config: LpiConfig,
    naps: Naps,
}

/// Every sleep of every link. Sleeps of a link must not overlap. Links that hold packets get their controllers.
pub(super) fn sleep(entries: &[SleepDocument], network: Network<'_>, links: &mut [LinkSpec]) -> Result<SleepSpec> {
    let (mut spec, mut held, duration) = (SleepSpec::default(), SleepSpec::default(), network.frame.duration);
    let mut holdings: Vec<Holding> = Vec::new();
    // A plan sees the sleeps that are decided before it.
    let mut by_time: Vec<(usize, &SleepDocument)> = entries.iter().enumerate().collect();
    by_time.sort_by_key(|(_, written)| written.at);
    for (index, written) in by_time {
        let field = format!("sleep.{index}");
        if written.at >= duration {
            let message = format!("is {}; expected a time before the run ends at {duration}", written.at);
            return refuse(format!("{field}.at"), message);
        }
        let holds = written.while_asleep == WhileAsleep::Hold;
        check_holding(&field, written)?;
        for (number, (links_field, cable)) in (0_u64..).zip(spec.chosen(&field, written, network, &held)?) {
            can_sleep(&links_field, &cable, links, holds)?;
            let (own, other) = if holds { (&mut held, &spec) } else { (&mut spec, &held) };
            if other.cables.contains(&cable) {
                let message = format!("differs from that of another entry with \"{}\"", cable.name);
                return refuse(format!("{field}.while_asleep"), format!("{message}; expected the same"));
            }
            let is_coupled = cable.links.len() > 1;
            let nap = nap(&links_field, written, number, own.number(cable))?;
            own.lie_down(&links_field, nap)?;
            if holds {
                hold(&field, written, is_coupled, nap, &mut holdings)?;
            }
        }
    }
    spec.naps.sort_by_key(|nap| nap.announced);
    for (cable, mut holding) in held.cables.iter().zip(holdings) {
        holding.naps.times.make_contiguous().sort_unstable();
        let places: Vec<usize> = cable.links.iter().map(|link| link.index()).collect();
        for &place in &places {
            let coupled_with = places.iter().copied().find(|&other| other != place);
            links[place].control = Some(Box::new(control(&links[place], &holding, coupled_with, network.mtu)));
        }
    }
    Ok(spec)
}

/// Checks the options of an entry that links hold packets, or need it.
fn check_holding(field: &str, written: &SleepDocument) -> Result<()> {
    let holds = written.while_asleep == WhileAsleep::Hold;
    if holds && !written.drain.is_zero() {
        let message = "expected 0 s for links that hold packets: they empty their queues before they sleep";
        return refuse(format!("{field}.drain"), format!("is {}; {message}", written.drain));
    }
    if !holds && written.wake_on == WakeOn::Arrival {
        let message = "is \"arrival\", but packets go around links that refuse them";
        let expected = "expected \"schedule\", or while_asleep = \"hold\"";
        return refuse(format!("{field}.wake_on"), format!("{message}; {expected}"));
    }
    Ok(())
}

/// Adds a nap to those of its cable, which must have one way to wake.
fn hold(field: &str, written: &SleepDocument, is_coupled: bool, nap: Nap, holdings: &mut Vec<Holding>) -> Result<()> {
    let config = LpiConfig::napping(written.wake_time, is_coupled);
    let wake_on_arrival = written.wake_on == WakeOn::Arrival;
    if nap.cable == holdings.len() {
        holdings.push(Holding { config: config.clone(), naps: Naps { times: VecDeque::new(), wake_on_arrival } });
    }
    let holding = &mut holdings[nap.cable];
    let differs = if holding.config == config { "wake_on" } else { "wake_time" };
    if holding.config != config || holding.naps.wake_on_arrival != wake_on_arrival {
        let message = "differs from that of another entry with the same link that holds packets";
        return refuse(format!("{field}.{differs}"), format!("{message}; expected the same"));
    }
    if let Err(error) = check_ranges(&config) {
        return refuse(format!("{field}.wake_time"), format!("{} for links that hold packets", error.reason()));
    }
    holding.naps.times.push_back((nap.asleep, nap.wakes));
    Ok(())
}

/// The controller of a direction of a cable that holds packets.
fn control(spec: &LinkSpec, holding: &Holding, coupled_with: Option<usize>, mtu: Bytes) -> ControlSpec {
    ControlSpec {
        mechanism: link::Config::Lpi(holding.config.clone()),
        link: link::Context { buffer: spec.buffer.length(mtu), ..link::Context::new(spec.rate, mtu) },
        acknowledgements: None,
        coupled_with,
        naps: Some(holding.naps.clone()),
        in_service: InService::default(),
        transition_power: TransitionPower::default(),
    }
}

impl SleepSpec {
    /// The number of a cable, which is added if it is new.
    fn number(&mut self, cable: Cable) -> usize {
        self.cables.iter().position(|known| *known == cable).unwrap_or_else(|| {
            self.cables.push(cable);
            self.cables.len() - 1
        })
    }

    /// The cables of an entry, each with its field, in the order in which they fall asleep.
    /// `held` has those that hold packets.
    fn chosen(
        &mut self,
        field: &str,
        written: &SleepDocument,
        network: Network<'_>,
        held: &Self,
    ) -> Result<Vec<(String, Cable)>> {
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
                let wires = self.planned(&field, plan, network, written, held)?;
                Ok(wires.into_iter().map(|wire| (field.clone(), cable(network.wires, wire))).collect())
            }
            _ => refuse(field, "has both or neither of `links` and `plan`; expected one of them"),
        }
    }

    /// The wires whose cables sleep by a plan, in the order in which they fall asleep.
    fn planned(
        &mut self,
        field: &str,
        plan: &PlanDocument,
        network: Network<'_>,
        written: &SleepDocument,
        held: &Self,
    ) -> Result<Vec<usize>> {
        let mut asleep = self.asleep_with(written, network.wires.len());
        asleep.extend(held.asleep_with(written, network.wires.len()));
        let known = Known::new(field, plan.network.nodes.as_deref(), network, &asleep)?;
        let traffic = if plan.algorithm.reads_traffic() {
            let tcp_rate = plan.traffic.unwrap_or_default().tcp_rate;
            let (traffic, unknown) = known.traffic(network, tcp_rate, written.span(known.spare()));
            // A plan defined outside may use no rates.
            if !matches!(plan.algorithm, SleepAlgorithm::PlugIn(_)) {
                self.warnings.extend(no_rates(field, &traffic, unknown));
            }
            traffic
        } else {
            Traffic::default()
        };
        let refused = |error: ConfigError| ScenarioError::new(format!("{field}.{}", error.field), error.reason());
        let planned = plan.algorithm.plan(&known.graph, &traffic).map_err(refused)?;
        planned.off.into_iter().map(|link| known.wire(field, link)).collect()
    }

    /// The links that sleep while those of an entry of at most `links` links may.
    fn asleep_with(&self, entry: &SleepDocument, links: usize) -> Vec<LinkId> {
        let (from, to) = entry.span(links);
        let naps = self.naps.iter().filter(|nap| nap.announced <= to && from <= nap.awake);
        naps.flat_map(|nap| self.cables[nap.cable].links.iter().copied()).collect()
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
fn can_sleep(field: &str, cable: &Cable, links: &[LinkSpec], holds: bool) -> Result<()> {
    for link in cable.links.iter().map(|&link| &links[link.index()]) {
        // The controller of a link that holds packets comes later.
        let what = match (&link.control, &link.capacity) {
            (Some(_), _) => "controller",
            (None, Some(_)) => "varying capacity",
            (None, None) if holds && link.air.is_some() => "shared air",
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

/// The part of the network known to a plan.
struct Known {
    /// For every node, true if the plan knows it.
    nodes: Vec<bool>,
    /// The number of each known node in the plan's graph, in the order of the scenario.
    number: Vec<usize>,
    graph: Graph,
    /// The wire of each link of the graph.
    wires: Vec<usize>,
}

/// A warning if no flow has a known rate.
fn no_rates(field: &str, traffic: &Traffic, unknown: bool) -> Option<String> {
    let told = if unknown {
        "the rate of TCP is unknown; expected write_rate of the flow, or tcp_rate of the plan"
    } else {
        "no flow sends while the links sleep; expected flows with a rate"
    };
    traffic.demands.is_empty().then(|| format!("{field}: every link counts as idle: {told}"))
}

impl Known {
    /// The links among the chosen nodes, without those that are `asleep`.
    fn new(field: &str, chosen: Option<&[String]>, network: Network<'_>, asleep: &[LinkId]) -> Result<Self> {
        let Network { frame, wires, .. } = network;
        if chosen.is_some_and(<[String]>::is_empty) {
            return refuse(format!("{field}.nodes"), "is an empty list; expected at least one node");
        }
        let mut nodes = vec![chosen.is_none(); frame.names.len()];
        for (place, name) in chosen.into_iter().flatten().enumerate() {
            nodes[node(&frame.nodes, &format!("{field}.nodes.{place}"), name)?] = true;
        }
        let mut next = 0..;
        let number: Vec<usize> =
            nodes.iter().map(|&known| if known { next.next().unwrap_or_default() } else { 0 }).collect();
        let inside = |edge: &Edge| nodes[edge.from] && nodes[edge.to];
        let between = |wire: &Wire<'_>| wire.is_there() && wire.document.duplex && inside(&wire.edge);
        let awake = |wire: usize| !asleep.contains(&LinkId::new(wire));
        let wires: Vec<usize> = (0..wires.len()).filter(|&wire| between(&wires[wire]) && awake(wire)).collect();
        let ends = |&wire: &usize| (number[network.wires[wire].edge.from], number[network.wires[wire].edge.to]);
        let names = frame.names.iter().zip(&nodes).filter(|(_, known)| **known).map(|(name, _)| name.clone());
        let names: Vec<String> = names.collect();
        let refused = |error: GraphError| {
            let message = format!("cannot choose among these duplex links: {error}");
            ScenarioError::new(field, message)
        };
        let graph = Graph::new(names.len(), wires.iter().map(ends).collect()).map_err(refused)?.with_names(names);
        if let Some(lost) = graph.unreached(0, |_| true) {
            let (name, first) = (graph.node_name(lost), graph.node_name(0));
            let left = if asleep.is_empty() { "" } else { " that are awake" };
            let message =
                format!("no duplex links{left} lead from \"{first}\" to \"{name}\"; expected a connected network");
            return refuse(field, message);
        }
        Ok(Self { nodes, number, graph, wires })
    }

    /// The wire of a link of the graph, by the plan's number. A custom plan may return a wrong number.
    fn wire(&self, field: &str, link: usize) -> Result<usize> {
        self.wires.get(link).copied().ok_or_else(|| {
            let count = self.wires.len();
            ScenarioError::new(field, format!("puts link {link} to sleep; expected a number below {count}"))
        })
    }

    /// The most links that a plan may put to sleep: the others are a tree.
    fn spare(&self) -> usize {
        (self.graph.links().len() + 1).saturating_sub(self.graph.nodes())
    }

    /// The traffic of the flows active in `span` with the links that carry it, and true if the rate of a flow is unknown.
    fn traffic(&self, network: Network<'_>, tcp_rate: BitRate, span: (Instant, Instant)) -> (Traffic, bool) {
        let Network { frame, flows, .. } = network;
        let active = || {
            offers(&flows.tcp, &flows.datagrams, &flows.requests, frame.duration)
                .filter(|offer| offer.is_active(span.0, span.1))
        };
        let wires = || self.wires.iter().map(|&wire| &network.wires[wire]);
        let unknown = tcp_rate.is_zero() && active().any(|offer| offer.rate.is_none());
        let traffic = Traffic {
            capacities: wires().map(|wire| wire.document.rate).collect(),
            weights: wires().map(|wire| wire.edge.cost).collect(),
            demands: self.demands(network, tcp_rate, active()),
        };
        (traffic, unknown)
    }

    /// The demands of flows, each between the first and last known node on its path.
    fn demands<'a>(
        &self,
        network: Network<'_>,
        tcp_rate: BitRate,
        active: impl Iterator<Item = Offer<'a>>,
    ) -> Vec<Demand> {
        let demand = |offer: Offer<'_>| {
            let rate = offer.rate.unwrap_or(tcp_rate);
            let (from, to) = self.crossed(offer.path, network)?;
            (!rate.is_zero() && from != to).then_some(Demand { from, to, rate })
        };
        active.filter_map(demand).collect()
    }

    /// The first and last known node on a flow's path.
    fn crossed(&self, path: &FlowPath, network: Network<'_>) -> Option<(usize, usize)> {
        let edges: Vec<Edge> = network.wires.iter().map(|wire| wire.edge).collect();
        let way = network.routes.path(path.from, path.to, &edges)?;
        let nodes = std::iter::once(path.from).chain(way.iter().map(|&link| edges[link.index()].to));
        let known: Vec<usize> = nodes.filter(|&node| self.nodes[node]).map(|node| self.number[node]).collect();
        Some((*known.first()?, *known.last()?))
    }
}
