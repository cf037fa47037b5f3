//! Packets: small, `Copy`, without pointers.

use super::ids::{AgentId, NodeId};
use netlull_tcp::{Flags, Segment};

/// A packet in the network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// The TCP segment. A datagram only stores its number in `segment.seq`.
    pub segment: Segment,
    /// The destination agent.
    pub agent: AgentId,
    /// Size on the wire in bytes, IP header included.
    pub size: u32,
    /// The destination node.
    pub destination: NodeId,
}

impl Packet {
    /// Returns true for an ECN-capable packet, with or without a mark (RFC 3168 section 5).
    #[must_use]
    pub fn can_be_marked(&self) -> bool {
        self.segment.flags.intersects(Flags::ECT | Flags::CE)
    }

    /// Marks the packet: congestion experienced. Returns false if it already has a mark.
    pub fn mark(&mut self) -> bool {
        let newly = !self.is_marked();
        self.segment.flags = self.segment.flags.with(Flags::CE);
        newly
    }

    /// Returns true if a link has marked the packet.
    #[inline]
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.segment.flags.contains(Flags::CE)
    }
}
