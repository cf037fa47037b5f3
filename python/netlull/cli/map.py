"""`netlull map`: a picture of a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import netlull
from netlull.cli.inputs import set_option
from netlull.cli.networks import network_of, reading_options
from netlull.cli.plot import check_file, seconds, write_figure
from netlull.errors import InputError
from netlull.results.result import Result
from netlull.textfiles import check_text
from netlull.topology.state import part_of, topology_of_scenario

if TYPE_CHECKING:
    from netlull.topology import ReadOptions, Topology
    from netlull.topology.state import Part

__all__ = ["map_command"]


@click.command("map")
@click.argument("file", metavar="FILE")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("map.svg"),
    show_default=True,
    metavar="FILE",
    help="A .svg, .pdf or .png file.",
)
@click.option("--phase", metavar="NAME", help="For a run: only this phase.")
@click.option("--at", "at_s", callback=seconds, metavar="TIME", help="For a run: the recorded bin at this time.")
@click.option("--model", metavar="NAME", help="For a run: the power model of the links.")
@click.option("--title", metavar="TEXT", help="Title; default the network's name and size.")
@set_option
@reading_options
def map_command(
    file: str,
    out: Path,
    phase: str | None,
    at_s: float | None,
    model: str | None,
    title: str | None,
    settings: tuple[str, ...],
    reading: ReadOptions,
) -> None:
    """Draw the network of a topology, a scenario or a run.

    FILE is a topology, a scenario, or a folder that `netlull run --out` wrote. The picture of a run shows the load and
    power of each link, and the sleeping links.
    """
    check_file(out)
    check_text("--title", title or "")
    is_run = Path(file).is_dir()
    if not is_run:
        for option, value in (("--phase", phase), ("--at", at_s), ("--model", model)):
            if value is not None:
                raise InputError(f"{option}: {file} is not a run; expected the folder that `netlull run --out` wrote")
    topology, part = _run(file, settings, phase, at_s, model) if is_run else (network_of(file, settings, reading), None)
    write_figure(netlull.plot.network_map(topology, part, title=title), out)


def _run(
    folder: str, settings: tuple[str, ...], phase: str | None, at_s: float | None, model: str | None
) -> tuple[Topology, Part]:
    if settings:
        raise InputError(f"{folder}: is a finished run; expected a scenario for --set")
    result = Result.load(folder)
    return topology_of_scenario(result.scenario), part_of(result, phase=phase, at_s=at_s, model=model)
