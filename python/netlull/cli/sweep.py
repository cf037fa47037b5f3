"""`netlull sweep`: a grid of scenarios and seeds on all cores. A new start resumes a stopped sweep."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

import netlull
from netlull.cli.inputs import Place, allows_code, cluster_options, code_option, json_option, memory_option
from netlull.cli.progress import bar, warn
from netlull.cli.tables import Table, new_console, say, show
from netlull.cli.text import echo
from netlull.errors import MissingPackageError, OutputError
from netlull.numbers import count, digits, plus_minus

if TYPE_CHECKING:
    from netlull.cluster import Cluster
    from netlull.sweep import Progress, Sweep, SweepResult

__all__ = ["sweep_command"]

_MOST_ROWS = 20
_MOST_DOUBTS = 3


@click.command("sweep")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Store of runs, to write and reuse; default out/NAME.",
)
@click.option("--workers", type=click.IntRange(min=1), metavar="N", help="Runs at a time; default one per core.")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="Seeds 1 to N instead of the file's default.")
@click.option(
    "--until",
    multiple=True,
    metavar="'METRIC<5%'",
    help="Add seeds to each point until its 95 % interval is this narrow; '<0.1' is absolute. Repeatable.",
)
@click.option("--most-seeds", type=int, metavar="N", help="The most seeds of a point with --until; default 1000.")
@cluster_options
@memory_option
@code_option
@click.option("--report/--no-report", default=True, help="Write report.html into the store; the default.")
@json_option
def sweep_command(  # noqa: PLR0913, PLR0917  # one per option
    file: Path,
    out: Path | None,
    workers: int | None,
    seeds: int | None,
    until: tuple[str, ...],
    most_seeds: int | None,
    place: Place,
    memory: str | None,
    report: bool,
    as_json: bool,
) -> None:
    """Run the sweep in FILE, and reuse the runs in its store."""
    sweep = netlull.Sweep.from_file(file, allow_code=allows_code())
    if seeds is not None:
        sweep = sweep.replaced(seeds=seeds)
    store = out or Path("out") / _name(file)
    with place.reached(workers) as where:
        result = _run(sweep, store, Asked(workers, where, until or None, most_seeds, memory))
    # A failure of the report must not lose the numbers.
    unwritten = _report(store) if report else None
    _print(result, store, as_json=as_json)
    if unwritten is not None:
        sys.stdout.flush()
        raise unwritten


def _report(store: Path) -> OutputError | None:
    """Writes the sweep's report; returns the error if that fails."""
    try:
        netlull.report.sweep_report(store)
    except MissingPackageError as missing:
        warn(f"no report is written: {missing}")
    except OutputError as error:
        return error
    return None


def _print(result: SweepResult, store: Path, *, as_json: bool) -> None:
    if as_json:
        document = {
            "store": str(store),
            "executed": result.executed,
            "reused": result.reused,
            "measured": [{"from": window.warm_up, "to": window.duration} for window in result.windows],
            "unmet": list(result.unmet),
            "warnings": list(result.warnings),
            "rows": result.table.to_pylist(),
        }
        echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    print_sweep(result)
    echo(f"{result.executed} runs simulated, {result.reused} taken from the store; written to {store}")


def _name(file: Path) -> str:
    """The file's stem; `sweep.toml` takes the name of its folder."""
    return file.stem if file.stem != "sweep" else file.resolve().parent.name


@dataclass(frozen=True)
class Asked:
    """The options of the command line for running the sweep."""

    workers: int | None
    cluster: Cluster | None
    until: tuple[str, ...] | None
    most_seeds: int | None
    memory: str | None


def _run(sweep: Sweep, store: Path, asked: Asked) -> SweepResult:
    with bar("sweep") as show:

        def shown(progress: Progress) -> None:
            show(progress.fraction, f"{progress.done}/{progress.total} runs")

        return sweep.run(
            store,
            workers=asked.workers,
            cluster=asked.cluster,
            progress=shown,
            until=asked.until,
            most_seeds=asked.most_seeds,
            memory=asked.memory,
        )


def print_sweep(result: SweepResult) -> None:
    """Prints a sweep: one row per point, with each metric's mean and 95 % interval."""
    summary = result.summarise()
    many = len(set(summary["experiment"].to_pylist())) > 1
    axes = [f"{axis} [{result.units[axis]}]" if result.units[axis] else axis for axis in result.axes]
    units = {metric: result.unit_of(metric) for metric in result.metrics}
    metrics = [f"{metric} [{unit}]" if unit else metric for metric, (unit, _) in units.items()]
    table = Table([*(["experiment"] if many else []), *axes, "runs", *metrics], words=len(axes) + many)
    for row in summary.to_pylist():
        cells = [row["experiment"]] if many else []
        cells += [row[f"{axis}_label"] or "-" for axis in result.axes]
        cells.append(count(row["runs"]))
        is_constant = result.is_constant(row["experiment"], [row[f"{axis}_label"] for axis in result.axes])
        for name, (_, divisor) in units.items():
            mean, low, high = (row[side] / divisor for side in (name, f"{name}_low", f"{name}_high"))
            cells.append(digits(mean) if is_constant else plus_minus(mean, (high - low) / 2))
        table.add(cells)
    out = new_console()
    show(out, "Means over seeds with 95 % confidence intervals", table)
    for line in _sweep_notes(result):
        say(out, line)


def _sweep_notes(result: SweepResult) -> list[str]:
    """Notes on the measured window, the choice of seeds, doubtful intervals and missing values."""
    lines = [netlull.sweep.window_words(result.windows)]
    if result.until is not None:
        wanted = ", ".join(map(str, result.until.conditions))
        lines.append(
            f"Seeds were added until {wanted}; such intervals cover a little less than 95 % (docs/statistics.md)."
        )
        unmet = [f"  {what}" for what in result.unmet[:_MOST_ROWS]]
        if unmet:
            lines.append(f"Not reached with at most {result.until.most_seeds} seeds:")
            lines += unmet
    equal = result.equal_seeds()
    lines += [f"Note: {equal}."] if equal else []
    doubtful = result.doubts()
    if doubtful:
        more = f"; and {len(doubtful) - _MOST_DOUBTS} more" if len(doubtful) > _MOST_DOUBTS else ""
        told = "; ".join(doubtful[:_MOST_DOUBTS]) + more
        lines.append(f"Warning: these intervals may mislead: {told}; with random traffic more seeds help.")
    lines += [f"Note: {text}." for text in result.gaps()]
    return [line for line in lines if line]
