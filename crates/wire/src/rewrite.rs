//! Changes that mechanisms make to a packet in place, and the verification of checksums.

use crate::checksum::{Sum, updated_checksum};
use crate::ip::{Content, Ecn, Header, Located, TCP, V4_HEADER, locate};
use crate::tcp::{TCP_HEADER, split};
use crate::{Malformed, ones_complement_sum};

/// Writes the window of a TCP segment and updates the checksum by the difference (RFC 1624, equation 3). A wrong
/// checksum stays wrong by the same amount, so the receiver still detects the damaged packet.
///
/// # Errors
///
/// The errors of [`parse`](crate::parse). [`Malformed::NotTcp`] or [`Malformed::Fragment`] if the packet is not a whole
/// segment. The bytes are then unchanged.
pub fn set_window(bytes: &mut [u8], field: u16) -> Result<(), Malformed> {
    let (_, at) = locate_tcp(bytes)?;
    // `locate_tcp` has found the header there.
    let Some(header) = bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<TCP_HEADER>) else { return Ok(()) };
    let [.., w0, w1, c0, c1, _, _] = header;
    let old = u16::from_be_bytes([*w0, *w1]);
    let checksum = updated_checksum(u16::from_be_bytes([*c0, *c1]), old, field);
    [*w0, *w1] = field.to_be_bytes();
    [*c0, *c1] = checksum.to_be_bytes();
    Ok(())
}

/// Marks an IP packet with "congestion experienced" if its transport supports ECN (RFC 3168, section 5).
///
/// Returns `true` if the packet carries the mark afterwards. `false` leaves the packet unchanged; a router then drops
/// the packet instead of marking it. The checksum of an IPv4 header is updated by the difference.
///
/// # Errors
///
/// The errors of [`parse`](crate::parse) about the IP headers. The bytes are then unchanged.
pub fn mark_congestion(bytes: &mut [u8]) -> Result<bool, Malformed> {
    let located = locate(bytes)?;
    if Ecn::of(located.header.traffic_class()) == Ecn::NotEct {
        return Ok(false);
    }
    match located.header {
        Header::V4(_) => {
            let Some(header) = bytes.first_chunk_mut::<V4_HEADER>() else { return Ok(false) };
            let [version, class, .., c0, c1, _, _, _, _, _, _, _, _] = header;
            let old = u16::from_be_bytes([*version, *class]);
            *class |= 0x03;
            let new = u16::from_be_bytes([*version, *class]);
            [*c0, *c1] = updated_checksum(u16::from_be_bytes([*c0, *c1]), old, new).to_be_bytes();
        }
        Header::V6(_) => {
            // The traffic class spans the first two bytes, and no checksum covers it (RFC 8200, section 3).
            if let [_, class, ..] = bytes {
                *class |= 0x30;
            }
        }
    }
    Ok(true)
}

/// The correctness of a segment's checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksums {
    /// True if the IPv4 header's checksum is correct, and under IPv6, which has none.
    pub ip: bool,
    /// True if the segment's checksum is correct.
    pub tcp: bool,
}

/// Verifies a segment's checksums over all bytes (RFC 791, section 3.1; RFC 9293, section 3.1; RFC 8200, section 8.1).
///
/// # Errors
///
/// The errors of [`parse`](crate::parse). [`Malformed::NotTcp`] or [`Malformed::Fragment`] if the packet is not a whole
/// segment.
pub fn verify_checksums(bytes: &[u8]) -> Result<Checksums, Malformed> {
    let (located, at) = locate_tcp(bytes)?;
    let ip = match located.header {
        Header::V4(_) => ones_complement_sum(bytes.get(..located.headers_len).unwrap_or_default()) == 0xffff,
        Header::V6(_) => true,
    };
    let segment = bytes.get(at..located.length).unwrap_or_default();
    let (source, destination) = (located.header.source(), located.header.destination());
    let tcp = Sum::pseudo_header(source, destination, TCP, segment.len()).add(segment).folded() == 0xffff;
    Ok(Checksums { ip, tcp })
}

/// The headers of a whole segment, and the offset of the TCP header.
fn locate_tcp(bytes: &[u8]) -> Result<(Located<'_>, usize), Malformed> {
    let located = locate(bytes)?;
    match located.content {
        Content::Whole(segment) if located.protocol == TCP => {
            split(segment)?;
            Ok((located, located.headers_len))
        }
        Content::Fragment => Err(Malformed::Fragment),
        Content::Whole(_) | Content::Opaque => Err(Malformed::NotTcp { protocol: located.protocol }),
    }
}
