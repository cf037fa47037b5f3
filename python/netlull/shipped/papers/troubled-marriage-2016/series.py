"""Time series of the recorded runs: rates in bins, the service rate, and TCP's recovery time after a loss."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.plot.series import Floats, bin_rate, column, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from netlull.papers import Recorded

LINK = "N1-N2"
FLOW = "tcp"


def of_link(recorded: Recorded, series: str) -> pa.Table:
    """The rows of the link from N1 to N2 in a time series."""
    return rows_of(recorded.series(series), "link", LINK)


def of_flow(recorded: Recorded, series: str) -> pa.Table:
    """The rows of the TCP flow in a time series."""
    return rows_of(recorded.series(series), "flow", FLOW)


def arrivals(recorded: Recorded, width_s: float) -> tuple[Floats, Floats]:
    """The arrival rate of all flows at the link from N1 to N2, in bins of this width: time (s) and rate (bit/s)."""
    rows = of_link(recorded, "link")
    return bin_rate(column(rows, "time_s"), column(rows, "arrived_bytes"), width_s)


def sending(recorded: Recorded, width_s: float) -> tuple[Floats, Floats]:
    """TCP's sending rate in bins of this width: time (s) and rate (bit/s)."""
    rows = of_flow(recorded, "flow")
    return bin_rate(column(rows, "time_s"), column(rows, "sent_bytes"), width_s)


def service(recorded: Recorded) -> tuple[Floats, Floats]:
    """The changes of the service rate: time (s) and new rate (bit/s)."""
    rows = of_link(recorded, "rate")
    return column(rows, "time_s"), column(rows, "rate_bps")


def service_at(recorded: Recorded, time_s: Floats) -> Floats:
    """The service rate at these times, in bit/s."""
    changes, rates = service(recorded)
    index = np.clip(np.searchsorted(changes, time_s, side="right") - 1, 0, None)
    return np.asarray(rates[index], dtype=np.float64)


def losses(recorded: Recorded) -> Floats:
    """The drop times of TCP packets on all links, in seconds."""
    return column(of_flow(recorded, "drop"), "time_s")


@dataclass(frozen=True)
class Recovery:
    """The recovery times of TCP: seconds from a loss to the full rate, for each loss after which the rate fell."""

    times_s: tuple[float, ...]
    cut_off: tuple[bool, ...]
    """For each time: True if the next loss or the end of the run came first, so that the recovery takes longer."""
    episodes: int

    @property
    def unfinished(self) -> int:
        """The number of episodes that were cut off."""
        return sum(self.cut_off)

    @property
    def shortest_median_s(self) -> float:
        """The median length of the episodes, in seconds: the median recovery takes at least as long."""
        return float(np.median(self.times_s)) if self.times_s else 0.0

    @property
    def median_s(self) -> float:
        """The median recovery time in seconds, with the episodes that are cut off as the longest ones.

        0 if the rate fell after no loss; infinite if half of the episodes or more are cut off.
        """
        if not self.times_s:
            return 0.0
        ends = [float("inf") if cut else time for time, cut in zip(self.times_s, self.cut_off, strict=True)]
        return float(np.median(ends)) if 2 * self.unfinished < len(ends) else float("inf")


def recoveries(runs: Iterable[Recorded], reached_bps: float, fallen_bps: float) -> Recovery:
    """Follows every loss episode (drops less than 1 s apart) until the arrival rate of the last second has recovered.

    The episodes of several runs are taken together. An episode whose rate never falls below `fallen_bps` has no
    recovery time. If the next loss or the end of the run precedes the recovery, the episode is cut off: its length is a
    lower bound.
    """
    found: list[tuple[float, bool]] = []
    episodes = 0
    for recorded in runs:
        time, rate = last_second(recorded)
        for start, end in _episodes(recorded, time):
            episodes += 1
            fallen = time[(time > start) & (time <= end) & (rate < fallen_bps)]
            if not len(fallen):
                continue
            back = time[(time > fallen[0]) & (time <= end) & (rate >= reached_bps)]
            found.append((float((back[0] if len(back) else end) - start), not len(back)))
    return Recovery(tuple(length for length, _ in found), tuple(cut for _, cut in found), episodes)


def _episodes(recorded: Recorded, time: Floats) -> list[tuple[float, float]]:
    """Start and end of every loss episode: drops less than 1 s apart, until the next episode or the end of the run."""
    drops = losses(recorded)
    if not len(drops) or not len(time):
        return []
    starts = drops[np.concatenate(([True], np.diff(drops) > 1.0))]
    return list(zip(starts.tolist(), [*starts[1:].tolist(), float(time[-1])], strict=True))


@dataclass(frozen=True)
class Climb:
    """The longest climb of the service rate to its highest value in a part of a run."""

    times_s: dict[float, float]
    """The time at each rate (bit/s) that the climb passes, in seconds."""
    arrivals_bps2: float
    """The slope of the arrivals over the climb, by least squares, in bit/s per second."""


def climb(recorded: Recorded, until_s: float) -> Climb | None:
    """The longest climb of the service rate that reaches the highest rate before `until_s`; None if there is none.

    A climb is a row of steps up. It begins one second after the last step down, because the arrivals of the last second
    are then all from after the fall.
    """
    times, rates = service(recorded)
    highest = float(np.max(rates))
    longest: list[int] = []
    steps: list[int] = []
    fell_s = 0.0
    for index in range(1, len(times)):
        if times[index] > until_s:
            break
        if rates[index] < rates[index - 1]:
            fell_s, steps = float(times[index]), []
        elif rates[index] > rates[index - 1] and times[index] > fell_s + 1.0:
            steps.append(index)
            if rates[index] >= highest and len(steps) > len(longest):
                longest = list(steps)
    if len(longest) < 2:
        return None
    passed = {float(rates[a]): float(times[b] - times[a]) for a, b in itertools.pairwise(longest)}
    time, rate = last_second(recorded)
    inside = (time >= times[longest[0]]) & (time <= times[longest[-1]])
    if np.sum(inside) < 2:
        return None
    return Climb(passed, float(np.polyfit(time[inside], rate[inside], 1)[0]))


@dataclass(frozen=True)
class Following:
    """The service rate compared with the arrivals: their correlation, and the delay at which it is highest."""

    correlation: float
    delay_s: float


def following(recorded: Recorded, after_s: float, width_s: float = 0.2, longest_s: float = 10.0) -> Following:
    """Compares the service rate with the arrivals in bins of `width_s` after `after_s`, with delays up to `longest_s`.

    A constant rate follows nothing: its correlation is 0, its delay infinite.
    """
    time, arriving = arrivals(recorded, width_s)
    kept = time >= after_s
    cause, effect = arriving[kept], _mean_service(recorded, time[kept], width_s)
    shifts = range(min(round(longest_s / width_s), len(cause) - 2) + 1)
    by_delay = [_correlation(cause[: len(cause) - shift], effect[shift:]) for shift in shifts]
    if by_delay[0] == 0:
        return Following(0.0, float("inf"))
    return Following(by_delay[0], int(np.argmax(by_delay)) * width_s)


def _correlation(a: Floats, b: Floats) -> float:
    """Pearson's correlation; 0 if one of the two is constant."""
    return float(np.corrcoef(a, b)[0, 1]) if np.std(a) > 0 and np.std(b) > 0 else 0.0


def _mean_service(recorded: Recorded, middle_s: Floats, width_s: float) -> Floats:
    """The mean service rate in the bins around these times, in bit/s."""
    offsets = (np.arange(20) + 0.5) / 20 * width_s - width_s / 2
    sampled = service_at(recorded, (middle_s[:, None] + offsets[None, :]).ravel())
    return np.asarray(sampled.reshape(len(middle_s), -1).mean(axis=1), dtype=np.float64)


def last_second(recorded: Recorded) -> tuple[Floats, Floats]:
    """The arrival rate over the second before each time, every 50 ms: time (s) and rate (bit/s)."""
    middle, rate = arrivals(recorded, 0.05)
    sums = np.concatenate(([0.0], np.cumsum(rate)))
    return middle[19:] + 0.025, (sums[20:] - sums[:-20]) / 20
