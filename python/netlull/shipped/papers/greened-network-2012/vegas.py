"""The collapse of Vegas: its window, its segments after the timeout, and another Vegas in the same case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netlull.papers import Cell, Drawn, Evidence
from netlull.plot import COLOURS, Trace, draw_traces, figure, legend_above, styled
from netlull.plot.series import Floats, column

from . import measures, printed, series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RUN, OTHER = "vegas-1", "linux-vegas"
ZOOM_S = (30.0, 32.2)
SPREAD = 3.5
"""The distance to each side of a threshold over which its seeds are spread, in percent."""


def drawings(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the figures of the section."""
    yield Drawn(
        "vegas",
        "Vegas after the switch-off",
        "At 70 %, seed 1. (a) Window of ns-2's Vegas and of Linux's Vegas. (b) ns-2's Vegas: first transmissions "
        "and retransmissions of segments, counted from the first retransmission after the timeout. (c) Time from "
        "each send to the next, which equals the spacing of the acknowledgements that allow it. The dotted line is "
        "the round trip without queues, 58 ms.",
        after_the_switch(evidence),
        "vegas",
    )


def after_the_switch(evidence: Evidence) -> Figure:
    """Draws the window, the segments, and the times between transmissions."""
    run = evidence.series[RUN]
    events = series.of_flow(run, "event")
    with styled():
        drawn = figure(height=5.6)
        grid = drawn.add_gridspec(2, 2)
        window, sent, gaps = drawn.add_subplot(grid[0, :]), drawn.add_subplot(grid[1, 0]), drawn.add_subplot(grid[1, 1])
        traces = [
            Trace("Linux' Vegas", *series.window(evidence.series[OTHER]), colour=2),
            Trace("ns-2's Vegas", *series.window(run), colour=0),
        ]
        draw_traces(window, traces, "(a) Congestion window", "Segments", (0, 60))
        _segments(sent, run_segments(evidence), events)
        _gaps(gaps, run_segments(evidence))
        legend_above(drawn, [window, sent, gaps])
    return drawn


def run_segments(evidence: Evidence) -> pa.Table:
    """The segments that the recorded Vegas flow sends during the collapse of its window."""
    table = series.of_flow(evidence.series[RUN], "segment")
    time = table["time_s"]
    return table.filter(pc.and_(pc.greater_equal(time, ZOOM_S[0]), pc.less(time, ZOOM_S[1])))


def _segments(axes: Axes, sent: pa.Table, events: pa.Table) -> None:
    time, number = column(sent, "time_s"), column(sent, "offset_bytes") / series.SEGMENT_B
    again = np.asarray(sent["retransmission"].to_pylist(), dtype=bool)
    timeouts = events.filter(pc.equal(pc.cast(events["event"], pa.string()), "timeout"))
    first = column(timeouts, "offset_bytes")[0] / series.SEGMENT_B if timeouts.num_rows else number[0]
    for which, label, colour in ((~again, "sent for the first time", 0), (again, "sent again", 1)):
        axes.plot(time[which], number[which] - first, ".", markersize=2.4, color=COLOURS[colour], label=label)
    for place, at in enumerate(column(timeouts, "time_s")):
        axes.axvline(at, color="#777777", linewidth=0.8, linestyle=":", label="timeout" if place == 0 else None)
    axes.set_xlim(*ZOOM_S)
    axes.set_title("(b) Segments", loc="left")
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Segment (from the first sent again)")


def gaps_after(sent: pa.Table) -> tuple[Floats, Floats]:
    """The transmission times of segments, and the time from each to the next, in seconds."""
    instants = np.unique(column(sent, "time_s"))
    return instants[:-1], np.diff(instants)


def _gaps(axes: Axes, sent: pa.Table) -> None:
    time, gap = gaps_after(sent)
    axes.semilogy(time, gap * 1e3, ".", markersize=2.4, color=COLOURS[0])
    axes.axhline(57.9, color="#777777", linewidth=0.8, linestyle=":")
    axes.set_xlim(*ZOOM_S)
    axes.set_ylim(0.05, 1000)
    axes.set_title("(c) Between sends", loc="left")
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Time to the next (ms)")


def lost(evidence: Evidence) -> Figure:
    """Draws Fig. 4 with the loss of every seed."""
    with styled():
        drawn = figure(height=2.7)
        panels = drawn.subplots(1, 2, sharey=True)
        ways = {"(a) ns-2's Vegas": lambda state: measures.asleep("Vegas", state), "(b) Linux' Vegas": _linux}
        for axes, (title, cell_of) in zip(panels, ways.items(), strict=True):
            for threshold, state in printed.LIKE.items():
                values = [100 * value for value in measures.losses(evidence, cell_of(state)).values()]
                spread = np.linspace(-SPREAD, SPREAD, len(values))
                copied = threshold in printed.COPIES
                label = {50: "netlull, a seed", 60: "a copy"}.get(threshold)
                face = "white" if copied else COLOURS[0]
                axes.plot(
                    threshold + spread, values, "o", markersize=3, color=COLOURS[0], markerfacecolor=face, label=label
                )
            paper = [printed.loss_percent("Vegas", state) for state in measures.STATES]
            axes.plot(measures.STATES, paper, "x", markersize=6, markeredgewidth=1.4, color=COLOURS[1], label="paper")
            axes.set_xlim(45, 95)
            axes.set_xticks(list(printed.LIKE), printed.threshold_names(printed.LIKE))
            axes.set_ylim(0, 105)
            axes.set_title(title, loc="left")
            axes.set_xlabel("Connectivity threshold (%)")
            axes.set_ylabel("Throughput lost (%)")
            axes.label_outer()
        legend_above(drawn, list(panels))
    return drawn


def _linux(state: int) -> Cell:
    return Cell.of("linux-vegas", threshold=state)
