"""`netlull report`: the page of a sweep."""

from __future__ import annotations

from pathlib import Path

import click

import netlull
from netlull.cli.compare import compared_by
from netlull.cli.text import echo
from netlull.errors import InputError

__all__ = ["report_command"]


@click.command("report")
@click.argument("store", type=click.Path(path_type=Path), metavar="STORE")
@click.option(
    "--by",
    metavar="AXIS=X[,Y]",
    help="Add a table that compares points X and Y of an axis, or all others with X, as `netlull compare`.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="A .html file; default STORE/report.html.")
def report_command(store: Path, by: str | None, out: Path | None) -> None:
    """Write the report of a sweep as one HTML page.

    STORE is the folder that `netlull sweep` wrote.
    """
    if out is not None and out.suffix not in {".html", ".htm"}:
        raise InputError(f"--out {out}: expected a name that ends in .html")
    found = None if by is None else compared_by(netlull.SweepResult.load(store), by, (), netlull.compare.Options())
    echo(f"written to {netlull.report.sweep_report(store, out, found)}")
