"""Reproduction of papers: runs the sweep, judges the claims, draws the figures, writes the report."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from netlull.errors import NetlullWarning
from netlull.papers import pages, source
from netlull.papers.documents import SHIPPED, Alternative, Paper, Study, load
from netlull.papers.effects import Variations, as_csv, as_text, vary, with_effects
from netlull.papers.measure import STORE, Execution, judged, measure, points_read, watch
from netlull.papers.outcome import Drawn, EqualReading, Evidence, JudgedClaim, PaperOutcome, Time, Watcher
from netlull.papers.pages import Findings, StudyFindings
from netlull.papers.plan import Plan, plan, plan_study
from netlull.papers.toml import PaperError
from netlull.plot import save_all
from netlull.report import tries, write
from netlull.results.output import origin, staged_file
from netlull.sweep import Cost
from netlull.sweep.axes import MOST_SEEDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.cluster import Cluster

SCOPES = ("quick", "full")
STUDIES = "studies"
"""The folder of a paper's further studies in its output."""
EQUALS = "equals"
"""The folder of the equally supported readings in a paper's output."""


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
    """Reproduces papers, or all shipped ones without a key. The output is under `out/KEY/`; stored runs are reused.

    Args:
        keys: the papers.
        scope: "quick" (the paper's own figures, few seeds) or "full" (everything, with a paper's further studies).
        out: the folder for runs, figures and reports.
        seeds: replaces the number of seeds wherever there is randomness; at least 2 there.
        workers: number of simultaneous runs; default the number of cores.
        cluster: runs the sweeps instead of this process, which still makes time series and figures.
        readings: also repeats the quick grid with every alternative reading, and with every supported pair.
        progress: called with the progress of the sweeps.

    Raises:
        PaperError: a key is unknown, a paper folder is invalid, or there are too few seeds to judge a paper's claims.
    """
    _check(scope, seeds)
    folders = (
        [source.folder_of(key) for key in keys]
        if keys
        else [info.folder for info in source.find() if info.folder.parent == SHIPPED]
    )
    if not folders:
        raise PaperError("there are no papers: no folder `papers` was found")
    job = _Job(scope, Path(out), seeds, Execution(workers, cluster, progress), readings)
    planned = [(paper, job.planned(paper), job.all_studies(paper)) for paper in map(load, folders)]
    return [job.reproduce(*its_plan) for its_plan in planned]


def reproduce_studies(
    key: str,
    names: Sequence[str],
    *,
    scope: str = "quick",
    out: Path,
    seeds: int | None = None,
    workers: int | None = None,
    cluster: Cluster | None = None,
    progress: Watcher | None = None,
) -> PaperOutcome:
    """Runs further studies of a paper alone, with the claims that they decide.

    Their own report is under `out/KEY/studies/`. The arguments are those of `reproduce`.

    Raises:
        PaperError: the key or a study is unknown, the paper folder is invalid, or there are too few seeds.
    """
    _check(scope, seeds)
    paper = load(source.folder_of(key))
    job = _Job(scope, Path(out), seeds, Execution(workers, cluster, progress), readings=False)
    wanted = list(map(paper.study, dict.fromkeys(names)))
    for study in wanted:
        if study.missing():
            raise PaperError(f"{key}: {_left_out(study)}")
    chosen = [(study, job.planned_study(paper, study)) for study in wanted]
    return job.study(paper, chosen)


def _check(scope: str, seeds: int | None) -> None:
    if scope not in SCOPES:
        raise PaperError(f'scope "{scope}" is unknown; expected one of: {", ".join(SCOPES)}')
    if seeds is not None and seeds < 1:
        raise PaperError(f"seeds: {seeds} is too few; expected at least 1")
    if seeds is not None and seeds > MOST_SEEDS:
        raise PaperError(f"seeds: {seeds} is too many; expected at most {MOST_SEEDS} seeds")


@dataclass(frozen=True)
class _Job:
    """The options of the command line."""

    scope: str
    out: Path
    seeds: int | None
    execution: Execution
    readings: bool

    def planned(self, paper: Paper) -> Plan:
        return plan(paper, paper.quick if self.scope == "quick" else None, self.seeds)

    def all_studies(self, paper: Paper) -> list[tuple[Study, Plan]]:
        """The studies of a full reproduction. A study whose packages are not installed is left out."""
        if self.scope != "full":
            return []
        studies = [study for study in paper.studies if not study.alone]
        for study in studies:
            if study.missing():
                warnings.warn(f"{paper.info.key}: {_left_out(study)}", NetlullWarning, stacklevel=2)
        return [(study, self.planned_study(paper, study)) for study in studies if not study.missing()]

    def planned_study(self, paper: Paper, study: Study) -> Plan:
        return plan_study(paper, study, study.quick if self.scope == "quick" else None, self.seeds)

    def reproduce(self, paper: Paper, planned: Plan, studies: Sequence[tuple[Study, Plan]]) -> PaperOutcome:
        """Reproduces the paper with its claims and these studies."""
        clock = _Clock()
        folder = self.out / paper.info.key
        evidence = measure(paper, planned, folder, execution=self.execution)
        shown, files = self._drawn(evidence, "figures", folder / "figures")
        found, more = self._studies(paper, studies)
        claims = _in_order(paper, [*judged(evidence), *_of_studies(found)])
        equals = [self._equal(paper, folder, alternative) for alternative in paper.equals]
        variations = self._readings(paper, folder)
        simulated = sum((study.evidence.cost for study in found), evidence.cost)
        simulated = sum((cost for _, cost in equals), simulated)
        spent = clock.spent(simulated if variations is None else simulated + variations.cost)
        other = [equal for equal, _ in equals]
        report = self._report(paper, planned, Findings(evidence, claims, shown, variations, found, other))
        return PaperOutcome(
            key=paper.info.key,
            title=paper.info.title,
            claims=claims,
            report=report,
            figures=[*files, *more],
            scope=self.scope,
            runs=_runs(evidence, *(study.evidence for study in found)),
            time=spent,
            readings=as_text(variations, paper) if variations else "",
            studies=tuple(study.study.name for study in found),
            equals=other,
        )

    def _equal(self, paper: Paper, folder: Path, alternative: Alternative) -> tuple[EqualReading, Cost]:
        """The claims with an alternative that the paper's words support as well."""
        planned = plan(paper, paper.quick if self.scope == "quick" else paper.equal, self.seeds, [alternative])
        place = folder / EQUALS / alternative.name
        evidence = measure(
            paper,
            planned,
            place,
            execution=self.execution,
            stores=(place / STORE, folder / STORE),
            use=alternative.use,
        )
        return EqualReading(alternative.label, judged(evidence)), evidence.cost

    def study(self, paper: Paper, studies: Sequence[tuple[Study, Plan]]) -> PaperOutcome:
        """Reproduces these studies alone, with their own report."""
        clock = _Clock()
        found, files = self._studies(paper, studies)
        spent = clock.spent(sum((study.evidence.cost for study in found), Cost()))
        names = [study.study.name for study in found]
        manifest = {**pages.made_by(self.scope, origin()), **pages.study_facts(found)}
        claims = _in_order(paper, _of_studies(found))
        page = pages.studies_page(paper, found, claims, scope=self._scope_of(found), manifest=manifest)
        return PaperOutcome(
            key=paper.info.key,
            title=paper.info.title,
            claims=claims,
            report=write(page, self.out / paper.info.key / STUDIES / f"{'-'.join(names)}.html"),
            figures=files,
            scope=self.scope,
            runs=_runs(*(study.evidence for study in found)),
            time=spent,
            studies=tuple(names),
        )

    def _studies(self, paper: Paper, studies: Sequence[tuple[Study, Plan]]) -> tuple[list[StudyFindings], list[Path]]:
        found, files = [], []
        for study, planned in studies:
            folder = self.out / paper.info.key / STUDIES / study.name
            evidence = measure(
                paper,
                planned,
                folder,
                execution=self.execution,
                stores=(folder / STORE, self.out / paper.info.key / STORE),
            )
            shown, drawn = self._drawn(evidence, study.module, folder / "figures")
            found.append(StudyFindings(study, evidence, shown, planned.scenario))
            files += drawn
        return found, files

    def _drawn(self, evidence: Evidence, module: str, folder: Path) -> tuple[list[tuple[Drawn, str]], list[Path]]:
        """A module's drawings with their SVG, and the saved files."""
        watched = watch(evidence)
        figures = source.module_of(evidence.paper.info.folder, module).figures(watched)
        drawings = [replace(drawn, tries=tries(points_read(watched), evidence.units)) for drawn in figures]
        named = [(drawn.id, drawn.figure) for drawn in drawings]
        files = save_all(named, folder, self.execution.threads)
        shown = [(drawn, svg.read_text(encoding="utf-8")) for drawn, (svg, _) in zip(drawings, files, strict=True)]
        return shown, [path for pair in files for path in pair]

    def _readings(self, paper: Paper, folder: Path) -> Variations | None:
        if not self.readings:
            return None
        found = vary(paper, folder / "readings", self.execution, seeds=self.seeds)
        told = (paper.info.folder / "readings.toml").read_text(encoding="utf-8")
        files = {"txt": as_text(found, paper), "csv": as_csv(found, paper), "toml": with_effects(told, found)}
        for ending, text in files.items():
            with staged_file(folder / f"readings.{ending}") as stage:
                stage.write_text(text, encoding="utf-8", newline="\n")
        return found

    def _report(self, paper: Paper, planned: Plan, found: Findings) -> Path:
        grid = found.evidence.grid
        quick = self.scope == "quick"
        scope = f"--quick: {paper.quick.description}." if quick else f"--full: {paper.full}."
        if found.studies:
            scope += f" {self._scope_of(found.studies)}"
        elif self.seeds is not None:
            scope += f" {self._with_seeds()}"
        missing = [study for study in paper.studies if study.missing() and not (quick or study.alone)]
        scope += "".join(f" Left out: {_left_out(study)}." for study in missing)
        seeds = sorted({seed for name in planned.experiments for seed in grid.seeds(name)})
        manifest = pages.manifest(found.evidence, self.scope, seeds, origin()) | pages.study_facts(found.studies)
        page = pages.page(paper, found, scope=scope, scenario=planned.scenario, manifest=manifest)
        return write(page, self.out / paper.info.key / "report.html")

    def _scope_of(self, found: Sequence[StudyFindings]) -> str:
        """The scope of the studies that ran, in words."""
        quick = self.scope == "quick"
        told = []
        for study in (findings.study for findings in found):
            part = study.quick if quick else None
            told.append(f"Study {study.name}: {study.full if part is None else part.description}.")
        return " ".join([*told, *([self._with_seeds()] if self.seeds is not None else [])])

    def _with_seeds(self) -> str:
        return f"Here with --seeds {self.seeds} wherever there is randomness."


def _of_studies(found: Sequence[StudyFindings]) -> list[JudgedClaim]:
    """The claims that studies decide."""
    return [claim for findings in found for claim in judged(findings.evidence, findings.study.name)]


def _in_order(paper: Paper, claims: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    """The claims in the order of the paper's claims file."""
    places = [claim.id for claim in paper.claims]
    return sorted(claims, key=lambda claim: places.index(claim.id))


def _left_out(study: Study) -> str:
    """The reason why a study does not run."""
    packages = " ".join(study.missing())
    return f"study {study.name} needs packages that are not installed; expected: pip install {packages}"


class _Clock:
    """A clock that starts at its creation."""

    def __init__(self) -> None:
        self._wall_s, self._cpu_s = time.monotonic(), time.process_time()

    def spent(self, simulated: Cost) -> Time:
        return Time(time.monotonic() - self._wall_s, time.process_time() - self._cpu_s, simulated)


def _runs(*evidence: Evidence) -> int:
    return sum(found.grid.runs + len(found.series) for found in evidence)
