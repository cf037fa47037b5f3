"""A sweep: scenario, axes, experiments, seeds and metrics; its runs, and their execution."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from netlull import _engine
from netlull.cluster import Cluster, ClusterTeam, open_cluster
from netlull.documents.plain import plain
from netlull.errors import FieldPathError, InputError, NetlullWarning, SweepError
from netlull.runs.memory import limit
from netlull.runs.team import Hire, Progress, default_workers, local_team
from netlull.sweep.axes import RESERVED_COLUMNS, Axis, AxisPoint, Experiment, check_seeds
from netlull.sweep.design import MOST_POINTS
from netlull.sweep.document import read_sweep
from netlull.sweep.points import Point
from netlull.sweep.running import Running
from netlull.sweep.store import Store
from netlull.sweep.table import SweepResult, Window, build_table
from netlull.sweep.until import Until
from netlull.sweep.warnings import warnings_of

if TYPE_CHECKING:
    from netlull.plugins.loading import AllowedCode
    from netlull.runs.team import Finished
    from netlull.scenario import Scenario
    from netlull.sweep.design import Design

__all__ = ["MOST_RUNS", "Sweep"]

MOST_RUNS = 10_000_000


class Sweep:
    """A grid of scenarios and seeds.

    Args:
        scenario: the scenario that every point changes.
        axes: the dimensions.
        seeds: their number (1, 2, ...), or a list.
        metrics: columns of the table, each a path into the run's summary, such as `link.N1-N2.mean_rate_bps`.
        experiments: grids over some of the axes; default one, "sweep", over all.
        design: points without a grid, a list or a sample; the axes cross them.

    Example:
        >>> from netlull import Axis, Link, Scenario, Sweep, Tcp
        >>> link = Link("a", "b", "10 Mb/s", "20 ms", duplex=True, buffer="BDP")
        >>> scenario = Scenario(duration="10 s", nodes=["a", "b"], links=[link], flows=[Tcp("tcp", "a", "b")])
        >>> sweep = Sweep(
        ...     scenario,
        ...     axes=[Axis("rate", "link.a-b.rate", ["5 Mb/s", "10 Mb/s"], unit="Mb/s")],
        ...     seeds=10,
        ...     metrics={"goodput_bps": "flow.tcp.goodput_bps"},
        ... )
        >>> [point.values for point in sweep.points()]
        [{'rate': 5.0}, {'rate': 10.0}]

    Raises:
        SweepError: the message names the field, its value and the expected values.
    """

    def __init__(
        self,
        scenario: Scenario,
        axes: Sequence[Axis] = (),
        seeds: int | Sequence[int] = 1,
        metrics: Mapping[str, str] | None = None,
        experiments: Sequence[Experiment] = (),
        design: Design | None = None,
    ) -> None:
        self.scenario = scenario
        self.axes = tuple(axes)
        self.design = design
        self.all_axes = (*(() if design is None else design.axes), *self.axes)
        """The axes of the design, then those of the grid, in the order of the table's columns."""
        self.seeds = check_seeds(seeds, "seeds")
        self.metrics = dict(metrics or {})
        self.experiments = tuple(experiments) or (Experiment("sweep"),)
        self._check_names()
        self._check_size()

    def _check_names(self) -> None:
        if not self.metrics:
            raise SweepError("metrics: is missing or empty; expected column = path, such as link.N1-N2.mean_rate_bps")
        columns = [*RESERVED_COLUMNS]
        for axis in self.all_axes:
            columns += [axis.name, f"{axis.name}_label"]
        columns += self.metrics
        doubled = [column for column in columns if columns.count(column) > 1]
        if doubled:
            raise SweepError(f'"{doubled[0]}" names two columns of the table; expected different names')
        names = [experiment.name for experiment in self.experiments]
        labels = [point.text for axis in self.axes for point in axis.points]
        for name in [*columns, *names, *labels]:
            if not name.isprintable():
                told = "is not a valid name; expected text without control characters and marks of direction"
                raise SweepError(f"{json.dumps(name)} {told}")
        if len(set(names)) != len(names):
            raise SweepError("experiment: two have the same name; expected different names")
        known = {axis.name for axis in self.all_axes}
        for experiment in self.experiments:
            where = f"experiment.{experiment.name}.axes"
            for axis_name in experiment.axes or ():
                if axis_name not in known:
                    listed = ", ".join(sorted(known)) or "none"
                    raise SweepError(f'{where}: "{axis_name}" is not an axis; axes: {listed}')
            if self._uses_design(experiment) and experiment.axes is not None:
                for axis in self.design.axes if self.design else ():
                    if axis.name not in experiment.axes:
                        raise SweepError(
                            f'{where}: lacks "{axis.name}"; expected all axes of the list or sample, or none'
                        )

    def _uses_design(self, experiment: Experiment) -> bool:
        if self.design is None:
            return False
        return experiment.axes is None or any(axis.name in experiment.axes for axis in self.design.axes)

    def _grid_axes(self, experiment: Experiment) -> list[Axis]:
        """The experiment's axes outside the design, in its order."""
        if experiment.axes is None:
            return list(self.axes)
        by_name = {axis.name: axis for axis in self.axes}
        return [by_name[name] for name in experiment.axes if name in by_name]

    def _check_size(self) -> None:
        """Counts the points and the runs before any is made."""
        total = count = 0
        for experiment in self.experiments:
            points = math.prod(len(axis.points or axis.values) for axis in self._grid_axes(experiment))
            if self.design is not None and self._uses_design(experiment):
                points *= len(self.design.places)
            count += points
            total += points * len(self._seeds_of(experiment))
        if count > MOST_POINTS:
            raise SweepError(f"axis: the sweep has {count} points; expected at most {MOST_POINTS}")
        if total > MOST_RUNS:
            raise SweepError(f"axis, seeds: points times seeds are {total} runs; expected at most {MOST_RUNS}")

    def _seeds_of(self, experiment: Experiment) -> tuple[int, ...]:
        if experiment.seeds is None:
            return self.seeds
        return check_seeds(experiment.seeds, f"experiment.{experiment.name}.seeds")

    @classmethod
    def from_file(cls, path: str | Path, *, allow_code: AllowedCode = False) -> Self:
        """A sweep from a TOML file (docs/how-to/sweep.md). `allow_code` is that of `Scenario.from_toml`.

        Raises:
            InputError: the file, or its scenario, cannot be read or is invalid.
            ScenarioError: its scenario is invalid.
        """
        fields = read_sweep(Path(path), allow_code)
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

        `seeds` is the default. Experiments with their own seeds keep them.

        Raises:
            SweepError: the new sweep is invalid.
        """
        return type(self)(
            self.scenario,
            self.axes if axes is None else axes,
            self.seeds if seeds is None else seeds,
            self.metrics if metrics is None else metrics,
            self.experiments if experiments is None else experiments,
            self.design,
        )

    def points(self) -> list[Point]:
        """Every point, experiment by experiment: the design's points, then the grid.

        In the grid, the first axis changes slowest. Each point is a valid scenario.

        Raises:
            SweepError: a point has an invalid scenario; the message names the point and the reason.
        """
        return list(self.each_point())

    def each_point(self) -> Iterator[Point]:
        """The points of `points` one by one, each checked when it is asked for.

        Raises:
            SweepError: a point has an invalid scenario; the message names the point and the reason.
        """
        for experiment in self.experiments:
            yield from self._grid(experiment)

    def _grid(self, experiment: Experiment) -> Iterator[Point]:
        axes = self._grid_axes(experiment)
        names = [axis.name for axis in axes]
        rows: Sequence[Mapping[str, AxisPoint]] = ({},)
        if self.design is not None and self._uses_design(experiment):
            rows = self.design.places
        seeds = self._seeds_of(experiment)
        places = list(itertools.product(*(axis.resolved for axis in axes)))
        for row, place in itertools.product(rows, places):
            at = {**row, **dict(zip(names, place, strict=True))}
            yield Point(experiment.name, at, self._scenario_at(experiment, at), seeds)

    def _scenario_at(self, experiment: Experiment, at: Mapping[str, AxisPoint]) -> Scenario:
        changes = [experiment.changes(), *(point.changes() for point in at.values())]
        # A recording never changes a run, and a sweep keeps only numbers.
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
        borrow: Sequence[str | Path] = (),
        workers: int | None = None,
        cluster: str | Cluster | None = None,
        progress: Callable[[Progress], None] | None = None,
        until: str | Sequence[str] | None = None,
        most_seeds: int | None = None,
        memory: str | None = None,
    ) -> SweepResult:
        """Runs the missing runs on all cores. The table does not depend on the workers and the interruptions.

        Each warning about its scenarios becomes a `NetlullWarning` with the points, as does damage in the store.

        Args:
            store: a folder that keeps finished runs and lets the sweep resume; None keeps nothing.
            borrow: further stores, whose finished runs are not repeated and not copied; only with `store`.
            workers: number of simultaneous runs; default one per core.
            cluster: runs the sweep elsewhere: a result or argument of `netlull.open_cluster` (docs/how-to/cluster.md).
            progress: called in this thread when a run ends and several times a second.
            until: conditions on the metrics, such as "goodput_bps<5%". Seeds are added to each point until its 95 %
                intervals are narrow enough. At least 5 seeds; their choice does not depend on workers or interruptions.
            most_seeds: the most seeds of a point; default 1000. `SweepResult.unmet` names the points that need more.
            memory: the most memory of each run, such as "2 GB". The default is a third of the free memory, shared by
                the simultaneous runs of a machine.

        Raises:
            MemoryLimitError: a run exceeded its memory limit. All other runs are finished and in the store.
            SweepError: a point, a metric, a condition or the store is invalid, or another sweep is writing to the
                store.
            OutputError: the store cannot be written.
            ClusterError: the cluster cannot be reached or used.
            VerificationError: a run broke a conservation law: a bug in the simulator.
            KeyboardInterrupt: Ctrl-C; finished runs are in the store.
        """
        if workers is not None and workers < 1:
            raise SweepError(f"workers: {workers} is not a number of workers; expected 1 or more")
        if until is None and most_seeds is not None:
            raise SweepError(f"most_seeds: {most_seeds} limits `until`; expected a condition in `until`")
        stop = None if until is None else Until.of(until, most_seeds)
        if stop is not None:
            stop.check(self.metrics)
        points = self.points()
        count = workers or default_workers()
        most = limit(memory, count if cluster is None else 1)
        for text in warnings_of(points, None if cluster is not None and memory is None else most):
            warnings.warn(text, NetlullWarning, stacklevel=2)
        with contextlib.ExitStack() as stack:
            if isinstance(cluster, str):
                cluster = stack.enter_context(open_cluster(cluster, workers=workers))
            # Only after the cluster was reached: otherwise nothing is written.
            description = self.description(stop, points)
            opened = None if store is None else stack.enter_context(_opened(store, description, borrow))
            hire: Hire
            if cluster is None:
                hire = functools.partial(local_team, count=count, memory=most)
            else:
                hire = functools.partial(ClusterTeam, cluster=cluster, memory=None if memory is None else most)
            return self._run(points, Running(self.metrics, opened, hire, progress), opened, stop)

    def keep(
        self, store: str | Path, runs: Sequence[Finished], points: Sequence[Point], *, borrow: Sequence[str | Path] = ()
    ) -> None:
        """Puts finished runs into a store that has none of them. `run` does not repeat them there.

        Args:
            store: the folder.
            runs: the runs.
            points: the sweep's own points.
            borrow: further stores. A run in one of them is not copied.

        Raises:
            SweepError: the store is invalid, or another sweep is writing to it.
            OutputError: the store cannot be written.
        """
        with _opened(store, self.description(None, points), borrow) as opened:
            for key, run in {run.job.key: run for run in runs}.items():
                if opened.kept(key) is None:
                    opened.record(run)

    def _run(self, points: Sequence[Point], running: Running, store: Store | None, until: Until | None) -> SweepResult:
        if until is None:
            running.run(points)
        else:
            points = running.run_until(points, until)
        table = build_table(points, self.all_axes, self.metrics, running.measured)
        energy = running.energies.table(points, self.all_axes)
        unmet = () if until is None else _unmet(points, running, until)
        constant = running.constant(points)
        if store is not None:
            store.write_tables(table, energy, unmet, constant)
        return SweepResult(
            table,
            self.all_axes,
            self.metrics,
            executed=running.executed,
            reused=running.reused,
            damaged=() if store is None else store.damaged,
            rebuilt=() if store is None else store.rebuilt,
            cost=running.cost,
            windows=_windows(points),
            unmet=unmet,
            constant=constant,
            until=until,
            warnings=warnings_of(points),
            sampled=() if self.design is None else self.design.sampled_axes,
            energy=energy,
        )

    def description(self, until: Until | None = None, points: Sequence[Point] | None = None) -> dict[str, Any]:
        """The sweep's description in its store. `points` are its own, if they exist already."""
        points = self.points() if points is None else points
        windows = _windows(points)
        described: dict[str, Any] = {
            "metrics": self.metrics,
            "axes": [
                {
                    "name": axis.name,
                    "unit": axis.unit,
                    "points": [point.text for point in axis.resolved],
                    "changes": [plain(point.changes()) for point in axis.resolved],
                }
                for axis in self.all_axes
            ],
            "experiments": [
                {
                    "name": experiment.name,
                    "axes": [axis.name for axis in self.all_axes] if experiment.axes is None else list(experiment.axes),
                    "seeds": list(self._seeds_of(experiment)),
                    "set": dict(experiment.set),
                    "unset": list(experiment.unset),
                }
                for experiment in self.experiments
            ],
        }
        if self.design is not None:
            described["design"] = {**self.design.description, "axes": [axis.name for axis in self.design.axes]}
        if until is not None:
            described["until"] = {
                "conditions": [str(each) for each in until.conditions],
                "most_seeds": until.most_seeds,
            }
        described["measured"] = [{"from": window.warm_up, "to": window.duration} for window in windows]
        warned = warnings_of(points)
        if warned:
            described["warnings"] = list(warned)
        described["scenario"] = self.scenario.to_dict()
        return described


@contextlib.contextmanager
def _opened(store: str | Path, description: Mapping[str, Any], borrow: Sequence[str | Path]) -> Iterator[Store]:
    """Opens a store and those that lend it runs. Damage becomes a warning at the caller of the sweep's method."""
    with Store.open(Path(store), description) as opened:
        for other in borrow:
            opened.borrow(Path(other))
        for text in opened.mended():
            # Past this function, two of contextlib, and the method.
            warnings.warn(f"{store}: {text}", NetlullWarning, stacklevel=5)
        yield opened


def _windows(points: Sequence[Point]) -> tuple[Window, ...]:
    """The measured windows of the runs, each once, in the order of the points."""
    return tuple(dict.fromkeys(Window(point.scenario.warm_up, point.scenario.duration) for point in points))


def _unmet(points: Sequence[Point], running: Running, until: Until) -> tuple[str, ...]:
    """The points that reached the most seeds, and the reasons."""
    told = []
    for point in points:
        why = until.unmet(running.values(point))
        if why:
            told.append(f"{point.label}: {', '.join(why)} after {len(point.seeds)} seeds")
    return tuple(told)
