"""Text for terminals: the one place where commands print."""

from __future__ import annotations

import re

import click

__all__ = ["echo", "printable"]

_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters but tabs and line ends, and the marks of the Unicode Bidirectional Algorithm (UAX 9)."""


def printable(text: str) -> str:
    """The text with escapes, as in JSON, for characters that move a cursor or turn the direction of a line."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def echo(message: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Prints a text: names, file names and messages of modules may have any characters."""
    click.echo(printable(str(message)), err=err, nl=nl)
