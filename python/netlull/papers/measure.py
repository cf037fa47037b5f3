"""Running of a plan, and judging of the claims by its results."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from netlull.papers import source
from netlull.papers.documents import Study
from netlull.papers.grid import Cell, Grid
from netlull.papers.outcome import Evidence, Headline, JudgedClaim, Recorded, Watcher, judge
from netlull.papers.text import seeds_in_words
from netlull.papers.toml import PaperError
from netlull.sweep import Cost, Sweep, default_workers
from netlull.sweep.running import finished

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from netlull.cluster import Cluster
    from netlull.papers.documents import Paper, SeriesRun
    from netlull.papers.plan import Plan
    from netlull.results.result import Result
    from netlull.runs.team import Finished
    from netlull.sweep import SweepResult
    from netlull.sweep.points import Point

STORE = "store"


@dataclass(frozen=True, slots=True)
class Execution:
    """The means of running sweeps, as arguments of `Sweep.run`."""

    workers: int | None = None
    """The number of simultaneous runs; default one per core."""
    cluster: Cluster | None = None
    """Runs the sweeps instead of this process."""
    progress: Watcher | None = None
    """Called with the progress of each sweep."""

    @property
    def threads(self) -> int:
        """The number of threads for work of this process alone."""
        return self.workers or default_workers()

    def run(self, sweep: Sweep, store: Path, borrow: Sequence[Path]) -> SweepResult:
        """Runs the missing runs of a sweep."""
        return sweep.run(store, borrow=borrow, workers=self.workers, cluster=self.cluster, progress=self.progress)


def measure(
    paper: Paper,
    planned: Plan,
    folder: Path,
    *,
    execution: Execution = Execution(),
    stores: Sequence[Path] = (),
    use: Mapping[str, str] | None = None,
) -> Evidence:
    """Records the plan's time series and runs its missing runs.

    The plan is the paper's own, or that of one of its studies. A recording never changes a run: a recorded run of the
    sweep is not repeated.

    Args:
        paper: the paper.
        planned: the plan.
        folder: the folder for the plan's files.
        execution: the means of running the sweep.
        stores: the store, whose runs are reused, and others that lend theirs; default one in the folder.
        use: replaces metrics under their columns' names.

    Raises:
        PaperError: a recorded run is not a point of the sweep.
    """
    if planned.scripts:
        stores = stores or (folder / STORE,)
        found = [
            measure(paper, script, folder / f"script-{place}", execution=execution, stores=stores, use=use)
            for place, script in enumerate(planned.scripts, start=1)
        ]
        return _joined(found, planned.axes, use)
    sweep = Sweep.from_file(planned.write(folder), allow_code=True)
    store, *others = stores or (folder / STORE,)
    named = paper if planned.study is None else planned.study
    wanted = [run for run in named.series if run.experiment in planned.experiments and planned.seed in {None, run.seed}]
    points = sweep.points()
    series, runs = _record(paper, named, wanted, points, execution.threads)
    if runs:
        sweep.keep(store, runs, points, borrow=others)
    result = execution.run(sweep, store, others)
    hops = sum(recorded.summary["packet_hops"] for recorded in series.values())
    cost = result.cost + Cost(sum(run.cpu_s for run in runs), hops)
    places = {Cell.of(point.experiment, **point.values): point for point in points}
    grid = Grid(result.table, planned.axes, use)
    recorded = {run.name: (Cell.of(run.experiment, **run.point), run.seed) for run in wanted}
    return Evidence(paper, grid, series, cost, result.energy, places, recorded, result.units)


def _joined(parts: Sequence[Evidence], axes: Sequence[str], use: Mapping[str, str] | None) -> Evidence:
    """The runs of all parts. Each part has its own seeds."""
    table = pa.concat_tables([part.grid.table for part in parts], promote_options="default")
    first, *others = parts
    return replace(
        first,
        grid=Grid(table, axes, use),
        series={name: run for part in parts for name, run in part.series.items()},
        cost=sum((part.cost for part in others), first.cost),
        energy=None,
        recorded={name: place for part in parts for name, place in part.recorded.items()},
    )


def judged(evidence: Evidence, study: str = "") -> list[JudgedClaim]:
    """The judged claims of the paper's own sweep, or of one of its studies.

    Raises:
        PaperError: the paper's claims.py has no judge for a claim.
    """
    judges = source.module_of(evidence.paper.info.folder, "claims").JUDGES
    claims = []
    for claim in evidence.paper.claims:
        if claim.study != study:
            continue
        if claim.id not in judges:
            known = ", ".join(judges)
            raise PaperError(f"{evidence.paper.info.key}/claims.py: JUDGES has no {claim.id}; it has {known}")
        watched = watch(evidence)
        parts = judges[claim.id](watched, claim.tolerance)
        claims.append(judge(claim, parts, _decided_by(watched)))
    return claims


def watch(evidence: Evidence) -> Evidence:
    """The same evidence with an empty record of the points and the recorded runs that are read."""
    return replace(evidence, grid=evidence.grid.watched(), series=_Watched(evidence.series))


def points_read(watched: Evidence) -> list[Point]:
    """The points of the sweep that were read since `watch` or the last call; those of recorded runs with their seed."""
    series = watched.series.read if isinstance(watched.series, _Watched) else {}
    runs = [watched.recorded[name] for name in series]
    found = {cell: watched.points[cell] for cell in watched.grid.read if cell in watched.points}
    found |= {cell: replace(watched.points[cell], seeds=(seed,)) for cell, seed in runs}
    watched.grid.read.clear()
    series.clear()
    return list(found.values())


class _Watched(dict[str, Recorded]):
    """Recorded runs that note which of them were read."""

    def __init__(self, runs: Mapping[str, Recorded]) -> None:
        super().__init__(runs)
        self.read: dict[str, None] = {}

    def __getitem__(self, name: str) -> Recorded:
        self.read[name] = None
        return super().__getitem__(name)


def _decided_by(watched: Evidence) -> str:
    """The experiments read with their seeds, and the recorded runs read."""
    by_seeds: dict[str, list[str]] = {}
    for experiment in dict.fromkeys(cell.experiment for cell in watched.grid.read):
        by_seeds.setdefault(seeds_in_words(watched.grid.seeds(experiment)), []).append(experiment)
    texts = [f"{', '.join(experiments)} ({seeds})" for seeds, experiments in by_seeds.items()]
    recorded = watched.series.read if isinstance(watched.series, _Watched) else {}
    if recorded:
        texts.append(f"recorded runs {', '.join(recorded)}")
    return "; ".join(texts)


def headlines(paper: Paper) -> Sequence[Headline]:
    """The numbers that show a reading's effect."""
    found: Sequence[Headline] = source.module_of(paper.info.folder, "claims").HEADLINES
    return found


def _record(
    paper: Paper, named: Paper | Study, wanted: Sequence[SeriesRun], points: Sequence[Point], threads: int
) -> tuple[dict[str, Recorded], list[Finished]]:
    """Runs the points with recorded time series. Returns the recordings by name, and the same runs without."""
    if not wanted or named.recorded is None:
        return {}, []
    at = {Cell.of(point.experiment, **point.values): point for point in points}
    probe = {"interval": named.recorded.interval, "drops": True}

    def recorded(run: SeriesRun) -> tuple[Result, Finished]:
        place = Cell.of(run.experiment, **run.point)
        if place not in at:
            study = f"study.{named.name}." if isinstance(named, Study) else ""
            where = f"{paper.info.folder.name}/paper.toml: {study}series.run.{run.name}"
            raise PaperError(f"{where}: {place} is not a point of the sweep")
        began = time.thread_time()
        result = at[place].scenario.run(run.seed, probe={**probe, **run.probe})
        return result, finished(at[place], run.seed, result.summary, time.thread_time() - began)

    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(recorded, wanted))
    results: dict[str, Recorded] = {run.name: result for run, (result, _) in zip(wanted, found, strict=True)}
    return results, [run for _, run in found]
