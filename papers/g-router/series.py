"""What the recorded runs say over time: service rate, demand, queues, suggested window and estimates, in bins of a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from netlull.papers import Recorded

Floats = npt.NDArray[np.float64]

ROUTER = "access-internet"
NODE = "internet-servers"


def rows(recorded: Recorded, table: str, link: str) -> pa.Table:
    """The rows of a table that are a link's."""
    found = recorded.series(table)
    return found.filter(pc.equal(pc.cast(found["link"], pa.string()), link))


def floats(table: pa.Table, name: str) -> Floats:
    """A column as floats."""
    return np.asarray(table[name].to_numpy(), dtype=np.float64)


def queue(recorded: Recorded, link: str) -> tuple[Floats, Floats]:
    """A link's queue at the ends of bins: time (s) and packets."""
    found = rows(recorded, "link", link)
    return floats(found, "time_s"), floats(found, "queue_packets")


def queue_deviation(recorded: Recorded, from_s: float) -> float:
    """Standard deviation of the router's queue at the ends of bins from a time on, in packets."""
    time, packets = queue(recorded, ROUTER)
    return float(np.std(packets[time > from_s]))


def throughput(recorded: Recorded, link: str, width_s: float = 5.0) -> tuple[Floats, Floats]:
    """What a link delivers, in bins of this width: their middles (s) and bit/s."""
    found = rows(recorded, "link", link)
    time, delivered = floats(found, "time_s"), floats(found, "delivered_bytes")
    step = round(width_s / time[0])
    count = len(time) // step
    sums = delivered[: count * step].reshape(count, step).sum(axis=1)
    return time[step - 1 : count * step : step] - width_s / 2, 8 * sums / width_s


def drops(recorded: Recorded, link: str) -> tuple[Floats, Floats]:
    """Packets dropped at a link by bin: time (s) and number."""
    found = rows(recorded, "link", link)
    return floats(found, "time_s"), floats(found, "dropped_packets")


def service(recorded: Recorded) -> tuple[Floats, Floats]:
    """The router's service rate at the ends of bins: time (s) and bit/s."""
    found = rows(recorded, "link", ROUTER)
    return floats(found, "time_s"), floats(found, "rate_bps")


def suggested(recorded: Recorded, name: str) -> tuple[Floats, Floats]:
    """What the gateway suggests or estimates (window_bytes, flows, round_trip_s) at the ends of bins; time (s) first."""
    found = rows(recorded, "gateway", ROUTER)
    return floats(found, "time_s"), floats(found, name)
