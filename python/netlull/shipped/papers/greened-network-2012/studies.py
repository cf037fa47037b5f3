"""What the studies share: the names of versions and states, and the cells of their grids."""

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
"""The axis `version`: the paper's six as in ns-2.35, two of today, and Linux' Vegas."""
MARKS = COLOURS | {"BBRv3": 7}
"""Of points: BBRv3's are CUBIC's, with white markers."""
STATES = {0: "awake", 90: "90 %", 70: "70 %", 50: "50 %"}
"""The axis `sleep`: nothing sleeps, or ESTOP's threshold."""
ASLEEP = (90, 70, 50)
COLLAPSED_BPS = 2e6
"""A flow that gets less than this at the end, where at least 8 Mb/s are free on its way, has collapsed."""
BANDS = "Means over seeds; bands are 95 % intervals (Student's t)."
BARS = "Means over seeds; bars are 95 % intervals (Student's t)."


def values(evidence: Evidence, experiment: str, axis: str, names: dict[int, str]) -> dict[int, str]:
    """Those of an axis's values that ran, with their names."""
    ran = evidence.grid.values(experiment, axis)
    return {value: name for value, name in names.items() if value in ran}


def flat(title: str, x: str, y: str, curves: Sequence[Curve]) -> Panel:
    """A panel with a linear x."""
    return Panel(title, x, y, curves, log_x=False)


def version_curve(version: str, x: Sequence[float], y: Sequence[Interval]) -> Curve:
    """A version's line, in its colour; BBRv3's is dashed."""
    return Curve(version, x, y, COLOURS[version], dashed=version == "BBRv3")


def within(drawn: Figure, low: float, high: float) -> Figure:
    """The same with panels cut at these values, which bands of few seeds may leave by far."""
    for axes in drawn.axes:
        axes.set_ylim(low, high)
    return drawn


def kept(evidence: Evidence, cell: Cell, awake: Cell, metric: str = "after_bps") -> Interval:
    """A metric in percent of what the same seeds have while all links are awake."""
    return evidence.grid.ratio(cell, awake, metric, 100)


def changed(evidence: Evidence, cell: Cell, awake: Cell, metric: str = "after_bps") -> Interval:
    """As `kept`, as a change in percent: -30 is 30 % less."""
    return kept(evidence, cell, awake, metric) - 100


def collapsed(evidence: Evidence, cell: Cell) -> int:
    """How many seeds end below `COLLAPSED_BPS`."""
    return sum(value < COLLAPSED_BPS for value in evidence.grid.samples(cell, "last_bps").values())


def signed(value: Interval, digits: int = 1) -> str:
    """`-30.2 ± 1.4`, `+0.3`."""
    text = number(value, digits=digits)
    return text if text.startswith(("-", "none")) else f"+{text}"


def quantile(sample: Sequence[float], share: float) -> float:
    """The value below which this share of the sample lies, linear between neighbours; NaN of nothing."""
    ordered = sorted(sample)
    if not ordered:
        return math.nan
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def exact(value: float) -> Interval:
    """A number without an interval."""
    return mean_interval([value])


def first_from(points: Sequence[float], holds: Callable[[float], bool]) -> float | None:
    """The first of these points from which on something holds at all further ones."""
    found = None
    for point in reversed(points):
        if not holds(point):
            break
        found = point
    return found
