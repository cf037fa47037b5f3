"""Statistics over independent replications (seeds): intervals of means, differences and ratios. docs/statistics.md."""

from __future__ import annotations

import functools
import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netlull.errors import needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    _Sample = npt.NDArray[np.float64]

__all__ = [
    "BOOTSTRAP_RESAMPLES",
    "Interval",
    "MeanDifference",
    "bootstrap_difference",
    "bootstrap_interval",
    "bootstrap_ratio",
    "doubt",
    "goodman_kruskal",
    "holm",
    "mean_interval",
    "paired_difference",
    "paired_ratio",
    "paired_test",
    "ratio_of_means",
    "relative_reduction",
    "welch_test",
]

BOOTSTRAP_RESAMPLES = 9999
_BOOTSTRAP_SEED = 1
_FEW = 5
"""The fewest values with a useful estimate of their spread."""
_COCHRAN = 25
"""Cochran's rule: the mean of n values is close enough to normal if n > 25 G1^2, where G1 is their skewness."""


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval over `n` values. A single value has none: `low` and `high` are NaN."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def half_width(self) -> float:
        """Half the interval's width; NaN for one value."""
        return (self.high - self.low) / 2

    def scaled(self, factor: float) -> Interval:
        """The interval in another unit: mean and bounds times a factor above 0."""
        return Interval(self.mean * factor, self.low * factor, self.high * factor, self.n)

    def __sub__(self, number: float) -> Interval:
        """The interval less a number."""
        return Interval(self.mean - number, self.low - number, self.high - number, self.n)

    def __neg__(self) -> Interval:
        """The interval of the negated value: a loss for a gain."""
        return Interval(-self.mean, -self.high, -self.low, self.n)

    def excludes(self, value: float) -> bool:
        """True if the interval exists and `value` lies outside."""
        return value < self.low or value > self.high


def goodman_kruskal(x: Sequence[float], y: Sequence[float]) -> float:
    """Goodman and Kruskal's gamma: +1 if y never falls as x grows, -1 if it never rises. Ties do not count.

    It is (rising pairs - falling pairs) / (rising + falling), and 0 if all pairs are ties. `x` and `y` have equal
    length.
    """
    signs = [np.sign((x[j] - x[i]) * (y[j] - y[i])) for i in range(len(x)) for j in range(i)]
    rising, falling = signs.count(1), signs.count(-1)
    return (rising - falling) / (rising + falling) if rising + falling else 0.0


@dataclass(frozen=True)
class MeanDifference:
    """A difference of two means: its interval, and the two-sided p-value of the hypothesis of no difference."""

    interval: Interval
    p_value: float


@functools.cache
def _student_t(level: float, degrees: float) -> float:
    with needs("statistics"):
        # scipy.stats, which has the same function as t.ppf, takes a second to import.
        from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + level) / 2))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")


def mean_interval(values: Iterable[float], level: float = 0.95) -> Interval:
    """The mean of independent values with its two-sided Student-t interval, mean +- t s / sqrt(n).

    NaN among the values makes the result NaN: a missing measurement is not zero.

    Example:
        >>> interval = mean_interval([9.4, 9.6, 9.5])
        >>> round(interval.low, 2), round(interval.mean, 2), round(interval.high, 2), interval.n
        (9.25, 9.5, 9.75, 3)

    Raises:
        ValueError: there are no values, or `level` is not inside (0, 1).
    """
    _check_level(level)
    sample = _floats(values)
    if not sample.size:
        raise ValueError("no values to average")
    mean = float(sample.mean())
    if sample.size == 1 or math.isnan(mean):
        return Interval(mean, math.nan, math.nan, sample.size)
    half = _student_t(level, sample.size - 1) * float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return Interval(mean, mean - half, mean + half, sample.size)


def paired_difference(a: Iterable[float], b: Iterable[float], level: float = 0.95) -> Interval:
    """The mean of a - b over pairs (the same seed in both), with its interval.

    Raises:
        ValueError: the lengths differ, or there are no values.
    """
    first, second = _pairs(a, b)
    return mean_interval(first - second, level)


def paired_ratio(a: Iterable[float], b: Iterable[float], level: float = 0.95) -> Interval:
    """The mean of a / b over pairs (the same seed in both), with its interval.

    Raises:
        ValueError: the lengths differ, there are no values, or a value of `b` is zero.
    """
    first, second = _pairs(a, b)
    if not np.all(second != 0):
        raise ValueError("a reference value is zero: the ratio is undefined")
    return mean_interval(first / second, level)


def relative_reduction(a: Iterable[float], reference: Iterable[float], level: float = 0.95) -> Interval:
    """The mean of 1 - a / reference over pairs (the same seed in both), with its interval.

    Raises:
        ValueError: the lengths differ, there are no values, or a value of `reference` is zero.
    """
    ratio = paired_ratio(a, reference, level)
    return Interval(1 - ratio.mean, 1 - ratio.high, 1 - ratio.low, ratio.n)


def paired_test(a: Iterable[float], b: Iterable[float], level: float = 0.95) -> MeanDifference:
    """The mean of a - b over pairs (the same seed in both), with Student's paired t-test of a zero difference.

    Example:
        >>> found = paired_test([9.4, 9.6, 9.5], [9.1, 9.3, 9.3])
        >>> round(found.interval.mean, 2), found.p_value < 0.05
        (0.27, True)

    Raises:
        ValueError: the lengths differ, or there are no values.
    """
    first, second = _pairs(a, b)
    interval = mean_interval(first - second, level)
    spread = float((first - second).std(ddof=1)) / math.sqrt(interval.n) if interval.n > 1 else math.nan
    return MeanDifference(interval, _p_value(interval.mean, spread, interval.n - 1))


def welch_test(a: Iterable[float], b: Iterable[float], level: float = 0.95) -> MeanDifference:
    """mean(a) - mean(b) of independent samples, with Welch's t-test. Used for seeds that cannot be paired.

    The interval and the p-value are NaN if either sample has fewer than two values.

    Raises:
        ValueError: a sample is empty, or `level` is not inside (0, 1).
    """
    _check_level(level)
    first, second = _floats(a), _floats(b)
    if not first.size or not second.size:
        raise ValueError("no values to average")
    difference = float(first.mean() - second.mean())
    count = min(first.size, second.size)
    if count < 2 or math.isnan(difference):
        return MeanDifference(Interval(difference, math.nan, math.nan, count), math.nan)
    variance, degrees = _welch(first, second)
    spread = math.sqrt(variance)
    half = _student_t(level, degrees) * spread
    return MeanDifference(
        Interval(difference, difference - half, difference + half, count), _p_value(difference, spread, degrees)
    )


def _welch(a: _Sample, b: _Sample) -> tuple[float, float]:
    """Variance of the difference of the means, and its degrees of freedom (Welch-Satterthwaite)."""
    of_a, of_b = float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size
    parts = of_a**2 / (a.size - 1) + of_b**2 / (b.size - 1)
    degrees = (of_a + of_b) ** 2 / parts if parts else float(a.size + b.size - 2)
    return of_a + of_b, degrees


def _p_value(difference: float, spread: float, degrees: float) -> float:
    """Two-sided p-value of Student's t = difference / spread. Without spread it is 0, or 1 without a difference."""
    with needs("statistics"):
        from scipy.stats import t

    if math.isnan(difference) or math.isnan(spread):
        return math.nan
    if spread == 0:
        return 0.0 if difference else 1.0
    return float(2 * t.sf(abs(difference) / spread, degrees))


def ratio_of_means(a: Iterable[float], b: Iterable[float], level: float = 0.95, *, paired: bool = True) -> Interval:
    """mean(a) / mean(b) with Fieller's interval: the ratios r for which the mean of a - r b may be zero.

    It contains 1 exactly if the interval of `paired_test` (or `welch_test`) contains 0. If the mean of `b` itself may
    be zero, there is no bound: `low` and `high` are infinite.

    Source: E. C. Fieller, Some problems in interval estimation, J. R. Stat. Soc. B 16 (1954), 175-185.

    Raises:
        ValueError: pairs have different lengths, there are no values, or `level` is not inside (0, 1).
    """
    _check_level(level)
    first, second = _pairs(a, b) if paired else (_floats(a), _floats(b))
    if not first.size or not second.size:
        raise ValueError("no values to average")
    x, y, count = float(first.mean()), float(second.mean()), min(first.size, second.size)
    ratio = x / y if y else math.nan
    if count < 2 or math.isnan(ratio):
        return Interval(ratio, math.nan, math.nan, count)
    v_xx, v_yy = float(first.var(ddof=1)) / first.size, float(second.var(ddof=1)) / second.size
    v_xy = float(np.cov(first, second)[0, 1]) / count if paired else 0.0
    t2 = _student_t(level, count - 1 if paired else _welch(first, second)[1]) ** 2
    # (x - r y)^2 <= t^2 (v_xx - 2 r v_xy + r^2 v_yy), a parabola in r: A r^2 - 2 B r + C <= 0.
    a2, b1, c0 = y * y - t2 * v_yy, x * y - t2 * v_xy, x * x - t2 * v_xx
    if a2 <= 0:
        return Interval(ratio, -math.inf, math.inf, count)
    # Rounding alone can make the root of a sample without spread negative.
    root = math.sqrt(max(0.0, b1 * b1 - a2 * c0))
    return Interval(ratio, (b1 - root) / a2, (b1 + root) / a2, count)


def bootstrap_interval(values: Iterable[float], level: float = 0.95) -> Interval:
    """The mean with a bootstrap interval (BCa, 9999 resamples), which follows skewness.

    Equal values give equal results. With few values it is too narrow, as the sample contains no tails.

    Raises:
        ValueError: there are no values, or `level` is not inside (0, 1).
    """
    return _bootstrap((_floats(values),), lambda x, axis=-1: np.mean(x, axis=axis), level, paired=False)


def bootstrap_difference(
    a: Iterable[float], b: Iterable[float], level: float = 0.95, *, paired: bool = True
) -> Interval:
    """mean(a) - mean(b) with a bootstrap interval, over pairs or of independent samples.

    Raises:
        ValueError: pairs have different lengths, there are no values, or `level` is not inside (0, 1).
    """
    if paired:
        first, second = _pairs(a, b)
        return bootstrap_interval(first - second, level)
    return _bootstrap(
        (_floats(a), _floats(b)),
        lambda x, y, axis=-1: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        level,
        paired=False,
    )


def bootstrap_ratio(a: Iterable[float], b: Iterable[float], level: float = 0.95, *, paired: bool = True) -> Interval:
    """mean(a) / mean(b) with a bootstrap interval, over pairs or of independent samples; NaN if mean(b) is zero.

    Raises:
        ValueError: pairs have different lengths, there are no values, or `level` is not inside (0, 1).
    """
    samples = _pairs(a, b) if paired else (_floats(a), _floats(b))
    if samples[1].size and not np.all(samples[1] > 0) and not np.all(samples[1] < 0):
        ratio = float(samples[0].mean() / samples[1].mean()) if samples[1].mean() else math.nan
        return Interval(ratio, -math.inf, math.inf, min(samples[0].size, samples[1].size))
    return _bootstrap(
        samples, lambda x, y, axis=-1: np.mean(x, axis=axis) / np.mean(y, axis=axis), level, paired=paired
    )


def _bootstrap(samples: tuple[_Sample, ...], statistic: Callable[..., Any], level: float, *, paired: bool) -> Interval:
    """The interval of scipy's bootstrap, with its own seeded generator: a table is the same each time."""
    with needs("statistics"):
        from scipy.stats import bootstrap

    _check_level(level)
    if not all(sample.size for sample in samples):
        raise ValueError("no values to average")
    value, count = float(statistic(*samples)), min(sample.size for sample in samples)
    if count < 2 or math.isnan(value):
        return Interval(value, math.nan, math.nan, count)
    if all(np.ptp(sample) == 0 for sample in samples):
        return Interval(value, value, value, count)
    with warnings.catch_warnings():
        # Samples whose resamples are all equal: the percentiles below replace the result.
        warnings.simplefilter("ignore")
        found = bootstrap(
            samples,
            statistic,
            n_resamples=BOOTSTRAP_RESAMPLES,
            confidence_level=level,
            paired=paired,
            method="BCa",
            rng=np.random.default_rng(_BOOTSTRAP_SEED),
        )
    low, high = (float(edge) for edge in found.confidence_interval)
    if math.isnan(low) or math.isnan(high):
        low, high = (
            float(edge) for edge in np.quantile(found.bootstrap_distribution, [(1 - level) / 2, (1 + level) / 2])
        )
    return Interval(value, low, high, count)


def holm(p_values: Iterable[float]) -> list[float]:
    """The p-values, corrected for the number of tests.

    If corrected values below alpha are verdicts, the probability of any false one is at most alpha.

    NaN stays NaN and does not count. Source: S. Holm, A simple sequentially rejective multiple test procedure, Scand.
    J. Statist. 6 (1979), 65-70: the k-th smallest of m, times m - k + 1, and never below its predecessor.
    """
    given = list(p_values)
    order = sorted((index for index, p in enumerate(given) if not math.isnan(p)), key=lambda index: given[index])
    corrected, least = list(given), 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * given[index]))
        corrected[index] = least
    return corrected


def doubt(values: Iterable[float]) -> str | None:
    """The reason why Student's t may mislead about the mean of these values; None without a reason.

    The reasons are few values, or a strong skew: skewness G1 above twice its own standard error, and n < 25 G1^2
    (Cochran, Sampling Techniques, 3rd ed., section 2.15).
    """
    sample = _floats(values)
    n = sample.size
    if n < _FEW:
        return f"only {n} {'seed' if n == 1 else 'seeds'}"
    if np.ptp(sample) == 0 or np.isnan(sample).any():
        return None
    skewness = _skewness(sample)
    error = math.sqrt(6 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))
    if abs(skewness) > 2 * error and n < _COCHRAN * skewness**2:
        return f"skewed (skewness {skewness:.1f}, n {n})"
    return None


def _skewness(sample: _Sample) -> float:
    """G1, as `scipy.stats.skew(bias=False)`, without that function's cost per short sample."""
    n, apart = sample.size, sample - sample.mean()
    squares = float(np.mean(apart**2))
    return float(math.sqrt(n * (n - 1)) / (n - 2) * np.mean(apart**3) / squares**1.5)


def _floats(values: Iterable[float]) -> _Sample:
    return np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=np.float64)


def _pairs(a: Iterable[float], b: Iterable[float]) -> tuple[_Sample, _Sample]:
    first, second = _floats(a), _floats(b)
    if first.shape != second.shape:
        raise ValueError(f"{first.size} values cannot be paired with {second.size}")
    return first, second
