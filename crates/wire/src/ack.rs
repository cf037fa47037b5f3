//! Acknowledgements written on behalf of a host.

use crate::checksum::transport_checksum;
use crate::ip::{Header, TCP, V4_HEADER, V6_HEADER};
use crate::options::RawOptions;
use crate::tcp::{Flags, TCP_HEADER, TcpPacket};
use crate::{Connection, internet_checksum};

/// Two no-operations and the timestamps option (RFC 7323, appendix A).
const TIMESTAMPS: [u8; 4] = [1, 1, 8, 10];
const TIMESTAMPS_LEN: usize = 12;
const MD5_SIGNATURE: u8 = 19;
const AUTHENTICATION: u8 = 29;
const MULTIPATH: u8 = 30;

/// Writes pure acknowledgements modelled on a segment that the host has sent. The open ACK of the client's shaper must
/// be a packet of its own, because a rewritten packet leaves the sender to its persist timer.
///
/// Copied from the model: the connection, time to live, DSCP, flow label, and the presence of timestamps. ECN is
/// Not-ECT, as required for pure acknowledgements (RFC 3168, section 6.1.4). ECE and CWR are clear: the host's own
/// acknowledgements carry the echoes. There are no SACK blocks, because those of the model may be out of date.
#[derive(Clone, Copy, Debug)]
pub struct AckTemplate {
    connection: Connection,
    /// The packet, with zeros in the fields that [`AckTemplate::build`] fills in.
    bytes: [u8; Self::MAX_LEN],
    ip_len: usize,
    timestamps: Option<(u32, u32)>,
}

impl AckTemplate {
    /// The length of the longest packet that [`AckTemplate::build`] writes, in bytes.
    pub const MAX_LEN: usize = V6_HEADER + TCP_HEADER + TIMESTAMPS_LEN;

    /// Creates a template from a segment of the host on whose behalf the acknowledgements are sent.
    ///
    /// Returns `None` if the segment cannot be imitated:
    ///
    /// - It does not belong to an established connection (SYN, RST, no ACK).
    /// - Its options are malformed, signed (RFC 2385, RFC 5925) or belong to Multipath TCP (RFC 8684).
    /// - It has IPv4 options or IPv6 extension headers.
    #[must_use]
    pub fn from_packet(tcp: &TcpPacket<'_>) -> Option<Self> {
        let flags = tcp.flags();
        if flags.syn || flags.rst || !flags.ack || !can_be_imitated(tcp.option_bytes()) {
            return None;
        }
        let connection = tcp.connection();
        let timestamps = tcp.options().timestamps;
        let segment_len = TCP_HEADER + timestamps.map_or(0, |_| TIMESTAMPS_LEN);
        let mut bytes = [0; Self::MAX_LEN];
        let ip_len = match tcp.ip {
            Header::V4(_) if tcp.ip_headers_len() == V4_HEADER => {
                let header: &mut [u8; V4_HEADER] = bytes.first_chunk_mut()?;
                *header = v4_header(tcp.ip, segment_len);
                V4_HEADER
            }
            Header::V6(model) if tcp.ip_headers_len() == V6_HEADER => {
                let header: &mut [u8; V6_HEADER] = bytes.first_chunk_mut()?;
                *header = *model;
                header[1] &= !0x30;
                [header[4], header[5]] = length_field(segment_len);
                header[6] = TCP;
                V6_HEADER
            }
            Header::V4(_) | Header::V6(_) => return None,
        };
        let (header, options) = bytes.get_mut(ip_len..)?.split_first_chunk_mut::<TCP_HEADER>()?;
        [header[0], header[1]] = connection.from.port.to_be_bytes();
        [header[2], header[3]] = connection.to.port.to_be_bytes();
        header[12] = if timestamps.is_some() { 8 << 4 } else { 5 << 4 };
        header[13] = Flags { ack: true, ..Flags::default() }.to_byte();
        if timestamps.is_some() {
            *options.first_chunk_mut()? = TIMESTAMPS;
        }
        Some(Self { connection, bytes, ip_len, timestamps })
    }

    /// The connection, in the direction of the acknowledgements.
    #[must_use]
    pub const fn connection(&self) -> Connection {
        self.connection
    }

    /// The timestamps of the model segment; `None` if its connection does not use them.
    #[must_use]
    pub const fn timestamps(&self) -> Option<(u32, u32)> {
        self.timestamps
    }

    /// Writes a whole IP packet with its checksums and returns its length. The result is 0 if the buffer is shorter
    /// than the packet; [`AckTemplate::MAX_LEN`] bytes always suffice.
    ///
    /// `timestamps` are TSval and TSecr; `None` repeats those of the model. A connection without timestamps ignores the
    /// argument, because all or none of its segments carry them (RFC 7323, section 3.2).
    #[must_use]
    pub fn build(
        &self,
        seq: u32,
        ack: u32,
        window_field: u16,
        timestamps: Option<(u32, u32)>,
        buffer: &mut [u8],
    ) -> usize {
        let timestamps = self.timestamps.map(|model| timestamps.unwrap_or(model));
        let length = self.ip_len + TCP_HEADER + timestamps.map_or(0, |_| TIMESTAMPS_LEN);
        let (Some(packet), Some(template)) = (buffer.get_mut(..length), self.bytes.get(..length)) else { return 0 };
        packet.copy_from_slice(template);
        let Some(segment) = packet.get_mut(self.ip_len..) else { return 0 };
        let Some((header, options)) = segment.split_first_chunk_mut::<TCP_HEADER>() else { return 0 };
        [header[4], header[5], header[6], header[7]] = seq.to_be_bytes();
        [header[8], header[9], header[10], header[11]] = ack.to_be_bytes();
        [header[14], header[15]] = window_field.to_be_bytes();
        if let (Some((value, echo)), [_, _, _, _, v0, v1, v2, v3, e0, e1, e2, e3]) = (timestamps, options) {
            [*v0, *v1, *v2, *v3] = value.to_be_bytes();
            [*e0, *e1, *e2, *e3] = echo.to_be_bytes();
        }
        let checksum = transport_checksum(self.connection.from.address, self.connection.to.address, TCP, segment);
        if let [.., c0, c1, _, _] = segment.first_chunk_mut::<TCP_HEADER>().map_or(&mut [][..], |header| header) {
            [*c0, *c1] = checksum.to_be_bytes();
        }
        length
    }
}

/// Returns true if the host could have sent an acknowledgement without these options (except timestamps).
fn can_be_imitated(options: &[u8]) -> bool {
    RawOptions(options).all(|option| !matches!(option, Err(_) | Ok((MD5_SIGNATURE | AUTHENTICATION | MULTIPATH, _))))
}

/// Copies the model's IPv4 header. It forbids fragmentation, so the identification may be 0 (RFC 6864, section 4.1).
fn v4_header(model: Header<'_>, segment_len: usize) -> [u8; V4_HEADER] {
    let mut header = [0; V4_HEADER];
    if let Header::V4(model) = model {
        header = *model;
    }
    header[0] = 0x45;
    header[1] &= !0x03;
    [header[2], header[3]] = length_field(V4_HEADER + segment_len);
    [header[4], header[5], header[6], header[7]] = [0, 0, 0x40, 0];
    header[9] = TCP;
    [header[10], header[11]] = [0, 0];
    [header[10], header[11]] = internet_checksum(&header).to_be_bytes();
    header
}

/// The length field; no acknowledgement is longer than [`AckTemplate::MAX_LEN`].
const fn length_field(length: usize) -> [u8; 2] {
    (length as u16).to_be_bytes()
}
