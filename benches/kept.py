"""Stores tables by date, names the compiler of a measurement, and refuses a build with checks."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from netlull._core import IS_CHECKED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RUNS = Path(__file__).resolve().parent / "runs"


def keep(tables: Mapping[str, Sequence[str]]) -> None:
    """Writes each table's lines to its file, in a folder named by today's date."""
    folder = RUNS / datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in tables.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def needs_release() -> None:
    """Ends the program if netlull's build has checks: speed is that of a release."""
    if IS_CHECKED:
        raise SystemExit(
            "this build of netlull has checks and is not optimised in full; `make measured` builds the other"
        )


def compiler() -> str:
    """Returns the version of the Rust compiler, which determines instruction counts."""
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()
