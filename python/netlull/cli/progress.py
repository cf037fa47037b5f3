"""A progress bar with the time left, if stderr is a terminal, and warnings of the library as lines on stderr."""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TextIO

from netlull.cli.text import echo
from netlull.errors import NetlullWarning

if TYPE_CHECKING:
    from netlull._engine import Monitor

__all__ = ["TimeLeft", "bar", "shown_time", "warn", "warnings_told", "watched"]

_TICK_S = 0.1
_LEAST_SHARE = 0.001
_LEAST_S = 1.0
"""Before this time, the estimate would vary too much."""

Show = Callable[[float, str], None]
"""Shows a share of the work, 0 to 1, and a short text."""


@contextlib.contextmanager
def bar(title: str) -> Iterator[Show]:
    """A bar. The block moves it by calling the yielded function. Silent if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda _share, _word: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.fields[word]}"),
    )
    time_left = TimeLeft()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=1.0, word="", left="")

        def show(share: float, word: str) -> None:
            left = shown_time(time_left.after(share, time.monotonic()))
            progress.update(task, completed=share, word=word, left=left)

        yield show


class TimeLeft:
    """The time left. The estimate assumes the average speed since the start; earlier work does not count."""

    def __init__(self) -> None:
        self._first: tuple[float, float] | None = None

    def after(self, share: float, now_s: float) -> float | None:
        """Seconds left when this share of the work (0 to 1) is done; None until there is enough work to estimate."""
        if self._first is None:
            self._first = (share, now_s)
        done, took_s = share - self._first[0], now_s - self._first[1]
        if share >= 1:
            return 0.0
        if done < _LEAST_SHARE or took_s < _LEAST_S:
            return None
        return took_s * (1 - share) / done


def shown_time(seconds: float | None) -> str:
    """The time left as `0:01:05 left`; an empty text if unknown."""
    if seconds is None:
        return ""
    whole = math.ceil(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02} left"


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


def warn(text: str) -> None:
    """Prints a warning as one line on stderr."""
    echo(f"warning: {text}", err=True)


@contextlib.contextmanager
def warnings_told(name: str = "") -> Iterator[None]:
    """Prints the library's warnings within the block, each once and after `name` if given."""
    told: set[str] = set()
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(  # as `warnings.showwarning`
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            text = f"{name}: {message}" if name else str(message)
            if not issubclass(category, NetlullWarning):
                others(message, category, filename, lineno, file, line)
            elif text not in told:
                told.add(text)
                warn(text)

        warnings.simplefilter("always", NetlullWarning)
        warnings.showwarning = show
        yield
