"""Verification of a result file: its digests, its seeds, its scores, and its cells by running them again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.benchmark.record import Record, check_sum, optimum_of
from netlull.benchmark.runs import Watcher, measure, valid_cells
from netlull.benchmark.submission import RANKING, Submission, development_seeds, ranking_seeds
from netlull.errors import InputError

if TYPE_CHECKING:
    from netlull.benchmark.definition import Cell, Definition
    from netlull.plugins.loading import AllowedCode

__all__ = ["Verification", "disagreements", "sampled", "verify"]


@dataclass(frozen=True)
class Verification:
    """The outcome: the differences in words, and the cells that were run again."""

    problems: tuple[str, ...]
    cells: tuple[str, ...]
    notes: tuple[str, ...]
    """Facts that a reader of the result should know."""

    @property
    def holds(self) -> bool:
        """True if everything that was checked agrees."""
        return not self.problems


def sampled(record: Record, count: int | None, seed: int | None = None) -> tuple[str, ...]:
    """The names of `count` cells of a record, drawn at random; all for None. `seed` repeats a drawing."""
    names = [cell.name for cell in record.cells]
    if count is None or count >= len(names):
        return tuple(names)
    # Not for secrets: the sample only has to be unknown to the author of the file.
    drawn = set(random.Random(seed).sample(names, count))  # noqa: S311
    return tuple(name for name in names if name in drawn)


def verify(
    record: Record,
    definition: Definition,
    folder: Path,
    *,
    cells: Sequence[str],
    source: Path | None = None,
    workers: int | None = None,
    watch: Watcher = lambda _share, _text: None,
    allow_code: AllowedCode = False,
) -> Verification:
    """Checks a record. Nothing in it is taken on trust: every number follows from the controller and the seeds.

    Args:
        record: the record.
        definition: the benchmark.
        folder: a folder for the runs.
        cells: the names of the cells to run again. Without any, a class that may not be loaded is not refused.
        source: the folder that the controller's files are relative to; default the current one.
        workers: the number of simultaneous runs; default one per core.
        watch: called with the finished share of the work.
        allow_code: the classes that may be loaded, as in `Scenario.from_toml`.

    Raises:
        InputError: the result is of another version of the benchmark, or its controller is invalid here.
    """
    document = record.document
    record.check_version(definition)
    problems, notes = disagreements(record, definition), []
    if not document["whole"]:
        notes.append("it has not all cells and seeds: it cannot be ranked")
    if document["engine"] != _engine.identity():
        notes.append(f"it was written by the engine {document['engine']}; this is {_engine.identity()}")
    submission = Submission(record.name, record.controller, source or Path(), allow_code)
    try:
        scenarios, _ = valid_cells(definition, submission, definition.cells)
    except (InputError, _engine.ScenarioError) as error:
        if not cells and "allow_code" in str(error):
            notes.append("its controller is code that was not loaded, so the digest of the submission is not compared")
            problems += _of_seeds(record, definition, str(document["submission"]))
            return Verification(tuple(problems), (), tuple(notes))
        raise InputError(f"{error} (files are relative to {submission.folder}; --files DIR names another)") from None
    digest = submission.digest(scenarios, definition)
    if digest != document["submission"]:
        problems.append("submission: its digest is of another controller, or of other files of this controller")
    problems += _of_seeds(record, definition, digest)
    chosen = [cell for cell in definition.cells if cell.name in cells]
    problems += _of_cells(record, definition, submission, chosen, folder, workers, watch)
    return Verification(tuple(problems), tuple(cell.name for cell in chosen), tuple(notes))


def disagreements(record: Record, definition: Definition) -> list[str]:
    """The parts of a record that contradict each other or the benchmark. Needs no run and no controller."""
    document = record.document
    problems = []
    if document["check"] != check_sum(document):
        problems.append("the file: its checksum is wrong: it was changed after it was written")
    baseline = definition.baseline(record.name)
    if baseline is not None and baseline.controller != record.controller:
        problems.append(f'name: "{record.name}" is a baseline with another controller; expected another name')
    names = [cell.name for cell in definition.cells]
    problems += [f"cell {cell.name}: is no cell of the benchmark" for cell in record.cells if cell.name not in names]
    whole = definition.is_whole([cell.name for cell in record.cells], len(record.seeds))
    if document["whole"] != whole:
        parts = f"{len(record.cells)} of {len(names)} cells and {len(record.seeds)} of {definition.seeds} seeds"
        problems.append(f"whole: is {str(document['whole']).lower()}; the file has {parts}")
    if document["limits"] != list(definition.leagues):
        # The rest has a part for each limit.
        return [*problems, f"limits: are {document['limits']}; expected {list(definition.leagues)}"]
    for cell in document["cells"]:
        optimum = optimum_of(definition, cell["name"])
        if cell["name"] in names and cell["optimum"] != optimum:
            problems.append(f"cell {cell['name']}: optimum is {_shown(cell['optimum'])}; expected {_shown(optimum)}")
    return problems + _of_scores(record, definition)


def _of_seeds(record: Record, definition: Definition, digest: str) -> list[str]:
    kind = record.document["seeds"]["kind"]
    rule = ranking_seeds(definition, digest) if kind == RANKING else development_seeds(definition)
    if record.seeds != rule[: len(record.seeds)]:
        return [f"seeds: they do not follow the rule of {kind} seeds"]
    return []


def _of_scores(record: Record, definition: Definition) -> list[str]:
    """Differences between the scores and verdicts in the file and those that its numbers give."""
    again = record.judged_again(definition)
    problems = []
    for cell, anew in zip(record.document["cells"], again["cells"], strict=True):
        if cell["standing"] != anew["standing"]:
            problems.append(f"cell {cell['name']}: standing is {cell['standing']}; its numbers give {anew['standing']}")
    for league, anew in zip(record.document["leagues"], again["leagues"], strict=True):
        problems += [
            f"league {anew['limit']:.0%}: {field} is {league.get(field)}; the cells give {value}"
            for field, value in anew.items()
            if league.get(field) != value
        ]
    return problems


def _of_cells(  # the parts of a verification
    record: Record,
    definition: Definition,
    submission: Submission,
    cells: Sequence[Cell],
    folder: Path,
    workers: int | None,
    watch: Watcher,
) -> list[str]:
    """Differences between cells in the file and the same cells run again."""
    if not cells:
        return []
    by_name = {str(cell["name"]): cell for cell in record.document["cells"]}
    measured = measure(
        definition,
        submission,
        cells,
        record.seeds,
        folder,
        workers=workers,
        watch=watch,
    )
    problems = []
    for name, anew in Record.cells_of(measured).items():
        problems += _differences(f"cell {name}", by_name[name], anew)
    return problems


def _differences(where: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> list[str]:
    return [
        f"{where}: {field} is {_shown(theirs.get(field))}; run again it is {_shown(value)}"
        for field, value in ours.items()
        if theirs.get(field) != value
    ]


def _shown(value: object) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
