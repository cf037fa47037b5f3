//! Named random streams, one per component. Each is a function of the run's seed and the component's name.
//!
//! Other components do not affect a component's stream. Two scenarios that differ in one mechanism therefore have
//! the same traffic for the same seed (common random numbers).

use netlull_units::Duration;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers for one component.
#[derive(Clone, Debug)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
}

impl Stream {
    /// Creates the stream called `name` of a run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name; SplitMix64 (inside `seed_from_u64`) spreads the result over the state.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
        let mixed = hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        Self { generator: Xoshiro256PlusPlus::seed_from_u64(mixed) }
    }

    /// A uniform variable on [0, 1), in steps of 2^-53.
    #[inline]
    #[allow(clippy::cast_precision_loss)]
    pub fn unit(&mut self) -> f64 {
        (self.generator.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A uniform variable on [low, high), rounded down to a whole number.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + (self.unit() * (high - low) as f64) as u64
    }

    /// An exponential variable with mean 1.
    #[inline]
    pub fn standard_exponential(&mut self) -> f64 {
        // 1 - U is on (0, 1], so the logarithm is finite. libm gives the same bits on every machine.
        -libm::log(1.0 - self.unit())
    }

    /// A normal variable with mean 0 and variance 1, by the polar method (Marsaglia and Bray 1964). The second of
    /// each pair is dropped, to keep the stream without further state.
    fn standard_normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * libm::sqrt(-2.0 * libm::log(square) / square);
            }
        }
    }

    /// A gamma variable with this shape, above 0, and scale 1; its mean and variance equal the shape.
    ///
    /// The source is Marsaglia and Tsang: A simple method for generating gamma variables, ACM Transactions on
    /// Mathematical Software 26(3), 2000.
    pub fn standard_gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            // Section 6 of the paper: with U uniform, gamma(a + 1) U^(1/a) is gamma(a).
            let larger = self.standard_gamma(shape + 1.0);
            return larger * libm::exp(-self.standard_exponential() / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.standard_normal();
            let v = (1.0 + c * x).powi(3);
            // ln U, with U on (0, 1]: a negated exponential variable.
            if v > 0.0 && -self.standard_exponential() < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }

    /// An exponential variable with this mean, rounded to a nanosecond, at least one.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(mean.as_secs_f64() * self.standard_exponential())
            .unwrap_or(Duration::MAX)
            .max(Duration::from_nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_and_seed_give_the_same_stream_and_others_do_not() {
        let draw = |seed, name| {
            let mut stream = Stream::new(seed, name);
            [stream.unit(), stream.unit(), stream.unit()]
        };
        assert_eq!(draw(1, "bursts"), draw(1, "bursts"));
        assert_ne!(draw(1, "bursts"), draw(2, "bursts"));
        assert_ne!(draw(1, "bursts"), draw(1, "burstt"));
    }

    #[test]
    fn neighbouring_seeds_are_uncorrelated() {
        let n = 4000;
        let firsts: Vec<f64> = (0..n).map(|seed| Stream::new(seed, "x").unit()).collect();
        let mean = firsts.iter().sum::<f64>() / n as f64;
        let lag = firsts.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum::<f64>() / n as f64;
        // Standard errors: mean 0.289/sqrt(4000) = 0.0046; lag-1 covariance (1/12)/sqrt(4000) = 0.0013.
        assert!((mean - 0.5).abs() < 0.02, "mean {mean}");
        assert!(lag.abs() < 0.006, "lag-1 covariance {lag}");
    }

    #[test]
    fn whole_numbers_of_a_range_are_equally_likely() {
        let mut stream = Stream::new(7, "range");
        let draws: Vec<u64> = (0..30_000).map(|_| stream.between(10, 13)).collect();
        let counts = [10, 11, 12].map(|number| draws.iter().filter(|draw| **draw == number).count());
        // Standard error of each: sqrt(30,000 x 2/9) = 82.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 330), "{counts:?}");
        assert_eq!(counts.iter().sum::<usize>(), 30_000);
    }

    #[test]
    fn gamma_draws_have_their_mean_variance_and_quantiles() {
        // X = gamma(a) / a has mean 1 and variance 1 / a. The quantiles are those of scipy.stats.gamma.ppf(q, a,
        // scale=1/a). a = 1/2 is the square of a normal variable, whose 0.9 quantile is 1.6448536^2 = 2.7055435.
        // a = 2 is a sum of two exponential variables, P(X > x) = (1 + 2x) exp(-2x): at 0.8391735 that is
        // 2.678347 x 0.186683 = 0.5.
        let cases = [
            (0.5, [(0.1, 0.015_790_774), (0.9, 2.705_543_454)]),
            (2.0, [(0.5, 0.839_173_495), (0.99, 3.319_176_034)]),
            (3.7, [(0.1, 0.417_935_357), (0.9, 1.697_006_033)]),
        ];
        for (shape, quantiles) in cases {
            let mut stream = Stream::new(7, "gamma");
            let draws: Vec<f64> = (0..200_000).map(|_| stream.standard_gamma(shape) / shape).collect();
            let mean = draws.iter().sum::<f64>() / 2e5;
            let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 2e5;
            // Standard errors: sqrt(1/a / 200,000); for the variance s^2, the root of s^4 (2 + 6/a) / n, with
            // kurtosis 3 + 6/a.
            let error = (1.0 / shape / 2e5_f64).sqrt();
            assert!((mean - 1.0).abs() < 4.0 * error, "shape {shape}: mean {mean}");
            let error = ((2.0 + 6.0 / shape) / 2e5).sqrt() / shape;
            assert!((variance - 1.0 / shape).abs() < 4.0 * error, "shape {shape}: variance {variance}");
            for (share, quantile) in quantiles {
                let below = draws.iter().filter(|draw| **draw <= quantile).count() as f64 / 2e5;
                let error = (share * (1.0 - share) / 2e5_f64).sqrt();
                assert!((below - share).abs() < 4.0 * error, "shape {shape}: {below} below {quantile}");
            }
        }
    }

    #[test]
    fn exponential_draws_have_their_mean_and_variance() {
        let mut stream = Stream::new(7, "exponential");
        let draws: Vec<f64> =
            (0..100_000).map(|_| stream.exponential(Duration::from_millis(50)).as_secs_f64()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        // Standard error of the mean: 0.05/sqrt(1e5) = 0.00016.
        assert!((mean - 0.05).abs() < 0.001, "{mean}");
        assert!((variance - 0.0025).abs() < 0.0002, "{variance}");
    }
}
