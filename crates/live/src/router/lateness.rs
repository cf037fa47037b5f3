//! How late a loop wakes.

use netlull_units::Duration;

/// The buckets' upper ends in microseconds, as they are published.
pub const ENDS: [u64; 12] = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000];
/// The width of a cell in microseconds, and how many there are: what is later than 100 ms is in the last.
const WIDTH: u64 = 5;
const CELLS: usize = 20_001;

/// Counts of latenesses, fine enough for quantiles.
#[derive(Clone, Debug)]
pub struct Lateness {
    cells: Box<[u64]>,
    count: u64,
    sum: Duration,
    most: Duration,
}

impl Default for Lateness {
    fn default() -> Self {
        Self { cells: vec![0; CELLS].into_boxed_slice(), count: 0, sum: Duration::ZERO, most: Duration::ZERO }
    }
}

impl Lateness {
    /// Once more, so late.
    pub fn add(&mut self, late: Duration) {
        let cell = usize::try_from(late.as_nanos() / 1000 / WIDTH).unwrap_or(CELLS).min(CELLS - 1);
        self.cells[cell] += 1;
        self.count += 1;
        self.sum += late;
        self.most = self.most.max(late);
    }

    /// How often.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// All together.
    #[must_use]
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// The latest.
    #[must_use]
    pub fn most(&self) -> Duration {
        self.most
    }

    /// The lateness that a share of `quantile`, from 0 to 1, does not exceed, to 5 us, above rather than below; zero before the first.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn quantile(&self, quantile: f64) -> Duration {
        let wanted = ((self.count as f64 * quantile).ceil() as u64).max(1);
        let mut seen = 0;
        for (cell, count) in self.cells.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                let end = Duration::from_micros((cell as u64 + 1) * WIDTH);
                return if cell == CELLS - 1 { self.most } else { end.min(self.most) };
            }
        }
        Duration::ZERO
    }

    /// How many were no later than each of [`ENDS`].
    #[must_use]
    pub fn cumulative(&self) -> [u64; ENDS.len()] {
        ENDS.map(|end| self.cells[..usize::try_from(end / WIDTH).unwrap_or(CELLS)].iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_buckets_by_hand() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.quantile(0.99), Duration::ZERO);
        // 98 of 7 us, one of 300 us, one of 2 s.
        for _ in 0..98 {
            lateness.add(Duration::from_micros(7));
        }
        lateness.add(Duration::from_micros(300));
        lateness.add(Duration::from_secs(2));
        assert_eq!(lateness.quantile(0.5), Duration::from_micros(10));
        assert_eq!(lateness.quantile(0.99), Duration::from_micros(305));
        assert_eq!(lateness.quantile(1.0), Duration::from_secs(2));
        assert_eq!(lateness.cumulative(), [98, 98, 98, 98, 98, 99, 99, 99, 99, 99, 99, 99]);
        assert_eq!((lateness.count(), lateness.most()), (100, Duration::from_secs(2)));
    }
}
