"""Background traffic of a scenario's `[topology]`: the file's demands, or a gravity model, scaled to a load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError
from netlull.quantities import in_unit, rate_text
from netlull.topology.model import hops_between

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netlull.topology.model import Network

__all__ = ["traffic_flows"]

FIELD = "topology.traffic"
_KINDS = ("gravity", "demands")
_PROCESSES = ("poisson", "cbr")
_FIELDS = ("kind", "name", "load", "packet", "process", "start", "stop")
_Rates = dict[tuple[str, str], float]


@dataclass(frozen=True)
class _Traffic:
    """The table `topology.traffic`."""

    kind: str
    """`gravity`: between all nodes, by the product of the capacities of their links; `demands`: the file's."""
    load: float | None = None
    """Mean load of the links, both directions, on shortest paths by hops, with all links awake."""
    packet: str = "1000 B"
    process: str = "poisson"
    name: str = "traffic"
    """The first part of the flows' names."""
    start: str | None = None
    stop: str | None = None

    @classmethod
    def of(cls, table: object, path: str) -> _Traffic:
        """The parameters in a table at this path of the scenario."""
        if not isinstance(table, dict):
            raise InputError(
                f'{path}: {table!r} is not a table; expected one such as {{ kind = "gravity", load = 0.2 }}'
            )
        for field in table:
            if field not in _FIELDS:
                raise InputError(f"{path}.{field}: is not a field of {FIELD}; expected one of {', '.join(_FIELDS)}")
        for field, choices in (("kind", _KINDS), ("process", _PROCESSES)):
            value = table.get(field, None if field == "kind" else choices[0])
            if value not in choices:
                raise InputError(f"{path}.{field}: {value!r} is unknown; expected one of {', '.join(choices)}")
        packet = table.get("packet", cls.packet)
        if not isinstance(packet, str) or (in_unit(packet, "B") or 0) <= 0:
            raise InputError(f'{path}.packet: {packet!r} is not a size; expected bytes with a unit, such as "1000 B"')
        load = table.get("load")
        if "load" in table and (isinstance(load, bool) or not isinstance(load, int | float) or not 0 < load <= 1):
            raise InputError(f"{path}.load: {load!r} is out of range; expected a number above 0, at most 1")
        if table["kind"] == "gravity" and load is None:
            raise InputError(f"{path}.load: is missing; expected the mean load of the links, such as 0.2")
        for field in ("start", "stop"):
            if field in table and (not isinstance(table[field], str) or in_unit(table[field], "s") is None):
                raise InputError(f'{path}.{field}: {table[field]!r} is not a time; expected one such as "20 s"')
        start, stop = in_unit(table.get("start", "0 s"), "s"), in_unit(table.get("stop", ""), "s")
        if start is not None and stop is not None and stop <= start:
            told = f"{path}.stop: is {table['stop']}"
            raise InputError(f"{told}; expected a time after the start, {table.get('start', '0 s')}")
        if not isinstance(table.get("name", ""), str):
            raise InputError(f"{path}.name: {table['name']!r} is not a name; expected a word")
        return cls(**table)


def traffic_flows(
    given: object, topology: Network, links: Sequence[Mapping[str, Any]], demand_scale: float = 1.0
) -> list[dict[str, Any]]:
    """Flows of datagrams, `NAME-A-B`, for a scenario on this topology. `links` are made of its lines.

    `given` is a table, or a list of tables with different names. A pair with less than 1 b/s has no flow.

    Raises:
        InputError: a field is invalid, or the file has no demands; the message names the field.
    """
    tables = (
        {f"{FIELD}.{place}": table for place, table in enumerate(given)} if isinstance(given, list) else {FIELD: given}
    )
    flows, names = [], set()
    for path, table in tables.items():
        traffic = _Traffic.of(table, path)
        if traffic.name in names:
            raise InputError(f'{path}.name: "{traffic.name}" is given twice; expected a different name for each table')
        names.add(traffic.name)
        flows += _flows(traffic, path, topology, links, demand_scale)
    return flows


def _flows(
    traffic: _Traffic, path: str, topology: Network, links: Sequence[Mapping[str, Any]], demand_scale: float
) -> list[dict[str, Any]]:
    capacities = [in_unit(str(link["rate"]), "b/s") or math.nan for link in links]
    rates = _gravity(topology, capacities) if traffic.kind == "gravity" else _demanded(topology, path)
    scale = demand_scale if traffic.load is None else traffic.load * 2 * sum(capacities) / _carried(topology, rates)
    if max(rates.values(), default=0.0) * scale < 1:
        what = "load" if traffic.load is not None else "kind"
        raise InputError(f"{path}.{what}: leaves less than 1 b/s to every pair of nodes; expected more traffic")
    times = {field: time for field in ("start", "stop") if (time := getattr(traffic, field)) is not None}
    return [
        {
            "kind": traffic.process,
            "name": f"{traffic.name}-{source}-{target}",
            "from": source,
            "to": target,
            "rate": rate_text(rate * scale),
            "packet": traffic.packet,
            **times,
        }
        for (source, target), rate in rates.items()
        if rate * scale >= 1
    ]


def _gravity(topology: Network, capacities: Sequence[float]) -> _Rates:
    """Rates in b/s of every pair, by the product of the capacities at its nodes."""
    weights = dict.fromkeys((node.name for node in topology.nodes), 0.0)
    for line, capacity in zip(topology.lines, capacities, strict=True):
        weights[line.a] += capacity
        weights[line.b] += capacity
    total = sum(weights.values())
    return {(a, b): weights[a] * weights[b] / total for a in weights for b in weights if a != b}


def _demanded(topology: Network, path: str) -> _Rates:
    rates: _Rates = {}
    for demand in topology.demands:
        ends = (demand.source, demand.target)
        rates[ends] = rates.get(ends, 0.0) + (in_unit(demand.rate, "b/s") or 0.0)
    if not any(rates.values()):
        raise InputError(f'{path}.kind: {topology.name} has no demands; expected "gravity"')
    return rates


def _carried(topology: Network, rates: _Rates) -> float:
    """The total traffic of all links, in b/s: every rate counts once per hop of its path."""
    hops, index = hops_between(topology), topology.index
    return sum(rate * hops[index[a]][index[b]] for (a, b), rate in rates.items())
