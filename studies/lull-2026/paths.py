"""Round trips of 1 to 200 ms that share the link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number, percent
from netlull.plot import Curve, Panel, panel_grid

from .measures import ALWAYS, percentile, saving

if TYPE_CHECKING:
    from collections.abc import Iterator

RTTS = {"p95_1_s": 1.0, "p95_2_s": 20.0, "p95_3_s": 50.0, "p95_4_s": 100.0, "p95_5_s": 200.0}
"""The round trip of each group's metric, in ms."""


def _controls(evidence: Evidence) -> list[str]:
    return [name for name in evidence.grid.labels("web", "control") if name != ALWAYS]


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields completion times over the round trip, a panel for each load."""
    grid = evidence.grid
    panels = []
    for load in grid.values("web", "load"):
        plain = Cell.of("web", load=load, control=ALWAYS)
        curves = [
            Curve(
                control,
                list(RTTS.values()),
                [percentile(evidence, Cell.of("web", load=load, control=control), plain, name) for name in RTTS],
                colour,
            )
            for colour, control in enumerate(_controls(evidence))
        ]
        panels.append(Panel(f"load {load:g}", "Round trip (ms)", "95th percentile over always on", curves, log_y=True))
    caption = "Downloads of five groups with a fifth of the load each, Pareto sizes, a buffer of 42 packets."
    yield Drawn("paths", "Mixed round trips", caption, panel_grid(panels, columns=3))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields downloads by round trip, and transfers."""
    grid = evidence.grid
    header = ["controller", "load", "FS", *(f"{rtt:g} ms" for rtt in RTTS.values())]
    rows = []
    for control in _controls(evidence):
        for load in grid.values("web", "load"):
            cell, plain = (Cell.of("web", load=load, control=name) for name in (control, ALWAYS))
            times = [number(percentile(evidence, cell, plain, name), digits=2) for name in RTTS]
            rows.append([control, f"{load:g}", percent(saving(evidence, cell)), *times])
    yield Tabled("figures", "95th percentile of completion over always on's, by round trip", header, rows)
    rows = []
    for control in _controls(evidence):
        for each in grid.values("bulk", "each"):
            cell, plain = (Cell.of("bulk", each=each, control=name) for name in (control, ALWAYS))
            fair = [number(grid.interval(at, "fairness"), digits=2) for at in (cell, plain)]
            rows.append([control, f"{5 * each:g}", percent(grid.reduction(cell, plain, "goodput_bps")), *fair])
    header = ["controller", "transfers", "goodput lost", "fairness of the transfers (Jain)", "always on: fairness"]
    yield Tabled("figures", "Transfers of five round trips", header, rows)
