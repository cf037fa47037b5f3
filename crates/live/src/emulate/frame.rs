//! Packets in the emulation.

use super::ids::{ConnectionId, FlowId, NodeId};
use netlull_network::transmitter::QueuedPacket;
use netlull_wire::{Ecn, Packet, TcpPacket, mark_congestion, parse};

/// The flow and connection of a packet, and its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The flow.
    pub flow: FlowId,
    /// The direction.
    pub way: Way,
    /// The connection; `None` for datagrams.
    pub connection: Option<ConnectionId>,
}

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the flow's sender to its receiver.
    Forward,
    /// From the receiver to the sender.
    Backward,
}

/// A packet, from its IP header on.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The packet's bytes; artificial for datagrams.
    pub bytes: Vec<u8>,
    /// The size on the wire in bytes, IP header included.
    pub size: u32,
    /// The destination node.
    pub to: NodeId,
    /// The owner; `None` for a packet outside the plan.
    pub owner: Option<Owner>,
    /// Whether hosts receive it. They do not receive the plan's artificial datagrams.
    pub for_hosts: bool,
    /// The number of links crossed.
    pub hops: u8,
}

impl Frame {
    /// The TCP segment, if it is readable.
    #[must_use]
    pub fn tcp(&self) -> Option<TcpPacket<'_>> {
        match parse(&self.bytes) {
            Ok(Packet::Tcp(tcp)) => Some(tcp),
            Ok(Packet::Other(_) | Packet::Fragment(_)) | Err(_) => None,
        }
    }

    /// The connection of a packet with data; `None` without data or if unknown.
    #[must_use]
    pub fn data(&self) -> Option<ConnectionId> {
        let connection = self.owner.and_then(|owner| owner.connection)?;
        self.tcp().is_some_and(|tcp| tcp.payload_len() > 0).then_some(connection)
    }
}

impl QueuedPacket for Frame {
    fn size(&self) -> u32 {
        self.size
    }

    fn can_be_marked(&self) -> bool {
        self.tcp().is_some_and(|tcp| matches!(tcp.ecn(), Ecn::Ect0 | Ecn::Ect1))
    }

    fn mark(&mut self) -> bool {
        mark_congestion(&mut self.bytes).unwrap_or(false)
    }
}
