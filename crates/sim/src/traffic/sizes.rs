//! Distributions of request sizes in bytes.

mod empirical;
mod lognormal;
mod normal;

pub use empirical::{Empirical, WEB_SEARCH};
pub use lognormal::{CAMPUS, Component, Lognormal};

use crate::engine::random::Stream;

/// The maximum request size: far above any transfer in a run, and far below the range of 64 bits.
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

#[cfg(test)]
mod tests {
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
}
