//! A burst, while it arrives and when it is over.

use super::ShaperState;
use netlull_units::{Duration, Instant};

/// A burst that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The (first) open ACK before it; of the first burst, which slow start left behind, the instant at which acknowledgements were closed.
    pub opened: Instant,
    /// Its first packet.
    pub first: Instant,
    /// Its last packet.
    pub last: Instant,
    /// When it was judged to be over: `threshold` after `last`, or with the FIN.
    pub ended: Instant,
    /// P: its packets.
    pub packets: u32,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// W: the packets that it was expected to have.
    pub expected: u32,
    /// `I_A` at its end.
    pub interarrival: Duration,
    /// `I_D` at its end.
    pub deviation: Duration,
    /// `T_d`(P): the silence that ended it; nothing if the FIN did.
    pub threshold: Duration,
    /// Whether nothing was missing at its end and nothing had come out of order.
    pub intact: bool,
    /// The state in which it arrived.
    pub state: ShaperState,
}

/// A burst, or a round of slow start, that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arriving {
    pub(super) opened: Instant,
    pub(super) first: Instant,
    pub(super) last: Instant,
    pub(super) packets: u32,
    pub(super) bytes: u64,
    pub(super) order: Order,
}

/// How the packets of a burst follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Kept,
    /// Some came beyond bytes that had not come yet.
    Broken,
}

impl Arriving {
    /// Its first packet comes.
    pub(super) fn begin(now: Instant, opened: Instant, bytes: u32, order: Order) -> Self {
        Self { opened, first: now, last: now, packets: 1, bytes: u64::from(bytes), order }
    }

    /// Another packet comes.
    pub(super) fn add(&mut self, now: Instant, bytes: u32, order: Order) {
        self.last = now;
        self.packets = self.packets.saturating_add(1);
        self.bytes = self.bytes.saturating_add(u64::from(bytes));
        if order == Order::Broken {
            self.order = Order::Broken;
        }
    }

    /// Whether it took longer than `span`, and longer than `stretch` times `least`, what its bytes take at least.
    pub(super) fn is_spread(&self, span: Duration, stretch: f64, least: Duration) -> bool {
        let took = self.last.saturating_since(self.first);
        took > span && Duration::from_secs_f64(stretch * least.as_secs_f64()).is_some_and(|limit| took > limit)
    }
}

/// Packets that the next burst is expected to have: one more than this one (section III-A.1).
pub(super) fn expected_after(packets: u32) -> u32 {
    packets.saturating_add(1)
}
