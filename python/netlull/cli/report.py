"""`netlull report`: the page of a sweep."""

from __future__ import annotations

from pathlib import Path

import click

import netlull
from netlull.cli.text import echo
from netlull.errors import InputError

__all__ = ["report_command"]


@click.command("report")
@click.argument("store", type=click.Path(path_type=Path), metavar="STORE")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="A .html file; default STORE/report.html.")
def report_command(store: Path, out: Path | None) -> None:
    """Write the report of a sweep as one HTML page.

    STORE is the folder that `netlull sweep` wrote.
    """
    if out is not None and out.suffix not in {".html", ".htm"}:
        raise InputError(f"--out {out}: expected a name that ends in .html")
    echo(f"written to {netlull.report.sweep_report(store, out)}")
