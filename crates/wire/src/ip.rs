//! IPv4 (RFC 791) and IPv6 (RFC 8200) headers: the addresses, and the start of the transport header.

use crate::Malformed;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(crate) const TCP: u8 = 6;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// The length of an IPv4 header without options.
pub(crate) const V4_HEADER: usize = 20;
/// The length of an IPv6 header without extension headers.
pub(crate) const V6_HEADER: usize = 40;

/// The version of the Internet Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IpVersion {
    /// RFC 791.
    V4,
    /// RFC 8200.
    V6,
}

/// The ECN field of an IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not support ECN.
    NotEct,
    /// ECN-capable, codepoint 01.
    Ect1,
    /// ECN-capable, codepoint 10.
    Ect0,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Reads the two low bits of a traffic class.
    pub(crate) const fn of(traffic_class: u8) -> Self {
        match traffic_class & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }
}

/// A packet without a readable TCP segment: enough to count and forward it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherPacket {
    /// The version of IP.
    pub version: IpVersion,
    /// The protocol number. Under IPv6 this is the first unsupported next header; in a fragment, the protocol of its
    /// content.
    pub protocol: u8,
    /// The sender.
    pub source: IpAddr,
    /// The receiver; for a source-routed packet, the next stop.
    pub destination: IpAddr,
    /// The ECN field.
    pub ecn: Ecn,
    /// The packet's length in bytes, IP header included.
    pub length: u32,
}

/// The fixed part of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header<'a> {
    V4(&'a [u8; V4_HEADER]),
    V6(&'a [u8; V6_HEADER]),
}

impl Header<'_> {
    pub(crate) const fn version(self) -> IpVersion {
        match self {
            Self::V4(_) => IpVersion::V4,
            Self::V6(_) => IpVersion::V6,
        }
    }

    pub(crate) fn source(self) -> IpAddr {
        match self {
            Self::V4(&[.., a, b, c, d, _, _, _, _]) => Ipv4Addr::new(a, b, c, d).into(),
            Self::V6(header) => address(header, 8),
        }
    }

    pub(crate) fn destination(self) -> IpAddr {
        match self {
            Self::V4(&[.., a, b, c, d]) => Ipv4Addr::new(a, b, c, d).into(),
            Self::V6(header) => address(header, 24),
        }
    }

    /// DSCP and ECN (RFC 2474, section 3; RFC 3168, section 5).
    pub(crate) const fn traffic_class(self) -> u8 {
        match self {
            Self::V4(header) => header[1],
            Self::V6(header) => header[0] << 4 | header[1] >> 4,
        }
    }
}

/// Reads the address at offset `at` of an IPv6 header; both offsets in use lie inside the header.
fn address(header: &[u8; V6_HEADER], at: usize) -> IpAddr {
    let octets = header.get(at..).and_then(<[u8]>::first_chunk::<16>).copied().unwrap_or_default();
    Ipv6Addr::from(octets).into()
}

/// The content after the IP headers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    /// A whole packet of the transport.
    Whole(&'a [u8]),
    /// A fragment; even the first fragment may contain only a part of the transport header.
    Fragment,
    /// Unreadable content: its addresses or its length differ from those in the header.
    Opaque,
}

/// A packet with parsed IP headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Located<'a> {
    pub(crate) header: Header<'a>,
    /// The length of all IP headers, with options and extension headers. For a packet that is not whole: of the headers
    /// read so far.
    pub(crate) headers_len: usize,
    pub(crate) protocol: u8,
    pub(crate) content: Content<'a>,
    pub(crate) length: usize,
}

impl Located<'_> {
    /// Describes the packet without its content.
    pub(crate) fn other(&self) -> OtherPacket {
        OtherPacket {
            version: self.header.version(),
            protocol: self.protocol,
            source: self.header.source(),
            destination: self.header.destination(),
            ecn: Ecn::of(self.header.traffic_class()),
            length: u32::try_from(self.length).unwrap_or(u32::MAX),
        }
    }
}

/// Reads the IP headers.
#[inline]
pub(crate) fn locate(bytes: &[u8]) -> Result<Located<'_>, Malformed> {
    match bytes.first().map(|first| first >> 4) {
        Some(4) => locate_v4(bytes),
        Some(6) => locate_v6(bytes),
        Some(value) => Err(Malformed::Invalid { field: "IP version", value: usize::from(value), expected: "4 or 6" }),
        None => Err(truncated("packet", 1, bytes)),
    }
}

#[inline]
fn locate_v4(bytes: &[u8]) -> Result<Located<'_>, Malformed> {
    let header = bytes.first_chunk::<V4_HEADER>().ok_or_else(|| truncated("IPv4 header", V4_HEADER, bytes))?;
    let words = usize::from(header[0] & 15);
    if words < 5 {
        return Err(Malformed::Invalid { field: "IPv4 header length", value: words, expected: "5 to 15 words" });
    }
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if length < 4 * words {
        return Err(Malformed::Invalid { field: "IPv4 total length", value: length, expected: "the header or more" });
    }
    let packet = bytes.get(..length).ok_or_else(|| truncated("IPv4 packet", length, bytes))?;
    let content = packet.get(4 * words..).unwrap_or_default();
    // More fragments, or an offset (RFC 791, section 3.1).
    let is_fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
    let content = if is_fragment { Content::Fragment } else { Content::Whole(content) };
    Ok(Located { header: Header::V4(header), headers_len: 4 * words, protocol: header[9], content, length })
}

fn locate_v6(bytes: &[u8]) -> Result<Located<'_>, Malformed> {
    let header = bytes.first_chunk::<V6_HEADER>().ok_or_else(|| truncated("IPv6 header", V6_HEADER, bytes))?;
    let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
    let mut protocol = header[6];
    if payload == 0 && protocol == HOP_BY_HOP {
        // A jumbogram: an option contains its length (RFC 2675, section 3).
        let (headers_len, length) = (V6_HEADER, bytes.len());
        return Ok(Located { header: Header::V6(header), headers_len, protocol, content: Content::Opaque, length });
    }
    let length = V6_HEADER + payload;
    let packet = bytes.get(..length).ok_or_else(|| truncated("IPv6 packet", length, bytes))?;
    let mut rest = packet.get(V6_HEADER..).unwrap_or_default();
    let content = loop {
        match protocol {
            // Allowed only directly after the IPv6 header (RFC 8200, section 4.1).
            HOP_BY_HOP if rest.len() == payload => {}
            ROUTING | FRAGMENT | DESTINATION_OPTIONS => {}
            _ => break Content::Whole(rest),
        }
        let &[next, units, b2, b3, ..] = rest.first_chunk::<8>().ok_or_else(|| truncated(EXTENSION, 8, rest))?;
        match protocol {
            FRAGMENT => {
                let offset_and_more = u16::from_be_bytes([b2, b3]) & 0xfff9;
                protocol = next;
                // A fragment that contains the whole packet counts as unfragmented (RFC 6946, section 4).
                if offset_and_more != 0 {
                    break Content::Fragment;
                }
                rest = rest.get(8..).unwrap_or_default();
            }
            // The pseudo-header contains the last stop, which is not in the IPv6 header yet (RFC 8200, section 8.1).
            ROUTING if b3 != 0 => break Content::Opaque,
            _ => {
                let len = 8 * (usize::from(units) + 1);
                rest = rest.get(len..).ok_or_else(|| truncated(EXTENSION, len, rest))?;
                protocol = next;
            }
        }
    };
    Ok(Located { header: Header::V6(header), headers_len: length - rest.len(), protocol, content, length })
}

const EXTENSION: &str = "IPv6 extension header";

pub(crate) const fn truncated(part: &'static str, needed: usize, bytes: &[u8]) -> Malformed {
    Malformed::Truncated { part, needed, found: bytes.len() }
}
