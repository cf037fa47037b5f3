//! The standard normal distribution and its quantiles.

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
    use super::*;

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
