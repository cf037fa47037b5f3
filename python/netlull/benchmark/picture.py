"""The picture of the results page: a Pareto plot, and the scores in the leagues."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.benchmark.page import OPTIMUM, optimum, ranked, title_of
from netlull.plot import COLOURS, DOUBLE_COLUMN, figure, log_y, styled
from netlull.plot.style import MARKERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from netlull.benchmark.definition import Definition
    from netlull.benchmark.record import Record

__all__ = ["overview"]


def _mean_energy(record: Record) -> float:
    energies = [math.fsum(cell.energy) / len(cell.energy) if cell.energy else 1.0 for cell in record.cells]
    return math.fsum(energies) / len(energies)


def _slowdown(record: Record) -> float:
    """The geometric mean over the cells in which the controller ran."""
    logs = [math.log(cell.slowdown) for cell in record.cells if math.isfinite(cell.slowdown)]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.inf


def overview(records: Sequence[Record], definition: Definition) -> Figure:
    """The Pareto plot, and the scores in the leagues."""
    points = {record.name: (100 * _mean_energy(record), _slowdown(record)) for record in records}
    order = [record.name for record in ranked(records, 0)]
    with styled():
        drawn = figure(DOUBLE_COLUMN, 3.4)
        left, right = drawn.subplots(1, 2, width_ratios=(1.15, 1.0))
        front = sorted(place for place in points.values() if not _beaten(place, list(points.values())))
        left.plot([x for x, _ in front], [y for _, y in front], color="#999999", linewidth=0.9, zorder=1)
        for number, name in enumerate(order):
            x, y = points[name]
            style = {
                "color": COLOURS[number % len(COLOURS)],
                "marker": MARKERS[(number * 3 + number // len(COLOURS)) % len(MARKERS)],
            }
            left.plot([x], [y], linestyle="", markersize=5, label=title_of(name, definition), **style)
        for limit in definition.leagues:
            left.axhline(1 + limit, color="#222222", linewidth=0.5, linestyle=":")
        left.set_xlabel("Energy (% of always-on)")
        left.set_ylabel("Slowdown (times always-on)")
        log_y(left)
        left.set_title("All cells, as measured", loc="left")
        top = len(order) + 1
        for number, limit in enumerate(definition.leagues):
            scores = [next(one for one in records if one.name == name).leagues[number].energy for name in order]
            right.errorbar(
                [100 * score.mean for score in scores],
                [top - 1 - place + 0.2 * (1 - number) for place in range(len(order))],
                xerr=[100 * score.half_width if score.n > 1 else 0.0 for score in scores],
                linestyle="",
                marker=MARKERS[number],
                color=COLOURS[number],
                markersize=4,
                elinewidth=0.8,
                label=f"within {limit:.0%}".replace("%", " %"),
            )
            right.plot(
                [100 * optimum(records, number)],
                [top + 0.2 * (1 - number)],
                linestyle="",
                marker=MARKERS[number],
                color=COLOURS[number],
                markerfacecolor="white",
                markersize=4,
            )
        right.set_yticks(
            [top - place for place in range(top)], [OPTIMUM, *(title_of(name, definition) for name in order)]
        )
        right.set_xlabel("Score: energy that counts (% of always-on)")
        right.set_title("Leagues", loc="left")
        right.legend(loc="lower left")
        left.legend(loc="upper right", fontsize=6.5)
    return drawn


def _beaten(place: tuple[float, float], others: Sequence[tuple[float, float]]) -> bool:
    """True if another point is at least as good in both and better in one."""
    return any(other != place and other[0] <= place[0] and other[1] <= place[1] for other in others)
