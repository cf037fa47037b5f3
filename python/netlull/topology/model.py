"""A network as nodes and the cables between them, typed in or read from a file, and its derived properties."""

from __future__ import annotations

import functools
import math
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from netlull.errors import InputError, some
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np
    import numpy.typing as npt

__all__ = ["Demand", "Line", "Network", "Node", "great_circle_km", "hops_between"]

EARTH_RADIUS_KM = 6371.0
"""The Earth's mean radius in km (IUGG)."""
FIBRE_KM_PER_MS = 200.0
"""The speed of light in fibre, in km per ms: two thirds of that in vacuum."""
_FORBIDDEN = (".", "=", "\n", '"')
"""Characters forbidden in names: paths such as `link.A-B.rate` consist of names."""
_LARGEST_SPECTRUM = 3000
"""The largest graph, in nodes, whose eigenvalues are computed: dense, O(n^3)."""
_MOST_STEPS = 10_000_000
"""The most steps of a search from every node, about 3 s: 2,000 nodes with 3,000 links."""


@dataclass(frozen=True)
class Node:
    """An end of cables. Longitude and latitude are in degrees, east and north."""

    name: str
    longitude: float | None = None
    latitude: float | None = None

    def __post_init__(self) -> None:
        """Refuses an invalid name or position."""
        check_name(self.name, "node")
        for what, value, most in (("longitude", self.longitude, 180), ("latitude", self.latitude, 90)):
            if value is not None and not (math.isfinite(value) and abs(value) <= most):
                raise InputError(
                    f'node "{self.name}": {what} {value} is out of range; expected -{most} to {most} degrees'
                )
        if (self.longitude is None) != (self.latitude is None):
            raise InputError(f'node "{self.name}": has one coordinate; expected longitude and latitude, or neither')

    @property
    def position(self) -> tuple[float, float] | None:
        """Longitude and latitude in degrees; None if unknown."""
        if self.longitude is None or self.latitude is None:
            return None
        return self.longitude, self.latitude


@dataclass(frozen=True)
class Line:
    """A cable between two nodes, used in both directions. None means unknown, or derived from the nodes' positions."""

    a: str
    b: str
    name: str | None = None
    capacity: str | None = None
    """Capacity of each direction, such as "40 Gb/s"."""
    distance_km: float | None = None
    delay: str | None = None
    """Propagation delay of each direction, such as "5.7 ms"."""
    cost: int = 1
    """The cost of the line for routing by cost."""

    def __post_init__(self) -> None:
        """Refuses a self-loop and invalid quantities."""
        if self.a == self.b:
            raise InputError(f'link {self.label}: leads from "{self.a}" back to itself; expected two different nodes')
        bits = None if self.capacity is None else in_unit(self.capacity, "b/s")
        if self.capacity is not None and (bits is None or not bits >= 1):
            raise InputError(
                f'link {self.label}: capacity "{self.capacity}" is not a rate; expected one such as "10 Gb/s"'
            )
        if self.distance_km is not None and not 0 <= self.distance_km < math.inf:
            raise InputError(f"link {self.label}: distance {self.distance_km} km is out of range; expected 0 or more")
        seconds = None if self.delay is None else in_unit(self.delay, "s")
        if self.delay is not None and (seconds is None or seconds < 0):
            raise InputError(f'link {self.label}: delay "{self.delay}" is not a time; expected one such as "5 ms"')
        if not 1 <= self.cost < 2**32:
            raise InputError(f"link {self.label}: cost {self.cost} is out of range; expected 1 to {2**32 - 1}")

    @property
    def label(self) -> str:
        """`A-B`, the scenario's name of the link."""
        return f"{self.a}-{self.b}"

    @property
    def ends(self) -> frozenset[str]:
        """The two nodes, unordered."""
        return frozenset((self.a, self.b))

    @property
    def capacity_bps(self) -> float | None:
        """The capacity in b/s."""
        return None if self.capacity is None else in_unit(self.capacity, "b/s")


@dataclass(frozen=True)
class Demand:
    """Traffic from one node to another in a file, such as "3.58 Gb/s"."""

    source: str
    target: str
    rate: str

    def __post_init__(self) -> None:
        """Refuses an invalid rate."""
        bits = in_unit(self.rate, "b/s")
        if bits is None or bits < 0:
            where = f"demand {self.source}-{self.target}"
            raise InputError(f'{where}: rate "{self.rate}" is not a rate; expected one such as "10 Mb/s"')


@dataclass(frozen=True)
class Network:
    """Nodes and cables: at most one between two nodes, none from a node to itself. May be in several pieces.

    Raises:
        InputError: a node or link is given twice, or a link leads to an unknown node; the message names it.
    """

    name: str
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    demands: tuple[Demand, ...] = ()
    description: str | None = None

    def __post_init__(self) -> None:
        """Refuses an invalid network."""
        if not self.nodes:
            raise InputError("nodes: there are none; expected at least one")
        known: set[str] = set()
        for node in self.nodes:
            if node.name in known:
                raise InputError(f'node "{node.name}": is given twice; expected different names')
            known.add(node.name)
        cables: set[frozenset[str]] = set()
        for line in self.lines:
            check_ends(f"link {line.label}", (line.a, line.b), known)
            if line.ends in cables:
                before = next(other for other in self.lines if other.ends == line.ends)
                raise InputError(given_twice(line, before))
            cables.add(line.ends)
        for demand in self.demands:
            check_ends(f"demand {demand.source}-{demand.target}", (demand.source, demand.target), known)

    @functools.cached_property
    def index(self) -> Mapping[str, int]:
        """Each node's number, from 0 in the order of `nodes`."""
        return {node.name: number for number, node in enumerate(self.nodes)}

    @functools.cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The numbers of each line's ends, in the order of `lines`."""
        return tuple((self.index[line.a], self.index[line.b]) for line in self.lines)

    @functools.cached_property
    def degrees(self) -> tuple[int, ...]:
        """The number of lines at each node, in the order of `nodes`."""
        counts = [0] * len(self.nodes)
        for a, b in self.edges:
            counts[a] += 1
            counts[b] += 1
        return tuple(counts)

    def line(self, label: str) -> Line:
        """A line by `A-B`, in either order, or by its name.

        Raises:
            InputError: there is no such line; lists the existing ones.
        """
        for line in self.lines:
            if label in (line.label, f"{line.b}-{line.a}", line.name):
                return line
        labels = some(line.label for line in self.lines)
        raise InputError(f'"{label}" is not a link of {self.name}; expected one of {labels}')

    def length_km(self, line: Line) -> float | None:
        """A line's length in km: as given, else the great circle between its ends; None without their positions."""
        if line.distance_km is not None:
            return line.distance_km
        ends = [self.nodes[self.index[end]].position for end in (line.a, line.b)]
        return None if ends[0] is None or ends[1] is None else great_circle_km(ends[0], ends[1])

    def delay_ns(self, line: Line, route_factor: float = 1.0) -> int | None:
        """A line's propagation delay in ns: as given, else its length times `route_factor` at 200 km per ms."""
        if line.delay is not None:
            seconds = in_unit(line.delay, "s")
            return None if seconds is None else round(seconds * 1e9)
        length = self.length_km(line)
        return None if length is None else round(length * route_factor / FIBRE_KM_PER_MS * 1e6)

    @functools.cached_property
    def pieces(self) -> tuple[frozenset[str], ...]:
        """The nodes of each connected piece, the largest first. Equal pieces follow the order of `nodes`."""
        seen: set[int] = set()
        found = []
        for start in range(len(self.nodes)):
            if start not in seen:
                piece = _hops(self.neighbours, start)
                seen.update(piece)
                found.append(frozenset(self.nodes[node].name for node in piece))
        return tuple(sorted(found, key=len, reverse=True))

    @property
    def connected(self) -> bool:
        """True if every node reaches every other."""
        return len(self.pieces) == 1

    def check_connected(self) -> None:
        """Refuses a topology in several pieces.

        Raises:
            InputError: the topology has several pieces; the message has their sizes and a node that is cut off.
        """
        if not self.connected:
            sizes = " and ".join(str(len(piece)) for piece in self.pieces[:3])
            some = f"{len(self.pieces)} pieces, of {sizes}{'' if len(self.pieces) <= 3 else ', ...'} nodes"
            cut_off = next(node.name for node in self.nodes if node.name not in self.pieces[0])
            expected = 'expected a connected network, or the option pieces = "largest" (--pieces largest)'
            raise InputError(f'{self.name}: is in {some}: no links lead to "{cut_off}"; {expected}')

    def largest(self) -> Self:
        """The largest connected piece."""
        return self.without({node.name for node in self.nodes} - self.pieces[0])

    def without(self, names: set[str] | frozenset[str]) -> Self:
        """The topology without some nodes, their lines and their demands."""
        nodes = tuple(node for node in self.nodes if node.name not in names)
        lines = tuple(line for line in self.lines if not line.ends & names)
        demands = tuple(demand for demand in self.demands if not {demand.source, demand.target} & names)
        return replace(self, nodes=nodes, lines=lines, demands=demands)

    @functools.cached_property
    def diameter(self) -> int | None:
        """Hops between the two most distant nodes; None if some are not connected, or in a large network."""
        if not self.connected or len(self.nodes) * (len(self.nodes) + len(self.lines)) > _MOST_STEPS:
            return None
        return max(max(_hops(self.neighbours, start).values()) for start in range(len(self.nodes)))

    @functools.cached_property
    def algebraic_connectivity(self) -> float | None:
        """The second smallest eigenvalue of the Laplacian; None for more than 3,000 nodes, or a single one."""
        import numpy as np

        if not 2 <= len(self.nodes) <= _LARGEST_SPECTRUM:
            return None
        return 0.0 if not self.connected else float(np.linalg.eigvalsh(self.laplacian())[1])

    def laplacian(self) -> npt.NDArray[np.float64]:
        """The Laplacian, shape (nodes, nodes): degrees on the diagonal, -1 for each line, in the order of `nodes`."""
        import numpy as np

        matrix = np.diag(np.array(self.degrees, dtype=np.float64))
        for a, b in self.edges:
            matrix[a, b] -= 1
            matrix[b, a] -= 1
        return matrix

    @functools.cached_property
    def neighbours(self) -> list[list[int]]:
        """The numbers of the nodes next to each node."""
        lists: list[list[int]] = [[] for _ in self.nodes]
        for a, b in self.edges:
            lists[a].append(b)
            lists[b].append(a)
        return lists


def given_twice(line: Line, before: Line) -> str:
    """The error of a second link between two nodes."""
    if line.a != before.a:
        told = f"is the reverse of link {before.label}; expected one link between two nodes: it has both directions"
        return f"link {line.label}: {told}"
    told = 'expected one link between two nodes (several can be merged when they are read: parallel = "merge")'
    return f"link {line.label}: is given twice; {told}"


def check_name(name: str, what: str) -> None:
    """Refuses a name that is invalid in scenarios.

    Raises:
        InputError: the name is empty, padded or has forbidden characters.
    """
    if not name or name != name.strip() or any(part in name for part in _FORBIDDEN) or not name.isprintable():
        expected = "text without '.', '=', quotes, control characters and marks of direction"
        raise InputError(f"{what} {name!r}: is not a valid name; expected {expected}")


def check_ends(what: str, ends: tuple[str, str], known: Collection[str]) -> None:
    """Refuses a link or a demand of an unknown node.

    Raises:
        InputError: a node is unknown; the message names it, and some known ones.
    """
    for end in ends:
        if end not in known:
            raise InputError(f'{what}: "{end}" is not a node; expected one of {some(sorted(known))}')


def hops_between(topology: Network) -> list[list[float]]:
    """The hops between any two nodes, as rows in the order of `nodes`; infinite between pieces."""
    count = len(topology.nodes)
    neighbours = topology.neighbours
    rows = (_hops(neighbours, start) for start in range(count))
    return [[row.get(end, math.inf) for end in range(count)] for row in rows]


def hops_from(topology: Network, start: int) -> dict[int, int]:
    """The hops from a node to every node that it reaches, by number."""
    return _hops(topology.neighbours, start)


def _hops(neighbours: list[list[int]], start: int) -> dict[int, int]:
    """The hops from a node to every node that it reaches."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in neighbours[node]:
            if other not in found:
                found[other] = found[node] + 1
                queue.append(other)
    return found


def great_circle_km(a: tuple[float, float], b: tuple[float, float]) -> float:
    """The great-circle distance in km, by the haversine formula. Positions are (longitude, latitude) in degrees."""
    (east_a, north_a), (east_b, north_b) = ((math.radians(x), math.radians(y)) for x, y in (a, b))
    half_chord = (
        math.sin((north_b - north_a) / 2) ** 2
        + math.cos(north_a) * math.cos(north_b) * math.sin((east_b - east_a) / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(half_chord)))
