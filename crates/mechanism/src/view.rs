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
    /// Whether the segment carries data.
    pub data: bool,
    /// Whether the segment ends its sender's stream (FIN).
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

/// TSval and TSecr in the ticks of their senders' clocks (RFC 7323 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timestamps {
    /// The sender's timestamp, TSval.
    pub value: u32,
    /// The echoed timestamp, TSecr.
    pub echo: u32,
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
