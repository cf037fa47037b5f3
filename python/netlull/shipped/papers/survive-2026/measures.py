"""Quantities that claims, figures and tables read: cells by traffic, sender and queue, savings, prices, verdicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netlull.papers import Cell, Evidence, decided, every
from netlull.stats import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OFF = "always on"
RENO, CUBIC, BBR = SENDERS = ("NewReno", "CUBIC", "BBRv3")
DROP_TAIL, CODEL = QUEUES = ("drop-tail", "CoDel")
TRAFFIC = {
    "web-0.2": "web load 0.2",
    "web-0.5": "web load 0.5",
    "files": "files of 1 MB",
    "behind": "bottleneck behind the link",
    "one": "one endless transfer",
    "endless": "four endless transfers",
    "1g-1ms": "1 Gb/s, 1 ms",
    "1g-10ms": "1 Gb/s, 10 ms",
    "10g-1ms": "10 Gb/s, 1 ms",
    "10g-10ms": "10 Gb/s, 10 ms",
    "abilene-web": "web transfers",
    "abilene-files": "files of 1 MB",
    "abilene-endless": "an endless transfer",
    "download-60": "a download, 60 ms",
    "download-120": "a download, 120 ms",
    "client-web": "web transfers, 60 ms",
}
"""The names of the experiments in results."""
KEPT, DEARER = 0.8, 1.1
"""A saving survives if this share of NewReno's is left, and completions take at most this many times as long."""
LEAST, DEAR = 0.02, 0.5
"""With a smaller saving under NewReno there is nothing to keep; a larger price is dear (the benchmark's widest)."""


@dataclass(frozen=True)
class Place:
    """An experiment with a sender and a queue; the cells by way of saving."""

    experiment: str
    sender: str
    queue: str
    cells: tuple[tuple[str, Cell], ...]

    def cell(self, way: str) -> Cell:
        """The cell with this way of saving."""
        return dict(self.cells)[way]

    @property
    def ways(self) -> list[str]:
        """The ways of saving."""
        return [way for way, _ in self.cells if way != OFF]

    def __str__(self) -> str:
        """The name of the place in results."""
        return f"{TRAFFIC[self.experiment]}, {self.sender}, {self.queue}"


def places(
    evidence: Evidence, *experiments: str, sender: str | None = None, queue: str | None = DROP_TAIL
) -> list[Place]:
    """The places of some experiments, or of all. None stands for every sender or queue."""
    found: dict[tuple[str, str, str], list[tuple[str, Cell]]] = {}
    for experiment in evidence.grid.experiments:
        if experiments and experiment not in experiments:
            continue
        for cell in evidence.grid.cells(experiment):
            point = dict(cell.point)
            key = (experiment, str(point["sender"]), str(point.get("queue", DROP_TAIL)))
            way = next(str(value) for axis, value in cell.point if axis.startswith(("way", "idle_way")))
            found.setdefault(key, []).append((way, cell))
    each = [Place(*key, tuple(cells)) for key, cells in found.items()]
    return [place for place in each if sender in {None, place.sender} and queue in {None, place.queue}]


def like(evidence: Evidence, place: Place, sender: str = RENO, queue: str | None = None) -> Place:
    """The same experiment with another sender, and perhaps another queue."""
    (found,) = places(evidence, place.experiment, sender=sender, queue=queue or place.queue)
    return found


BySeed = dict[int, float]


def savings(evidence: Evidence, place: Place, way: str) -> BySeed:
    """The share of energy saved against always on, by seed."""
    metric = next(name for name in ("energy_j", "total_j") if _known(evidence, place, name))
    return evidence.grid.reductions(place.cell(way), place.cell(OFF), metric)


def _known(evidence: Evidence, place: Place, metric: str) -> bool:
    """True if the sweep has the metric, and always on has values of it: a download has its own energy."""
    if metric not in evidence.grid.table.column_names:
        return False
    return not any(math.isnan(value) for value in evidence.grid.samples(place.cell(OFF), metric).values())


def growth(evidence: Evidence, place: Place, way: str, metric: str = "p95_s") -> BySeed:
    """A completion time over that of always on, less one, by seed. Endless transfers: the time per byte."""
    known = next((name for name in (metric, f"web_{metric}") if _known(evidence, place, name)), None)
    if known is None:
        theirs, ours = (evidence.grid.samples(place.cell(name), "goodput_bps") for name in (way, OFF))
    else:
        ours, theirs = (evidence.grid.samples(place.cell(name), known) for name in (way, OFF))
    return {seed: ours[seed] / theirs[seed] - 1 for seed in ours if seed in theirs}


def goodputs(evidence: Evidence, place: Place, way: str) -> BySeed:
    """The goodput over that of always on, by seed."""
    return {
        seed: 1 - lost
        for seed, lost in evidence.grid.reductions(place.cell(way), place.cell(OFF), "goodput_bps").items()
    }


def mean(found: BySeed) -> Interval:
    """The mean over seeds."""
    return mean_interval(found.values())


def minus(ours: BySeed, theirs: BySeed, factor: float = 1.0) -> Interval:
    """The mean over common seeds of one quantity minus another times a factor."""
    return mean_interval([ours[seed] - factor * theirs[seed] for seed in ours if seed in theirs])


def over(ours: BySeed, theirs: BySeed) -> Interval:
    """The mean over common seeds of one quantity over another."""
    return mean_interval([ours[seed] / theirs[seed] if theirs[seed] else math.nan for seed in ours if seed in theirs])


def survival(evidence: Evidence, place: Place, way: str) -> str:
    """The word for the rest of the saving that NewReno has with drop-tail at this place.

    A saving survives if 80 % of it are left, and completions, over always on's, take at most 1.1 times as long. An
    answer whose 95 % interval includes its bound is open.
    """
    reference = like(evidence, place, queue=DROP_TAIL)
    saved, theirs = savings(evidence, place, way), savings(evidence, reference, way)
    price, paid = growth(evidence, place, way), growth(evidence, reference, way)
    kept = every([decided(minus(saved, theirs, KEPT), at_least=0.0), decided(mean(saved), at_least=LEAST)])
    cheap = decided(minus(price, paid, DEARER), at_most=DEARER - 1)
    dear = ", dear before" if decided(mean(paid), at_most=DEAR) is False else ""
    if decided(mean(theirs), at_least=LEAST) is not True:
        return ("costs more" if cheap is False else "nothing saved before") + dear
    words: dict[tuple[bool | None, bool | None], str] = {
        (True, True): "survives",
        (True, False): "costs more",
        (True, None): "saves, price open",
        (False, True): "saves less",
        (False, False): "fails",
        (False, None): "saves less",
        (None, True): "saving open",
        (None, False): "costs more",
        (None, None): "open",
    }
    return words[kept, cheap] + dear


def records(evidence: Evidence) -> list[dict[str, str]]:
    """The numbers of every way of saving at every place, as texts for a file of comma-separated values."""
    return [_record(evidence, place, way) for place in places(evidence, queue=None) for way in place.ways]


def _record(evidence: Evidence, place: Place, way: str) -> dict[str, str]:
    found = {
        "saving": mean(savings(evidence, place, way)),
        "p50": mean(growth(evidence, place, way, "p50_s")),
        "p95": mean(growth(evidence, place, way)),
    }
    values: dict[str, float] = {}
    for name, value in found.items():
        values |= {name: value.mean, f"{name}_low": value.low, f"{name}_high": value.high}
    return {
        "way": way,
        "traffic": place.experiment,
        "sender": place.sender,
        "queue": place.queue,
        "seeds": str(found["saving"].n),
        **{name: f"{value:.6g}" for name, value in values.items()},
        "word": survival(evidence, place, way),
    }


def measured(record: Mapping[str, str]) -> str:
    """Saving, median and 95th percentile of a record in per cent, as in the tables. A single transfer has one time."""
    saved, median, price = (_signed(record, name, plain=name == "saving") for name in ("saving", "p50", "p95"))
    return f"{saved}, {price}" if record["p50"] == record["p95"] else f"{saved}, {median}, {price}"


def _signed(record: Mapping[str, str], name: str, *, plain: bool = False) -> str:
    """A share in per cent, in brackets if its interval includes 0."""
    mean_, low, high = (100 * float(record[key]) for key in (name, f"{name}_low", f"{name}_high"))
    text = f"{mean_:.0f}" if plain else f"{mean_:+.0f}"
    text = {"-0": "0", "+0": "0"}.get(text, text)
    return f"({text})" if low <= 0 <= high else text


def rows(found: Sequence[Mapping[str, str]], queue: str) -> list[list[str]]:
    """The rows of a queue's table: a way of saving and a traffic, then each sender, then the word for BBRv3."""
    by_row: dict[tuple[str, str], dict[str, Mapping[str, str]]] = {}
    for record in found:
        if record["queue"] == queue:
            by_row.setdefault((record["way"], record["traffic"]), {})[record["sender"]] = record
    return [
        [way, TRAFFIC[traffic], *(measured(cells[sender]) for sender in SENDERS), cells[BBR]["word"]]
        for (way, traffic), cells in by_row.items()
    ]


HEADER = ["mechanism", "traffic", *SENDERS, f"{BBR} against {RENO}"]
CAPTION = (
    "In per cent against always on with the same queue: energy saved, then the growth of the median and of the 95th "
    "percentile of completion. Endless transfers and single downloads have one time. In brackets: the 95 % interval "
    "includes 0. The last column compares with NewReno and drop-tail."
)
