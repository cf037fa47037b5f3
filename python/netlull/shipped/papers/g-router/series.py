"""What the recorded runs say over time: service rate, demand, queues, suggested window and estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from netlull.plot import bin_rate

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
    return bin_rate(floats(found, "time_s"), floats(found, "delivered_bytes"), width_s)


def service(recorded: Recorded) -> tuple[Floats, Floats]:
    """The router's service rate at the ends of bins: time (s) and bit/s."""
    found = rows(recorded, "link", ROUTER)
    return floats(found, "time_s"), floats(found, "rate_bps")


def suggested(recorded: Recorded, name: str) -> tuple[Floats, Floats]:
    """What the gateway suggests or estimates at the ends of bins: time (s) and the column."""
    found = rows(recorded, "gateway", ROUTER)
    return floats(found, "time_s"), floats(found, name)
