"""practRA's static settings on the seeds of the design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled

from .drawing import Priced, fronts
from .measures import mean_of, percentile

if TYPE_CHECKING:
    from collections.abc import Iterator


def _setting(evidence: Evidence, mrci: float, bound: float, steps: str) -> tuple[float, float]:
    """The means over the loads: 95th percentile of completion over always on's, and energy saved."""
    growth, saved = [], []
    for load in evidence.grid.values("settings", "setting_load"):
        cell = Cell.of("settings", mrci=mrci, d=bound, steps=steps, setting_load=load)
        plain = Cell.of("settings-always-on", setting_load=load)
        growth.append(percentile(evidence, cell, plain).mean)
        saved.append(evidence.grid.interval(cell, "saving_fs", 100).mean)
    return float(np.mean(growth)), float(np.mean(saved))


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the means of all settings, a line for each mRCI and kind of step."""
    grid = evidence.grid
    lines = {}
    for steps in grid.labels("settings", "steps"):
        for mrci in grid.values("settings", "mrci"):
            means = [(bound, _setting(evidence, mrci, bound, steps)) for bound in grid.values("settings", "d")]
            lines[f"mRCI {mrci:g} ms, {steps}"] = [
                Priced(f"{bound:g}", mean_of([saved]), mean_of([growth])) for bound, (growth, saved) in means
            ]
    caption = "Means over loads 0.1, 0.3, 0.5 and 0.8; points of a line are delay bounds from 5 to 40 ms. Seeds 1 to 4."
    yield Drawn("settings", "practRA's static settings", caption, fronts({"Pareto sizes, RTT 50 ms": lines}))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields all settings, the best first."""
    grid = evidence.grid
    found = sorted(
        (*_setting(evidence, mrci, bound, steps), mrci, bound, steps)
        for mrci in grid.values("settings", "mrci")
        for bound in grid.values("settings", "d")
        for steps in grid.labels("settings", "steps")
    )
    rows = [
        [f"{mrci:g}", f"{bound:g}", steps, f"{growth:.2f}", f"{saved:.1f}"]
        for growth, saved, mrci, bound, steps in found
    ]
    header = ["mRCI (ms)", "delay bound (ms)", "steps", "95th percentile (times)", "FS (%)"]
    yield Tabled("figures", "Means over four loads", header, rows)
