"""Suggestions for names that do not exist."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["near", "some"]

_MOST_NAMED = 12


def near(name: str, names: Iterable[str]) -> str:
    """`did you mean X, Y` if names are similar, else `expected one of ...`, shortened for many names."""
    known = list(names)
    alike = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if alike:
        return f"did you mean {' or '.join(alike)}?"
    return f"expected one of {some(known)}"


def some(names: Iterable[str]) -> str:
    """Lists names for a message; of many the first ones, and the number of the others."""
    known = list(names)
    more = len(known) - _MOST_NAMED
    listed = ", ".join(known[:_MOST_NAMED]) or "none"
    return f"{listed} and {more} more" if more > 0 else listed
