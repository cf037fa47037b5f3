"""`--until 'metric<5%'`: adds seeds to each point until the intervals of its metrics are narrow enough."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from netlull.errors import SweepError, near
from netlull.stats import mean_interval
from netlull.sweep.axes import MOST_SEEDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from netlull.stats import Interval

__all__ = ["DEFAULT_MOST_SEEDS", "LEAST_SEEDS", "Condition", "Until"]

LEAST_SEEDS = 5
"""The fewest seeds. With fewer, an interval may be narrow by chance."""
DEFAULT_MOST_SEEDS = 1000
_LEAST_STEP = 0.1
_MOST_STEP = 1.0
"""Limits of a round's added seeds, relative to the present ones: few rounds, and few superfluous seeds."""
_CONDITION = re.compile(r"\s*(\S+?)\s*<\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(%?)\s*")


@dataclass(frozen=True)
class Condition:
    """Half the width of the 95 % interval of a metric's mean is below `bound`, a share of the mean if `relative`."""

    metric: str
    bound: float
    relative: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """A condition from `goodput_bps<5%` (relative to the mean) or `goodput_bps<0.1` (in the metric's unit).

        Raises:
            SweepError: the text is neither, or the bound is 0.
        """
        found = _CONDITION.fullmatch(text)
        if found is None:
            raise SweepError(f'until "{text}": expected metric<5% (relative) or metric<0.1 (absolute)')
        metric, number, percent = found.groups()
        bound = float(number) / 100 if percent else float(number)
        if not 0 < bound < math.inf:
            raise SweepError(f'until "{text}": {number}{percent} is not a bound; expected more than 0')
        return cls(metric, bound, bool(percent))

    def __str__(self) -> str:
        """The condition as text."""
        return f"{self.metric}<{100 * self.bound:.10g}%" if self.relative else f"{self.metric}<{self.bound:.10g}"

    def width(self, interval: Interval) -> float:
        """The width to compare with the bound."""
        half = interval.half_width
        if not self.relative or half == 0:
            return half
        return half / abs(interval.mean) if interval.mean else math.inf


@dataclass(frozen=True)
class Until:
    """Conditions that must all hold, and the most seeds of a point.

    Raises:
        SweepError: there is no condition, or the number is out of range.
    """

    conditions: tuple[Condition, ...]
    most_seeds: int = DEFAULT_MOST_SEEDS

    @classmethod
    def of(cls, texts: str | Sequence[str], most_seeds: int | None = None) -> Self:
        """The conditions as texts, parsed.

        Raises:
            SweepError: a text is not a condition, or the number is out of range.
        """
        given = (texts,) if isinstance(texts, str) else tuple(texts)
        return cls(tuple(map(Condition.parse, given)), DEFAULT_MOST_SEEDS if most_seeds is None else most_seeds)

    def __post_init__(self) -> None:
        """Refuses conditions that could never end, or never begin."""
        if not self.conditions:
            raise SweepError("until: is empty; expected conditions such as goodput_bps<5%")
        if isinstance(self.most_seeds, bool) or not LEAST_SEEDS <= self.most_seeds <= MOST_SEEDS:
            expected = f"expected {LEAST_SEEDS} to {MOST_SEEDS}"
            raise SweepError(f"most_seeds: {self.most_seeds!r} is not a number of seeds for `until`; {expected}")

    def check(self, metrics: Collection[str]) -> None:
        """Refuses conditions on unknown metrics.

        Raises:
            SweepError: a metric is unknown; lists the known ones.
        """
        for condition in self.conditions:
            if condition.metric not in metrics:
                raise SweepError(
                    f'until "{condition}": "{condition.metric}" is not a metric of the sweep; '
                    f"{near(condition.metric, metrics)}"
                )

    def first(self, given: Sequence[int]) -> tuple[int, ...]:
        """The first seeds of every point: the given ones, and more up to the fewest number."""
        return _seeds(given, max(LEAST_SEEDS, len(given)))

    def more(self, given: Sequence[int], values: Mapping[str, Sequence[float]]) -> tuple[int, ...]:
        """The seeds that a point needs after `values` of each metric, one per seed; the same seeds if they are enough.

        They depend only on these values: not on other points, workers or interruptions.
        """
        have = len(next(iter(values.values())))
        intervals = [(condition, mean_interval(values[condition.metric])) for condition in self.conditions]
        wanted = max(_wanted(condition.width(interval), condition.bound, have) for condition, interval in intervals)
        return _seeds(given, max(have, min(wanted, self.most_seeds)))

    def unmet(self, values: Mapping[str, Sequence[float]]) -> list[str]:
        """The conditions that do not hold, in words, with the widths of their intervals."""
        found = []
        for condition in self.conditions:
            width = condition.width(mean_interval(values[condition.metric]))
            if math.isnan(width):
                found.append(f"{condition}: a seed has no value of it")
            elif not width < condition.bound:
                shown = f"{100 * width:.3g} %" if condition.relative else f"{width:.4g}"
                found.append(f"{condition}: ± {shown}")
        return found


def _wanted(width: float, bound: float, have: int) -> int:
    """The number of seeds for the bound, at the present spread: the width falls as 1/sqrt(n)."""
    if width < bound or math.isnan(width):
        return have
    most = have + math.ceil(_MOST_STEP * have)
    needed = most if math.isinf(width) else math.ceil(min(have * (width / bound) ** 2, float(most)))
    return max(needed, have + math.ceil(_LEAST_STEP * have))


def _seeds(given: Sequence[int], count: int) -> tuple[int, ...]:
    """The given seeds, then 1, 2, ... without these."""
    known = set(given)
    rest: Iterator[int] = (seed for seed in itertools.count(1) if seed not in known)
    return (*given, *itertools.islice(rest, max(0, count - len(given))))
