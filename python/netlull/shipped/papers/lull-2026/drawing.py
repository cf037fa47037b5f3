"""Pareto fronts: energy saved against the growth of completion times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.plot import COLOURS, DOUBLE_COLUMN, figure, legend_above, log_y, styled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from netlull.stats import Interval

MARKS = "osD^vP*X"


@dataclass(frozen=True)
class Priced:
    """A point: its load, the energy saved in per cent, and the growth of completion times."""

    name: str
    saved: Interval
    growth: Interval


def fronts(panels: Mapping[str, Mapping[str, Sequence[Priced]]]) -> Figure:
    """Draws a panel for each title, with a line for each controller through its loads."""
    with styled():
        drawn = figure(DOUBLE_COLUMN, 3.1)
        places = drawn.subplots(1, len(panels), squeeze=False, sharey=True)[0]
        for axes, (title, lines) in zip(places, panels.items(), strict=True):
            for colour, (label, points) in enumerate(lines.items()):
                x, y = ([value.mean for value in part] for part in _parts(points))
                wide = [[_half(value) for value in part] for part in _parts(points)]
                down = [min(half, 0.9 * mean) for half, mean in zip(wide[1], y, strict=True)]
                axes.errorbar(
                    x,
                    y,
                    xerr=wide[0],
                    yerr=[down, wide[1]],
                    label=label,
                    color=COLOURS[colour % len(COLOURS)],
                    marker=MARKS[colour % len(MARKS)],
                    markersize=3.2,
                    linewidth=0.8,
                    elinewidth=0.6,
                )
                if colour == 0:
                    for point in points:
                        axes.annotate(
                            point.name,
                            (point.saved.mean, point.growth.mean),
                            (2, -7),
                            textcoords="offset points",
                            fontsize=5.5,
                        )
            axes.axhline(1.05, color="#222222", linewidth=0.6, linestyle=":")
            axes.set_title(title, loc="left", fontsize=7.5)
            axes.set_xlabel("Energy saved (%)")
            log_y(axes)
        places[0].set_ylabel("95th percentile of completion\nover always on")
        legend_above(drawn, [places[0]], columns=3)
    return drawn


def _parts(points: Sequence[Priced]) -> tuple[list[Interval], list[Interval]]:
    return [point.saved for point in points], [point.growth for point in points]


def _half(value: Interval) -> float:
    return float(np.nan_to_num((value.high - value.low) / 2, posinf=0.0))
