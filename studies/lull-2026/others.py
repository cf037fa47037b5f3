"""EARTH, C-EARTH, the G-Router, practRA and Lull without its forecast, under the same web load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number, percent

from .drawing import Priced, fronts
from .measures import ALWAYS, percentile, saving

if TYPE_CHECKING:
    from collections.abc import Iterator


def _cell(control: str, load: float) -> Cell:
    return Cell.of("web", other=control, load=load)


def _controls(evidence: Evidence) -> list[str]:
    return [name for name in evidence.grid.labels("web", "other") if name != ALWAYS]


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields energy saved against completion times for all controllers."""
    loads = evidence.grid.values("web", "load")
    lines = {
        control: [
            Priced(
                f"{load:g}",
                evidence.grid.interval(_cell(control, load), "saving_fs", 100),
                percentile(evidence, _cell(control, load), _cell(ALWAYS, load)),
            )
            for load in loads
        ]
        for control in _controls(evidence)
    }
    caption = "As the front of the main sweep, Pareto sizes: the controllers of the other papers next to Lull."
    yield Drawn("others", "The other papers' controllers", caption, fronts({"Pareto sizes, RTT 50 ms": lines}))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields saving and completion times of each controller and load."""
    header = ["controller", "load", "FS", "DVS", "95th percentile (times)", "mean (times)"]
    rows = []
    for control in _controls(evidence):
        for load in evidence.grid.values("web", "load"):
            cell, reference = _cell(control, load), _cell(ALWAYS, load)
            rows.append(
                [
                    control,
                    f"{load:g}",
                    percent(saving(evidence, cell)),
                    percent(saving(evidence, cell, "dvs")),
                    number(percentile(evidence, cell, reference), digits=2),
                    number(percentile(evidence, cell, reference, "completion_s"), digits=2),
                ]
            )
    yield Tabled("figures", "Pareto sizes, round trip 50 ms", header, rows)
