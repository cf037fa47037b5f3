"""Curves with confidence bands, in panels that share one legend."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

from netlull.plot.charts import Series, record
from netlull.plot.style import COLOURS, DOUBLE_COLUMN, MARKERS, figure, legend_above, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from netlull.stats import Interval


@dataclass(frozen=True)
class Curve:
    """A line: a value with its interval at each x."""

    label: str
    x: Sequence[float]
    y: Sequence[Interval]
    colour: int = 0
    dashed: bool = False
    marked: bool = True
    """True if its points are marked; False for a reference line."""
    width: float = 1.3
    """The line's width in points. A wide line stays visible below a narrow one with the same values."""


@dataclass(frozen=True)
class Panel:
    """A set of axes: its title, its labels (with units) and its curves."""

    title: str
    x_label: str
    y_label: str
    curves: Sequence[Curve] = field(default_factory=tuple)
    log_x: bool = True
    log_y: bool = False
    y_from: float | None = None
    y_to: float | None = None


def draw_curves(axes: Axes, panel: Panel) -> None:
    """Draws a panel's curves. The band is the interval, if there is more than one sample."""
    for curve in panel.curves:
        colour = COLOURS[curve.colour % len(COLOURS)]
        marker = MARKERS[curve.colour % len(MARKERS)]
        artists: list[Artist] = axes.plot(  # type: ignore[assignment]  # a list of lines
            curve.x,
            [value.mean for value in curve.y],
            label=curve.label,
            color=colour,
            marker=marker if curve.marked else "",
            markerfacecolor="white" if curve.dashed else colour,
            linestyle=(0, (4, 2)) if curve.dashed else "-",
            linewidth=curve.width,
            markersize=curve.width + 2.3,
        )
        banded = [value.n > 1 and math.isfinite(value.low) and math.isfinite(value.high) for value in curve.y]
        if any(banded):
            low = [value.low if drawn else value.mean for value, drawn in zip(curve.y, banded, strict=True)]
            high = [value.high if drawn else value.mean for value, drawn in zip(curve.y, banded, strict=True)]
            artists.append(axes.fill_between(curve.x, low, high, color=colour, alpha=0.18, linewidth=0))
        record(axes, _series(curve), artists)
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    _set_x(axes, panel)
    if panel.log_y:
        log_y(axes)
    _set_y(axes, panel)


def _series(curve: Curve) -> Series:
    return Series(
        curve.label,
        [float(x) for x in curve.x],
        [value.mean for value in curve.y],
        [value.low for value in curve.y] if curve.marked else [],
        [value.high for value in curve.y] if curve.marked else [],
        [value.n for value in curve.y] if curve.marked else [],
        curve.colour % len(COLOURS),
        dashed=curve.dashed,
    )


def panel_grid(
    panels: Sequence[Panel], columns: int = 2, width: float = DOUBLE_COLUMN, row_height: float = 2.45
) -> Figure:
    """A figure of panels, row by row, under one legend. Sizes are in inches."""
    rows = math.ceil(len(panels) / columns)
    with styled():
        drawn = figure(width, rows * row_height + 0.35)
        grid = drawn.subplots(rows, columns, squeeze=False)
        used = [axes for row in grid for axes in row]
        for axes, panel in zip(used, panels, strict=False):
            draw_curves(axes, panel)
            if columns > 2:
                axes.tick_params(axis="x", labelsize=6.5)
        for axes in used[len(panels) :]:
            axes.set_axis_off()
        # The panel with the most curves comes first: a curve and its dashed counterpart then share a legend column.
        legend_above(drawn, sorted(used[: len(panels)], key=lambda axes: -len(axes.lines)), columns=4)
    return drawn


def _set_x(axes: Axes, panel: Panel) -> None:
    ticks = sorted({x for curve in panel.curves for x in curve.x})
    if not ticks:
        return
    if panel.log_x:
        axes.set_xscale("log")
    if len(ticks) <= 10:
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(_plain_number)


def log_x(axes: Axes) -> None:
    """A logarithmic x axis, as `log_y`."""
    axes.set_xscale("log")
    _label_plainly(axes.xaxis)


def log_y(axes: Axes) -> None:
    """A logarithmic axis with plain numbers at every power of ten, and at 2 and 5 times it."""
    axes.set_yscale("log")
    _label_plainly(axes.yaxis)


def _label_plainly(axis: Axis) -> None:
    axis.set_major_formatter(_plain_number)
    axis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    axis.set_minor_formatter(_plain_number)
    axis.set_tick_params(which="minor", labelsize=6.5)


def _plain_number(value: float, _position: float | None) -> str:
    """A named function: a figure with an unnamed one could not be sent to another process."""
    return f"{value:g}"


def _set_y(axes: Axes, panel: Panel) -> None:
    """Sets the panel's limits of the axis, but never cuts off a curve or its band."""
    values = [edge for curve in panel.curves for value in curve.y for edge in (value.mean, value.low, value.high)]
    finite = [value for value in values if math.isfinite(value)]
    low, high = axes.get_ylim()
    if panel.y_from is not None and min(finite, default=0.0) >= panel.y_from:
        low = panel.y_from
    if panel.y_to is not None and max(finite, default=0.0) <= panel.y_to:
        high = panel.y_to
    if high > low:
        axes.set_ylim(low, high)
