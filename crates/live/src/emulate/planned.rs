//! The events that the plan contains with their instants: capacities, datagrams, steps of sleep and routing, and
//! snapshots of the counters.
//!
//! The steps have the meanings of the simulator (docs/models/sleep.md), which has computed their list.

use super::frame::{Frame, Owner, Way, datagram};
use super::ids::{ById, FlowId, Id, LinkId, NodeId};
use super::net::Net;
use super::stations::Stations;
use super::timetable::Due;
use netlull_network::outcome::{FlowMark, LinkMark, NetworkMark};
use netlull_network::plan::{Plan, RoutingDeed, RoutingStep, Traffic};
use netlull_units::{BitRate, Instant};
use std::collections::VecDeque;

/// The number of capacity steps done, by link.
#[derive(Debug)]
pub(super) struct Capacities {
    done: ById<LinkId, usize>,
}

impl Capacities {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { done: ById::filled(0, plan.links.len()) }
    }

    fn next(&self, plan: &Plan, link: LinkId) -> Option<(Instant, BitRate)> {
        plan.links[link.index()].steps.as_ref()?.get(self.done[link]).copied()
    }

    /// Schedules a link's next step.
    pub(super) fn arm(&self, link: LinkId, net: &mut Net) {
        let at = self.next(&net.plan, link).map_or(Instant::NEVER, |(at, _)| at);
        net.timetable.set(Due::Capacity(link), at);
    }

    /// Applies a link's next step.
    pub(super) fn due(&mut self, link: LinkId, net: &mut Net) {
        if let Some((_, rate)) = self.next(&net.plan, link) {
            net.set_capacity(link, rate);
        }
        self.done[link] += 1;
        self.arm(link, net);
    }
}

/// The number of datagrams sent, by flow.
#[derive(Debug)]
pub(super) struct Datagrams {
    sent: ById<FlowId, usize>,
}

impl Datagrams {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { sent: ById::filled(0, plan.flows.len()) }
    }

    fn next(&self, plan: &Plan, flow: FlowId) -> Option<(Instant, u32)> {
        match &plan.flows[flow.index()].traffic {
            Traffic::Datagrams { packets } => packets.get(self.sent[flow]).copied(),
            Traffic::Tcp { .. } | Traffic::Requests { .. } => None,
        }
    }

    /// Schedules a flow's next datagram.
    pub(super) fn arm(&self, flow: FlowId, net: &mut Net) {
        let at = self.next(&net.plan, flow).map_or(Instant::NEVER, |(at, _)| at);
        net.timetable.set(Due::Datagram(flow), at);
    }

    /// Creates the datagram that a flow sends now, and returns it with its sending node. It has a header and a zero
    /// payload of the planned size, which nobody reads.
    pub(super) fn due(&mut self, flow: FlowId, net: &mut Net) -> Option<(NodeId, Frame)> {
        let next = self.next(&net.plan, flow);
        self.sent[flow] += 1;
        self.arm(flow, net);
        let (_, size) = next?;
        let spec = &net.plan.flows[flow.index()];
        let (from, to) = (NodeId::numbered(spec.from), NodeId::numbered(spec.to));
        let count = net.connections.flow_mut(flow);
        count.sent_packets += 1;
        count.sent_bytes += u64::from(size);
        let owner = Owner { flow, way: Way::Forward, connection: None };
        let bytes = datagram(from, to, size);
        Some((from, Frame { bytes, size, to, owner: Some(owner), for_hosts: false, hops: 0 }))
    }
}

/// The remaining steps of links that sleep and wake, and of routers whose tables change, in the order of time.
#[derive(Debug)]
pub(super) struct Rerouting {
    steps: VecDeque<RoutingStep>,
}

impl Rerouting {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { steps: plan.routing.iter().flat_map(|routing| routing.steps.iter().cloned()).collect() }
    }

    /// Schedules the next step.
    pub(super) fn arm(&self, net: &mut Net) {
        net.timetable.set(Due::Routing, self.steps.front().map_or(Instant::NEVER, |step| step.at));
    }

    /// Performs the next step.
    pub(super) fn due(&mut self, net: &mut Net) {
        let now = net.now;
        match self.steps.pop_front().map(|step| step.deed) {
            Some(RoutingDeed::Sleep(links)) => ids(links).for_each(|link| net.fall_asleep(link)),
            Some(RoutingDeed::Stir(links)) => ids(links).for_each(|link| net.links[link].begin_to_wake(now)),
            Some(RoutingDeed::Wake(links)) => ids(links).for_each(|link| net.links[link].awake(now)),
            Some(RoutingDeed::Install(changes)) => {
                changes.into_iter().for_each(|change| net.routes.install(change));
            }
            None => {}
        }
        self.arm(net);
    }
}

fn ids(links: Vec<u32>) -> impl Iterator<Item = LinkId> {
    links.into_iter().map(LinkId::numbered)
}

/// The snapshots so far.
#[derive(Debug, Default)]
pub(super) struct Marks {
    taken: Vec<NetworkMark>,
}

/// The rest of the run after a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// More snapshots follow.
    Some,
    /// It was the last snapshot: the run is over.
    Nothing,
}

impl Marks {
    /// Schedules the next snapshot.
    pub(super) fn arm(&self, net: &mut Net) -> Left {
        let next = net.plan.marks.get(self.taken.len()).copied();
        net.timetable.set(Due::Mark, next.unwrap_or(Instant::NEVER));
        if next.is_some() { Left::Some } else { Left::Nothing }
    }

    /// Takes a snapshot; the first starts the measurement.
    pub(super) fn due(&mut self, net: &mut Net, stations: &mut Stations) -> Left {
        if self.taken.is_empty() {
            begin_measurement(net, stations);
        }
        let now = net.now;
        let controls = &net.controls;
        let links = net.links.iter_mut().zip(&net.plan.links).enumerate().map(|(index, (link, plan))| LinkMark {
            counters: link.counters_at(now),
            residency: plan.varies().then(|| link.residency(now)),
            rate_changes: link.rate_changes(),
            low_power: controls.low_power(now, LinkId::new(index)),
        });
        let links = links.collect();
        let flow_mark = |flow: FlowId| {
            let (timeouts, fast_retransmits) = net.observers.gauge(flow).counts();
            FlowMark { timeouts, fast_retransmits, ..*net.connections.flow(flow) }
        };
        let flows = (0..net.plan.flows.len()).map(FlowId::new).map(flow_mark).collect();
        let at = net.plan.marks[self.taken.len()];
        self.taken.push(NetworkMark { at, links, flows, routers: net.routes.losses() });
        self.arm(net)
    }

    /// All snapshots, in chronological order.
    pub(super) fn into_vec(self) -> Vec<NetworkMark> {
        self.taken
    }
}

fn begin_measurement(net: &mut Net, stations: &mut Stations) {
    let now = net.now;
    net.links.iter_mut().for_each(|link| link.restart_meter(now));
    net.controls.restart(now);
    stations.members_mut().for_each(|member| member.restart(now, net.links[member.down].head()));
}
