//! Packets in the emulation, and the addresses of nodes in them.

use super::ids::{ConnectionId, FlowId, Id, NodeId};
use netlull_network::transmitter::QueuedPacket;
use netlull_wire::{Ecn, Packet, TcpPacket, mark_congestion, parse};
use std::net::{IpAddr, Ipv4Addr};

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
    /// True if hosts receive it. They do not receive the plan's artificial datagrams.
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

/// The first port of the flows' receivers; each flow's port follows.
pub const FIRST_PORT: u16 = 10_000;

/// The address of a node.
#[must_use]
pub fn address(node: NodeId) -> Ipv4Addr {
    let [_, _, high, low] = node.number().to_be_bytes();
    Ipv4Addr::new(10, 200, high, low)
}

/// The node with an address, if there is one.
pub(super) fn node_of(address: IpAddr) -> Option<NodeId> {
    match address {
        IpAddr::V4(v4) => match v4.octets() {
            [10, 200, high, low] => Some(NodeId::numbered(u32::from_be_bytes([0, 0, high, low]))),
            _ => None,
        },
        IpAddr::V6(_) => None,
    }
}

/// Builds a datagram of a given size, IP header included (RFC 791 section 3.1, RFC 768), without checksums.
pub(super) fn datagram(from: NodeId, to: NodeId, size: u32) -> Vec<u8> {
    const UDP: u8 = 17;
    let len = u16::try_from(size).unwrap_or(u16::MAX);
    let mut bytes = vec![0; usize::from(len)];
    if let Some(header) = bytes.first_chunk_mut::<20>() {
        (header[0], header[8], header[9]) = (0x45, 64, UDP);
        header[2..4].copy_from_slice(&len.to_be_bytes());
        header[12..16].copy_from_slice(&address(from).octets());
        header[16..20].copy_from_slice(&address(to).octets());
    }
    bytes
}
