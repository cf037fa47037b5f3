//! The network: links with their mechanisms, routes, and counters. [`World`](super::world::World) contains the diagram.

use super::connections::{Connections, RoundTrips};
use super::controls::{Controls, view};
use super::frame::{FIRST_PORT, Frame, Owner, Way, node_of};
use super::ids::{ById, FlowId, Id, LinkId, NodeId};
use super::link::{Departed, Link, Queued};
use super::observers::Observers;
use super::sockets::Gauge;
use super::timetable::{Due, Timetable};
use crate::error::Result;
use netlull_mechanism::link::LinkEvent;
use netlull_mechanism::rate::{Admission, HeadVerdict};
use netlull_network::driver::Line;
use netlull_network::outcome::RouterLosses;
use netlull_network::plan::{Plan, RouteChange};
use netlull_network::transmission::RateChange;
use netlull_units::{BitRate, Bytes, Instant};
use netlull_wire::{Ecn, Packet, parse};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

/// All components between two hosts, except stations.
#[derive(Debug)]
pub(super) struct Net {
    pub(super) plan: Arc<Plan>,
    pub(super) now: Instant,
    pub(super) timetable: Timetable,
    pub(super) links: ById<LinkId, Link>,
    pub(super) controls: Controls,
    pub(super) routes: Routes,
    pub(super) connections: Connections,
    pub(super) observers: Observers,
    /// The packets for hosts that have not been taken yet.
    delivered: VecDeque<(NodeId, Frame)>,
    /// The packets of no flow: of other protocols, or without a valid destination.
    pub(super) foreign: u64,
}

/// The next hop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hop {
    /// The packet is at its destination.
    Here,
    /// Over a link.
    Link(LinkId),
    /// The router has no route.
    Unreachable,
}

/// A controlled link of the network.
struct OnLink<'a> {
    links: &'a mut ById<LinkId, Link>,
    timetable: &'a mut Timetable,
    link: LinkId,
}

impl Line for OnLink<'_> {
    fn change_rate(&mut self, now: Instant, change: RateChange) {
        let link = &mut self.links[self.link];
        link.change_rate(now, change);
        link.arm(self.link, self.timetable);
    }

    fn set_timer(&mut self, at: Instant) {
        self.timetable.set(Due::Controller(self.link), at);
    }
}

impl Net {
    /// Creates the plan's network at time zero, without packets.
    ///
    /// # Errors
    /// If a machine refuses its configuration, or a recording cannot be started.
    pub(super) fn new(plan: Arc<Plan>, gauges: Arc<[Gauge]>, tapes: Option<&Path>) -> Result<Self> {
        let observers = Observers::new(&plan, gauges);
        let round_trips = if observers.watches_gateways() { RoundTrips::Timed } else { RoundTrips::Untimed };
        Ok(Self {
            now: Instant::ZERO,
            timetable: Timetable::new(&plan),
            links: plan.links.iter().map(|link| Link::new(link, plan.seed)).collect(),
            controls: Controls::new(&plan, tapes)?,
            routes: Routes::new(&plan),
            connections: Connections::new(plan.flows.len(), round_trips),
            observers,
            delivered: VecDeque::new(),
            foreign: 0,
            plan,
        })
    }

    /// Classifies a packet that a host sends now; `None` without a destination in this network.
    pub(super) fn frame(&mut self, host: NodeId, bytes: Vec<u8>) -> Option<Frame> {
        let (to, owner) = match parse(&bytes).ok()? {
            Packet::Tcp(tcp) => {
                let connection = tcp.connection();
                let owner = self.owner(host, connection.from.port, connection.to.port);
                let owner = owner.map(|owner| self.connections.sent(self.now, owner, connection, &tcp));
                (node_of(connection.to.address), owner)
            }
            Packet::Other(other) | Packet::Fragment(other) => (node_of(other.destination), None),
        };
        let to = to.filter(|to| to.index() < self.plan.nodes.len())?;
        let size = u32::try_from(bytes.len()).ok()?;
        Some(Frame { size, bytes, to, owner, for_hosts: true, hops: 0 })
    }

    /// The flow of a host's packets between two ports, and their direction.
    fn owner(&self, host: NodeId, from: u16, to: u16) -> Option<Owner> {
        let flow = |port: u16| {
            let number = u32::from(port.checked_sub(FIRST_PORT)?);
            self.plan.flows.get(number as usize).map(|spec| (FlowId::numbered(number), spec))
        };
        let owner = |flow, way| Owner { flow, way, connection: None };
        if let Some((id, _)) = flow(to).filter(|(_, spec)| spec.from == host.number()) {
            return Some(owner(id, Way::Forward));
        }
        flow(from).filter(|(_, spec)| spec.to == host.number()).map(|(id, _)| owner(id, Way::Backward))
    }

    /// True if a packet is the first SYN of a connection from a flow's sender, sent now.
    pub(super) fn opens(&self, frame: &Frame) -> bool {
        let known = frame.owner.filter(|owner| owner.way == Way::Forward).and_then(|owner| owner.connection);
        known.and_then(|connection| self.connections.get(connection)).is_some_and(|known| known.opened == self.now)
            && frame.tcp().is_some_and(|tcp| tcp.flags().syn)
    }

    /// The next hop of a packet at a node.
    pub(super) fn next_hop(&self, node: NodeId, frame: &Frame) -> Hop {
        if frame.to == node {
            return Hop::Here;
        }
        self.routes.next_hop(node, frame.to).map_or(Hop::Unreachable, Hop::Link)
    }

    /// Offers a packet to the queue of a link, bypassing any access point. Returns whether the link has accepted it.
    pub(super) fn queue(&mut self, link: LinkId, frame: Frame) -> bool {
        let (now, size) = (self.now, Bytes::new(u64::from(frame.size)));
        let segment = if self.controls.sees_segments(link) { frame.tcp().and_then(|tcp| view(&tcp)) } else { None };
        let data = if self.observers.watches_gateways() { frame.data() } else { None };
        self.observers.offered(now, link, &frame, &self.plan.probe);
        let (admission, gone) = match self.links[link].queue(now, frame) {
            Queued::Taken { marked: false } => (Some(Admission::Accepted), None),
            Queued::Taken { marked: true } => (Some(Admission::Marked), None),
            Queued::Dropped(frame) => (Some(Admission::Dropped), Some(frame)),
            Queued::Lost(frame) => (None, Some(frame)),
        };
        let is_taken = gone.is_none();
        // A packet lost by the loss model never reached the buffer.
        if let (Some(connection), Some(_)) = (data, admission) {
            self.observers.data_offered(link, connection);
        }
        gone.iter().for_each(|frame| self.drop(link, frame));
        self.arm_link(link);
        if let Some(admission) = admission {
            let queue = self.links[link].view();
            self.tell(link, LinkEvent::Arrival { size, admission, queue, segment });
        }
        is_taken
    }

    /// Processes an event of a link's line: [`Due::Departure`].
    pub(super) fn depart(&mut self, link: LinkId) {
        let marked = self.links[link].counters.marked_packets;
        let departed = self.links[link].depart(self.now);
        let discarded = self.links[link].take_discarded();
        discarded.iter().for_each(|frame| self.drop(link, frame));
        self.arm_link(link);
        for frame in &discarded {
            self.managed(link, HeadVerdict::Dropped, Bytes::new(u64::from(frame.size)));
        }
        if self.links[link].counters.marked_packets > marked {
            self.managed(link, HeadVerdict::Marked, self.links[link].view().in_service);
        }
        if departed == Departed::Packet {
            let queue = self.links[link].view();
            self.tell(link, LinkEvent::Departure { queue });
        }
    }

    /// Delivers a decision of queue management at the head of the queue to the controller of a link.
    fn managed(&mut self, link: LinkId, verdict: HeadVerdict, size: Bytes) {
        let queue = self.links[link].view();
        self.tell(link, LinkEvent::Managed { size, verdict, queue });
    }

    /// Takes the packet that arrives at the end of a link now.
    pub(super) fn arrive(&mut self, link: LinkId) -> Option<Frame> {
        let mut frame = self.links[link].arrive()?;
        self.arm_link(link);
        self.steer(link, &mut frame);
        Some(frame)
    }

    /// Delivers a packet at its destination: to its host, or only to the counters if it is artificial.
    pub(super) fn deliver(&mut self, node: NodeId, frame: Frame) {
        if let Some(owner) = frame.owner {
            if owner.way == Way::Forward {
                let is_marked = frame.tcp().is_some_and(|tcp| tcp.ecn() == Ecn::Ce);
                let count = self.connections.flow_mut(owner.flow);
                count.marked_packets += u64::from(is_marked);
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
        self.delivered.push_back((node, frame));
    }

    /// True if a packet for a host waits to be taken.
    pub(super) fn has_delivered(&self) -> bool {
        !self.delivered.is_empty()
    }

    /// Takes the next packet for a host.
    pub(super) fn take_delivered(&mut self) -> Option<(NodeId, Frame)> {
        self.delivered.pop_front()
    }

    /// Counts a packet dropped, lost or missed at a link.
    pub(super) fn drop(&mut self, link: LinkId, frame: &Frame) {
        let Some(owner) = frame.owner else { return };
        self.count_drop(frame);
        self.observers.dropped(self.now, link, owner.flow);
    }

    fn count_drop(&mut self, frame: &Frame) {
        if let Some(owner) = frame.owner.filter(|owner| owner.way == Way::Forward) {
            self.connections.flow_mut(owner.flow).dropped_packets += 1;
        }
    }

    /// Drops a packet at a router, and counts it in the routers' losses if routes can change.
    pub(super) fn drop_at_router(&mut self, frame: &Frame, count: fn(&mut RouterLosses) -> &mut u64) {
        match self.routes.losses_mut().filter(|_| frame.owner.is_some()) {
            Some(losses) => {
                *count(losses) += 1;
                self.count_drop(frame);
            }
            None => self.foreign += 1,
        }
    }

    /// Puts a link to sleep; all packets on it are lost.
    pub(super) fn fall_asleep(&mut self, link: LinkId) {
        let stranded = self.links[link].fall_asleep(self.now);
        stranded.iter().for_each(|frame| self.drop(link, frame));
        self.arm_link(link);
    }

    /// Changes the capacity of a link without a controller.
    pub(super) fn set_capacity(&mut self, link: LinkId, rate: BitRate) {
        self.links[link].set_capacity(self.now, rate);
        self.arm_link(link);
    }

    /// Sets the first timer of a link's controller.
    pub(super) fn start_controller(&mut self, link: LinkId) {
        let Self { links, timetable, controls, .. } = self;
        controls.start(link, &mut OnLink { links, timetable, link });
    }

    /// Delivers a timeout to the controller of a link.
    pub(super) fn time_out(&mut self, link: LinkId) {
        let queue = self.links[link].view();
        self.tell(link, LinkEvent::Timeout { queue });
    }

    /// Delivers an event to the controller of a link, if it has one. Returns the window that it requests.
    fn tell(&mut self, link: LinkId, event: LinkEvent) -> Option<Bytes> {
        let Self { now, links, timetable, controls, .. } = self;
        let window = controls.tell(*now, link, event, &mut OnLink { links, timetable, link });
        let mut told = link;
        while let Some((link, is_ready)) = controls.news(told) {
            controls.tell_of_other_direction(*now, link, is_ready, &mut OnLink { links, timetable, link });
            told = link;
        }
        window
    }

    /// Shows the acknowledgement at the end of a link to the gateways that read it, and performs their actions.
    fn steer(&mut self, link: LinkId, frame: &mut Frame) {
        let Some(shown) = self.controls.shown(link, frame, &self.connections) else { return };
        for at in self.links.ids() {
            if self.controls.reads(at, link)
                && let Some(window) = self.tell(at, shown.event())
                && shown.lower(window, frame)
            {
                self.controls.count_rewritten(at);
            }
        }
    }

    fn arm_link(&mut self, id: LinkId) {
        self.links[id].arm(id, &mut self.timetable);
    }

    /// Samples links, flows and gateways at the end of a bin.
    pub(super) fn sample(&mut self) {
        let now = self.now;
        for &link in &self.plan.probe.links {
            let link = LinkId::numbered(link);
            self.observers.sample_link(now, link, &self.links[link]);
        }
        for &flow in &self.plan.probe.flows {
            self.observers.sample_flow(now, FlowId::numbered(flow), &self.connections);
        }
        self.observers.sample_gateways(now, &self.controls, &mut self.connections);
        self.timetable.set(Due::Bin, self.observers.next_bin(now));
    }
}

/// The routing tables of all routers.
#[derive(Debug)]
pub(super) struct Routes {
    /// The outgoing link, by node and destination.
    tables: ById<NodeId, ById<NodeId, Option<LinkId>>>,
    /// The hop limit; `None` if packets do not count hops.
    ttl: Option<u8>,
    losses: RouterLosses,
}

impl Routes {
    pub(super) fn new(plan: &Plan) -> Self {
        let table = |row: &Vec<Option<u32>>| row.iter().map(|link| link.map(LinkId::numbered)).collect();
        Self {
            tables: plan.routes.iter().map(table).collect(),
            ttl: plan.routing.as_ref().map(|routing| routing.ttl),
            losses: RouterLosses::default(),
        }
    }

    /// The next link from a node towards another, if its router has a route.
    pub(super) fn next_hop(&self, node: NodeId, to: NodeId) -> Option<LinkId> {
        self.tables[node].get(to).copied().flatten()
    }

    /// Changes an entry of a routing table.
    pub(super) fn install(&mut self, change: RouteChange) {
        let RouteChange { node, destination, link } = change;
        self.tables[NodeId::numbered(node)][NodeId::numbered(destination)] = link.map(LinkId::numbered);
    }

    /// True if a packet has reached the hop limit (RFC 791 section 3.2).
    pub(super) fn is_spent(&self, hops: u8) -> bool {
        self.ttl.is_some_and(|ttl| hops >= ttl)
    }

    /// The counts of packets lost by routers; `None` with fixed routes.
    pub(super) fn losses_mut(&mut self) -> Option<&mut RouterLosses> {
        self.ttl.map(|_| &mut self.losses)
    }

    /// The counts of packets lost by routers.
    pub(super) fn losses(&self) -> RouterLosses {
        self.losses
    }
}
