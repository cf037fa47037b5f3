"""`netlull new`: a scenario to start from."""

from __future__ import annotations

from pathlib import Path

import click

from netlull.cli.text import echo
from netlull.documents.tomltext import toml_value
from netlull.errors import InputError
from netlull.library import starters
from netlull.results.output import prepare_file, writing

__all__ = ["new_command"]


@click.command("new")
@click.argument("name", metavar="NAME")
@click.option(
    "--kind",
    type=click.Choice(list(starters())),
    default="dumb-bell",
    show_default=True,
    help="The network to start from.",
)
def new_command(name: str, kind: str) -> None:
    """Write NAME.toml, a commented scenario that runs as written. A file that exists is never replaced."""
    path = _file(name)
    text = starters()[kind].read_text(encoding="utf-8")
    text = text.replace(f"name = {toml_value(kind)}", f"name = {toml_value(path.stem)}", 1)
    prepare_file(path)
    with writing(path):
        path.write_text(text, encoding="utf-8")
    # A name with a dash would be read as an option.
    shown = f"./{path}" if name.startswith("-") else path
    echo(f"{path}: a scenario of kind {kind}. Run it with `netlull run {shown}`")


def _file(name: str) -> Path:
    """The file to write, NAME with its ending.

    Raises:
        InputError: the name is empty, or the file exists.
    """
    if not Path(name).name:
        raise InputError(f'NAME: "{name}" names no file; expected one such as mine')
    path = Path(name if name.endswith(".toml") else f"{name}.toml")
    if path.exists():
        raise InputError(f"NAME: {path} exists already; expected a new file")
    return path
