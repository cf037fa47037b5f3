"""A metric of a whole sweep in one figure of several panels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull.plot.style import DOUBLE_COLUMN, figure, legend_above, styled
from netlull.plot.sweep import draw_metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from netlull.sweep import SweepResult

__all__ = ["MetricFigure", "metric_figure"]

_MOST_PANELS = 12
_MOST_CURVES = 12
_COLUMNS = 3

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class MetricFigure:
    """A figure, the axes along which it is drawn, and the numbers of omitted panels and points."""

    figure: Figure
    x: tuple[str, ...]
    """The x axis, or every sampled axis."""
    by: str | None
    left_out: int
    without: int
    """The number of points that have no place on the axes."""


@dataclass(frozen=True)
class _Panel:
    title: str
    x: str
    curves: dict[str, Rows]


def metric_figure(result: SweepResult, metric: str) -> MetricFigure | None:
    """The metric over the axis with the most numbers, with a curve per point of another axis.

    Each point of the remaining axes has a panel. A sample has a panel of points per sampled axis, and a colour per
    point of a crossing axis. None if no point has an axis.
    """
    rows: Rows = result.summarise().to_pylist()
    used = [axis for axis in result.axes if len({row[f"{axis}_label"] for row in rows} - {None}) > 1]
    if not used:
        return None
    numeric = [axis for axis in used if not any(isinstance(row[axis], str) for row in rows)]
    x = max(numeric or used, key=lambda axis: len({row[f"{axis}_label"] for row in rows}))
    others = [axis for axis in used if axis != x]
    drawn_along = [axis for axis in used if axis in result.sampled]
    if not drawn_along and _is_scattered(rows, x, others):
        drawn_along = numeric or used
    joined, along = not drawn_along, tuple(drawn_along or [x])
    others = [axis for axis in used if axis not in along]
    by = _coloured(rows, others)
    rest = [axis for axis in others if axis != by]
    panels = [panel for axis in along for panel in _panels(_with(rows, axis), axis, by, rest)]
    drawn = _drawn(result, metric, panels[:_MOST_PANELS], joined=joined)
    without = sum(all(row[f"{axis}_label"] is None for axis in along) for row in rows)
    return MetricFigure(drawn, along, by, max(0, len(panels) - _MOST_PANELS), without)


def _with(rows: Rows, axis: str) -> Rows:
    return [row for row in rows if row[f"{axis}_label"] is not None]


def _is_scattered(rows: Rows, x: str, others: Sequence[str]) -> bool:
    """True if hardly any two points differ in `x` alone, as in a list of points."""
    places = {(row["experiment"], *(row[f"{axis}_label"] for axis in others)) for row in _with(rows, x)}
    return len(others) > 0 and len(places) > _MOST_PANELS and len(places) > 0.5 * len(_with(rows, x))


def _coloured(rows: Rows, others: Sequence[str]) -> str | None:
    """The axis with one colour per point: the last one with few points."""
    few = [axis for axis in others if len({row[f"{axis}_label"] for row in rows} - {None}) <= _MOST_CURVES]
    return few[-1] if few else None


def _panels(rows: Rows, x: str, by: str | None, rest: Sequence[str]) -> list[_Panel]:
    several = len({row["experiment"] for row in rows}) > 1
    found: dict[str, dict[str, Rows]] = {}
    for row in rows:
        place = ", ".join(f"{axis} {row[f'{axis}_label']}" for axis in rest if row[f"{axis}_label"] is not None)
        title = ": ".join(filter(None, (row["experiment"] if several else "", place)))
        label = (row[f"{by}_label"] or "") if by else ""
        found.setdefault(title, {}).setdefault(label, []).append(row)
    return [_Panel(title, x, curves) for title, curves in found.items()]


def _drawn(result: SweepResult, metric: str, panels: Sequence[_Panel], *, joined: bool) -> Figure:
    columns = min(len(panels), _COLUMNS)
    lines = math.ceil(len(panels) / columns)
    width = DOUBLE_COLUMN if columns > 1 else DOUBLE_COLUMN * 0.7
    with styled():
        drawn = figure(width, 0.5 + (2.4 if columns < _COLUMNS else 2.2) * lines)
        used = [axes for line in drawn.subplots(lines, columns, squeeze=False) for axes in line]
        for axes, panel in zip(used, panels, strict=False):
            draw_metric(axes, result, panel.curves, panel.x, metric, joined=joined)
            axes.set_title(panel.title, loc="left")
        for axes in used[len(panels) :]:
            axes.set_axis_off()
        legend_above(drawn, used[: len(panels)])
    return drawn
