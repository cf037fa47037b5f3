//! The spacing of packets in a burst, and the silence that ends a burst (client-centered-2004 section III-A.1).

use netlull_units::Duration;

/// Running averages of the time between two packets of one burst, `I_A`, and of its deviation, `I_D`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spacing {
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    interarrival: Duration,
    deviation: Duration,
}

impl Spacing {
    /// `I_A`; zero before the first sample.
    pub(super) fn interarrival(&self) -> Duration {
        self.estimate.map_or(Duration::ZERO, |estimate| estimate.interarrival)
    }

    /// `I_D`; zero before the first sample.
    pub(super) fn deviation(&self) -> Duration {
        self.estimate.map_or(Duration::ZERO, |estimate| estimate.deviation)
    }

    /// Adds a sample `S_A`: `I_A` <- 7/8 `I_A` + 1/8 `S_A` and `I_D` <- 3/4 `I_D` + 1/4 `S_D`.
    ///
    /// `S_D` is |`S_A` - `I_A`| with the previous `I_A`. The first sample gives `I_A` = `S_A` and `I_D` = `S_A` /
    /// 2. Both follow RFC 6298 section 2, the timeout to which the paper refers (reading).
    pub(super) fn add(&mut self, sample: Duration) {
        self.estimate = Some(match self.estimate {
            None => Estimate { interarrival: sample, deviation: sample / 2 },
            Some(Estimate { interarrival, deviation }) => {
                let strays = interarrival.saturating_sub(sample) + sample.saturating_sub(interarrival);
                Estimate {
                    interarrival: interarrival - interarrival / 8 + sample / 8,
                    deviation: deviation - deviation / 4 + strays / 4,
                }
            }
        });
    }

    /// Handles a missing packet: `I_D` doubles, and `I_A` grows "by that amount", the increase of `I_D`
    /// (reading). Neither grows beyond `most`, the upper bound of `T_d`: bursts of one packet give no samples
    /// that would lower them (reading).
    pub(super) fn missed(&mut self, most: Duration) {
        if let Some(Estimate { interarrival, deviation }) = &mut self.estimate {
            let raised = |value: Duration| (value + *deviation).min(most.max(value));
            (*interarrival, *deviation) = (raised(*interarrival), raised(*deviation));
        }
    }

    /// `T_d`(P) = (W - P) `I_A` + 4 `I_D`, where `outstanding` is W - P. It is at most `most`, and at least
    /// `least` even if that is larger. Without a sample, `most`.
    pub(super) fn threshold(&self, outstanding: u32, least: Duration, most: Duration) -> Duration {
        let Some(Estimate { interarrival, deviation }) = self.estimate else { return most.max(least) };
        let wait = interarrival.saturating_mul(u64::from(outstanding)) + deviation.saturating_mul(4);
        wait.min(most).max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn the_averages_by_hand() {
        let mut spacing = Spacing::default();
        spacing.add(us(800));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(800), us(400)));
        // S_D = |1600 - 800| = 800; I_D = 3/4 400 + 1/4 800 = 500; I_A = 7/8 800 + 1/8 1600 = 900.
        spacing.add(us(1600));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(900), us(500)));
        // S_D = |100 - 900| = 800; I_D = 375 + 200 = 575; I_A = 787.5 + 12.5 = 800.
        spacing.add(us(100));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(800), us(575)));
    }

    #[test]
    fn the_threshold_shrinks_with_every_packet_and_keeps_its_bounds() {
        let mut spacing = Spacing::default();
        assert_eq!(spacing.threshold(9, us(3000), us(30_000)), us(30_000), "nothing is known yet");
        spacing.add(us(1000));
        // I_A = 1 ms, I_D = 0.5 ms: 9 x 1 + 2 = 11 ms, 4 x 1 + 2 = 6 ms. For P >= W it is 2 ms, less than the
        // least wait.
        assert_eq!(spacing.threshold(9, us(3000), us(30_000)), us(11_000));
        assert_eq!(spacing.threshold(4, us(3000), us(30_000)), us(6000));
        assert_eq!(spacing.threshold(0, us(3000), us(30_000)), us(3000));
        assert_eq!(spacing.threshold(90, us(3000), us(30_000)), us(30_000));
        assert_eq!(spacing.threshold(90, us(3000), us(1000)), us(3000), "the timer can do no less");
        assert_eq!(spacing.threshold(u32::MAX, us(3000), Duration::MAX), us(u64::from(u32::MAX) * 1000 + 2000));
    }

    #[test]
    fn a_missing_packet_makes_it_wait_longer() {
        let mut spacing = Spacing::default();
        spacing.missed(us(2800));
        assert_eq!(spacing.interarrival(), Duration::ZERO);
        spacing.add(us(1000));
        // I_D from 0.5 to 1 ms, 0.5 ms more: I_A from 1 to 1.5 ms. Again: 2 ms and 2.5 ms.
        spacing.missed(us(2800));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(1500), us(1000)));
        spacing.missed(us(2800));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(2500), us(2000)));
        // 4.5 and 4 ms would exceed 2.8 ms.
        spacing.missed(us(2800));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(2800), us(2800)));
        spacing.missed(us(1000));
        assert_eq!((spacing.interarrival(), spacing.deviation()), (us(2800), us(2800)), "it only grows");
    }
}
