"""Intervals against scipy and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from netlull.stats import (
    Interval,
    MeanDifference,
    bootstrap_difference,
    bootstrap_interval,
    bootstrap_ratio,
    doubt,
    holm,
    mean_interval,
    paired_difference,
    paired_ratio,
    paired_test,
    ratio_of_means,
    relative_reduction,
    welch_test,
)

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
    # The same noise in both: the difference is exact, though each mean is noisy.
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


_samples = st.lists(st.floats(0.5, 100), min_size=2, max_size=20).filter(lambda values: np.ptp(values) > 1e-3)


@given(st.lists(st.tuples(st.floats(1, 100), st.floats(1, 100)), min_size=3, max_size=20))
def test_paired_differences_are_scipys(pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    assume(np.ptp(a - b) > 1e-3)
    ours, theirs = paired_test(a, b), scipy.stats.ttest_rel(a, b)
    interval = theirs.confidence_interval(0.95)
    assert ours.interval.low == pytest.approx(interval.low)
    assert ours.interval.high == pytest.approx(interval.high)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-12)


@given(_samples, _samples)
def test_unpaired_differences_are_scipys(a: list[float], b: list[float]) -> None:
    ours, theirs = welch_test(a, b), scipy.stats.ttest_ind(a, b, equal_var=False)
    interval = theirs.confidence_interval(0.95)
    assert ours.interval.low == pytest.approx(interval.low)
    assert ours.interval.high == pytest.approx(interval.high)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-12)


def test_differences_without_spread() -> None:
    # All pairs agree: certainly 1, certainly 0.
    assert paired_test([2.0, 3.0], [1.0, 2.0]) == MeanDifference(Interval(1.0, 1.0, 1.0, 2), 0.0)
    assert paired_test([2.0, 3.0], [2.0, 3.0]).p_value == 1.0
    assert welch_test([2.0, 2.0], [1.0, 1.0]) == MeanDifference(Interval(1.0, 1.0, 1.0, 2), 0.0)
    # One pair has no known spread.
    assert math.isnan(paired_test([2.0], [1.0]).p_value)
    assert math.isnan(welch_test([2.0], [1.0, 3.0]).interval.low)


@given(st.lists(st.tuples(st.floats(1, 100), st.floats(1, 100)), min_size=3, max_size=20), st.booleans())
def test_a_ratio_excludes_one_exactly_if_the_difference_excludes_zero(
    pairs: list[tuple[float, float]], paired: bool
) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    assume(np.ptp(a - b) > 1e-3 and np.ptp(a) > 1e-3 and np.ptp(b) > 1e-3)
    ratio = ratio_of_means(a, b, paired=paired)
    difference = (paired_test if paired else welch_test)(a, b).interval
    # Not if rounding decides.
    assume(min(abs(difference.low), abs(difference.high)) > 1e-6)
    if math.isinf(ratio.low):
        return
    assert ratio.low <= ratio.mean <= ratio.high
    assert ratio.excludes(1) == difference.excludes(0)


def test_fiellers_interval_solves_its_equation() -> None:
    # At its ends the mean of a - r b is t standard errors from zero: the t-test of that has p = 0.05.
    a, b = [3.0, 4.0, 6.0, 5.0], [1.0, 2.0, 2.5, 1.5]
    ratio = ratio_of_means(a, b)
    assert ratio.mean == pytest.approx(18 / 7)
    for r in (ratio.low, ratio.high):
        assert scipy.stats.ttest_1samp(np.array(a) - r * np.array(b), 0).pvalue == pytest.approx(0.05)


def test_a_ratio_to_what_may_be_zero_has_no_bounds() -> None:
    # b: mean 1, s = 3.46, standard error 2: zero is half a standard error away.
    ratio = ratio_of_means([1.0, 2.0, 3.0], [-1.0, -1.0, 5.0])
    assert (ratio.mean, ratio.low, ratio.high) == (2.0, -math.inf, math.inf)
    assert math.isnan(ratio_of_means([1.0, 2.0], [1.0, -1.0]).mean)
    assert math.isinf(bootstrap_ratio([1.0, 2.0, 3.0], [-1.0, -1.0, 5.0]).high)


def test_a_bootstrap_is_scipys_and_the_same_each_time() -> None:
    values = np.exp(np.linspace(-2, 2, 12))
    ours = bootstrap_interval(values)
    theirs = scipy.stats.bootstrap((values,), np.mean, rng=np.random.default_rng(1)).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))
    assert bootstrap_interval(values) == ours
    # Skewed to the right, so it reaches further up than down; Student's t cannot.
    assert ours.high - ours.mean > 1.2 * (ours.mean - ours.low)
    # Over pairs it is that of the differences.
    assert bootstrap_difference(2 * values, values) == ours
    unpaired = bootstrap_difference(2 * values, values, paired=False)
    assert unpaired.low < ours.low < ours.high < unpaired.high
    double = bootstrap_ratio(2 * values, values)
    assert (double.low, double.high) == pytest.approx((2, 2))


def test_a_bootstrap_without_spread_or_values() -> None:
    assert bootstrap_interval([3.0, 3.0, 3.0]) == Interval(3.0, 3.0, 3.0, 3)
    assert math.isnan(bootstrap_interval([3.0]).low)
    with pytest.raises(ValueError, match="no values"):
        bootstrap_interval([])


def test_holms_correction_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.5: times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.5 (the third is not below the second).
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    # Untested values do not count: 0.03 is the only one.
    assert holm([math.nan, 0.03])[1] == 0.03
    assert holm([0.6, 0.9]) == [1.0, 1.0]


def test_doubts_about_students_t() -> None:
    assert doubt([1.0]) == "only 1 seed"
    assert doubt([1.0, 2.0, 3.0]) == "only 3 seeds"
    assert doubt(range(20)) is None
    assert doubt([5.0] * 10) is None
    # Nineteen of 0 and one of 1: G1 = sqrt(20) = 4.47, far beyond twice its error 0.51, and 20 < 25 x 20.
    assert doubt([0.0] * 19 + [1.0]) == "skewed (skewness 4.5, n 20)"
    values = np.random.default_rng(2).lognormal(size=12)
    assert doubt(values) == f"skewed (skewness {scipy.stats.skew(values, bias=False):.1f}, n 12)"
    # The same skewness with enough values causes no doubt.
    assert doubt(([0.0] * 19 + [1.0]) * 30) is None
