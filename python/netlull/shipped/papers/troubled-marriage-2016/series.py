"""Time series of the recorded runs: rates in bins, the service rate, and TCP's recovery time after a loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.plot.series import Floats, bin_rate, column, rows_of

if TYPE_CHECKING:
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
    unfinished: int
    episodes: int

    @property
    def median_s(self) -> float:
        """The median recovery time in seconds; 0 if the rate fell after no loss."""
        return float(np.median(self.times_s)) if self.times_s else 0.0


def recoveries(recorded: Recorded, reached_bps: float, fallen_bps: float) -> Recovery:
    """Follows every loss episode (drops less than 1 s apart) until the arrival rate of the last second has recovered.

    An episode whose rate never falls below `fallen_bps` has no recovery time. If the next loss or the end of the run
    precedes the recovery, the episode is unfinished: its length counts as a lower bound.
    """
    time, rate = last_second(recorded)
    drops = losses(recorded)
    if not len(drops) or not len(time):
        return Recovery((), 0, 0)
    starts = drops[np.concatenate(([True], np.diff(drops) > 1.0))]
    found: list[float] = []
    unfinished = 0
    for start, end in zip(starts, [*starts[1:], time[-1]], strict=True):
        inside = (time > start) & (time <= end)
        fallen = time[inside & (rate < fallen_bps)]
        if not len(fallen):
            continue
        back = time[inside & (time > fallen[0]) & (rate >= reached_bps)]
        found.append(float(back[0] - start) if len(back) else float(end - start))
        unfinished += not len(back)
    return Recovery(tuple(found), unfinished, len(starts))


def last_second(recorded: Recorded) -> tuple[Floats, Floats]:
    """The arrival rate over the second before each time, every 50 ms: time (s) and rate (bit/s)."""
    middle, rate = arrivals(recorded, 0.05)
    sums = np.concatenate(([0.0], np.cumsum(rate)))
    return middle[19:] + 0.025, (sums[20:] - sums[:-20]) / 20
