"""The paper's statistic: of three runs the one with the median transfer time, repeated with other seeds."""

from __future__ import annotations

import itertools
import math
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np

from netlull.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.papers import Cell, Evidence

    from .measures import Case

THREE = 3
"""The runs of each case in the paper."""
LEVEL = 0.95
"""The confidence level of the intervals of medians."""
OUTER = 5.0
"""The share of triples in percent below the shown range, and the share above it."""
TRIPLES_OF = 20
"""The seeds whose triples `of_any_three` compares."""


def repetitions(seeds: Sequence[int]) -> list[list[int]]:
    """The seeds in groups of three: 1 to 3, 4 to 6, and so on. Fewer than three seeds are one group."""
    ordered = sorted(seeds)
    groups = [ordered[place : place + THREE] for place in range(0, len(ordered), THREE)]
    return [group for group in groups if len(group) == THREE] or groups


def reported(evidence: Evidence, cell: Cell, metric: str) -> list[float]:
    """A metric of the run that the paper would report, in each repetition."""
    seconds, values = (evidence.grid.samples(cell, name) for name in ("seconds", metric))
    groups = repetitions(list(seconds))
    return [values[sorted(group, key=lambda seed: seconds[seed])[len(group) // 2]] for group in groups]


def repeated(evidence: Evidence, case: Case, metric: str = "product_js") -> list[float]:
    """A metric divided by that of baseline TCP, both of reported runs, in each repetition."""
    ours, theirs = (reported(evidence, cell, metric) for cell in (case.cell, case.baseline))
    return [value / other for value, other in zip(ours, theirs, strict=True)]


def typical(values: Sequence[float]) -> Interval:
    """The median over repetitions with its interval."""
    return median_interval(values)


def averaged(columns: Sequence[Sequence[float]]) -> list[float]:
    """The mean of several cases, in each repetition."""
    return [fmean(values) for values in zip(*columns, strict=True)]


def median_interval(sample: Sequence[float]) -> Interval:
    """The median with an interval between two order statistics.

    The true median lies outside the k-th lowest and k-th highest of n values with probability 2 P(B < k). B is
    binomial with n trials and probability one half. The interval has the largest k for which this is at most 5 %.
    Fewer than six values have no such interval.
    """
    if not sample:
        return Interval(math.nan, math.nan, math.nan, 0)
    ordered, n = sorted(sample), len(sample)
    tail, rank = 0.0, 0
    while rank <= n // 2 and 2 * (tail + math.comb(n, rank) / 2**n) <= 1 - LEVEL:
        tail += math.comb(n, rank) / 2**n
        rank += 1
    if not rank:
        return Interval(median(ordered), math.nan, math.nan, n)
    return Interval(median(ordered), ordered[rank - 1], ordered[n - rank], n)


def of_any_three(evidence: Evidence, case: Case) -> Interval:
    """The statistic over all triples of the first twenty seeds: median, and 5th and 95th percentiles."""
    ours, theirs = (
        [
            (evidence.grid.samples(cell, "seconds")[seed], product)
            for seed, product in evidence.grid.samples(cell, "product_js").items()
        ]
        for cell in (case.cell, case.baseline)
    )
    places = range(min(len(ours), len(theirs), TRIPLES_OF))
    found = [
        sorted(ours[place] for place in three)[1][1] / sorted(theirs[place] for place in three)[1][1]
        for three in itertools.combinations(places, THREE)
    ]
    if not found:
        return Interval(math.nan, math.nan, math.nan, 0)
    low, middle, high = np.percentile(found, [OUTER, 50, 100 - OUTER])
    return Interval(float(middle), float(low), float(high), len(found))


def told(value: Interval, digits: int = 2) -> str:
    """Text such as `0.17 (0.16 to 0.45)`; without brackets if there is no interval."""
    middle = round(value.mean, digits) + 0.0  # no -0.0
    if not math.isfinite(value.low):
        return f"{middle:.{digits}f}"
    low, high = (round(end, digits) + 0.0 for end in (value.low, value.high))
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
