"""`netlull benchmark`: the public benchmark of link controllers."""

from __future__ import annotations

import json
import math
import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

import netlull
from netlull import benchmark
from netlull.benchmark.page import COLUMNS
from netlull.cli.inputs import allows_code, classes_in, code_option, json_option
from netlull.cli.progress import bar, warn
from netlull.cli.tables import Table, draw, new_console, say, show
from netlull.cli.text import echo
from netlull.errors import InputError
from netlull.numbers import scaled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netlull.benchmark import CellRows, Definition, League, Optimum, Record, Submission
    from netlull.stats import Interval

__all__ = ["benchmark_group"]

RESULT = "result.json"
"""The result file in the folder of a run."""
ALL_BASELINES = "baselines"
"""The argument of `--controller` for all baselines."""
_SAMPLE = 4
_MOST_FAILED = 5
_FILE = click.Path(path_type=Path)

_jobs = click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Runs at a time; default one per core.")


@click.group("benchmark", invoke_without_command=True)
@click.pass_context
def benchmark_group(context: click.Context) -> None:
    """Judge a link controller on the public benchmark."""
    if context.invoked_subcommand is None:
        echo(context.get_help())


@benchmark_group.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the cells and the baselines."""
    definition = benchmark.Definition.load()
    if not as_json:
        print_cells(definition)
        return
    document = {
        "version": definition.version,
        "digest": definition.digest,
        "leagues": list(definition.leagues),
        "seeds": definition.seeds,
        "cells": [
            {
                "name": cell.name,
                "family": cell.family,
                "power": cell.power,
                "rates_bps": cell.rates.listed(),
                "transition": cell.transition,
                "changes": definition.changes(cell),
            }
            for cell in definition.cells
        ],
        "baselines": [{"name": each.name, "controller": each.controller} for each in definition.baselines],
    }
    echo(json.dumps(document, indent=2, ensure_ascii=False))


@benchmark_group.command("run")
@click.option(
    "--controller",
    "controllers",
    multiple=True,
    required=True,
    metavar="CONTROLLER",
    help="A table such as '{ kind = \"lull\" }', a TOML or JSON file, a baseline, or `baselines`. Repeatable.",
)
@click.option("--name", metavar="NAME", help="The submission's name; default the file's, or the controller's kind.")
@click.option("--cells", multiple=True, metavar="NAME", help="Only this cell or family. Repeatable.")
@click.option(
    "--seeds",
    "kind",
    type=click.Choice([benchmark.DEVELOPMENT, benchmark.RANKING]),
    default=benchmark.DEVELOPMENT,
    show_default=True,
    help="The published seeds, or those that rank this controller.",
)
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Only the first N seeds, for a first look.")
@_jobs
@code_option
@click.option(
    "--out",
    type=_FILE,
    default=Path("out") / "benchmark",
    metavar="DIR",
    help="Folder for results; default out/benchmark.",
)
@json_option
def run_command(  # one per option
    controllers: tuple[str, ...],
    name: str | None,
    cells: tuple[str, ...],
    kind: str,
    count: int | None,
    jobs: int | None,
    out: Path,
    as_json: bool,
) -> None:
    """Run a controller in all cells, and print its scores.

    Finished runs stay in DIR/NAME: the same command continues after an interruption, and writes DIR/NAME/result.json.
    """
    definition = benchmark.Definition.load()
    submissions = _submissions(definition, controllers, name)
    found = []
    for submission in submissions:
        record, seconds = _run(
            definition,
            submission,
            cells,
            kind,
            count,
            jobs,
            out / submission.name,
        )
        path = out / submission.name / RESULT
        record.write(path)
        found.append(record)
        if not as_json:
            print_record(record, definition, whole=len(submissions) == 1)
            echo(f"{seconds:.0f} s; written to {path}")
    if as_json:
        echo(json.dumps([dict(record.document) for record in found], indent=2, ensure_ascii=False))


@benchmark_group.command("verify")
@click.argument("file", metavar="FILE", type=_FILE)
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=_SAMPLE,
    show_default=True,
    metavar="N",
    help="Run N cells again, drawn at random.",
)
@click.option("--all", "whole", is_flag=True, help="Run all cells again.")
@click.option("--draw", type=int, metavar="N", help="The seed of the drawing, to repeat it.")
@click.option("--files", type=_FILE, metavar="DIR", help="The folder with the controller's files; default this one.")
@_jobs
@code_option
@click.pass_context
def verify_command(  # one per option
    context: click.Context, file: Path, sample: int, whole: bool, draw: int | None, files: Path | None, jobs: int | None
) -> None:
    """Verify a result file: digests, seeds, scores, and cells by running them again.

    The controller in the file runs on this machine, unless --sample is 0. Exit code 1 if something disagrees.
    """
    definition = benchmark.Definition.load()
    record = _record(definition, file)
    cells = benchmark.sampled(record, None if whole else sample, draw)
    if cells:
        what = json.dumps(record.controller, ensure_ascii=False)
        echo(f"{file}: runs the submission on this machine: {what}", err=True)
    with tempfile.TemporaryDirectory() as folder, bar("verify") as show:
        found = benchmark.verify(
            record,
            definition,
            Path(folder),
            cells=cells,
            source=files,
            workers=jobs,
            watch=show,
            allow_code=allows_code(),
        )
    for note in found.notes:
        warn(note)
    for problem in found.problems:
        echo(f"{file}: {problem}")
    again = f"{len(found.cells)} of {len(record.cells)} cells run again"
    if found.cells and not whole:
        again += f" ({', '.join(found.cells)})"
    if found.holds and not found.cells:
        echo(f"{file}: consistent: seeds and scores agree; nothing was run, so its numbers are not verified")
        return
    if found.holds:
        echo(f"{file}: verified: digests, seeds and scores agree; {again}, all the same")
        return
    echo(f"{file}: NOT verified: {len(found.problems)} differences; {again}")
    context.exit(1)


@benchmark_group.command("optimum")
@click.option("--cells", multiple=True, metavar="NAME", help="Only this cell or family. Repeatable.")
@click.option("--write", type=_FILE, metavar="FILE", help="Write the optima to this file.")
@_jobs
@click.pass_context
def optimum_command(context: click.Context, cells: tuple[str, ...], write: Path | None, jobs: int | None) -> None:
    """Compute the offline optimum of cells again, and compare it with the shipped one.

    Exit code 1 if they differ.
    """
    definition = benchmark.Definition.load()
    with bar("optimum") as show:
        found = benchmark.optima(definition, definition.chosen(cells), workers=jobs, watch=show)
    print_optima(found, definition)
    if write is not None:
        benchmark.write_optima(write, definition, found)
        echo(f"written to {write}")
        return
    different = [name for name, each in found.items() if tuple(definition.optima.get(name, ())) != each]
    if different:
        echo(f"The shipped optima differ in {', '.join(different)}")
        context.exit(1)
    echo("The shipped optima are the same.")


@benchmark_group.command("compare")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=_FILE)
@click.option(
    "--baselines/--no-baselines", default=True, help="Also show the shipped results of the baselines; the default."
)
@click.option("--page", type=_FILE, metavar="FILE", help="Write the tables into this Markdown page.")
@click.option("--picture", type=_FILE, metavar="FILE", help="Write the Pareto plot: .svg, .pdf or .png.")
def compare_command(files: tuple[Path, ...], baselines: bool, page: Path | None, picture: Path | None) -> None:
    """Compare result files, with the baselines, in each league.

    Results with different cells are compared over the cells that all have.
    """
    definition = benchmark.Definition.load()
    given = [_consistent(definition, file) for file in files]
    compared = _compared(definition, given, baselines=baselines)
    records = benchmark.common(compared)
    there, shared = len({cell.name for record in compared for cell in record.cells}), len(records[0].cells)
    if shared < there:
        warn(f"{there - shared} of {there} cells are left out: not all results have them")
    print_comparison(records, definition)
    if picture is not None:
        _draw(records, definition, picture)
    if page is not None:
        beside = "benchmark.svg" if picture is None else _relative(picture, page)
        benchmark.replace_results(page, benchmark.markdown(records, definition, beside))
        echo(f"written to {page}")


def _relative(picture: Path, page: Path) -> str:
    """The picture's path as the page names it."""
    return Path(os.path.relpath(picture.resolve(), page.resolve().parent)).as_posix()


def _draw(records: Sequence[Record], definition: Definition, picture: Path) -> None:
    if picture.suffix not in {".svg", ".pdf", ".png"}:
        raise InputError(f"--picture {picture}: expected a name that ends in .svg, .pdf or .png")
    netlull.plot.save_as(benchmark.overview(records, definition), picture)
    echo(f"written to {picture}")


def _record(definition: Definition, file: Path) -> Record:
    """The record in a file.

    Raises:
        InputError: it is of another version of the benchmark.
    """
    record = benchmark.Record.read(file)
    try:
        record.check_version(definition)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    return record


def _consistent(definition: Definition, file: Path) -> Record:
    """The record in a file.

    Raises:
        InputError: it is of another version of the benchmark, or was edited.
    """
    record = _record(definition, file)
    problems = benchmark.disagreements(record, definition)
    if problems:
        raise InputError(f"{file}: {problems[0]}")
    return record


def _compared(definition: Definition, given: Sequence[Record], *, baselines: bool) -> list[Record]:
    """The given records, and the baselines that have no record of the same name among them.

    Raises:
        InputError: there is none, or two have the same name.
    """
    names = [record.name for record in given]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f'FILE: two results have the name "{twice}"; expected different names (run --name)')
    records = [*given, *(each for each in benchmark.shipped() if baselines and each.name not in names)]
    if not records:
        raise InputError("FILE: is missing; expected a result of `netlull benchmark run`")
    return records


def _submission(definition: Definition, text: str, name: str | None) -> Submission:
    """A submission, which may load the classes that the command line names itself."""
    found = benchmark.Submission.read(text, definition, name=name)
    is_named = text.lstrip().startswith("{")
    return replace(found, allow_code=allows_code() or (list(classes_in(found.controller)) if is_named else False))


def _submissions(definition: Definition, controllers: Sequence[str], name: str | None) -> list[Submission]:
    texts = [
        text
        for given in controllers
        for text in ([each.name for each in definition.baselines] if given == ALL_BASELINES else [given])
    ]
    if name is not None and len(texts) > 1:
        raise InputError(f"--name {name}: names one submission; expected one --controller with it")
    found = [_submission(definition, text, name) for text in texts]
    names = [each.name for each in found]
    for each in names:
        if Path(each).name != each or each.startswith("."):
            raise InputError(f'--name "{each}": expected a name that a folder may have')
        if names.count(each) > 1:
            raise InputError(f'--controller: two have the name "{each}"; expected different names')
    return found


def _run(  # the options of a run
    definition: Definition,
    submission: Submission,
    names: tuple[str, ...],
    kind: str,
    count: int | None,
    jobs: int | None,
    folder: Path,
) -> tuple[Record, float]:
    """The record of a submission, and the seconds that it took."""
    began = time.monotonic()
    cells = definition.chosen(names)
    scenarios, failed = benchmark.valid_cells(definition, submission, definition.cells)
    for name, reason in failed.items():
        warn(f"{submission.name} is invalid in the cell {name}, which counts as broken: {reason}")
    digest = submission.digest(scenarios, definition)
    seeds = (
        benchmark.ranking_seeds(definition, digest)
        if kind == benchmark.RANKING
        else benchmark.development_seeds(definition)
    )[: count or None]
    with bar(submission.name) as show:
        measured = benchmark.measure(
            definition,
            submission,
            cells,
            seeds,
            folder,
            workers=jobs,
            watch=show,
        )
    record = benchmark.Record.of(definition, submission, digest, kind, seeds, measured)
    return record, time.monotonic() - began


def print_cells(definition: Definition) -> None:
    """Prints the cells and the baselines."""
    console = new_console()
    table = Table(["cell", "family", "power", "flows", "rates", "transition"], words=6)
    for cell in definition.cells:
        rates = cell.rates.listed()
        words = f"{scaled(rates[0], 'b/s')} to {scaled(rates[-1], 'b/s')}"
        table.add([cell.name, cell.family, cell.power, ", ".join(cell.flows), words, cell.transition])
    title = (
        f"netlull benchmark, version {definition.version}: {len(definition.cells)} cells, {definition.seeds} seeds each"
    )
    show(console, title, table)
    families = {cell.family: cell.title for cell in definition.cells}
    for family, words in families.items():
        say(console, f"{family}: {words}")
    baselines = Table(["baseline", "controller"], words=2)
    for each in definition.baselines:
        text = (
            "none"
            if each.controller is None
            else ", ".join(f"{name} {value}" for name, value in each.controller.items())
        )
        baselines.add([each.name, text])
    draw(console, baselines)


def print_optima(found: Mapping[str, Sequence[Optimum]], definition: Definition) -> None:
    """Prints the optima, as means over their seeds."""
    console = new_console()
    table = Table(["cell", *(f"{limit:.0%}".replace("%", " %") for limit in definition.leagues)])
    for name, each in found.items():
        means = [
            math.fsum(optimum.shares[number] for optimum in each) / len(each)
            for number in range(len(definition.leagues))
        ]
        table.add([name, *(f"{100 * mean:.1f}" for mean in means)])
    show(console, "Energy of the offline optimum in per cent of always-on's, by league", table)


def print_record(record: Record, definition: Definition, *, whole: bool) -> None:
    """Prints a submission's scores; with `whole` also its cells."""
    console = new_console()
    kind = record.document["seeds"]["kind"]
    if whole:
        columns = ["cell", "energy (%)", "p95 (times)", "goodput (times)", *_titles(record)]
        table = Table(columns, words=1)
        for cell in record.cells:
            table.add(_cell_row(cell, record))
        show(console, "Energy, completion times and goodput over always-on's; the verdict in each league", table)
    table = Table(["league", "energy (%)", "if undecided (%)", "kept", "undecided", "broken", "optimum (%)", "regret"])
    for league in record.leagues:
        table.add(_league_row(league))
    show(
        console,
        f"{record.name}: {len(record.cells)} of {len(definition.cells)} cells, {len(record.seeds)} {kind} seeds",
        table,
    )
    for line in _notes(record):
        say(console, line)


def print_comparison(records: Sequence[Record], definition: Definition) -> None:
    """Prints a table for each league."""
    console = new_console()
    for number, limit in enumerate(definition.leagues):
        table = Table(COLUMNS, words=2)
        for row in benchmark.league_rows(records, definition, number):
            table.add(row)
        show(
            console, f"League {limit:.0%}: p95 and goodput within {limit:.0%} of always-on's".replace("%", " %"), table
        )
    cells = len(records[0].cells)
    if cells < len(definition.cells):
        say(console, f"The scores are over the {cells} cells that all of these results have.")
    if not all(map(benchmark.is_ranked, records)):
        say(console, "A result without a rank has development seeds, or not all cells and seeds.")


def _titles(record: Record) -> list[str]:
    return [f"{limit:.0%}".replace("%", " %") for limit in record.document["limits"]]


def _league_row(league: League) -> list[str]:
    return [
        f"{league.limit:.0%}".replace("%", " %"),
        f"{100 * league.energy.mean:.1f}"
        + ("" if math.isnan(league.energy.low) else f" ± {100 * league.energy.half_width:.1f}"),
        f"{100 * league.best:.1f} to {100 * league.worst:.1f}",
        str(league.kept),
        str(league.undecided),
        str(league.broken),
        "-" if math.isnan(league.optimum) else f"{100 * league.optimum:.1f}",
        "-" if math.isnan(league.regret) else f"{100 * league.regret:.1f}",
    ]


def _cell_row(cell: CellRows, record: Record) -> list[str]:
    verdicts = [benchmark.standing(cell, limit).standing.value for limit in record.document["limits"]]
    if cell.failed is not None:
        return [cell.name, "failed", "-", "-", *verdicts]
    energy = 100 * math.fsum(cell.energy) / len(cell.energy)
    worst = max(cell.growth.values(), key=lambda interval: interval.mean, default=None)
    return [cell.name, f"{energy:.1f}", "-" if worst is None else _around(worst), _around(cell.goodput), *verdicts]


def _around(value: Interval) -> str:
    """A ratio with its interval; without bounds the ratio alone."""
    if math.isfinite(value.low):
        return f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"
    return "-" if math.isnan(value.mean) else f"{value.mean:.3f}"


def _notes(record: Record) -> list[str]:
    failed = [cell for cell in record.cells if cell.failed is not None]
    lines = [f"Failed in {cell.name}, which counts as broken: {cell.failed}" for cell in failed[:_MOST_FAILED]]
    if len(failed) > _MOST_FAILED:
        lines.append(f"Failed in {len(failed) - _MOST_FAILED} more cells.")
    still = sum(cell.failed is None and set(cell.energy) == {1.0} for cell in record.cells)
    if still:
        lines.append(f"Always at the highest rate in {still} of {len(record.cells)} cells.")
    undecided = [league for league in record.leagues if league.undecided]
    if undecided:
        lines.append("Undecided: the interval of a cell holds the limit. Such a cell counts by its mean.")
    if not record.document["whole"]:
        lines.append("Not all cells and seeds: this result cannot be ranked.")
    return lines
