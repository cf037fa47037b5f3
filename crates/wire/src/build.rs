//! Whole packets from their fields, for tests and generators, including packets that nobody should send.

use crate::checksum::{internet_checksum, transport_checksum};
use crate::ip::{TCP, V4_HEADER, V6_HEADER};
use crate::tcp::TCP_HEADER;
use crate::{Connection, Flags};
use std::fmt;
use std::net::IpAddr;

/// A TCP option (RFC 9293, section 3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// The end of the list; readers ignore the bytes after it.
    End,
    /// A byte of padding.
    NoOperation,
    /// The maximum segment size, in bytes.
    Mss(u16),
    /// The window shift; values above 14 are written, too.
    WindowScale(u8),
    /// SACK permitted.
    SackPermitted,
    /// Any number of SACK blocks: the first sequence number and the number after the last.
    Sack(Vec<(u32, u32)>),
    /// TSval and TSecr.
    Timestamps(u32, u32),
    /// Any kind with any data; its length field is correct.
    Other {
        /// The kind.
        kind: u8,
        /// The data after the length field.
        data: Vec<u8>,
    },
    /// Raw bytes, for malformed lists.
    Raw(Vec<u8>),
}

/// An IPv6 extension header (RFC 8200, section 4), padded with zeros to a multiple of 8 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The protocol number: 0 hop-by-hop options, 43 routing, 60 destination options.
    pub protocol: u8,
    /// The bytes after the length field.
    pub body: Vec<u8>,
}

/// The fragmentation state of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragmentation {
    /// May be fragmented (IPv4 without DF); under IPv6 the same as `Forbidden`.
    Allowed,
    /// May not be fragmented (IPv4 with DF; IPv6 without a fragment header).
    Forbidden,
    /// A fragment. The segment is its content, which is a TCP header only at offset 0.
    Piece {
        /// The offset in units of 8 bytes, below 2^13.
        offset: u16,
        /// The "more fragments" bit.
        more: bool,
    },
}

/// The fields of a TCP segment and of its packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpSpec {
    /// The sender and the receiver, both of one version of IP.
    pub connection: Connection,
    /// DSCP and ECN.
    pub traffic_class: u8,
    /// The time to live or the hop limit.
    pub ttl: u8,
    /// The identification that fragments of one packet share; IPv4 has 16 bits of it.
    pub identification: u32,
    /// The fragmentation state.
    pub fragmentation: Fragmentation,
    /// The IPv4 options, padded with zeros to a multiple of 4 bytes.
    pub ip_options: Vec<u8>,
    /// The IPv6 flow label, below 2^20.
    pub flow_label: u32,
    /// The IPv6 extension headers, in their order; a fragment header follows them.
    pub extensions: Vec<Extension>,
    /// The sequence number.
    pub seq: u32,
    /// The acknowledgement number, written for any flags.
    pub ack: u32,
    /// The control bits.
    pub flags: Flags,
    /// The window field.
    pub window: u16,
    /// The urgent pointer.
    pub urgent: u16,
    /// The TCP options, padded with zeros (end of the list) to a multiple of 4 bytes.
    pub options: Vec<TcpOption>,
}

impl TcpSpec {
    /// An acknowledgement of number 0 with the largest window, no options, and a time to live of 64.
    #[must_use]
    pub fn new(connection: Connection) -> Self {
        Self {
            connection,
            traffic_class: 0,
            ttl: 64,
            identification: 0,
            fragmentation: Fragmentation::Forbidden,
            ip_options: Vec::new(),
            flow_label: 0,
            extensions: Vec::new(),
            seq: 0,
            ack: 0,
            flags: Flags { ack: true, ..Flags::default() },
            window: u16::MAX,
            urgent: 0,
            options: Vec::new(),
        }
    }
}

/// The reason why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// The addresses belong to different versions of IP.
    MixedVersions,
    /// The packet has IPv4 options under IPv6, or extension headers under IPv4.
    OtherVersion {
        /// The field that this version of IP does not have.
        field: &'static str,
    },
    /// A part is longer than its length field can express.
    TooLong {
        /// The part.
        part: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The greatest possible length, in bytes.
        most: usize,
    },
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MixedVersions => write!(f, "connection mixes IPv4 and IPv6; expected two addresses of one version"),
            Self::OtherVersion { field } => write!(f, "{field} is not empty; expected nothing in this version of IP"),
            Self::TooLong { part, length, most } => write!(f, "{part} is {length} B; expected {most} B or less"),
        }
    }
}

impl std::error::Error for SpecError {}

/// Writes a packet with its checksums into the buffer. Earlier contents are lost; the buffer keeps its allocation.
///
/// # Errors
///
/// [`SpecError`]; the buffer is then empty.
pub fn build_tcp(spec: &TcpSpec, payload: &[u8], buffer: &mut Vec<u8>) -> Result<(), SpecError> {
    buffer.clear();
    let built = write_packet(spec, payload, buffer);
    if built.is_err() {
        buffer.clear();
    }
    built
}

fn write_packet(spec: &TcpSpec, payload: &[u8], buffer: &mut Vec<u8>) -> Result<(), SpecError> {
    match (spec.connection.from.address, spec.connection.to.address) {
        (IpAddr::V4(_), IpAddr::V4(_)) => write_v4_header(spec, buffer)?,
        (IpAddr::V6(_), IpAddr::V6(_)) => write_v6_headers(spec, buffer)?,
        _ => return Err(SpecError::MixedVersions),
    }
    let at = buffer.len();
    write_segment(spec, payload, buffer)?;
    let (_, segment) = buffer.split_at_mut(at);
    let checksum = transport_checksum(spec.connection.from.address, spec.connection.to.address, TCP, segment);
    put(segment, 16, checksum);
    let total = buffer.len();
    if spec.connection.from.address.is_ipv4() {
        put(buffer, 2, fitting("IPv4 packet", total, usize::from(u16::MAX))?);
        let checksum = internet_checksum(&buffer[..at]);
        put(buffer, 10, checksum);
    } else {
        put(buffer, 4, fitting("IPv6 payload", total - V6_HEADER, usize::from(u16::MAX))?);
    }
    Ok(())
}

fn write_v4_header(spec: &TcpSpec, buffer: &mut Vec<u8>) -> Result<(), SpecError> {
    if !spec.extensions.is_empty() {
        return Err(SpecError::OtherVersion { field: "extensions" });
    }
    let options = spec.ip_options.len().next_multiple_of(4);
    let words = (V4_HEADER + fitting_len("IPv4 options", options, 40)?) / 4;
    let fragment: u16 = match spec.fragmentation {
        Fragmentation::Allowed => 0,
        Fragmentation::Forbidden => 0x4000,
        Fragmentation::Piece { offset, more } => u16::from(more) << 13 | offset & 0x1fff,
    };
    // Lengths and checksums are filled in at the end.
    buffer.extend([0x40 | low_byte(words), spec.traffic_class, 0, 0]);
    buffer.extend((spec.identification as u16).to_be_bytes());
    buffer.extend(fragment.to_be_bytes());
    buffer.extend([spec.ttl, TCP, 0, 0]);
    write_addresses(spec.connection, buffer);
    buffer.extend(&spec.ip_options);
    buffer.resize(4 * words, 0);
    Ok(())
}

fn write_v6_headers(spec: &TcpSpec, buffer: &mut Vec<u8>) -> Result<(), SpecError> {
    const FRAGMENT: u8 = 44;
    if !spec.ip_options.is_empty() {
        return Err(SpecError::OtherVersion { field: "ip_options" });
    }
    let piece = match spec.fragmentation {
        Fragmentation::Piece { offset, more } => Some((offset << 3) | u16::from(more)),
        Fragmentation::Allowed | Fragmentation::Forbidden => None,
    };
    let last = if piece.is_some() { FRAGMENT } else { TCP };
    let next_of = |index: usize| spec.extensions.get(index).map_or(last, |extension| extension.protocol);
    let first = 6 << 28 | u32::from(spec.traffic_class) << 20 | spec.flow_label & 0xf_ffff;
    buffer.extend(first.to_be_bytes());
    buffer.extend([0, 0, next_of(0), spec.ttl]);
    write_addresses(spec.connection, buffer);
    for (index, extension) in spec.extensions.iter().enumerate() {
        let length = (2 + extension.body.len()).next_multiple_of(8);
        let units = fitting_len("IPv6 extension header", length, 2048)? / 8;
        let end = buffer.len() + length;
        buffer.extend([next_of(index + 1), low_byte(units - 1)]);
        buffer.extend(&extension.body);
        buffer.resize(end, 0);
    }
    if let Some(offset_and_more) = piece {
        buffer.extend([TCP, 0]);
        buffer.extend(offset_and_more.to_be_bytes());
        buffer.extend(spec.identification.to_be_bytes());
    }
    Ok(())
}

fn write_addresses(connection: Connection, buffer: &mut Vec<u8>) {
    for end in [connection.from, connection.to] {
        match end.address {
            IpAddr::V4(address) => buffer.extend(address.octets()),
            IpAddr::V6(address) => buffer.extend(address.octets()),
        }
    }
}

fn write_segment(spec: &TcpSpec, payload: &[u8], buffer: &mut Vec<u8>) -> Result<(), SpecError> {
    let at = buffer.len();
    buffer.extend(spec.connection.from.port.to_be_bytes());
    buffer.extend(spec.connection.to.port.to_be_bytes());
    buffer.extend(spec.seq.to_be_bytes());
    buffer.extend(spec.ack.to_be_bytes());
    buffer.extend([0, spec.flags.to_byte()]);
    buffer.extend(spec.window.to_be_bytes());
    buffer.extend([0, 0]);
    buffer.extend(spec.urgent.to_be_bytes());
    for option in &spec.options {
        write_option(option, buffer)?;
    }
    let options = (buffer.len() - at - TCP_HEADER).next_multiple_of(4);
    let header = TCP_HEADER + fitting_len("TCP options", options, 40)?;
    buffer.resize(at + header, 0);
    buffer[at + 12] = low_byte(header / 4) << 4;
    buffer.extend(payload);
    Ok(())
}

fn write_option(option: &TcpOption, buffer: &mut Vec<u8>) -> Result<(), SpecError> {
    match option {
        TcpOption::End => buffer.push(0),
        TcpOption::NoOperation => buffer.push(1),
        TcpOption::Mss(mss) => {
            buffer.extend([2, 4]);
            buffer.extend(mss.to_be_bytes());
        }
        TcpOption::WindowScale(shift) => buffer.extend([3, 3, *shift]),
        TcpOption::SackPermitted => buffer.extend([4, 2]),
        TcpOption::Sack(blocks) => {
            buffer.extend([5, low_byte(fitting_len("TCP option", 2 + 8 * blocks.len(), 255)?)]);
            buffer.extend(blocks.iter().flat_map(|(left, right)| [left.to_be_bytes(), right.to_be_bytes()]).flatten());
        }
        TcpOption::Timestamps(value, echo) => {
            buffer.extend([8, 10]);
            buffer.extend(value.to_be_bytes());
            buffer.extend(echo.to_be_bytes());
        }
        TcpOption::Other { kind, data } => {
            buffer.extend([*kind, low_byte(fitting_len("TCP option", 2 + data.len(), 255)?)]);
            buffer.extend(data);
        }
        TcpOption::Raw(bytes) => buffer.extend(bytes),
    }
    Ok(())
}

fn put(bytes: &mut [u8], at: usize, word: u16) {
    bytes[at..at + 2].copy_from_slice(&word.to_be_bytes());
}

fn fitting_len(part: &'static str, length: usize, most: usize) -> Result<usize, SpecError> {
    if length <= most { Ok(length) } else { Err(SpecError::TooLong { part, length, most }) }
}

fn fitting(part: &'static str, length: usize, most: usize) -> Result<u16, SpecError> {
    fitting_len(part, length, most).map(|length| length as u16)
}

/// Converts a number that was checked to be below 256.
const fn low_byte(number: usize) -> u8 {
    number as u8
}
