"""`netlull sweep`: a grid of scenarios and seeds on all cores. A new start resumes a stopped sweep."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

import netlull
from netlull.cli.inputs import Place, cluster_options, json_option, memory_option
from netlull.cli.progress import bar
from netlull.cli.sweep_output import print_sweep
from netlull.cli.warnings import warn, warnings_told
from netlull.errors import MissingPackageError, OutputError

if TYPE_CHECKING:
    from netlull.cluster import Cluster
    from netlull.sweep import Progress, Sweep, SweepResult

__all__ = ["sweep_command"]


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
    sweep = netlull.Sweep.from_file(file)
    if seeds is not None:
        sweep = sweep.replaced(seeds=seeds)
    store = out or Path("out") / _name(file)
    with warnings_told(), place.reached(workers) as where:
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
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    with warnings_told():
        print_sweep(result)
    click.echo(f"{result.executed} runs simulated, {result.reused} taken from the store; written to {store}")


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
