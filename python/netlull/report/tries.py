"""The points of figures that a reader can open in the lab."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netlull.sweep.points import Point

__all__ = ["MOST_BYTES", "MOST_TRIES", "Offer", "Try", "offer", "spread", "tries"]

MOST_TRIES = 200
"""The most points of a figure."""
MOST_BYTES = 200_000
"""The most bytes of all scenarios on a page, packed."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Try:
    """A point that a figure shows: its label and its scenario in TOML."""

    label: str
    toml: str


@dataclass(frozen=True)
class Offer:
    """The points that a page offers, by figure, and their scenarios."""

    by_figure: Mapping[str, Sequence[Try]]
    numbers: Mapping[str, int]
    """The places of the scenarios in the packed list."""
    packed: str
    """The scenarios, each once: a list in JSON, compressed (RFC 1952), in base64."""


def tries(points: Sequence[Point], units: Mapping[str, str | None]) -> list[Try]:
    """The points that the lab can run, each with its first seed; `units` are those of the axes.

    A label has the experiment only if there are several.
    """
    several = len({point.experiment for point in points}) > 1
    return [
        Try(_label(point, units, several=several), point.scenario.to_toml(seed=point.seeds[0]))
        for point in points
        if not point.scenario.has_plug_ins
    ]


def _label(point: Point, units: Mapping[str, str | None], *, several: bool) -> str:
    place = ", ".join(f"{axis}={_with_unit(at.text, units.get(axis))}" for axis, at in point.at.items())
    if not place:
        return point.experiment
    return f"{point.experiment} at {place}" if several else place


def _with_unit(text: str, unit: str | None) -> str:
    """The label of an axis's point; a mere number gets the unit."""
    try:
        float(text)
    except ValueError:
        return text
    return f"{text} {unit}" if unit else text


def spread(items: Sequence[_T], most: int) -> Sequence[_T]:
    """At most `most` items, evenly spread from the first to the last."""
    if len(items) <= most:
        return items
    if most < 2:
        return items[:most]
    return [items[number * (len(items) - 1) // (most - 1)] for number in range(most)]


def offer(figures: Mapping[str, Sequence[Try]], *, most: int = MOST_TRIES, most_bytes: int = MOST_BYTES) -> Offer:
    """At most `most` points of each figure; fewer if the packed scenarios exceed `most_bytes`."""
    most = min(most, max(map(len, figures.values()), default=0))
    while True:
        chosen = {name: spread(points, most) for name, points in figures.items()}
        texts = list(dict.fromkeys(point.toml for points in chosen.values() for point in points))
        packed = _packed(texts)
        if len(packed) <= most_bytes or most == 0:
            return Offer(chosen, {text: number for number, text in enumerate(texts)}, packed)
        most = min(most - 1, most * most_bytes // len(packed))


def _packed(texts: Sequence[str]) -> str:
    data = json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode("ascii")
