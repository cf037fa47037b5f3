"""Why Vegas collapses: its window, its segments after the timeout, and another Vegas in the same case."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netlull.papers import Cell, Drawn, Evidence
from netlull.plot import COLOURS, Trace, draw_traces, figure, legend_above, styled
from netlull.plot.series import Floats, column

from . import claims, printed, series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RUN, OTHER = "vegas-1", "linux-vegas"
ZOOM_S = (30.0, 32.2)
SPREAD = 3.5
"""Seeds of a threshold are drawn so far to its sides, in percent."""

NOTE = (
    "At the switch-off Vegas has 172 segments on their way, and dozens of them are lost in 50 ms. One is repaired "
    "by a fast retransmission; for the others it waits for its timeout, half a second later, and then sends "
    "everything again from there on, two segments for each round trip (go-back-N), most of which the receiver "
    "already has. So acknowledgements jump: each tells of more than what was sent since the timeout.",
    "ns-2's Vegas measures a round trip by the first acknowledgement that reaches the segment at which it began. "
    "After a jump the next segment to send is behind what is acknowledged, so that every acknowledgement ends a "
    "“round trip”, and some last as long as two acknowledgements are apart: 0.2 to 2 ms instead of 58. Where "
    "nothing in it was sent just once, that time is all there is to measure, and it is the smallest ever seen: it "
    "becomes baseRTT, and stays of that size. ns-2 does not show this variable; the rule, applied to its trace of "
    "the same case line by line, gives 0.231 ms at a true round trip of 47.3 ms (90 %, seed 1).",
    "From then on Diff = W (1 - baseRTT / RTT) is nearly the window W itself, and is to be between alpha = 1 and "
    "beta = 3: three segments for each round trip, whatever the network could carry, 3 x 1040 B / 58 ms = 0.43 "
    "Mb/s. A check: with alpha 8, beta 10 the window settles at 8.3 segments, with 18 and 20 at 18.0 (70 %; "
    "switched off at 8 s; seed 1): alpha, as with a baseRTT of nothing. With that of the old path it would be 44 "
    "and 98. Eight of our ten seeds at 50 %, nine at 70 % and six at 90 % have a baseRTT of 0.2 to 1 ms.",
    "In the others it stays 47 ms. At 90 % that is right, and Vegas recovers. At 50 and 70 % it is that of the old "
    "path, and holds Vegas as well: W (1 - 47.3 / 58.0), rounded, is between alpha and beta for every W from 3 to "
    "18, so that a window that grows again after the timeout stops where slow start ends: at 3 segments in two "
    "seeds at 50 %, at 7 in one at 70 % (in ns-2 10, in one seed each). Here “the delay estimated by Vegas is not "
    "coherent with the actual one”, as the paper says. Waking the links tells the two apart: woken at 40 s, these "
    "three have as much as before from 55 s on, all others at 50 and 70 % still hold two or three segments. With "
    "the studies' datagrams of 1000 B fewer segments are lost, and this is the usual way. From above, without a "
    "timeout, the same baseRTT leaves more: with alpha 5, beta 7 the window is 25 at 70 % (switched off at 8 s, "
    "seed 1), 25.2 (1 - 47.3 / 57.9) = 4.6, which rounds to alpha.",
    "A timeout alone does not decide: at 90 %, where the flow's own links stay up, all ten seeds have one, ns-2's "
    "too. What decides is whether a jump becomes baseRTT, a matter of phases: the paper shows 19.02 Mb/s there; "
    "four of our ten seeds and one of ns-2's are at 14 to 18, the others at 0.4 to 0.7. Linux' Vegas, which has "
    "SACK and takes a round trip's least sample, has 12.4 Mb/s at 50 and 70 % and 19 at 90 %.",
)


def drawings(evidence: Evidence) -> Iterator[Drawn]:
    """The section's figures."""
    yield Drawn(
        "vegas",
        "Vegas after the switch-off",
        "At 70 %, seed 1. (a) Window of ns-2's Vegas and of Linux' Vegas. (b) ns-2's Vegas: segments sent for the "
        "first time and again, counted from the first that is sent again after the timeout. (c) Time from each "
        "instant at which it sends to the next, which is that between the acknowledgements that let it; the dotted "
        "line is the round trip without queues, 58 ms.",
        after_the_switch(evidence),
        "vegas",
    )


def after_the_switch(evidence: Evidence) -> Figure:
    """Window, segments, and times between sends."""
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
    """The segments that the recorded Vegas sends while its window collapses."""
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
    """Instants at which segments are sent, and seconds from each to the next."""
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
    """Fig. 4: the loss of every seed."""
    with styled():
        drawn = figure(height=2.7)
        panels = drawn.subplots(1, 2, sharey=True)
        ways = {"(a) ns-2's Vegas": lambda state: claims.asleep("Vegas", state), "(b) Linux' Vegas": _linux}
        for axes, (title, cell_of) in zip(panels, ways.items(), strict=True):
            for place, state in enumerate(claims.STATES):
                values = [100 * value for value in claims.losses(evidence, cell_of(state))]
                spread = np.linspace(-SPREAD, SPREAD, len(values))
                label = "netlull, a seed" if place == 0 else None
                axes.plot(state + spread, values, "o", markersize=3, color=COLOURS[0], label=label)
            paper = [printed.loss_percent("Vegas", state) for state in claims.STATES]
            axes.plot(claims.STATES, paper, "x", markersize=6, markeredgewidth=1.4, color=COLOURS[1], label="paper")
            axes.set_xlim(42, 98)
            axes.set_xticks(claims.STATES)
            axes.set_ylim(0, 105)
            axes.set_title(title, loc="left")
            axes.set_xlabel("Connectivity threshold (%)")
            axes.set_ylabel("Throughput lost (%)")
            axes.label_outer()
        legend_above(drawn, list(panels))
    return drawn


def _linux(state: int) -> Cell:
    return Cell.of("linux-vegas", threshold=state)
