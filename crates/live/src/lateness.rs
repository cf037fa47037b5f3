//! Counts of latenesses in buckets that are fine enough for quantiles.

use netlull_network::outcome;
use netlull_units::Duration;

/// The upper ends of the published buckets, in microseconds.
pub const ENDS: [u64; 12] = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000];

/// The number of buckets per doubling; the relative error of a quantile is the inverse.
const PER_DOUBLING: u32 = 64;
/// Enough for 2^40 ns, 18 minutes.
const BUCKETS: usize = 41 * PER_DOUBLING as usize;

/// Counts of latenesses, in buckets whose width grows with the lateness.
#[derive(Clone, Debug)]
pub struct LatenessCounts {
    buckets: Box<[u64]>,
    /// Counts between successive [`ENDS`]; latenesses above the last end are in none.
    published: [u64; ENDS.len()],
    count: u64,
    sum: Duration,
    most: Duration,
}

impl Default for LatenessCounts {
    fn default() -> Self {
        let buckets = vec![0; BUCKETS].into();
        Self { buckets, published: [0; ENDS.len()], count: 0, sum: Duration::ZERO, most: Duration::ZERO }
    }
}

fn bucket(nanos: u64) -> usize {
    // Below `PER_DOUBLING` nanoseconds, each nanosecond has a bucket of its own.
    let doubling = (nanos / u64::from(PER_DOUBLING)).checked_ilog2().map_or(0, |log| log + 1);
    let within = if doubling == 0 { nanos } else { (nanos >> (doubling - 1)) - u64::from(PER_DOUBLING) };
    ((u64::from(doubling) * u64::from(PER_DOUBLING) + within) as usize).min(BUCKETS - 1)
}

/// The largest lateness of a bucket, in ns.
fn upper(bucket: usize) -> u64 {
    let (doubling, within) = (bucket as u32 / PER_DOUBLING, bucket as u64 % u64::from(PER_DOUBLING));
    if doubling == 0 { within } else { ((within + u64::from(PER_DOUBLING) + 1) << (doubling - 1)) - 1 }
}

impl LatenessCounts {
    /// Records one lateness sample.
    pub fn add(&mut self, late: Duration) {
        self.buckets[bucket(late.as_nanos())] += 1;
        let end = ENDS.partition_point(|end| Duration::from_micros(*end) < late);
        if let Some(published) = self.published.get_mut(end) {
            *published += 1;
        }
        self.count += 1;
        self.sum += late;
        self.most = self.most.max(late);
    }

    /// The number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of all samples.
    #[must_use]
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// The largest sample.
    #[must_use]
    pub fn most(&self) -> Duration {
        self.most
    }

    /// The smallest lateness that a share (0 to 1) of the samples does not exceed, rounded up to its bucket. Zero
    /// without samples.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Duration {
        let wanted = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Duration::from_nanos(upper(index)).min(self.most);
            }
        }
        self.most
    }

    /// The number of samples up to each of [`ENDS`].
    #[must_use]
    pub fn cumulative(&self) -> [u64; ENDS.len()] {
        let mut sum = 0;
        self.published.map(|count| {
            sum += count;
            sum
        })
    }

    /// Summarises the lateness of packets, with the allowed limit.
    #[must_use]
    pub fn summarise(&self, limit: Duration) -> outcome::Lateness {
        outcome::Lateness {
            packets: self.count,
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: self.most,
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

    #[test]
    fn buckets_and_sums_by_hand() {
        let mut lateness = LatenessCounts::default();
        // 97 samples of 7 us, one of 10 us, one of 300 us, one of 2 s.
        for _ in 0..97 {
            lateness.add(Duration::from_micros(7));
        }
        for micros in [10, 300, 2_000_000] {
            lateness.add(Duration::from_micros(micros));
        }
        // 7000 ns are in the bucket from 6976 to 7039: with 64 per doubling, buckets are 64 ns wide from 4096 on.
        assert_eq!(lateness.quantile(0.5), Duration::from_nanos(7039));
        assert_eq!(lateness.quantile(1.0), Duration::from_secs(2));
        assert_eq!(lateness.cumulative(), [98, 98, 98, 98, 98, 99, 99, 99, 99, 99, 99, 99]);
        assert_eq!((lateness.count(), lateness.most()), (100, Duration::from_secs(2)));
        assert_eq!(lateness.sum(), Duration::from_micros(97 * 7 + 10 + 300 + 2_000_000));
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
            for (end, count) in ENDS.iter().zip(counts.cumulative()) {
                prop_assert_eq!(count, late.iter().filter(|late| **late <= end * 1000).count() as u64);
            }
            for share in [0.5, 0.99, 1.0] {
                let exact = late[((late.len() as f64 * share).ceil() as usize).max(1) - 1];
                let found = counts.quantile(share).as_nanos();
                prop_assert!(found >= exact && found as f64 <= exact as f64 * (1.0 + 1.0 / 64.0) + 1.0, "{found} {exact}");
            }
        }
    }
}
