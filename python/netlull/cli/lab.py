"""`netlull lab`: the laboratory in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from netlull.cli.inputs import load_scenario, seed_option, set_option
from netlull.cli.text import echo
from netlull.errors import InputError
from netlull.library import LAB_PAGE, lab_fragment, place_lab

__all__ = ["lab_command"]


@click.command("lab")
@click.argument("file", required=False, metavar="[FILE]")
@click.option(
    "--out", type=click.Path(path_type=Path), default=LAB_PAGE, metavar="PAGE", help=f"The page; default {LAB_PAGE}."
)
@click.option("--no-answers", is_flag=True, help="Leave out the answers of the exercises.")
@seed_option
@set_option
def lab_command(file: str | None, out: Path, no_answers: bool, seed: int | None, settings: tuple[str, ...]) -> None:
    """Write the laboratory for the browser, and print its address.

    With FILE, a scenario or the name of a shipped one, the address opens that scenario.
    """
    if out.suffix not in {".html", ".htm"}:
        raise InputError(f"--out {out}: expected a name that ends in .html")
    end = ""
    if file is not None:
        scenario = load_scenario(file, settings, seed, plug_ins=False)
        if scenario.has_plug_ins:
            raise InputError(f"{file}: has a part in Python or in a WebAssembly module, which the lab cannot run")
        end = lab_fragment(scenario.to_toml())
    elif settings or seed is not None:
        raise InputError("--set and --seed change a scenario; expected its FILE")
    if not place_lab(out, answers=not no_answers):
        raise InputError("the lab was not built; `make lab` in the sources builds it, and released wheels have it")
    echo(out.resolve().as_uri() + end)
