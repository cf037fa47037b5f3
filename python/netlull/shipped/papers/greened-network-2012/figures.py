"""The paper's Figs. 1 to 4 and Tables IV and V, energy under other models, and the collapse of Vegas."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Drawn, Evidence, Tabled, number
from netlull.plot import COLOURS, Curve, Panel, Trace, draw_traces, figure, legend_above, panel_grid, shade, styled
from netlull.stats import Interval
from netlull.topology import sleep_plan

from . import claims, measures, network, printed, series, vegas, windows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLANNED = (50, 60, 70, 80, 90)
LIKE = {50: 50, 60: 70, 70: 70, 80: 70, 90: 90}
"""For each threshold, the simulated state in which the rule's links sleep."""
POWER_MODELS = {
    "cards_j": "line cards",
    "ideal_j": "ideal: power follows the rate",
    "nexus_j": "measured: Nexus 9336-FX2",
    "cisco8201_j": "measured: 8201-32FH",
    "ncs_j": "measured: NCS-55A1-24H",
}
"""The power models: the metric of their energy, and their name."""
THRESHOLD = "Connectivity threshold (%)"
END_S, WINDOW_TO = 60.0, 260.0
"""Upper ends of the axes of Fig. 2, in seconds and segments."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields all figures; the paper's figures come first, in order."""
    yield from network.drawings(evidence)
    yield Drawn(
        "fig2",
        "Fig. 2. Congestion windows at 70 %",
        "HIGH energy until 30 s, then LOW energy (shaded), with three links asleep. Seed 1, bins of 10 ms. Spikes "
        "above the saw-teeth of Reno, NewReno and Vegas are fast recovery, which adds a segment for each "
        "duplicate. Axes end at 260 segments.",
        window_panels(evidence),
    )
    yield Drawn(
        "fig3",
        "Fig. 3. Throughput lost",
        "Loss of throughput against the 30 s before: ours (means over seeds; bands are 95 % intervals) and the "
        "paper's (dashed; from its Table IV, which has 50, 70 and 90 %). The links asleep are those of Table V, so "
        "60 % is a copy of 70 %, and 80 % of 90 % (white dots). ESTOP's rule would make 80 % a copy of 70 %.",
        throughput_lost(evidence),
    )
    yield Drawn(
        "fig4",
        "Fig. 4. Throughput lost by Vegas",
        "Every seed, next to its threshold, and the paper's value (orange; from Table IV). The links asleep are those "
        "of Table V, so 60 % is a copy of 70 %, and 80 % of 90 % (hollow).",
        vegas.lost(evidence),
    )
    yield Drawn(
        "table4",
        "Table IV, seed by seed",
        "Throughput of every seed (dots; with headers), the same case in ns-2.35 (bars: mean, least and most of 10 "
        "seeds) and the paper's cell (crosses). Awake: from 30 to 60 s without ESTOP, the proper reference for the "
        "loss.",
        cells(evidence),
    )
    yield from vegas.drawings(evidence)
    yield Drawn(
        "energy",
        "Energy saved, and its cost for TCP",
        "(a) Energy that the network's links save from 30 to 60 s under five power models, with CUBIC, against the "
        "same seeds with all links awake; below zero the plan adds energy. (b) Throughput that TCP loses in that time, "
        "without Vegas. Bands are 95 % intervals over seeds.",
        energy(evidence),
        "energy",
    )


def window_panels(evidence: Evidence) -> Figure:
    """Draws Fig. 2, with a panel for each version."""
    with styled():
        drawn = figure(height=5.0)
        panels = [axes for row in drawn.subplots(3, 2, sharex=True, sharey=True) for axes in row]
        for axes, letter, version in zip(panels, "abcdef", measures.VERSIONS, strict=True):
            time, cwnd = series.window(windows.windows_of(evidence, version)[1])
            trace = Trace("congestion window", time, cwnd, colour=0, width=0.7)
            draw_traces(axes, [trace], f"({letter}) {version}", "Segments", (0, END_S))
        for axes in panels:
            axes.set_ylim(0, WINDOW_TO)
            shade(axes, series.SWITCH_S, END_S, "LOW energy: three links asleep")
            axes.label_outer()
        legend_above(drawn, panels)
    return drawn


def throughput_lost(evidence: Evidence) -> Figure:
    """Draws Fig. 3: measured losses of throughput and the paper's."""
    panels = []
    for title, versions in (
        ("(a) Tahoe, Reno and NewReno", measures.AIMD),
        ("(b) BIC and CUBIC", measures.LINUX),
    ):
        curves = []
        for version in versions:
            colour = measures.VERSIONS.index(version)
            ours = [measures.loss(evidence, version, printed.LIKE[threshold], 100) for threshold in PLANNED]
            curves.append(Curve(version, PLANNED, ours, colour))
            paper = [_exactly(printed.loss_percent(version, state)) for state in measures.STATES]
            curves.append(Curve(f"{version}, paper", measures.STATES, paper, colour, dashed=True))
        panels.append(Panel(title, THRESHOLD, "Throughput lost (%)", curves, log_x=False, y_from=0, y_to=45))
    drawn = panel_grid(panels)
    for axes, panel in zip(drawn.axes, panels, strict=True):
        copies = [
            (threshold, curve.y[place].mean)
            for curve in panel.curves
            for place, threshold in enumerate(curve.x)
            if not curve.dashed and threshold in printed.COPIES
        ]
        axes.plot(*zip(*copies, strict=True), "o", markersize=1.8, color="white", zorder=5)
        axes.set_xticks(PLANNED, printed.threshold_names(PLANNED))
    return drawn


def _exactly(value: float) -> Interval:
    return Interval(value, value, value, 1)


def cells(evidence: Evidence) -> Figure:
    """Draws Table IV with the spread over seeds."""
    states: tuple[printed.State, ...] = ("before", *measures.STATES)
    with styled():
        drawn = figure(height=4.6)
        panels = [axes for row in drawn.subplots(2, 3, sharex=True) for axes in row]
        for axes, version in zip(panels, measures.VERSIONS, strict=True):
            for place, state in enumerate(states):
                _ns2(axes, place, printed.NS2[version][state])
                dots(axes, place, seeds_of(evidence, version, state), "netlull, a seed")
                _cross(axes, place, printed.TABLE_IV[version][state])
            awake = [
                value * printed.WIRE_MBPS
                for value in evidence.grid.samples(measures.awake(version), "after_bps").values()
            ]
            dots(axes, len(states), awake, "netlull, a seed")
            axes.set_title(version, loc="left")
            axes.set_ylabel("Throughput (Mb/s)")
            axes.set_ylim(0, 31)
            axes.set_xticks(range(len(states) + 1), ["before", *(f"{state} %" for state in measures.STATES), "awake"])
            axes.tick_params(axis="x", labelsize=6.5)
            axes.label_outer()
        legend_above(drawn, panels)
    return drawn


def seeds_of(evidence: Evidence, version: str, state: str | int) -> list[float]:
    """A cell of Table IV in Mb/s, by seed."""
    cell = measures.asleep(version, measures.STATES[0] if isinstance(state, str) else state)
    metric = "before_bps" if isinstance(state, str) else "after_bps"
    return [value * printed.WIRE_MBPS for value in evidence.grid.samples(cell, metric).values()]


def dots(axes: Axes, place: float, values: Sequence[float], label: str, colour: int = 0) -> None:
    """Draws a dot for each seed, side by side."""
    spread = np.linspace(-0.16, 0.16, len(values)) if len(values) > 1 else [0.0]
    axes.plot([place + offset for offset in spread], values, "o", markersize=2.6, color=COLOURS[colour], label=label)


def _ns2(axes: Axes, place: float, found: tuple[float, float, float]) -> None:
    mean, least, most = found
    axes.errorbar(
        [place + 0.3],
        [mean],
        yerr=[[mean - least], [most - mean]],
        fmt="s",
        markersize=2.6,
        linewidth=0.9,
        color="#777777",
        label="ns-2.35: mean, least, most",
    )


def _cross(axes: Axes, place: float, value: float) -> None:
    axes.plot([place], [value], "x", markersize=5, markeredgewidth=1.3, color=COLOURS[1], zorder=5, label="paper")


def saved_by(evidence: Evidence, threshold: int, metric: str, version: str = "CUBIC") -> Interval:
    """The energy in percent that a plan saves with a version's traffic, against the same seeds with all links awake."""
    asleep, awake = measures.asleep(version, LIKE[threshold]), measures.awake(version)
    return evidence.grid.reduction(asleep, awake, metric, 100)


def energy(evidence: Evidence) -> Figure:
    """Draws the energy saved under each power model next to the loss of throughput."""
    saved = [
        Curve(
            name,
            PLANNED,
            [saved_by(evidence, threshold, metric) for threshold in PLANNED],
            colour,
            dashed=metric == "ideal_j",
        )
        for colour, (metric, name) in enumerate(POWER_MODELS.items())
    ]
    lost = [
        Curve(
            version, PLANNED, [measures.loss(evidence, version, LIKE[threshold], 100) for threshold in PLANNED], colour
        )
        for colour, version in enumerate(measures.LOSS_BASED)
    ]
    return panel_grid(
        [
            Panel("(a) Energy saved", THRESHOLD, "Energy saved (%)", saved, log_x=False, y_from=-5),
            Panel("(b) Throughput lost", THRESHOLD, "Throughput lost (%)", lost, log_x=False, y_from=0),
        ]
    )


SECTIONS = {"figures": "Figures and tables", "vegas": "Why Vegas collapses", "energy": "Energy"}
"""The report's sections, in order."""


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields Tables IV and V with measured values and the paper's."""
    yield _table_iv(evidence)
    yield _table_v(evidence)
    yield _energy_table(evidence)


def _table_iv(evidence: Evidence) -> Tabled:
    rows = []
    for version, paper in printed.TABLE_IV.items():
        row = [version]
        for state, value in paper.items():
            found = measures.throughput(evidence, version, state)
            ns2 = printed.NS2[version][state][0]
            row += [
                f"{value:g}",
                f"{found.mean:.2f} ({found.mean / value - 1:+.0%})",
                f"{ns2:.2f} ({ns2 / value - 1:+.0%})",
            ]
        rows.append(row)
    names = ("before", *(f"{state} %" for state in measures.STATES))
    header = ["Mb/s", *(f"{name}, {whose}" for name in names for whose in ("paper", "ours", "ns-2.35"))]
    return Tabled("figures", "Table IV: throughput before and after, and the distance from the paper's", header, rows)


def _table_v(evidence: Evidence) -> Tabled:
    rows = []
    whole = network.topology(evidence)
    for threshold in PLANNED:
        found = ", ".join(printed.off(evidence, threshold))
        paper = ", ".join(printed.TABLE_V[threshold])
        plan = sleep_plan(whole, "estop", threshold=threshold / 100)
        left = f"{plan.steps[-1].connectivity / plan.initial_connectivity:.3f}"
        saved = f"{100 * claims.cards_saved(evidence, threshold):.1f}"
        watts = f"{claims.watts(evidence, threshold):,.0f}"
        rows.append([f"{threshold} %", paper, found, left, f"{printed.ENERGY_PERCENT[threshold]:g}", saved, watts])
    header = [
        *("threshold", "asleep, paper", "asleep, ours", "connectivity left"),
        *("energy saved, paper (%)", "ours (%)", "ours (W, one end)"),
    ]
    return Tabled("figures", "Table V: links that sleep, in order, and the energy of their line cards", header, rows)


def _energy_table(evidence: Evidence) -> Tabled:
    rows = []
    for version in ("CUBIC", "Vegas"):
        for threshold in PLANNED:
            saved = [number(saved_by(evidence, threshold, metric, version), digits=2) for metric in POWER_MODELS]
            rows.append([version, f"{threshold} %", *saved])
    return Tabled(
        "energy",
        "Energy saved from 30 to 60 s, against the same seeds with all links awake",
        ["version", "threshold", *(f"{name} (%)" for name in POWER_MODELS.values())],
        rows,
    )
