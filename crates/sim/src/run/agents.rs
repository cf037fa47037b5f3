//! Agents: the ends of flows, and what they count.

use crate::net::ids::{LinkId, NodeId};
use crate::net::packet::Packet;

/// A sender or receiver of packets, TCP flows first. The ends of requests' connections have numbers behind these, and share
/// their flow's two ([`Requests`](super::requests::Requests)).
#[derive(Clone, Debug)]
pub(super) struct Agent {
    /// Its node.
    pub node: NodeId,
    /// The link on which it reaches its peer; `None` where routes may change: then the node's table tells.
    pub out: Option<LinkId>,
    /// Its peer's node.
    pub peer_node: NodeId,
    /// Whether it takes packets as soon as their arrival is computed.
    pub ahead: AgentAhead,
    pub counters: AgentCounters,
}

/// Whether an agent takes packets before the run has come to their arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentAhead {
    No,
    /// A TCP endpoint that is alone on its first link.
    Endpoint,
    /// The same, with an application that acts at times of its own.
    Writer,
    /// A receiver of datagrams. It counts them, and never answers.
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
    /// Packets it sent.
    pub sent_packets: u64,
    /// Their bytes on the wire.
    pub sent_bytes: u64,
    /// Packets it received.
    pub received_packets: u64,
    /// Their bytes on the wire.
    pub received_bytes: u64,
    /// Packets it received that a link had marked.
    pub received_marked: u64,
    /// Packets to it that queues dropped or links lost.
    pub dropped_packets: u64,
}

impl AgentCounters {
    /// Counts a packet that has come.
    #[inline]
    pub fn receive(&mut self, packet: &Packet) {
        self.received_packets += 1;
        self.received_bytes += u64::from(packet.size);
        self.received_marked += u64::from(packet.is_marked());
    }

    /// Counts a packet that is sent.
    #[inline]
    pub fn send(&mut self, packet: &Packet) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(packet.size);
    }
}
