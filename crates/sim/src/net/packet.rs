//! What travels: small, `Copy`, no pointers.

use netlull_tcp::Segment;

/// Index of the agent (a TCP endpoint or a datagram sink) that a packet is for.
pub type AgentId = u32;

/// Index of a link.
pub type LinkId = u32;

/// A packet on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packet {
    /// The TCP segment; a datagram keeps its number in `segment.seq` and nothing else.
    pub segment: Segment,
    /// The agent it is for.
    pub agent: AgentId,
    /// Size on the wire in bytes, IP header included.
    pub size: u32,
    /// Column of the routing table: the destination node's index among destinations.
    pub destination: u32,
}
