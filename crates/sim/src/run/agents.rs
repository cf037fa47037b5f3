//! Agents: the ends of flows, and their counters.

use crate::net::flight::Packet;
use crate::net::ids::{LinkId, NodeId};

/// A sender or receiver of packets, TCP flows first. The ends of request connections have the numbers after these, and
/// share the two agents of their flow ([`Requests`](super::requests::Requests)).
#[derive(Clone, Debug)]
pub(super) struct Agent {
    /// The agent's node.
    pub node: NodeId,
    /// The first link to its peer. `None` if routes may change: then the node's table determines it.
    pub out: Option<LinkId>,
    /// The peer's node.
    pub peer_node: NodeId,
    /// Acceptance of packets as soon as their arrival is computed.
    pub ahead: AgentAhead,
    pub counters: AgentCounters,
}

/// The acceptance of packets before the run reaches their arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentAhead {
    No,
    /// A TCP endpoint that is the only sender on its first link.
    Endpoint,
    /// Such an endpoint, with an application that acts at its own times.
    Writer,
    /// A receiver of datagrams. It counts them and never answers.
    Sink,
}

impl AgentAhead {
    pub fn endpoint_if(alone: bool) -> Self {
        if alone { Self::Endpoint } else { Self::No }
    }

    pub fn is_endpoint(self) -> bool {
        matches!(self, Self::Endpoint | Self::Writer)
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AgentCounters {
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes sent, on the wire.
    pub sent_bytes: u64,
    /// Packets received.
    pub received_packets: u64,
    /// Bytes received, on the wire.
    pub received_bytes: u64,
    /// Received packets with a mark from a link.
    pub received_marked: u64,
    /// Packets to it that queues dropped or links lost.
    pub dropped_packets: u64,
}

impl AgentCounters {
    /// Counts a received packet.
    #[inline]
    pub fn receive(&mut self, packet: &Packet) {
        self.received_packets += 1;
        self.received_bytes += u64::from(packet.size);
        self.received_marked += u64::from(packet.is_marked());
    }

    /// Counts a sent packet.
    #[inline]
    pub fn send(&mut self, packet: &Packet) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(packet.size);
    }
}
