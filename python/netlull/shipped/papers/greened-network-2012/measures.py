"""Throughput, losses of throughput and dropped packets of the sweep's runs, and comparisons seed by seed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.papers import Cell, Evidence, number
from netlull.stats import Interval, mean_interval

from . import printed

if TYPE_CHECKING:
    from collections.abc import Mapping


VERSIONS = tuple(printed.TABLE_IV)
"""The values of the axis `version`."""
LINUX = ("BIC", "CUBIC")
AIMD = ("Tahoe", "Reno", "NewReno")
LOSS_BASED = (*AIMD, *LINUX)
STATES = (50, 70, 90)
COLUMNS: tuple[printed.State, ...] = ("before", *STATES)
"""The columns of Table IV."""
PHASE_S, LATER_S = 30.0, 28.0
"""The time for which the links sleep, and that time without its first 2 s, in seconds."""
EARLY_S, LATE_S = (5.0, 30.0), (32.0, 60.0)
"""Intervals before and after the switch-off, in seconds, without slow start and the transition."""
STABLE_S = (40.0, 60.0)
"""The interval of the state that the windows reach after the switch-off, in seconds."""

Values = dict[int, float]
"""A number for each seed."""


def asleep(version: str, threshold: float) -> Cell:
    """The point of a TCP version at a threshold of ESTOP."""
    return Cell.of("asleep", version=version, threshold=threshold)


def awake(version: str) -> Cell:
    """The point of a TCP version without ESTOP."""
    return Cell.of("awake", version=version)


def column(version: str, state: printed.State) -> tuple[Cell, str]:
    """The point and metric of a cell of Table IV. Until 30 s the runs of all thresholds are identical."""
    return (
        (asleep(version, STATES[0]), "before_bps")
        if state == "before"
        else (asleep(version, float(state)), "after_bps")
    )


def throughput(evidence: Evidence, version: str, state: printed.State) -> Interval:
    """A cell of Table IV, in Mb/s."""
    return evidence.grid.interval(*column(version, state), printed.WIRE_MBPS)


def lead(evidence: Evidence, version: str, other: str, state: printed.State) -> Interval:
    """The throughput of a version less that of another, seed by seed, in Mb/s."""
    cell, metric = column(version, state)
    return evidence.grid.difference(cell, column(other, state)[0], metric, printed.WIRE_MBPS)


def losses(evidence: Evidence, cell: Cell) -> Values:
    """The loss of throughput, 1 - after / before, of each seed; NaN without throughput before."""
    grid = evidence.grid
    start, end = grid.samples(cell, "before_bps"), grid.samples(cell, "after_bps")
    return {seed: 1 - end[seed] / start[seed] if start[seed] else math.nan for seed in start}


def loss(evidence: Evidence, version: str, threshold: float, scale: float = 1.0) -> Interval:
    """The loss of throughput as a mean over seeds."""
    return mean_interval([value * scale for value in losses(evidence, asleep(version, threshold)).values()])


def less(one: Mapping[int, float], other: Mapping[int, float], times: float = 1.0) -> Interval:
    """Mean over common seeds of one - times x other; NaN without any."""
    return mean_interval([one[seed] - times * other[seed] for seed in one if seed in other] or [math.nan])


def loss_over(evidence: Evidence, one: Cell, other: Cell, times: float = 1.0) -> Interval:
    """The loss at one point less that at another, seed by seed."""
    return less(losses(evidence, one), losses(evidence, other), times)


def column_name(state: printed.State) -> str:
    """The name of a column of Table IV."""
    return state if isinstance(state, str) else f"{state} %"


def mean(values: Mapping[int, float]) -> Interval:
    """The mean over seeds; NaN without any."""
    return mean_interval(list(values.values()) or [math.nan])


def percent(value: Interval, digits: int = 1, unit: str = "%") -> str:
    """A share with its interval in percent."""
    return number(Interval(100 * value.mean, 100 * value.low, 100 * value.high, value.n), unit, digits)


def dropped(evidence: Evidence, version: str, state: printed.State) -> Values:
    """The share of TCP's packets that queues drop, without slow start and the switch-off, by seed."""
    cell, _ = column(version, state)
    return evidence.grid.samples(cell, "settled_loss" if state == "before" else "later_loss")
