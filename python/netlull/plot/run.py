"""The figures of one run that `netlull run --out` draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from netlull.plot.doze import doze_figure
from netlull.plot.link import bin_width_s, rate_traces
from netlull.plot.series import Trace, column, draw_traces, rows_of
from netlull.plot.style import figure, legend_above, save, styled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from netlull.results.result import Result

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


def _links(result: Result) -> Figure | None:
    table = _table(result, "link")
    if table is None:
        return None
    names = _busiest(table, "link", "arrived_bytes")
    if not names:
        return None
    rates = _table(result, "rate")
    with styled():
        drawn = figure(height=0.6 + 1.7 * len(names))
        grid = list(drawn.subplots(len(names), 1, squeeze=False)[:, 0])
        for axes, name in zip(grid, names, strict=True):
            draw_traces(axes, rate_traces(rates, rows_of(table, "link", name), name), name, "Rate (Mb/s)")
            if axes is not grid[-1]:
                axes.set_xlabel("")
        legend_above(drawn, grid)
    return drawn


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
        rate = column(rows, "delivered_bytes") * 8 / bin_width_s(time) / 1e6
        traces.append(Trace(name, time, rate, colour, width=0.8))
    return _panel(traces, "Goodput", "Goodput (Mb/s)")


def _cwnd(result: Result) -> Figure | None:
    table = _table(result, "window") or _table(result, "flow")
    if table is None:
        return None
    known = table.filter(pc.is_finite(table["cwnd_bytes"]))
    rows = _busiest_rows(known, "flow", "cwnd_bytes")
    segments = {result.flow(name)["segment_bytes"] for name, _ in rows}
    scale, unit = (1e3, "kB") if len(segments) != 1 or None in segments else _segments(*segments)
    traces = [
        Trace(name, column(found, "time_s"), column(found, "cwnd_bytes") / scale, colour, steps=True)
        for colour, (name, found) in enumerate(rows)
    ]
    return _panel(traces, "Congestion window", f"cwnd ({unit})")


def _segments(size: int) -> tuple[float, str]:
    """The size of a segment in bytes, and the unit of windows counted in them."""
    return float(size), f"segments of {size} B"


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
