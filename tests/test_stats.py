"""Intervals against scipy and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from netlull.stats import Interval, mean_interval, paired_difference, paired_ratio, relative_reduction

_numbers = st.floats(-1e6, 1e6, allow_nan=False)


@given(st.lists(_numbers, min_size=2, max_size=30), st.sampled_from([0.9, 0.95, 0.99]))
def test_intervals_are_scipys(values: list[float], level: float) -> None:
    ours = mean_interval(values, level)
    spread = scipy.stats.sem(values)
    low, high = (
        scipy.stats.t.interval(level, len(values) - 1, loc=np.mean(values), scale=spread)
        if spread
        else (
            ours.mean,
            ours.mean,
        )
    )
    assert ours.n == len(values)
    assert ours.low == pytest.approx(low, abs=1e-6)
    assert ours.high == pytest.approx(high, abs=1e-6)


def test_an_interval_by_hand() -> None:
    # mean 2, s = 1, t(0.975, 2) = 4.302653, half = 4.302653 / sqrt(3) = 2.484138
    interval = mean_interval([1.0, 2.0, 3.0])
    assert interval.mean == 2.0
    assert interval.half_width == pytest.approx(2.484138, abs=1e-6)


def test_one_value_has_no_interval() -> None:
    interval = mean_interval([5.0])
    assert (interval.mean, interval.n) == (5.0, 1)
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)
    assert not interval.excludes(0.0)


def test_a_missing_measurement_is_no_zero() -> None:
    assert math.isnan(mean_interval([1.0, math.nan]).mean)


def test_pairs_remove_what_they_share() -> None:
    # The same noise in both: the difference is exact, though each alone is noisy.
    noise = [0.0, 10.0, -7.0, 3.0]
    a, b = [5 + x for x in noise], [3 + x for x in noise]
    assert paired_difference(a, b) == Interval(2.0, 2.0, 2.0, 4)
    assert paired_difference(a, b).excludes(0.0)


def test_ratios_by_hand() -> None:
    assert paired_ratio([2.0, 4.0], [4.0, 8.0]) == Interval(0.5, 0.5, 0.5, 2)
    reduction = relative_reduction([9.0, 8.0], [10.0, 10.0])
    assert reduction.mean == pytest.approx(0.15)
    assert reduction.low < 0.15 < reduction.high


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: mean_interval([]), "no values"),
        (lambda: mean_interval([1.0, 2.0], 95), "level 95"),
        (lambda: paired_difference([1.0], [1.0, 2.0]), "cannot be paired"),
        (lambda: paired_ratio([1.0], [0.0]), "zero"),
    ],
)
def test_what_cannot_be_averaged_is_refused(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()  # type: ignore[operator]
