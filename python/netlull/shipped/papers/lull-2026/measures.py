"""Quantities that claims and figures read: cells with and without control, percentiles, goodput, savings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Evidence, decided
from netlull.stats import Interval, bootstrap_ratio, mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALWAYS, LULL = "always on", "Lull"
AXES = {
    "web": ("law", "load", "web_rtt"),
    "buffers": ("buffer", "some_load"),
    "senders": ("web_sender", "some_load"),
    "bulk": ("sender", "flows", "bulk_rtt"),
    "bursts": ("rival", "few", "burst", "rtt"),
    "bottleneck": ("kind", "rival", "rtt"),
    "writer": ("rival", "web_rtt"),
}
"""The experiments of the main sweep with the axes of their cells; a further axis names the controller."""
WEB = ("web", "buffers", "senders")
"""The experiments with downloads. practRA has its own experiment there, with fewer seeds."""
SHOWN_RTT = 50.0
"""The round trip of the savings and of the figures over the load, in ms."""


class Place:
    """A cell of the main sweep without its controller."""

    def __init__(self, experiment: str, **point: float | str) -> None:
        self.experiment, self.point = experiment, point

    def cell(self, control: str) -> Cell:
        """The cell with this controller."""
        if self.experiment not in WEB:
            return Cell.of(self.experiment, control=control, **self.point)
        if control in {ALWAYS, LULL}:
            return Cell.of(self.experiment, pair=control, **self.point)
        return Cell.of(f"{self.experiment}-practra", setting=control, **self.point)

    def __str__(self) -> str:
        """The name of the cell in results."""
        words = {"flows": "transfers", "few": "transfers", "burst": "Mb/s bursts", "load": "load", "some_load": "load"}
        texts = []
        for axis, value in self.point.items():
            if isinstance(value, str):
                texts.append(value)
            elif axis.endswith("rtt"):
                texts.append(f"{value:g} ms")
            elif axis.endswith("load"):
                texts.append(f"load {value:g}")
            else:
                texts.append(f"{value:g} {words[axis]}")
        return f"{self.experiment} ({', '.join(texts)})"


def places(evidence: Evidence, experiment: str, **fixed: float | str) -> list[Place]:
    """The cells of an experiment of the main sweep, with these axis values."""
    found: dict[tuple[float | str, ...], Place] = {}
    for cell in evidence.grid.cells(experiment):
        point = dict(cell.point)
        if all(point[axis] == value for axis, value in fixed.items()):
            key = tuple(point[axis] for axis in AXES[experiment])
            found[key] = Place(experiment, **dict(zip(AXES[experiment], key, strict=True)))
    return list(found.values())


def settings(evidence: Evidence) -> list[str]:
    """PractRA's settings, in the sweep's order."""
    grid = evidence.grid
    named = grid.labels("web-practra", "setting") if "web-practra" in grid.experiments else []
    return named or [name for name in grid.labels("bulk", "control") if name not in {ALWAYS, LULL}]


def percentile(evidence: Evidence, cell: Cell, reference: Cell, metric: str = "p95_s") -> Interval:
    """A completion time over that of another cell: means over common seeds, with a paired bootstrap."""
    ours, theirs = evidence.grid.samples(cell, metric), evidence.grid.samples(reference, metric)
    seeds = [seed for seed in ours if seed in theirs]
    return bootstrap_ratio([ours[seed] for seed in seeds], [theirs[seed] for seed in seeds])


def growth(evidence: Evidence, place: Place, control: str = LULL) -> Interval:
    """The 95th percentile of completion over always on's."""
    return percentile(evidence, place.cell(control), place.cell(ALWAYS))


def lost(evidence: Evidence, place: Place, control: str = LULL) -> Interval:
    """The share of TCP's goodput that is lost against always on, paired by seed."""
    return evidence.grid.reduction(place.cell(control), place.cell(ALWAYS), "tcp_bps")


def saving(evidence: Evidence, cell: Cell, model: str = "fs") -> Interval:
    """The share of the energy that is saved."""
    return evidence.grid.interval(cell, f"saving_{model}")


def counted(answers: Sequence[bool | None]) -> str:
    """The numbers of cells that hold, fail and are undecided, as text."""
    texts = [f"{answers.count(True)} of {len(answers)} cells within"]
    texts += [f"{answers.count(None)} undecided"] if None in answers else []
    texts += [f"{answers.count(False)} beyond"] if False in answers else []
    return ", ".join(texts)


def beyond(found: Iterable[tuple[Place, Interval]], *, at_most: float) -> list[Place]:
    """The cells whose whole interval is above a bound."""
    return [place for place, value in found if decided(value, at_most=at_most) is False]


def mean_of(values: Sequence[float]) -> Interval:
    """The mean of values with its interval."""
    return mean_interval(values)
