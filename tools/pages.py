#!/usr/bin/env python3
"""Writes the man pages and the shell completions of the `netlull` command: `tools/pages.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click.shell_completion import get_completion_class
from click_man.core import write_man_pages

from netlull import __version__
from netlull.cli import LISTED, commands


def main(folder: Path) -> None:
    """Writes man/ and completions/ in the folder."""
    pages, completions = folder / "man", folder / "completions"
    for each in (pages, completions):
        each.mkdir(parents=True, exist_ok=True)
    # click-man reads a group's commands, which `netlull` loads at their use only.
    whole = click.Group("netlull", {name: listed.loaded() for name, listed in LISTED.items()}, help=commands.help)
    write_man_pages("netlull", whole, version=__version__, target_dir=str(pages))
    for shell, name in (("bash", "netlull.bash"), ("fish", "netlull.fish"), ("zsh", "_netlull")):
        made = get_completion_class(shell)
        if made is None:
            raise SystemExit(f"Click has no completions for {shell}")
        (completions / name).write_text(made(whole, {}, "netlull", "_NETLULL_COMPLETE").source(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
