//! The noise of round trips: random delays in addition to a link's rate and propagation delay.
//!
//! Each packet draws its own delay. Packets stay in order, and a packet with a small delay arrives together with its
//! predecessor. With `reorder` it overtakes the predecessor instead.

use crate::random::Stream;
use netlull_units::Duration;
use serde::{Deserialize, Serialize};

/// Independent gamma-distributed times; by default without reordering (client-centered-2004, section IV-A-c).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseModel {
    /// The mean of the drawn delays; a packet that its predecessor holds up is later than its draw.
    pub mean: Duration,
    /// The shape a: the standard deviation is the mean / sqrt(a).
    pub shape: f64,
    /// True if packets may overtake others.
    pub reorder: bool,
}

/// The noise of a link with its state.
#[derive(Debug)]
pub struct Noise {
    /// The scale in seconds: mean / shape.
    scale: f64,
    shape: f64,
    stream: Stream,
    reorder: bool,
    /// The arrival of the last packet, in nanoseconds.
    last: u64,
}

impl Noise {
    /// Creates noise before its first packet; `stream` belongs to the link alone.
    #[must_use]
    pub fn new(model: NoiseModel, stream: Stream) -> Self {
        let NoiseModel { mean, shape, reorder } = model;
        Self { scale: mean.as_secs_f64() / shape, shape, stream, reorder, last: 0 }
    }

    /// Removes all packets from the link. They hold up no later packet.
    pub fn lose_all(&mut self) {
        self.last = 0;
    }

    /// Draws the delay of the next packet.
    pub fn draw(&mut self) -> Duration {
        Duration::from_secs_f64(self.scale * self.stream.standard_gamma(self.shape)).unwrap_or(Duration::MAX)
    }

    /// The arrival of a packet with the delay `drawn` in nanoseconds, where `without` is its arrival without noise. Calls
    /// follow the order of the draws.
    pub fn arrival_of(&mut self, without: u64, drawn: Duration) -> u64 {
        let alone = without.saturating_add(drawn.as_nanos());
        if self.reorder {
            return alone;
        }
        self.last = self.last.max(alone);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn model(millis: u64, shape: f64) -> NoiseModel {
        NoiseModel { mean: Duration::from_millis(millis), shape, reorder: false }
    }

    fn noise(millis: u64, shape: f64) -> Noise {
        Noise::new(model(millis, shape), Stream::new(3, "noise.test"))
    }

    impl Noise {
        fn arrival(&mut self, without: u64) -> u64 {
            let drawn = self.draw();
            self.arrival_of(without, drawn)
        }
    }

    #[test]
    fn with_reordering_each_packet_is_late_by_its_own_draw() {
        // All at once: the draws of the same stream, whose order is random.
        let mut apart = Noise::new(NoiseModel { reorder: true, ..model(5, 2.0) }, Stream::new(3, "noise.test"));
        let mut draws = noise(5, 2.0);
        let arrivals: Vec<u64> = (0..1000).map(|_| apart.arrival(7)).collect();
        assert!(arrivals.iter().all(|&at| at == 7 + draws.draw().as_nanos()));
        // The next of two independent draws is smaller with probability 1/2: 999 pairs have a standard error of
        // sqrt(999 / 12) = 9.1, as neighbouring pairs share a draw.
        let overtakes = arrivals.windows(2).filter(|pair| pair[1] < pair[0]).count();
        assert!((460..=539).contains(&overtakes), "{overtakes}");
    }

    #[test]
    fn packets_far_apart_are_late_by_what_they_draw() {
        // At intervals of a second no packet holds up another: mean 5 ms, standard deviation 5 / sqrt(2) = 3.54
        // ms, and 0.025 ms for the mean of 20,000 packets.
        let mut noise = noise(5, 2.0);
        let late: Vec<f64> = (1..=20_000_u64)
            .map(|second| (noise.arrival(second * 1_000_000_000) - second * 1_000_000_000) as f64 / 1e6)
            .collect();
        let mean = late.iter().sum::<f64>() / 2e4;
        assert!((mean - 5.0).abs() < 0.1, "{mean}");
        // P(X > 5 ms) = (1 + 2) exp(-2) = 0.4060; standard error 0.0035.
        let above = late.iter().filter(|late| **late > 5.0).count() as f64 / 2e4;
        assert!((above - 0.4060).abs() < 0.014, "{above}");
    }

    #[test]
    fn packets_together_arrive_with_the_latest_so_far() {
        // All at once: each is as late as the largest draw so far. The last of 100 is beyond the quantile
        // 0.5^(1/100) = 0.9931 of a draw in half of the cases: of 400 such bursts half, with a standard error of
        // 0.025.
        let beyond = (0..400_u64).filter(|burst| {
            let mut noise = Noise::new(model(5, 2.0), Stream::new(*burst, "noise.test"));
            let last = (0..100).map(|_| noise.arrival(0)).last().unwrap_or(0);
            // P(X > x) = (1 + 2x/5) exp(-2x/5) = 0.0069 at x = 17.66 ms: 8.064 x 0.000_855 = 0.0069.
            last > 17_660_000
        });
        let share = beyond.count() as f64 / 400.0;
        assert!((share - 0.5).abs() < 0.1, "{share}");
    }

    proptest! {
        #[test]
        fn nothing_overtakes_and_nothing_is_early(
            gaps in proptest::collection::vec(0_u64..20_000_000, 1..300),
            millis in 0_u64..100_000_000,
            shape in 0.01_f64..1000.0,
        ) {
            let (mut noise, mut now, mut before) = (noise(millis, shape), 0, 0);
            for gap in gaps {
                now += gap;
                let arrives = noise.arrival(now);
                prop_assert!(arrives >= now && arrives >= before);
                before = arrives;
            }
        }
    }
}
