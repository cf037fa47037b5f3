"""Reproducing papers: run the sweep, judge the claims, draw the figures, write the report."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from netlull.output import staged_file
from netlull.papers import pages, source
from netlull.papers.documents import Paper, load
from netlull.papers.effects import Variations, as_text, vary, with_effects
from netlull.papers.measure import judged, measure
from netlull.papers.outcome import PaperOutcome, Time, Watcher
from netlull.papers.pages import Findings
from netlull.papers.plan import Plan, plan
from netlull.papers.toml import PaperError
from netlull.plot import save_all
from netlull.provenance import origin
from netlull.report import write
from netlull.sweep import default_workers
from netlull.sweep.axes import MOST_SEEDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.cluster import Cluster

SCOPES = ("quick", "full")


def reproduce(
    keys: Sequence[str],
    *,
    scope: str = "quick",
    out: Path,
    seeds: int | None = None,
    workers: int | None = None,
    cluster: Cluster | None = None,
    readings: bool = False,
    progress: Watcher | None = None,
) -> list[PaperOutcome]:
    """Reproduces papers, all if no key is given; everything goes under `out/KEY/`; what ran before is not run again.

    Args:
        keys: the papers.
        scope: "quick" (the paper's own figures, few seeds) or "full" (everything).
        out: the folder for runs, figures and reports.
        seeds: replaces the number of seeds wherever there is randomness; at least 2 there.
        workers: runs at a time; default the number of cores.
        cluster: where sweeps run instead; time series and figures are made here.
        readings: also reruns the quick grid with every alternative reading.
        progress: told of each run that ends.

    Raises:
        PaperError: a key is unknown, a paper folder is wrong, or there are too few seeds to judge a paper's claims.
    """
    if scope not in SCOPES:
        raise PaperError(f'scope "{scope}" is unknown; expected one of: {", ".join(SCOPES)}')
    if seeds is not None and seeds < 1:
        raise PaperError(f"seeds: {seeds} is too few; expected at least 1")
    if seeds is not None and seeds > MOST_SEEDS:
        raise PaperError(f"seeds: {seeds} is too many; expected at most {MOST_SEEDS} seeds")
    folders = [source.folder_of(key) for key in keys] if keys else [info.folder for info in source.find()]
    if not folders:
        raise PaperError("there are no papers: no folder `papers` was found")
    job = _Job(scope, Path(out), seeds, workers, cluster, readings, progress)
    planned = [(paper, job.planned(paper)) for paper in map(load, folders)]
    return [job.reproduce(paper, its_plan) for paper, its_plan in planned]


@dataclass(frozen=True)
class _Job:
    """What the command line asked for."""

    scope: str
    out: Path
    seeds: int | None
    workers: int | None
    cluster: Cluster | None
    readings: bool
    progress: Watcher | None

    def planned(self, paper: Paper) -> Plan:
        return plan(paper, paper.quick if self.scope == "quick" else None, self.seeds)

    def reproduce(self, paper: Paper, planned: Plan) -> PaperOutcome:
        started_s, started_cpu_s = time.monotonic(), time.process_time()
        folder = self.out / paper.info.key
        evidence = measure(paper, planned, folder, workers=self.workers, cluster=self.cluster, progress=self.progress)
        claims = judged(evidence)
        drawings = list(source.module_of(paper.info.folder, "figures").figures(evidence))
        files = save_all(
            [(drawn.id, drawn.figure) for drawn in drawings], folder / "figures", self.workers or default_workers()
        )
        shown = [(drawn, svg.read_text(encoding="utf-8")) for drawn, (svg, _) in zip(drawings, files, strict=True)]
        variations = self._readings(paper, folder)
        simulated = evidence.cost if variations is None else evidence.cost + variations.cost
        spent = Time(time.monotonic() - started_s, time.process_time() - started_cpu_s, simulated)
        report = self._report(paper, planned, Findings(evidence, claims, shown, variations), spent)
        return PaperOutcome(
            key=paper.info.key,
            title=paper.info.title,
            claims=claims,
            report=report,
            figures=[path for pair in files for path in pair],
            scope=self.scope,
            runs=evidence.grid.runs + len(evidence.series),
            time=spent,
            readings=as_text(variations, paper) if variations else "",
        )

    def _readings(self, paper: Paper, folder: Path) -> Variations | None:
        if not self.readings:
            return None
        found = vary(
            paper,
            folder / "readings",
            seeds=self.seeds,
            workers=self.workers,
            cluster=self.cluster,
            progress=self.progress,
        )
        told = (paper.info.folder / "readings.toml").read_text(encoding="utf-8")
        for name, text in (("readings.txt", as_text(found, paper)), ("readings.toml", with_effects(told, found))):
            with staged_file(folder / name) as stage:
                stage.write_text(text, encoding="utf-8")
        return found

    def _report(self, paper: Paper, planned: Plan, found: Findings, spent: Time) -> Path:
        grid = found.evidence.grid
        quick = self.scope == "quick"
        scope = f"--quick: {paper.quick.description}." if quick else f"--full: {paper.full}."
        if self.seeds is not None:
            scope += f" Here with --seeds {self.seeds}: so many wherever there is randomness."
        seeds = sorted({seed for name in planned.experiments for seed in grid.seeds(name)})
        manifest = pages.manifest(found.evidence, self.scope, seeds, spent, origin())
        page = pages.page(paper, found, scope=scope, scenario=planned.scenario, manifest=manifest)
        return write(page, self.out / paper.info.key / "report.html")
