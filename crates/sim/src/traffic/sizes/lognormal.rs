//! Truncated mixtures of lognormal distributions, the mixture fitted to a campus's flows, and the standard normal
//! distribution with its quantiles.

/// A lognormal distribution of a mixture: ln X is normal with mean ln `median` and standard deviation `sigma`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Component {
    /// The share of the mixture before truncation, in any unit. Shares are divided by their sum.
    pub weight: f64,
    /// The median, in bytes.
    pub median: f64,
    /// The standard deviation of ln X.
    pub sigma: f64,
}

const fn component(weight: f64, sigma: f64, median: f64) -> Component {
    Component { weight, median, sigma }
}

/// The sizes of 2.17e9 TCP flows of a campus.
///
/// Source: flow-models (Jurkiewicz, Rzym, Boryło: Flow length and size distributions in campus Internet traffic,
/// Computer Communications 2021), fit `agh_2015`, TCP flows by size. The first two components (medians 97 and 309 B)
/// are requests and scans, and are omitted.
pub const CAMPUS: [Component; 6] = [
    component(0.299_368_7, 1.076_765, 2126.65),
    component(0.080_650_0, 1.308_259, 25_680.7),
    component(0.015_038_6, 1.351_327, 416_681.0),
    component(0.002_074_71, 1.082_475, 5_602_172.0),
    component(0.000_682_628, 1.019_114, 53_432_349.0),
    component(8.232_7e-6, 1.190_468, 5.144_68e8),
];

/// A mixture of lognormal distributions, truncated to an interval. The part outside is omitted, and the rest is scaled
/// up.
#[derive(Clone, Debug, PartialEq)]
pub struct Lognormal {
    /// The components, in the given order.
    parts: Box<[Part]>,
    /// The bounds in bytes.
    least: f64,
    most: f64,
}

/// A component within the bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    law: Component,
    /// The share of the part within the bounds.
    share: f64,
    /// The cumulative share of this part and the previous ones.
    up_to: f64,
    /// P(X <= min), P(min < X <= max) and P(X > max) of the component alone.
    below: f64,
    within: f64,
    above: f64,
}

impl Component {
    /// The distance of ln `size` from the log of the median, in standard deviations.
    fn score(&self, size: f64) -> f64 {
        (libm::log(size) - libm::log(self.median)) / self.sigma
    }

    /// P(least < X <= most), without cancellation in either tail.
    fn within(&self, least: f64, most: f64) -> f64 {
        interval(self.score(least), self.score(most))
    }

    /// E[X; least < X <= most] = m exp(s^2/2) (N(b - s) - N(a - s)), with the scores a and b of the bounds.
    fn part_mean(&self, least: f64, most: f64) -> f64 {
        let mean = self.median * libm::exp(0.5 * self.sigma * self.sigma);
        mean * interval(self.score(least) - self.sigma, self.score(most) - self.sigma)
    }
}

impl Lognormal {
    /// The mixture of `components` within [`least`, `most`] bytes; `None` if less than 10^-9 of it lies there.
    #[must_use]
    pub fn truncated(components: &[Component], least: f64, most: f64) -> Option<Self> {
        let all: f64 = components.iter().map(|law| law.weight).sum();
        let inside: f64 = components.iter().map(|law| law.weight * law.within(least, most)).sum();
        if inside.is_nan() || inside <= 1e-9 * all {
            return None;
        }
        let mut up_to = 0.0;
        let part = |law: &Component| {
            let within = law.within(least, most);
            let share = law.weight * within / inside;
            up_to += share;
            Part { law: *law, share, up_to, below: normal(law.score(least)), within, above: normal(-law.score(most)) }
        };
        Some(Self { parts: components.iter().map(part).collect(), least, most })
    }

    /// The mixture of `components` with an upper bound that gives this mean; `None` if no bound up to `most` does.
    #[must_use]
    pub fn with_mean(components: &[Component], mean: f64, most: f64) -> Option<Self> {
        // The mean grows with the bound and is below it.
        let (mut low, mut high) = (mean, most);
        if Self::truncated(components, 0.0, high)?.mean() < mean {
            return None;
        }
        for _ in 0..200 {
            let bound = f64::midpoint(low, high);
            let reached = Self::truncated(components, 0.0, bound).is_some_and(|law| law.mean() >= mean);
            if reached { high = bound } else { low = bound }
        }
        Self::truncated(components, 0.0, high)
    }

    /// The largest size, in bytes.
    #[must_use]
    pub fn most(&self) -> f64 {
        self.most
    }

    /// The mean in bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let mean = |part: &Part| part.law.part_mean(self.least, self.most) / part.within;
        self.parts.iter().filter(|part| part.share > 0.0).map(|part| part.share * mean(part)).sum()
    }

    /// The size for a uniform `above` on (0, 1].
    ///
    /// The position of 1 - `above` among the shares determines the component. The position within the component's
    /// share determines the size. A larger position gives a larger size within a component, but not across components.
    #[inline]
    #[must_use]
    pub fn quantile_above(&self, above: f64) -> f64 {
        let share = 1.0 - above;
        let mut chosen = self.parts.iter().filter(|part| part.share > 0.0);
        let last = self.parts.iter().rfind(|part| part.share > 0.0);
        let Some(part) = chosen.find(|part| share < part.up_to).or(last) else { return self.least };
        // The share of the part above the size: 1 at the smallest size, 0 at the largest.
        let left = ((part.up_to - share) / part.share).clamp(0.0, 1.0);
        let (below, above) = (part.below + part.within * (1.0 - left), part.above + part.within * left);
        let z = quantile(below, above);
        let size = part.law.median * libm::exp(part.law.sigma * z);
        size.clamp(self.least, self.most)
    }
}

/// P(Z <= z).
pub(super) fn normal(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// P(a < Z <= b), computed from the tail with both bounds to avoid cancellation.
pub(super) fn interval(a: f64, b: f64) -> f64 {
    if a > 0.0 { normal(-a) - normal(-b) } else { normal(b) - normal(a) }
}

/// Numerator and denominator, coefficients of the highest power first.
type Ratio = [[f64; 8]; 2];

// Wichura: Algorithm AS 241: The percentage points of the normal distribution, Applied Statistics 37(3), 1988, PPND16:
// about 1 part in 10^16.
const CENTRE: Ratio = [
    [
        2_509.080_928_730_122_7,
        33_430.575_583_588_13,
        67_265.770_927_008_7,
        45_921.953_931_549_87,
        13_731.693_765_509_46,
        1_971.590_950_306_551_3,
        133.141_667_891_784_38,
        3.387_132_872_796_366_5,
    ],
    [
        5_226.495_278_852_854,
        28_729.085_735_721_943,
        39_307.895_800_092_71,
        21_213.794_301_586_597,
        5_394.196_021_424_751,
        687.187_007_492_057_9,
        42.313_330_701_600_91,
        1.0,
    ],
];
const MIDDLE: Ratio = [
    [
        0.000_774_545_014_278_341_4,
        0.022_723_844_989_269_184,
        0.241_780_725_177_450_6,
        1.270_458_252_452_368_4,
        3.647_848_324_763_204_5,
        5.769_497_221_460_691,
        4.630_337_846_156_546,
        1.423_437_110_749_683_5,
    ],
    [
        1.050_750_071_644_416_9e-9,
        0.000_547_593_808_499_534_5,
        0.015_198_666_563_616_457,
        0.148_103_976_427_480_08,
        0.689_767_334_985_1,
        1.676_384_830_183_803_8,
        2.053_191_626_637_759,
        1.0,
    ],
];
const FAR: Ratio = [
    [
        2.010_334_399_292_288_1e-7,
        2.711_555_568_743_487_6e-5,
        0.001_242_660_947_388_078_4,
        0.026_532_189_526_576_124,
        0.296_560_571_828_504_87,
        1.784_826_539_917_291_3,
        5.463_784_911_164_114,
        6.657_904_643_501_103,
    ],
    [
        2.044_263_103_389_939_7e-15,
        1.421_511_758_316_446e-7,
        1.846_318_317_510_054_8e-5,
        0.000_786_869_131_145_613_3,
        0.014_875_361_290_850_615,
        0.136_929_880_922_735_8,
        0.599_832_206_555_888,
        1.0,
    ],
];

fn ratio([above, below]: &Ratio, x: f64) -> f64 {
    let polynomial = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, coefficient| sum * x + coefficient);
    polynomial(above) / polynomial(below)
}

/// The z with P(Z <= z) = `below` and P(Z > z) = `above`, which add up to 1. Both are needed, because neither
/// determines small values of the other precisely.
#[inline]
pub(super) fn quantile(below: f64, above: f64) -> f64 {
    let q = 0.5 * (below - above);
    if q.abs() <= 0.425 {
        return q * ratio(&CENTRE, 0.180_625 - q * q);
    }
    let r = libm::sqrt(-libm::log(below.min(above).max(f64::MIN_POSITIVE)));
    let z = if r <= 5.0 { ratio(&MIDDLE, r - 1.6) } else { ratio(&FAR, r - 5.0) };
    if q < 0.0 { -z } else { z }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{draws, has_quantile, mean};
    use super::super::{LARGEST, SizeLaw};
    use super::*;

    /// The integral of f over ln-size, by the midpoint rule with 200,000 steps between two bounds.
    fn integrate(least: f64, most: f64, f: impl Fn(f64) -> f64) -> f64 {
        let (low, steps) = (least.ln(), 200_000);
        let width = (most.ln() - low) / f64::from(steps);
        (0..steps).map(|step| f(low + (f64::from(step) + 0.5) * width) * width).sum()
    }

    /// The density of ln X before truncation.
    fn density(components: &[Component], log: f64) -> f64 {
        let one = |law: &Component| {
            let z = (log - law.median.ln()) / law.sigma;
            law.weight * (-0.5 * z * z).exp() / (law.sigma * (2.0 * std::f64::consts::PI).sqrt())
        };
        components.iter().map(one).sum()
    }

    const TWO: [Component; 2] = [component(3.0, 0.5, 1000.0), component(1.0, 1.2, 50_000.0)];

    #[test]
    fn a_mixture_has_the_mean_that_integration_gives() {
        for (least, most) in [(1.0, 1e12), (500.0, 60_000.0), (3000.0, 4000.0)] {
            let law = Lognormal::truncated(&TWO, least, most).expect("within");
            let inside = integrate(least, most, |log| density(&TWO, log));
            let mean = integrate(least, most, |log| log.exp() * density(&TWO, log)) / inside;
            assert!((law.mean() / mean - 1.0).abs() < 1e-8, "{} and {mean}", law.mean());
        }
    }

    #[test]
    fn draws_follow_the_mixture() {
        let (least, most) = (500.0, 60_000.0);
        let mixture = Lognormal::truncated(&TWO, least, most).expect("within");
        let inside = integrate(least, most, |log| density(&TWO, log));
        let law = SizeLaw::Lognormal(mixture);
        let draws = draws(&law);
        assert!(draws.iter().all(|size| (least..=most).contains(size)));
        for size in [700.5, 1000.5, 1500.5, 3000.5, 10_000.5, 40_000.5] {
            let below = integrate(least, size, |log| density(&TWO, log)) / inside;
            has_quantile(&draws, below, size);
        }
        let second = integrate(least, most, |log| (2.0 * log).exp() * density(&TWO, log)) / inside;
        let error = ((second - law.mean() * law.mean()) / 2e5).sqrt();
        assert!((mean(&draws) - law.mean()).abs() < 4.0 * error, "{} {} {error}", mean(&draws), law.mean());
    }

    #[test]
    fn one_component_is_the_lognormal_law() {
        // E X = m exp(s^2 / 2) = 1000 x exp(0.125) = 1133.148 B; the median is m.
        let law = SizeLaw::Lognormal(Lognormal::truncated(&TWO[..1], 0.0, LARGEST as f64).expect("all"));
        assert!((law.mean() - 1_133.148_453).abs() < 1e-5, "{}", law.mean());
        has_quantile(&draws(&law), 0.5, 1000.0);
    }

    #[test]
    fn the_campus_law_has_the_mean_asked_for() {
        for wanted in [1000.0, 15_000.0, 100_000.0] {
            let law = Lognormal::with_mean(&CAMPUS, wanted, LARGEST as f64).expect("in reach");
            assert!((law.mean() / wanted - 1.0).abs() < 1e-9, "{} at {}", law.mean(), law.most());
        }
        let law = SizeLaw::Lognormal(Lognormal::with_mean(&CAMPUS, 15_000.0, LARGEST as f64).expect("in reach"));
        let SizeLaw::Lognormal(mixture) = &law else { return };
        // The bound for 15 kB, found by bisection with Python's statistics.NormalDist: 333,335 B.
        assert!((mixture.most() - 333_335.4).abs() < 1.0, "{}", mixture.most());
        let draws = draws(&law);
        let most = draws[draws.len() - 1];
        let variance = draws.iter().map(|size| (size - 15_000.0).powi(2)).sum::<f64>() / 2e5;
        assert!((mean(&draws) - 15_000.0).abs() < 4.0 * (variance / 2e5).sqrt(), "{} up to {most}", mean(&draws));
        // The whole mixture: sum of weight x median x exp(sigma^2/2) over the sum of weights. No bound gives a larger
        // mean.
        let whole: f64 = CAMPUS.iter().map(|law| law.weight * law.median * (law.sigma * law.sigma / 2.0).exp()).sum();
        let whole = whole / CAMPUS.iter().map(|law| law.weight).sum::<f64>();
        assert!(Lognormal::with_mean(&CAMPUS, whole * 0.99, LARGEST as f64).is_some());
        assert_eq!(Lognormal::with_mean(&CAMPUS, whole * 1.01, LARGEST as f64), None);
    }

    #[test]
    fn bounds_beyond_the_mixture_hold_nothing() {
        assert_eq!(Lognormal::truncated(&TWO[..1], 1e9, 1e10), None);
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        // Abramowitz and Stegun, tables 26.1 and 26.6; P(Z > 10) = 7.6198530241605e-24.
        for (below, z) in [(0.5, 0.0), (0.9, 1.281_551_565_544_600_4), (0.975, 1.959_963_984_540_054)] {
            assert!((quantile(below, 1.0 - below) - z).abs() < 1e-14);
            assert!((quantile(1.0 - below, below) + z).abs() < 1e-14);
        }
        assert!((quantile(1.0, 7.619_853_024_160_527e-24) - 10.0).abs() < 1e-12);
    }

    #[test]
    fn a_quantile_undoes_the_distribution() {
        for step in -300..=300 {
            let z = f64::from(step) * 0.1;
            let found = quantile(normal(z), normal(-z));
            assert!((found - z).abs() < 1e-12 * z.abs().max(1.0), "{found} is not {z}");
        }
        // The tail, where 1 - P(Z <= z) would lose most digits: N(-8) - N(-9).
        assert!((interval(8.0, 9.0) / interval(-9.0, -8.0) - 1.0).abs() < 1e-12);
    }
}
