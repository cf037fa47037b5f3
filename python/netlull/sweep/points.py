"""The points of a sweep at which scenarios run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netlull.scenario import Scenario
    from netlull.sweep.axes import AxisPoint

__all__ = ["Point"]


@dataclass(frozen=True)
class Point:
    """A point of the grid: its experiment, its position on each axis, its scenario and its seeds."""

    experiment: str
    at: Mapping[str, AxisPoint]
    scenario: Scenario
    seeds: tuple[int, ...]

    @property
    def values(self) -> dict[str, float | str]:
        """The value on each axis, in the axis's unit."""
        return {axis: point.value for axis, point in self.at.items()}

    @property
    def label(self) -> str:
        """`EXPERIMENT at AXIS=LABEL, ...`, for messages."""
        place = ", ".join(f"{axis}={point.text}" for axis, point in self.at.items())
        return f"{self.experiment} at {place}" if place else self.experiment

    def run_key(self, seed: int) -> str:
        """The identity of one run: equal keys have equal results."""
        return f"{self.scenario.key[:40]}-{seed}"
