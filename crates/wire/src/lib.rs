//! IPv4, IPv6 and TCP headers as views over bytes, and the few changes that mechanisms make to them.
//!
//! Packets begin at the IP header, as TUN devices and NFQUEUE deliver them. [`parse`] classifies a packet.
//! [`set_window`] and [`mark_congestion`] change a packet in place and update its checksums (RFC 1624). [`AckTemplate`]
//! writes acknowledgements on behalf of a host. [`build_tcp`] writes whole packets, correct or malformed, for tests and
//! generators.
//!
//! The crate does no I/O, and no input makes it panic. Only [`build_tcp`] allocates memory. Checksums are verified only
//! on request ([`verify_checksums`]): a router does not verify them, and a damaged packet must remain recognisable.
//!
//! # Checksums that are still incomplete
//!
//! With checksum offloading (`CHECKSUM_PARTIAL`), a kernel stores only the pseudo-header's sum in the TCP field until
//! the packet leaves. Do not pass such bytes to [`set_window`]. TUN without `TUN_F_CSUM` and NFQUEUE without
//! `NFQA_CFG_F_GSO` complete checksums before they deliver a packet.

mod ack;
mod build;
mod checksum;
mod ip;
mod options;
mod rewrite;
mod tcp;

pub use ack::AckTemplate;
pub use build::{Extension, Fragmentation, SpecError, TcpOption, TcpSpec, build_tcp};
pub use checksum::{internet_checksum, ones_complement_sum, transport_checksum, updated_checksum};
pub use ip::{Ecn, IpVersion, OtherPacket};
pub use options::Options;
pub use rewrite::{Checksums, mark_congestion, set_window, verify_checksums};
pub use tcp::{Connection, Endpoint, Flags, Packet, TcpPacket, parse, seq_le, seq_lt};

use std::fmt;

/// The error of a packet: the field, its value and the expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The packet ends too early.
    Truncated {
        /// The incomplete part.
        part: &'static str,
        /// The bytes that the part needs, counted from its beginning.
        needed: usize,
        /// The bytes present.
        found: usize,
    },
    /// A field has a value that no packet may have.
    Invalid {
        /// The field.
        field: &'static str,
        /// Its value.
        value: usize,
        /// The accepted values.
        expected: &'static str,
    },
    /// The operation needs a TCP segment.
    NotTcp {
        /// The protocol number (IPv4) or the first unsupported next header (IPv6).
        protocol: u8,
    },
    /// The operation needs a whole packet, and this is a fragment.
    Fragment,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { part, needed, found } => write!(f, "{part} is {found} B; expected {needed} B or more"),
            Self::Invalid { field, value, expected } => write!(f, "{field} is {value}; expected {expected}"),
            Self::NotTcp { protocol } => write!(f, "protocol is {protocol}; expected 6 (TCP)"),
            Self::Fragment => write!(f, "packet is a fragment; expected a whole packet"),
        }
    }
}

impl std::error::Error for Malformed {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_field_the_value_and_what_was_expected() {
        let short = Malformed::Truncated { part: "IPv4 header", needed: 20, found: 12 };
        assert_eq!(short.to_string(), "IPv4 header is 12 B; expected 20 B or more");
        let odd = Malformed::Invalid { field: "IP version", value: 5, expected: "4 or 6" };
        assert_eq!(odd.to_string(), "IP version is 5; expected 4 or 6");
        assert_eq!(Malformed::NotTcp { protocol: 17 }.to_string(), "protocol is 17; expected 6 (TCP)");
    }
}
