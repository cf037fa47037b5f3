//! Bursts: the one that arrives and the completed ones.

use super::ShaperState;
use netlull_units::{Duration, Instant};

/// A completed burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The time of the (first) open ACK before the burst. For the first burst, which slow start left in flight,
    /// the instant at which acknowledgements were closed.
    pub opened: Instant,
    /// The time of the first packet.
    pub first: Instant,
    /// The time of the last packet.
    pub last: Instant,
    /// The detected end of the burst: `threshold` after `last`, or the time of the FIN.
    pub ended: Instant,
    /// The number of packets, P.
    pub packets: u32,
    /// The bytes of the packets, IP headers included.
    pub bytes: u64,
    /// The expected number of packets, W.
    pub expected: u32,
    /// `I_A` at the end of the burst.
    pub interarrival: Duration,
    /// `I_D` at the end of the burst.
    pub deviation: Duration,
    /// The silence `T_d`(P) that ended the burst; zero if the FIN ended it.
    pub threshold: Duration,
    /// Whether every packet had arrived in order at the end of the burst.
    pub intact: bool,
    /// The shaper's state during the burst.
    pub state: ShaperState,
}

/// A burst, or a round of slow start, that is arriving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arriving {
    pub(super) opened: Instant,
    pub(super) first: Instant,
    pub(super) last: Instant,
    pub(super) packets: u32,
    pub(super) bytes: u64,
    pub(super) order: Order,
}

/// The order of the packets of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Kept,
    /// A packet arrived beyond bytes that were missing.
    Broken,
}

impl Arriving {
    /// Begins with the first packet.
    pub(super) fn begin(now: Instant, opened: Instant, bytes: u32, order: Order) -> Self {
        Self { opened, first: now, last: now, packets: 1, bytes: u64::from(bytes), order }
    }

    /// Adds a packet.
    pub(super) fn add(&mut self, now: Instant, bytes: u32, order: Order) {
        self.last = now;
        self.packets = self.packets.saturating_add(1);
        self.bytes = self.bytes.saturating_add(u64::from(bytes));
        if order == Order::Broken {
            self.order = Order::Broken;
        }
    }

    /// Whether the arrival took longer than `span` and longer than `stretch` times `least`, the shortest time of
    /// its bytes.
    pub(super) fn is_spread(&self, span: Duration, stretch: f64, least: Duration) -> bool {
        let took = self.last.saturating_since(self.first);
        took > span && Duration::from_secs_f64(stretch * least.as_secs_f64()).is_some_and(|limit| took > limit)
    }
}

/// The expected number of packets of the next burst: one more than in this one (section III-A.1).
pub(super) fn expected_after(packets: u32) -> u32 {
    packets.saturating_add(1)
}
