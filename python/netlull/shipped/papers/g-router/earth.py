"""EARTH, the authors' earlier mechanism, in the case studies: alone and with AWM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, Trace, draw_traces, figure, legend_above, panel_grid, styled
from netlull.stats import mean_interval

from . import claims, series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

ROWS = {
    "earth": "EARTH alone",
    "awm-earth-printed": "AWM and EARTH, N as printed",
    "awm-earth-working": "AWM and EARTH, N counted",
    "printed": "AWM and C-EARTH, as printed",
    "working": "AWM and C-EARTH, working",
}
"""The mechanisms, by the names of their experiments."""
_BANDS = "Means over seeds; bands are 95 % intervals (Student's t)."


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields rates and queues over time, and the effects of EARTH's thresholds and intervals."""
    yield Drawn(
        "earth",
        "EARTH in case study 1",
        "(a, c) Service rate (each second) and the sources' over-provisioned throughput (5 s). (b, d) The queue, AWM's "
        "target and the buffer. Left: EARTH alone. Right: with AWM, N counted. One run.",
        _over_time(evidence),
    )
    if evidence.grid.cells("threshold-earth"):
        yield Drawn(
            "thresholds",
            "EARTH's threshold and interval",
            "Case study 1. (a, b) Goodput against over-provisioned and losses over the queue at which the rate rises. "
            f"(c) Goodput over the shortest time between two changes. {_BANDS}",
            _assumptions(evidence),
        )


def _over_time(evidence: Evidence) -> Figure:
    time, demand = series.throughput(evidence.series["over"], series.ROUTER)
    with styled():
        drawn = figure(height=4.6)
        grid = drawn.subplots(2, 2, sharex=True, sharey="row")
        for column, (name, title) in enumerate((("earth", "EARTH alone"), ("awm-earth", "AWM and EARTH"))):
            at, rate = series.service(evidence.series[name])
            traces = [
                Trace("service rate", at, rate / 1e6, colour=1, width=0.8),
                Trace("throughput over-provisioned", time, demand / 1e6, colour=0, width=1.6),
            ]
            draw_traces(grid[0][column], traces, f"({'ac'[column]}) Rates, {title}", "Rate (Mb/s)", (0, claims.END_S))
            grid[0][column].set_ylim(0, 35)
            at, packets = series.queue(evidence.series[name], series.ROUTER)
            ends = np.array([0.0, claims.END_S])
            queue = [
                Trace("queue", at, packets, colour=3, width=0.7),
                Trace("target T", ends, np.full(2, 50.0), colour=5, width=1.4, dashed=True),
                Trace("buffer", ends, np.full(2, 100.0), colour=6, width=1.0),
            ]
            draw_traces(
                grid[1][column], queue, f"({'bd'[column]}) Queue, {title}", "Queue (packets)", (0, claims.END_S)
            )
        used = [axes for row in grid for axes in row]
        for axes in used:
            axes.set_xlabel("Time (s)")
            axes.label_outer(remove_inner_ticks=False)
        legend_above(drawn, used)
    return drawn


def _assumptions(evidence: Evidence) -> Figure:
    grid = evidence.grid

    def curves(axis: str, metric: str) -> list[Curve]:
        found = []
        for colour, (kind, label) in enumerate((("earth", "EARTH alone"), ("awm-earth", "AWM and EARTH, N counted"))):
            experiment = f"{axis}-{kind}"
            values = grid.values(experiment, axis)
            cells = [Cell.of(experiment, **{axis: value}) for value in values]
            if metric == "kept":
                y = [grid.ratio(cell, claims.OVER, "goodput_bps", 100) for cell in cells]
            else:
                y = [grid.interval(cell, metric, 100) for cell in cells]
            found.append(Curve(label, values, y, colour + 1))
        return found

    queue = "Queue at which the rate rises (packets)"
    return panel_grid(
        [
            Panel("(a) Goodput", queue, "Of over-provisioned (%)", curves("threshold", "kept"), log_x=False),
            Panel(
                "(b) Losses", queue, "Dropped packets (%)", curves("threshold", "drop_fraction"), log_x=False, y_from=0
            ),
            Panel("(c) Goodput", "Interval (ms)", "Of over-provisioned (%)", curves("interval", "kept"), log_x=True),
        ],
        columns=3,
        row_height=2.6,
    )


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of the case studies."""
    grid, rows = evidence.grid, []
    for name, label in ROWS.items():
        one, two = Cell.of(f"case1-{name}"), Cell.of(f"case2-{name}")
        errors = mean_interval([100 * error for error in claims.error_of(evidence, one).values()])
        rows.append(
            [
                label,
                number(grid.ratio(one, claims.OVER, "goodput_bps", 100), digits=2),
                number(errors, digits=2),
                number(grid.interval(one, "utilisation", 100), digits=2),
                number(grid.interval(one, "mean_rate_bps", 1e-6), digits=2),
                number(grid.interval(one, "queue_packets"), digits=1),
                number(grid.interval(one, "drop_fraction", 100), digits=3),
                number(grid.interval(one, "rate_changes", 1e-3), digits=1),
                number(grid.reduction(two, claims.NONE, "node_drops", 100)),
                number(claims.fewer_in_total(evidence, name).scaled(100)),
            ]
        )
    header = [
        "Mechanism",
        "1: goodput of over-provisioned (%)",
        "1: rate off the demand (%)",
        "1: utilisation (%)",
        "1: mean rate (Mb/s)",
        "1: queue (packets)",
        "1: dropped (%)",
        "1: rate changes (thousands)",
        "2: fewer lost at the Internet node (%)",
        "2: fewer lost in all (%)",
    ]
    yield Tabled("figures", "EARTH and C-EARTH in the case studies", header, rows)
