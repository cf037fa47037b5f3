"""The tables that `netlull sweep` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import netlull
from netlull.cli.numbers import count, plus_minus
from netlull.cli.tables import Table, new_console, say, show

if TYPE_CHECKING:
    from netlull.sweep import SweepResult

__all__ = ["print_sweep"]

_MOST_ROWS = 20
_MOST_DOUBTS = 3


def print_sweep(result: SweepResult) -> None:
    """Prints a sweep: one row per point, with each metric's mean and 95 % interval."""
    summary = result.summarise()
    many = len(set(summary["experiment"].to_pylist())) > 1
    axes = [f"{axis} [{result.units[axis]}]" if result.units[axis] else axis for axis in result.axes]
    table = Table([*(["experiment"] if many else []), *axes, "runs", *result.metrics], words=len(axes) + many)
    for row in summary.to_pylist():
        cells = [row["experiment"]] if many else []
        cells += [row[f"{axis}_label"] or "-" for axis in result.axes]
        cells.append(count(row["runs"]))
        cells += [_interval(row[name], row[f"{name}_low"], row[f"{name}_high"]) for name in result.metrics]
        table.add(cells)
    out = new_console()
    show(out, "Means over seeds with 95 % confidence intervals", table)
    for line in _sweep_notes(result):
        say(out, line)


def _sweep_notes(result: SweepResult) -> list[str]:
    """Notes on the measured window, the choice of seeds, doubtful intervals and missing values."""
    lines = [netlull.sweep.window_words(result.windows)]
    if result.until is not None:
        wanted = ", ".join(map(str, result.until.conditions))
        lines.append(
            f"Seeds were added until {wanted}; such intervals cover a little less than 95 % (docs/statistics.md)."
        )
        unmet = [f"  {what}" for what in result.unmet[:_MOST_ROWS]]
        if unmet:
            lines.append(f"Not reached with at most {result.until.most_seeds} seeds:")
            lines += unmet
    doubtful = result.doubts()
    if doubtful:
        more = f"; and {len(doubtful) - _MOST_DOUBTS} more" if len(doubtful) > _MOST_DOUBTS else ""
        told = "; ".join(doubtful[:_MOST_DOUBTS]) + more
        lines.append(f"Warning: these intervals may mislead: {told}; with random traffic more seeds help.")
    lines += [f"Note: {text}." for text in result.gaps()]
    return [line for line in lines if line]


def _interval(mean: float, low: float, high: float) -> str:
    return plus_minus(mean, (high - low) / 2)
