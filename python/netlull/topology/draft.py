"""A topology while it is read: every complaint names the file and the place in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from netlull.errors import InputError
from netlull.topology.model import EXPECTED_ONE_LINK, Demand, Line, Network, Node, check_ends, rate_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Draft"]

_Made = TypeVar("_Made")
_FASTEST = 1e18
"""In b/s: no link is, and quantities of the core end not far above."""


class Draft:
    """Nodes, lines and demands as a reader finds them, each with its place in the file."""

    def __init__(self, origin: str, *, merge: bool = False) -> None:
        """`merge` makes one line of several between the same nodes: their capacities add up, the shortest is kept."""
        self.origin = origin
        self._merge = merge
        self._nodes: dict[str, Node] = {}
        self._lines: dict[frozenset[str], Line] = {}
        self._demands: list[Demand] = []

    def wrong(self, where: str, message: str) -> InputError:
        """An error at a place in the file."""
        return InputError(f"{self.origin}, {where}: {message}" if where else f"{self.origin}: {message}")

    def _made(self, where: str, make: Callable[[], _Made]) -> _Made:
        try:
            return make()
        except InputError as error:
            raise self.wrong(where, str(error)) from None

    def node(self, where: str, name: str, position: tuple[float, float] | None = None) -> None:
        """A node, at (longitude, latitude) in degrees if that is known."""
        longitude, latitude = position or (None, None)
        if name in self._nodes:
            raise self.wrong(where, f'node "{name}": is given twice; expected different names')
        self._nodes[name] = self._made(where, lambda: Node(name, longitude, latitude))

    def line(self, where: str, make: Callable[[], Line]) -> None:
        """A line between nodes that the file has given before."""
        line = self._made(where, make)
        self._made(where, lambda: check_ends(f"link {line.label}", (line.a, line.b), self._nodes))
        before = self._lines.get(line.ends)
        if before is not None and not self._merge:
            raise self.wrong(where, f"link {line.label}: is given twice; {EXPECTED_ONE_LINK}")
        self._lines[line.ends] = line if before is None else _merged(before, line)

    def has_line(self, a: str, b: str) -> bool:
        """Whether there is a line between two nodes already."""
        return frozenset((a, b)) in self._lines

    def rate(self, where: str, bits_per_second: float) -> str:
        """A rate as text."""
        if not 0 <= bits_per_second < _FASTEST:
            told = f"{bits_per_second:g} b/s is out of range"
            raise self.wrong(where, f"{told}; expected a rate below 10^18 b/s")
        return rate_text(bits_per_second)

    def demand(self, where: str, source: str, target: str, rate: str) -> None:
        """Traffic between nodes that the file has given before."""
        check = (source, target)
        self._made(where, lambda: check_ends(f"demand {source}-{target}", check, self._nodes))
        self._demands.append(self._made(where, lambda: Demand(source, target, rate)))

    def topology(self, name: str, description: str | None = None) -> Network:
        """What has been read."""
        nodes, lines = tuple(self._nodes.values()), tuple(self._lines.values())
        return self._made("", lambda: Network(name, nodes, lines, tuple(self._demands), description))


def _merged(one: Line, other: Line) -> Line:
    """Two cables as one: capacities add up (unknown if one is), the shorter one's length, delay and cost are kept."""
    rates = (one.capacity_bps, other.capacity_bps)
    capacity = None if rates[0] is None or rates[1] is None else rate_text(rates[0] + rates[1])
    lengths = [line.distance_km for line in (one, other)]
    shorter = other if lengths[0] is not None and lengths[1] is not None and lengths[1] < lengths[0] else one
    return replace(one, capacity=capacity, distance_km=shorter.distance_km, delay=shorter.delay, cost=shorter.cost)
