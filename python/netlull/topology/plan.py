"""Which links of a network may sleep: ESTOP, ESACON and a load-aware plan (docs/models/estop.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from netlull._engine import ScenarioError
from netlull._engine import sleep_plan as engine_plan
from netlull.errors import InputError
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from netlull.topology.files import Topology
    from netlull.topology.model import Line

__all__ = ["KINDS", "SleepPlan", "SleepStep", "Verdict", "sleep_plan"]

KINDS = ("estop", "esacon", "load_aware")
"""The plans that there are."""
Verdict = Literal["off", "disconnects", "too_weak", "too_loaded"]


@dataclass(frozen=True)
class SleepStep:
    """What became of one link."""

    line: Line
    rank: float
    """What it was ordered by: betweenness (pairs of nodes), lambda_2 without it, or its load in b/s."""
    verdict: Verdict
    """Whether it sleeps, or why it stays on."""
    connectivity: float
    """lambda_2 of what is on after the step."""


@dataclass(frozen=True)
class SleepPlan:
    """Which links sleep, and what became of every link on the way there."""

    initial_connectivity: float
    """lambda_2, the algebraic connectivity of the whole network."""
    off: tuple[Line, ...]
    """The links that sleep, in the order of switching off."""
    steps: tuple[SleepStep, ...]
    """Every link once, in the order in which they were tried."""


def sleep_plan(
    topology: Topology, kind: str = "estop", *, threshold: float | None = None, bound: float | None = None
) -> SleepPlan:
    """The links of `topology` that a plan puts to sleep.

    Args:
        topology: a connected network. `load_aware` routes its demands by the links' costs and needs their capacities.
        kind: `estop`, `esacon` or `load_aware`.
        threshold: the part of the initial algebraic connectivity that must be left, 0 to 1; default 0 for `load_aware`.
        bound: the utilisation that no link may exceed, above 0, at most 1; of `load_aware` alone.

    Example:
        >>> from netlull.topology import Line, Node, Topology, sleep_plan
        >>> lines = [Line(a, b) for a, b in ("ab", "bc", "cd", "da", "ac")]
        >>> square = Topology("square", [Node(name) for name in "abcd"], lines)
        >>> plan = sleep_plan(square, "estop", threshold=0.5)
        >>> [line.label for line in plan.off]
        ['a-c']

    Raises:
        InputError: names what cannot be used, its value and what was expected.
    """
    if kind not in KINDS:
        raise InputError(f'kind: "{kind}" is unknown; expected one of {", ".join(KINDS)}')
    plan: dict[str, object] = {"kind": kind}
    traffic: dict[str, object] = {}
    if kind == "load_aware":
        plan["bound"] = _number("bound", bound, "a utilisation above 0, at most 1")
        threshold = 0.0 if threshold is None else threshold
        traffic = _traffic(topology)
    elif bound is not None:
        raise InputError(f"bound: {bound} is given for {kind}; expected it with load_aware only")
    plan["threshold"] = _number("threshold", threshold, "a part of the initial connectivity, from 0 to 1")
    topology.check_connected()
    graph = {
        "nodes": len(topology.nodes),
        "links": [list(ends) for ends in topology.edges],
        "names": [node.name for node in topology.nodes],
    }
    try:
        made = engine_plan({**graph, "plan": plan, **traffic})
    except ScenarioError as error:
        raise InputError(f"{topology.name}: {error}") from None
    return _read(topology, made)


def _number(field: str, value: float | None, expected: str) -> float:
    """A number that JSON can hold; its range is the core's to check."""
    if value is None or not math.isfinite(value):
        raise InputError(f"{field} is {value}; expected {expected}")
    return float(value)


def _traffic(topology: Topology) -> dict[str, object]:
    """What the load-aware plan needs beside the graph."""
    capacities = []
    for line in topology.lines:
        if line.capacity_bps is None:
            raise InputError(f"{topology.name}: link {line.label} has no capacity; expected one of every link")
        capacities.append(round(line.capacity_bps))
    demands = []
    for demand in topology.demands:
        # A demand that is no rate is refused when it is made.
        rate = in_unit(demand.rate, "b/s") or 0.0
        demands.append([topology.index[demand.source], topology.index[demand.target], round(rate)])
    return {"capacities_bps": capacities, "weights": [line.cost for line in topology.lines], "demands": demands}


def _read(topology: Topology, made: dict[str, Any]) -> SleepPlan:
    lines = topology.lines
    steps = (
        SleepStep(lines[step["link"]], step["rank"], step["verdict"], step["connectivity"]) for step in made["steps"]
    )
    off = tuple(lines[link] for link in made["off"])
    return SleepPlan(initial_connectivity=made["initial_connectivity"], off=off, steps=tuple(steps))
