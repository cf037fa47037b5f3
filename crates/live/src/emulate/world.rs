//! The emulated network without system calls: its inputs and outputs are instants and bytes.
//!
//! Its driver passes every packet that a host sends ([`World::send`]) and asks for the next event's instant
//! ([`World::next`]). It processes the event then ([`World::step`]) and hands delivered packets to their hosts. All
//! times are virtual: a packet departs when its link has sent it, even if the driver is late.
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
//! | offer | a node forwards a packet by its route, or delivers it | here |
//! | hold | an access point holds a packet for its station, or forwards it | [`Member::hold`](super::stations::Member::hold) |
//! | queue | a link accepts a packet | [`Net::queue`], [`Link::queue`](super::link::Link::queue) |
//! | depart | a packet's last bit is sent | [`Net::depart`], [`Link::depart`](super::link::Link::depart) |
//! | arrive | a packet is at the far end of a link | here, [`Net::arrive`], [`Member::arrive`](super::stations::Member::arrive) |
//! | deliver | a packet reaches its destination | [`Net::deliver`] |
//! | drop | a packet is lost | [`Net::drop`], [`Net::drop_at_router`] |

use super::connections::Connections;
use super::controls::Controls;
use super::frame::Frame;
use super::ids::{ById, FlowId, Id, LinkId, NodeId};
use super::link::Link;
use super::net::{Hop, Net};
use super::planned::{Capacities, Datagrams, Left, Marks, Rerouting};
use super::sockets::Gauge;
use super::stations::Stations;
use super::timetable::Due;
use crate::error::{LiveError, Result};
use netlull_network::outcome::NetworkMark;
use netlull_network::plan::Plan;
use netlull_network::probe::Table;
use netlull_units::{Duration, Instant};
use std::path::Path;
use std::sync::Arc;

/// The event of a step.
#[derive(Debug)]
pub enum Happened {
    /// An event inside the network.
    Inside,
    /// A packet for a host.
    Delivered {
        /// The host's node.
        host: NodeId,
        /// The instant of its arrival.
        at: Instant,
        /// The packet for the host.
        frame: Frame,
    },
    /// The run is over.
    Over,
}

/// The network with all of its scheduled events.
#[derive(Debug)]
pub struct World {
    net: Net,
    stations: Stations,
    capacities: Capacities,
    datagrams: Datagrams,
    rerouting: Rerouting,
    marks: Marks,
    /// The number of events processed.
    events: u64,
}

impl World {
    /// Creates the plan's network at time zero. Machines are recorded in the folder `tapes`.
    ///
    /// # Errors
    /// If a machine refuses its configuration, or a recording cannot be started.
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
            net.start_controller(link);
            self.capacities.arm(link, net);
        }
        (0..net.plan.flows.len()).map(FlowId::new).for_each(|flow| self.datagrams.arm(flow, net));
        self.rerouting.arm(net);
        self.stations.members_mut().for_each(|member| member.arm(net));
        net.timetable.set(Due::Bin, net.observers.next_bin(Instant::ZERO));
        self.marks.arm(net);
        // Without a warm-up, measurement starts before the first event.
        if net.plan.marks.first() == Some(&Instant::ZERO) {
            self.marks.due(net, &mut self.stations);
        }
    }

    /// The instant of the next event; `NEVER` if there is none.
    pub fn next(&mut self) -> Instant {
        if self.net.has_delivered() { self.net.now } else { self.net.timetable.next() }
    }

    /// The latest instant for the next [`step`](Self::step). It is exact if a packet may reach a host, and slightly
    /// late for all other events, so they are processed in batches.
    pub fn wakes(&mut self) -> Instant {
        if self.net.has_delivered() { self.net.now } else { self.net.timetable.wakes() }
    }

    /// Processes the next event.
    pub fn step(&mut self) -> Happened {
        if let Some(step) = self.delivered() {
            return step;
        }
        let Some((at, due)) = self.net.timetable.pop() else { return Happened::Over };
        let net = &mut self.net;
        net.now = net.now.max(at);
        self.events += 1;
        match due {
            Due::Departure(link) => net.depart(link),
            Due::Arrival(link) => self.arrive(link),
            Due::Controller(link) => net.time_out(link),
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
                    return Happened::Over;
                }
            }
        }
        self.delivered().unwrap_or(Happened::Inside)
    }

    fn delivered(&mut self) -> Option<Happened> {
        let (host, frame) = self.net.take_delivered()?;
        Some(Happened::Delivered { host, at: self.net.now, frame })
    }

    /// Sends a packet of a host at `at`, or now if the time is later. A packet outside the plan's flows is discarded.
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

    /// Forwards or delivers a packet at a node.
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

    /// Processes a packet at the end of a link: a station may hear it, and a node forwards it within the hop limit.
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

    /// The error of a machine that works no more, which makes the run worthless.
    pub fn failure(&self) -> Option<LiveError> {
        let of_link = self.net.controls.failure().map(|(at, link, error)| {
            let (name, field) = (&self.net.plan.links[link.index()].name, &error.field);
            let at = (*at - Instant::ZERO).as_secs_f64();
            LiveError::input(format!("link.{name}.controller.{field}: {} (at {at:.9} s)", error.reason()))
        });
        of_link.or_else(|| {
            let (node, error) = self.stations.members().find_map(|member| member.failure())?;
            let (name, field) = (&self.net.plan.nodes[node.index()], &error.field);
            Some(LiveError::input(format!("station.{name}.mechanism.{field}: {}", error.reason())))
        })
    }

    /// The error of a plan with more events than this machine can process in real time. It takes the next event, to name it.
    pub fn too_busy(&mut self, late: Duration) -> LiveError {
        let plan = Arc::clone(&self.net.plan);
        let (link, node) = (|id: LinkId| &plan.links[id.index()].name, |id: NodeId| &plan.nodes[id.index()]);
        let next = match self.net.timetable.pop().map(|(_, due)| due) {
            Some(Due::Departure(id) | Due::Arrival(id)) => format!("a packet of link.{}", link(id)),
            Some(Due::Controller(id)) => format!("a timeout of link.{}.controller", link(id)),
            Some(Due::Capacity(id)) => format!("a step of link.{}.capacity", link(id)),
            Some(Due::Station(id)) => format!("an event of station.{}", node(self.stations[id].node)),
            Some(Due::Datagram(id)) => format!("a datagram of flow.{}", plan.flows[id.index()].name),
            Some(Due::Bin) => "the end of a bin of probe.interval".to_owned(),
            Some(Due::Routing | Due::Mark) | None => "a change of routes or phases".to_owned(),
        };
        let reached = (self.net.now - Instant::ZERO).as_secs_f64();
        LiveError::input(format!(
            "the emulation has reached {reached:.9} s and is {late} late, after {} events; expected at most as many events as \
             this machine can process in real time. The next event is {next}",
            self.events
        ))
    }

    /// Ends all recordings.
    ///
    /// # Errors
    /// If a recording could not be written.
    pub fn finish(&mut self) -> Result<()> {
        let now = self.net.now;
        self.net.controls.finish()?;
        self.stations.members_mut().try_for_each(|member| member.outcome(now, None).map(|_| ()))
    }

    /// The results of a finished run.
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

/// The results of a finished run.
#[derive(Debug)]
pub struct Remains {
    /// The snapshots of the counters.
    pub marks: Vec<NetworkMark>,
    /// The links.
    pub links: ById<LinkId, Link>,
    /// The gateways and other mechanisms.
    pub controls: Controls,
    /// The stations.
    pub stations: Stations,
    /// The connections.
    pub connections: Connections,
    /// The recorded tables.
    pub tables: Vec<Table>,
    /// The number of events processed.
    pub events: u64,
    /// The packets of no flow: of other protocols, or without a valid destination.
    pub foreign: u64,
    /// The instant of the end.
    pub at: Instant,
}
