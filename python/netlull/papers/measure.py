"""Running a plan, and judging the claims by what it measured."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from netlull import Scenario, Sweep
from netlull.papers import source
from netlull.papers.grid import Cell, Grid
from netlull.papers.outcome import Evidence, Headline, JudgedClaim, Recorded, Watcher, judge
from netlull.papers.toml import PaperError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from netlull.papers.documents import Paper, SeriesRun
    from netlull.papers.plan import Plan

SERIES_SEED = 1
STORE = "store"


def measure(
    paper: Paper,
    planned: Plan,
    folder: Path,
    *,
    store: Path | None = None,
    use: Mapping[str, str] | None = None,
    workers: int | None = None,
    progress: Watcher | None = None,
) -> Evidence:
    """Runs what the plan asks for and the store (default: in the folder) does not hold yet, and records time series."""
    sweep = Sweep.from_file(planned.write(folder))
    table = sweep.run(store or folder / STORE, workers=workers, progress=progress).table
    return Evidence(paper, Grid(table, planned.axes, use), _record(paper, sweep, workers))


def judged(evidence: Evidence) -> list[JudgedClaim]:
    """Every claim with its verdict."""
    judges = source.module_of(evidence.paper.info.folder, "claims").JUDGES
    claims = []
    for claim in evidence.paper.claims:
        if claim.id not in judges:
            known = ", ".join(judges)
            raise PaperError(f"{evidence.paper.info.key}/claims.py: JUDGES has no {claim.id}; it has {known}")
        claims.append(judge(claim, judges[claim.id](evidence, claim.tolerance)))
    return claims


def headlines(paper: Paper) -> Sequence[Headline]:
    """The numbers by which the paper tells a reading's effect."""
    found: Sequence[Headline] = source.module_of(paper.info.folder, "claims").HEADLINES
    return found


def _record(paper: Paper, sweep: Sweep, workers: int | None) -> dict[str, Recorded]:
    """Runs the points whose time series are asked for."""
    scenarios = [_scenario_at(paper, sweep, run) for run in paper.series]
    probe = {"interval": paper.series_interval, "drops": True}
    with ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda scenario: scenario.run(SERIES_SEED, probe=probe), scenarios))
    return {run.name: result for run, result in zip(paper.series, results, strict=True)}


def _scenario_at(paper: Paper, sweep: Sweep, run: SeriesRun) -> Scenario:
    wanted = Cell.of(run.experiment, **run.point)
    for point in sweep.points():
        if Cell.of(point.experiment, **{axis: float(value) for axis, value in point.values.items()}) == wanted:
            return point.scenario
    raise PaperError(f"{paper.info.folder.name}/paper.toml: series.run.{run.name}: {wanted} is no point of the sweep")
