//! How late packets leave the emulation.

use netlull_network::outcome::Lateness;
use netlull_units::Duration;

/// Buckets per doubling; a quantile is known to 1 part in this.
const PER_DOUBLING: u32 = 64;
/// Enough for 2^40 ns, 18 minutes.
const BUCKETS: usize = 41 * PER_DOUBLING as usize;

/// Counts of latenesses in buckets that grow with them.
#[derive(Debug)]
pub struct LatenessCounts {
    buckets: Box<[u64]>,
    packets: u64,
    max: Duration,
}

impl Default for LatenessCounts {
    fn default() -> Self {
        Self { buckets: vec![0; BUCKETS].into(), packets: 0, max: Duration::ZERO }
    }
}

fn bucket(nanos: u64) -> usize {
    // Below the first doubling with as many nanoseconds as buckets each has one of its own.
    let doubling = (nanos / u64::from(PER_DOUBLING)).checked_ilog2().map_or(0, |log| log + 1);
    let within = if doubling == 0 { nanos } else { (nanos >> (doubling - 1)) - u64::from(PER_DOUBLING) };
    ((u64::from(doubling) * u64::from(PER_DOUBLING) + within) as usize).min(BUCKETS - 1)
}

/// The largest lateness of a bucket.
fn upper(bucket: usize) -> u64 {
    let (doubling, within) = (bucket as u32 / PER_DOUBLING, bucket as u64 % u64::from(PER_DOUBLING));
    if doubling == 0 { within } else { ((within + u64::from(PER_DOUBLING) + 1) << (doubling - 1)) - 1 }
}

impl LatenessCounts {
    /// A packet was so late.
    pub fn add(&mut self, late: Duration) {
        self.buckets[bucket(late.as_nanos())] += 1;
        self.packets += 1;
        self.max = self.max.max(late);
    }

    /// The least lateness that a share of the packets did not exceed, rounded up to its bucket.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = ((self.packets as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Duration::from_nanos(upper(index)).min(self.max);
            }
        }
        self.max
    }

    /// All of it, beside what is allowed.
    #[must_use]
    pub fn summarise(&self, limit: Duration) -> Lateness {
        Lateness {
            packets: self.packets,
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: self.max,
            limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nobody_was_late_where_nobody_was() {
        let summary = LatenessCounts::default().summarise(Duration::from_millis(1));
        assert_eq!((summary.packets, summary.p99, summary.max), (0, Duration::ZERO, Duration::ZERO));
    }

    proptest! {
        #[test]
        fn buckets_hold_what_they_say_and_quantiles_are_near(mut late in proptest::collection::vec(0_u64..1 << 38, 1..300)) {
            let mut counts = LatenessCounts::default();
            for &nanos in &late {
                let index = bucket(nanos);
                prop_assert!(nanos <= upper(index) && (index == 0 || nanos > upper(index - 1)));
                counts.add(Duration::from_nanos(nanos));
            }
            late.sort_unstable();
            for share in [0.5, 0.99, 1.0] {
                let exact = late[((late.len() as f64 * share).ceil() as usize).max(1) - 1];
                let found = counts.quantile(share).as_nanos();
                prop_assert!(found >= exact && found as f64 <= exact as f64 * (1.0 + 1.0 / 64.0) + 1.0, "{found} {exact}");
            }
        }
    }
}
