"""The paper's Figs. 2 to 7, an energy figure, and the panels of every other point of Table I."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import COLOURS, Curve, Panel, Trace, draw_traces, figure, legend_above, panel_grid, styled

from . import series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.papers import Recorded
    from netlull.stats import Interval

MRCI_LABEL = "mRCI (ms)"
WINDOW_S = (0.0, 50.0)
"""The time axis in seconds: the paper's text mentions times up to 35 s, so its axes end near 50 s."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields all figures; the paper's figures come first, in order."""
    yield _panels(evidence, "fig2", "Fig. 2. Single TCP source", "single", {}, "One deterministic run for each point.")
    yield _over_time(evidence, 3, "Single TCP source")
    burst = {"bon": 100.0}
    yield _panels(evidence, "fig4", "Fig. 4. Background traffic, bON = 100 ms", "background", burst, _BANDS)
    yield _over_time(evidence, 5, "Background traffic, bON = 100 ms")
    both = {"bn": 50.0}
    title = "Fig. 6. Bottleneck, BN = 50 ms, and background traffic, bON = 100 ms"
    yield _panels(evidence, "fig6", title, "both", both, _BANDS)
    yield _over_time(evidence, 7, "Bottleneck, BN = 50 ms, and background traffic, bON = 100 ms")
    yield energy(evidence)
    yield from _appendix(evidence)


_BANDS = "Means over seeds; bands are 95 % intervals (Student's t)."


def _appendix(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the simulated burst durations and bottleneck intervals that the paper's figures omit."""
    grid = evidence.grid
    for bon in grid.values("background", "bon"):
        if bon != 100:
            title = f"Background traffic, bON = {bon:g} ms"
            yield _panels(evidence, f"background-bon{bon:g}", title, "background", {"bon": bon}, _BANDS, "appendix")
    for bn in grid.values("both", "bn"):
        if bn != 50:
            title = f"Bottleneck, BN = {bn:g} ms, and background traffic, bON = 100 ms"
            yield _panels(evidence, f"both-bn{bn:g}-bon100", title, "both", {"bn": bn}, _BANDS, "appendix")


def _panels(
    evidence: Evidence,
    name: str,
    title: str,
    experiment: str,
    point: dict[str, float],
    note: str,
    section: str = "figures",
) -> Drawn:
    """Draws the paper's four panels over mRCI, with a line for each RTT."""
    caption = (
        "(a) Mean service rate of N1. (b) Reduction of TCP's throughput against TCPonly. (c) Rate changes in 300 s. "
        f"(d) TCP's packets lost; dashed: TCPonly. {note}"
    )
    return Drawn(name, title, caption, four_panels(evidence, experiment, point), section)


WIDTHS = (4.0, 2.0, 1.3, 1.3)
"""The lines' widths by RTT: the curves of 1 and 10 ms coincide in several panels, and both stay visible."""


def four_panels(evidence: Evidence, experiment: str, point: dict[str, float]) -> Figure:
    """Draws panels (a) to (d) of Figs. 2, 4 and 6."""
    grid, plain = evidence.grid, f"{experiment}-tcponly"
    curves: list[list[Curve]] = [[], [], [], []]
    for colour, rtt in enumerate(grid.values(experiment, "rtt")):
        mrci = grid.values(experiment, "mrci")
        cells = [Cell.of(experiment, rtt=rtt, mrci=value, **point) for value in mrci]
        without = Cell.of(plain, rtt=rtt, **point)
        label = f"RTT {rtt:g} ms"
        values = [
            [grid.interval(cell, "mean_rate_bps", 1e-6) for cell in cells],
            [grid.reduction(cell, without, "goodput_bps", 100) for cell in cells],
            [grid.interval(cell, "rate_changes") for cell in cells],
            [grid.interval(cell, "loss", 100) for cell in cells],
        ]
        for panel, y in zip(curves, values, strict=True):
            panel.append(Curve(label, mrci, y, colour, width=WIDTHS[colour]))
        curves[3].append(
            Curve(f"{label}, TCPonly", mrci, [grid.interval(without, "loss", 100)] * len(mrci), colour, dashed=True)
        )
    return panel_grid(
        [
            Panel("(a) Mean service rate", MRCI_LABEL, "Mean service rate (Mb/s)", curves[0], y_from=0, y_to=10.3),
            Panel("(b) Throughput reduction", MRCI_LABEL, "Throughput reduction (%)", curves[1], y_from=0),
            Panel("(c) Rate changes", MRCI_LABEL, "Rate changes in 300 s", curves[2], y_from=0),
            Panel("(d) Packet loss", MRCI_LABEL, "Lost TCP packets (%)", curves[3], y_from=0),
        ]
    )


def _over_time(evidence: Evidence, number: int, title: str) -> Drawn:
    caption = (
        "Service rate of N1, and arrival rate at N1 with (TCP+PC) and without (TCPonly) power control, bins of 0.2 s. "
        "(a) RTT 10, mRCI 10 ms. (b) RTT 100, mRCI 10 ms. (c) RTT 10, mRCI 1000 ms. (d) RTT 100, mRCI 1000 ms. "
        "The first 50 s of one run of 300 s."
    )
    if number == 3:
        caption += " Arrows: the times back to 10 Mb/s that the paper prints, from our first loss after the start."
    return Drawn(f"fig{number}", f"Fig. {number}. {title}: rates over time", caption, time_panels(evidence, number))


def time_panels(evidence: Evidence, number: int) -> Figure:
    """Draws the four panels of Figs. 3, 5 and 7."""
    with styled():
        drawn = figure(height=5.6)
        panels = [axes for row in drawn.subplots(2, 2, sharex=True, sharey=True) for axes in row]
        for axes, letter, (rtt, mrci) in zip(
            panels, "abcd", [(10, 10), (100, 10), (10, 1000), (100, 1000)], strict=True
        ):
            control = evidence.series[f"fig{number}{letter}"]
            plain = evidence.series[f"fig{number}-rtt{rtt}-tcponly"]
            time, rate = series.service(control)
            end = float(control.summary["duration_s"])
            service = Trace(
                "service rate, TCP+PC",
                np.append(time, end),
                np.append(rate, rate[-1]) / 1e6,
                colour=2,
                steps=True,
                width=1.6,
            )
            plain_arrivals = Trace(
                "arrivals, TCPonly", *_megabits(series.arrivals(plain, 0.2)), colour=6, width=WIDE[number]
            )
            arrivals = Trace("arrivals, TCP+PC", *_megabits(series.arrivals(control, 0.2)), colour=0, width=0.7)
            title = f"({letter}) RTT {rtt} ms, mRCI {mrci} ms"
            draw_traces(axes, [plain_arrivals, service, arrivals], title, "Rate (Mb/s)", WINDOW_S)
            if number == 3 and letter == "b":
                _mark_times(axes, plain, control)
            axes.label_outer()
        legend_above(drawn, panels)
    return drawn


WIDE = {3: 2.2, 5: 0.6, 7: 0.6}
"""The width of TCPonly's line by figure. In Fig. 3 it lies below the others, whose values it shares at RTT 10 ms."""
PAPER_S = {"TCPonly": 6.0, "TCP+PC": 14.0}
"""The times back to 10 Mb/s that the paper's text reads off Fig. 3(b), in seconds."""


def _mark_times(axes: Axes, plain: Recorded, control: Recorded) -> None:
    """Draws the paper's times as arrows, each from the first loss after the start of our run, if there is one."""
    for (words, length), run, height, index in zip(PAPER_S.items(), (plain, control), (1.5, 0.6), (6, 0), strict=True):
        later = [time for time in series.losses(run) if time > 10.0]
        if not later:
            continue
        lost, colour = later[0], COLOURS[index]
        axes.annotate("", (lost + length, height), (lost, height), arrowprops={"arrowstyle": "<->", "color": colour})
        told = f"paper: {length:g} s, {words}"
        axes.text(lost - 0.5, height, told, ha="right", va="center", fontsize=6.5, color=colour)


def _megabits(trace: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return trace[0], trace[1] / 1e6


POWER_MODELS = {
    "saving_fs": "ideal FS, P_s = 0",
    "saving_dvs": "ideal DVS, P_s = 0",
    "saving_fs_half_static": "ideal FS, P_s = 0.5",
    "saving_ncs_55a1_24h": "measured: NCS-55A1-24H",
    "saving_wedge_tofino": "measured: Wedge (Tofino)",
}
"""The ideal power models and the measured devices: metric and name."""

ENERGY_CASES: tuple[tuple[str, dict[str, float]], ...] = (
    ("single", {}),
    ("background", {"bon": 100.0}),
    ("both", {"bn": 50.0}),
)


def energy(evidence: Evidence) -> Drawn:
    """Draws the energy saved by N1 under each power model."""
    grid = evidence.grid
    panels = []
    titles = ("(a) Single source", "(b) Background", "(c) Bottleneck and background")
    for title, (experiment, point) in zip(titles, ENERGY_CASES, strict=True):
        mrci = grid.values(experiment, "mrci")
        curves = [
            Curve(name.replace("P_s", "$P_s$"), mrci, _savings(evidence, experiment, point, metric), colour)
            for colour, (metric, name) in enumerate(POWER_MODELS.items())
        ]
        panels.append(Panel(title, MRCI_LABEL, "Energy saved (%)", curves, y_from=0))
    caption = (
        "Energy that N1's link saves relative to its maximum rate at all times, at RTT 100 ms, for ideal scaling "
        "and for a port of a measured device with its share of the box. Today's boxes are far from the ideal."
    )
    return Drawn(
        "energy", "Energy saved at RTT 100 ms", caption, panel_grid(panels, columns=3, row_height=2.7), "energy"
    )


def _savings(evidence: Evidence, experiment: str, point: dict[str, float], metric: str) -> list[Interval]:
    mrci = evidence.grid.values(experiment, "mrci")
    return [evidence.grid.interval(Cell.of(experiment, rtt=100, mrci=value, **point), metric, 100) for value in mrci]


SECTIONS = {"figures": "Figures", "energy": "Energy", "appendix": "Appendix: the other values of Table I"}
"""The report's sections, in order."""


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the energy saved and the loss of TCP throughput."""
    titles = (
        "Single source",
        "Background traffic, bON = 100 ms",
        "Bottleneck, BN = 50 ms, and background, bON = 100 ms",
    )
    header = ["RTT, mRCI", *(f"{name} (%)" for name in POWER_MODELS.values()), "TCP throughput lost (%)"]
    for title, (experiment, point) in zip(titles, ENERGY_CASES, strict=True):
        rows = []
        for rtt in evidence.grid.values(experiment, "rtt"):
            for mrci in (10.0, 100.0, 1000.0):
                cell = Cell.of(experiment, rtt=rtt, mrci=mrci, **point)
                plain = Cell.of(f"{experiment}-tcponly", rtt=rtt, **point)
                saved = [number(evidence.grid.interval(cell, metric, 100)) for metric in POWER_MODELS]
                lost = number(evidence.grid.reduction(cell, plain, "goodput_bps", 100))
                rows.append([f"{rtt:g} ms, {mrci:g} ms", *saved, lost])
        yield Tabled("energy", f"Energy saved by N1's link: {title}", header, rows)
