"""The paper's Figs. 2 and 3, the gateway's estimates, and the effects of the decisive readings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, Trace, draw_curves, draw_traces, figure, legend_above, shade, styled

from . import claims, series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.papers import Recorded

END_S = 750.0
TARGET, BUFFER = 50.0, 100.0
"""The queue's target and the buffer, in packets."""
BOTTLENECK = ((0.0, 100.0), (300.0, 15.0), (600.0, 100.0))
"""The Internet node's capacity in case study 2: start time (s) and rate (Mb/s)."""
POOLED_S = 5.0
"""The width of the bins over which the recorded seeds of case study 1 are pooled."""
RATES_TO, DEMAND, SERVICE, CAPACITY, QUEUE, AIM, GREY = 35.0, 0, 1, 2, 3, 5, 6
"""The upper end of the rate axis in Mb/s, and indices into the palette."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields all figures, the paper's first."""
    yield Drawn(
        "fig2",
        "Fig. 2. Case study 1: the demand is the limit",
        "(a, c) Service rate of the G-Router and the sources' over-provisioned throughput (5 s). (b, d) Its queue, the "
        "target of 50 packets and the buffer of 100. Left: estimators as printed, one run, each second. Right: "
        "estimators that measure. They swing within a second, so the line is the median and the band has 80 % of the "
        "values in 5 s (each second, 3 seeds).",
        case1(evidence),
    )
    for name, way in (("fig3", "printed"), ("fig3-working", "working")):
        yield Drawn(
            name,
            f"Fig. 3. Case study 2: the Internet node is a bottleneck from 300 to 600 s; estimators {claims.WAYS[way]}",
            "(a) Service rate of the G-Router (each second), the sources' over-provisioned throughput without the "
            "bottleneck (bins of 5 s), and the Internet node's capacity. (b) The G-Router's queue. (c) The Internet "
            "node's queue, with the G-Router. (d) The same, not controlled. One run.",
            case2(evidence, way),
        )
    yield Drawn(
        "estimates",
        "The G-Router's window and estimates in case study 1",
        "(a) Suggested window. (b) Number of flows. (c) Round-trip time. As printed, RTT is a constant and N follows "
        "C / swnd. One run, each second.",
        estimates(evidence),
        "readings",
    )


def case1(evidence: Evidence) -> Figure:
    """Draws Fig. 2 with both kinds of estimators."""
    over = evidence.series["case1-over"]
    with styled():
        drawn = figure(height=4.6)
        grid = drawn.subplots(2, 2, sharex=True, sharey="row")
        for column, (way, name) in enumerate(claims.WAYS.items()):
            run = evidence.series[f"case1-{way}"]
            rates, queue = grid[0][column], grid[1][column]
            banded = way == "working"
            traces = [_demand(over)] if banded else [_service(run), _demand(over)]
            draw_traces(rates, traces, f"({'ac'[column]}) Rates, {name}", "Rate (Mb/s)", (0, END_S))
            title = f"({'bd'[column]}) G-Router's queue, {name}"
            _queue(queue, None if banded else run, series.ROUTER, title, target=True)
            if banded:
                _bands(evidence, rates, queue)
            rates.set_ylim(0, RATES_TO)
        used = [axes for row in grid for axes in row]
        _finish(drawn, used)
    return drawn


def _bands(evidence: Evidence, rates: Axes, queue: Axes) -> None:
    """Draws the service rate and the queue of all recorded seeds of case study 1: medians and 80 % of the values."""
    runs = [evidence.series[name] for name in evidence.series if name.startswith("case1-working")]
    for axes, label, colour, samples in (
        (rates, "service rate", SERVICE, [(time, rate / 1e6) for time, rate in map(series.service, runs)]),
        (queue, "queue", QUEUE, [series.queue(run, series.ROUTER) for run in runs]),
    ):
        middles, values = series.pooled(samples, POOLED_S)
        curve = Curve(label, middles.tolist(), values, colour, marked=False)
        title, named = axes.get_title(loc="left"), axes.get_ylabel()
        draw_curves(axes, Panel(title, "Time (s)", named, [curve], log_x=False))


def case2(evidence: Evidence, way: str) -> Figure:
    """Draws Fig. 3 with these estimators."""
    run, none = evidence.series[f"case2-{way}"], evidence.series["case2-none"]
    with styled():
        drawn = figure(height=4.8)
        grid = drawn.subplots(2, 2, sharex=True)
        used = [axes for row in grid for axes in row]
        rates, queue, node, plain = used
        capacity = Trace(
            "capacity of the Internet node",
            np.array([at for at, _ in BOTTLENECK] + [END_S]),
            np.array([rate for _, rate in BOTTLENECK] + [BOTTLENECK[-1][1]]),
            colour=CAPACITY,
            steps=True,
            width=1.6,
            dashed=True,
        )
        traces = [_service(run), _demand(evidence.series["case1-over"]), capacity]
        draw_traces(rates, traces, "(a) Rates", "Rate (Mb/s)", (0, END_S))
        rates.set_ylim(0, RATES_TO)
        _queue(queue, run, series.ROUTER, "(b) G-Router's queue", target=True)
        _queue(node, run, series.NODE, "(c) Internet node's queue, G-Router")
        _queue(plain, none, series.NODE, "(d) Internet node's queue, not controlled")
        for axes in used:
            shade(axes, BOTTLENECK[1][0], BOTTLENECK[2][0], "Internet node is the bottleneck")
        _finish(drawn, used)
        queue.set_ylabel("Queue (packets)")  # the panel on its left shows another quantity
        queue.tick_params(labelleft=True)
    return drawn


def _demand(run: Recorded) -> Trace:
    time, rate = series.throughput(run, series.ROUTER)
    return Trace("throughput over-provisioned", time, rate / 1e6, colour=DEMAND, width=1.6)


def _service(run: Recorded) -> Trace:
    time, rate = series.service(run)
    return Trace("service rate", time, rate / 1e6, colour=SERVICE, width=0.8)


def _queue(axes: Axes, run: Recorded | None, link: str, title: str, *, target: bool = False) -> None:
    ends = np.array([0.0, END_S])
    traces = []
    if run is not None:
        time, packets = series.queue(run, link)
        traces.append(Trace("queue", time, packets, colour=QUEUE, width=0.7))
    if target:
        traces.append(Trace("target T", ends, np.full(2, TARGET), colour=AIM, width=1.4, dashed=True))
    traces.append(Trace("buffer", ends, np.full(2, BUFFER), colour=GREY, width=1.0))
    draw_traces(axes, traces, title, "Queue (packets)", (0, END_S))
    axes.set_ylim(0, BUFFER * 1.08)


def _finish(drawn: Figure, used: list[Axes]) -> None:
    for axes in used:
        axes.set_xlabel("Time (s)")
        axes.label_outer(remove_inner_ticks=False)
    legend_above(drawn, used)


def estimates(evidence: Evidence) -> Figure:
    """Draws the suggested window, the number of flows and the round-trip time over time."""
    panels = (
        ("window_bytes", 1e-3, "(a) Suggested window", "Window (kB)"),
        ("flows", 1.0, "(b) Flows", "Flows"),
        ("round_trip_s", 1e3, "(c) Round-trip time", "RTT (ms)"),
    )
    with styled():
        drawn = figure(height=2.6)
        used = list(drawn.subplots(1, 3, sharex=True))
        for axes, (name, scale, title, label) in zip(used, panels, strict=True):
            traces = []
            for colour, (way, words) in enumerate(claims.WAYS.items()):
                time, values = series.suggested(evidence.series[f"case1-{way}"], name)
                traces.append(Trace(words, time, values * scale, colour=(SERVICE, CAPACITY)[colour], width=0.9))
            draw_traces(axes, traces, title, label, (0, END_S))
            axes.set_ylim(bottom=0)
            axes.set_xlabel("Time (s)")
        legend_above(drawn, used)
    return drawn


SECTIONS = {
    "figures": "Figures",
    "readings": "The gateway's estimates",
    "energy": "Energy",
}
"""The report's sections, in order."""

EXPERIMENTS = {
    "case1-over": "1, over-provisioned",
    "case1-printed": "1, as printed",
    "case1-working": "1, working",
    "case2-none": "2, not controlled",
    "case2-printed": "2, as printed",
    "case2-working": "2, working",
}
"""The rows of the table of runs."""


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of the case studies."""
    grid = evidence.grid
    present = [(Cell.of(name), label) for name, label in EXPERIMENTS.items() if grid.cells(name)]
    rows = [
        [
            label,
            number(grid.interval(cell, "goodput_bps", 1e-6), digits=2),
            number(grid.interval(cell, "mean_rate_bps", 1e-6), digits=2),
            number(grid.interval(cell, "utilisation", 100), digits=2),
            number(grid.interval(cell, "queue_packets"), digits=1),
            number(grid.interval(cell, "drops"), digits=0),
            number(grid.interval(cell, "node_drops"), digits=0),
            number(grid.interval(cell, "rate_changes", 1e-3), digits=0),
        ]
        for cell, label in present
    ]
    header = [
        "Case study",
        "goodput (Mb/s)",
        "mean rate (Mb/s)",
        "utilisation (%)",
        "queue (packets)",
        "dropped",
        "dropped at the Internet node",
        "rate changes (thousands)",
    ]
    yield Tabled("figures", "The case studies, 10 to 750 s", header, rows)
    models = {"saving_fs": "ideal FS", "saving_dvs": "ideal DVS", "saving_ncs_55a1_24h": "measured: NCS-55A1-24H"}
    saved = [
        [label, *(number(grid.interval(cell, metric, 100), digits=2) for metric in models)] for cell, label in present
    ]
    yield Tabled(
        "energy",
        "Energy that the access link saves against 100 Mb/s all the time (%)",
        ["Case study", *models.values()],
        saved,
    )
