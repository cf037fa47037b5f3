"""Lull without its forecast, and with other values of each constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number, percent

from .drawing import Priced, fronts
from .measures import ALWAYS, percentile, saving

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = ("Lull", "no forecast", "slowdown 0.02", "slowdown 0.1", "slowdown 0.2", "lateness 2 delta", "headroom 0.3")
"""The variants of the figure; the table has all."""


def _web(variant: str, load: float) -> Cell:
    return Cell.of("web", variant=variant, some_load=load)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the fronts of the knob and of the constants that matter."""
    lines = {
        variant: [
            Priced(
                f"{load:g}",
                evidence.grid.interval(_web(variant, load), "saving_fs", 100),
                percentile(evidence, _web(variant, load), _web(ALWAYS, load)),
            )
            for load in evidence.grid.values("web", "some_load")
        ]
        for variant in SHOWN
    }
    caption = "As the front of the main sweep, Pareto sizes: Lull without a rule or with another constant."
    yield Drawn("ablation", "Rules and constants", caption, fronts({"Pareto sizes, RTT 50 ms": lines}))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields every variant: saving and completion times at each load, and goodput lost."""
    grid = evidence.grid
    loads = grid.values("web", "some_load")
    header = ["variant", *(f"FS, {load:g}" for load in loads), *(f"p95, {load:g}" for load in loads)]
    header += ["lost: 1 transfer, bursts", "lost: 4 transfers, bursts", "lost: bulk"]
    rows = []
    for variant in grid.labels("web", "variant"):
        if variant == ALWAYS:
            continue
        row = [variant]
        row += [percent(saving(evidence, _web(variant, load)), digits=0) for load in loads]
        row += [number(percentile(evidence, _web(variant, load), _web(ALWAYS, load)), digits=2) for load in loads]
        for experiment, few in (("bursts", 1), ("bursts", 4), ("bulk", 1)):
            pair = [Cell.of(experiment, variant=name, few=few) for name in (variant, ALWAYS)]
            row.append(percent(grid.reduction(pair[0], pair[1], "tcp_bps")))
        rows.append(row)
    yield Tabled("figures", "Pareto sizes, NewReno, round trip 50 ms; bursts of 10 Mb/s", header, rows)
