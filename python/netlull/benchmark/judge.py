"""The rules of the benchmark: when a cell is kept, and how the score of a league follows. docs/how-to/benchmark.md.

All functions work on the numbers of a result file alone, so everybody can judge a file again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from netlull.stats import Interval, mean_interval, ratio_of_means

__all__ = ["CellRows", "League", "Standing", "judged", "league", "standing"]

Pair = tuple[Sequence[float | None], Sequence[float | None]]
"""The values of a quantity with the controller, and always on, by seed."""


class Standing(Enum):
    """The verdict on a cell in a league."""

    KEPT = "kept"
    UNDECIDED = "undecided"
    BROKEN = "broken"


@dataclass(frozen=True)
class CellRows:
    """The numbers of a cell, in the order of the seeds; `failed` is the reason if the controller failed in the cell."""

    name: str
    energy: Sequence[float]
    """The energy over always-on's."""
    goodput_bps: Pair
    p95_s: Mapping[str, Pair]
    """The 95th percentile of completion times of each flow with transfers; None without a completed transfer."""
    rate_changes: Sequence[int]
    optimum: Sequence[Sequence[float]]
    """For each league, the optimum's energy over always-on's for the first seeds, in shorter runs."""
    against_optimum: Sequence[float]
    """The controller's energy over always-on's in the runs with an optimum."""
    failed: str | None = None

    @property
    def growth(self) -> dict[str, Interval]:
        """The p95 of each flow over always-on's: the ratio of the means, with Fieller's interval."""
        return {flow: _ratio(pair) for flow, pair in self.p95_s.items()}

    @property
    def goodput(self) -> Interval:
        """The goodput over always-on's: the ratio of the means, with Fieller's interval."""
        return _ratio(self.goodput_bps)

    @property
    def slowdown(self) -> float:
        """The largest of p95 over always-on's and of always-on's goodput over the goodput; infinite after a failure."""
        if self.failed is not None:
            return math.inf
        goodput = self.goodput.mean
        found = [interval.mean for interval in self.growth.values()]
        return max(_or_infinite(value) for value in [*found, 1 / goodput if goodput > 0 else math.inf])


@dataclass(frozen=True)
class Judged:
    """A cell in a league."""

    standing: Standing
    counts: bool
    """True if its energy counts as measured: by its means, the cell is kept. Otherwise it counts as 1."""


@dataclass(frozen=True)
class League:
    """The result of a submission in a league. Energies are shares of always-on's."""

    limit: float
    energy: Interval
    """The score: the mean over the cells, with the interval over the seeds."""
    best: float
    """The score if all undecided cells were kept."""
    worst: float
    """The score if all undecided cells were broken."""
    kept: int
    undecided: int
    broken: int
    optimum: float
    """The optimum's energy over the same cells; NaN without it."""
    regret: float
    """The energy that counts less the optimum's, in the runs with an optimum."""


def standing(cell: CellRows, limit: float) -> Judged:
    """The verdict on a cell: p95 of each flow at most 1 + limit, and goodput at least 1 - limit times always-on's.

    A cell is kept if all 95 % intervals are within the limits, broken if one is beyond, else undecided.
    """
    if cell.failed is not None:
        return Judged(Standing.BROKEN, counts=False)
    answers = [_at_most(value, 1 + limit) for value in cell.growth.values()]
    answers.append(_at_most(-cell.goodput, limit - 1))
    counts = all(within for _, within in answers)
    if any(found is Standing.BROKEN for found, _ in answers):
        return Judged(Standing.BROKEN, counts=False)
    if all(found is Standing.KEPT for found, _ in answers):
        return Judged(Standing.KEPT, counts=True)
    return Judged(Standing.UNDECIDED, counts)


def league(cells: Sequence[CellRows], limit: float, number: int) -> League:
    """The score of a submission in a league. `number` is the league's place in `CellRows.optimum`."""
    verdicts = [standing(cell, limit) for cell in cells]
    pairs = list(zip(cells, verdicts, strict=True))
    found = [verdict.standing for verdict in verdicts]
    shares = [_energies(cell, counts=verdict.counts) for cell, verdict in pairs]
    # A failed cell has no seeds of its own.
    by_seed = [
        _mean([share[seed] if seed < len(share) else 1.0 for share in shares]) for seed in range(max(map(len, shares)))
    ]
    best = [_mean(_energies(cell, counts=verdict.standing is not Standing.BROKEN)) for cell, verdict in pairs]
    worst = [_mean(_energies(cell, counts=verdict.standing is Standing.KEPT)) for cell, verdict in pairs]
    optimum, regret = _against_optimum(pairs, number)
    return League(
        limit,
        mean_interval(by_seed),
        _mean(best),
        _mean(worst),
        found.count(Standing.KEPT),
        found.count(Standing.UNDECIDED),
        found.count(Standing.BROKEN),
        optimum,
        regret,
    )


def judged(cells: Sequence[CellRows], leagues: Sequence[float]) -> list[League]:
    """The results in all leagues."""
    return [league(cells, limit, number) for number, limit in enumerate(leagues)]


def _energies(cell: CellRows, *, counts: bool) -> list[float]:
    """The energies of a cell by seed: as measured if they count, else 1. A failed cell has one 1."""
    return list(cell.energy) if counts else [1.0] * max(len(cell.energy), 1)


def _against_optimum(pairs: Sequence[tuple[CellRows, Judged]], number: int) -> tuple[float, float]:
    """The mean energy of the optimum over the cells that have it, and the regret in the same runs."""
    optima, regrets = [], []
    for cell, verdict in pairs:
        least = cell.optimum[number] if cell.optimum else ()
        if least:
            optima.append(_mean(least))
            regrets.append((_mean(cell.against_optimum) if verdict.counts else 1.0) - _mean(least))
    return _mean(optima), _mean(regrets)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _ratio(pair: Pair) -> Interval:
    """The ratio of the means; NaN if a value is missing."""
    ours, theirs = ([math.nan if value is None else value for value in part] for part in pair)
    return ratio_of_means(ours, theirs)


def _or_infinite(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _at_most(value: Interval, limit: float) -> tuple[Standing, bool]:
    """The verdict on a quantity that may be at most `limit`, and True if its mean is within.

    A missing value breaks the cell. Without an interval (one seed) the cell is undecided.
    """
    if math.isnan(value.mean):
        return Standing.BROKEN, False
    within = value.mean <= limit
    if math.isnan(value.low):
        return Standing.UNDECIDED, within
    if value.high <= limit:
        return Standing.KEPT, True
    return (Standing.BROKEN, False) if value.low > limit else (Standing.UNDECIDED, within)
