"""Links with Lull in series, from one to five of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number, percent
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import mean_interval

from .claims import path_growth, path_saving, share_of_one
from .measures import ALWAYS, LULL, percentile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from netlull.stats import Interval


def _chain(control: str, links: float, load: float) -> Cell:
    return Cell.of("chain", control=control, links=links, two_loads=load)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields completion times and savings over the number of links, for each round trip."""
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
    yield budget(evidence)


def budget(evidence: Evidence) -> Drawn:
    """Draws the growth of completion and the saving of each link under CUBIC, for both buffers."""
    grid = evidence.grid
    links = grid.values("cubic", "links_30")
    grown, saved = [], []
    for colour, buffer in enumerate(grid.labels("cubic", "buffer")):
        grown.append(Curve(buffer, links, [path_growth(evidence, count, buffer) for count in links], colour))
        shares = [_percent(path_saving(evidence, count, buffer)) for count in links]
        saved.append(Curve(buffer, links, shares, colour))
    bound = [mean_interval([1.10]) for _ in links]
    grown.append(Curve("the target, 1.10", links, bound, 6, dashed=True, marked=False))
    panels = [
        Panel("completion", "Links in series", "95th percentile over always on", grown, log_x=False),
        Panel("energy", "Links in series", "Energy saved, mean of the links (%)", saved, log_x=False, y_from=0),
    ]
    caption = (
        "Web load 0.4 with Pareto sizes, CUBIC, a round trip of 30 ms that equal links share. FS. Each link has a "
        "buffer of 1 BDP of its delay, at least 10 packets, or of 100 packets."
    )
    return Drawn("budget", "A budget for a path", caption, panel_grid(panels, columns=2))


def _percent(by_seed: Mapping[int, float]) -> Interval:
    return mean_interval([value * 100 for value in by_seed.values()])


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields three links with each law, and one to five links with CUBIC."""
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
    rows = [
        [
            buffer,
            f"{links:g}",
            number(path_growth(evidence, links, buffer, "completion_s"), digits=3),
            number(path_growth(evidence, links, buffer), digits=3),
            number(_percent(path_saving(evidence, links, buffer)), digits=1),
            percent(share_of_one(evidence, links, buffer)),
        ]
        for buffer in grid.labels("cubic", "buffer")
        for links in grid.values("cubic", "links_30")
    ]
    header = ["buffer", "links", "mean (times)", "95th percentile (times)", "FS, mean link (%)", "of one link's"]
    yield Tabled("figures", "Lull with CUBIC on one to five links, load 0.4, round trip 30 ms", header, rows)
