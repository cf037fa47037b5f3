"""A sweep: scenario, axes, experiments, seeds and metrics; which runs it needs, and running them."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from netlull import _engine
from netlull.errors import FieldPathError, InputError, SweepError
from netlull.sweep.axes import RESERVED_COLUMNS, Axis, AxisPoint, Experiment, check_seeds
from netlull.sweep.execution import Finished, Progress, Team, Threads, default_workers, execute
from netlull.sweep.metrics import Metrics
from netlull.sweep.order import Job, LongestFirst
from netlull.sweep.store import Store
from netlull.sweep.table import Cost, SweepResult, build_table

if TYPE_CHECKING:
    from netlull.cluster import Cluster
    from netlull.scenario import Scenario

    Hire = Callable[[LongestFirst], Team]

__all__ = ["MOST_RUNS", "Point", "Sweep"]

MOST_RUNS = 10_000_000


@dataclass(frozen=True)
class Point:
    """One place of the grid: its experiment, where it is on each of its axes, what runs there and with which seeds."""

    experiment: str
    at: Mapping[str, AxisPoint]
    scenario: Scenario
    seeds: tuple[int, ...]

    @property
    def values(self) -> dict[str, float | str]:
        """The value on each axis, in the axis's unit."""
        return {axis: point.value for axis, point in self.at.items()}

    @property
    def label(self) -> str:
        """`EXPERIMENT at AXIS=LABEL, ...`, for people."""
        place = ", ".join(f"{axis}={point.text}" for axis, point in self.at.items())
        return f"{self.experiment} at {place}" if place else self.experiment


class Sweep:
    """A grid of scenarios times seeds.

    Args:
        scenario: what every point starts from.
        axes: the dimensions.
        seeds: how many (1, 2, ...), or which.
        metrics: columns of the table, each a path into the run's summary, such as `link.N1-N2.mean_rate_bps`.
        experiments: grids over some of the axes; default one, "sweep", over all.

    Raises:
        SweepError: names what is wrong and what was expected.
    """

    def __init__(
        self,
        scenario: Scenario,
        axes: Sequence[Axis],
        seeds: int | Sequence[int] = 1,
        metrics: Mapping[str, str] | None = None,
        experiments: Sequence[Experiment] = (),
    ) -> None:
        self.scenario = scenario
        self.axes = tuple(axes)
        self.seeds = check_seeds(seeds, "seeds")
        self.metrics = dict(metrics or {})
        self.experiments = tuple(experiments) or (Experiment("sweep"),)
        self._check_names()
        self._check_size()

    def _check_names(self) -> None:
        if not self.metrics:
            raise SweepError("metrics: is missing or empty; expected column = path, such as link.N1-N2.mean_rate_bps")
        columns = [*RESERVED_COLUMNS]
        for axis in self.axes:
            columns += [axis.name, f"{axis.name}_label"]
        columns += self.metrics
        doubled = [column for column in columns if columns.count(column) > 1]
        if doubled:
            raise SweepError(f'"{doubled[0]}" would be two columns of the table; expected different names')
        names = [experiment.name for experiment in self.experiments]
        if len(set(names)) != len(names):
            raise SweepError("experiment: two have the same name")
        known = {axis.name for axis in self.axes}
        for experiment in self.experiments:
            for axis_name in experiment.axes or ():
                if axis_name not in known:
                    listed = ", ".join(sorted(known)) or "none"
                    raise SweepError(f'experiment.{experiment.name}.axes: "{axis_name}" is no axis; axes: {listed}')

    def _check_size(self) -> None:
        """Counts the runs before any is made."""
        sizes = {axis.name: len(axis.points or axis.values) for axis in self.axes}
        total = 0
        for experiment in self.experiments:
            chosen = sizes if experiment.axes is None else experiment.axes
            total += math.prod(sizes[name] for name in chosen) * len(self._seeds_of(experiment))
        if total > MOST_RUNS:
            raise SweepError(f"axis, seeds: points times seeds are {total} runs; expected at most {MOST_RUNS}")

    def _seeds_of(self, experiment: Experiment) -> tuple[int, ...]:
        if experiment.seeds is None:
            return self.seeds
        return check_seeds(experiment.seeds, f"experiment.{experiment.name}.seeds")

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """A sweep from a TOML file (docs/how-to/sweep.md).

        Raises:
            InputError: the file, or the scenario it names, cannot be read or used.
            ScenarioError: the scenario it names is wrong.
        """
        from netlull.sweep.document import read_sweep

        fields = read_sweep(Path(path))
        try:
            return cls(**fields)
        except SweepError as error:
            raise SweepError(f"{path}: {error}") from None

    def replaced(
        self,
        *,
        seeds: int | Sequence[int] | None = None,
        axes: Sequence[Axis] | None = None,
        metrics: Mapping[str, str] | None = None,
        experiments: Sequence[Experiment] | None = None,
    ) -> Self:
        """The same sweep with other seeds, axes, metrics or experiments.

        `seeds` is the default; experiments that state their own keep them.
        """
        return type(self)(
            self.scenario,
            self.axes if axes is None else axes,
            self.seeds if seeds is None else seeds,
            self.metrics if metrics is None else metrics,
            self.experiments if experiments is None else experiments,
        )

    def points(self) -> list[Point]:
        """Every point, experiment by experiment, the first axis changing slowest; each is a valid scenario.

        Raises:
            SweepError: names the point whose scenario is wrong, and why.
        """
        return [point for experiment in self.experiments for point in self._grid(experiment)]

    def _grid(self, experiment: Experiment) -> list[Point]:
        by_name = {axis.name: axis for axis in self.axes}
        chosen = list(by_name) if experiment.axes is None else list(experiment.axes)
        seeds = self._seeds_of(experiment)
        grid: list[Point] = []
        for place in itertools.product(*(by_name[name].resolved for name in chosen)):
            at = dict(zip(chosen, place, strict=True))
            grid.append(Point(experiment.name, at, self._scenario_at(experiment, at), seeds))
        return grid

    def _scenario_at(self, experiment: Experiment, at: Mapping[str, AxisPoint]) -> Scenario:
        changes = [experiment.changes(), *(point.changes() for point in at.values())]
        # What is recorded never changes a run, and a sweep keeps numbers only.
        changes.append({"probe": None})
        try:
            return self.scenario.with_changes(*changes)
        except (_engine.ScenarioError, FieldPathError, InputError) as error:
            label = Point(experiment.name, at, self.scenario, ()).label
            raise SweepError(f"{label}: {error}") from None

    def run(
        self,
        store: str | Path | None = None,
        *,
        workers: int | None = None,
        cluster: str | Cluster | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> SweepResult:
        """Runs what is missing, on all cores; the table is the same whatever the workers and the interruptions.

        Args:
            store: a folder that keeps finished runs, so that the sweep resumes; None keeps nothing.
            workers: runs at a time; default one per core.
            cluster: where to run instead: what `netlull.open_cluster` gave or takes (docs/how-to/cluster.md).
            progress: called in this thread when a run ends and several times a second.

        Raises:
            SweepError: a point, a metric or the store cannot be used, or another sweep is writing to it.
            OutputError: the store cannot be written.
            ClusterError: the cluster cannot be reached or used.
            VerificationError: a run broke a conservation law: a bug in the simulator.
            KeyboardInterrupt: finished runs are in the store.
        """
        if workers is not None and workers < 1:
            raise SweepError(f"workers: {workers} is no number of workers; expected 1 or more")
        points = self.points()
        with contextlib.ExitStack() as stack:
            if isinstance(cluster, str):
                from netlull.cluster import open_cluster

                cluster = stack.enter_context(open_cluster(cluster, workers=workers))
            # After the cluster was reached: where it was not, nothing is written.
            opened = None if store is None else stack.enter_context(Store.open(Path(store), self.description()))
            hire = functools.partial(Threads, count=workers or default_workers()) if cluster is None else cluster.hire
            return self._run(points, opened, hire, progress)

    def _run(
        self,
        points: Sequence[Point],
        store: Store | None,
        hire: Hire,
        progress: Callable[[Progress], None] | None,
    ) -> SweepResult:
        jobs = _jobs(points)
        metrics = Metrics(self.metrics)
        measured: dict[str, dict[str, float]] = {}
        reused: list[tuple[Job, float | None]] = []
        for key, job in jobs.items():
            kept = None if store is None else store.kept(key)
            if kept is not None:
                measured[key] = metrics.of(kept.summary)
                reused.append((job, kept.cpu_s))

        cpu_s, packet_hops = 0.0, 0

        def finished(run: Finished) -> None:
            nonlocal cpu_s, packet_hops
            summary = json.loads(run.summary)
            # The first run shows a misspelt path.
            values = metrics.of(summary)
            if store is not None:
                store.record(run)
            measured[run.job.key] = values
            cpu_s += run.cpu_s
            packet_hops += summary["packet_hops"]

        missing = [job for key, job in jobs.items() if key not in measured]
        execute(missing, hire, finished, progress, reused=reused)
        table = build_table(points, self.axes, self.metrics, measured)
        if store is not None:
            store.write_table(table)
        return SweepResult(
            table,
            self.axes,
            self.metrics,
            executed=len(missing),
            reused=len(reused),
            damaged=() if store is None else store.damaged,
            cost=Cost(cpu_s, packet_hops),
        )

    def description(self) -> dict[str, Any]:
        """The sweep as its store describes it."""
        return {
            "metrics": self.metrics,
            "axes": [
                {"name": axis.name, "unit": axis.unit, "points": [point.text for point in axis.resolved]}
                for axis in self.axes
            ],
            "experiments": [
                {
                    "name": experiment.name,
                    "axes": [axis.name for axis in self.axes] if experiment.axes is None else list(experiment.axes),
                    "seeds": list(self._seeds_of(experiment)),
                    "set": dict(experiment.set),
                    "unset": list(experiment.unset),
                }
                for experiment in self.experiments
            ],
            "scenario": self.scenario.to_dict(),
        }


def run_key(scenario: Scenario, seed: int) -> str:
    """Identifies one run: same key, same bytes."""
    return f"{scenario.key[:40]}-{seed}"


def _jobs(points: Sequence[Point]) -> dict[str, Job]:
    """The runs that the points need, each once, in the order of the points."""
    jobs: dict[str, Job] = {}
    shared: dict[str, _engine.Checked] = {}
    for point in points:
        scenario = shared.setdefault(point.scenario.key, point.scenario.checked)
        hops = max(scenario.expected_hops(), 1.0)
        for seed in point.seeds:
            key = run_key(point.scenario, seed)
            if key not in jobs:
                jobs[key] = Job(key, seed, scenario, point.label, hops)
    return jobs
