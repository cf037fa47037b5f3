//! Distributions of request sizes in bytes.

mod lognormal;

pub use lognormal::{CAMPUS, Component, Lognormal};

use netlull_network::random::Stream;

/// The maximum size of a transfer or request: far above any transfer in a run, and far below the range of 64 bits.
pub(crate) const LARGEST: u64 = 1 << 50;

/// A distribution of sizes. Draws are whole bytes, at least one.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeLaw {
    /// A constant size.
    Fixed(u64),
    /// An exponential distribution with this mean, in bytes.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// A Pareto distribution, with or without an upper bound.
    Pareto(Pareto),
    /// A truncated mixture of lognormal distributions.
    Lognormal(Lognormal),
    /// A cumulative distribution, linear between its points.
    Empirical(Empirical),
}

/// The Pareto distribution with shape a, truncated at H and scaled up: P(X > x) = ((L/x)^a - (L/H)^a) / (1 - (L/H)^a)
/// on [L, H]. Without a bound, H is infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    /// a.
    shape: f64,
    /// L, in bytes.
    least: f64,
    /// H, in bytes.
    most: f64,
    /// (L/H)^a: the share above H in the distribution without a bound.
    beyond: f64,
}

impl Pareto {
    /// The distribution with this mean, `shape` above 1, and a largest size above the mean.
    ///
    /// With a bound, `mean` is the mean of the bounded distribution.
    #[must_use]
    pub fn with_mean(mean: f64, shape: f64, max: Option<f64>) -> Self {
        let Some(max) = max else {
            // E X = a L / (a - 1).
            return Self { shape, least: mean * (shape - 1.0) / shape, most: f64::INFINITY, beyond: 0.0 };
        };
        // The mean grows with L, from 0 to H. Bisection continues to the limit of precision.
        let (mut low, mut high) = (0.0, mean);
        for _ in 0..200 {
            let least = 0.5 * (low + high);
            if bounded_mean(least, shape, max) < mean { low = least } else { high = least }
        }
        Self { shape, least: high, most: max, beyond: libm::pow(high / max, shape) }
    }

    /// The smallest size in whole bytes, and its share of all draws.
    #[must_use]
    pub fn smallest(&self) -> (f64, f64) {
        let size = libm::round(self.least).max(1.0);
        let above = (libm::pow(self.least / (size + 0.5), self.shape) - self.beyond) / (1.0 - self.beyond);
        (size, 1.0 - above.clamp(0.0, 1.0))
    }

    /// The quantile of 1 - `above`, with `above` in (0, 1].
    #[inline]
    #[must_use]
    pub fn quantile_above(&self, above: f64) -> f64 {
        // Solved for x: (L/x)^a = (L/H)^a + P(X > x) (1 - (L/H)^a).
        self.least * libm::pow(self.beyond + above * (1.0 - self.beyond), -1.0 / self.shape)
    }
}

/// E X = a/(a-1) L (1 - (L/H)^(a-1)) / (1 - (L/H)^a).
fn bounded_mean(least: f64, shape: f64, max: f64) -> f64 {
    let ratio = least / max;
    let unbounded = shape / (shape - 1.0) * least;
    unbounded * (1.0 - libm::pow(ratio, shape - 1.0)) / (1.0 - libm::pow(ratio, shape))
}

impl SizeLaw {
    /// The mean in bytes.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(size) => *size as f64,
            Self::Exponential { mean } => *mean,
            Self::Pareto(Pareto { shape, least, most, .. }) => bounded_mean(*least, *shape, *most),
            Self::Lognormal(mixture) => mixture.mean(),
            Self::Empirical(law) => law.mean(),
        }
    }

    /// Draws a size in bytes. Each draw takes one number of the stream, so draws of two distributions can be compared.
    #[inline]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        // The share of sizes above this size, in (0, 1].
        let above = 1.0 - stream.unit();
        let size = match self {
            Self::Fixed(size) => return *size,
            Self::Exponential { mean } => -libm::log(above) * mean,
            Self::Pareto(pareto) => pareto.quantile_above(above),
            Self::Lognormal(mixture) => mixture.quantile_above(above),
            Self::Empirical(law) => law.quantile_above(above),
        };
        (libm::round(size) as u64).clamp(1, LARGEST)
    }
}

/// P(X <= x) of flow sizes in a web-search cluster: bytes and probability (Alizadeh et al., Data Center TCP (DCTCP),
/// SIGCOMM 2010, figure 4, in the points common in data-centre simulators).
pub const WEB_SEARCH: [(u64, f64); 11] = [
    (10_000, 0.15),
    (20_000, 0.2),
    (30_000, 0.3),
    (50_000, 0.4),
    (80_000, 0.53),
    (200_000, 0.6),
    (1_000_000, 0.7),
    (2_000_000, 0.8),
    (5_000_000, 0.9),
    (10_000_000, 0.97),
    (30_000_000, 1.0),
];

/// A cumulative distribution, linear between its points. All sizes below the first point are equal to its size. If the
/// first point has probability 0, there are none.
#[derive(Clone, Debug, PartialEq)]
pub struct Empirical {
    /// Size in bytes and P(X <= size), both in ascending order. The last probability is 1.
    points: Box<[(f64, f64)]>,
}

impl Empirical {
    /// The distribution through `points` (bytes, probability), in ascending order and ending at 1. Each size is
    /// multiplied by `scale`.
    #[must_use]
    #[allow(clippy::cast_precision_loss)]
    pub fn new(points: &[(u64, f64)], scale: f64) -> Self {
        let mut points: Box<[(f64, f64)]> = points.iter().map(|&(size, below)| (size as f64 * scale, below)).collect();
        if let Some((_, last)) = points.last_mut() {
            *last = 1.0;
        }
        Self { points }
    }

    /// The mean, x_1 p_1 + sum of (p_{i+1} - p_i) (x_i + x_{i+1}) / 2: sizes between two points are uniform.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let first = self.points.first().map_or(0.0, |(size, below)| size * below);
        let between = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) * f64::midpoint(pair[0].0, pair[1].0);
        first + self.points.windows(2).map(between).sum::<f64>()
    }

    /// The quantile of 1 - `above`, with `above` in (0, 1].
    #[inline]
    #[must_use]
    pub fn quantile_above(&self, above: f64) -> f64 {
        let share = 1.0 - above;
        let next = self.points.partition_point(|(_, below)| *below < share).min(self.points.len() - 1);
        let (size, below) = self.points[next];
        let Some((size_before, before)) = next.checked_sub(1).map(|last| self.points[last]) else { return size };
        size_before + (size - size_before) * (share - before) / (below - before)
    }
}

#[cfg(test)]
mod tests {
    use super::super::SizeLaw;
    use super::*;

    /// Makes 200,000 sorted draws.
    pub(super) fn draws(law: &SizeLaw) -> Vec<f64> {
        let mut stream = Stream::new(11, "sizes.test");
        let mut draws: Vec<f64> = (0..200_000).map(|_| law.draw(&mut stream) as f64).collect();
        draws.sort_unstable_by(f64::total_cmp);
        draws
    }

    pub(super) fn mean(draws: &[f64]) -> f64 {
        draws.iter().sum::<f64>() / draws.len() as f64
    }

    /// Checks the q-quantile: the share of draws up to it is q within four standard errors sqrt(q (1 - q) / n).
    pub(super) fn has_quantile(draws: &[f64], q: f64, quantile: f64) {
        let n = draws.len() as f64;
        let share = draws.partition_point(|size| *size <= quantile) as f64 / n;
        let tolerance = 4.0 * (q * (1.0 - q) / n).sqrt();
        assert!((share - q).abs() < tolerance, "{share} of sizes below {quantile}, expected {q} within {tolerance}");
    }

    #[test]
    fn fixed_sizes_are_all_the_same() {
        let law = SizeLaw::Fixed(12_345);
        assert!(draws(&law).iter().all(|size| *size == 12_345.0));
        assert_eq!(law.mean(), 12_345.0);
    }

    #[test]
    fn exponential_sizes_have_their_mean_and_quantiles() {
        let law = SizeLaw::Exponential { mean: 30_000.0 };
        let draws = draws(&law);
        // Standard error 30,000 / sqrt(200,000) = 67.
        assert!((mean(&draws) - 30_000.0).abs() < 4.0 * 67.1, "{}", mean(&draws));
        for q in [0.01, 0.5, 0.9, 0.999] {
            has_quantile(&draws, q, -30_000.0 * f64::ln(1.0 - q));
        }
    }

    #[test]
    fn the_smallest_of_pareto_sizes_has_its_share() {
        for (mean, shape, max) in
            [(30_000.0, 1.35, None), (100.0, 1.02, None), (2_000.0, 1.01, Some(1e6)), (90.0, 40.0, None)]
        {
            let pareto = Pareto::with_mean(mean, shape, max);
            let (size, share) = pareto.smallest();
            let draws = draws(&SizeLaw::Pareto(pareto));
            assert_eq!(draws[0], size);
            let seen = draws.partition_point(|draw| *draw <= size) as f64 / draws.len() as f64;
            assert!(
                (seen - share).abs() < 4.0 * (share * (1.0 - share) / 200_000.0).sqrt(),
                "{shape}: {seen} of {share}"
            );
        }
    }

    #[test]
    fn pareto_sizes_have_their_quantiles() {
        // L = 30,000 x 0.35 / 1.35 = 7,777.8 B; x_q = L (1 - q)^(-1/1.35).
        let law = SizeLaw::Pareto(Pareto::with_mean(30_000.0, 1.35, None));
        let draws = draws(&law);
        assert!((law.mean() - 30_000.0).abs() < 1e-6);
        assert_eq!(draws[0], 7778.0);
        for q in [0.1, 0.5, 0.9, 0.99, 0.9999] {
            has_quantile(&draws, q, 30_000.0 * 0.35 / 1.35 * f64::powf(1.0 - q, -1.0 / 1.35));
        }
        // For a shape below 2 the variance is infinite, so the mean of the draws is no test.
    }

    #[test]
    fn a_bounded_pareto_law_has_the_mean_asked_for_and_its_bound() {
        let (shape, max) = (1.35, 3e6);
        let pareto = Pareto::with_mean(30_000.0, shape, Some(max));
        let law = SizeLaw::Pareto(pareto);
        let least = pareto.least;
        // The bound lowers the mean, and a larger L compensates: L is above the 7,778 B of the distribution without a
        // bound.
        assert!(least > 7_778.0 && least < 30_000.0);
        assert!((law.mean() - 30_000.0).abs() < 1e-6, "{}", law.mean());
        let draws = draws(&law);
        assert!(draws.iter().all(|size| (least.round()..=max).contains(size)));
        // E X^2 = a L^a (H^(2-a) - L^(2-a)) / ((2 - a) (1 - (L/H)^a)); standard error sqrt((E X^2 - 30,000^2) / n).
        let second = shape * least.powf(shape) * (max.powf(2.0 - shape) - least.powf(2.0 - shape))
            / ((2.0 - shape) * (1.0 - (least / max).powf(shape)));
        let error = ((second - 9e8) / 2e5).sqrt();
        assert!(error < 300.0, "a tolerance that tells: {error}");
        assert!((mean(&draws) - 30_000.0).abs() < 4.0 * error, "{} within {}", mean(&draws), 4.0 * error);
        let beyond = (least / max).powf(shape);
        for q in [0.1, 0.5, 0.9, 0.99, 0.9999] {
            // F(x) = (1 - (L/x)^a) / (1 - (L/H)^a).
            has_quantile(&draws, q, least * (1.0 - q * (1.0 - beyond)).powf(-1.0 / shape));
        }
    }

    #[test]
    fn a_bound_far_away_changes_nothing() {
        let (near, far) =
            (Pareto::with_mean(30_000.0, 2.5, None), Pareto::with_mean(30_000.0, 2.5, Some(LARGEST as f64)));
        assert!((near.least - far.least).abs() / near.least < 1e-9, "{near:?} {far:?}");
    }

    #[test]
    fn between_points_sizes_are_uniform_and_below_the_first_all_the_same() {
        // Half of the sizes are 1000 B, half are uniform on [1000, 3000] B: mean 500 + 1000 = 1500 B.
        let law = SizeLaw::Empirical(Empirical::new(&[(1000, 0.5), (3000, 1.0)], 1.0));
        assert_eq!(law.mean(), 1500.0);
        let draws = draws(&law);
        has_quantile(&draws, 0.5, 1000.0);
        has_quantile(&draws, 0.75, 2000.0);
        assert_eq!((draws[0], draws[90_000]), (1000.0, 1000.0));
        // E X^2 = 0.5 x 10^6 + 0.5 (27 - 1) 10^9 / (3 x 2000) = 2.667e6, variance 4.17e5, standard error 1.44.
        assert!((mean(&draws) - 1500.0).abs() < 4.0 * 1.44, "{}", mean(&draws));
    }

    #[test]
    fn a_jump_is_one_size_and_a_gap_is_empty() {
        // A third of the sizes are 1 kB, none are in between up to 4 kB, a third are 5 kB, and the rest are uniform on
        // [4, 5] kB.
        let third = 1.0 / 3.0;
        let points = [(1000, 0.0), (1000, third), (4000, third), (5000, 2.0 * third), (5000, 1.0)];
        let law = SizeLaw::Empirical(Empirical::new(&points, 1.0));
        assert!((law.mean() - (1000.0 + 4500.0 + 5000.0) / 3.0).abs() < 1e-9, "{}", law.mean());
        let draws = draws(&law);
        has_quantile(&draws, third, 1000.0);
        has_quantile(&draws, third, 3999.0);
        has_quantile(&draws, third * 1.5, 4500.0);
        has_quantile(&draws, 2.0 * third, 4999.5);
    }

    #[test]
    fn the_web_search_law_has_its_mean_and_points() {
        // 1500 + 5 % x 15 kB + 10 % x 25 kB + 10 % x 40 kB + 13 % x 65 kB + 7 % x 140 kB + 10 % x 600 kB + 10 % x 1.5 MB
        // + 10 % x 3.5 MB + 7 % x 7.5 MB + 3 % x 20 MB = 1,712,000 B.
        let law = SizeLaw::Empirical(Empirical::new(&WEB_SEARCH, 1.0));
        assert!((law.mean() - 1_712_000.0).abs() < 1e-6, "{}", law.mean());
        let draws = draws(&law);
        WEB_SEARCH.iter().take(10).for_each(|&(size, below)| has_quantile(&draws, below, size as f64));
        // E X^2 is near 0.03 x 4.3e14 + 0.07 x 5.8e13 + ... < 2e13: standard error below 4.5e6 / sqrt(200,000) = 10 kB.
        assert!((mean(&draws) - 1_712_000.0).abs() < 4.0 * 10_000.0, "{}", mean(&draws));
        // The mean scales with the sizes.
        let tenth = SizeLaw::Empirical(Empirical::new(&WEB_SEARCH, 0.1));
        assert!((tenth.mean() - 171_200.0).abs() < 1e-6);
    }
}
