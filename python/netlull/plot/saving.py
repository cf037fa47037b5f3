"""Saving of many figures on all cores. matplotlib is not thread-safe: every other core gets its own process.

A process runs `receive`: it reads this module's figures from its input and saves them.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from netlull.plot.style import save

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

__all__ = ["save_all"]

FEWEST = 3
"""The fewest figures for a further process: its start takes as long as saving two figures."""


def save_all(figures: Sequence[tuple[str, Figure]], folder: Path, workers: int) -> list[list[Path]]:
    """Saves each figure under its name as `save` does, `workers` at a time. The bytes do not depend on `workers`.

    Raises:
        OutputError: a file cannot be written.
    """
    shares = max(1, min(workers, len(figures) // FEWEST))
    processes = [_started(figures[share::shares], folder) for share in range(1, shares)]
    try:
        for name, drawn in figures[::shares]:
            save(drawn, folder, name)
        for share, process in enumerate(processes, start=1):
            if process is None or process.wait() != 0:
                # After any failure, saving here works, or raises its reason.
                for name, drawn in figures[share::shares]:
                    save(drawn, folder, name)
    finally:
        for process in filter(None, processes):
            process.kill()
            process.wait()
    return [[folder / f"{name}{suffix}" for suffix in (".svg", ".pdf")] for name, _ in figures]


def _started(figures: Sequence[tuple[str, Figure]], folder: Path) -> subprocess.Popen[bytes] | None:
    """A process that saves these; None if it cannot start, or if a figure cannot be sent."""
    # -P: with -c alone, Python would import modules of the current folder, such as a matplotlib.py.
    command = [sys.executable, "-P", "-c", f"from {__name__} import receive; receive()"]
    try:
        # A file instead of a pipe: writing does not wait for the process to start and read.
        with tempfile.TemporaryFile() as sent:
            pickle.dump((str(folder), list(figures)), sent)
            sent.seek(0)
            return subprocess.Popen(command, stdin=sent, stderr=subprocess.DEVNULL)  # noqa: S603  # itself
    except (OSError, pickle.PicklingError, AttributeError, TypeError):
        return None


def receive() -> None:
    """Saves the figures from standard input."""
    folder, figures = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by `_started`
    for name, drawn in figures:
        save(drawn, Path(folder), name)
