"""The paper's Figs. 1 to 4 and Tables IV and V."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(_evidence: Evidence) -> Iterator[Drawn]:
    """All figures, the paper's first, in order."""
    yield from ()
