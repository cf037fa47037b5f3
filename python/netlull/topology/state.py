"""The state of a network's links, from a scenario, or from a run or a part of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError
from netlull.results.energy import costed_as
from netlull.topology.files import Topology
from netlull.topology.model import Demand, Line, Node

if TYPE_CHECKING:
    from netlull.results.result import Result

__all__ = ["LineState", "Part", "part_of", "topology_of_scenario"]

Ends = frozenset[str]
_PREFERRED_MODELS = ("ons-15600", "ncs-55a1-24h")


@dataclass(frozen=True)
class LineState:
    """The state of a cable in a part of a run."""

    load: float | None = None
    """Throughput / rate of the busier direction, 0 to 1."""
    asleep: bool = False
    power_w: float | None = None
    """The mean powers of both directions, added, in W."""


@dataclass(frozen=True)
class Part:
    """A run, a phase of it, or an instant: the state of every cable by its two ends."""

    title: str
    states: Mapping[Ends, LineState]
    model: str | None = None
    """The power model of `power_w`."""
    costed_as: str | None = None
    """The device that stands for a link under that model, or the power of a link at full rate."""


def topology_of_scenario(document: Mapping[str, Any], demands: Sequence[Demand] = ()) -> Topology:
    """The network of a scenario in its canonical form. The two directions between two nodes are one line.

    `demands` is its traffic. Where routing counts hops, every cost is 1.
    """
    places = document.get("position") or {}
    nodes = tuple(Node(name, *places.get(name, (None, None))) for name in document["nodes"])
    lines: dict[Ends, Line] = {}
    hops = (document.get("routing") or {}).get("metric") == "hops"
    for link in document["link"]:
        cost = 1 if hops else link.get("cost", 1)
        line = Line(link["from"], link["to"], link.get("name"), link["rate"], None, link["delay"], cost)
        lines.setdefault(line.ends, line)
    return Topology(
        str(document["name"]), nodes, tuple(lines.values()), tuple(demands), description=document.get("description")
    )


def part_of(result: Result, *, phase: str | None = None, at_s: float | None = None, model: str | None = None) -> Part:
    """A run as a whole, one of its phases, or its state at an instant (from the series `link`).

    Args:
        result: the run.
        phase: the name of a phase.
        at_s: the instant, in s. An instant has no power.
        model: the power model; default a preferred one.

    Raises:
        InputError: there is no such phase, instant, series or power model; lists the existing ones.
    """
    summary = result.summary
    for option, value in (("--phase", phase), ("--model", model)):
        if value is not None and at_s is not None:
            raise InputError(f"--at: is given together with {option}; expected one of them")
    if at_s is not None:
        return _instant(result, at_s)
    links = {link["name"]: link for link in summary["links"]}
    warm_up, seconds, moment = (float(summary[part]) for part in ("warm_up_s", "measured_s", "duration_s"))
    title = f"{warm_up:g} s to {moment:g} s" if warm_up else "the whole run"
    measured: Mapping[str, Any] = links
    if phase is not None:
        there = summary.get("phase") or {}
        if phase not in there:
            expected = f"expected one of {', '.join(there)}" if there else "it has no [[phase]]"
            raise InputError(f"--phase {phase}: is not a phase of the run; {expected}")
        start, end = (float(there[phase][side]) for side in ("from_s", "to_s"))
        title, seconds, moment = f"{phase}, {start:g} s to {end:g} s", end - start, (start + end) / 2
        measured = there[phase]["link"]
    chosen = _model(summary, model)
    asleep = _asleep(summary, moment)
    states: dict[Ends, LineState] = {}
    for name, link in links.items():
        ends = frozenset((link["from"], link["to"]))
        energy = measured[name].get("energy", {}).get(chosen) if chosen else None
        power = None if energy is None or seconds <= 0 else energy["total_j"] / seconds
        one = LineState(float(measured[name]["utilisation"]), ends in asleep, power)
        states[ends] = _both(states[ends], one) if ends in states else one
    return Part(title, states, chosen, costed_as(summary, result.scenario, chosen) if chosen else None)


def _both(one: LineState, other: LineState) -> LineState:
    """The two directions of a cable: the larger load, and the sum of the powers."""
    loads = [state.load for state in (one, other) if state.load is not None]
    powers = [state.power_w for state in (one, other) if state.power_w is not None]
    return replace(one, load=max(loads, default=None), power_w=math.fsum(powers) if powers else None)


def _model(summary: Mapping[str, Any], wanted: str | None) -> str | None:
    there = list(summary["links"][0]["energy"]) if summary["links"] else []
    if wanted is not None:
        if wanted not in there:
            raise InputError(
                f"--model {wanted}: the run has no such power model; expected {', '.join(there) or 'none'}"
            )
        return wanted
    return next((model for model in _PREFERRED_MODELS if model in there), there[-1] if there else None)


def _asleep(summary: Mapping[str, Any], moment: float) -> set[Ends]:
    """The sleeping cables at a time in s."""
    links = {link["name"]: frozenset((link["from"], link["to"])) for link in summary["links"]}
    found = set()
    for nap in (summary.get("routing") or {}).get("sleep", ()):
        if nap["asleep_s"] <= moment and (nap["awake_s"] is None or moment < nap["awake_s"]):
            found.add(links[nap["link"]])
    return found


def _instant(result: Result, at_s: float) -> Part:
    """The bin of the series `link` at a time in s."""
    summary = result.summary
    if "link" not in result.series_names:
        raise InputError("--at: the run recorded no bins; expected a scenario with probe.interval, or --phase")
    rows = result.series("link").to_pydict()
    times = sorted(set(rows["time_s"]))
    end = next((time for time in times if time >= at_s - 1e-12), None)
    if end is None:
        raise InputError(f"--at {at_s:g} s: is not in the run; expected 0 to {times[-1] if times else 0:g} s")
    place = times.index(end)
    width = end - (times[place - 1] if place else 0.0)
    ends = {link["name"]: frozenset((link["from"], link["to"])) for link in summary["links"]}
    asleep = _asleep(summary, at_s)
    states: dict[Ends, LineState] = {}
    columns: Sequence[Any] = [rows[name] for name in ("time_s", "link", "delivered_bytes", "rate_bps")]
    for time, link, delivered, rate in zip(*columns, strict=True):
        if time == end:
            one = LineState(8 * delivered / width / rate if rate else 0.0, ends[link] in asleep)
            states[ends[link]] = _both(states[ends[link]], one) if ends[link] in states else one
    return Part(f"{end - width:g} s to {end:g} s", states)
