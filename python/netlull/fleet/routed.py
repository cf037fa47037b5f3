"""Plans on an estimated traffic matrix: the load-aware plan, and the links that plans overload."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from netlull import _engine
from netlull.errors import InputError
from netlull.fleet.hypnos import spared
from netlull.fleet.matrix import OwnTraffic, Routes, graph_of, gravity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from netlull.fleet.inventory import Inventory
    from netlull.fleet.loads import Loads
    from netlull.fleet.matrix import Graph

__all__ = ["AWAKE", "LIMITS", "STEP_S", "Overloads", "Routed", "routed"]

AWAKE = "all links awake"
"""The name of the network without a plan."""
LIMITS = (0.8, 1.0)
"""The shares of capacity above which a link is counted, as Hypnos's authors do."""
STEP_S = 3600.0
"""The default time in s between two estimates."""
_ROUNDING = 1 + 1e-6


@dataclass
class Overloads:
    """The steps in which the sleep of a plan's links lifts some link above each of `LIMITS`.

    A link that is above with all links awake counts only if it is fuller then. Traffic that has no way left counts as a
    link above all of them. With all links awake, every link above counts.
    """

    now: list[int] = field(default_factory=lambda: [0] * len(LIMITS))
    """With the traffic for which the plan chose its links."""
    later: list[int] = field(default_factory=lambda: [0] * len(LIMITS))
    """With the traffic of the next step."""


@dataclass(frozen=True)
class Routed:
    """Plans judged by an estimated traffic matrix."""

    step_s: float
    """The time between two estimates."""
    errors: NDArray[np.float64]
    """The error of each estimate: the sum of abs(estimated - measured) of all loads over that of the measured ones."""
    from_outside: bool
    """True if the gravity model takes loads of interfaces to the outside."""
    overloads: Mapping[str, Overloads]
    """By plan; the first is that all links are awake."""
    load_aware: Mapping[str, NDArray[np.bool_]]
    """The load-aware plan by its name, if it was asked for: links asleep as an array of shape (links, intervals)."""
    full: int
    """The steps that exceed the plan's bound with all links awake. Nothing sleeps there."""

    @property
    def steps(self) -> int:
        """The number of estimates."""
        return len(self.errors)


def routed(
    inventory: Inventory, loads: Loads, links_bps: NDArray[np.float64], plans: Mapping[str, NDArray[np.bool_]], *,
    step_s: float = STEP_S, bound: float | None = None,
) -> Routed:  # fmt: skip
    """Estimates the traffic matrix at each step and routes it over the awake links of each plan.

    A step is the interval in it with the most traffic: the links of the load-aware plan, chosen for this interval,
    sleep for the whole step. Routes are shortest paths by the inventory's weights, else by hops. docs/how-to/energy.md
    has the method.

    Args:
        inventory: the links.
        loads: the loads of interfaces.
        links_bps: the loads of links (`link_loads`).
        plans: links asleep by the name of the plan: arrays of shape (links, intervals).
        step_s: the time between two estimates, in whole intervals.
        bound: the largest utilisation that the load-aware plan allows; None for no such plan.

    Raises:
        InputError: the links do not connect all their devices, or these are too many, or a number is out of range.
    """
    if bound is not None and not 0 < bound <= 1:
        raise InputError(f"--load-aware {bound:g}: expected a number above 0, at most 1")
    if not loads.step_s <= step_s < np.inf:
        raise InputError(f"--matrix {step_s:g} s: expected at least an interval of the loads, {loads.step_s:g} s")
    judge = _Judge(inventory, loads, links_bps, bound)
    length = round(step_s / loads.step_s)
    total = np.nansum(links_bps, axis=(0, 1))
    awake = np.zeros(len(inventory.links), dtype=bool)
    own = np.zeros((len(inventory.links), loads.intervals), dtype=bool)
    load_aware = {} if bound is None else {f"load-aware at {bound:g}": own}
    for start in range(0, loads.intervals, length):
        step = slice(start, start + length)
        interval = start + int(np.argmax(total[step]))
        demands = judge.estimate(interval)
        if bound is not None:
            own[:, step] = judge.load_aware(demands, bound)[:, None]
        today = _busier(judge.routes.loads(demands))
        judge.count(AWAKE, awake, demands, today)
        for name, asleep in {**plans, **load_aware}.items():
            judge.count(name, asleep[:, interval], demands, today)
    return Routed(
        length * loads.step_s, np.array(judge.errors), judge.own.is_measured, judge.overloads, load_aware, judge.full,
    )  # fmt: skip


class _Judge:
    """Goes from step to step, and keeps the routes of each plan until the next one."""

    def __init__(self, inventory: Inventory, loads: Loads, links_bps: NDArray[np.float64], bound: float | None) -> None:
        links = inventory.links
        self.graph: Graph = graph_of(links)
        if not self.graph.members:
            raise InputError(f"{inventory.path}: no link joins two devices; a traffic matrix needs links")
        self.routes = Routes(self.graph)
        size = len(self.graph.devices)
        if bound is not None and self.routes.pairs.size < size * (size - 1):
            raise InputError(f"{inventory.path}: the links do not connect all devices; a load-aware plan needs that")
        self.speeds = np.array([link.speed_bps for link in links])
        self.capacities = self.graph.capacities(self.speeds, np.zeros(len(links), dtype=bool))
        self.links_bps = links_bps
        self.own = OwnTraffic(inventory, loads, self.graph)
        self.errors: list[float] = []
        self.overloads: dict[str, Overloads] = {}
        self.full = 0
        self._before: dict[str, tuple[bytes, Routes, NDArray[np.float64]]] = {}

    def estimate(self, interval: int) -> NDArray[np.float64]:
        """The demands in an interval, in whole b/s: shape (devices, devices)."""
        loads = self.graph.loads(self.links_bps[:, :, interval])
        demands = np.rint(self.routes.fitted(gravity(*self.own.at(interval, loads)), loads))
        sum_of_loads = float(np.nansum(loads))
        differences = float(np.nansum(np.abs(self.routes.loads(demands) - loads)))
        self.errors.append(differences / sum_of_loads if sum_of_loads else 0.0)
        return demands

    def load_aware(self, demands: NDArray[np.float64], bound: float) -> NDArray[np.bool_]:
        """The links that the load-aware plan puts to sleep, and members of bundles that the others replace."""
        asleep = np.zeros(len(self.speeds), dtype=bool)
        capacities = np.rint(self.capacities).astype(np.int64)
        if np.any(_busier(self.routes.loads(demands)) > np.floor(bound * capacities * (1 + 1e-12))):
            self.full += 1
            return asleep
        sources, targets = np.nonzero(demands)
        plan = _engine.sleep_plan(
            {
                "nodes": len(self.graph.devices),
                "links": self.graph.ends.tolist(),
                "names": list(self.graph.devices),
                "plan": {"kind": "load_aware", "bound": bound},
                "capacities_bps": capacities.tolist(),
                "weights": self.graph.weights.tolist(),
                "demands": np.stack([sources, targets, demands[sources, targets].astype(np.int64)], axis=1).tolist(),
            }
        )
        off = set(plan["off"])
        for edge, load in enumerate(_busier(np.array(plan["loads_bps"])).tolist()):
            own = self.graph.members[edge]
            asleep[list(own) if edge in off else spared(own, self.speeds, load, bound)] = True
        return asleep

    def count(
        self, name: str, asleep: NDArray[np.bool_], demands: NDArray[np.float64], today: NDArray[np.float64]
    ) -> None:
        """Counts the step for a plan, and for its choice one step earlier; `today` has the loads with all awake."""
        fullest = np.zeros_like(today) if name == AWAKE else today / self.capacities * _ROUNDING
        counts = self.overloads.setdefault(name, Overloads())
        before = self._before.get(name)
        if before is not None:
            self._add(counts.later, before[1], before[2], demands, fullest)
        key = asleep.tobytes()
        if before is None or before[0] != key:
            capacities = self.graph.capacities(self.speeds, asleep)
            awake = capacities > 0
            before = (key, self.routes if awake.all() else Routes(self.graph, awake), capacities)
            self._before[name] = before
        self._add(counts.now, before[1], before[2], demands, fullest)

    @staticmethod
    def _add(
        counts: list[int], routes: Routes, capacities: NDArray[np.float64], demands: NDArray[np.float64],
        fullest: NDArray[np.float64],
    ) -> None:  # fmt: skip
        """Counts a step with links above each limit, and above the utilisation `fullest`."""
        loads = _busier(routes.loads(demands))
        is_cut = demands.ravel()[routes.pairs].sum() < demands.sum()
        for place, limit in enumerate(LIMITS):
            above = loads > np.maximum(limit * _ROUNDING, fullest) * capacities
            counts[place] += bool(is_cut or np.any(above))


def _busier(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    busier: NDArray[np.float64] = directions.reshape(-1, 2).max(axis=1)
    return busier
