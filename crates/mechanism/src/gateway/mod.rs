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
mod flow_count;
mod machine;
mod round_trip;

pub use awm::{Awm, AwmConfig};
pub use c_earth::{CEarth, CEarthConfig, Pace};
pub use flow_count::{FlowCount, FlowCountConfig, LinearCounting};
pub use machine::{Gateway, GatewayConfig};
pub use round_trip::{RoundTrip, RoundTripConfig};

use crate::rate::{Admission, QueueView};
use netlull_units::{BitRate, Bytes, Duration};
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

/// What happens at a gateway. Every `queue` is the link's content *after* the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatewayEvent {
    /// A packet reached the link's buffer.
    Arrival {
        /// Whether it found room.
        admission: Admission,
        /// The content with the packet, if accepted.
        queue: QueueView,
        /// What it carries; `None` if that is not TCP.
        segment: Option<SegmentView>,
    },
    /// A packet has left the transmitter.
    Departure {
        /// The content without it.
        queue: QueueView,
    },
    /// The instant asked for by `next_timeout` has come.
    Timeout {
        /// The content now.
        queue: QueueView,
    },
    /// An acknowledgement comes back, before it goes on to the sender.
    Acknowledgement {
        /// What it carries.
        segment: SegmentView,
        /// awnd, the window that it advertises, in bytes: its scale has been applied.
        window: Bytes,
    },
}

/// What a gateway asks of its driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GatewayAction {
    /// Serve the link at `rate` from now on and send nothing for `pause`.
    SetRate {
        /// The new service rate in bit/s.
        rate: BitRate,
        /// How long nothing is sent.
        pause: Duration,
    },
    /// Write this window, in bytes, into the acknowledgement just shown; always less than the one it had. A driver that has to
    /// round to the connection's window scale rounds up, so that the floor of one MTU holds, but not above what was there.
    SetWindow(Bytes),
}
