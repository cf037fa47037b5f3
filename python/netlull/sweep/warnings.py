"""Warnings about the scenarios of a sweep: each kind once, with its points."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from netlull.runs.memory import excess

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    return (*(_told(texts[kind], places[kind], len(points)) for kind in texts), *_equal_labels(points))


def _equal_labels(points: Sequence[Point]) -> Iterator[str]:
    """A warning for each label of an axis that has the same scenarios as another one, such as by a misspelt change."""
    scenarios: dict[tuple[str, str], dict[str, dict[tuple[str, ...], str]]] = {}
    for point in points:
        for axis, place in point.at.items():
            rest = tuple(other.text for name, other in point.at.items() if name != axis)
            labels = scenarios.setdefault((point.experiment, axis), {})
            labels.setdefault(place.text, {})[rest] = point.scenario.key
    for (_, axis), labels in scenarios.items():
        first: dict[frozenset[tuple[tuple[str, ...], str]], str] = {}
        for label, keys in labels.items():
            other = first.setdefault(frozenset(keys.items()), label)
            if other != label:
                yield f"axis.{axis}: {other} and {label} are the same scenarios; expected points that differ"


def _told(texts: Sequence[str], places: Sequence[str], points: int) -> str:
    """The first warning and its points, if there are several points."""
    if points == 1:
        return texts[0]
    more = f"; and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
    whose = "; the numbers are those of the first" if len(set(texts)) > 1 else ""
    return f"{texts[0]} ({len(places)} of {points} points: {'; '.join(places[:_MOST_NAMED])}{more}{whose})"
