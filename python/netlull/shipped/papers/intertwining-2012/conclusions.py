"""Judges of the expectations in the conclusions, by the study of the parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Evidence, Part, Tolerance, decided, every, number
from netlull.stats import Interval, goodman_kruskal

from .measures import below_zero

if TYPE_CHECKING:
    from collections.abc import Sequence


def _along(evidence: Evidence, experiment: str, axis: str, at: float, metric: str) -> float:
    """The order of a metric along an axis of the study, with a buffer of one BDP."""
    values = evidence.grid.values(experiment, axis)
    cells = [Cell.of(experiment, at=at, room=1, **{axis: value}) for value in values]
    return goodman_kruskal(values, [evidence.grid.interval(cell, metric).mean for cell in cells])


def _orders(evidence: Evidence, experiment: str, axis: str, metric: str) -> list[float]:
    return [_along(evidence, experiment, axis, at, metric) for at in evidence.grid.values(experiment, "at")]


def _shown_orders(orders: Sequence[float]) -> str:
    return ", ".join(f"{order:+.2f}" for order in orders)


def delay_bound_effects(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I17: queue and loss rise with d, and rate changes fall."""
    rank, parts = tolerance["rank"], []
    for name, metric in (("queue", "mean_queue_packets"), ("loss", "loss")):
        orders = _orders(evidence, "study-d", "d", metric)
        told = f"{name}: order along d {_shown_orders(orders)} at the study's loads."
        parts.append(Part(name, min(orders) >= rank, told))
    orders = _orders(evidence, "study-d", "d", "rate_changes")
    return [*parts, Part("changes", max(orders) <= -rank, f"rate changes: {_shown_orders(orders)}.")]


def interval_effects(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I18: rate changes fall with the least time between them."""
    orders = _orders(evidence, "study-mrci", "mrci", "rate_changes")
    told = f"rate changes: order along Δ {_shown_orders(orders)} at the study's loads."
    return [Part("changes", max(orders) <= -tolerance["rank"], told)]


def jumps_react(evidence: Evidence, _: Tolerance) -> list[Part]:
    """Judges I19: jumps react more quickly, without more rate changes."""
    grid = evidence.grid

    def gaps(metric: str, scale: float) -> list[Interval]:
        pairs = [(Cell.of("jumps", at=at), Cell.of("neighbours", at=at)) for at in grid.values("jumps", "at")]
        return [grid.difference(jumps, steps, metric, scale) for jumps, steps in pairs]

    waits, changes = gaps("wait_s", 1e3), gaps("rate_changes", 1)
    return [
        Part(
            "quicker",
            every([below_zero(gap) for gap in waits]),
            f"mean wait, jumps less neighbours: {', '.join(number(gap, digits=2) for gap in waits)} ms,",
        ),
        Part(
            "changes",
            every([decided(gap, at_most=0) for gap in changes]),
            f"rate changes: {', '.join(number(gap, digits=0) for gap in changes)}.",
        ),
    ]
