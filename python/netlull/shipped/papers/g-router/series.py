"""Time series of the recorded runs: service rate, demand, queues, suggested window and estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.plot.series import Floats, bin_rate, column, rows_of
from netlull.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def queue_deviation(recorded: Recorded, from_s: float, to_s: float) -> float:
    """Standard deviation of the router's queue at the ends of bins in this interval, in packets."""
    time, packets = queue(recorded, ROUTER)
    return float(np.std(packets[(time > from_s) & (time <= to_s)]))


def full_share(recorded: Recorded, from_s: float, to_s: float, packets: float) -> float:
    """The share of bins in this interval at whose end the Internet node's queue has at least this many packets."""
    time, queued = queue(recorded, NODE)
    return float(np.mean(queued[(time > from_s) & (time <= to_s)] >= packets))


def drop_times(recorded: Recorded, link: str, from_s: float, to_s: float) -> Floats:
    """The times of a link's drops in this interval, in seconds."""
    time = column(rows(recorded, "drop", link), "time_s")
    return np.sort(time[(time >= from_s) & (time < to_s)])


def window_limited(recorded: Recorded, from_s: float, to_s: float) -> float:
    """The share of samples of FTP-like flows in this interval in which cwnd is at least the suggested window."""
    window_at = dict(zip(*(each.tolist() for each in suggested(recorded, "window_bytes")), strict=True))
    flows = recorded.series("flow")
    names, time, cwnd = flows["flow"].to_pylist(), column(flows, "time_s"), column(flows, "cwnd_bytes")
    limited = [
        cwnd[row] >= window_at[float(at)]
        for row, at in enumerate(time)
        if from_s < at <= to_s and names[row].startswith("ftp-") and np.isfinite(cwnd[row])
    ]
    return float(np.mean(limited))


def throughput(recorded: Recorded, link: str, width_s: float = 5.0) -> tuple[Floats, Floats]:
    """A link's throughput in bins of this width: middle of each bin (s) and rate (bit/s)."""
    found = rows(recorded, "link", link)
    return bin_rate(column(found, "time_s"), column(found, "delivered_bytes"), width_s)


def pooled(samples: Sequence[tuple[Floats, Floats]], width_s: float) -> tuple[Floats, list[Interval]]:
    """Pools the samples of several runs in bins: middle of each bin (s), median, range of 80 % of the values."""
    time = np.concatenate([at for at, _ in samples])
    values = np.concatenate([value for _, value in samples])
    index = np.ceil(time / width_s - 1e-9).astype(np.int64) - 1
    bins = np.unique(index)
    found = [values[index == each] for each in bins]
    ranges = [(float(np.median(each)), *np.quantile(each, (0.1, 0.9)).tolist(), len(each)) for each in found]
    middles = np.asarray((bins + 0.5) * width_s, dtype=np.float64)
    return middles, [Interval(middle, low, high, n) for middle, low, high, n in ranges]


def service(recorded: Recorded) -> tuple[Floats, Floats]:
    """The router's service rate at the end of each bin: time (s) and rate (bit/s)."""
    found = rows(recorded, "link", ROUTER)
    return column(found, "time_s"), column(found, "rate_bps")


def suggested(recorded: Recorded, name: str) -> tuple[Floats, Floats]:
    """A column of the gateway's table (suggested window or an estimate) at the end of each bin: time (s) and value."""
    found = rows(recorded, "gateway", ROUTER)
    return column(found, "time_s"), column(found, name)


def mean_suggested(recorded: Recorded, name: str, from_s: float, to_s: float) -> float:
    """The mean of a column of the gateway's table over the bins of an interval; empty bins do not count."""
    time, values = suggested(recorded, name)
    return float(np.nanmean(values[(time > from_s) & (time <= to_s)]))
