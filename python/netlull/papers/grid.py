"""A sweep's table by experiment and point: samples over seeds, intervals, paired comparisons."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netlull.papers.toml import PaperError
from netlull.stats import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa


@dataclass(frozen=True)
class Cell:
    """A point of an experiment, with all its seeds."""

    experiment: str
    point: tuple[tuple[str, float | str], ...]

    @staticmethod
    def of(experiment: str, **point: float | str) -> Cell:
        """The cell at these axis values: numbers, or the labels of an axis without numbers."""
        return Cell(experiment, tuple(sorted((axis, _place(value)) for axis, value in point.items())))

    def __str__(self) -> str:
        """The name of the cell in errors."""
        return " ".join([self.experiment, *(f"{axis}={_shown(value)}" for axis, value in self.point)])


def _place(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(value)


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


class Grid:
    """Access to a sweep's table. `use` judges another metric under a column's name."""

    def __init__(self, table: pa.Table, axes: Sequence[str], use: Mapping[str, str] | None = None) -> None:
        self.table = table
        self._use = dict(use or {})
        self._columns = {name: table[name].to_pylist() for name in table.column_names}
        present = [axis for axis in axes if axis in self._columns]
        self._cells: dict[Cell, dict[int, int]] = {}
        for row, experiment in enumerate(self._columns["experiment"]):
            values = {axis: self._columns[axis][row] for axis in present}
            point = {axis: value for axis, value in values.items() if isinstance(value, str) or _is_number(value)}
            self._cells.setdefault(Cell.of(experiment, **point), {})[int(self._columns["seed"][row])] = row
        self.runs = table.num_rows
        self.read: dict[Cell, None] = {}
        """The points whose numbers were read, in order."""

    def watched(self) -> Grid:
        """The same grid with an empty record of points read."""
        other = copy.copy(self)
        other.read = {}
        return other

    @property
    def experiments(self) -> list[str]:
        """The experiments that ran, in the sweep's order."""
        return list(dict.fromkeys(cell.experiment for cell in self._cells))

    def cells(self, experiment: str) -> list[Cell]:
        """The points of an experiment, in the sweep's order."""
        return [cell for cell in self._cells if cell.experiment == experiment]

    def values(self, experiment: str, axis: str) -> list[float]:
        """An axis's values in an experiment, ascending."""
        return sorted(value for value in self._places(experiment, axis) if not isinstance(value, str))

    def labels(self, experiment: str, axis: str) -> list[str]:
        """The labels of an axis without numbers in an experiment, in the sweep's order."""
        return [value for value in self._places(experiment, axis) if isinstance(value, str)]

    def _places(self, experiment: str, axis: str) -> list[float | str]:
        cells = self.cells(experiment)
        return list(dict.fromkeys(value for cell in cells for name, value in cell.point if name == axis))

    def seeds(self, experiment: str) -> list[int]:
        """The seeds that ran in an experiment, ascending."""
        return sorted({seed for cell in self.cells(experiment) for seed in self._cells[cell]})

    def column(self, metric: str) -> str:
        """The sweep's metric that is read under this name; the `use` of a reading may replace it."""
        return self._use.get(metric, metric)

    def samples(self, cell: Cell, metric: str) -> dict[int, float]:
        """A metric by seed, in its unit.

        Raises:
            PaperError: the sweep has no such point or metric.
        """
        column = self._columns.get(self.column(metric))
        if column is None:
            raise PaperError(f"the sweep has no metric {metric}; it has {', '.join(self._columns)}")
        rows = self._rows(cell)
        self.read[cell] = None
        return {seed: _number(column[rows[seed]]) for seed in sorted(rows)}

    def interval(self, cell: Cell, metric: str, scale: float = 1.0) -> Interval:
        """A metric's mean over seeds, times `scale`, with its 95 % interval."""
        return mean_interval([value * scale for value in self.samples(cell, metric).values()])

    def difference(self, cell: Cell, reference: Cell, metric: str, scale: float = 1.0) -> Interval:
        """Mean over common seeds of metric(cell) - metric(reference), seed by seed and times `scale`."""
        pairs = self._pairs(cell, reference, metric, metric)
        return mean_interval([(a - b) * scale for a, b in pairs.values()])

    def ratio(self, cell: Cell, reference: Cell, metric: str, scale: float = 1.0, *, to: str | None = None) -> Interval:
        """Mean over common seeds of metric(cell) / to(reference), by seed. `to` is a metric, by default the same."""
        pairs = self._pairs(cell, reference, metric, to or metric)
        return mean_interval([a / b * scale if b else math.nan for a, b in pairs.values()])

    def reduction(self, cell: Cell, reference: Cell, metric: str, scale: float = 1.0) -> Interval:
        """Mean over common seeds of 1 - metric(cell) / metric(reference), seed by seed."""
        return mean_interval([value * scale for value in self.reductions(cell, reference, metric).values()])

    def reductions(self, cell: Cell, reference: Cell, metric: str) -> dict[int, float]:
        """1 - metric(cell) / metric(reference) by seed; NaN where the reference is 0."""
        pairs = self._pairs(cell, reference, metric, metric)
        return {seed: 1 - a / b if b else math.nan for seed, (a, b) in pairs.items()}

    def total(self, metric: str) -> float:
        """A metric's sum over all runs; NaN if the sweep has no such metric."""
        column = self._columns.get(metric)
        return math.nan if column is None else sum(_number(value) for value in column)

    def _pairs(self, cell: Cell, reference: Cell, metric: str, other: str) -> dict[int, tuple[float, float]]:
        """A metric of the cell and another metric of the reference, by common seed."""
        ours, theirs = self.samples(cell, metric), self.samples(reference, other)
        pairs = {seed: (ours[seed], theirs[seed]) for seed in ours if seed in theirs}
        if not pairs:
            raise PaperError(f"{cell} and {reference} share no seed: nothing to compare")
        return pairs

    def _rows(self, cell: Cell) -> dict[int, int]:
        rows = self._cells.get(cell)
        if rows is None:
            known = ", ".join(sorted({known.experiment for known in self._cells}))
            raise PaperError(f"the sweep has no point {cell}; its experiments are {known}")
        return rows


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
