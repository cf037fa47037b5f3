"""Case study 1 for 4000 s: the decay of the suggested window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Trace, draw_traces, figure, legend_above, styled

from . import series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from netlull.plot.series import Floats

END_S = 4000.0
WAYS = {"printed": "as printed", "printed-beta": "as printed, beta 1 Mb/s", "working": "working"}
COLOURS = {"printed": 1, "printed-beta": 3, "working": 2}
PACKET_BITS = 8000.0
FROZEN_S = 20 * 65_535 * 8 / 10e6
"""RTT_0 = N_0 swnd_0 / C_0, the value at which the printed estimators freeze."""


def decay(time_s: Floats, rate_bps: Floats, window: Floats, from_s: float) -> Floats:
    """The suggested window from `from_s` on if packets alone change it; NaN before.

    N_k is RTT_0 C_k / swnd_k (equation 5). With e = MTU / (RTT_0 C), an arrival multiplies swnd by 1 - e, and the
    next departure by 1 + e. The product is 1 - e^2: swnd decays at the relative rate MTU / (RTT_0^2 C).
    """
    step = float(np.median(np.diff(time_s)))
    first = int(np.searchsorted(time_s, from_s))
    fall = np.cumsum(PACKET_BITS / (FROZEN_S**2 * rate_bps[first:])) * step
    return np.concatenate((np.full(first, np.nan), window[first] * np.exp(-fall)))


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the service rate and the suggested window over time."""
    caption = (
        "25 homes from 150 s on. (a) Throughput of the G-Router's link, bins of 50 s. (b) Suggested window; dashed: "
        "what packets alone leave of it with equation (5), from 500 s on: each arrival and the departure that follows "
        "it leave 1 - (MTU / (RTT C))² of it. One run."
    )
    yield Drawn("long", "Case study 1 for 4000 s", caption, _drawn(evidence))


def _drawn(evidence: Evidence) -> Figure:
    with styled():
        drawn = figure(height=2.9)
        rates, windows = drawn.subplots(1, 2, sharex=True)
        time, over = series.throughput(evidence.series["over"], series.ROUTER, 50.0)
        through = [Trace("over-provisioned", time, over / 1e6, colour=0, width=1.6)]
        suggested = []
        for way, label in WAYS.items():
            run = evidence.series[way]
            time, rate = series.throughput(run, series.ROUTER, 50.0)
            through.append(Trace(label, time, rate / 1e6, colour=COLOURS[way]))
            time, window = series.suggested(run, "window_bytes")
            suggested.append(Trace(label, time, window / 1e3, colour=COLOURS[way]))
        draw_traces(rates, through, "(a) Throughput", "Rate (Mb/s)", (0, END_S))
        draw_traces(windows, suggested, "(b) Suggested window", "Window (kB)", (0, END_S))
        time, window = series.suggested(evidence.series["printed"], "window_bytes")
        served = np.interp(time, *series.throughput(evidence.series["printed"], series.ROUTER, 50.0))
        left = decay(time, served, window, 500.0) / 1e3
        known = np.isfinite(left)
        windows.plot(time[known], left[known], color="#444444", linestyle=(0, (4, 2)), label="equation (5) alone")
        legend_above(drawn, [rates, windows])
    return drawn


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the mean service rate in intervals of 500 s."""
    grid, spans = evidence.grid, [(200 + 500 * k, min(700 + 500 * k, 4000)) for k in range(8)]
    rows = [
        [label, *(number(grid.interval(Cell.of(way), f"rate_{k}", 1e-6)) for k in range(8))]
        for way, label in WAYS.items()
        if grid.cells(way)
    ]
    yield Tabled("figures", "Mean service rate (Mb/s)", ["Estimators", *(f"{a}-{b} s" for a, b in spans)], rows)
