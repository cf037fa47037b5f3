"""Congestion windows and queues of several runs in the same panels: `netlull plot compare`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.errors import InputError
from netlull.plot.cwnd import windows_of
from netlull.plot.series import Trace, column, draw_traces, rows_of
from netlull.plot.style import figure, legend_above, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from netlull.plot.cwnd import Windows
    from netlull.results.result import Result

__all__ = ["overlay_figure"]

_MOST_FLOWS = 3
_MOST_LINKS = 2
_MOST_RUNS = 5
_HEIGHT = 1.75


def overlay_figure(
    named: Sequence[tuple[str, Result]],
    flows: Sequence[str] = (),
    links: Sequence[str] = (),
    span_s: tuple[float | None, float | None] = (None, None),
) -> Figure:
    """A panel for the window of each flow and for the queue of each link, with all runs in each panel.

    Defaults: the first TCP flows that all runs have, and the links with the longest queues. `span_s` limits the time
    axis, in s.

    Raises:
        FieldPathError: there is no such flow or link.
        InputError: there are too many runs, or a run recorded neither windows nor queues.
    """
    if len(named) > _MOST_RUNS:
        raise InputError(f"{len(named)} runs: are too many for one figure; expected at most {_MOST_RUNS}")
    panels = [*_windows(named, flows), *_queues(named, links)]
    if not panels:
        raise InputError("the runs have no TCP flow and no queue in common; expected runs of one network")
    with styled():
        drawn = figure(height=0.6 + _HEIGHT * len(panels))
        grid = list(drawn.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0])
        for axes, (title, label, traces) in zip(grid, panels, strict=True):
            draw_traces(axes, traces, title, label)
            axes.set_ylim(bottom=0)
            axes.set_xlim(*_span(panels, span_s))
            if axes is not grid[-1]:
                axes.set_xlabel("")
        legend_above(drawn, grid)
    return drawn


_Panel = tuple[str, str, list[Trace]]
"""Title, label of the axis, a trace for each run."""


def _span(panels: Sequence[_Panel], span_s: tuple[float | None, float | None]) -> tuple[float, float]:
    last = max((float(trace.time_s[-1]) for _, _, traces in panels for trace in traces if len(trace.time_s)), default=1)
    start, end = (given if given is not None else default for given, default in zip(span_s, (0.0, last), strict=True))
    if not start < min(end, last):
        raise InputError(f"from {start:g} s to {end:g} s: is not a span of time; expected times from 0 s to {last:g} s")
    return start, end


def _windows(named: Sequence[tuple[str, Result]], flows: Sequence[str]) -> list[_Panel]:
    shared = list(flows) or _shared_flows([result for _, result in named])[:_MOST_FLOWS]
    if not shared:
        return []
    of_runs = [windows_of(result, name, shared) for name, result in named]
    return [_window_panel(flow, [windows[place] for windows in of_runs]) for place, flow in enumerate(shared)]


def _window_panel(flow: str, windows: Sequence[Windows]) -> _Panel:
    """Each run's window in its own segments, or in kB if a run does not know them."""
    traces = [
        Trace(one.run, one.time_s, one.cwnd, colour, steps=True, width=1.2 - 0.3 * colour / len(windows))
        for colour, one in enumerate(windows)
    ]
    units = list(dict.fromkeys(one.unit for one in windows))
    return f"Congestion window of {flow}", f"cwnd ({' or '.join(units)})", traces


def _shared_flows(results: Sequence[Result]) -> list[str]:
    names = [[flow["name"] for flow in result.summary["flows"] if flow["kind"] == "tcp"] for result in results]
    return [name for name in names[0] if all(name in others for others in names)]


def _queues(named: Sequence[tuple[str, Result]], links: Sequence[str]) -> list[_Panel]:
    without = [name for name, result in named if "link" not in result.series_names]
    if without:
        if links:
            raise InputError(f"{without[0]}: recorded no queues; expected a run with an interval in [probe]")
        return []
    chosen = list(links) or _longest([result for _, result in named])
    panels = []
    for link in chosen:
        traces = []
        for colour, (name, result) in enumerate(named):
            result.link(link)
            rows = rows_of(result.series("link"), "link", link)
            queue = column(rows, "queue_packets")
            traces.append(Trace(name, column(rows, "time_s"), queue, colour, width=1.2 - 0.3 * colour / len(named)))
        panels.append((f"Queue of {link}", "Queue (packets)", traces))
    return panels


def _longest(results: Sequence[Result]) -> list[str]:
    """The links with the longest queues that all runs have."""
    means: dict[str, float] = {}
    for result in results:
        for link in result.summary["links"]:
            mean = link["mean_queue_packets"]
            means[link["name"]] = max(means.get(link["name"], 0.0), mean if mean and math.isfinite(mean) else 0.0)
    shared = [name for name in means if all(any(e["name"] == name for e in r.summary["links"]) for r in results)]
    waiting = [name for name in sorted(shared, key=lambda name: -means[name]) if means[name] > 0]
    return waiting[:_MOST_LINKS]
