//! TCP segments (RFC 9293, section 3.1) in IP packets: their connections and their sequence numbers.

use crate::ip::{Content, Header, Located, TCP, locate, truncated};
use crate::{Ecn, IpVersion, Malformed, Options, OtherPacket};
use std::net::IpAddr;

/// The length of a TCP header without options.
pub(crate) const TCP_HEADER: usize = 20;

/// The kind of a packet, with its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A whole TCP segment.
    Tcp(TcpPacket<'a>),
    /// Any other packet: other protocols, encrypted or authenticated content, unfinished source routes, jumbograms.
    Other(OtherPacket),
    /// A fragment; a TCP header in it is not trusted.
    Fragment(OtherPacket),
}

/// Parses a packet from its IP header on. Bytes after the length in the header are ignored. Checksums are not verified.
///
/// The parser skips IPv4 options, IPv6 hop-by-hop options, destination options, finished routes and the fragment
/// headers of whole packets. It does not read an IPv4 source route: the receiver of such a packet is its next stop.
///
/// # Errors
///
/// [`Malformed`] if the bytes are shorter than a header or the packet, or a length is too small for its header. Also if
/// the version is neither 4 nor 6. Malformed TCP options are not an error: see [`Options::malformed`].
#[inline]
pub fn parse(bytes: &[u8]) -> Result<Packet<'_>, Malformed> {
    let located = locate(bytes)?;
    match located.content {
        Content::Whole(segment) if located.protocol == TCP => TcpPacket::read(&located, segment).map(Packet::Tcp),
        Content::Whole(_) | Content::Opaque => Ok(Packet::Other(located.other())),
        Content::Fragment => Ok(Packet::Fragment(located.other())),
    }
}

/// The control bits of a segment (RFC 9293, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Congestion window reduced (RFC 3168, section 6.1).
    pub cwr: bool,
    /// Echo of a congestion mark (RFC 3168, section 6.1).
    pub ece: bool,
    /// The urgent pointer is valid.
    pub urg: bool,
    /// The acknowledgement number is valid.
    pub ack: bool,
    /// Push.
    pub psh: bool,
    /// Reset.
    pub rst: bool,
    /// Synchronise: the first segment of a side.
    pub syn: bool,
    /// The sender has no more data.
    pub fin: bool,
}

impl Flags {
    /// Reads the header's 14th byte.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Self {
        Self {
            cwr: byte & 0x80 != 0,
            ece: byte & 0x40 != 0,
            urg: byte & 0x20 != 0,
            ack: byte & 0x10 != 0,
            psh: byte & 0x08 != 0,
            rst: byte & 0x04 != 0,
            syn: byte & 0x02 != 0,
            fin: byte & 0x01 != 0,
        }
    }

    /// The header's 14th byte.
    #[must_use]
    pub const fn to_byte(self) -> u8 {
        (self.cwr as u8) << 7
            | (self.ece as u8) << 6
            | (self.urg as u8) << 5
            | (self.ack as u8) << 4
            | (self.psh as u8) << 3
            | (self.rst as u8) << 2
            | (self.syn as u8) << 1
            | self.fin as u8
    }
}

/// A TCP segment in its IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpPacket<'a> {
    pub(crate) ip: Header<'a>,
    ip_headers_len: usize,
    header: &'a [u8; TCP_HEADER],
    option_bytes: &'a [u8],
    options: Options,
    payload: &'a [u8],
}

impl<'a> TcpPacket<'a> {
    #[inline]
    fn read(located: &Located<'a>, segment: &'a [u8]) -> Result<Self, Malformed> {
        let Parts { header, option_bytes, payload } = split(segment)?;
        let options = Options::read(option_bytes);
        let (ip, ip_headers_len) = (located.header, located.headers_len);
        Ok(Self { ip, ip_headers_len, header, option_bytes, options, payload })
    }

    /// The version of IP that carries the segment.
    #[must_use]
    pub const fn version(&self) -> IpVersion {
        self.ip.version()
    }

    /// The sender and the receiver.
    #[must_use]
    pub fn connection(&self) -> Connection {
        Connection {
            from: Endpoint::new(self.source(), self.u16_at::<0>()),
            to: Endpoint::new(self.destination(), self.u16_at::<2>()),
        }
    }

    /// The address of the sender.
    #[must_use]
    pub fn source(&self) -> IpAddr {
        self.ip.source()
    }

    /// The address of the receiver.
    #[must_use]
    pub fn destination(&self) -> IpAddr {
        self.ip.destination()
    }

    /// The sequence number of the first byte, or of the SYN.
    #[must_use]
    pub const fn seq(&self) -> u32 {
        self.u32_at::<4>()
    }

    /// The next sequence number that the sender expects; `None` without the ACK bit.
    #[must_use]
    pub const fn ack(&self) -> Option<u32> {
        if self.header[13] & 0x10 == 0 { None } else { Some(self.u32_at::<8>()) }
    }

    /// The control bits.
    #[must_use]
    pub const fn flags(&self) -> Flags {
        Flags::from_byte(self.header[13])
    }

    /// The window field of the header: in bytes in a SYN, else in units of 2^shift bytes (RFC 7323, section 2.2).
    #[must_use]
    pub const fn window_field(&self) -> u16 {
        self.u16_at::<14>()
    }

    /// The TCP checksum in the header, correct or wrong.
    #[must_use]
    pub const fn checksum(&self) -> u16 {
        self.u16_at::<16>()
    }

    /// The options.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// The raw bytes of the options, with their padding.
    #[must_use]
    pub const fn option_bytes(&self) -> &'a [u8] {
        self.option_bytes
    }

    /// The data.
    #[must_use]
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// The length of the data in bytes.
    #[must_use]
    pub const fn payload_len(&self) -> u32 {
        // No packet is longer than 65,575 B.
        self.payload.len() as u32
    }

    /// The sequence numbers that the segment uses: its data, and one each for SYN and FIN (RFC 9293, section 3.4,
    /// SEG.LEN).
    #[must_use]
    pub const fn sequence_len(&self) -> u32 {
        let Flags { syn, fin, .. } = self.flags();
        self.payload_len() + syn as u32 + fin as u32
    }

    /// The packet's length in bytes, IP headers included.
    #[must_use]
    pub const fn packet_len(&self) -> u32 {
        (self.ip_headers_len + TCP_HEADER + self.option_bytes.len() + self.payload.len()) as u32
    }

    /// The length of the IP headers in bytes, with options and extension headers; the segment begins there.
    #[must_use]
    pub const fn ip_headers_len(&self) -> usize {
        self.ip_headers_len
    }

    /// The ECN field of the IP header.
    #[must_use]
    pub const fn ecn(&self) -> Ecn {
        Ecn::of(self.ip.traffic_class())
    }

    const fn u16_at<const AT: usize>(&self) -> u16 {
        u16::from_be_bytes([self.header[AT], self.header[AT + 1]])
    }

    const fn u32_at<const AT: usize>(&self) -> u32 {
        u32::from_be_bytes([self.header[AT], self.header[AT + 1], self.header[AT + 2], self.header[AT + 3]])
    }
}

/// The parts of a segment.
pub(crate) struct Parts<'a> {
    header: &'a [u8; TCP_HEADER],
    option_bytes: &'a [u8],
    payload: &'a [u8],
}

/// Splits a segment into its parts.
#[inline]
pub(crate) fn split(segment: &[u8]) -> Result<Parts<'_>, Malformed> {
    let (header, rest) = segment.split_first_chunk().ok_or_else(|| truncated("TCP header", TCP_HEADER, segment))?;
    let words = usize::from(header[12] >> 4);
    let options = (4 * words).checked_sub(TCP_HEADER).ok_or(Malformed::Invalid {
        field: "TCP data offset",
        value: words,
        expected: "5 to 15 words",
    })?;
    let (option_bytes, payload) =
        rest.split_at_checked(options).ok_or_else(|| truncated("TCP header with options", 4 * words, segment))?;
    Ok(Parts { header, option_bytes, payload })
}

/// Returns true if `a` precedes `b` modulo 2^32 (RFC 9293, section 3.4).
///
/// The result is correct while the two are less than 2^31 apart, which windows of at most 2^30 bytes guarantee (RFC
/// 7323, section 2.3). Of two numbers exactly 2^31 apart, neither precedes the other.
#[must_use]
pub const fn seq_lt(a: u32, b: u32) -> bool {
    let ahead = b.wrapping_sub(a);
    ahead != 0 && ahead < 1 << 31
}

/// True if `a` precedes or equals `b`.
#[must_use]
pub const fn seq_le(a: u32, b: u32) -> bool {
    a == b || seq_lt(a, b)
}

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
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn flags_are_the_bits_of_a_byte() {
        for byte in 0..=u8::MAX {
            assert_eq!(Flags::from_byte(byte).to_byte(), byte);
        }
        assert_eq!(Flags { syn: true, ack: true, ..Flags::default() }.to_byte(), 0x12);
    }

    /// A FIN with two bytes from 10.0.0.1:5000 to 10.0.0.2:80 with ECT(0), written by hand.
    #[rustfmt::skip]
    const SEGMENT: [u8; 42] = [
        0x45, 0x02, 0, 42, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
        0x13, 0x88, 0, 80, 0, 0, 0, 5, 0, 0, 0, 9, 0x50, 0x11, 0x01, 0xf6, 0xab, 0xcd, 0, 0,
        b'h', b'i',
    ];

    #[test]
    fn fields_are_where_the_rfcs_put_them() {
        let Ok(Packet::Tcp(tcp)) = parse(&SEGMENT) else { panic!("no segment") };
        let end = |text: &str, port| Endpoint::new(text.parse().expect("an address"), port);
        assert_eq!(tcp.connection(), Connection { from: end("10.0.0.1", 5000), to: end("10.0.0.2", 80) });
        assert_eq!((tcp.seq(), tcp.ack(), tcp.window_field(), tcp.checksum()), (5, Some(9), 502, 0xabcd));
        assert_eq!(tcp.flags(), Flags { ack: true, fin: true, ..Flags::default() });
        assert_eq!((tcp.payload(), tcp.payload_len(), tcp.sequence_len(), tcp.packet_len()), (&b"hi"[..], 2, 3, 42));
        assert_eq!((tcp.version(), tcp.ecn(), *tcp.options()), (IpVersion::V4, Ecn::Ect0, Options::default()));
    }

    #[test]
    fn an_acknowledgement_number_without_its_flag_is_none() {
        let mut bytes = SEGMENT;
        bytes[33] = 0x08;
        let Ok(Packet::Tcp(tcp)) = parse(&bytes) else { panic!("no segment") };
        assert_eq!(tcp.ack(), None);
    }

    #[test]
    fn errors_name_the_field() {
        let wrong = |at: usize, value: u8| {
            let mut bytes = SEGMENT;
            bytes[at] = value;
            parse(&bytes).expect_err("an error").to_string()
        };
        assert_eq!(wrong(0, 0x55), "IP version is 5; expected 4 or 6");
        assert_eq!(wrong(0, 0x44), "IPv4 header length is 4; expected 5 to 15 words");
        assert_eq!(wrong(3, 19), "IPv4 total length is 19; expected the header or more");
        assert_eq!(wrong(3, 43), "IPv4 packet is 42 B; expected 43 B or more");
        assert_eq!(wrong(3, 39), "TCP header is 19 B; expected 20 B or more");
        assert_eq!(wrong(32, 0x4f), "TCP data offset is 4; expected 5 to 15 words");
        assert_eq!(wrong(32, 0x60), "TCP header with options is 22 B; expected 24 B or more");
        assert_eq!(parse(&[]).expect_err("an error").to_string(), "packet is 0 B; expected 1 B or more");
    }

    #[test]
    fn numbers_wrap_around() {
        assert!(seq_lt(0xffff_ffff, 0) && seq_lt(0xffff_ff00, 0x100) && !seq_lt(0, 0xffff_ffff));
        assert!(!seq_lt(7, 7) && seq_le(7, 7));
        assert!(!seq_lt(0, 1 << 31) && !seq_lt(1 << 31, 0));
    }

    proptest! {
        #[test]
        fn what_is_ahead_by_less_than_half_the_circle_is_after(a: u32, ahead in 1u32..(1 << 31)) {
            let b = a.wrapping_add(ahead);
            prop_assert!(seq_lt(a, b) && seq_le(a, b));
            prop_assert!(!seq_lt(b, a) && !seq_le(b, a));
        }
    }

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
