"""The picture of a case: rates, data in flight and queue over time, with the states and the acts of the procedure."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from netlull.conformance.trace import STATES, NotExportedError, Spell, Trace
from netlull.plot.series import Trace as Line
from netlull.plot.series import draw_traces
from netlull.plot.style import COLOURS, figure, legend_above, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["case_figure"]

_BINS = 150
_LEAST_SHARE = 0.03
"""The least share of the time that a state needs for its name."""


def case_figure(trace: Trace, title: str, marks: Sequence[tuple[float, str]] = ()) -> Figure:
    """The last run of a case."""
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
        for axes in panels:
            for at, _ in marks:
                axes.axvline(at, color=COLOURS[6], linewidth=0.8, linestyle=":")
            axes.label_outer()
        for at, what in marks:
            if 0 <= at <= end:
                panels[2].annotate(what, (at, 0.98), xycoords=("data", "axes fraction"), va="top", fontsize=7)
        legend_above(drawn, panels[:3])
    return drawn


def _draw_states(axes: Axes, spells: Sequence[Spell], end: float) -> None:
    for spell in spells:
        colour = COLOURS[STATES.index(spell.state) % len(COLOURS)] if spell.state in STATES else COLOURS[6]
        axes.axvspan(spell.start_s, spell.end_s, color=colour, alpha=0.35, linewidth=0)
        if spell.seconds > _LEAST_SHARE * end:
            name = spell.state.removeprefix("PROBE_")
            axes.text((spell.start_s + spell.end_s) / 2, 0.5, name, ha="center", va="center", fontsize=6)
    axes.set_ylim(0, 1)
    axes.set_ylabel("State", rotation=0, ha="right", va="center")
