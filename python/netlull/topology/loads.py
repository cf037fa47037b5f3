"""The traffic of a network for load-aware plans: offered by a scenario's flows, or measured in a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.errors import InputError
from netlull.plugins.loading import WithoutPlugIns
from netlull.quantities import rate_text
from netlull.topology.model import Demand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netlull.results.result import Result

__all__ = ["Loads", "measured", "offered"]


@dataclass(frozen=True)
class Loads:
    """Demands between nodes, and their origin."""

    demands: tuple[Demand, ...]
    origin: str
    """The origin in words."""
    unknown: int = 0
    """TCP flows that always have data to send: their rate is unknown before a run."""
    at_several_times: bool = False
    """True if the demands are of flows that are active at different times."""


def offered(document: Mapping[str, Any], at_s: float | None = None) -> Loads:
    """The offered rates of a scenario's flows: of all flows, or of those active at a time in s.

    Datagrams and requests count with their rate, TCP with its `write_rate`.
    """
    # A recording replaces flows by their replay, whose rate is known only after a run.
    plain = {name: part for name, part in document.items() if name != "recording"}
    flows = [flow for flow in _flows(plain) if at_s is None or _is_active(flow, at_s)]
    known = [flow for flow in flows if flow["rate_bps"] is not None]
    when = "" if at_s is None else f" active at {at_s:g} s"
    origin = f"offered by {len(known)} flow{'' if len(known) == 1 else 's'}{when}"
    demands = [(flow["from"], flow["to"], flow["rate_bps"]) for flow in known]
    times = {(flow["start_s"], flow["stop_s"]) for flow in known}
    return Loads(_summed(demands), origin, len(flows) - len(known), at_s is None and len(times) > 1)


def measured(result: Result, phase: str | None = None) -> Loads:
    """The goodput of a run's flows, over its measured time or in a phase.

    Raises:
        InputError: there is no such phase; lists the existing ones.
    """
    rates = {flow["name"]: flow["goodput_bps"] for flow in result.summary["flows"]}
    if phase is not None:
        there = result.summary.get("phase") or {}
        if phase not in there:
            expected = f"expected one of {', '.join(there)}" if there else "it has no [[phase]]"
            raise InputError(f"--phase {phase}: is not a phase of the run; {expected}")
        rates = {name: flow["goodput_bps"] for name, flow in there[phase]["flow"].items()}
    demands = [(flow["from"], flow["to"], rates[flow["name"]]) for flow in _flows(result.scenario)]
    return Loads(_summed(demands), f"measured goodput{'' if phase is None else f' of {phase}'}")


def _flows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The ends, times in s and offered rates in b/s of a scenario's flows. The rate of greedy TCP is None.

    Connections with `access` begin at the node of their flow: the nodes of their senders are not in the document.
    """
    plain = {name: part for name, part in document.items() if name != "sleep"}
    plain["flow"] = [{name: part for name, part in flow.items() if name != "access"} for flow in plain.get("flow", ())]
    flows: list[dict[str, Any]] = json.loads(_engine.Checked(json.dumps(plain), host=WithoutPlugIns()).offers())
    return flows


def _is_active(flow: Mapping[str, Any], at_s: float) -> bool:
    return bool(flow["start_s"] <= at_s and (flow["stop_s"] is None or at_s < flow["stop_s"]))


def _summed(demands: list[tuple[str, str, float]]) -> tuple[Demand, ...]:
    """A demand for each pair with traffic."""
    rates: dict[tuple[str, str], float] = {}
    for source, target, rate in demands:
        rates[source, target] = rates.get((source, target), 0.0) + rate
    return tuple(Demand(*ends, rate_text(rate)) for ends, rate in rates.items() if rate >= 1)
