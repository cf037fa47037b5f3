"""Parts shared by the studies: ratios over seeds, their medians, and strips of ratios."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from netlull.plot import COLOURS
from netlull.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from netlull.papers import Cell, Evidence

MIDDLE = "Medians over seeds; bands from the lowest to the highest."
BANDS = "Means over seeds; bands are 95 % intervals (Student's t)."


def ratios(evidence: Evidence, cell: Cell, reference: Cell, metric: str) -> list[float]:
    """A metric divided by that of the reference with the same seed, in the order of seeds."""
    ours, theirs = evidence.grid.samples(cell, metric), evidence.grid.samples(reference, metric)
    return [ours[seed] / theirs[seed] for seed in ours if theirs.get(seed)]


def middle(sample: Sequence[float]) -> Interval:
    """The median with minimum and maximum; a mean would hide the downloads trapped in small bursts."""
    if not sample:
        return Interval(np.nan, np.nan, np.nan, 0)
    return Interval(median(sample), min(sample), max(sample), len(sample))


def spread(value: Interval, digits: int = 2) -> str:
    """Text such as `0.74 (0.66 to 3.1)`."""
    if not value.n:
        return "none"
    return f"{value.mean:.{digits}f} ({value.low:.{digits}f} to {value.high:.{digits}f})"


def strip(axes: Axes, place: float, sample: Sequence[float], colour: int, label: str = "") -> None:
    """Draws a dot for each seed and a line at the median."""
    shade = COLOURS[colour % len(COLOURS)]
    sideways = place + np.linspace(-0.05, 0.05, len(sample))
    axes.plot(sideways, sample, ".", markersize=2.5, color=shade, alpha=0.6)
    axes.plot([place - 0.1, place + 0.1], [median(sample)] * 2, color=shade, linewidth=2, label=label)
