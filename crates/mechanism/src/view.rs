//! The views that controllers get of a link: its queue, and the segments that pass.

use netlull_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The content of a link, as its controller sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueView {
    /// Bytes that wait in the buffer, without the packet being sent.
    pub waiting: Bytes,
    /// The whole size in bytes of the packet being sent, zero if none is.
    pub in_service: Bytes,
}

impl QueueView {
    /// Nothing waits and nothing is being sent.
    pub const EMPTY: Self = Self { waiting: Bytes::ZERO, in_service: Bytes::ZERO };
}

/// Whether an arriving packet found room in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// It waits or is being sent.
    Accepted,
    /// The buffer was full: it is gone.
    Dropped,
}

/// A flow as a gateway tells it from others: a hash of its addresses and ports. The same for both directions.
pub type FlowKey = u64;

/// Spreads a number over 64 bits (SplitMix64: Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014).
#[must_use]
pub fn spread(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The fields of a passing TCP segment that a gateway reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentView {
    /// Whose it is.
    pub flow: FlowKey,
    /// Its part in the handshake.
    pub kind: SegmentKind,
    /// The sequence number behind it: that of its first byte, and its length with SYN and FIN (RFC 9293 section 3.3.1).
    pub end: u32,
    /// The sequence number that it acknowledges; 0 if it has no ACK flag.
    pub acknowledged: u32,
    /// Whether it carries data.
    pub data: bool,
    /// Its timestamps option (RFC 7323 section 3), if it has one.
    pub timestamps: Option<Timestamps>,
}

impl SegmentView {
    /// Whether it will be acknowledged for what it carries: data, or SYN.
    pub(crate) fn occupies(&self) -> bool {
        self.data || self.kind == SegmentKind::Syn
    }
}

/// A segment's part in the handshake (RFC 9293 section 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SegmentKind {
    /// Opens a connection.
    Syn,
    /// Answers.
    SynAck,
    /// Every other.
    Other,
}

/// TSval and TSecr in the ticks of their senders' clocks (RFC 7323 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timestamps {
    /// TSval.
    pub value: u32,
    /// TSecr.
    pub echo: u32,
}

/// What q counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QueueCount {
    /// Packets that wait: ns-2's queue does not hold the packet being sent.
    #[default]
    Waiting,
    /// Packets that wait and the one being sent.
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
