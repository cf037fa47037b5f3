"""Parts shared by the studies: the names of versions and states, and comparisons with the awake runs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.papers import Cell, Evidence, number
from netlull.plot import Curve, Panel
from netlull.stats import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

COLOURS = {
    "Tahoe": 4,
    "Reno": 5,
    "NewReno": 2,
    "BIC": 3,
    "CUBIC 2.6.22": 0,
    "Vegas": 1,
    "SACK CUBIC": 6,
    "BBRv3": 0,
    "Vegas (Linux)": 4,
}
"""Palette indices of the axis `version`: the paper's six as in ns-2.35, two recent versions, and Linux' Vegas."""
MARKS = COLOURS | {"BBRv3": 7}
"""Palette indices of points: index 7 gives BBRv3 the colour of CUBIC, with white markers."""
STATES = {0: "awake", 90: "90 %", 70: "70 %", 50: "50 %"}
"""The values of the axis `sleep`: all links awake, or ESTOP's threshold."""
ASLEEP = (90, 70, 50)
COLLAPSED_BPS = 2e6
"""The goodput in bit/s below which a flow has collapsed at the end; at least 8 Mb/s are free on its path."""
BANDS = "Means over seeds; bands are 95 % intervals (Student's t)."
BARS = "Means over seeds; bars are 95 % intervals (Student's t)."


def values(evidence: Evidence, experiment: str, axis: str, names: dict[int, str]) -> dict[int, str]:
    """The simulated values of an axis, with their names."""
    ran = evidence.grid.values(experiment, axis)
    return {value: name for value, name in names.items() if value in ran}


def flat(title: str, x: str, y: str, curves: Sequence[Curve]) -> Panel:
    """A panel with a linear x axis."""
    return Panel(title, x, y, curves, log_x=False)


def version_curve(version: str, x: Sequence[float], y: Sequence[Interval]) -> Curve:
    """The curve of a version in its colour; BBRv3's curve is dashed."""
    return Curve(version, x, y, COLOURS[version], dashed=version == "BBRv3")


def within(drawn: Figure, low: float, high: float) -> Figure:
    """Limits the y axes to these values, since bands of few seeds may extend far beyond them."""
    for axes in drawn.axes:
        axes.set_ylim(low, high)
    return drawn


def kept(evidence: Evidence, cell: Cell, awake: Cell, metric: str = "after_bps") -> Interval:
    """A metric in percent of its value with all links awake, paired by seed."""
    return evidence.grid.ratio(cell, awake, metric, 100)


def changed(evidence: Evidence, cell: Cell, awake: Cell, metric: str = "after_bps") -> Interval:
    """The change of a metric in percent, by `kept`: -30 is 30 % less."""
    return kept(evidence, cell, awake, metric) - 100


def saved(evidence: Evidence, cell: Cell, awake: Cell, metric: str) -> Interval:
    """The energy saved in percent of that with all links awake, paired by seed; negative if more is used."""
    return evidence.grid.reduction(cell, awake, metric, 100)


def collapsed(evidence: Evidence, cell: Cell) -> int:
    """The number of seeds that end below `COLLAPSED_BPS`."""
    return sum(value < COLLAPSED_BPS for value in evidence.grid.samples(cell, "last_bps").values())


def signed(value: Interval, digits: int = 1) -> str:
    """Text with a sign: `-30.2 ± 1.4`, `+0.3`."""
    text = number(value, digits=digits)
    return text if text.startswith(("-", "none")) else f"+{text}"


def quantile(sample: Sequence[float], share: float) -> float:
    """The quantile of a sample at this share, by linear interpolation; NaN for an empty sample."""
    ordered = sorted(sample)
    if not ordered:
        return math.nan
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def exact(value: float) -> Interval:
    """A single value, without a confidence interval."""
    return mean_interval([value])


def first_from(points: Sequence[float], holds: Callable[[float], bool]) -> float | None:
    """The first point from which `holds` is true at all further points; None if there is none."""
    found = None
    for point in reversed(points):
        if not holds(point):
            break
        found = point
    return found
