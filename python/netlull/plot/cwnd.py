"""Congestion windows over time, of one run or of several side by side: `netlull plot cwnd`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.lines import Line2D

from netlull.errors import InputError
from netlull.plot.series import column, rows_of
from netlull.plot.style import COLOURS, DOUBLE_COLUMN, figure, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.plot.series import Floats
    from netlull.results.result import Result

__all__ = ["Windows", "cwnd_figure", "windows_of"]

_WIDE_PANELS = 4
"""The most panels at full width. More panels stand side by side."""
_COLUMNS = 4
_NARROW = 6.5
_MARKS = {
    "timeout": ("X", "timeout"),
    "fast_retransmit": ("v", "fast retransmit"),
    "congestion_echo": ("D", "ECN echo"),
}
_MOST_MARKS = 60
"""The most marks of one kind per window and panel. More would hide it and are left out, with a note in the legend."""
_MOST_TOGETHER = 5
"""The most runs in one panel."""
_DASHES = (0, (4, 2))
_LEGEND_COLUMNS = 5


@dataclass(frozen=True)
class Windows:
    """The congestion window of a flow: each value holds from its time to the next."""

    run: str
    flow: str
    control: str
    """Its congestion control; empty if the result has none."""
    unit: str
    time_s: Floats
    cwnd: Floats
    ssthresh: Floats
    events: dict[str, Floats]
    """Times of the sender's events, by kind, in s."""


def windows_of(result: Result, label: str, flows: Sequence[str] = ()) -> list[Windows]:
    """The recorded windows of a run, of all TCP flows or of the named ones.

    Raises:
        FieldPathError: there is no flow with this name.
        InputError: a flow is not TCP, or the run recorded no windows.
    """
    wanted = [result.flow(name) for name in flows] or [
        flow for flow in result.summary["flows"] if flow["kind"] == "tcp"
    ]
    for flow in wanted:
        if flow["kind"] != "tcp":
            raise InputError(f'{label}: flow "{flow["name"]}" is {flow["kind"]} and has no window; expected a TCP flow')
    table = next((result.series(name) for name in ("window", "flow") if name in result.series_names), None)
    if table is None:
        raise InputError(f"{label}: recorded no congestion windows; expected a run with window = true in [probe]")
    if not wanted:
        raise InputError(f"{label}: has no TCP flow")
    events = result.series("event") if "event" in result.series_names else None
    return [_windows(result, label, flow, table, events) for flow in wanted]


def _windows(result: Result, label: str, flow: dict[str, Any], table: pa.Table, events: pa.Table | None) -> Windows:
    rows = rows_of(table, "flow", flow["name"])
    time, cwnd = column(rows, "time_s"), column(rows, "cwnd_bytes")
    ssthresh = column(rows, "ssthresh_bytes") if "ssthresh_bytes" in rows.column_names else np.full(len(time), np.nan)
    segment = flow.get("segment_bytes")
    scale, unit = (float(segment), "segments") if segment else (1e3, "kB")
    end = _end(result, flow)
    if len(time) and time[-1] < end:
        time, cwnd, ssthresh = np.append(time, end), np.append(cwnd, cwnd[-1]), np.append(ssthresh, ssthresh[-1])
    happened: dict[str, Floats] = {}
    if events is not None:
        mine = rows_of(events, "flow", flow["name"])
        for kind in _MARKS:
            happened[kind] = column(mine.filter(pc.equal(mine["event"], kind)), "time_s")
    control = flow.get("congestion_control") or ""
    return Windows(label, flow["name"], control, unit, time, cwnd / scale, ssthresh / scale, happened)


def _end(result: Result, flow: dict[str, Any]) -> float:
    """The end of a window in s: the end of the transfer, or of the run."""
    if flow["completion_time_s"] is not None and flow["start_s"] is not None:
        return float(flow["start_s"] + flow["completion_time_s"])
    return float(result.summary["duration_s"])


def cwnd_figure(windows: Sequence[Windows], span_s: tuple[float | None, float | None] = (None, None)) -> Figure:
    """A panel per flow. A few runs share the panels of flows with the same name; more runs have their own panels.

    Panels with the same unit share their scale. `span_s` limits the time axis, in s.

    Raises:
        InputError: nothing was recorded in this span of time.
    """
    start, end = _span(windows, span_s)
    runs = list(dict.fromkeys(one.run for one in windows))
    together = len(runs) <= _MOST_TOGETHER
    titles = _titles(windows, together=together)
    panels: dict[tuple[str, str], list[_Shown]] = {}
    for one in windows:
        run = runs.index(one.run) if together else 0
        panels.setdefault((titles[one.flow, one.run], one.unit), []).append(_shown(one, run, start, end))
    wide = len(panels) <= _WIDE_PANELS
    columns = 1 if wide else _COLUMNS
    rows = math.ceil(len(panels) / columns)
    with styled():
        drawn = figure(DOUBLE_COLUMN, 0.75 + rows * (1.7 if wide else 1.15) + (0.7 if rows == 1 else 0))
        one_unit = len({unit for _, unit in panels}) == 1
        grid = drawn.subplots(rows, columns, squeeze=False, sharex=True, sharey=one_unit)
        used = [axes for row in grid for axes in row]
        everything = [shown for panel in panels.values() for shown in panel]
        for axes, ((title, unit), shown) in zip(used, panels.items(), strict=False):
            _draw(axes, shown, _top(everything if one_unit else shown), width=1.0 if wide else 0.6)
            _label(axes, title, unit, wide=wide)
        for index in range(len(panels), len(used)):
            used[index].set_axis_off()
            # The panel above is now the last of its column.
            used[index - columns].tick_params(labelbottom=True)
        used[0].set_xlim(start, end)
        _name_axes(drawn, grid, {unit for _, unit in panels}, wide=wide)
        _legend(drawn, everything, runs if together else ())
    return drawn


def _span(windows: Sequence[Windows], span_s: tuple[float | None, float | None]) -> tuple[float, float]:
    last = max((float(one.time_s[-1]) for one in windows if len(one.time_s)), default=0.0)
    start, end = (given if given is not None else default for given, default in zip(span_s, (0.0, last), strict=True))
    first = min((float(one.time_s[0]) for one in windows if len(one.time_s)), default=math.inf)
    if not start < end:
        raise InputError(f"from {start:g} s to {end:g} s: is not a span of time; expected times from 0 s to {last:g} s")
    if first > end or start >= last:
        raise InputError(f"from {start:g} s to {end:g} s: nothing was recorded; windows are known to {last:g} s")
    return start, end


@dataclass(frozen=True)
class _Shown:
    """The part of a window in a panel."""

    run: int
    time_s: Floats
    cwnd: Floats
    ssthresh: Floats
    marks: dict[str, tuple[Floats, Floats]]
    """Times and windows of events, by kind."""


def _shown(one: Windows, run: int, start: float, end: float) -> _Shown:
    time, cwnd, ssthresh = _within(one, start, end)
    marks: dict[str, tuple[Floats, Floats]] = {}
    for kind, times in one.events.items():
        at = times[(times >= start) & (times <= end)]
        marks[kind] = (at, _before(one, at))
    return _Shown(run, time, cwnd, ssthresh, marks)


def _top(shown: Sequence[_Shown]) -> float:
    """The top of an axis for these windows. It ignores higher thresholds, which would flatten the windows."""
    return max((1.08 * float(one.cwnd.max()) for one in shown if len(one.cwnd)), default=1.0) or 1.0


def _draw(axes: Axes, shown: Sequence[_Shown], top: float, width: float) -> None:
    for one in shown:
        colour, line = _look(one.run)
        ssthresh = np.where(one.ssthresh <= top, one.ssthresh, np.nan)
        axes.plot(
            one.time_s,
            ssthresh,
            color=colour,
            linewidth=0.7 * width,
            linestyle=_DASHES,
            alpha=0.8,
            drawstyle="steps-post",
        )
        axes.plot(one.time_s, one.cwnd, color=colour, linewidth=width, linestyle=line, drawstyle="steps-post")
        for kind, (at, height) in one.marks.items():
            if len(at) <= _MOST_MARKS:
                size = 3.4 + width - 1
                axes.plot(
                    at, height, marker=_MARKS[kind][0], markersize=size, color=colour, linestyle="",
                    markeredgecolor="white", markeredgewidth=0.3, zorder=4,
                )  # fmt: skip
    axes.set_ylim(0, top)


def _look(run: int) -> tuple[str, Any]:
    """Colour and line of a run. After the last colour, the colours repeat with dotted lines."""
    return COLOURS[run % len(COLOURS)], "-" if run < len(COLOURS) else (0, (1, 1))


def _within(one: Windows, start: float, end: float) -> tuple[Floats, Floats, Floats]:
    """The steps in the span, with the step at its start."""
    inside = (one.time_s >= start) & (one.time_s <= end)
    first = int(np.searchsorted(one.time_s, start, side="right"))
    keep = np.flatnonzero(inside)
    if first > 0:
        keep = np.union1d(keep, [first - 1])
    after = int(np.searchsorted(one.time_s, end, side="right"))
    if after < len(one.time_s) and after > 0:
        keep = np.append(keep, after)  # the last step reaches the edge of the panel
    return one.time_s[keep], one.cwnd[keep], one.ssthresh[keep]


def _before(one: Windows, at: Floats) -> Floats:
    """The windows just before events."""
    index = np.searchsorted(one.time_s, at, side="left") - 1
    return np.asarray(one.cwnd[np.maximum(index, 0)], dtype=np.float64)


def _titles(windows: Sequence[Windows], *, together: bool) -> dict[tuple[str, str], str]:
    """The panel titles by flow and run: the flow with its congestion control, or with the run."""
    if not together:
        many = len({one.flow for one in windows}) > 1
        return {(one.flow, one.run): f"{one.run}: {one.flow}" if many else one.run for one in windows}
    controls: dict[str, set[str]] = {}
    for one in windows:
        controls.setdefault(one.flow, set()).add(one.control)
    named = {
        flow: f": {next(iter(those))}" if len(those) == 1 and all(those) else "" for flow, those in controls.items()
    }
    return {(one.flow, one.run): one.flow + named[one.flow] for one in windows}


def _label(axes: Axes, title: str, unit: str, *, wide: bool) -> None:
    axes.set_title(title, loc="left")
    if wide:
        axes.set_ylabel(f"Window ({unit})")
    else:
        axes.title.set_fontsize(7.5)
        axes.tick_params(labelsize=_NARROW)


def _name_axes(drawn: Figure, grid: Any, units: set[str], *, wide: bool) -> None:
    if wide:
        grid[-1][0].set_xlabel("Time (s)")
        return
    drawn.supxlabel("Time (s)", fontsize=8)
    drawn.supylabel(f"Window ({' or '.join(sorted(units))})", fontsize=8)


def _legend(drawn: Figure, shown: Sequence[_Shown], runs: Sequence[str]) -> None:
    """Adds the legend: runs by colour, then the meaning of lines and marks."""
    grey = COLOURS[0] if len(runs) <= 1 else COLOURS[-1]
    entries: list[Line2D] = []
    for index, run in enumerate(runs if len(runs) > 1 else ()):
        colour, line = _look(index)
        entries.append(Line2D([], [], color=colour, linestyle=line, label=run))
    entries.append(Line2D([], [], color=grey, linewidth=1.0, label="cwnd"))
    if any(np.isfinite(one.ssthresh).any() for one in shown):
        entries.append(Line2D([], [], color=grey, linewidth=0.7, linestyle=_DASHES, label="ssthresh"))
    for kind, (marker, label) in _MARKS.items():
        counts = [len(one.marks[kind][0]) for one in shown if kind in one.marks]
        if any(counts):
            some = f" (where {_MOST_MARKS} at most)" if max(counts) > _MOST_MARKS else ""
            entries.append(Line2D([], [], color=grey, marker=marker, linestyle="", label=label + some))
    rows = -(-len(entries) // _LEGEND_COLUMNS)
    drawn.legend(handles=entries, loc="outside upper center", ncols=-(-len(entries) // rows))
