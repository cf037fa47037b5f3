"""Quantities that claims, figures and tables read: cells by their point, paired comparisons, the closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netlull.papers import Cell, Evidence, number
from netlull.plot import Curve
from netlull.stats import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

OFF, LPI, COALESCING, FIRST = "off", "LPI", "coalescing", "coalescing first"
RATES = {"100m": "100 Mb/s", "1g": "1 Gb/s", "10g": "10 Gb/s", "100g": "100 Gb/s"}
"""The rates by the ends of the names of experiments and axes."""
SLEEP_S = {"1g": 182e-6, "10g": 2.88e-6}
"""T_s by rate."""
WAKE_S = {"1g": 16.5e-6, "10g": 4.48e-6}
"""T_w by rate."""
OVERHEAD_B = 38.0
"""Bytes of a frame on the wire beyond its packet."""
DEVICES = {
    "1g": {"n540x_8z16g": "N540X-8Z16G"},
    "10g": {"n540x_8z16g": "N540X-8Z16G", "wedge_tofino": "Wedge"},
}
"""The measured devices with a port of the rate: suffix of the metric, and name."""
BITS = {"100m": 1e8, "1g": 1e9, "10g": 1e10, "100g": 1e11}
"""Bit rates by rate."""


@dataclass(frozen=True)
class Place:
    """A cell without its setting. Axes are named without the rate: `load` of `load_1g`, `rtt` of `rtt_far`."""

    rate: str
    point: tuple[tuple[str, float | str], ...]
    cells: tuple[tuple[str, Cell], ...]
    """The cells by setting."""

    def __getitem__(self, axis: str) -> float | str:
        """The value of an axis."""
        return dict(self.point)[axis]

    def value(self, axis: str) -> float:
        """The number on an axis."""
        return float(self[axis])

    def cell(self, setting: str) -> Cell:
        """The cell with this setting."""
        return dict(self.cells)[setting]

    @property
    def settings(self) -> list[str]:
        """The settings other than `off`."""
        return [name for name, _ in self.cells if name != OFF]

    def __str__(self) -> str:
        """The name of the cell in results."""
        units = {"rtt": "{:g} ms", "load": "load {:g}", "hops": "{:g} links", "buffer": "{:g} packets"}
        units |= {"k": "K {:g}", "size": "{:g} kB", "rto": "RTO {:g} ms"}
        texts = [value if isinstance(value, str) else units[axis].format(value) for axis, value in self.point]
        return f"{RATES[self.rate]}, {', '.join(texts)}"


_SETTINGS = ("setting", "hold", "timer", "wait")


def places(evidence: Evidence, kind: str, wanted: Callable[[Place], bool] = lambda _: True) -> list[Place]:
    """The cells of the experiments KIND-RATE, also with a third part, in the sweep's order."""
    found: dict[tuple[str, tuple[tuple[str, float | str], ...]], list[tuple[str, Cell]]] = {}
    for experiment in evidence.grid.experiments:
        name, rate, *_ = experiment.split("-")
        if name != kind:
            continue
        for cell in evidence.grid.cells(experiment):
            point = {axis.partition("_")[0]: value for axis, value in cell.point}
            setting = next(str(point.pop(axis)) for axis in _SETTINGS if axis in point)
            found.setdefault((rate, tuple(point.items())), []).append((setting, cell))
    each = [Place(rate, point, tuple(cells)) for (rate, point), cells in found.items()]
    return [place for place in each if wanted(place)]


def mean(evidence: Evidence, place: Place, setting: str, metric: str) -> Interval:
    """The mean of a metric over seeds."""
    return evidence.grid.interval(place.cell(setting), metric)


def ratio(evidence: Evidence, place: Place, setting: str, metric: str) -> Interval:
    """A metric over that without sleep, paired by seed."""
    return evidence.grid.ratio(place.cell(setting), place.cell(OFF), metric)


def added(evidence: Evidence, place: Place, setting: str, metric: str) -> Interval:
    """A metric minus that without sleep, paired by seed."""
    return evidence.grid.difference(place.cell(setting), place.cell(OFF), metric)


def exchange(evidence: Evidence, place: Place, setting: str, percentile: int = 50) -> Interval:
    """The growth of a small exchange each round trip: a connection of one byte takes two."""
    return added(evidence, place, setting, f"ping_p{percentile}_s").scaled(0.5)


def lost(evidence: Evidence, place: Place, setting: str) -> Interval:
    """The share of the goodput that is lost against no sleep, paired by seed."""
    return evidence.grid.reduction(place.cell(setting), place.cell(OFF), "goodput_bps")


def saving(evidence: Evidence, place: Place, setting: str) -> Interval:
    """The share of an ideal link's energy that is saved."""
    return mean(evidence, place, setting, "saving_fs")


def by_seed(evidence: Evidence, cell: Cell, *metrics: str) -> dict[int, tuple[float, ...]]:
    """Several metrics of a cell, by seed."""
    columns = [evidence.grid.samples(cell, metric) for metric in metrics]
    return {seed: tuple(column[seed] for column in columns) for seed in columns[0]}


def asleep(evidence: Evidence, cell: Cell, metric: str = "asleep_s") -> dict[int, float]:
    """The share of time asleep, by seed."""
    return {seed: part / whole for seed, (part, whole) in by_seed(evidence, cell, metric, "measured_s").items()}


def share_asleep(evidence: Evidence, cell: Cell, metric: str = "asleep_s") -> Interval:
    """The share of time asleep."""
    return mean_interval(asleep(evidence, cell, metric).values())


def together(evidence: Evidence, cell: Cell) -> dict[int, float]:
    """The frames that the reverse link sends between two sleeps, by seed."""
    found = by_seed(evidence, cell, "back_packets", "back_sleeps")
    return {seed: frames / sleeps if sleeps else math.inf for seed, (frames, sleeps) in found.items()}


def closed_form(rate: str, frames_per_s: float, load: float) -> float:
    """The share of time asleep for Poisson frames that wake the link one by one (docs/models/eee.md, N = 1).

    K ~ Poisson(lambda T_s) frames arrive in T_s: E[T_off] = P(K = 0) / lambda.
    """
    off = math.exp(-frames_per_s * SLEEP_S[rate]) / frames_per_s
    return (1 - load) * off / (off + SLEEP_S[rate] + WAKE_S[rate])


def above_closed_form(evidence: Evidence, place: Place) -> Interval:
    """The share of time asleep with LPI minus the closed form of the same frames, by seed."""
    cell, found = place.cell(LPI), []
    for shares, (packets, data, time) in zip(
        asleep(evidence, cell).values(),
        by_seed(evidence, cell, "packets", "bytes", "measured_s").values(),
        strict=True,
    ):
        load = 8 * (data + OVERHEAD_B * packets) / (BITS[place.rate] * time)
        found.append(shares - closed_form(place.rate, packets / time, load))
    return mean_interval(found)


def mean_ratio(evidence: Evidence, found: Sequence[Place], setting: str, metric: str) -> Interval:
    """The mean over cells of a metric over that without sleep: a mean for each seed, an interval over the seeds."""
    grid, sums = evidence.grid, dict[int, list[float]]()
    for place in found:
        ours, theirs = (grid.samples(place.cell(name), metric) for name in (setting, OFF))
        for seed, value in ours.items():
            sums.setdefault(seed, []).append(value / theirs[seed])
    full = [values for values in sums.values() if len(values) == len(found)]
    return mean_interval([sum(values) / len(values) for values in full])


def over(ours: dict[int, float], theirs: dict[int, float]) -> Interval:
    """The mean over common seeds of one quantity over another."""
    return mean_interval([ours[seed] / theirs[seed] if theirs[seed] else math.nan for seed in ours if seed in theirs])


def curves(
    found: Sequence[Place],
    axis: str,
    settings: Iterable[str],
    measure: Callable[[Place, str], Interval],
    scale: float = 1.0,
) -> list[Curve]:
    """A curve over an axis for each setting."""
    across = [place.value(axis) for place in found]
    return [
        Curve(setting, across, [measure(place, setting).scaled(scale) for place in found], colour)
        for colour, setting in enumerate(settings)
    ]


def micro(value: Interval) -> str:
    """A time in microseconds with its interval, as text."""
    return number(value.scaled(1e6), "us")
