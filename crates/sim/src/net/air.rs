//! A shared air: links whose transmissions never overlap (docs/models/link.md).
//!
//! Packets are sent in the order of their offers, over all links of the air. Each also takes the overhead of its
//! access to the air. The order is known at the offer, so a packet's times are computed then.

use netlull_units::{BitRate, Duration};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An air, as one of its links sees it. Clones share the same air.
#[derive(Clone, Debug)]
pub struct Air {
    /// The end of the last transmission so far, in nanoseconds.
    // One run uses it, in one thread. An atomic number makes links that share it movable between threads.
    free_at: Arc<AtomicU64>,
    overhead: u64,
}

/// The nanosecond bits of a byte.
const BIT_NANOS: u128 = 8 * 1_000_000_000;

impl Air {
    /// Creates an idle air. `overhead` is the time for the access of each packet.
    #[must_use]
    pub fn new(overhead: Duration) -> Self {
        Self { free_at: Arc::default(), overhead: overhead.as_nanos() }
    }

    /// The end of the last transmission so far, in nanoseconds.
    pub(super) fn free_at(&self) -> u64 {
        self.free_at.load(Ordering::Relaxed)
    }

    /// Sends a packet from `starts` on. Returns the time of its last bit, in nanoseconds.
    ///
    /// A transmission ends at a whole nanosecond, rounded up. So no link exceeds its rate.
    pub(super) fn send(&self, starts: u64, size: u32, rate: BitRate) -> u64 {
        let time = (u128::from(size) * BIT_NANOS).div_ceil(u128::from(rate.as_bps()));
        let time = u64::try_from(time).unwrap_or(u64::MAX);
        let ends = starts.saturating_add(self.overhead).saturating_add(time);
        self.free_at.store(ends, Ordering::Relaxed);
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_two_links_take_turns_and_round_up() {
        let air = Air::new(Duration::from_micros(100));
        let other = air.clone();
        // 1500 B = 12,000 bit at 12 Mb/s: 1 ms, after 0.1 ms.
        assert_eq!(air.send(0, 1500, BitRate::from_mbps(12)), 1_100_000);
        assert_eq!(other.free_at(), 1_100_000);
        // 1 B at 3 Mb/s: 2666.7 ns.
        assert_eq!(other.send(1_100_000, 1, BitRate::from_mbps(3)), 1_202_667);
        assert_eq!(air.free_at(), 1_202_667);
    }
}
