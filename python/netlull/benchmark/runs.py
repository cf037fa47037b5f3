"""The runs of a submission: sweeps without and with the controller."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.benchmark.definition import optimum_seeds
from netlull.errors import InputError, NetlullWarning, OutputError, ResultError, SweepError
from netlull.quantities import in_unit
from netlull.runs.team import default_workers
from netlull.sweep import Axis, AxisPoint, Sweep
from netlull.sweep.description import JOURNAL
from netlull.sweep.journal import read

if TYPE_CHECKING:
    from netlull.benchmark.definition import Cell, Definition
    from netlull.benchmark.submission import Submission
    from netlull.runs.team import Progress
    from netlull.scenario import Scenario

__all__ = ["ALWAYS_ON", "CONTROLLED", "Measured", "Run", "Watcher", "illegal", "measure", "valid_cells"]

ALWAYS_ON, CONTROLLED, SHORT = "always-on", "controlled", "short"
"""The folders of the sweeps: without the controller, with it, and with it in the shorter runs of the optimum."""
_AXIS = "cell"
_PAUSED, _CUT = 0.95, 2
"""The least share of the pauses of all changes, and the number of pauses that the ends of a run may cut."""
_METRICS = {
    "goodput_bps": "goodput_bps",
    "rate_changes": "link.{link}.rate_changes",
    "saving_fs": "link.{link}.energy.fs.saving",
    "drop_fraction": "link.{link}.drop_fraction",
}

Watcher = Callable[[float, str], None]
"""Called with the finished share of the work, 0 to 1, and a short text."""


@dataclass(frozen=True)
class Run:
    """The numbers of a run that the benchmark reads."""

    energy_j: float
    goodput_bps: float
    p95_s: Mapping[str, float | None]
    rate_changes: int
    digest: str
    """The SHA-256 of the run's whole summary, without the version and the times at each rate."""

    @classmethod
    def of(cls, summary: Mapping[str, Any], link: str, power: str) -> Run:
        """The numbers in a summary, with the energy of a link under a power model."""
        (found,) = (each for each in summary["links"] if each["name"] == link)
        flows = [flow for flow in summary["flows"] if flow["kind"] in {"tcp", "requests"}]
        return cls(
            found["energy"][power]["total_j"],
            sum(flow["goodput_bps"] for flow in flows),
            {flow["name"]: flow["p95_completion_s"] for flow in flows if flow["kind"] == "requests"},
            found["rate_changes"],
            _digest(summary),
        )


@dataclass(frozen=True)
class Measured:
    """A cell's runs by seed, and the optimum."""

    always_on: Sequence[Run]
    controlled: Sequence[Run]
    optimum: Sequence[Sequence[float]]
    """For each league, the optimum's energy over always-on's, in shorter runs with the first development seeds."""
    against_optimum: Sequence[float]
    """The controller's energy over always-on's in the same runs."""
    failed: str | None = None
    """The reason if the controller failed in the cell: there are no controlled runs then."""


def valid_cells(
    definition: Definition, submission: Submission, cells: Sequence[Cell]
) -> tuple[dict[str, Scenario], dict[str, str]]:
    """The scenarios of the cells in which the controller is valid, and the reasons in the other cells.

    Raises:
        InputError: the controller is invalid in every cell.
        ScenarioError: the same.
    """
    base = submission.base(definition)
    scenarios: dict[str, Scenario] = {}
    failed: dict[str, str] = {}
    first: Exception | None = None
    for cell in cells:
        try:
            scenarios[cell.name] = base.with_values(submission.changes(definition, cell))
        except (InputError, _engine.ScenarioError) as error:
            failed[cell.name] = " ".join(str(error).split())
            first = first or error
    if first is not None and not scenarios:
        raise first
    return scenarios, failed


def measure(  # the parts of a measurement
    definition: Definition,
    submission: Submission,
    cells: Sequence[Cell],
    seeds: Sequence[int],
    folder: Path,
    *,
    workers: int | None = None,
    watch: Watcher = lambda _share, _text: None,
) -> dict[str, Measured]:
    """Runs the missing runs; returns the cells by name.

    Args:
        definition: the benchmark.
        submission: the controller.
        cells: the cells.
        seeds: the seeds of every run.
        folder: keeps finished runs: the same call continues after an interruption.
        workers: the number of simultaneous runs; default one per core.
        watch: called with the finished share of the work.

    Raises:
        InputError: the controller is invalid in every cell, or the folder cannot be used.
    """
    scenarios, failed = valid_cells(definition, submission, cells)
    base = submission.base(definition)
    changes = {cell.name: submission.changes(definition, cell) for cell in cells if cell.name in scenarios}
    plain = _Swept(definition.scenario, definition, seeds, folder / ALWAYS_ON, workers).run(
        {cell.name: definition.changes(cell) for cell in cells}, _part(watch, 0.0, 0.5, "always on")
    )
    ours = _Swept(base, definition, seeds, folder / CONTROLLED, workers).isolated(
        changes, failed, _part(watch, 0.5, 1.0, submission.name)
    )
    if submission.controller is not None:
        # The benchmark sets rates and transition of netlull's controllers: a run of each cell checks that it did.
        checked = seeds if submission.sets_rates else seeds[:1]
        present = [cell for cell in cells if cell.name in ours]
        for name, reason in _violations(scenarios, definition, present, checked, workers).items():
            failed[name] = reason
            del ours[name]
    shortened = {name: definition.shortened(each) for name, each in changes.items() if name in ours}
    short = _Swept(base, definition, optimum_seeds(definition), folder / SHORT, workers).run(shortened)

    def runs(summaries: _Summaries, cell: Cell) -> list[Run]:
        try:
            return [Run.of(summary, definition.link, cell.power) for summary in summaries.get(cell.name, ())]
        except (KeyError, TypeError, ValueError) as error:
            told = f"has runs of {cell.name} without a field of the benchmark ({error})"
            raise ResultError(f"{folder}: {told}; expected a new folder or a benchmark's") from None

    found = {}
    for cell in cells:
        optima = definition.optima.get(cell.name, ())
        found[cell.name] = Measured(
            runs(plain, cell),
            runs(ours, cell),
            definition.shares(cell.name),
            [run.energy_j / optimum.always_on_j for optimum, run in zip(optima, runs(short, cell), strict=False)],
            failed.get(cell.name),
        )
    return found


def _violations(
    scenarios: Mapping[str, Scenario],
    definition: Definition,
    cells: Sequence[Cell],
    seeds: Sequence[int],
    workers: int | None,
) -> dict[str, str]:
    """The cells in which a run violates the link's rates or transition, with the reason of the first seed.

    Every run repeats one of the sweep, which does not keep the times at each rate.
    """
    with ThreadPoolExecutor(workers or default_workers()) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore", NetlullWarning)
        jobs = [(cell, seed) for cell in cells for seed in seeds]
        reasons = pool.map(lambda job: illegal(scenarios[job[0].name], definition, *job), jobs)
        found: dict[str, str] = {}
        for (cell, _), reason in zip(jobs, reasons, strict=True):
            if reason is not None:
                found.setdefault(cell.name, reason)
    return found


def illegal(scenario: Scenario, definition: Definition, cell: Cell, seed: int) -> str | None:
    """The reason if a run uses a rate that the cell's link does not have, or changes faster than it can.

    Every change costs its pause. Pauses that reach over the ends of the measured time do not count in full, and two
    changes during one packet that cancel each other have none: the sum may be smaller by two pauses and 5 %.
    """
    summary = scenario.run(seed).summary
    (link,) = (each for each in summary["links"] if each["name"] == definition.link)
    used = [part for part in link["residency"] if part["seconds"] > 0 or part["transition_seconds"] > 0]
    rates = set(cell.rates.listed())
    expected = f"expected {cell.rates.low} to {cell.rates.high} in steps of {cell.rates.step}"
    if not used:
        return f"uses too many rates to list; {expected}"
    other = next((part["rate_bps"] for part in used if part["rate_bps"] not in rates), None)
    if other is not None:
        return f"uses the rate {other} b/s; {expected}"
    paused = sum(part["transition_seconds"] for part in used)
    least = _PAUSED * (link["rate_changes"] - _CUT) * (in_unit(cell.transition, "s") or 0)
    if paused < least:
        return f"pauses {paused:g} s for {link['rate_changes']} changes; expected {cell.transition} for a change"
    return None


_Changes = Mapping[str, Mapping[str, Any]]
"""The changes of the scenario by the name of the cell."""
_Summaries = dict[str, list[dict[str, Any]]]
"""The summaries of a cell's runs, in the order of the seeds."""


@dataclass(frozen=True)
class _Swept:
    """A sweep with the cells as the points of its axis, and its store."""

    base: Scenario
    definition: Definition
    seeds: Sequence[int]
    store: Path
    workers: int | None

    def run(self, cells: _Changes, watch: Watcher = lambda _share, _text: None) -> _Summaries:
        """Runs the missing runs of cells; returns all summaries."""
        if not cells:
            return {}
        metrics = {name: path.format(link=self.definition.link) for name, path in _METRICS.items()}
        axis = Axis(_AXIS, points=[AxisPoint(name, set=changes) for name, changes in cells.items()])
        sweep = Sweep(self.base, [axis], self.seeds, metrics)

        def shown(progress: Progress) -> None:
            watch(progress.fraction, f"{progress.done}/{progress.total} runs")

        with warnings.catch_warnings():
            # The command prints each once, with its cells.
            warnings.simplefilter("ignore", NetlullWarning)
            sweep.run(self.store, workers=self.workers, progress=shown)
        kept = read(self.store / JOURNAL)
        return {
            str(point.at[_AXIS].value): [kept.record(point.run_key(seed))["summary"] for seed in self.seeds]
            for point in sweep.points()
        }

    def isolated(self, cells: _Changes, failed: dict[str, str], watch: Watcher) -> _Summaries:
        """Runs the cells. A controller that fails in a cell fails there alone: the reason goes into `failed`."""
        try:
            return self.run(cells, watch)
        except (_engine.VerificationError, _engine.Cancelled, OutputError, SweepError):
            raise
        except Exception:
            # Anything that a controller raises: find the cells.
            found: _Summaries = {}
            errors: list[Exception] = []
            for number, (name, changes) in enumerate(cells.items()):
                watch(number / len(cells), name)
                try:
                    found |= self.run({name: changes})
                except (_engine.VerificationError, _engine.Cancelled, OutputError, SweepError):
                    raise
                except Exception as error:
                    failed[name] = " ".join(str(error).split()) or type(error).__name__
                    errors.append(error)
            if errors and not found:
                raise
            return found


def _part(watch: Watcher, start: float, end: float, title: str) -> Watcher:
    """Shows a part of the work as its share of the whole."""
    return lambda share, text: watch(start + share * (end - start), f"{title}: {text}")


def _digest(summary: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in summary.items() if key != "version"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
