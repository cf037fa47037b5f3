//! The emulated network without anything real: instants and bytes go in, bytes and instants come out.
//!
//! What drives it gives it every packet that a host sends ([`World::enters`]), asks when something is due ([`World::next`]), lets it happen
//! then ([`World::step`]) and hands over to a host what has arrived there. All times are virtual: a packet departs when the one before it
//! has been sent, however late the driver is.

use super::address::{FIRST_PORT, datagram, node_of};
use super::agenda::Agenda;
use super::connections::{Connections, RoundTrips};
use super::controller::{Controller, view};
use super::frame::{Frame, Owner, Way};
use super::gateway_probe::GatewayProbe;
use super::gauge::Gauge;
use super::link::{Departed, Link, Offered};
use super::routing::Routing;
use super::slots::{Due, Slots};
use super::stations::Stations;
use crate::error::Result;
use netlull_mechanism::gateway::SegmentKind;
use netlull_mechanism::rate::{Admission, RateEvent};
use netlull_network::outcome::{LinkMark, Mark};
use netlull_network::plan::{Plan, Traffic};
use netlull_network::probe::{
    ArrivalRow, EventTables, FlowSample, LinkSample, Recorder, StationProbe, Table, arrivals,
};
use netlull_network::service::RateChange;
use netlull_units::{BitRate, Bytes, Duration, Instant};
use netlull_wire::{Packet, parse, set_window, window_field};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// What a step brought.
#[derive(Debug)]
pub enum Step {
    /// Nothing that concerns a host.
    Inside,
    /// A packet has arrived at a host.
    Arrived {
        /// The host's node.
        host: u32,
        /// When.
        at: Instant,
        /// The packet, for the host to receive.
        frame: Frame,
    },
    /// The run is over.
    Over,
}

/// How late at most that may be done which happens inside the network.
const SLACK: Duration = Duration::from_micros(100);

/// The network.
#[derive(Debug)]
pub struct World {
    plan: Arc<Plan>,
    pub(super) now: Instant,
    pub(super) agenda: Agenda,
    /// By link, then by station: when it may have something for a host.
    outward: Agenda,
    /// How late that may be done which happens inside: less than a packet is on its way, which thus reaches its host in time.
    slack: Duration,
    pub(super) slots: Slots,
    pub(super) links: Vec<Link>,
    pub(super) routing: Routing,
    controllers: Vec<Controller>,
    /// By link: its controller, and whether it brings acknowledgements to gateways.
    controller_of: Vec<Option<usize>>,
    steered: Vec<bool>,
    pub(super) stations: Stations,
    /// By link: how many of its steps are done; by flow: of its datagrams.
    steps_done: Vec<usize>,
    datagrams_done: Vec<usize>,
    pub(super) connections: Connections,
    gauges: Arc<[Gauge]>,
    recorder: Recorder,
    pub(super) probe: Option<StationProbe>,
    gateways: Option<GatewayProbe>,
    arrivals: Vec<ArrivalRow>,
    marks: Vec<Mark>,
    /// What has arrived at hosts and was not handed over yet.
    arrived: VecDeque<(u32, Frame)>,
    /// Events handled, and packets that crossed a link.
    events: u64,
    pub(super) foreign: u64,
}

#[allow(clippy::cast_possible_truncation)]
impl World {
    /// The plan's network at time zero. Machines are recorded in `tapes`, if that is a folder.
    ///
    /// # Errors
    /// If a machine refuses its configuration, or a recording cannot be begun.
    pub fn new(plan: Arc<Plan>, gauges: Arc<[Gauge]>, tapes: Option<&Path>) -> Result<Self> {
        let links: Vec<Link> = plan.links.iter().map(|link| Link::new(link, plan.seed)).collect();
        let mut controllers = Vec::new();
        let (mut controller_of, mut steered) = (vec![None; links.len()], vec![false; links.len()]);
        for (index, (link, control)) in
            plan.links.iter().enumerate().filter_map(|(index, link)| Some((index, (link, link.control.as_ref()?))))
        {
            controller_of[index] = Some(controllers.len());
            control.acknowledgements.into_iter().for_each(|ways_back| steered[ways_back as usize] = true);
            controllers.push(Controller::new(control, (index as u32, &link.name), tapes)?);
        }
        let stations = Stations::new(&plan, tapes)?;
        let slots = Slots {
            links: links.len() as u32,
            controllers: controllers.len() as u32,
            stations: plan.stations.len() as u32,
            flows: plan.flows.len() as u32,
        };
        let events = EventTables { window: false, drops: plan.probe.drops };
        let gateways = GatewayProbe::new(&plan);
        let round_trips = if gateways.is_some() { RoundTrips::Timed } else { RoundTrips::Untimed };
        let mut world = Self {
            now: Instant::ZERO,
            agenda: Agenda::new(slots.count()),
            slack: links.iter().map(Link::delay).fold(SLACK, Duration::min),
            outward: Agenda::new(links.len() + plan.stations.len()),
            slots,
            recorder: Recorder::new(plan.probe.interval, events, links.len(), plan.flows.len()),
            probe: plan.probe.stations.then(|| StationProbe::new(Instant::ZERO + plan.duration)),
            gateways,
            arrivals: Vec::new(),
            connections: Connections::new(plan.flows.len(), round_trips),
            steps_done: vec![0; links.len()],
            datagrams_done: vec![0; plan.flows.len()],
            marks: Vec::with_capacity(plan.marks.len()),
            arrived: VecDeque::new(),
            routing: Routing::new(plan.routes.clone(), plan.routing.clone()),
            links,
            controllers,
            controller_of,
            steered,
            stations,
            gauges,
            plan,
            events: 0,
            foreign: 0,
        };
        world.first_events();
        Ok(world)
    }

    fn first_events(&mut self) {
        (0..self.controllers.len()).for_each(|index| self.arm_controller(index));
        for link in 0..self.links.len() {
            self.agenda.set(self.slots.of(Due::Capacity(link)), self.next_step(link));
        }
        for flow in 0..self.plan.flows.len() {
            self.agenda.set(self.slots.of(Due::Datagram(flow)), self.next_datagram(flow));
        }
        self.agenda.set(self.slots.of(Due::Routing), self.routing.next());
        (0..self.plan.stations.len()).for_each(|index| self.arm_station(index));
        self.agenda.set(self.slots.of(Due::Bin), self.recorder.next_bin(Instant::ZERO));
        self.agenda.set(self.slots.of(Due::Mark), self.plan.marks.first().copied().unwrap_or(Instant::NEVER));
        // Without a warm-up nothing has happened where measurement begins.
        if self.plan.marks.first() == Some(&Instant::ZERO) {
            self.mark();
        }
    }

    /// When something is due next; `NEVER` if nothing is.
    pub fn next(&mut self) -> Instant {
        if self.arrived.is_empty() { self.agenda.next() } else { self.now }
    }

    /// When [`step`](Self::step) is to be called again: at the very instant at which something may reach a host, and for all else, of
    /// which nobody sees when it is done, a little after it is due, so that much of it is done at once.
    pub fn wakes(&mut self) -> Instant {
        let inside = if self.arrived.is_empty() { self.agenda.next() + self.slack } else { self.now };
        self.outward.next().min(inside)
    }

    /// What is due next happens.
    pub fn step(&mut self) -> Step {
        if let Some((host, frame)) = self.take_arrived() {
            return Step::Arrived { host, at: self.now, frame };
        }
        let Some((at, slot)) = self.agenda.pop() else { return Step::Over };
        self.now = self.now.max(at);
        self.events += 1;
        match self.slots.due(slot) {
            Due::Departure(link) => self.depart(link),
            Due::Delivery(link) => self.deliver(link),
            Due::Controller(index) => {
                let link = self.controllers[index].link as usize;
                let queue = self.links[link].transmitter.view();
                self.tell(index, RateEvent::Timeout { queue }, None);
            }
            Due::Capacity(link) => self.capacity(link),
            Due::Routing => self.reroute(),
            Due::Station(index) => self.station_timeout(index),
            Due::Datagram(flow) => self.datagram(flow),
            Due::Bin => self.bin(),
            Due::Mark => {
                if self.mark() {
                    return Step::Over;
                }
            }
        }
        match self.take_arrived() {
            Some((host, frame)) => Step::Arrived { host, at: self.now, frame },
            None => Step::Inside,
        }
    }

    fn take_arrived(&mut self) -> Option<(u32, Frame)> {
        self.arrived.pop_front()
    }

    /// A host sends a packet, at `at` or, if time has gone on, now. What is not of the plan's flows is let go.
    pub fn enters(&mut self, at: Instant, host: u32, bytes: &[u8]) {
        self.now = self.now.max(at);
        let Some(frame) = self.frame(host, bytes.to_vec()) else {
            self.foreign += 1;
            return;
        };
        self.note_opening(&frame);
        match self.stations.at(host) {
            Some(index) => self.station_sends(index, frame),
            None => self.forward(host, frame),
        }
    }

    /// Whether it is the first SYN of a connection of a flow's sender, sent now.
    pub(super) fn opens(&self, frame: &Frame) -> bool {
        let known = frame.owner.filter(|owner| owner.way == Way::Forward).and_then(|owner| owner.connection);
        known.and_then(|number| self.connections.get(number)).is_some_and(|known| known.opened == self.now)
            && frame.tcp().is_some_and(|tcp| tcp.flags().syn)
    }

    /// A packet that a host sends now, with what is known of it; none of what goes to nobody here.
    pub(super) fn frame(&mut self, host: u32, bytes: Vec<u8>) -> Option<Frame> {
        let (to, owner) = match parse(&bytes).ok()? {
            Packet::Tcp(tcp) => {
                let connection = tcp.connection();
                let owner = self.whose(host, connection.from.port, connection.to.port);
                let owner = owner.map(|(flow, way)| self.connections.sent(self.now, (flow, way), connection, &tcp));
                (node_of(connection.to.address), owner)
            }
            Packet::Other(other) | Packet::Fragment(other) => (node_of(other.destination), None),
        };
        let to = to.filter(|&to| to < self.plan.nodes.len() as u32)?;
        Some(Frame { size: bytes.len() as u32, bytes, to, owner, for_hosts: true, hops: 0 })
    }

    /// Which flow has packets from this host between these ports, and which way they go.
    fn whose(&self, host: u32, from: u16, to: u16) -> Option<(u32, Way)> {
        let flow = |port: u16| {
            let index = u32::from(port.checked_sub(FIRST_PORT)?);
            self.plan.flows.get(index as usize).map(|flow| (index, flow))
        };
        if let Some((index, found)) = flow(to)
            && found.from == host
        {
            return Some((index, Way::Forward));
        }
        flow(from).filter(|(_, found)| found.to == host).map(|(index, _)| (index, Way::Backward))
    }

    /// A packet is at a node: it has arrived, or goes on.
    pub(super) fn forward(&mut self, node: u32, frame: Frame) {
        if frame.to == node {
            self.arrive(node, frame);
            return;
        }
        match self.routing.way(node, frame.to) {
            Some(link) => self.offer(link as usize, frame),
            None => self.lost_by_router(&frame, |losses| &mut losses.unroutable),
        }
    }

    fn arrive(&mut self, node: u32, frame: Frame) {
        if let Some(owner) = frame.owner {
            if owner.way == Way::Forward {
                let marked = matches!(netlull_wire::parse(&frame.bytes), Ok(Packet::Tcp(tcp)) if tcp.ecn() == netlull_wire::Ecn::Ce);
                let count = self.connections.flow_mut(owner.flow);
                count.marked_packets += u64::from(marked);
                if !frame.for_hosts {
                    count.delivered_bytes += u64::from(frame.size);
                    return;
                }
            } else if let Some(connection) = owner.connection
                && let Some(tcp) = frame.tcp()
            {
                self.connections.acknowledged(self.now, connection, &tcp);
            }
        }
        self.arrived.push_back((node, frame));
    }

    /// A packet is offered to a link.
    pub(super) fn offer(&mut self, link: usize, frame: Frame) {
        if let Some(index) = self.stations.below(link) {
            self.access_point(index, frame);
        } else {
            self.offer_to_link(link, frame);
        }
    }

    /// The same, past any access point; whether the link has it.
    pub(super) fn offer_to_link(&mut self, link: usize, frame: Frame) -> bool {
        let now = self.now;
        let (size, controller) = (Bytes::new(u64::from(frame.size)), self.controller_of[link]);
        let segment = match controller {
            Some(index) if self.controllers[index].reads_segments() => frame.tcp().and_then(|tcp| view(&tcp)),
            _ => None,
        };
        let data = self.gateways.as_ref().and_then(|_| frame.data());
        self.note_arrival(link, &frame);
        let (admission, gone) = match self.links[link].offer(now, frame) {
            Offered::Taken => (Some(Admission::Accepted), None),
            Offered::Dropped(frame) => (Some(Admission::Dropped), Some(frame)),
            Offered::Lost(frame) => (None, Some(frame)),
        };
        let taken = gone.is_none();
        // What the link's loss has taken never came to its buffer.
        if let (Some(probe), Some(connection), Some(_)) = (&mut self.gateways, data, admission) {
            probe.offered(link, connection);
        }
        if let Some(frame) = gone {
            self.dropped(link, &frame);
        }
        self.arm_link(link);
        if let (Some(index), Some(admission)) = (controller, admission) {
            let queue = self.links[link].transmitter.view();
            self.tell(index, RateEvent::Arrival { size, admission, queue }, segment);
        }
        taken
    }

    fn note_arrival(&mut self, link: usize, frame: &Frame) {
        let (probe, link) = (&self.plan.probe, link as u32);
        if let Some(owner) = frame.owner
            && probe.arrivals.contains(&link)
            && probe.flows.contains(&owner.flow)
        {
            let time = (self.now - Instant::ZERO).as_nanos();
            self.arrivals.push(ArrivalRow { time, link, flow: owner.flow, size: frame.size });
        }
    }

    /// A packet was dropped, lost or missed at a link.
    pub(super) fn dropped(&mut self, link: usize, frame: &Frame) {
        let Some(owner) = frame.owner else { return };
        if owner.way == Way::Forward {
            self.connections.flow_mut(owner.flow).dropped_packets += 1;
        }
        self.recorder.drop(self.now, link as u32, owner.flow);
    }

    fn depart(&mut self, link: usize) {
        let (discarded, departed) = self.links[link].turn(self.now);
        discarded.iter().for_each(|frame| self.dropped(link, frame));
        self.arm_link(link);
        if let (Some(index), Departed::Packet) = (self.controller_of[link], departed) {
            let queue = self.links[link].transmitter.view();
            self.tell(index, RateEvent::Departure { queue }, None);
        }
    }

    fn deliver(&mut self, link: usize) {
        let Some(mut frame) = self.links[link].deliver() else { return };
        self.arm_link(link);
        if self.steered[link] {
            self.steer(link, &mut frame);
        }
        match self.stations.below(link) {
            Some(index) => self.station_receives(index, frame),
            None => self.pass_on(self.links[link].to, frame),
        }
    }

    /// A packet comes to gateways over the link that brings them acknowledgements: awnd <- min(awnd, swnd).
    fn steer(&mut self, link: usize, frame: &mut Frame) {
        let Some((segment, field, own)) =
            frame.tcp().and_then(|tcp| Some((view(&tcp)?, tcp.window_field(), tcp.flags().syn)))
        else {
            return;
        };
        if segment.kind == SegmentKind::Syn {
            return;
        }
        let Some(owner) = frame.owner else { return };
        // A window whose scale nobody has seen is left alone; that of a SYN has none (RFC 7323 section 2.2).
        let known = owner.connection.and_then(|number| self.connections.get(number)?.shift(owner.way));
        let Some(shift) = (if own { Some(0) } else { known }) else { return };
        for controller in self.controllers.iter_mut().filter(|own| own.acknowledgements == Some(link as u32)) {
            let window = Bytes::new(u64::from(field) << shift);
            if let Some(window) = controller.acknowledgement(self.now, segment, window) {
                let lower = window_field(window.as_u64(), shift, field);
                if lower != field && set_window(&mut frame.bytes, lower).is_ok() {
                    controller.rewritten();
                }
            }
        }
    }

    /// Tells a controller what happened, and does what it asks for.
    fn tell(&mut self, index: usize, event: RateEvent, segment: Option<netlull_mechanism::gateway::SegmentView>) {
        let controller = &mut self.controllers[index];
        let (link, in_service) = (controller.link as usize, controller.in_service);
        if let Some((rate, pause)) = controller.tell(self.now, event, segment) {
            self.links[link].transmitter.change_rate(self.now, RateChange { rate, pause, in_service });
            self.arm_link(link);
        }
        self.arm_controller(index);
    }

    fn step_of(&self, link: usize) -> Option<(Instant, BitRate)> {
        self.plan.links[link].steps.as_ref()?.get(self.steps_done[link]).copied()
    }

    fn next_step(&self, link: usize) -> Instant {
        self.step_of(link).map_or(Instant::NEVER, |(at, _)| at)
    }

    /// A capacity changes by itself.
    fn capacity(&mut self, link: usize) {
        if let Some((_, rate)) = self.step_of(link) {
            let change = RateChange { rate, pause: Duration::ZERO, in_service: Default::default() };
            self.links[link].transmitter.change_rate(self.now, change);
            self.arm_link(link);
        }
        self.steps_done[link] += 1;
        self.agenda.set(self.slots.of(Due::Capacity(link)), self.next_step(link));
    }

    fn next_datagram(&self, flow: usize) -> Instant {
        match &self.plan.flows[flow].traffic {
            Traffic::Datagrams { packets } => {
                packets.get(self.datagrams_done[flow]).map_or(Instant::NEVER, |&(at, _)| at)
            }
            Traffic::Tcp { .. } | Traffic::Requests { .. } => Instant::NEVER,
        }
    }

    /// A datagram is sent: a header and as many bytes behind it as its size says, which nobody reads.
    fn datagram(&mut self, flow: usize) {
        let plan = Arc::clone(&self.plan);
        let spec = &plan.flows[flow];
        if let Traffic::Datagrams { packets } = &spec.traffic
            && let Some(&(_, size)) = packets.get(self.datagrams_done[flow])
        {
            let count = self.connections.flow_mut(flow as u32);
            count.sent_packets += 1;
            count.sent_bytes += u64::from(size);
            let owner = Owner { flow: flow as u32, way: Way::Forward, connection: None };
            let frame = Frame {
                bytes: datagram(spec.from, spec.to, size),
                size,
                to: spec.to,
                owner: Some(owner),
                for_hosts: false,
                hops: 0,
            };
            match self.stations.at(spec.from) {
                Some(index) => self.station_sends(index, frame),
                None => self.forward(spec.from, frame),
            }
        }
        self.datagrams_done[flow] += 1;
        self.agenda.set(self.slots.of(Due::Datagram(flow)), self.next_datagram(flow));
    }

    pub(super) fn arm_link(&mut self, link: usize) {
        let (departs, arrives) = (self.links[link].transmitter.next(), self.links[link].next_arrival());
        self.agenda.set(self.slots.of(Due::Departure(link)), departs);
        self.agenda.set(self.slots.of(Due::Delivery(link)), arrives);
        self.outward.set(link as u32, self.links[link].next_for_host());
    }

    fn arm_controller(&mut self, index: usize) {
        self.agenda.set(self.slots.of(Due::Controller(index)), self.controllers[index].next_timeout());
    }

    /// The end of a bin.
    fn bin(&mut self) {
        for &index in &self.plan.probe.links {
            let link = &self.links[index as usize];
            let sample = LinkSample {
                arrived_bytes: link.counters.offered_bytes,
                delivered_bytes: link.counters.delivered_bytes,
                dropped_packets: link.counters.dropped_packets
                    + link.counters.lost_packets
                    + link.counters.asleep_packets,
                queue_packets: link.transmitter.waiting_packets(),
                rate_bps: link.transmitter.rate().as_bps(),
            };
            self.recorder.link(self.now, index, sample);
        }
        for &index in &self.plan.probe.flows {
            let mark = self.connections.flow(index);
            let sample = FlowSample {
                sent_bytes: mark.sent_bytes,
                delivered_bytes: mark.delivered_bytes,
                windows: self.gauges[index as usize].windows(),
            };
            self.recorder.flow(self.now, index, sample);
        }
        if let Some(probe) = &mut self.gateways {
            probe.sample(self.now, &self.controllers, &mut self.connections);
        }
        self.agenda.set(self.slots.of(Due::Bin), self.recorder.next_bin(self.now));
    }

    /// Counters are read; whether it was the last time.
    fn mark(&mut self) -> bool {
        let now = self.now;
        if self.marks.is_empty() {
            self.links.iter_mut().for_each(|link| link.transmitter.restart_meter(now));
            self.controllers.iter_mut().for_each(|controller| controller.restart(now));
            for member in self.stations.members_mut() {
                member.restart(now, self.links[member.down].head());
            }
        }
        let links = (0..self.links.len()).map(|index| {
            let residency = self.plan.links[index].varies().then(|| self.links[index].transmitter.residency(now));
            let link = &mut self.links[index];
            LinkMark { counters: link.counters_at(now), residency, rate_changes: link.transmitter.changes() }
        });
        let links = links.collect();
        let flows = (0..self.plan.flows.len()).map(|flow| {
            let (timeouts, fast_retransmits) = self.gauges[flow].counts();
            netlull_network::outcome::FlowMark { timeouts, fast_retransmits, ..*self.connections.flow(flow as u32) }
        });
        let flows = flows.collect();
        let routers = self.routing.losses;
        self.marks.push(Mark { at: self.plan.marks[self.marks.len()], links, flows, routers });
        let next = self.plan.marks.get(self.marks.len()).copied();
        self.agenda.set(self.slots.of(Due::Mark), next.unwrap_or(Instant::NEVER));
        next.is_none()
    }
}

impl World {
    /// Recordings end.
    ///
    /// # Errors
    /// If one could not be written.
    pub fn finish(&mut self) -> Result<()> {
        self.controllers.iter_mut().try_for_each(Controller::finish)?;
        let now = self.now;
        self.stations.members_mut().iter_mut().try_for_each(|member| member.outcome(now, None).map(|_| ()))
    }
}

/// What is left of a world that is over.
#[derive(Debug)]
pub struct Remains {
    /// Counters.
    pub marks: Vec<Mark>,
    /// Links.
    pub links: Vec<Link>,
    /// Gateways and other mechanisms.
    pub controllers: Vec<Controller>,
    /// Stations.
    pub stations: Stations,
    /// Connections.
    pub connections: Connections,
    /// Tables.
    pub tables: Vec<Table>,
    /// Events handled.
    pub events: u64,
    /// Packets that were no flow's: of other protocols, to nobody.
    pub foreign: u64,
    /// When it was over.
    pub at: Instant,
}

impl World {
    /// What is left when it is over.
    #[must_use]
    pub fn remains(self) -> Remains {
        let mut tables = self.recorder.into_tables();
        if !self.plan.probe.arrivals.is_empty() {
            tables.push(arrivals(self.arrivals));
        }
        tables.extend(self.gateways.map(GatewayProbe::into_table));
        tables.extend(self.probe.into_iter().flat_map(StationProbe::into_tables));
        Remains {
            marks: self.marks,
            links: self.links,
            controllers: self.controllers,
            stations: self.stations,
            connections: self.connections,
            tables,
            events: self.events,
            foreign: self.foreign,
            at: self.now,
        }
    }

    /// A station's slot is due when it says.
    pub(super) fn arm_station(&mut self, index: usize) {
        let at = self.stations.get(index).next().max(self.now);
        self.agenda.set(self.slots.of(Due::Station(index)), at);
        self.outward.set((self.links.len() + index) as u32, at);
    }
}
