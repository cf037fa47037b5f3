"""Medians to compare with the means: over seeds, and over any three runs as in the paper."""

from __future__ import annotations

import itertools
import math
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from netlull.stats import Interval

from .measures import ratios

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.papers import Evidence

    from .measures import Case

LEVEL = 0.95
"""The confidence level of the intervals of medians."""
OUTER = 5.0
"""The share of triples in percent below the shown range, and the share above it."""


def over_seeds(evidence: Evidence, case: Case) -> Interval:
    """The median over seeds of the product, with an interval of order statistics; each seed has its own baseline."""
    return median_interval(list(ratios(evidence, case, "product_js").values()))


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
    """The paper's statistic over all triples of seeds: median, and 5th and 95th percentiles."""
    ours, theirs = (
        [
            (evidence.grid.samples(cell, "seconds")[seed], product)
            for seed, product in evidence.grid.samples(cell, "product_js").items()
        ]
        for cell in (case.cell, case.baseline)
    )
    places = range(min(len(ours), len(theirs)))
    found = [
        sorted(ours[place] for place in three)[1][1] / sorted(theirs[place] for place in three)[1][1]
        for three in itertools.combinations(places, 3)
    ]
    if not found:
        return Interval(math.nan, math.nan, math.nan, 0)
    low, middle, high = np.percentile(found, [OUTER, 50, 100 - OUTER])
    return Interval(float(middle), float(low), float(high), len(found))


def told(value: Interval) -> str:
    """Text such as `0.17 (0.16 to 0.45)`; without brackets if there is no interval."""
    if not math.isfinite(value.low):
        return f"{value.mean:.2f}"
    return f"{value.mean:.2f} ({value.low:.2f} to {value.high:.2f})"
