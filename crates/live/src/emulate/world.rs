//! The emulated network without anything real: instants and bytes go in, bytes and instants come out.
//!
//! Its driver gives it every packet that a host sends ([`World::send`]), asks when something is due ([`World::next`]), lets it happen
//! then ([`World::step`]) and hands over to a host what is delivered there. All times are virtual: a packet departs when the one before it
//! has been sent, however late the driver is.
//!
//! ```text
//!                      stations                              net                             stations
//!   host ──► send ──► (radio wakes) ──► offer ──► (hold) ──► queue ──► depart ──► arrive ──► (radio hears) ──► offer or deliver ──► host
//!                                         │          │         │          │                      │
//!                                         └──────────┴──────── drop ──────┴──────────────────────┘
//! ```
//!
//! | verb | meaning | where |
//! |---|---|---|
//! | send | a host, or a flow of datagrams, gives the network a packet | here, [`Member::send`](super::stations::Member::send) |
//! | offer | a node sends a packet on by its route, or delivers it | here |
//! | hold | an access point keeps a packet for its station, or lets it pass | [`Member::hold`](super::stations::Member::hold) |
//! | queue | a link takes a packet | [`Net::queue`], [`Link::queue`](super::link::Link::queue) |
//! | depart | a packet's last bit is sent | [`Net::depart`], [`Link::depart`](super::link::Link::depart) |
//! | arrive | a packet is at the far end of a link | here, [`Net::arrive`], [`Member::arrive`](super::stations::Member::arrive) |
//! | deliver | a packet is where it goes | [`Net::deliver`] |
//! | drop | a packet is lost | [`Net::drop`], [`Net::drop_at_router`] |

use super::capacities::Capacities;
use super::connections::Connections;
use super::controls::Controls;
use super::datagrams::Datagrams;
use super::frame::Frame;
use super::gauge::Gauge;
use super::ids::{ById, FlowId, Id, LinkId, NodeId};
use super::link::Link;
use super::marks::{Left, Marks};
use super::net::{Hop, Net};
use super::rerouting::Rerouting;
use super::stations::Stations;
use super::timetable::Due;
use crate::error::Result;
use netlull_network::outcome::NetworkMark;
use netlull_network::plan::Plan;
use netlull_network::probe::Table;
use netlull_units::Instant;
use std::path::Path;
use std::sync::Arc;

/// The outcome of a step.
#[derive(Debug)]
pub enum Step {
    /// Nothing that concerns a host.
    Inside,
    /// A packet for a host.
    Delivered {
        /// The host's node.
        host: NodeId,
        /// The instant of its arrival.
        at: Instant,
        /// The packet, for the host to receive.
        frame: Frame,
    },
    /// The run is over.
    Over,
}

/// The network with everything that happens to it.
#[derive(Debug)]
pub struct World {
    net: Net,
    stations: Stations,
    capacities: Capacities,
    datagrams: Datagrams,
    rerouting: Rerouting,
    marks: Marks,
    /// Events handled.
    events: u64,
}

impl World {
    /// The plan's network at time zero. Machines are recorded in the folder `tapes`.
    ///
    /// # Errors
    /// If a machine refuses its configuration, or a recording cannot be begun.
    pub fn new(plan: Arc<Plan>, gauges: Arc<[Gauge]>, tapes: Option<&Path>) -> Result<Self> {
        let mut world = Self {
            stations: Stations::new(&plan, tapes)?,
            capacities: Capacities::new(&plan),
            datagrams: Datagrams::new(&plan),
            rerouting: Rerouting::new(&plan),
            marks: Marks::default(),
            events: 0,
            net: Net::new(plan, gauges, tapes)?,
        };
        world.first_events();
        Ok(world)
    }

    fn first_events(&mut self) {
        let net = &mut self.net;
        for link in net.links.ids() {
            net.arm_controller(link);
            self.capacities.arm(link, net);
        }
        (0..net.plan.flows.len()).map(FlowId::new).for_each(|flow| self.datagrams.arm(flow, net));
        self.rerouting.arm(net);
        self.stations.members_mut().for_each(|member| member.arm(net));
        net.timetable.set(Due::Bin, net.observers.next_bin(Instant::ZERO));
        self.marks.arm(net);
        // Without a warm-up nothing has happened where measurement begins.
        if net.plan.marks.first() == Some(&Instant::ZERO) {
            self.marks.due(net, &mut self.stations);
        }
    }

    /// The instant at which something is due next; `NEVER` if nothing is.
    pub fn next(&mut self) -> Instant {
        if self.net.has_delivered() { self.net.now } else { self.net.timetable.next() }
    }

    /// The instant at which [`step`](Self::step) is to be called again: exact where something may reach a host, and a little late for all
    /// else, so that much of it is done at once.
    pub fn wakes(&mut self) -> Instant {
        if self.net.has_delivered() { self.net.now } else { self.net.timetable.wakes() }
    }

    /// Lets the next thing happen that is due.
    pub fn step(&mut self) -> Step {
        if let Some(step) = self.delivered() {
            return step;
        }
        let Some((at, due)) = self.net.timetable.pop() else { return Step::Over };
        let net = &mut self.net;
        net.now = net.now.max(at);
        self.events += 1;
        match due {
            Due::Departure(link) => net.depart(link),
            Due::Arrival(link) => self.arrive(link),
            Due::Controller(link) => net.wake_controller(link),
            Due::Capacity(link) => self.capacities.due(link, net),
            Due::Routing => self.rerouting.due(net),
            Due::Station(station) => self.stations[station].due(net),
            Due::Datagram(flow) => {
                if let Some((node, frame)) = self.datagrams.due(flow, net) {
                    self.send_frame(node, frame);
                }
            }
            Due::Bin => net.sample(),
            Due::Mark => {
                if self.marks.due(net, &mut self.stations) == Left::Nothing {
                    return Step::Over;
                }
            }
        }
        self.delivered().unwrap_or(Step::Inside)
    }

    fn delivered(&mut self) -> Option<Step> {
        let (host, frame) = self.net.take_delivered()?;
        Some(Step::Delivered { host, at: self.net.now, frame })
    }

    /// A host sends a packet, at `at` or, if time has gone on, now. A packet of none of the plan's flows is let go.
    pub fn send(&mut self, at: Instant, host: NodeId, bytes: &[u8]) {
        let net = &mut self.net;
        net.now = net.now.max(at);
        let Some(frame) = net.frame(host, bytes.to_vec()) else {
            net.foreign += 1;
            return;
        };
        if let Some(receiver) = self.stations.at(frame.to)
            && net.opens(&frame)
        {
            self.stations[receiver].asks(net);
        }
        self.send_frame(host, frame);
    }

    fn send_frame(&mut self, node: NodeId, frame: Frame) {
        match self.stations.at(node) {
            Some(station) => self.stations[station].send(frame, &mut self.net),
            None => self.offer(node, frame),
        }
    }

    /// A packet is at a node, which sends it on or delivers it.
    fn offer(&mut self, node: NodeId, frame: Frame) {
        match self.net.next_hop(node, &frame) {
            Hop::Here => self.net.deliver(node, frame),
            Hop::Link(link) => match self.stations.below(link) {
                Some(station) => self.stations[station].hold(frame, &mut self.net),
                None => {
                    self.net.queue(link, frame);
                }
            },
            Hop::Unreachable => self.net.drop_at_router(&frame, |losses| &mut losses.unroutable),
        }
    }

    /// A packet has crossed a link: a station may hear it, a node sends it on if it may make another hop.
    fn arrive(&mut self, link: LinkId) {
        let Some(mut frame) = self.net.arrive(link) else { return };
        if let Some(station) = self.stations.below(link) {
            return self.stations[station].arrive(frame, &mut self.net);
        }
        let node = self.net.links[link].to;
        frame.hops = frame.hops.saturating_add(1);
        if frame.to != node && self.net.routes.is_spent(frame.hops) {
            self.net.drop_at_router(&frame, |losses| &mut losses.expired);
        } else {
            self.offer(node, frame);
        }
    }

    /// Ends all recordings.
    ///
    /// # Errors
    /// If one could not be written.
    pub fn finish(&mut self) -> Result<()> {
        let now = self.net.now;
        self.net.controls.finish()?;
        self.stations.members_mut().try_for_each(|member| member.outcome(now, None).map(|_| ()))
    }

    /// The remains of a run that is over.
    #[must_use]
    pub fn remains(self) -> Remains {
        let Net { plan, now, links, controls, connections, observers, foreign, .. } = self.net;
        Remains {
            marks: self.marks.into_vec(),
            links,
            controls,
            stations: self.stations,
            connections,
            tables: observers.into_tables(&plan.probe),
            events: self.events,
            foreign,
            at: now,
        }
    }
}

/// The remains of a world that is over.
#[derive(Debug)]
pub struct Remains {
    /// Counters.
    pub marks: Vec<NetworkMark>,
    /// Links.
    pub links: ById<LinkId, Link>,
    /// Gateways and other mechanisms.
    pub controls: Controls,
    /// Stations.
    pub stations: Stations,
    /// Connections.
    pub connections: Connections,
    /// Tables.
    pub tables: Vec<Table>,
    /// Events handled.
    pub events: u64,
    /// Packets of no flow: of other protocols, to nobody.
    pub foreign: u64,
    /// The end.
    pub at: Instant,
}
