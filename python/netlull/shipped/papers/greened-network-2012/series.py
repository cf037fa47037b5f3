"""Time series of the recorded runs: congestion windows in segments, and the falls of these windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from netlull.plot.series import Floats, column, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

    from netlull.papers import Recorded

FLOW = "tcp"
SEGMENT_B = 1000
"""The data of a segment, in bytes."""
SWITCH_S = 30.0
"""The time of the switch-off by ESTOP, in seconds (Table II)."""


def of_flow(recorded: Recorded, series: str) -> pa.Table:
    """The rows of the TCP flow in a table."""
    return rows_of(recorded.series(series), "flow", FLOW)


_windows: WeakKeyDictionary[Recorded, tuple[Floats, Floats]] = WeakKeyDictionary()


def window(recorded: Recorded) -> tuple[Floats, Floats]:
    """The congestion window at the end of each bin: time (s) and segments."""
    found = _windows.get(recorded)
    if found is None:
        rows = of_flow(recorded, "flow")
        found = column(rows, "time_s"), column(rows, "cwnd_bytes") / SEGMENT_B
        _windows[recorded] = found
    return found


def lowest_window(recorded: Recorded, from_s: float, to_s: float) -> float:
    """The smallest window at the end of a bin in this interval, in segments."""
    time, cwnd = window(recorded)
    return float(np.min(cwnd[(time > from_s) & (time <= to_s)]))


@dataclass(frozen=True)
class Teeth:
    """The falls of a window: the peaks before them in segments, their depths, and the times between them in s."""

    peaks: tuple[float, ...]
    depths: tuple[float, ...]
    """1 - the smallest window within `QUIET_S` after the start of the fall / the peak."""
    periods_s: tuple[float, ...]

    @property
    def peak(self) -> float:
        """The median peak; NaN without a fall."""
        return float(np.median(self.peaks)) if self.peaks else float("nan")

    @property
    def depth(self) -> float:
        """The mean depth; NaN without a fall."""
        return float(np.mean(self.depths)) if self.depths else float("nan")

    @property
    def period_s(self) -> float:
        """The median time from one fall to the next; NaN with fewer than two falls."""
        return float(np.median(self.periods_s)) if self.periods_s else float("nan")


QUIET_S = 0.5
"""Falls within this many seconds of each other count as one."""
REACH_S = 0.2
"""A reduction spread over a round trip ends within this time, in seconds."""


def _between(recorded: Recorded, from_s: float, to_s: float) -> tuple[Floats, Floats]:
    time, cwnd = window(recorded)
    inside = (time > from_s) & (time <= to_s)
    return time[inside], cwnd[inside]


def mean_window(recorded: Recorded, from_s: float, to_s: float) -> float:
    """The mean window over this interval, in segments."""
    return float(np.mean(_between(recorded, from_s, to_s)[1]))


def spread(recorded: Recorded, from_s: float, to_s: float) -> float:
    """The standard deviation of the window over this interval, relative to its mean."""
    _, cwnd = _between(recorded, from_s, to_s)
    return float(np.std(cwnd) / np.mean(cwnd))


def reaction_s(recorded: Recorded, level: float) -> float:
    """The time in s from the switch-off until the window is at this level again.

    It is 0 if the window stays at the level for 2 s, and infinite if it never returns.
    """
    time, cwnd = _between(recorded, SWITCH_S, float("inf"))
    first = cwnd[time <= SWITCH_S + 2]
    if np.min(first) >= level:
        return 0.0
    lowest = int(np.argmin(first))
    back = np.flatnonzero(cwnd[lowest:] >= level)
    return float(time[lowest + back[0]] - SWITCH_S) if len(back) else float("inf")


def teeth(recorded: Recorded, from_s: float, to_s: float, fall: float) -> Teeth:
    """The falls of the window in this interval.

    A window falls when it is below 1 - `fall` of its maximum in the last `REACH_S` seconds. Steps of the same fall,
    such as a reduction and a timeout, are less than `QUIET_S` apart.
    """
    time, cwnd = _between(recorded, from_s, to_s)
    reach = round(REACH_S / (time[1] - time[0]))
    recent = np.lib.stride_tricks.sliding_window_view(np.pad(cwnd, (reach, 0), mode="edge"), reach + 1)
    largest = np.max(recent, axis=1)
    low = np.flatnonzero(cwnd < (1 - fall) * largest)
    first = [step for place, step in enumerate(low) if place == 0 or time[step] - time[low[place - 1]] > QUIET_S]
    after = round(QUIET_S / (time[1] - time[0]))
    peaks = tuple(float(largest[step]) for step in first)
    depths = tuple(1 - float(np.min(cwnd[step : step + after + 1]) / largest[step]) for step in first)
    return Teeth(peaks, depths, tuple(float(gap) for gap in np.diff(time[first])) if len(first) > 1 else ())
