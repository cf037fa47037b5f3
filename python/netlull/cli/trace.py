"""`netlull trace`: the packets at links, for Wireshark."""

from __future__ import annotations

from pathlib import Path

import click

from netlull import _engine
from netlull.cli.inputs import json_option, load_scenario, scenario_argument, seed_option, set_option
from netlull.cli.progress import bar, watched
from netlull.cli.warnings import warn
from netlull.errors import OutputError
from netlull.results.output import is_standard_output, staged_file
from netlull.runs.memory import limit

__all__ = ["trace_command"]


@click.command("trace")
@scenario_argument
@click.option("--link", "links", multiple=True, required=True, metavar="NAME", help="A link, by name. Repeatable.")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE.pcapng", help="The file to write.")
@seed_option
@set_option
@json_option
def trace_command(  # the command's options
    file: str, links: tuple[str, ...], out: Path, seed: int | None, settings: tuple[str, ...], as_json: bool
) -> None:
    """Write the packets at links of a simulation as pcapng.

    Simulates FILE. The capture has one interface per link.
    """
    scenario = load_scenario(file, settings, seed)
    for warning in scenario.warnings:
        warn(warning)
    monitor, most = _engine.Monitor(), limit(None)
    with staged_file(out) as stage, bar(scenario.name) as show, watched(monitor, show):
        try:
            raw = scenario.checked.trace(list(links), str(stage), monitor, most)
        except OSError as error:
            raise OutputError(str(error).replace(str(stage), str(out))) from None
    click.echo(raw.summary() if as_json else f"written to {out}", err=is_standard_output(out))
