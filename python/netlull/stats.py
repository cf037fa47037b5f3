"""Statistics over independent replications (seeds): means with Student-t intervals, paired comparisons, ratios."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

__all__ = ["Interval", "mean_interval", "paired_difference", "paired_ratio", "relative_reduction"]


@dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval over `n` values; one value has no interval: `low` and `high` are NaN."""

    mean: float
    low: float
    high: float
    n: int

    @property
    def half_width(self) -> float:
        """Half the interval's width; NaN for one value."""
        return (self.high - self.low) / 2

    def excludes(self, value: float) -> bool:
        """True if the interval exists and `value` lies outside."""
        return value < self.low or value > self.high


@functools.cache
def _student_t(level: float, degrees: int) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, degrees))


def mean_interval(values: Iterable[float], level: float = 0.95) -> Interval:
    """The mean of independent values with its two-sided Student-t interval, mean +- t s / sqrt(n).

    NaN among the values makes the result NaN: a missing measurement is no zero.

    Raises:
        ValueError: there are no values, or `level` is not inside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")
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
        ValueError: the lengths differ, there are no values, or one of `b` is zero.
    """
    first, second = _pairs(a, b)
    if not np.all(second != 0):
        raise ValueError("a ratio to zero")
    return mean_interval(first / second, level)


def relative_reduction(a: Iterable[float], reference: Iterable[float], level: float = 0.95) -> Interval:
    """The mean of 1 - a / reference over pairs (the same seed in both), with its interval.

    Raises:
        ValueError: the lengths differ, there are no values, or one of `reference` is zero.
    """
    ratio = paired_ratio(a, reference, level)
    return Interval(1 - ratio.mean, 1 - ratio.high, 1 - ratio.low, ratio.n)


def _floats(values: Iterable[float]) -> npt.NDArray[np.float64]:
    return np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=np.float64)


def _pairs(a: Iterable[float], b: Iterable[float]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    first, second = _floats(a), _floats(b)
    if first.shape != second.shape:
        raise ValueError(f"{first.size} values cannot be paired with {second.size}")
    return first, second
