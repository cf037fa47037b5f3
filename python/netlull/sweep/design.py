"""Points without a grid: rows of a list, and random or Latin-hypercube samples of ranges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from msgspec import Meta, field

from netlull.documents.decode import Document, Text
from netlull.errors import SweepError
from netlull.quantities import in_unit
from netlull.sweep.axes import Axis, AxisPoint, shown_value

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["KINDS", "MOST_POINTS", "SCALES", "Column", "Design", "Range"]

KINDS = ("latin_hypercube", "random")
SCALES = ("linear", "log")
MOST_POINTS = 100_000
"""The largest number of points. A sweep holds the scenario of each in memory, 20 to 60 kB in the papers' sweeps."""

Paths = Annotated[str | Sequence[str], Meta(extra={"expected": "a path such as link.N1-N2.rate, or a list of paths"})]
End = Annotated[int | float | str, Meta(extra={"expected": "the end of the range: a number or a quantity"})]
_DIGITS = 6
"""Significant digits of a sampled value: short enough to read, and to write into a scenario."""


class Column(Document, frozen=True):
    """An axis of a list: each row has a value for it, which `path` (or every one of several paths) takes."""

    name: Text
    path: Paths
    unit: str | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths, as a tuple."""
        return (self.path,) if isinstance(self.path, str) else tuple(self.path)


class Range(Document, frozen=True):
    """An axis of a sample: values between `low` and `high`, uniform on a linear or a logarithmic `scale`.

    With a `unit` the ends are quantities of its kind ("1 Mb/s") or numbers in it. `whole` rounds to whole numbers.

    Raises:
        SweepError: the message names the field, its value and the expected values.
    """

    name: Text
    path: Paths
    low: End = field(name="from")
    high: End = field(name="to")
    unit: str | None = None
    scale: str = "linear"
    whole: bool = False

    def __post_init__(self) -> None:
        """Refuses an invalid range."""
        where = f"sample.axis.{self.name}"
        if self.scale not in SCALES:
            raise SweepError(f'{where}.scale: "{self.scale}" is unknown; expected one of {", ".join(SCALES)}')
        low, high = self.ends
        if not low < high:
            raise SweepError(f"{where}: from {self.low} to {self.high} is not a range; expected `from` below `to`")
        if self.scale == "log" and low <= 0:
            raise SweepError(f"{where}.from: {self.low} has no logarithm; expected more than 0, or scale linear")

    @property
    def column(self) -> Column:
        """The column of its values."""
        return Column(self.name, self.path, self.unit)

    @property
    def ends(self) -> tuple[float, float]:
        """The ends as numbers in its unit."""
        return self._number(self.low, "from"), self._number(self.high, "to")

    def _number(self, end: float | str, name: str) -> float:
        number: float | None = None
        if isinstance(end, str):
            number = in_unit(end, self.unit) if self.unit else None
        elif not isinstance(end, bool):
            number = float(end)
        if number is None or not math.isfinite(number):
            expected = f"a number or a quantity in {self.unit}" if self.unit else "a number, or a unit for quantities"
            raise SweepError(f"sample.axis.{self.name}.{name}: is {end!r}; expected {expected}")
        return number

    def at(self, share: float) -> str | float:
        """The scenario's value at this share, 0 to 1, of the range: a quantity with a unit, or a number."""
        low, high = self.ends
        if self.scale == "log":
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        # Rounding must not leave the range.
        digits = f"{value:.0f}" if self.whole else f"{value:.{_DIGITS}g}"
        rounded = min(max(Decimal(digits), Decimal(repr(low))), Decimal(repr(high)))
        if self.unit:
            return f"{rounded:f} {self.unit}"
        return int(rounded) if self.whole else float(rounded)


class Design:
    """Points given one by one, each with a value on all of the design's axes. The axes of a sweep cross them."""

    def __init__(self, columns: Sequence[Column], rows: Sequence[Sequence[object]], where: str) -> None:
        """Used by `listed` and `sampled`."""
        self.where = where
        self.axes = tuple(_axis(column, [row[index] for row in rows], where) for index, column in enumerate(columns))
        """The axes, with every occurring value once."""
        by_text = [{point.text: point for point in axis.resolved} for axis in self.axes]
        self.places: tuple[Mapping[str, AxisPoint], ...] = tuple(
            {axis.name: known[shown_value(value)] for axis, known, value in zip(self.axes, by_text, row, strict=True)}
            for row in rows
        )
        """The position of each point, in order."""
        self.description: dict[str, Any] = {}

    @property
    def sampled_axes(self) -> tuple[str, ...]:
        """The axes of a sample; none for a list."""
        return tuple(axis.name for axis in self.axes) if self.where == "sample" else ()

    @classmethod
    def listed(cls, columns: Sequence[Column], rows: Sequence[Any]) -> Self:
        """Points as rows of values, one value per column.

        Raises:
            SweepError: there are no rows, a row has a wrong number of values, or a row appears twice.
        """
        if not columns:
            raise SweepError("list.axis: is missing; expected entries with name and path")
        if not rows:
            raise SweepError('list.rows: is empty; expected rows such as ["3 Mb/s", "10 ms"]')
        for number, row in enumerate(rows):
            if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != len(columns):
                names = ", ".join(column.name for column in columns)
                raise SweepError(f"list.rows.{number}: is {row!r}; expected a value each for {names}")
        doubled = _doubled(rows)
        if doubled:
            raise SweepError(f"list.rows.{doubled[1]}: is the same as list.rows.{doubled[0]}; expected it once")
        made = cls(columns, rows, "list")
        made.description = {"kind": "list"}
        return made

    @classmethod
    def sampled(cls, kind: str, points: int, ranges: Sequence[Range], seed: int = 1) -> Self:
        """Points drawn from ranges: "random", or a "latin_hypercube".

        A Latin hypercube has one point in each of `points` slices of every range. Equal arguments give equal points
        with every version of numpy: they use the raw bits of PCG64, which numpy does not change (NEP 19).

        Raises:
            SweepError: the message names the field, its value and the expected values.
        """
        if kind not in KINDS:
            raise SweepError(f'sample.kind: "{kind}" is unknown; expected one of {", ".join(KINDS)}')
        if isinstance(points, bool) or not 1 <= points <= MOST_POINTS:
            raise SweepError(f"sample.points: is {points!r}; expected a whole number from 1 to {MOST_POINTS}")
        if isinstance(seed, bool) or not 0 <= seed < 2**63:
            raise SweepError(f"sample.seed: is {seed!r}; expected a whole number from 0 to 2^63 - 1")
        if not ranges:
            raise SweepError("sample.axis: is missing; expected entries with name, path, from and to")
        shares = _shares(kind, points, len(ranges), seed)
        rows = [[each.at(float(share)) for each, share in zip(ranges, row, strict=True)] for row in shares]
        doubled = _doubled(rows)
        if doubled:
            what = f"points {doubled[0]} and {doubled[1]} are the same when rounded"
            raise SweepError(f"sample.points: {points}: {what}; expected fewer points, or wider ranges")
        made = cls([each.column for each in ranges], rows, "sample")
        made.description = {"kind": kind, "points": points, "seed": seed}
        return made


def _shares(kind: str, points: int, axes: int, seed: int) -> npt.NDArray[np.float64]:
    """`points` x `axes` numbers in [0, 1).

    Latin hypercube: M. D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21 (1979), 239-245.
    """
    bits = np.random.PCG64(seed)

    def uniform() -> npt.NDArray[np.float64]:
        raw: npt.NDArray[np.uint64] = bits.random_raw(points)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    columns = []
    for _ in range(axes):
        within = uniform()
        if kind == "latin_hypercube":
            slices = np.argsort(bits.random_raw(points), kind="stable")
            within = (slices + within) / points
        columns.append(within)
    return np.stack(columns, axis=1)


def _doubled(rows: Sequence[Sequence[object]]) -> tuple[int, int] | None:
    """The numbers of two equal rows."""
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows):
        first = seen.setdefault(tuple(shown_value(value) for value in row), number)
        if first != number:
            return first, number
    return None


def _axis(column: Column, values: Sequence[object], where: str) -> Axis:
    if not all(column.paths) or not column.paths:
        raise SweepError(f"{where}.axis.{column.name}.path: is {column.path!r}; expected a path, or a list of paths")
    points: dict[str, AxisPoint] = {}
    for value in values:
        text = shown_value(value)
        at = value if isinstance(value, int | float) and not isinstance(value, bool) else text
        points.setdefault(text, AxisPoint(at, text, dict.fromkeys(column.paths, value)))
    return Axis(column.name, points=tuple(points.values()), unit=column.unit)
