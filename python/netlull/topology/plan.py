"""Sleep plans: the links of a network that may sleep (docs/models/estop.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from netlull._engine import ScenarioError, sleep_plans
from netlull._engine import sleep_plan as engine_plan
from netlull.errors import InputError
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netlull.topology.files import Topology
    from netlull.topology.model import Line

__all__ = ["KINDS", "PlanKind", "SleepPlan", "SleepStep", "Verdict", "WorstFailure", "phrase", "sleep_plan"]


def phrase(sentence: str) -> str:
    """The sentence without its capital and its point, as a part of another sentence."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")


@dataclass(frozen=True)
class PlanKind:
    """A kind of plan, as the core describes it."""

    name: str
    summary: str
    parameters: Mapping[str, str]
    """The meaning of each parameter."""
    required: tuple[str, ...]
    """The parameters without a default."""
    reads_traffic: bool
    """True if the plan reads capacities, costs and demands."""
    rank: str
    """The quantity by which the plan orders the links."""
    rank_unit: str | None


def _kind(told: Mapping[str, Any]) -> PlanKind:
    return PlanKind(
        name=told["name"],
        summary=told["description"],
        parameters={parameter["name"]: parameter["description"] for parameter in told["parameters"]},
        required=tuple(told["required"]),
        reads_traffic=told["reads_traffic"],
        rank=told["rank"]["name"],
        rank_unit=told["rank"]["unit"],
    )


KINDS: Mapping[str, PlanKind] = {kind.name: kind for kind in map(_kind, sleep_plans())}
"""The kinds of plans by name, in the order of the documentation."""
Verdict = Literal["off", "disconnects", "too_weak", "too_loaded", "fragile"]


@dataclass(frozen=True)
class SleepStep:
    """The verdict on one link."""

    line: Line
    rank: float
    """The value by which the plan ordered it: betweenness (pairs of nodes), lambda_2 without it, or its load in b/s."""
    verdict: Verdict
    """Sleep, or the reason to stay on."""
    connectivity: float
    """lambda_2 of the links that are on after the step."""


@dataclass(frozen=True)
class WorstFailure:
    """The failure of a single awake link that leaves the largest utilisation, of those that cut no node off."""

    failure: Line
    line: Line
    """The busiest link after the failure."""
    load_bps: float
    """The load of its busier direction in b/s."""


@dataclass(frozen=True)
class SleepPlan:
    """The links that sleep, and the verdict on every link."""

    initial_connectivity: float
    """lambda_2, the algebraic connectivity of the whole network."""
    off: tuple[Line, ...]
    """The links that sleep, in the order of switching off."""
    steps: tuple[SleepStep, ...]
    """Every link once, in the order in which they were tried."""
    bridges: tuple[Line, ...]
    """The awake links whose failure would cut the network in two."""
    loads_bps: Mapping[str, float] | None = None
    """The load of each link's busier direction in b/s, by `Line.label`, with all demands on shortest paths over the
    links that are on; `None` without demands, or if a capacity is unknown."""
    worst_failure: WorstFailure | None = None
    """`None` without loads, or if every failure cuts the network in two."""


def sleep_plan(topology: Topology, kind: str = "estop", **parameters: float | None) -> SleepPlan:
    """The links of `topology` that a plan puts to sleep.

    Args:
        topology: a connected network. `load_aware` routes its demands by the links' costs and needs their capacities.
        kind: `estop`, `esacon` or another plan of `netlull list mechanisms`.
        parameters: those of the plan; `None` stands for the default. `threshold` is the share of the initial algebraic
            connectivity that must remain, 0 to 1; default 0 for `load_aware`. `bound`, for `load_aware` only, is the
            highest allowed utilisation of a link, above 0, at most 1, and `failure_bound` that after any single link
            has failed.

    Example:
        >>> from netlull.topology import Line, Node, Topology, sleep_plan
        >>> lines = [Line(a, b) for a, b in ("ab", "bc", "cd", "da", "ac")]
        >>> square = Topology("square", [Node(name) for name in "abcd"], lines)
        >>> plan = sleep_plan(square, "estop", threshold=0.5)
        >>> [line.label for line in plan.off]
        ['a-c']

    Raises:
        InputError: the message names the field, its value and the expected values.
    """
    if kind not in KINDS:
        raise InputError(f'kind: "{kind}" is unknown; expected one of {", ".join(KINDS)}')
    plan = {"kind": kind, **_checked(KINDS[kind], parameters)}
    shows_loads = bool(topology.demands) and all(line.capacity_bps is not None for line in topology.lines)
    traffic = _traffic(topology) if KINDS[kind].reads_traffic or shows_loads else {}
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
    return _read(topology, made, shows_loads=shows_loads)


def _checked(kind: PlanKind, parameters: Mapping[str, float | None]) -> dict[str, float]:
    """The given parameters, each a number that JSON can hold. The core checks their ranges."""
    given = {name: float(value) for name, value in parameters.items() if value is not None}
    for name, value in given.items():
        if name not in kind.parameters:
            raise InputError(f"{name}: {value} is given for {kind.name}; expected {' or '.join(kind.parameters)}")
        if not math.isfinite(value):
            raise InputError(f"{name} is {value}; expected {phrase(kind.parameters[name])}")
    for name in kind.required:
        if name not in given:
            raise InputError(f"{name} is None; expected {phrase(kind.parameters[name])}")
    return given


def _traffic(topology: Topology) -> dict[str, object]:
    """The capacities, the costs and the demands, in the core's form."""
    capacities = []
    for line in topology.lines:
        if line.capacity_bps is None:
            raise InputError(
                f"{topology.name}: link {line.label} has no capacity; expected a capacity of every link, "
                "in the file or as topology.default_rate of a scenario"
            )
        capacities.append(round(line.capacity_bps))
    demands = []
    for demand in topology.demands:
        # Demands are checked at their creation: their rates are valid here.
        rate = in_unit(demand.rate, "b/s") or 0.0
        demands.append([topology.index[demand.source], topology.index[demand.target], round(rate)])
    return {"capacities_bps": capacities, "weights": [line.cost for line in topology.lines], "demands": demands}


def _read(topology: Topology, made: dict[str, Any], *, shows_loads: bool) -> SleepPlan:
    lines = topology.lines
    loads = worst = None
    if shows_loads:
        if (found := made["worst_failure"]) is not None:
            worst = WorstFailure(lines[found["failure"]], lines[found["link"]], float(found["load_bps"]))
        directions = made["loads_bps"]
        busier = map(max, directions[::2], directions[1::2])
        loads = {line.label: float(load) for line, load in zip(lines, busier, strict=True)}
    steps = (
        SleepStep(lines[step["link"]], step["rank"], step["verdict"], step["connectivity"]) for step in made["steps"]
    )
    off = tuple(lines[link] for link in made["off"])
    bridges = tuple(lines[link] for link in made["bridges"])
    return SleepPlan(made["initial_connectivity"], off, tuple(steps), bridges, loads, worst)
