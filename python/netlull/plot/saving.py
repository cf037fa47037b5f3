"""Saving many figures on all cores: matplotlib is not for threads, so every other core gets a process of its own.

A process runs `receive`: it reads figures from its input, which this module wrote, and saves them.
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
"""Fewer figures are not worth a process, which takes as long to start as two take to save."""


def save_all(figures: Sequence[tuple[str, Figure]], folder: Path, workers: int) -> list[list[Path]]:
    """What `save` does to each figure and its name, `workers` at a time; the same bytes whatever their number.

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
                # Whatever was in the way: here it works, or says what is wrong.
                for name, drawn in figures[share::shares]:
                    save(drawn, folder, name)
    finally:
        for process in filter(None, processes):
            process.kill()
            process.wait()
    return [[folder / f"{name}{suffix}" for suffix in (".svg", ".pdf")] for name, _ in figures]


def _started(figures: Sequence[tuple[str, Figure]], folder: Path) -> subprocess.Popen[bytes] | None:
    """A process that saves these; None if there can be none, or if a figure cannot be sent to it."""
    command = [sys.executable, "-c", f"from {__name__} import receive; receive()"]
    try:
        # A file, not a pipe: nobody waits until the process has started and reads.
        with tempfile.TemporaryFile() as sent:
            pickle.dump((str(folder), list(figures)), sent)
            sent.seek(0)
            return subprocess.Popen(command, stdin=sent, stderr=subprocess.DEVNULL)  # noqa: S603  # itself
    except (OSError, pickle.PicklingError, AttributeError, TypeError):
        return None


def receive() -> None:
    """Saves the figures that come in."""
    folder, figures = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by `_started`
    for name, drawn in figures:
        save(drawn, Path(folder), name)
