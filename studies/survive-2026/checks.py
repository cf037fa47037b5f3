"""The reasons: how many transfers a controller needs, CoDel's target, C-EARTH's target, losses behind the link, AWM's window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import mean_interval

from .measures import BBR, OFF, RENO, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netlull.papers import Recorded
    from netlull.stats import Interval

AXES = {"flows": "Transfers", "codel": "CoDel's target (ms)", "deep": "Buffer behind the link (packets)"}
"""The experiments over an axis, with its label."""
NAMES = {"flows": "flows", "codel": "codel", "deep": "behind"}
"""The axis of each experiment."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the goodput that a controller leaves, over the number of transfers and over CoDel's target."""
    panels = []
    for experiment in ("flows", "codel"):
        for sender in (RENO, BBR):
            across = evidence.grid.values(experiment, NAMES[experiment])
            curves = [
                Curve(
                    way,
                    across,
                    [_goodput(evidence, experiment, sender, way, value).scaled(100) for value in across],
                    colour,
                )
                for colour, way in enumerate(_ways(evidence, experiment))
            ]
            panels.append(Panel(sender, AXES[experiment], "Goodput left (%)", curves, y_from=0))
    caption = (
        "Goodput of endless transfers over that of always on, paired by seed. Above: drop-tail, over the number of "
        "transfers. Below: CoDel, four transfers, over its target."
    )
    yield Drawn("checks", "How many transfers, and how much queue", caption, panel_grid(panels))


def _ways(evidence: Evidence, experiment: str) -> list[str]:
    return [way for way in evidence.grid.labels(experiment, "way") if way != OFF]


def _cell(experiment: str, sender: str, way: str, value: float) -> Cell:
    return Cell.of(experiment, sender=sender, way=way, **{NAMES[experiment]: value})


def _goodput(evidence: Evidence, experiment: str, sender: str, way: str, value: float) -> Interval:
    cells = (_cell(experiment, sender, name, value) for name in (way, OFF))
    return evidence.grid.ratio(*cells, "goodput_bps")


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields savings, goodput and queues of each experiment, and the windows of AWM next to those of the sender."""
    grid = evidence.grid
    for experiment, axis in NAMES.items():
        header = ["sender", AXES[experiment], "mechanism", "energy saved", "goodput left", "queue", "drops", "always on: queue", "drops behind"]
        rows = []
        for sender in (RENO, BBR):
            for value in grid.values(experiment, axis):
                for way in _ways(evidence, experiment):
                    cell, off = (_cell(experiment, sender, name, value) for name in (way, OFF))
                    rows.append(
                        [
                            sender,
                            f"{value:g}",
                            way,
                            percent(grid.reduction(cell, off, "energy_j")),
                            percent(grid.ratio(cell, off, "goodput_bps")),
                            number(grid.interval(cell, "queue_packets"), "packets"),
                            percent(grid.interval(cell, "drops"), 2),
                            number(grid.interval(off, "queue_packets"), "packets"),
                            percent(grid.interval(cell, "behind_drops"), 2),
                        ]
                    )
        yield Tabled("figures", {"flows": "Transfers, drop-tail", "codel": "CoDel's target", "deep": "The buffer behind the link"}[experiment], header, rows)
    rows = [
        [
            sender,
            f"{target:g}",
            number(grid.interval(Cell.of("target", sender=sender, target=target), "goodput_bps", 1e-6), "Mb/s"),
            number(grid.interval(Cell.of("target", sender=sender, target=target), "mean_rate_bps", 1e-6), "Mb/s"),
            number(grid.interval(Cell.of("target", sender=sender, target=target), "queue_packets"), "packets"),
        ]
        for sender in (RENO, BBR)
        for target in grid.values("target", "target")
    ]
    yield Tabled("figures", "C-EARTH's target, one transfer", ["sender", "target (packets)", "goodput", "mean rate", "queue"], rows)
    if evidence.series:
        rows = [[name, *windows(run)] for name, run in evidence.series.items()]
        yield Tabled("figures", "AWM's window and the sender's, one transfer, from 10 s on", ["run", "AWM's window", "cwnd", "in flight", "time that AWM's window is the smaller"], rows)


def windows(run: Recorded) -> list[str]:
    """Means of AWM's window, of cwnd and of the data in flight in packets, and the share of time that AWM binds."""
    return [repr(run.series(name).schema) for name in ("gateway", "flow")]
