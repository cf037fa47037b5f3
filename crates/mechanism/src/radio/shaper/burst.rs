//! Bursts: the one that arrives, the completed ones, and the shortest time in which a burst can arrive.

use super::ShaperState;
use netlull_units::{BitRate, Bytes, Duration, Instant};

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
    /// True if every packet had arrived in order at the end of the burst.
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

    /// Returns true if the arrival took longer than `span` and longer than `stretch` times `least`, the shortest time
    /// of its bytes.
    pub(super) fn is_spread(&self, span: Duration, stretch: f64, least: Duration) -> bool {
        let took = self.last.saturating_since(self.first);
        took > span && Duration::from_secs_f64(stretch * least.as_secs_f64()).is_some_and(|limit| took > limit)
    }
}

/// The expected number of packets of the next burst: one more than in this one (section III-A.1).
pub(super) fn expected_after(packets: u32) -> u32 {
    packets.saturating_add(1)
}

/// The number of consecutive packets in a measurement.
const PACKETS: usize = 5;

/// The shortest time of consecutive packets. Packets of a sender that does not pace arrive at the rate of the
/// slowest link, which may be another link than the air.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fastest {
    /// The latest packets in a ring: the arrival time and the bytes of each.
    latest: [(Instant, u32); PACKETS],
    packets: usize,
    /// The shortest time per byte, in seconds.
    byte: Option<f64>,
}

impl Fastest {
    /// Records a data packet.
    pub(super) fn received(&mut self, now: Instant, bytes: u32) {
        self.latest[self.packets % PACKETS] = (now, bytes);
        self.packets += 1;
        if self.packets < PACKETS {
            return;
        }
        let (since, first) = self.latest[self.packets % PACKETS];
        // The first packet only starts the time.
        let behind: u64 = self.latest.iter().map(|&(_, bytes)| u64::from(bytes)).sum::<u64>() - u64::from(first);
        let byte = now.saturating_since(since).as_secs_f64() / Bytes::new(behind.max(1)).as_f64();
        self.byte = Some(self.byte.map_or(byte, |least| least.min(byte)));
    }

    /// The shortest time for `bytes`: at the rate of the air, or at the highest measured rate if that is lower.
    pub(super) fn time_for(&self, bytes: u64, air: BitRate) -> Duration {
        let bytes = Bytes::new(bytes);
        let path = self.byte.and_then(|byte| Duration::from_secs_f64(byte * bytes.as_f64()));
        air.time_for(bytes).max(path.unwrap_or(Duration::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_five_in_a_row_count_and_nothing_is_faster_than_the_air() {
        let mut fastest = Fastest::default();
        let air = BitRate::from_mbps(20);
        let at = |micros: u64| Instant::ZERO + Duration::from_micros(micros);
        // 1500 B at 20 Mb/s take 600 us. Four packets are too few.
        [0, 1000, 2000, 3000].into_iter().for_each(|micros| fastest.received(at(micros), 1500));
        assert_eq!(fastest.time_for(15_000, air), Duration::from_millis(6));
        // A pause, then 1 ms each: five consecutive packets.
        [60_000, 61_000, 62_000, 63_000].into_iter().for_each(|micros| fastest.received(at(micros), 1500));
        assert!(fastest.time_for(15_000, air) > Duration::from_millis(100), "none yet without a pause in it");
        fastest.received(at(64_000), 1500);
        assert_eq!(fastest.time_for(15_000, air), Duration::from_millis(10));
        // All at once: the air is the slowest link.
        (0..5).for_each(|_| fastest.received(at(70_000), 1500));
        assert_eq!(fastest.time_for(15_000, air), Duration::from_millis(6));
    }
}
