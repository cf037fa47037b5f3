//! Packets in the emulation.

use super::ids::{ConnectionId, FlowId, NodeId};
use netlull_network::transmitter::QueuedPacket;
use netlull_wire::{Ecn, Packet, TcpPacket, mark_congestion, parse};

/// The owner of a packet, and its direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The flow.
    pub flow: FlowId,
    /// Its direction.
    pub way: Way,
    /// The connection; of datagrams none.
    pub connection: Option<ConnectionId>,
}

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the flow's sender to its receiver.
    Forward,
    /// Back.
    Backward,
}

/// A packet, from its IP header on.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Its bytes; those of datagrams are made up.
    pub bytes: Vec<u8>,
    /// Its size on the wire in bytes, IP header included.
    pub size: u32,
    /// The node that it goes to.
    pub to: NodeId,
    /// Its owner; `None` of a packet that the plan does not know.
    pub owner: Option<Owner>,
    /// Hosts see it. They do not see the plan's datagrams, which are made up.
    pub for_hosts: bool,
    /// Links that it has crossed.
    pub hops: u8,
}

impl Frame {
    /// Its TCP segment, if it is one that can be read.
    #[must_use]
    pub fn tcp(&self) -> Option<TcpPacket<'_>> {
        match parse(&self.bytes) {
            Ok(Packet::Tcp(tcp)) => Some(tcp),
            Ok(Packet::Other(_) | Packet::Fragment(_)) | Err(_) => None,
        }
    }

    /// The connection whose data it carries, if it is known and carries any.
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
