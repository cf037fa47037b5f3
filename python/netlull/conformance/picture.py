"""The picture of a case over time, with the steps of the procedure.

A congestion control has rates, data in flight, queue and states, a loss recovery its segments and data in flight.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from netlull.conformance.trace import STATES, NotExportedError, Spell, Steps, Trace
from netlull.plot.series import Trace as Line
from netlull.plot.series import draw_traces
from netlull.plot.style import COLOURS, figure, legend_above, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.conformance.trace import Floats

__all__ = ["case_figure", "recovery_figure"]

_BINS = 150
_AFTER_S = 0.25
"""The time in s that a picture of a recovery shows after its last mark."""
_LETTER_SHARE = 0.009
"""The width of a letter of a mark's name, of the time that a picture shows."""
_LINE_SHARE = 0.08
"""The height of a line of such names, of the panel."""
_LEAST_SHARE = 0.03
"""The least share of the time that a state needs for its name."""


def case_figure(trace: Trace, title: str, marks: Sequence[tuple[float, str]] = ()) -> Figure:
    """The last run of a case of a congestion control."""
    end = trace.end_s
    edges = np.linspace(0, end, _BINS + 1)
    middles = (edges[1:] + edges[:-1]) / 2
    spans = list(pairwise(edges))
    sent = np.array([trace.sent(*span) for span in spans]) * 8e-6
    delivered = np.array([trace.delivered(*span) for span in spans]) * 8e-6
    rates = [Line("sent", middles, sent, colour=0), Line("delivered", middles, delivered, colour=2)]
    try:
        most = trace.number("BBR.max_bw")
        rates.append(Line("max_bw", most.time_s, most.value * 8e-6, colour=1, steps=True, dashed=True))
    except NotExportedError:
        pass
    inflight, cwnd = trace.inflight(), trace.cwnd()
    volumes = [
        Line("data in flight", inflight.time_s, inflight.value / 1e3, colour=0, steps=True, width=0.7),
        Line("cwnd", cwnd.time_s, cwnd.value / 1e3, colour=1, steps=True),
    ]
    queue = trace.queue(0, end)
    times = np.linspace(0, end, len(queue) + 1)[1:]
    with styled():
        drawn = figure(height=5.4)
        panels = list(drawn.subplots(4, 1, sharex=True, height_ratios=[4, 4, 3, 1]))
        draw_traces(panels[0], rates, title, "Rate (Mb/s)", (0, end))
        draw_traces(panels[1], volumes, "", "Volume (kB)", (0, end))
        panels[1].set_ylim(
            0, 1.1 * max(float(inflight.value.max(initial=1e3)) / 1e3, float(np.median(cwnd.value)) / 1e3)
        )
        draw_traces(panels[2], [Line("queue", times, queue, colour=3)], "", "Queue (packets)", (0, end))
        try:
            _draw_states(panels[3], trace.spells(), end)
        except NotExportedError:
            panels[3].text(0.5, 0.5, "no state exported", ha="center", va="center", transform=panels[3].transAxes)
        panels[3].set_yticks([])
        panels[3].set_xlabel("Time (s)")
        panels[3].grid(visible=False)
        _draw_marks(panels, panels[2], marks, end)
        legend_above(drawn, panels[:3])
    return drawn


def recovery_figure(trace: Trace, title: str, marks: Sequence[tuple[float, str]] = ()) -> Figure:
    """The last run of a case of loss recovery: each segment when it is sent, and the data in flight."""
    seen: set[int] = set()
    once: list[tuple[float, int]] = []
    again: list[tuple[float, int]] = []
    lost: list[tuple[float, int]] = []
    for place, (at, number) in enumerate(trace.segments):
        (again if number in seen else once).append((at, number))
        seen.add(number)
        if place in trace.lost:
            lost.append((at, number))
    # Data that follows the recovery would hide it.
    last = max((at for at, _ in [*again, *marks]), default=trace.end_s)
    end = min(trace.end_s, last + _AFTER_S)
    most = max((number for at, number in once if at <= end), default=1)
    volumes = [
        Line(label, *_until(steps, end, trace.segment_bytes), colour=colour, steps=True)
        for label, steps, colour in (("data in flight", trace.inflight(), 0), ("cwnd", trace.cwnd(), 1))
    ]
    with styled():
        drawn = figure(height=4.4)
        panels = list(drawn.subplots(2, 1, sharex=True, height_ratios=[3, 2]))
        for label, points, colour, marker in (
            ("sent", once, 0, "."),
            ("sent again", again, 1, "x"),
            ("lost on the path", lost, 3, "o"),
        ):
            times, numbers = [at for at, _ in points], [number for _, number in points]
            style = {"color": COLOURS[colour], "label": label if points else None}
            hollow = {"markersize": 7, "fillstyle": "none"} if marker == "o" else {"markersize": 4}
            panels[0].plot(times, numbers, marker, **style, **hollow)
        panels[0].set_title(title)
        panels[0].set_ylabel("Segment")
        # Above the segments: the names of the marks.
        panels[0].set_ylim(0, (most + 1) / (1 - _LINE_SHARE * (1 + max(_lines(marks, end), default=0))))
        panels[0].yaxis.get_major_locator().set_params(integer=True)
        draw_traces(panels[1], volumes, "", "Segments", (0, end))
        panels[1].set_ylim(0, 1.1 * max(float(line.value.max()) for line in volumes))
        panels[1].set_xlabel("Time (s)")
        _draw_marks(panels, panels[0], marks, end)
        legend_above(drawn, panels)
    return drawn


def _until(steps: Steps, end: float, unit: float) -> tuple[Floats, Floats]:
    """The times and values of steps until the end of the picture."""
    shown = steps.time_s <= end
    time, value = steps.time_s[shown], steps.value[shown] / unit
    return np.append(time, end), np.append(value, value[-1:] if len(value) else 0.0)


def _draw_marks(panels: Sequence[Axes], named: Axes, marks: Sequence[tuple[float, str]], end: float) -> None:
    """Draws the steps of the procedure, with their names in one panel."""
    for axes in panels:
        for at, _ in marks:
            axes.axvline(at, color=COLOURS[6], linewidth=0.8, linestyle=":")
        axes.label_outer()
    for (at, what), line in zip(marks, _lines(marks, end), strict=True):
        if 0 <= at <= end:
            height = 0.98 - _LINE_SHARE * line
            named.annotate(what, (at, height), (2, 0), ("data", "axes fraction"), "offset points", va="top", fontsize=7)


def _lines(marks: Sequence[tuple[float, str]], end: float) -> list[int]:
    """The line of each mark's name, from 0 at the top: the first in which no other name is close before it."""
    free: list[float] = []
    lines = [0] * len(marks)
    for place in sorted(range(len(marks)), key=lambda place: marks[place][0]):
        at, what = marks[place]
        line = next((line for line, until in enumerate(free) if until <= at), len(free))
        free[line : line + 1] = [at + _LETTER_SHARE * (len(what) + 1) * end]
        lines[place] = line
    return lines


def _draw_states(axes: Axes, spells: Sequence[Spell], end: float) -> None:
    for spell in spells:
        colour = COLOURS[STATES.index(spell.state) % len(COLOURS)] if spell.state in STATES else COLOURS[6]
        axes.axvspan(spell.start_s, spell.end_s, color=colour, alpha=0.35, linewidth=0)
        if spell.seconds > _LEAST_SHARE * end:
            name = spell.state.removeprefix("PROBE_")
            axes.text((spell.start_s + spell.end_s) / 2, 0.5, name, ha="center", va="center", fontsize=6)
    axes.set_ylim(0, 1)
    axes.set_ylabel("State", rotation=0, ha="right", va="center")
