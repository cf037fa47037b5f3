//! Connections and their endpoints.

use std::net::IpAddr;

/// An endpoint of a connection: an address and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// The host's address.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// Creates an endpoint.
    #[must_use]
    pub const fn new(address: IpAddr, port: u16) -> Self {
        Self { address, port }
    }

    fn hash(self) -> u64 {
        let (high, low) = match self.address {
            // The marker bit separates 1.2.3.4 from ::1.2.3.4, which is another host.
            IpAddr::V4(address) => (1 << 63, u64::from(address.to_bits())),
            IpAddr::V6(address) => ((address.to_bits() >> 64) as u64, address.to_bits() as u64),
        };
        mixed(mixed(mixed(high).wrapping_add(low)).wrapping_add(u64::from(self.port)))
    }
}

/// A connection in the direction of one of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Connection {
    /// The sender of the packet.
    pub from: Endpoint,
    /// The receiver of the packet.
    pub to: Endpoint,
}

impl Connection {
    /// The connection in the direction of the packets in return.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { from: self.to, to: self.from }
    }

    /// A hash that is the same for both directions and on every machine. Two connections can have the same key, and an
    /// attacker who chooses addresses and ports can force this. A table must therefore compare the connections, too.
    #[must_use]
    pub fn key(self) -> u64 {
        let (a, b) = (self.from.hash(), self.to.hash());
        mixed(mixed(a.min(b)).wrapping_add(a.max(b)))
    }
}

/// Mixes the bits: every bit of the result depends on every bit of `x`. The finaliser of SplitMix64 (Steele et al.
/// 2014, figure 16).
const fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn end(host: u8, port: u16) -> Endpoint {
        Endpoint::new(Ipv4Addr::new(10, 0, 0, host).into(), port)
    }

    #[test]
    fn both_directions_have_one_key_and_no_other_connection_has_it() {
        let mut keys = BTreeSet::new();
        for host in 1..50 {
            for port in 1000..1100 {
                let connection = Connection { from: end(0, 80), to: end(host, port) };
                assert_eq!(connection.key(), connection.reversed().key());
                assert_eq!(connection.reversed().reversed(), connection);
                assert!(keys.insert(connection.key()), "{connection:?}");
            }
        }
    }

    #[test]
    fn ports_belong_to_their_hosts() {
        let one = Connection { from: end(1, 80), to: end(2, 5000) };
        let other = Connection { from: end(1, 5000), to: end(2, 80) };
        assert_ne!(one.key(), other.key());
    }

    #[test]
    fn a_mapped_address_is_another_host() {
        let v4 = Endpoint::new(Ipv4Addr::new(1, 2, 3, 4).into(), 80);
        let v6 = Endpoint::new(Ipv6Addr::from_bits(0x0102_0304).into(), 80);
        let to = end(9, 9);
        assert_ne!(Connection { from: v4, to }.key(), Connection { from: v6, to }.key());
    }
}
