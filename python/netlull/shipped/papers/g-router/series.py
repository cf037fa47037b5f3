"""Time series of the recorded runs: service rate, demand, queues, suggested window and estimates."""

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
    """The rows of a link in a table."""
    return rows_of(recorded.series(table), "link", link)


def queue(recorded: Recorded, link: str) -> tuple[Floats, Floats]:
    """A link's queue at the end of each bin: time (s) and packets."""
    found = rows(recorded, "link", link)
    return column(found, "time_s"), column(found, "queue_packets")


def queue_deviation(recorded: Recorded, from_s: float) -> float:
    """Standard deviation of the router's queue at the ends of bins from `from_s` on, in packets."""
    time, packets = queue(recorded, ROUTER)
    return float(np.std(packets[time > from_s]))


def throughput(recorded: Recorded, link: str, width_s: float = 5.0) -> tuple[Floats, Floats]:
    """A link's throughput in bins of this width: middle of each bin (s) and rate (bit/s)."""
    found = rows(recorded, "link", link)
    return bin_rate(column(found, "time_s"), column(found, "delivered_bytes"), width_s)


def service(recorded: Recorded) -> tuple[Floats, Floats]:
    """The router's service rate at the end of each bin: time (s) and rate (bit/s)."""
    found = rows(recorded, "link", ROUTER)
    return column(found, "time_s"), column(found, "rate_bps")


def suggested(recorded: Recorded, name: str) -> tuple[Floats, Floats]:
    """A column of the gateway's table (suggested window or an estimate) at the end of each bin: time (s) and value."""
    found = rows(recorded, "gateway", ROUTER)
    return column(found, "time_s"), column(found, name)
