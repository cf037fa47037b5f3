"""Metrics of a sweep over one of its axes, with 95 % confidence intervals: `netlull plot sweep`."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError, NetlullWarning, near
from netlull.plot.charts import Series, record
from netlull.plot.lines import Curve, Panel, draw_curves, log_x
from netlull.plot.style import COLOURS, DOUBLE_COLUMN, MARKERS, figure, legend_above, styled
from netlull.quantities import metric_words
from netlull.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.sweep import SweepResult

__all__ = ["draw_metric", "metric_label", "sweep_figure"]

_COLUMNS = 2
_DECADES_OF_A_LOG_AXIS = 1.3
_LONG_LABEL = 8
_SPREAD = 0.5
"""The part of a category's width for its points, which stand side by side."""

Rows = list[dict[str, Any]]


def sweep_figure(
    result: SweepResult,
    x: str,
    by: str | None = None,
    metrics: Sequence[str] = (),
    where: Mapping[str, str] | None = None,
) -> Figure:
    """A panel per metric over the axis `x`, with a curve per point of the axis `by`.

    Other axes are fixed by `where`. An axis of numbers has lines and bands. An axis of names, or of a sample, has
    points with bars. A title counts the points without a value. A `NetlullWarning` counts the points of experiments
    that do not use these axes.

    Raises:
        InputError: an axis, a point or a metric is unknown, or several points of the sweep have the same position.
    """
    for axis in (x, *([by] if by else []), *(where or {})):
        _known(axis, result.axes, "axis")
    chosen = list(metrics) or list(result.metrics)
    for metric in chosen:
        _known(metric, tuple(result.metrics), "metric")
    rows = _chosen(result, x, by, where or {})
    curves: dict[str, Rows] = {}
    for row in rows:
        curves.setdefault(row[f"{by}_label"] if by else "", []).append(row)
    count = math.ceil(len(chosen) / _COLUMNS)
    columns = min(len(chosen), _COLUMNS)
    with styled():
        drawn = figure(DOUBLE_COLUMN if columns > 1 else DOUBLE_COLUMN * 0.7, 0.5 + 2.5 * count)
        used = [axes for line in drawn.subplots(count, columns, squeeze=False) for axes in line]
        for axes, metric in zip(used, chosen, strict=False):
            draw_metric(axes, result, curves, x, metric, joined=x not in result.sampled)
            without = sum(math.isnan(row[metric]) for row in rows)
            if without:
                axes.set_title(f"no value at {without} of {len(rows)} points", loc="left")
        for axes in used[len(chosen) :]:
            axes.set_axis_off()
        if by:
            legend_above(drawn, used[:1])
    return drawn


def _known(name: str, names: Sequence[str], what: str) -> None:
    if name not in names:
        raise InputError(f'there is no {what} "{name}" in the sweep; {near(name, names)}')


def _chosen(result: SweepResult, x: str, by: str | None, where: Mapping[str, str]) -> Rows:
    """The rows of means in the figure."""
    everything: Rows = result.summarise().to_pylist()
    rows = [row for row in everything if all(row[f"{axis}_label"] is not None for axis in (x, by) if axis)]
    if len(rows) < len(everything):
        without = f"{len(everything) - len(rows)} of {len(everything)} points"
        axes_of = " or ".join(filter(None, (x, by)))
        told = f"the figure leaves out {without}, which have no place on the axis {axes_of}"
        warnings.warn(told, NetlullWarning, stacklevel=3)
    for axis, label in where.items():
        labels = list(dict.fromkeys(row[f"{axis}_label"] for row in rows if row[f"{axis}_label"] is not None))
        _known(label, labels, f"point of the axis {axis}")
        rows = [row for row in rows if row[f"{axis}_label"] == label]
    seen: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        other = seen.setdefault((row[f"{x}_label"], row[f"{by}_label"] if by else None), row)
        if other is not row:
            apart = [axis for axis in result.axes if row[f"{axis}_label"] != other[f"{axis}_label"]]
            what = f"axis {apart[0]}" if apart else "experiment"
            raise InputError(
                f"several points of the {what} have the same position; choose with --by or --where AXIS=POINT"
            )
    if not rows:
        raise InputError("the sweep has no such point")
    return rows


def metric_label(result: SweepResult, metric: str) -> tuple[str, float]:
    """A metric's axis label, and the divisor of its values."""
    unit, divisor = result.unit_of(metric)
    return f"{metric_words(metric)} ({unit})" if unit else metric_words(metric), divisor


def _interval(row: Mapping[str, Any], metric: str, scale: float) -> Interval:
    low, mean, high = (row[name] / scale for name in (f"{metric}_low", metric, f"{metric}_high"))
    return Interval(mean, low, high, row["runs"])


def _axis_label(result: SweepResult, axis: str) -> str:
    unit = result.units.get(axis)
    return f"{axis} ({unit})" if unit else axis


def _leave_room(axes: Axes, values: Sequence[Interval]) -> None:
    """Sets the axis from zero, if no value is below, to a little above the highest: no mark is cut."""
    edges = [edge for value in values for edge in (value.mean, value.low, value.high) if math.isfinite(edge)]
    if edges and min(edges) >= 0 and max(edges) > 0:
        axes.set_ylim(0, 1.06 * max(edges))


def draw_metric(
    axes: Axes, result: SweepResult, curves: Mapping[str, Rows], x: str, metric: str, *, joined: bool
) -> None:
    """Draws a metric over any axis. Points that are not `joined` have no line."""
    if any(isinstance(row[x], str) for rows in curves.values() for row in rows):
        draw_names(axes, result, curves, x, metric)
    elif joined:
        draw_numbers(axes, result, curves, x, metric)
    else:
        draw_points(axes, result, curves, x, metric)


def _is_log(places: Sequence[float]) -> bool:
    return min(places) > 0 and math.log10(max(places) / min(places)) > _DECADES_OF_A_LOG_AXIS


def draw_points(axes: Axes, result: SweepResult, curves: Mapping[str, Rows], x: str, metric: str) -> None:
    """Draws a metric over an axis of sampled numbers: single points with their intervals."""
    text, scale = metric_label(result, metric)
    drawn: list[Interval] = []
    for index, (name, rows) in enumerate(curves.items()):
        values = [_interval(row, metric, scale) for row in rows]
        mark_points(axes, name, [float(row[x]) for row in rows], values, index)
        drawn += values
    if _is_log([row[x] for rows in curves.values() for row in rows]):
        log_x(axes)
    axes.set_xlabel(_axis_label(result, x))
    axes.set_ylabel(text)
    _leave_room(axes, drawn)


def mark_points(axes: Axes, name: str, places: Sequence[float], values: Sequence[Interval], index: int) -> None:
    """Draws unconnected points with bars. `index` selects their colour and marker."""
    halves = [0.0 if math.isnan(value.half_width) else value.half_width for value in values]
    bars = axes.errorbar(
        places,
        [value.mean for value in values],
        yerr=halves if any(halves) else None,
        label=name or None,
        color=COLOURS[index % len(COLOURS)],
        marker=MARKERS[index % len(MARKERS)],
        markerfacecolor=COLOURS[index % len(COLOURS)] if index < len(COLOURS) else "white",
        linestyle="",
        capsize=2.5,
        elinewidth=0.9,
    )
    colour = index % len(COLOURS)
    means, lows, highs = ([getattr(value, side) for value in values] for side in ("mean", "low", "high"))
    told = Series(name, places, means, lows, highs, [value.n for value in values], colour, "points")
    record(axes, told, bars.get_children())


def draw_numbers(axes: Axes, result: SweepResult, curves: Mapping[str, Rows], x: str, metric: str) -> None:
    """Draws a metric over an axis of numbers: lines and bands, on a logarithmic axis over decades."""
    text, scale = metric_label(result, metric)
    places = [row[x] for rows in curves.values() for row in rows]
    lines = []
    for colour, (name, rows) in enumerate(curves.items()):
        ordered = sorted(rows, key=lambda row: float(row[x]))
        values = [_interval(row, metric, scale) for row in ordered]
        lines.append(Curve(name, [row[x] for row in ordered], values, colour, dashed=colour >= len(COLOURS)))
    draw_curves(axes, Panel("", _axis_label(result, x), text, lines, log_x=_is_log(places), y_from=0))
    _leave_room(axes, [value for line in lines for value in line.y])


def draw_names(axes: Axes, result: SweepResult, curves: Mapping[str, Rows], x: str, metric: str) -> None:
    """Draws a metric over an axis of names: points with bars, side by side."""
    text, scale = metric_label(result, metric)
    names = list(dict.fromkeys(row[f"{x}_label"] for rows in curves.values() for row in rows))
    drawn: list[Interval] = []
    for index, (name, rows) in enumerate(curves.items()):
        shift = _SPREAD * ((index + 0.5) / len(curves) - 0.5)
        values = [_interval(row, metric, scale) for row in rows]
        places = [names.index(row[f"{x}_label"]) + shift for row in rows]
        mark_points(axes, name, places, values, index)
        drawn += values
    long = max(len(name) for name in names) > _LONG_LABEL or len(names) > _LONG_LABEL
    axes.set_xticks(range(len(names)), names, rotation=35 if long else 0, ha="right" if long else "center")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel(_axis_label(result, x))
    axes.set_ylabel(text)
    _leave_room(axes, drawn)
