"""The cliff: one flow over practRA with buffers around the queue that a step to the highest rate needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import COLOURS, Curve, Panel, panel_grid
from netlull.stats import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

SECTION = "figures"
MRCI = (10.0, 50.0, 100.0, 500.0, 1000.0)
NEAR = (99.6, 99.8, 100.0, 100.2, 100.4)
"""The RTTs (ms) that stand for 100 ms: they vary the phase of TCP's cycle."""
MAXIMUM_BPS, DELAY_BOUND_S, TRANSITION_S, PACKET_BITS = 10e6, 0.040, 0.002, 12_000


STEPS_BPS = (8e6, 9e6)
"""The service rates below the two last steps up."""


def step_packets(rate_bps: float) -> float:
    """The queue above which practRA steps up from a rate: d times the rate, in packets."""
    return DELAY_BOUND_S * rate_bps / PACKET_BITS


def edge_packets(rate_bps: float) -> float:
    """The buffer that a step up from a rate fills: the first whole queue above the step's, and the pause's arrivals."""
    return math.floor(step_packets(rate_bps)) + 1 + TRANSITION_S * rate_bps / PACKET_BITS


def lower(evidence: Evidence, rtts: Sequence[float], buffer: float, mrci: float) -> Interval:
    """1 - mean service rate / 10 Mb/s in percent, over these RTTs."""
    cells = [Cell.of("control", rtt=rtt, buffer=buffer, mrci=mrci) for rtt in rtts]
    return mean_interval(
        [100 - evidence.grid.interval(cell, "mean_rate_bps", 100 / MAXIMUM_BPS).mean for cell in cells]
    )


def reduction(evidence: Evidence, rtts: Sequence[float], buffer: float, mrci: float) -> Interval:
    """The reduction of TCP's goodput against TCPonly in percent, over these RTTs."""
    pairs = [
        (Cell.of("control", rtt=rtt, buffer=buffer, mrci=mrci), Cell.of("tcponly", rtt=rtt, buffer=buffer))
        for rtt in rtts
    ]
    return mean_interval([evidence.grid.reduction(cell, plain, "goodput_bps", 100).mean for cell, plain in pairs])


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the figure of the cliff."""
    steps, edges = (
        " and ".join(f"{packets(rate):.1f}" for rate in STEPS_BPS) for packets in (step_packets, edge_packets)
    )
    caption = (
        f"One flow, d = 40 ms. Dotted: {steps} packets, the queues above which practRA leaves 8 and 9 Mb/s. "
        f"Dashed: {edges} packets, the buffers that such a step and its pause fill. (a, b) RTT 100 ms: means over five "
        "RTTs from 99.6 to 100.4 ms with 95 % intervals. (c, d) One run for each point. The paper says 20 to 40 % for "
        "(a), and its BDP is 33.3 packets."
    )
    yield Drawn("cliff", "Mean rate and throughput against the buffer", caption, cliff(evidence), SECTION)


def cliff(evidence: Evidence) -> Figure:
    """Draws rate and throughput against the buffer, with a line for each mRCI."""
    label = "Buffer (waiting packets)"
    drawn = panel_grid(
        [
            Panel(
                "(a) RTT 100 ms: service rate",
                label,
                "Below the maximum (%)",
                _curves(evidence, NEAR, lower),
                log_x=False,
            ),
            Panel(
                "(b) RTT 100 ms: throughput", label, "Reduction (%)", _curves(evidence, NEAR, reduction), log_x=False
            ),
            Panel(
                "(c) RTT 50 ms: service rate",
                label,
                "Below the maximum (%)",
                _curves(evidence, (50.0,), lower),
                log_x=False,
            ),
            Panel(
                "(d) RTT 10 ms: service rate",
                label,
                "Below the maximum (%)",
                _curves(evidence, (10.0,), lower),
                log_x=False,
            ),
        ]
    )
    for axes in drawn.axes:
        axes.set_xticks([24, 28, 32, 36, 40, 44, 48], minor=False)
        for rate in STEPS_BPS:
            for at, style in ((step_packets(rate), ":"), (edge_packets(rate), "--")):
                axes.axvline(at, color="0.5", linestyle=style, linewidth=0.9, zorder=0)
    return drawn


def _curves(
    evidence: Evidence,
    rtts: Sequence[float],
    quantity: Callable[[Evidence, Sequence[float], float, float], Interval],
) -> list[Curve]:
    buffers = evidence.grid.values("control", "buffer")
    return [
        Curve(f"mRCI {mrci:g} ms", buffers, [quantity(evidence, rtts, buffer, mrci) for buffer in buffers], colour)
        for colour, mrci in enumerate(MRCI[: len(COLOURS)])
    ]


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the mean rate and the reduction at RTT 100 ms for each buffer."""
    header = ["buffer (packets)", *(f"mRCI {mrci:g} ms" for mrci in MRCI), "mean"]
    quantities: Mapping[str, Callable[[Evidence, Sequence[float], float, float], Interval]] = {
        "Mean service rate below 10 Mb/s (%)": lower,
        "Reduction of TCP's throughput (%)": reduction,
    }
    for title, quantity in quantities.items():
        rows = []
        for buffer in evidence.grid.values("control", "buffer"):
            values = [quantity(evidence, NEAR, buffer, mrci) for mrci in MRCI]
            mean = sum(value.mean for value in values) / len(values)
            rows.append([f"{buffer:g}", *(number(value) for value in values), f"{mean:.1f}"])
        yield Tabled(SECTION, f"{title}, RTT 99.6 to 100.4 ms", header, rows)
    title = "Mean service rate below 10 Mb/s (%), rules tested once per mRCI"
    rows = [
        [f"{edge:g}", *(number(value) for value in values), f"{sum(value.mean for value in values) / len(values):.1f}"]
        for edge in evidence.grid.values("clocked", "edge")
        for values in [[clocked(evidence, edge, mrci) for mrci in MRCI]]
    ]
    yield Tabled(SECTION, f"{title}, RTT 99.6 to 100.4 ms", header, rows)


def clocked(evidence: Evidence, edge: float, mrci: float) -> Interval:
    """1 - mean service rate / 10 Mb/s in percent over the RTTs near 100 ms, with rules tested once per mRCI."""
    cells = [Cell.of("clocked", phase=rtt, edge=edge, clock=mrci) for rtt in NEAR]
    rates = [evidence.grid.interval(cell, "mean_rate_bps", 100 / MAXIMUM_BPS).mean for cell in cells]
    return mean_interval([100 - rate for rate in rates])
