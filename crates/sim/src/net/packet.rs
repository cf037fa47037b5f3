//! What travels: small, `Copy`, no pointers.

use super::ids::{AgentId, NodeId};
use netlull_tcp::{Flags, Segment};

/// A packet on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// The TCP segment; a datagram keeps its number in `segment.seq` and nothing else.
    pub segment: Segment,
    /// The agent it is for.
    pub agent: AgentId,
    /// Size on the wire in bytes, IP header included.
    pub size: u32,
    /// The node it is for.
    pub destination: NodeId,
}

impl Packet {
    /// Whether the network may mark it: ECN-capable, marked before or not (RFC 3168 section 5).
    #[must_use]
    pub fn can_be_marked(&self) -> bool {
        self.segment.flags.intersects(Flags::ECT | Flags::CE)
    }

    /// Marks it: congestion experienced. False if it was marked before.
    pub fn mark(&mut self) -> bool {
        let newly = !self.is_marked();
        self.segment.flags = self.segment.flags.with(Flags::CE);
        newly
    }

    /// Whether a link has marked it.
    #[inline]
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.segment.flags.contains(Flags::CE)
    }
}
