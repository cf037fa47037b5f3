"""Warnings of the library as lines on stderr: immediately, and each once."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, TextIO

import click

from netlull.errors import NetlullWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["warn", "warnings_told"]


def warn(text: str) -> None:
    """Prints a warning as one line on stderr."""
    click.echo(f"warning: {text}", err=True)


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
