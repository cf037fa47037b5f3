"""Stores tables by date, and names the compiler of a measurement."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RUNS = Path(__file__).resolve().parent / "runs"


def keep(tables: Mapping[str, Sequence[str]]) -> None:
    """Writes each table's lines to its file, in a folder named by today's date."""
    folder = RUNS / datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in tables.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def compiler() -> str:
    """Returns the version of the Rust compiler, which determines instruction counts."""
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()
