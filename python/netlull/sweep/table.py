"""The table of a sweep: one row per point and seed, and its means with confidence intervals."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from netlull.errors import FormatError, InputError, MissingPackageError, NetlullWarning, ResultError
from netlull.quantities import in_unit, metric_unit
from netlull.results.energy import total_for_saving
from netlull.results.output import check_folder
from netlull.results.result import polars_frame
from netlull.runs.team import Cost
from netlull.stats import Interval, doubt, mean_interval
from netlull.sweep.axes import Axis, AxisPoint
from netlull.sweep.description import DESCRIPTION, ENERGY, TABLE, read_checked, table_damage
from netlull.sweep.points import point_label
from netlull.sweep.until import Until

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import polars as pl

    from netlull.sweep.points import Point

__all__ = ["SweepResult", "Window", "build_table", "window_words"]


_REBUILD = "run the sweep again to rebuild it"


def build_table(
    points: Sequence[Point],
    axes: Sequence[Axis],
    metrics: Mapping[str, str],
    measured: Mapping[str, Mapping[str, float]],
) -> pa.Table:
    """The rows of all points in their order, seeds ascending; null if an experiment does not use an axis.

    `measured` has the metrics of every run by its key.
    """
    rows = [(point, seed) for point in points for seed in sorted(point.seeds)]
    columns: dict[str, pa.Array] = {"experiment": pa.array([point.experiment for point, _ in rows], pa.string())}
    for axis in axes:
        at = [point.at.get(axis.name) for point, _ in rows]
        values = [None if place is None else place.value for place in at]
        if axis.is_numeric:
            columns[axis.name] = pa.array(values, pa.float64())
        else:
            columns[axis.name] = pa.array([None if place is None else place.text for place in at], pa.string())
        columns[f"{axis.name}_label"] = pa.array([None if place is None else place.text for place in at], pa.string())
    columns["seed"] = pa.array([seed for _, seed in rows], pa.int64())
    runs = [measured[point.run_key(seed)] for point, seed in rows]
    for column in metrics:
        columns[column] = pa.array([run[column] for run in runs], pa.float64(), from_pandas=True)
    return pa.table(columns)


@dataclass(frozen=True, slots=True)
class Window:
    """The measured part of a run: from the end of its warm-up to its end, as times with units."""

    warm_up: str
    duration: str

    @property
    def seconds(self) -> float:
        """Its length in seconds."""
        return (in_unit(self.duration, "s") or 0.0) - (in_unit(self.warm_up, "s") or 0.0)


def measured_seconds(windows: Sequence[Window]) -> float | None:
    """The length of the measured part in seconds; None if it is unknown or not that of all runs."""
    lengths = {round(window.seconds, 9) for window in windows}
    return lengths.pop() if len(lengths) == 1 else None


def window_words(windows: Sequence[Window]) -> str:
    """The measured part of each run, in a sentence; empty if unknown."""
    if not windows:
        return ""
    warm_ups, durations = (
        list(dict.fromkeys(part)) for part in zip(*((w.warm_up, w.duration) for w in windows), strict=True)
    )
    end = durations[0] if len(durations) == 1 else "its end"
    if all(warm_up.split()[0].strip("0.") == "" for warm_up in warm_ups):
        return f"Measured over the whole of each run, to {end}: no warm-up is left out."
    if len(warm_ups) == 1:
        return f"Measured from {warm_ups[0]} to {end} of each run: the warm-up is left out."
    return f"Measured from {', '.join(warm_ups)} (by point) to {end} of each run: the warm-up is left out."


class SweepResult:
    """The results of a sweep. `table` has one row per point and seed: experiment, axes, labels, seed, metrics."""

    def __init__(  # noqa: PLR0913  # a record
        self,
        table: pa.Table,
        axes: Sequence[Axis],
        metrics: Mapping[str, str],
        *,
        executed: int = 0,
        reused: int = 0,
        damaged: tuple[str, ...] = (),
        rebuilt: tuple[str, ...] = (),
        cost: Cost | None = None,
        windows: tuple[Window, ...] = (),
        unmet: tuple[str, ...] = (),
        constant: tuple[str, ...] = (),
        until: Until | None = None,
        energy: pa.Table | None = None,
        warnings: tuple[str, ...] = (),
        sampled: tuple[str, ...] = (),
    ) -> None:
        """Used by `Sweep.run` and `SweepResult.load`."""
        self.table = table
        self.axes = tuple(axis.name for axis in axes)
        self.units = {axis.name: axis.unit for axis in axes}
        self.metrics = dict(metrics)
        self.executed = executed
        """The number of simulated runs."""
        self.reused = reused
        """The number of runs taken from the store."""
        self.damaged = damaged
        """The damage to lines of the store's journal. Their runs were repeated."""
        self.rebuilt = rebuilt
        """The damage to the store's other files, which were rewritten."""
        self.cost = cost or Cost()
        """The cost of the simulated runs."""
        self.windows = windows
        """The measured parts of the runs, without warm-up, each once."""
        self.energy = energy
        """The energy in joules: a row per point, link with a varying rate, and power model; None if unknown."""
        self.warnings = warnings
        """The warnings about its scenarios (`Scenario.warnings`), with the points."""
        self.sampled = sampled
        """The axes of its sampled points (`[sample]`): no two points lie on a line."""
        self.until = until
        """The conditions on the number of seeds, if there were any."""
        self.unmet = unmet
        """The points that miss these conditions: they reached the most seeds, or a seed has no value."""
        self.constant = constant
        """The points with several seeds that all gave the same bytes, as `EXPERIMENT at AXIS=LABEL, ...`."""

    @classmethod
    def load(cls, store: str | Path) -> Self:
        """Reads the table of a finished sweep.

        Raises:
            ResultError: a file is missing, truncated or damaged; the message names it.
        """
        folder = Path(store)
        document = _description(folder)
        table = _table(folder, document)
        energy = _energy(folder, document)
        try:
            result = cls._described(document, table)
        except InputError as error:
            raise ResultError(f"{folder / DESCRIPTION}: {error}; {_REBUILD}") from None
        _check_columns(folder, result)
        result.energy = energy
        return result

    @classmethod
    def _described(cls, document: Mapping[str, Any], table: pa.Table) -> Self:
        axes = [Axis(axis["name"], points=[AxisPoint(text) for text in axis["points"]]) for axis in document["axes"]]
        until = document.get("until")
        result = cls(
            table,
            axes,
            document["metrics"],
            reused=table.num_rows,
            windows=tuple(Window(each["from"], each["to"]) for each in document.get("measured", ())),
            unmet=tuple(document.get("unmet", ())),
            constant=tuple(document.get("constant", ())),
            warnings=tuple(document.get("warnings", ())),
            sampled=_sampled(document.get("design") or {}),
            until=Until.of(until["conditions"], until["most_seeds"]) if until else None,
        )
        result.units = {axis["name"]: axis["unit"] for axis in document["axes"]}
        return result

    def summarise(self, level: float = 0.95) -> pa.Table:
        """The points, a row each: axes, `runs`, and per metric its mean and interval over seeds.

        A metric M has the columns `M`, `M_low` and `M_high`. Intervals are Student's t, at the confidence `level`. They
        are NaN for a single seed. Without SciPy all are NaN, with a warning.

        Raises:
            ValueError: `level` is not inside (0, 1).
        """
        place = [column for axis in self.axes for column in (axis, f"{axis}_label")]
        rows_of = self._rows_by(["experiment", *place])
        columns: dict[str, Any] = {
            name: pa.array([where[index] for where in rows_of], self.table[name].type)
            for index, name in enumerate(["experiment", *place])
        }
        columns["runs"] = pa.array([len(rows) for rows in rows_of.values()], pa.int64())
        for name in self.metrics:
            values = self.table[name].to_numpy()
            intervals = [_interval(values[rows], level) for rows in rows_of.values()]
            columns[name] = pa.array([interval.mean for interval in intervals], pa.float64())
            columns[f"{name}_low"] = pa.array([interval.low for interval in intervals], pa.float64())
            columns[f"{name}_high"] = pa.array([interval.high for interval in intervals], pa.float64())
        return pa.table(columns)

    def unit_of(self, metric: str) -> tuple[str, float]:
        """The unit in which people read a metric, such as "Mb/s", and the divisor of its values in the table."""
        sizes = [abs(value) for value in self.table[metric].to_pylist() if value is not None and math.isfinite(value)]
        return metric_unit(metric, self.metrics[metric], max(sizes, default=0.0))

    def is_constant(self, experiment: str, labels: Iterable[str | None]) -> bool:
        """True if all seeds of the point with these labels on the axes gave the same bytes."""
        return point_label(experiment, zip(self.axes, labels, strict=True)) in self.constant

    def equal_seeds(self) -> str:
        """A note on the points at which all seeds gave the same bytes; empty if there are none."""
        if not self.constant:
            return ""
        runs = self._rows_by(["experiment", *(f"{axis}_label" for axis in self.axes)])
        several = sum(len(rows) > 1 for rows in runs.values())
        where = "each point" if len(self.constant) == several else f"{len(self.constant)} of {several} points"
        return (
            f"All seeds gave the same bytes at {where}: nothing is random there, so one seed suffices. "
            "Random starts of flows (jitter) let seeds differ"
        )

    def doubts(self) -> list[str]:
        """Metrics with doubtful intervals, each with reason and position: skewed ones, points with few seeds."""
        rows_of = self._rows_by(["experiment", *(f"{axis}_label" for axis in self.axes)])
        told: dict[str, None] = {}
        for where, rows in rows_of.items():
            if self.is_constant(where[0], where[1:]):
                continue
            at = ", ".join(f"{axis}={label}" for axis, label in zip(self.axes, where[1:], strict=True) if label)
            for name in self.metrics:
                why = doubt(self.table[name].to_numpy()[rows]) if len(rows) > 1 else None
                if why:
                    told[why if why.startswith("only") else f"{name} at {at}: {why}"] = None
        return list(told)

    def gaps(self) -> list[str]:
        """Metrics without a value in some runs, with the number of these runs."""
        names_of: dict[tuple[int, str | None], list[str]] = {}
        for name, path in self.metrics.items():
            without = sum(map(math.isnan, self.table[name].to_numpy()))
            if without:
                names_of.setdefault((without, total_for_saving(path)), []).append(name)
        return [
            f"{', '.join(names)}: no value in {without} of {self.table.num_rows} runs, so no mean at their points"
            + (f"; where links slept, compare {total} with the runs without sleep (netlull compare)" if total else "")
            for (without, total), names in names_of.items()
        ]

    def _rows_by(self, columns: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
        """The numbers of the rows with equal values in these columns."""
        rows_of: dict[tuple[Any, ...], list[int]] = {}
        values = (self.table[name].to_pylist() for name in columns)
        for row, place in enumerate(zip(*values, strict=True)):
            rows_of.setdefault(place, []).append(row)
        return rows_of

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas data frame (needs `netlull[pandas]`)."""
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars data frame (needs `netlull[polars]`)."""
        return polars_frame(self.table)


def _description(folder: Path) -> dict[str, Any]:
    check_folder(folder, "the folder of a sweep")
    try:
        return read_checked(folder)
    except OSError:
        raise ResultError(f"{folder / DESCRIPTION}: is missing; expected the folder of a sweep") from None
    except FormatError as error:
        raise FormatError(f"{folder}/{error}") from None
    except ResultError as error:
        raise ResultError(f"{folder}/{error}; {_REBUILD}") from None


def _interval(values: npt.NDArray[np.float64], level: float) -> Interval:
    """The mean and its interval; without SciPy the mean alone, with a warning."""
    try:
        return mean_interval(values, level)
    except MissingPackageError as missing:
        warnings.warn(f"confidence intervals are left out: {missing}", NetlullWarning, stacklevel=3)
        return Interval(float(values.mean()), math.nan, math.nan, len(values))


def _sampled(design: Mapping[str, Any]) -> tuple[str, ...]:
    return () if design.get("kind") == "list" else tuple(design.get("axes", ()))


def _check_columns(folder: Path, result: SweepResult) -> None:
    """Refuses a table without a column that sweep.json names."""
    kinds = {"experiment": pa.types.is_string, "seed": pa.types.is_integer}
    kinds |= {f"{axis}_label": pa.types.is_string for axis in result.axes}
    kinds |= dict.fromkeys(result.metrics, pa.types.is_floating)
    for name in (*kinds, *result.axes):
        column = result.table.schema.field(name) if name in result.table.column_names else None
        if column is None or not kinds.get(name, lambda _kind: True)(column.type):
            found = "is missing" if column is None else f"has the type {column.type}"
            raise ResultError(f"{folder / TABLE}: the column {name} of {DESCRIPTION} {found}; {_REBUILD}")


def _energy(folder: Path, document: Mapping[str, Any]) -> pa.Table | None:
    """The energy table; None in a store of an earlier version."""
    return _sound_table(folder, document, ENERGY) if ENERGY in document.get("files", {}) else None


def _table(folder: Path, document: Mapping[str, Any]) -> pa.Table:
    path = folder / TABLE
    if not path.exists():
        raise ResultError(f"{path}: is missing: the sweep has not ended; run it again to resume")
    if TABLE not in document.get("files", {}):
        raise ResultError(f"{path}: is of an earlier sweep; this one has not ended: run it again to resume")
    return _sound_table(folder, document, TABLE)


def _sound_table(folder: Path, document: Mapping[str, Any], name: str) -> pa.Table:
    """A table of the store, if it matches its checksum in sweep.json."""
    import pyarrow.parquet as pq

    damage = table_damage(folder, document, name)
    if damage is not None:
        raise ResultError(f"{folder}/{damage}; {_REBUILD}")
    try:
        return pq.read_table(folder / name)
    except (OSError, pa.ArrowInvalid):
        raise ResultError(f"{folder / name}: is truncated or damaged; {_REBUILD}") from None
