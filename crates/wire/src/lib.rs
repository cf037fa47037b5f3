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
mod connection;
mod error;
mod ip;
mod options;
mod rewrite;
mod sequence;
mod tcp;

pub use ack::AckTemplate;
pub use build::{Extension, Fragmentation, SpecError, TcpOption, TcpSpec, build_tcp};
pub use checksum::{internet_checksum, ones_complement_sum, transport_checksum, updated_checksum};
pub use connection::{Connection, Endpoint};
pub use error::Malformed;
pub use ip::{Ecn, IpVersion, OtherPacket};
pub use options::Options;
pub use rewrite::{Checksums, mark_congestion, set_window, verify_checksums, window_field};
pub use sequence::{seq_le, seq_lt};
pub use tcp::{Flags, Packet, TcpPacket, parse};
