"""Links with Lull in series, from one to five of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number, percent
from netlull.plot import Curve, Panel, panel_grid

from .measures import ALWAYS, LULL, percentile

if TYPE_CHECKING:
    from collections.abc import Iterator


def _chain(control: str, links: float, load: float) -> Cell:
    return Cell.of("chain", control=control, links=links, two_loads=load)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields completion times and savings over the number of links."""
    grid = evidence.grid
    controls = [name for name in grid.labels("chain", "control") if name != ALWAYS]
    links = grid.values("chain", "links")
    panels = []
    for load in grid.values("chain", "two_loads"):
        growth, saved = [], []
        for colour, control in enumerate(controls):
            pairs = [(_chain(control, count, load), _chain(ALWAYS, count, load)) for count in links]
            growth.append(Curve(control, links, [percentile(evidence, *pair) for pair in pairs], colour))
            saved.append(Curve(control, links, [grid.interval(pair[0], "saving_first", 100) for pair in pairs], colour))
        panels.append(Panel(f"load {load:g}", "Links in series", "95th percentile over always on", growth, log_x=False))
        panels.append(
            Panel(f"load {load:g}", "Links in series", "Energy saved, first link (%)", saved, log_x=False, y_from=0)
        )
    caption = "Downloads with Pareto sizes over equal links; the round trip is 50 ms for any number of links. FS."
    yield Drawn("series", "Controlled links in series", caption, panel_grid(panels, columns=2))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields three links with each law, and the chain."""
    grid = evidence.grid
    rows = []
    for law in grid.labels("three", "law"):
        for load in grid.values("three", "some_load"):
            lull, plain = (Cell.of("three", law=law, some_load=load, pair=name) for name in (LULL, ALWAYS))
            rows.append(
                [
                    law,
                    f"{load:g}",
                    number(percentile(evidence, lull, plain), digits=3),
                    percent(grid.interval(lull, "saving_first")),
                    percent(grid.interval(lull, "saving_third")),
                ]
            )
    header = ["sizes", "load", "95th percentile (times)", "FS, first link", "FS, third link"]
    yield Tabled("figures", "Lull on three links in series", header, rows)
