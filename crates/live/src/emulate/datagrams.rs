//! Datagrams, which the emulation creates itself: the plan contains the instant and the size of each.

use super::address::datagram;
use super::frame::{Frame, Owner, Way};
use super::ids::{ById, FlowId, Id, NodeId};
use super::net::Net;
use super::timetable::Due;
use netlull_network::plan::{Plan, Traffic};
use netlull_units::Instant;

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
