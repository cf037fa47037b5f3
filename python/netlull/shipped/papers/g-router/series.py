"""What the recorded runs say over time: service rate, demand, queues, suggested window and estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.plot.series import Floats, bin_rate, column, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

    from netlull.papers import Recorded

ROUTER = "access-internet"
NODE = "internet-servers"


def rows(recorded: Recorded, table: str, link: str) -> pa.Table:
    """The rows of a table that are a link's."""
    return rows_of(recorded.series(table), "link", link)


def queue(recorded: Recorded, link: str) -> tuple[Floats, Floats]:
    """A link's queue at the ends of bins: time (s) and packets."""
    found = rows(recorded, "link", link)
    return column(found, "time_s"), column(found, "queue_packets")


def queue_deviation(recorded: Recorded, from_s: float) -> float:
    """Standard deviation of the router's queue at the ends of bins from a time on, in packets."""
    time, packets = queue(recorded, ROUTER)
    return float(np.std(packets[time > from_s]))


def throughput(recorded: Recorded, link: str, width_s: float = 5.0) -> tuple[Floats, Floats]:
    """What a link delivers, in bins of this width: their middles (s) and bit/s."""
    found = rows(recorded, "link", link)
    return bin_rate(column(found, "time_s"), column(found, "delivered_bytes"), width_s)


def service(recorded: Recorded) -> tuple[Floats, Floats]:
    """The router's service rate at the ends of bins: time (s) and bit/s."""
    found = rows(recorded, "link", ROUTER)
    return column(found, "time_s"), column(found, "rate_bps")


def suggested(recorded: Recorded, name: str) -> tuple[Floats, Floats]:
    """What the gateway suggests or estimates at the ends of bins: time (s) and the column."""
    found = rows(recorded, "gateway", ROUTER)
    return column(found, "time_s"), column(found, name)
