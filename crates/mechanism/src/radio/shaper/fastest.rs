//! How fast the path is at its slowest.

use netlull_units::{BitRate, Bytes, Duration, Instant};

/// So many packets in a row are held against the clock.
const PACKETS: usize = 5;

/// The fastest that packets have come in a row. What nobody paces comes as fast as the slowest link lets it, which need not be the air.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fastest {
    /// The latest packets, in a circle: when each came, and its bytes.
    latest: [(Instant, u32); PACKETS],
    packets: usize,
    /// The shortest time for a byte, in seconds.
    byte: Option<f64>,
}

impl Fastest {
    /// A packet of data has come.
    pub(super) fn received(&mut self, now: Instant, bytes: u32) {
        self.latest[self.packets % PACKETS] = (now, bytes);
        self.packets += 1;
        if self.packets < PACKETS {
            return;
        }
        let (since, first) = self.latest[self.packets % PACKETS];
        // The first only begins the time.
        let behind: u64 = self.latest.iter().map(|&(_, bytes)| u64::from(bytes)).sum::<u64>() - u64::from(first);
        let byte = now.saturating_since(since).as_secs_f64() / Bytes::new(behind.max(1)).as_f64();
        self.byte = Some(self.byte.map_or(byte, |least| least.min(byte)));
    }

    /// What so many bytes take at least: at the rate of the air, or as the fastest have come if that was slower.
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
        // 1500 B at 20 Mb/s take 600 us. Four packets say nothing.
        [0, 1000, 2000, 3000].into_iter().for_each(|micros| fastest.received(at(micros), 1500));
        assert_eq!(fastest.time_for(15_000, air), Duration::from_millis(6));
        // A pause, then 1 ms each: five of them in a row.
        [60_000, 61_000, 62_000, 63_000].into_iter().for_each(|micros| fastest.received(at(micros), 1500));
        assert!(fastest.time_for(15_000, air) > Duration::from_millis(100), "none yet without a pause in it");
        fastest.received(at(64_000), 1500);
        assert_eq!(fastest.time_for(15_000, air), Duration::from_millis(10));
        // All at once: the air is the slowest.
        (0..5).for_each(|_| fastest.received(at(70_000), 1500));
        assert_eq!(fastest.time_for(15_000, air), Duration::from_millis(6));
    }
}
