//! Gateways that steer TCP: they see a link's queue, the segments that enter it and the acknowledgements that come back.
//!
//! ```text
//!   senders ──► [ queue ─► transmitter ] ──► receivers      the way of the data: arrivals and departures
//!           ◄── awnd <- min(awnd, swnd) ◄──                 the way back: acknowledgements
//! ```
//!
//! [`Awm`] computes the window that is suggested, [`CEarth`] the rate of the link, [`FlowCount`] and [`RoundTrip`] what
//! both need to know of the traffic, each without a state per flow; [`Gateway`] puts them together (g-router section 2).

mod awm;
mod c_earth;
mod config;
mod flow_count;
mod machine;
mod round_trip;

pub use awm::Awm;
pub use c_earth::CEarth;
pub use config::{AwmConfig, CEarthConfig, GRouterConfig, HeldQueue, Pace, RateRule, WindowRule};
pub use flow_count::{CountedFlows, FixedFlows, FlowCount, FlowCountConfig, LinearCounting, PrintedFlows};
pub use machine::Gateway;
pub use round_trip::{FixedRoundTrip, MeasuredRoundTrip, PrintedRoundTrip, RoundTrip, RoundTripConfig};

use serde::{Deserialize, Serialize};

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

/// What a gateway reads in a TCP segment that passes.
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
    fn occupies(&self) -> bool {
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
