"""Panels of a picture of an episode, as data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Line", "Panel", "held"]

Floats = npt.NDArray[np.float64]


class Line(NamedTuple):
    """A quantity over time. With `steps`, each value holds until the next time."""

    label: str
    time_s: Floats
    value: Floats
    colour: int = 0
    steps: bool = False
    width: float = 1.0


class Panel(NamedTuple):
    """A panel: its title, the label of its axis, and its lines."""

    title: str
    label: str
    lines: list[Line]


def held(values: Floats) -> Floats:
    """The decisions of steps, from the values at their ends: a decision holds from the tick before."""
    return np.append(values[1:], values[-1])
