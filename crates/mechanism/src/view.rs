//! Views of a link for its controller: the queue and the passing segments.

use netlull_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The content of a link in the view of its controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueView {
    /// The backlog: bytes in the buffer, without the packet in service.
    pub waiting: Bytes,
    /// The full size in bytes of the packet in service, zero if the transmitter is idle.
    pub in_service: Bytes,
}

impl QueueView {
    /// A link without backlog and with an idle transmitter.
    pub const EMPTY: Self = Self { waiting: Bytes::ZERO, in_service: Bytes::ZERO };
}

/// The admission of an arriving packet to the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// The packet is queued or in service.
    Accepted,
    /// The packet is queued or in service, and queue management has marked it "congestion experienced" (RFC 3168).
    Marked,
    /// The buffer was full, or queue management dropped the packet: it is lost.
    Dropped,
}

impl Admission {
    /// Returns true if the packet is queued or in service.
    #[inline]
    #[must_use]
    pub const fn is_accepted(self) -> bool {
        !matches!(self, Self::Dropped)
    }
}

/// The decision of queue management on a packet at the head of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeadVerdict {
    /// The packet enters service with the mark "congestion experienced" (RFC 3168).
    Marked,
    /// The packet is dropped.
    Dropped,
}

/// A gateway's identifier of a flow: a hash of its addresses and ports, equal for both directions.
pub type FlowKey = u64;

/// Spreads a number over 64 bits (SplitMix64: Steele, Lea and Flood, Fast splittable pseudorandom number
/// generators, 2014).
#[must_use]
pub fn spread(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The fields of a passing TCP segment that a gateway reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SegmentView {
    /// The segment's flow.
    pub flow: FlowKey,
    /// The segment's part in the handshake.
    pub kind: SegmentKind,
    /// The sequence number after the segment: its first byte plus its length with SYN and FIN (RFC 9293 section
    /// 3.3.1).
    pub end: u32,
    /// The acknowledged sequence number; 0 without the ACK flag.
    pub acknowledged: u32,
    /// True if the segment carries data.
    pub data: bool,
    /// True if the segment ends its sender's stream (FIN).
    #[serde(default)]
    pub fin: bool,
    /// The timestamps option (RFC 7323 section 3), if present.
    pub timestamps: Option<Timestamps>,
}

impl SegmentView {
    /// Returns true if the segment requires an acknowledgement: it carries data or SYN.
    pub(crate) fn occupies(&self) -> bool {
        self.data || self.kind == SegmentKind::Syn
    }
}

/// A segment's part in the handshake (RFC 9293 section 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// The request to open a connection.
    Syn,
    /// The answer to a SYN.
    SynAck,
    /// Any other segment.
    Other,
}

impl SegmentKind {
    /// The part of a segment with these control bits; `None` without both, as for a reset.
    #[inline]
    #[must_use]
    pub const fn of(syn: bool, ack: bool) -> Option<Self> {
        match (syn, ack) {
            (true, true) => Some(Self::SynAck),
            (true, false) => Some(Self::Syn),
            (false, true) => Some(Self::Other),
            (false, false) => None,
        }
    }
}

/// TSval and TSecr in the ticks of their senders' clocks (RFC 7323 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timestamps {
    /// The sender's timestamp, TSval.
    pub value: u32,
    /// The echoed timestamp, TSecr.
    pub echo: u32,
}

/// The window field for at least `window` bytes in units of 2^shift, at most `field`. It is rounded up, so a lower limit
/// of one MTU holds. Shifts above 14 count as 14 (RFC 7323 section 2.3).
#[must_use]
pub fn window_field(window: Bytes, shift: u8, field: u16) -> u16 {
    let (window, shift) = (window.as_u64(), shift.min(14));
    let is_rounded_up = window & ((1 << shift) - 1) != 0;
    u16::try_from((window >> shift) + u64::from(is_rounded_up)).unwrap_or(field).min(field)
}

/// The packets that q counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueCount {
    /// The backlog alone: ns-2's queue excludes the packet in service.
    #[default]
    Waiting,
    /// The backlog and the packet in service.
    WaitingAndInService,
}

impl QueueCount {
    /// The queue in bytes.
    #[inline]
    #[must_use]
    pub fn of(self, queue: QueueView) -> Bytes {
        match self {
            Self::Waiting => queue.waiting,
            Self::WaitingAndInService => queue.waiting + queue.in_service,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_rounded_up_to_the_scale_and_never_raised() {
        let field_of = |window, shift, field| window_field(Bytes::new(window), shift, field);
        assert_eq!(field_of(1500, 0, 65_535), 1500);
        // 1500 / 128 = 11.7: 12 units are 1536 B.
        assert_eq!(field_of(1500, 7, 500), 12);
        assert_eq!(field_of(1500, 7, 11), 11);
        // Exact values: 1536 B are 12 units, 1537 B are 13.
        assert_eq!((field_of(1536, 7, 500), field_of(1537, 7, 500)), (12, 13));
        assert_eq!(field_of(1 << 30, 7, 500), 500);
        // The limits of every range.
        assert_eq!((field_of(0, 7, 500), field_of(1, 14, 500), field_of(1500, 7, 0)), (0, 1, 0));
        assert_eq!((field_of(u64::MAX, 0, 65_535), field_of(u64::MAX, 255, 65_535)), (65_535, 65_535));
        // A shift of 20 counts as 14: 1 MiB / 16 KiB = 64.
        assert_eq!(field_of(1 << 20, 20, 65_535), 64);
    }
}
