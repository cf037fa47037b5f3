"""The figures of one run that `netlull run --out` draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netlull.plot.doze import doze_figure
from netlull.plot.series import Floats, Trace, column, draw_traces, rows_of
from netlull.plot.style import figure, legend_above, save, styled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from netlull.result import Result

_MOST_PANELS = 6
"""The most panels of one figure. A run with more links or flows shows the busiest."""


def run_figures(result: Result, folder: Path) -> list[Path]:
    """Draws the recorded time series of the run; returns the files (none without a recording)."""
    written: list[Path] = []
    for name, draw in (
        ("links", _links), ("queues", _queues), ("goodput", _goodput), ("cwnd", _cwnd), ("doze", _doze),
    ):  # fmt: skip
        drawn = draw(result)
        if drawn is not None:
            written += save(drawn, folder, name)
    return written


def _table(result: Result, name: str) -> pa.Table | None:
    if name not in result.series_names:
        return None
    table = result.series(name)
    return table if table.num_rows else None


def _busiest(table: pa.Table, key: str, amount: str) -> list[str]:
    """Names with traffic, in table order; the busiest first if there are too many."""
    totals: dict[str, float] = {}
    for name, value in zip(pc.cast(table[key], pa.string()).to_pylist(), column(table, amount), strict=True):
        totals[name] = totals.get(name, 0.0) + float(value)
    active = [name for name, total in totals.items() if total > 0]
    return active if len(active) <= _MOST_PANELS else sorted(active, key=lambda name: -totals[name])[:_MOST_PANELS]


def _busiest_rows(table: pa.Table, key: str, amount: str) -> list[tuple[str, pa.Table]]:
    return [(name, rows_of(table, key, name)) for name in _busiest(table, key, amount)]


def _bin_s(time_s: Floats) -> float:
    return float(time_s[1] - time_s[0]) if len(time_s) > 1 else float(time_s[0])


def _links(result: Result) -> Figure | None:
    table = _table(result, "link")
    if table is None:
        return None
    names = _busiest(table, "link", "arrived_bytes")
    if not names:
        return None
    rates = _table(result, "rate")
    end = float(column(table, "time_s")[-1])
    with styled():
        drawn = figure(height=0.6 + 1.7 * len(names))
        grid = list(drawn.subplots(len(names), 1, squeeze=False)[:, 0])
        for axes, name in zip(grid, names, strict=True):
            rows = rows_of(table, "link", name)
            time = column(rows, "time_s")
            arrival = column(rows, "arrived_bytes") * 8 / _bin_s(time) / 1e6
            traces = [Trace("link rate", *_rate_steps(rates, rows, name, end), colour=1, steps=True, width=1.6)]
            traces.append(Trace("arrival rate", time, arrival, colour=0, width=0.7))
            draw_traces(axes, traces, name, "Rate (Mb/s)")
        legend_above(drawn, grid)
    return drawn


def _rate_steps(rates: pa.Table | None, binned: pa.Table, name: str, end: float) -> tuple[Floats, Floats]:
    """The times in s and rates in Mb/s of a link: every recorded change, else the rate at the end of each bin."""
    if rates is not None:
        rows = rows_of(rates, "link", name)
        if rows.num_rows:
            values = column(rows, "rate_bps") / 1e6
            return np.append(column(rows, "time_s"), end), np.append(values, values[-1])
    return column(binned, "time_s"), column(binned, "rate_bps") / 1e6


def _queues(result: Result) -> Figure | None:
    table = _table(result, "link")
    if table is None:
        return None
    traces = [
        Trace(name, column(rows, "time_s"), column(rows, "queue_packets"), colour, width=0.8)
        for colour, (name, rows) in enumerate(_busiest_rows(table, "link", "queue_packets"))
    ]
    return _panel(traces, "Queues", "Queue (packets)")


def _goodput(result: Result) -> Figure | None:
    table = _table(result, "flow")
    if table is None:
        return None
    traces = []
    for colour, (name, rows) in enumerate(_busiest_rows(table, "flow", "delivered_bytes")):
        time = column(rows, "time_s")
        rate = column(rows, "delivered_bytes") * 8 / _bin_s(time) / 1e6
        traces.append(Trace(name, time, rate, colour, width=0.8))
    return _panel(traces, "Goodput", "Goodput (Mb/s)")


def _cwnd(result: Result) -> Figure | None:
    table = _table(result, "window") or _table(result, "flow")
    if table is None:
        return None
    known = table.filter(pc.is_finite(table["cwnd_bytes"]))
    traces = [
        Trace(name, column(rows, "time_s"), column(rows, "cwnd_bytes") / 1e3, colour, steps=True)
        for colour, (name, rows) in enumerate(_busiest_rows(known, "flow", "cwnd_bytes"))
    ]
    return _panel(traces, "Congestion window", "cwnd (kB)")


def _panel(traces: Sequence[Trace], title: str, y_label: str) -> Figure | None:
    """A figure of one panel; None without traces."""
    if not traces:
        return None
    with styled():
        drawn = figure(height=2.6)
        axes = drawn.add_subplot()
        draw_traces(axes, traces, title, y_label)
        legend_above(drawn, [axes])
    return drawn


def _doze(result: Result) -> Figure | None:
    """Some bursts of the station that slept longest, if stations were recorded."""
    if _table(result, "air") is None:
        return None
    sleepiest = max(result.summary["stations"], key=lambda station: float(station["asleep_s"]))
    return doze_figure(result, sleepiest["name"])
