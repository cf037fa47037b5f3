"""Other links: times of a change, rates, fast links, 1 and 10 Gb/s, and the share of the possible saving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number, percent
from netlull.plot import Curve, Panel, panel_grid

from .claims import bounds, possible
from .measures import ALWAYS, LULL, percentile, saving

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields Lull's saving next to the most that a schedule can save."""
    grid = evidence.grid
    loads = grid.values("possible", "some_load")
    panels = []
    for model in ("fs", "dvs"):
        ours = [grid.interval(_possible(load), f"saving_{model}", 100) for load in loads]
        most = [
            type(value)(known, known, known, 1)
            for value, known in zip(ours, (_bound(load, model) * 100 for load in loads), strict=True)
        ]
        curves = [Curve("Lull", loads, ours, 0), Curve("at most 5 ms late, all arrivals known", loads, most, 6, True)]
        panels.append(Panel(model.upper(), "Offered load", "Energy saved (%)", curves, log_x=False, y_from=0))
    caption = (
        "Pareto sizes, delta 0.1 ms, packets that continue at the new rate. Dashed: no schedule with packets at most "
        "5 ms late saves more (`netlull bound`)."
    )
    yield Drawn("possible", "Lull and the possible", caption, panel_grid(panels))


def _possible(load: float) -> Cell:
    return Cell.of("possible", some_load=load, control=LULL)


def _bound(load: float, model: str) -> float:
    found = [row[model] for (at, _), row in bounds().items() if at == load]
    return sum(found) / len(found)


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields every link."""
    grid = evidence.grid
    rows = []
    for case in grid.labels("cases", "case"):
        for load in grid.values("cases", "two_loads"):
            cell, plain = Cell.of("cases", case=case, two_loads=load), Cell.of("cases-always-on", two_loads=load)
            rows.append([f"10 Mb/s, {case}", f"{load:g}", *_numbers(evidence, cell, plain)])
    for name, axis in (("1-gb", "load_1g"), ("10-gb", "load_10g")):
        for control in grid.labels(name, "forecast"):
            for delta in grid.values(name, "speed_delta"):
                for load in grid.values(name, axis):
                    cell = Cell.of(name, speed_delta=delta, forecast=control, **{axis: load})
                    plain = Cell.of(f"{name}-always-on", **{axis: load})
                    link = f"{name.replace('-gb', ' Gb/s')}, delta {delta:g} ms, {control}"
                    rows.append([link, f"{load:g}", *_numbers(evidence, cell, plain)])
    header = ["link", "load", "FS", "DVS", "95th percentile (times)"]
    yield Tabled("figures", "Lull on other links, Pareto sizes, round trip 50 ms", header, rows)
    header = ["link", "FS", "DVS", "95th percentile (times)", "without forecast: FS", "times"]
    fast = []
    for name in grid.labels("fast", "fast"):
        plain, ours, without = (
            Cell.of("fast", fast=name, fast_control=control) for control in (ALWAYS, LULL, "Lull without forecast")
        )
        numbers = _numbers(evidence, ours, plain)
        plainly = [percent(saving(evidence, without)), number(percentile(evidence, without, plain), digits=3)]
        fast.append([name, *numbers, *plainly])
    yield Tabled("figures", "Fast links under CUBIC, delta 2 ms", header, fast)
    header = ["load", "FS: of the possible", "DVS: of the possible"]
    shares = [
        [f"{load:g}", *(percent(possible(evidence, load, model)) for model in ("fs", "dvs"))]
        for load in grid.values("possible", "some_load")
    ]
    yield Tabled("figures", "Delta 0.1 ms, suspended packets: the share of the clairvoyant saving", header, shares)


def _numbers(evidence: Evidence, cell: Cell, plain: Cell) -> list[str]:
    shares = [percent(saving(evidence, cell, model)) for model in ("fs", "dvs")]
    return [*shares, number(percentile(evidence, cell, plain), digits=3)]
