//! IPv4, IPv6 and TCP headers as views over bytes, and the few changes that mechanisms make to them.
//!
//! Bytes begin at the IP header, as TUN devices and NFQUEUE give them. [`parse`] says what a packet is; [`set_window`] and
//! [`mark_congestion`] change one in place with its checksums (RFC 1624); [`AckTemplate`] writes acknowledgements that nobody
//! has sent yet; [`build_tcp`] writes whole packets, right or odd, for tests and generators.
//!
//! Nothing here does I/O, and no input makes it panic. Nothing is allocated but by [`build_tcp`]. Checksums are not verified
//! unless asked for ([`verify_checksums`]): a router does not, and a packet that was broken must stay so.
//!
//! # Checksums that are not there yet
//!
//! A kernel that leaves checksums to the device (`CHECKSUM_PARTIAL`) keeps only the pseudo-header's sum in the TCP field until
//! the packet leaves. Such bytes must not be given to [`set_window`]; TUN without `TUN_F_CSUM` and NFQUEUE without
//! `NFQA_CFG_F_GSO` complete them before they hand a packet over.

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
