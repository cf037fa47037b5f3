"""A link over time: rate and arrivals, queue, and the windows of flows, on one axis of time: `netlull plot link`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from netlull.errors import InputError
from netlull.plot.cwnd import windows_of
from netlull.plot.series import Trace, column, draw_traces, rows_of
from netlull.plot.style import figure, legend_above, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from matplotlib.figure import Figure

    from netlull.plot.series import Floats
    from netlull.results.result import Result

__all__ = ["BINS", "bin_width_s", "link_figure", "rate_traces"]

BINS = 300
"""The number of bins in a figure that chooses them. A figure with fewer bins says how long they are."""
_MOST_FLOWS = 5
_MOST_CHANGES = 300
"""The most rate changes that a figure shows one by one."""
_PARTS = 150
"""The number of means over time that replace more changes."""
_HEIGHT = 1.75


def link_figure(
    result: Result,
    link: str,
    flows: Sequence[str] = (),
    span_s: tuple[float | None, float | None] = (None, None),
) -> Figure:
    """Panels of service rate and arrivals, of the queue, and of the congestion windows of flows.

    Args:
        result: a run with `interval` in [probe], and with `window = true` for windows.
        link: the name of the link.
        flows: the TCP flows; default the first ones, if the run recorded windows.
        span_s: start and end of the figure, in s.

    Raises:
        FieldPathError: there is no such link or flow.
        InputError: the run did not record the link, or the span is outside the run or shorter than a bin.
    """
    result.link(link)
    if "link" not in result.series_names:
        raise InputError(f"{link}: the run recorded no time series; expected probe.interval, such as '100 ms'")
    table = result.series("link")
    rows = rows_of(table, "link", link)
    if not rows.num_rows:
        raise InputError(f"{link}: the run did not record this link; expected it among probe.links")
    time = column(rows, "time_s")
    width = bin_width_s(time)
    start, end = _span(span_s, float(time[-1]), width)
    coarse = width * BINS > (end - start) * (1 + 1e-6)
    rates = result.series("rate") if "rate" in result.series_names else None
    panels = [
        (
            f"{link}: rates{f', arrivals in bins of {width:g} s' if coarse else ''}",
            "Rate (Mb/s)",
            rate_traces(rates, rows, link, (start, end)),
        ),
        (
            f"Queue{f', sampled every {width:g} s' if coarse else ''}",
            "Queue (packets)",
            [Trace("queue", time, column(rows, "queue_packets"), colour=2)],
        ),
        *_windows(result, flows),
    ]
    with styled():
        drawn = figure(height=0.6 + _HEIGHT * len(panels))
        grid = list(drawn.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0])
        for axes, (title, label, traces) in zip(grid, panels, strict=True):
            seen = [_within(trace, start, end) for trace in traces if _is_in(trace, start, end)]
            draw_traces(axes, seen, title if seen else f"{title}: nothing in this time", label, (start, end))
            axes.label_outer()
        legend_above(drawn, grid)
    return drawn


def rate_traces(
    rates: pa.Table | None, binned: pa.Table, link: str, span_s: tuple[float, float] | None = None
) -> list[Trace]:
    """The arrival rate and the service rate of a link, in Mb/s.

    With more changes in the span than a figure can show, both are means over equal parts of it.
    """
    time = column(binned, "time_s")
    width = bin_width_s(time)
    start, end = span_s or (0.0, float(time[-1]))
    arrived = column(binned, "arrived_bytes")
    changed, service = _service(rates, binned, link)
    if np.count_nonzero((changed >= start) & (changed <= end)) <= _MOST_CHANGES:
        return [
            Trace("arrival rate", time - width / 2, arrived * 8 / width / 1e6, colour=0, width=0.8),
            Trace("link rate", changed, service, colour=1, steps=True, width=1.3),
        ]
    part = max((end - start) / _PARTS, width)
    words = f", mean of {part:.2g} s"
    edges = np.arange(start, end + part / 2, part)
    middles = (edges[1:] + edges[:-1]) / 2
    offered = np.append(0.0, np.cumsum(arrived)) * 8 / 1e6
    served = np.append(0.0, np.cumsum(service[:-1] * np.diff(changed)))
    return [
        Trace(f"arrival rate{words}", middles, _slopes(edges, np.append(0.0, time), offered), colour=0, width=0.9),
        Trace(f"link rate{words}", middles, _slopes(edges, changed, served), colour=1, width=1.3),
    ]


def _slopes(edges: Floats, time_s: Floats, total: Floats) -> Floats:
    """The mean rates between edges of a quantity with these running totals."""
    return np.asarray(np.diff(np.interp(edges, time_s, total)) / np.diff(edges), dtype=np.float64)


def bin_width_s(time_s: Floats) -> float:
    """The width in s of bins that end at these times."""
    return float(time_s[1] - time_s[0]) if len(time_s) > 1 else float(time_s[0])


def _service(rates: pa.Table | None, binned: pa.Table, link: str) -> tuple[Floats, Floats]:
    """The times in s and rates in Mb/s of a link: every recorded change, else the rate at the end of each bin."""
    if rates is not None:
        rows = rows_of(rates, "link", link)
        if rows.num_rows:
            values = column(rows, "rate_bps") / 1e6
            return np.append(column(rows, "time_s"), column(binned, "time_s")[-1]), np.append(values, values[-1])
    return column(binned, "time_s"), column(binned, "rate_bps") / 1e6


_Panel = tuple[str, str, list[Trace]]
"""Title, label of the axis, traces."""


def _windows(result: Result, flows: Sequence[str]) -> list[_Panel]:
    chosen = list(flows)
    if not chosen:
        recorded = next((result.series(name) for name in ("window", "flow") if name in result.series_names), None)
        there = set() if recorded is None else set(pc.cast(recorded["flow"], "string").unique().to_pylist())
        tcp = [flow["name"] for flow in result.summary["flows"] if flow["kind"] == "tcp" and flow["name"] in there]
        chosen = tcp[:_MOST_FLOWS]
    if not chosen:
        return []
    found = windows_of(result, result.summary["name"], chosen)
    traces = [Trace(one.flow, one.time_s, one.cwnd, 3 + place, steps=True) for place, one in enumerate(found)]
    units = " or ".join(dict.fromkeys(one.unit for one in found))
    return [("Congestion window", f"cwnd ({units})", traces)]


def _span(span_s: tuple[float | None, float | None], last: float, width: float) -> tuple[float, float]:
    start, end = (given if given is not None else default for given, default in zip(span_s, (0.0, last), strict=True))
    if not start < min(end, last):
        raise InputError(f"from {start:g} s to {end:g} s: is not a span of time; expected times from 0 s to {last:g} s")
    end = min(end, last)
    if end - start < width * (1 - 1e-6):
        raise InputError(
            f"from {start:g} s to {end:g} s: is shorter than a bin of the run; expected at least {width:g} s, or a run "
            "with a shorter probe.interval"
        )
    return start, end


def _is_in(trace: Trace, start: float, end: float) -> bool:
    """True if a trace has values in a span of time, or before and after it."""
    times = trace.time_s[np.isfinite(trace.value)]
    return len(times) > 0 and bool(times[0] < end and times[-1] > start)


def _within(trace: Trace, start: float, end: float) -> Trace:
    """The part of a trace in a span of time, with a value on each side: the axis then fits its values."""
    first = max(int(np.searchsorted(trace.time_s, start)) - 1, 0)
    last = int(np.searchsorted(trace.time_s, end, side="right")) + 1
    times, values = trace.time_s[first:last], trace.value[first:last]
    return Trace(trace.label, times, values, trace.colour, trace.steps, trace.width, trace.dashed)
