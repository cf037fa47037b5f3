"""Time series of the recorded runs: congestion windows in segments, and the falls of these windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.plot.series import Floats, column, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def window(recorded: Recorded) -> tuple[Floats, Floats]:
    """The congestion window at the end of each bin: time (s) and segments."""
    rows = of_flow(recorded, "flow")
    return column(rows, "time_s"), column(rows, "cwnd_bytes") / SEGMENT_B


def lowest_window(recorded: Recorded, from_s: float, to_s: float) -> float:
    """The smallest window at the end of a bin in this interval, in segments."""
    time, cwnd = window(recorded)
    return float(np.min(cwnd[(time > from_s) & (time <= to_s)]))


@dataclass(frozen=True)
class Teeth:
    """The peaks of a window before its falls, in segments, and the times between falls, in seconds."""

    peaks: tuple[float, ...]
    periods_s: tuple[float, ...]

    @property
    def peak(self) -> float:
        """The median peak; NaN without a fall."""
        return float(np.median(self.peaks)) if self.peaks else float("nan")

    @property
    def period_s(self) -> float:
        """The median time from one fall to the next; NaN with fewer than two falls."""
        return float(np.median(self.periods_s)) if self.periods_s else float("nan")


QUIET_S = 0.5
"""Falls within this many seconds of each other count as one."""
REACH_S = 0.2
"""A reduction spread over a round trip ends within this time, in seconds."""


def mean_window(recorded: Recorded, from_s: float, to_s: float) -> float:
    """The mean window over this interval, in segments."""
    time, cwnd = window(recorded)
    return float(np.mean(cwnd[(time > from_s) & (time <= to_s)]))


def teeth(runs: Sequence[Recorded], from_s: float, to_s: float, fall: float) -> Teeth:
    """The falls of the windows in this interval.

    A window falls when it is below 1 - `fall` of its maximum in the last `REACH_S` seconds. Steps of the same fall,
    such as a reduction and a timeout, are less than `QUIET_S` apart.
    """
    peaks: list[float] = []
    periods: list[float] = []
    for run in runs:
        time, cwnd = window(run)
        inside = (time > from_s) & (time <= to_s)
        time, cwnd = time[inside], cwnd[inside]
        reach = round(REACH_S / (time[1] - time[0]))
        recent = np.lib.stride_tricks.sliding_window_view(np.pad(cwnd, (reach, 0), mode="edge"), reach + 1)
        largest = np.max(recent, axis=1)
        low = np.flatnonzero(cwnd < (1 - fall) * largest)
        first = [step for place, step in enumerate(low) if place == 0 or time[step] - time[low[place - 1]] > QUIET_S]
        peaks += [float(largest[step]) for step in first]
        periods += [float(gap) for gap in np.diff(time[first])] if len(first) > 1 else []
    return Teeth(tuple(peaks), tuple(periods))
