"""A progress bar with the time left, on stderr, and only if that is a terminal."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netlull._engine import Monitor

__all__ = ["bar", "watched"]

_TICK_S = 0.1

Show = Callable[[float, str], None]
"""Shows a share of the work, 0 to 1, and a word about it."""


@contextlib.contextmanager
def bar(title: str) -> Iterator[Show]:
    """A bar that the block moves by calling what it is given; silent when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _share, _word: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[word]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=1.0, word="")
        yield lambda share, word: progress.update(task, completed=share, word=word)


@contextlib.contextmanager
def watched(monitor: Monitor, show: Show) -> Iterator[None]:
    """Shows a run's simulated share from another thread while the block runs it in this one."""
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(_TICK_S):
            show(monitor.fraction, "")

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
