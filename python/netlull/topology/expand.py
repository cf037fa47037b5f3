"""`[topology]` in a scenario: read with the scenario, and expanded into nodes and links before the core."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull.errors import FieldPathError, InputError, some
from netlull.quantities import in_unit, rate_text, time_text
from netlull.topology import document as own_format
from netlull.topology.files import Topology
from netlull.topology.find import find
from netlull.topology.hub import PREFIX
from netlull.topology.options import ReadOptions
from netlull.topology.traffic import traffic_flows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from netlull.topology.model import Line, Network

__all__ = ["LINKS", "READING", "as_table", "expanded", "order_of", "prepare", "read_in", "topology_of"]

FIELD = "topology"
_SOURCES = ("file", "hub", "network")
READING = ("format", "parallel", "pieces", "external", "modules", "unit")
_COSTS = ("given", "hops", "distance", "capacity")
LINKS = (
    "rate",
    "rate_scale",
    "demand_scale",
    "default_rate",
    "route_factor",
    "default_delay",
    "cost",
    "buffer",
    "queue",
)
_FIELDS = (*_SOURCES, *READING, *LINKS, "traffic")
_PASSED = ("buffer", "queue")
_HIGHEST_RATE = 10**18
"""The highest rate that a scaled link may have, in b/s."""
_LARGEST_FACTOR = 10**6
"""The largest ratio of a cable's length to the distance of its ends."""


@dataclass(frozen=True)
class _Making:
    """The parameters that turn lines into links."""

    rate: str | None = None
    """Rate of every link, instead of the file's capacities."""
    rate_scale: float = 1.0
    """Factor of the capacities (the paper: 0.001)."""
    demand_scale: float = 1.0
    """Factor of the demands in the file."""
    default_rate: str | None = None
    """The capacity of lines without one."""
    route_factor: float = 1.0
    """Length of a cable as a multiple of the great-circle distance."""
    default_delay: str | None = None
    """Propagation delay of lines without a known length."""
    cost: str = "given"
    """The routing cost of a link: from the file, 1 per hop, kilometres, or the largest capacity over the line's."""

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> _Making:
        """The parameters in the table of a scenario.

        Raises:
            InputError: the message names the field, its value and the expected values.
        """
        for field, unit, expected in (
            ("rate", "b/s", '"40 Mb/s"'),
            ("default_rate", "b/s", '"10 Gb/s"'),
            ("default_delay", "s", '"1 ms"'),
        ):
            value = table.get(field)
            number = in_unit(value, unit) if isinstance(value, str) else None
            if field in table and (number is None or number < (1 if unit == "b/s" else 0)):
                raise InputError(f"{FIELD}.{field}: {value!r} cannot be used; expected a quantity such as {expected}")
        for field in ("rate_scale", "demand_scale", "route_factor"):
            value = table.get(field, 1.0)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise InputError(f"{FIELD}.{field}: {value!r} is out of range; expected a number above 0")
        if table.get("cost", "given") not in _COSTS:
            raise InputError(f"{FIELD}.cost: {table['cost']!r} is unknown; expected one of {', '.join(_COSTS)}")
        return cls(**{field: table[field] for field in cls.__dataclass_fields__ if field in table})

    def rate_of(self, line: Line) -> str:
        """A link's rate, with its unit."""
        if self.rate is not None:
            return self.rate
        bits = in_unit(line.capacity or self.default_rate or "", "b/s")
        if bits is None:
            expected = f"expected {FIELD}.default_rate, or {FIELD}.rate for all links"
            raise InputError(f"{FIELD}: link {line.label} has no capacity; {expected}")
        if bits * self.rate_scale < 1:
            told = f"{self.rate_scale} times the capacity of link {line.label} is below 1 b/s"
            raise InputError(f"{FIELD}.rate_scale: {told}; expected a larger number")
        if bits * self.rate_scale > _HIGHEST_RATE:
            told = f"{self.rate_scale:g} times the capacity of link {line.label} is above {rate_text(_HIGHEST_RATE)}"
            raise InputError(f"{FIELD}.rate_scale: {told}; expected a smaller number")
        return rate_text(bits * self.rate_scale)

    def delay_of(self, line: Line, topology: Network) -> str:
        """A link's propagation delay, with its unit."""
        if self.route_factor > _LARGEST_FACTOR:
            expected = f"expected at most {_LARGEST_FACTOR:,}"
            raise InputError(f"{FIELD}.route_factor: {self.route_factor:g} is too large; {expected}")
        nanoseconds = topology.delay_ns(line, self.route_factor)
        if nanoseconds is not None:
            return time_text(nanoseconds)
        if self.default_delay is not None:
            return self.default_delay
        told = f"link {line.label} has no length, and its ends have no positions"
        raise InputError(f'{FIELD}: {told}; expected {FIELD}.default_delay, such as "1 ms"')

    def cost_of(self, line: Line, topology: Network, fastest: float) -> int:
        """The routing cost of a link, at least 1. `fastest` is the largest rate, in b/s."""
        if self.cost in {"given", "hops"}:
            return line.cost if self.cost == "given" else 1
        if self.cost == "distance":
            length = topology.length_km(line)
            if length is None:
                raise InputError(
                    f'{FIELD}.cost: link {line.label} has no length; expected another cost than "distance"'
                )
            return max(1, round(length))
        return max(1, round(fastest / self._bps_of(line)))

    def fastest_of(self, topology: Network) -> float:
        """The largest rate of a link, in b/s, at least 1."""
        return max((self._bps_of(line) for line in topology.lines), default=1.0)

    def _bps_of(self, line: Line) -> float:
        return in_unit(self.rate_of(line), "b/s") or 1.0


def as_table(topology: Network) -> dict[str, Any]:
    """A topology as the table of a scenario."""
    return {"network": own_format.table(topology)}


def read_in(document: dict[str, Any], folder: Path | None = None) -> None:
    """Replaces the name of a topology in `document` by its content, `topology.network`.

    Raises:
        InputError: the message names the field, or the file with the invalid place.
    """
    table = document.get(FIELD)
    if table is None:
        return
    if not isinstance(table, dict):
        raise InputError(f'{FIELD}: {table!r} is not a table; expected one such as {{ file = "abilene.toml" }}')
    for field in table:
        if field not in _FIELDS:
            raise InputError(f"{FIELD}.{field}: is not a field of {FIELD}; expected one of {', '.join(_FIELDS)}")
    given = [source for source in _SOURCES if source in table]
    if len(given) != 1:
        what = f"has {' and '.join(given)}" if given else "names no network"
        raise InputError(f'{FIELD}: {what}; expected file = "abilene.toml" or hub = "sndlib/germany50"')
    source = given[0]
    if source == "network":
        return
    name = table[source]
    if not isinstance(name, str):
        raise InputError(f"{FIELD}.{source}: {name!r} is not text; expected the name of a topology")
    try:
        options = ReadOptions.of({field: table[field] for field in READING if field in table})
        topology = find(name if source == "file" else f"{PREFIX}{name}", options, folder)
    except InputError as error:
        raise InputError(f"{FIELD}.{source}: {error}") from None
    del table[source]
    table["network"] = own_format.table(topology)


def topology_of(document: Mapping[str, Any]) -> Topology | None:
    """The topology of a scenario after `read_in`; None if it has none."""
    table = document.get(FIELD)
    if not isinstance(table, dict) or not isinstance(table.get("network"), dict):
        return None
    return Topology.of(own_format.from_table(table["network"], FIELD, f"{FIELD}.network"))


def expanded(document: dict[str, Any]) -> dict[str, Any]:
    """The scenario with the nodes and links of its topology.

    A scenario's own link from A to B changes the given fields of the topology's link from A to B.

    Raises:
        InputError: the message names the field, or the invalid link.
    """
    table = document.get(FIELD)
    if table is None:
        return document
    if not isinstance(table.get("network"), dict):
        raise InputError(f"{FIELD}.network: is not a topology; expected a table with nodes and link")
    topology = own_format.from_table(table["network"], FIELD, f"{FIELD}.network")
    topology.check_connected()
    making = _Making.of(table)
    passed = {field: table[field] for field in _PASSED if field in table}
    fastest = making.fastest_of(topology) if making.cost == "capacity" else 1.0
    links = {
        (line.a, line.b): {
            "from": line.a,
            "to": line.b,
            "duplex": True,
            "rate": making.rate_of(line),
            "delay": making.delay_of(line, topology),
            **({"cost": cost} if (cost := making.cost_of(line, topology, fastest)) != 1 else {}),
            **passed,
        }
        for line in topology.lines
    }
    made = {field: value for field, value in document.items() if field != FIELD}
    own = document.get("link", [])
    if isinstance(own, list):
        made["link"] = _joined(links, own)
    flows = document.get("flow", [])
    if "traffic" in table and isinstance(flows, list):
        made["flow"] = [*flows, *traffic_flows(table["traffic"], topology, list(links.values()), making.demand_scale)]
    nodes = document.get("nodes", [])
    if isinstance(nodes, list):
        names = [node.name for node in topology.nodes]
        made["nodes"] = names + [node for node in nodes if not isinstance(node, str) or node not in topology.index]
    places = {node.name: list(node.position) for node in topology.nodes if node.position is not None}
    if places and isinstance(document.get("position", {}), dict):
        made["position"] = places | document.get("position", {})
    return made


def _joined(links: dict[tuple[str, str], dict[str, Any]], own: list[Any]) -> list[Any]:
    """The topology's links, changed by the scenario's own links between the same nodes; then its other links."""
    others = []
    for entry in own:
        ends = (str(entry.get("from")), str(entry.get("to"))) if isinstance(entry, dict) else None
        if ends in links:
            links[ends] = links[ends] | entry
        else:
            others.append(entry)
    return [*links.values(), *others]


def order_of(path: str) -> int:
    """The order of changes: the topology's source, its other options, everything else."""
    head, _, field = path.partition(".")
    return 2 if head != FIELD else int(field not in _SOURCES)


def prepare(document: dict[str, Any], path: str, folder: Path | None) -> None:
    """Prepares a change at `path`: another file replaces the network; a changed link of it gets its own entry.

    Raises:
        FieldPathError: the path is an option for reading a topology that has been read.
        InputError: the topology cannot be read.
    """
    head, _, field = path.partition(".")
    table = document.get(FIELD)
    if not isinstance(table, dict):
        return
    if head == "link" and field:
        read_in(document, folder)
        _claim(document, field)
    elif head == FIELD and field in _SOURCES:
        for source in _SOURCES:
            table.pop(source, None)
    elif head == FIELD and field in READING and "network" in table:
        expected = f"expected it set with the file, or together with {FIELD}.file"
        raise FieldPathError(f"{path}: the topology has been read; {expected}")


def _claim(document: dict[str, Any], rest: str) -> None:
    """Adds an entry to the scenario for the topology's link at the start of `rest`."""
    topology, own = topology_of(document), document.setdefault("link", [])
    if topology is None or not isinstance(own, list) or not all(isinstance(entry, dict) for entry in own):
        return
    fitting = [line for line in topology.lines if rest == line.label or rest.startswith(f"{line.label}.")]
    if not fitting:
        names = [str(entry.get("name", f"{entry.get('from')}-{entry.get('to')}")) for entry in own]
        if not any(rest == name or rest.startswith(f"{name}.") for name in (*names, *map(str, range(len(own))))):
            known = [*(line.label for line in topology.lines), *names]
            raise FieldPathError(f"link.{rest}: leads to no link; expected one of {some(known)}")
        return
    line = max(fitting, key=lambda one: len(one.label))
    if not any((entry.get("from"), entry.get("to")) == (line.a, line.b) for entry in own):
        own.append({"from": line.a, "to": line.b})
