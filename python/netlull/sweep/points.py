"""The points of a sweep at which scenarios run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netlull.scenario import Scenario
    from netlull.sweep.axes import AxisPoint

__all__ = ["Point", "point_label"]


def point_label(experiment: str, place: Iterable[tuple[str, str | None]]) -> str:
    """`EXPERIMENT at AXIS=LABEL, ...`. An axis without a label does not count."""
    at = ", ".join(f"{axis}={label}" for axis, label in place if label is not None)
    return f"{experiment} at {at}" if at else experiment


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
        return point_label(self.experiment, ((axis, point.text) for axis, point in self.at.items()))

    def run_key(self, seed: int) -> str:
        """The identity of one run: equal keys have equal results."""
        return f"{self.scenario.key[:40]}-{seed}"
