"""The reasons: the number of transfers, CoDel's target, C-EARTH's target, losses behind the link, AWM's window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netlull.papers import Cell, Drawn, Evidence, Tabled, number, percent
from netlull.plot import Curve, Panel, panel_grid

from .measures import BBR, OFF, RENO

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


CAPTIONS = {
    "flows": "How many transfers: drop-tail",
    "codel": "CoDel's target: four transfers",
    "deep": "The buffer behind the link: one transfer with its bottleneck of 4 Mb/s there",
}
"""The captions of the tables."""


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields each experiment in numbers, and the windows of AWM next to those of the sender."""
    grid = evidence.grid
    for experiment, axis in NAMES.items():
        header = ["sender", AXES[experiment], "mechanism", "energy saved", "goodput left", "queue", "always on: queue"]
        rows = [
            [sender, f"{value:g}", way, *_numbers(evidence, experiment, sender, way, value)]
            for sender in (RENO, BBR)
            for value in grid.values(experiment, axis)
            for way in _ways(evidence, experiment)
        ]
        yield Tabled("figures", CAPTIONS[experiment], header, rows)
    for experiment, caption in (
        ("target", "C-EARTH's target: one transfer, drop-tail"),
        ("threshold", "EARTH's threshold: one transfer with its bottleneck of 4 Mb/s behind the link, drop-tail"),
    ):
        rows = []
        for sender in (RENO, BBR):
            for value in grid.values(experiment, experiment):
                cell = Cell.of(experiment, sender=sender, **{experiment: value})
                rates = [number(grid.interval(cell, name, 1e-6), "Mb/s") for name in ("goodput_bps", "mean_rate_bps")]
                rows.append([sender, f"{value:g}", *rates, number(grid.interval(cell, "queue_packets"), "packets")])
        yield Tabled("figures", caption, ["sender", f"{experiment} (packets)", "goodput", "mean rate", "queue"], rows)
    if evidence.series:
        header = ["sender", "AWM's window", "cwnd", "time in which AWM's window is the smaller", "rate"]
        rows = [[_sender(evidence, name), *windows(run)] for name, run in evidence.series.items()]
        caption = "AWM's window and the sender's: the G-Router, one transfer, drop-tail, seed 101, from 10 s on"
        yield Tabled("figures", caption, header, rows)


def _numbers(evidence: Evidence, experiment: str, sender: str, way: str, value: float) -> list[str]:
    cell, off = (_cell(experiment, sender, name, value) for name in (way, OFF))
    return [
        percent(evidence.grid.reduction(cell, off, "energy_j")),
        percent(evidence.grid.ratio(cell, off, "goodput_bps")),
        *(number(evidence.grid.interval(each, "queue_packets"), "packets") for each in (cell, off)),
    ]


def _sender(evidence: Evidence, name: str) -> str:
    return str(dict(evidence.recorded[name][0].point)["sender"])


SETTLED_S = 10.0
"""The start of the means over time."""
SEGMENT_B = 1448
"""The data of a segment."""


def windows(run: Recorded) -> list[str]:
    """Means of AWM's window, of cwnd and of the rate, and the share of time in which AWM's window is the smaller."""
    gateway, flow, link = (run.series(name) for name in ("gateway", "flow", "link"))
    link = link.filter(pc.equal(pc.cast(link["link"], pa.string()), "N1-N2"))
    late = _column(gateway, "time_s") > SETTLED_S
    suggested, cwnd = _column(gateway, "window_bytes")[late] / SEGMENT_B, _column(flow, "cwnd_bytes")[late] / SEGMENT_B
    known = np.isfinite(suggested) & np.isfinite(cwnd)
    rate = float(np.mean(_column(link, "rate_bps")[late])) / 1e6
    means = [f"{float(np.mean(each[known])):.0f} segments" for each in (suggested, cwnd)]
    return [*means, f"{float(np.mean(suggested[known] < cwnd[known])):.0%}".replace("%", " %"), f"{rate:.1f} Mb/s"]


def _column(table: pa.Table, name: str) -> np.ndarray:
    return np.asarray(table[name].to_numpy(zero_copy_only=False), dtype=np.float64)
