"""Abilene with Lull on every link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number, percent
from netlull.plot import Curve, Panel, panel_grid

from .measures import ALWAYS, percentile, saving

if TYPE_CHECKING:
    from collections.abc import Iterator


def _cell(control: str, offered: float) -> Cell:
    return Cell.of("abilene", control=control, offered=offered)


def _controls(evidence: Evidence) -> list[str]:
    return [name for name in evidence.grid.labels("abilene", "control") if name != ALWAYS]


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields saving and completion times over the load."""
    grid = evidence.grid
    offered = grid.values("abilene", "offered")
    growth, saved = [], []
    for colour, control in enumerate(_controls(evidence)):
        pairs = [(_cell(control, rate), _cell(ALWAYS, rate)) for rate in offered]
        growth.append(Curve(control, offered, [percentile(evidence, *pair) for pair in pairs], colour))
        saved.append(Curve(control, offered, [grid.interval(pair[0], "saving_fs", 100) for pair in pairs], colour))
    x = "Offered by each pair (Mb/s)"
    panels = [
        Panel("(a) Delay", x, "95th percentile over always on", growth, log_x=False, log_y=True),
        Panel("(b) Energy, FS", x, "Energy saved (%)", saved, log_x=False, y_from=0),
    ]
    caption = "Downloads between 24 pairs of nodes. (a) Mean over pairs of the 95th percentile. (b) Mean over 30 links."
    yield Drawn("abilene", "Abilene, all links controlled", caption, panel_grid(panels))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers."""
    grid = evidence.grid
    models = ("fs", "dvs", "ncs_55a1_24h", "wedge_tofino")
    rows = []
    for control in _controls(evidence):
        for rate in grid.values("abilene", "offered"):
            cell, plain = _cell(control, rate), _cell(ALWAYS, rate)
            rows.append(
                [
                    control,
                    f"{rate:g}",
                    percent(grid.interval(cell, "utilisation")),
                    percent(grid.interval(cell, "fullest")),
                    *(percent(saving(evidence, cell, model)) for model in models),
                    number(percentile(evidence, cell, plain), digits=3),
                ]
            )
    header = ["controller", "each pair (Mb/s)", "mean utilisation", "fullest link", "FS", "DVS"]
    header += ["NCS-55A1-24H", "Wedge (Tofino)", "95th percentile (times)"]
    yield Tabled("figures", "Abilene at 10 Mb/s", header, rows)
