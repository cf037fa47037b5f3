//! Sizes with a cumulative distribution given by points.

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
    use super::super::tests::{draws, has_quantile, mean};
    use super::*;

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
