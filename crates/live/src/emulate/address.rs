//! The addresses of nodes in packets.

use super::ids::{Id, NodeId};
use std::net::{IpAddr, Ipv4Addr};

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
