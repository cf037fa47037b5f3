"""The dimensions of a sweep: axes and their points, and the experiments that combine axes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, field

from netlull import _engine
from netlull.documents.decode import Document, Text
from netlull.errors import SweepError
from netlull.quantities import in_unit, is_unit

__all__ = ["MOST_SEEDS", "RESERVED_COLUMNS", "Axis", "AxisPoint", "Experiment", "check_seeds", "shown_value"]

RESERVED_COLUMNS = ("experiment", "seed")


_Path = Annotated[
    str | None,
    Meta(extra={"expected": "one path, such as link.N1-N2.rate; several fit [list], or `set` in [[axis.point]]"}),
]


class AxisPoint(Document, frozen=True):
    """A point of an axis: its value, its label, and the fields of the scenario that it sets and unsets."""

    value: Annotated[int | float | str, Meta(extra={"expected": "the point's place on the axis: a number or text"})]
    label: str | None = None
    set: Mapping[str, Any] = {}
    unset: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The label; without one, the value."""
        return self.label if self.label is not None else shown_value(self.value)

    def changes(self) -> dict[str, object]:
        """The argument of `Scenario.with_values`: None removes a field."""
        return {**dict.fromkeys(self.unset), **self.set}


class Axis(Document, frozen=True):
    """A dimension of the grid: either one `path` that takes each of `values`, or general `points`.

    `unit` is the unit of the axis's column: quantities are converted to it.

    Raises:
        SweepError: the axis has no points, has both forms or neither, or a value does not fit the unit.
    """

    name: Text
    path: _Path = None
    values: Sequence[Any] = ()
    points: Sequence[AxisPoint] = field(default=(), name="point")
    unit: str | None = None

    def __post_init__(self) -> None:
        """Refuses an invalid axis."""
        where = f"axis.{self.name}"
        if not self.name or self.name in RESERVED_COLUMNS:
            raise SweepError(f'{where}: "{self.name}" cannot name an axis; expected another name')
        if self.points and (self.values or self.path is not None):
            raise SweepError(f"{where}: has points and also path or values; expected one of the two")
        if self.values and self.path is None:
            raise SweepError(f"{where}.path: is missing; expected a path such as link.N1-N2.rate")
        if not self.points and not self.values:
            raise SweepError(f"{where}: has no points; expected `path` with `values`, or `point` entries")
        seen: dict[object, str] = {}
        for point in self.resolved:
            # One place on the axis can have several spellings, such as 5 Mb/s and 5000 kb/s.
            place = point.value if self.path is not None else point.text
            if place in seen:
                also = f' as "{seen[place]}"' if seen[place] != point.text else ""
                raise SweepError(f'{where}: the point "{point.text}" appears twice{also}; expected different points')
            seen[place] = point.text

    @property
    def resolved(self) -> tuple[AxisPoint, ...]:
        """The points, with numbers in the axis's unit if it has one."""
        if self.path is None:
            return tuple(
                AxisPoint(self._number(point.value), point.text, point.set, point.unset) for point in self.points
            )
        path, values = self.path, [self._with_unit(value) for value in self.values]
        return tuple(AxisPoint(self._number(value), shown_value(value), {path: value}) for value in values)

    def _with_unit(self, value: object) -> object:
        """A number as a quantity in the axis's unit, if scenarios have that unit."""
        if isinstance(value, bool) or not isinstance(value, int | float) or self.unit is None:
            return value
        return f"{shown_value(value)} {self.unit}" if is_unit(self.unit) else value

    def _number(self, value: object) -> float | str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if self.unit is None or not isinstance(value, str):
            return shown_value(value)
        number = in_unit(value, self.unit)
        if number is None:
            raise SweepError(f'axis.{self.name}: "{value}" is not a quantity in {self.unit}; expected one, or no unit')
        return number

    @property
    def is_numeric(self) -> bool:
        """True if every point's value is a number."""
        return all(isinstance(point.value, float) for point in self.resolved)


class Experiment(Document, frozen=True):
    """A grid over some of the sweep's axes (default: all), with optional seeds and changes to the scenario."""

    name: Text
    axes: Sequence[str] | None = None
    seeds: int | Sequence[Any] | None = None
    set: Mapping[str, Any] = {}
    unset: Sequence[str] = ()

    def changes(self) -> dict[str, object]:
        """The argument of `Scenario.with_values`: None removes a field."""
        return {**dict.fromkeys(self.unset), **self.set}


MOST_SEEDS = 1_000_000
"""The largest number of replications. More are a mistake."""


def check_seeds(seeds: int | Sequence[int], where: str) -> tuple[int, ...]:
    """The seeds 1, 2, ... for a number, or those of a list.

    Raises:
        SweepError: there are none or too many, a seed appears twice, or one is out of range.
    """
    if isinstance(seeds, bool) or (isinstance(seeds, int) and seeds < 1):
        raise SweepError(f"{where}: {seeds!r} is not a number of seeds; expected 1 or more, or a list of seeds")
    if isinstance(seeds, int) and seeds > MOST_SEEDS:
        raise SweepError(f"{where}: {seeds} seeds are too many; expected at most {MOST_SEEDS}")
    chosen = tuple(itertools.islice(range(1, seeds + 1) if isinstance(seeds, int) else seeds, MOST_SEEDS + 1))
    if len(chosen) > MOST_SEEDS:
        raise SweepError(f"{where}: the list has too many seeds; expected at most {MOST_SEEDS}")
    if not chosen:
        raise SweepError(f"{where}: is empty; expected at least one seed")
    try:
        chosen = tuple(_engine.check_seed(seed, where) for seed in chosen)
    except _engine.ScenarioError as error:
        raise SweepError(str(error)) from None
    doubled, times = Counter(chosen).most_common(1)[0]
    if times > 1:
        raise SweepError(f"{where}: holds {doubled} {'twice' if times == 2 else f'{times} times'}; expected each once")
    return chosen


def shown_value(value: object) -> str:
    """A value as a label."""
    if isinstance(value, bool):
        return "true" if value else "false"
    # Fifteen digits: different decimal numbers have different labels, and 0.1 + 0.2 is 0.3.
    return repr(float(f"{value:.15g}")).removesuffix(".0") if isinstance(value, float) else str(value)
