"""The runs of points, each once: taken from the store if present, else simulated and kept."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from netlull.runs.order import Job
from netlull.runs.team import Cost, Finished, Progress, execute
from netlull.sweep.energy import Energies
from netlull.sweep.metrics import Metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from netlull import _engine
    from netlull.runs.team import Hire
    from netlull.sweep.points import Point
    from netlull.sweep.store import Store
    from netlull.sweep.until import Until

__all__ = ["Running", "finished"]


class Running:
    """The runs of one sweep in progress."""

    def __init__(
        self,
        metrics: Mapping[str, str],
        store: Store | None,
        hire: Hire,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.measured: dict[str, dict[str, float]] = {}
        """The metrics of every run by its key."""
        self.energies = Energies()
        """The energy of every run."""
        self.executed = 0
        """The number of simulated runs."""
        self.reused = 0
        """The number of runs taken from the store."""
        self.cost = Cost()
        """The cost of the simulated runs."""
        self._metrics = Metrics(metrics)
        self._names = tuple(metrics)
        self._store = store
        self._hire = hire
        self._progress = progress
        self._ended: list[tuple[Job, float | None]] = []
        self._outcomes: dict[str, set[int]] = {}
        """Hashes of up to two different summaries of a scenario."""

    def run(self, points: Sequence[Point]) -> None:
        """Puts the metrics of every run of the points into `measured`."""
        missing = []
        for key, job in _jobs(points).items():
            if key in self.measured:
                continue
            kept = None if self._store is None else self._store.kept(key)
            if kept is None:
                missing.append(job)
            else:
                self.measured[key] = self._metrics.of(kept.summary)
                self._add(job, kept.summary)
                self._ended.append((job, kept.cpu_s))
                self.reused += 1
        execute(missing, self._hire, self._finished, self._report, reused=tuple(self._ended))

    def run_until(self, points: Sequence[Point], until: Until) -> list[Point]:
        """The points with as many seeds as the conditions need. All of their runs have ended."""
        grown = [dataclasses.replace(point, seeds=until.first(point.seeds)) for point in points]
        while True:
            self.run(grown)
            given = [point.seeds for point in points]
            wanted = [until.more(seeds, self.values(point)) for seeds, point in zip(given, grown, strict=True)]
            if wanted == [point.seeds for point in grown]:
                return grown
            grown = [dataclasses.replace(point, seeds=seeds) for point, seeds in zip(grown, wanted, strict=True)]

    def values(self, point: Point) -> dict[str, list[float]]:
        """Every metric of a point, one value per seed, in the order of its seeds."""
        runs = [self.measured[point.run_key(seed)] for seed in point.seeds]
        return {name: [run[name] for run in runs] for name in self._names}

    def _finished(self, run: Finished) -> None:
        summary: dict[str, Any] = json.loads(run.summary)
        # The first run reveals a misspelt path.
        values = self._metrics.of(summary)
        if self._store is not None:
            self._store.record(run)
        self.measured[run.job.key] = values
        self._add(run.job, summary)
        self._ended.append((run.job, run.cpu_s))
        self.executed += 1
        self.cost += Cost(run.cpu_s, summary["packet_hops"])

    def _add(self, job: Job, summary: Mapping[str, Any]) -> None:
        scenario = job.key.rpartition("-")[0]
        self.energies.add(scenario, job.seed, summary)
        outcomes = self._outcomes.setdefault(scenario, set())
        if len(outcomes) <= 1:
            outcomes.add(hash(repr({**summary, "seed": None})))

    def constant(self, points: Sequence[Point]) -> tuple[str, ...]:
        """The points with several seeds that all gave the same summary."""
        return tuple(
            point.label
            for point in points
            if len(point.seeds) > 1 and len(self._outcomes[point.run_key(0).rpartition("-")[0]]) == 1
        )

    def _report(self, progress: Progress) -> None:
        if self._progress is not None:
            self._progress(dataclasses.replace(progress, reused=self.reused))


def finished(point: Point, seed: int, summary: Mapping[str, Any], cpu_s: float) -> Finished:
    """A run of a point outside the sweep, as a run of the sweep: its summary has no times per rate."""
    links = [{**link, "residency": []} for link in summary["links"]]
    text = json.dumps({**summary, "links": links}, ensure_ascii=False, separators=(",", ":"))
    scenario = point.scenario.checked
    return Finished(Job(point.run_key(seed), seed, scenario, point.label, _hops(scenario)), text, cpu_s)


def _hops(scenario: _engine.Checked) -> float:
    return max(scenario.expected_hops(), 1.0)


def _jobs(points: Sequence[Point]) -> dict[str, Job]:
    """The runs of the points, each once, in the order of the points."""
    jobs: dict[str, Job] = {}
    shared: dict[str, _engine.Checked] = {}
    for point in points:
        scenario = shared.setdefault(point.scenario.key, point.scenario.checked)
        hops = _hops(scenario)
        for seed in point.seeds:
            key = point.run_key(seed)
            if key not in jobs:
                jobs[key] = Job(key, seed, scenario, point.label, hops)
    return jobs
