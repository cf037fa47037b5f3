"""A topology while it is read: every error names the file and the place in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from netlull.errors import InputError
from netlull.quantities import rate_text
from netlull.topology.model import EXPECTED_ONE_LINK, Demand, Line, Network, Node, check_ends

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Draft"]

_Made = TypeVar("_Made")
_FASTEST = 1e18
"""A limit in b/s above all links. The core's quantities end not far above it."""


class Draft:
    """Nodes, lines and demands of a file, each with its place there."""

    def __init__(self, origin: str, *, merge: bool = False) -> None:
        """`merge` joins lines between the same nodes: capacities add up, and the shortest length is kept."""
        self.origin = origin
        self._merge = merge
        self._nodes: dict[str, Node] = {}
        self._lines: dict[frozenset[str], Line] = {}
        self._demands: list[Demand] = []

    def wrong(self, where: str, message: str) -> InputError:
        """The error for a place in the file."""
        return InputError(f"{self.origin}, {where}: {message}" if where else f"{self.origin}: {message}")

    def _made(self, where: str, make: Callable[[], _Made]) -> _Made:
        try:
            return make()
        except InputError as error:
            raise self.wrong(where, str(error)) from None

    def node(self, where: str, name: str, position: tuple[float, float] | None = None) -> None:
        """Adds a node, at (longitude, latitude) in degrees if known."""
        longitude, latitude = position or (None, None)
        if name in self._nodes:
            raise self.wrong(where, f'node "{name}": is given twice; expected different names')
        self._nodes[name] = self._made(where, lambda: Node(name, longitude, latitude))

    def line(self, where: str, make: Callable[[], Line]) -> None:
        """Adds a line between known nodes."""
        line = self._made(where, make)
        self._made(where, lambda: check_ends(f"link {line.label}", (line.a, line.b), self._nodes))
        before = self._lines.get(line.ends)
        if before is not None and not self._merge:
            raise self.wrong(where, f"link {line.label}: is given twice; {EXPECTED_ONE_LINK}")
        self._lines[line.ends] = line if before is None else _merged(before, line)

    def has_line(self, a: str, b: str) -> bool:
        """True if there is a line between two nodes already."""
        return frozenset((a, b)) in self._lines

    def rate(self, where: str, bits_per_second: float) -> str:
        """A rate as text.

        Raises:
            InputError: the rate is not below 10^18 b/s.
        """
        if not 0 <= bits_per_second < _FASTEST:
            told = f"{bits_per_second:g} b/s is out of range"
            raise self.wrong(where, f"{told}; expected a rate below 10^18 b/s")
        return rate_text(bits_per_second)

    def demand(self, where: str, source: str, target: str, rate: str) -> None:
        """Adds a demand between known nodes."""
        check = (source, target)
        self._made(where, lambda: check_ends(f"demand {source}-{target}", check, self._nodes))
        self._demands.append(self._made(where, lambda: Demand(source, target, rate)))

    def topology(self, name: str, description: str | None = None) -> Network:
        """The topology read so far.

        Raises:
            InputError: it is not a valid network.
        """
        nodes, lines = tuple(self._nodes.values()), tuple(self._lines.values())
        return self._made("", lambda: Network(name, nodes, lines, tuple(self._demands), description))


def _merged(one: Line, other: Line) -> Line:
    """Two cables as one: capacities add up (None if one is unknown); length, delay and cost are the shorter one's."""
    rates = (one.capacity_bps, other.capacity_bps)
    capacity = None if rates[0] is None or rates[1] is None else rate_text(rates[0] + rates[1])
    lengths = [line.distance_km for line in (one, other)]
    shorter = other if lengths[0] is not None and lengths[1] is not None and lengths[1] < lengths[0] else one
    return replace(one, capacity=capacity, distance_km=shorter.distance_km, delay=shorter.delay, cost=shorter.cost)
