"""Suggestions for names that do not exist."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["near"]

_MOST_NAMED = 12


def near(name: str, names: Iterable[str]) -> str:
    """`did you mean X, Y` if names are similar, else `expected one of ...`, shortened for many names."""
    known = list(names)
    alike = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if alike:
        return f"did you mean {' or '.join(alike)}?"
    more = len(known) - _MOST_NAMED
    listed = ", ".join(known[:_MOST_NAMED]) or "none"
    return f"expected one of {listed}{f' and {more} more' if more > 0 else ''}"
