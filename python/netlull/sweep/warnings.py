"""Warnings about the scenarios of a sweep: each kind once, with its points."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from netlull.runs.memory import excess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.sweep.points import Point

__all__ = ["warnings_of"]

_NUMBER = re.compile(r"\d[\d.]*")
_MOST_NAMED = 4


def warnings_of(points: Sequence[Point], memory: int | None = None) -> tuple[str, ...]:
    """Warnings of the points' scenarios (`Scenario.warnings`). Texts that differ only in numbers are merged.

    `memory`, in bytes, adds warnings about runs that are expected to need more.
    """
    texts: dict[tuple[str, str], list[str]] = {}
    places: dict[tuple[str, str], list[str]] = {}
    for point in points:
        too_large = () if memory is None else excess(point.scenario.checked, memory)
        for text in (*point.scenario.warnings, *too_large):
            field, _, rest = text.partition(": ")
            kind = field, _NUMBER.sub("", rest)
            texts.setdefault(kind, []).append(text)
            places.setdefault(kind, []).append(point.label)
    return tuple(_told(texts[kind], places[kind], len(points)) for kind in texts)


def _told(texts: Sequence[str], places: Sequence[str], points: int) -> str:
    """The first warning and its points, if there are several points."""
    if points == 1:
        return texts[0]
    more = f"; and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    whose = "; the numbers are those of the first" if len(set(texts)) > 1 else ""
    return f"{texts[0]} ({len(places)} of {points} points: {'; '.join(places[:_MOST_NAMED])}{more}{whose})"
