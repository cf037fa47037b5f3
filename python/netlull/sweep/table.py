"""The table of a sweep: one row per point and seed, and its means with confidence intervals."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from netlull.errors import ResultError
from netlull.stats import mean_interval
from netlull.sweep.store import DESCRIPTION, TABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    import polars as pl

    from netlull.sweep.axes import Axis
    from netlull.sweep.plan import Point

__all__ = ["Cost", "SweepResult", "build_table"]


def build_table(
    points: Sequence[Point],
    axes: Sequence[Axis],
    metrics: Mapping[str, str],
    measured: Mapping[str, Mapping[str, float]],
) -> pa.Table:
    """The rows of all points, in their order, seeds ascending; null where an experiment does not use an axis.

    `measured` has the metrics of every run by its key.
    """
    from netlull.sweep.plan import run_key

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
    runs = [measured[run_key(point.scenario, seed)] for point, seed in rows]
    for column in metrics:
        columns[column] = pa.array([run[column] for run in runs], pa.float64(), from_pandas=True)
    return pa.table(columns)


@dataclass(frozen=True, slots=True)
class Cost:
    """What simulating runs cost: CPU time in the runs alone, and the packet-hops that it bought."""

    cpu_s: float = 0.0
    packet_hops: int = 0

    def __add__(self, other: Cost) -> Cost:
        """Of both."""
        return Cost(self.cpu_s + other.cpu_s, self.packet_hops + other.packet_hops)

    @property
    def ns_per_hop(self) -> float:
        """CPU nanoseconds per packet-hop; NaN if there was none."""
        return self.cpu_s * 1e9 / self.packet_hops if self.packet_hops else math.nan


class SweepResult:
    """What a sweep found. `table` has one row per point and seed: experiment, axes, labels, seed, metrics."""

    def __init__(
        self,
        table: pa.Table,
        axes: Sequence[Axis],
        metrics: Mapping[str, str],
        *,
        executed: int = 0,
        reused: int = 0,
        damaged: tuple[str, ...] = (),
        cost: Cost | None = None,
    ) -> None:
        """For `Sweep.run` and `SweepResult.load`."""
        self.table = table
        self.axes = tuple(axis.name for axis in axes)
        self.units = {axis.name: axis.unit for axis in axes}
        self.metrics = dict(metrics)
        self.executed = executed
        """Runs that were simulated."""
        self.reused = reused
        """Runs that the store already had."""
        self.damaged = damaged
        """What was wrong with lines of the store's journal; their runs were repeated."""
        self.cost = cost or Cost()
        """What the runs that were simulated cost."""

    @classmethod
    def load(cls, store: str | Path) -> Self:
        """Reads the table of a sweep that ran to its end.

        Raises:
            ResultError: names the file that is missing, truncated or damaged.
        """
        import pyarrow.parquet as pq

        from netlull.sweep.axes import Axis, AxisPoint

        folder = Path(store)
        try:
            description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
            axes = [
                Axis(axis["name"], points=[AxisPoint(text) for text in axis["points"]]) for axis in description["axes"]
            ]
            units = {axis["name"]: axis["unit"] for axis in description["axes"]}
            metrics = description["metrics"]
        except OSError:
            raise ResultError(f"{folder / DESCRIPTION}: is missing; expected the folder of a sweep") from None
        except (ValueError, KeyError, TypeError):
            raise ResultError(f"{folder / DESCRIPTION}: is truncated or damaged") from None
        try:
            table = pq.read_table(folder / TABLE)
        except FileNotFoundError:
            raise ResultError(
                f"{folder / TABLE}: is missing; the sweep has not ended: run it again to resume"
            ) from None
        except (OSError, pa.ArrowInvalid):
            raise ResultError(f"{folder / TABLE}: is truncated or damaged; run the sweep again to rebuild it") from None
        result = cls(table, axes, metrics, reused=table.num_rows)
        result.units = units
        return result

    def summarise(self, level: float = 0.95) -> pa.Table:
        """One row per point: axes, `runs`, and per metric M its mean and interval over seeds, `M`, `M_low`, `M_high`.

        Intervals are Student's t; NaN where there is one seed.
        """
        place = [column for axis in self.axes for column in (axis, f"{axis}_label")]
        places = list(zip(*(self.table[name].to_pylist() for name in ["experiment", *place]), strict=True))
        rows_of: dict[tuple[Any, ...], list[int]] = {}
        for row, where in enumerate(places):
            rows_of.setdefault(where, []).append(row)
        columns: dict[str, Any] = {
            name: pa.array([where[index] for where in rows_of], self.table[name].type)
            for index, name in enumerate(["experiment", *place])
        }
        columns["runs"] = pa.array([len(rows) for rows in rows_of.values()], pa.int64())
        for name in self.metrics:
            values = self.table[name].to_numpy()
            intervals = [mean_interval(values[rows], level) for rows in rows_of.values()]
            columns[name] = pa.array([interval.mean for interval in intervals], pa.float64())
            columns[f"{name}_low"] = pa.array([interval.low for interval in intervals], pa.float64())
            columns[f"{name}_high"] = pa.array([interval.high for interval in intervals], pa.float64())
        return pa.table(columns)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas data frame (needs `netlull[pandas]`)."""
        return self.table.to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars data frame (needs `netlull[polars]`)."""
        import polars as pl

        frame = pl.from_arrow(self.table)
        if not isinstance(frame, pl.DataFrame):
            raise TypeError(f"polars made a {type(frame).__name__} of the table")
        return frame
