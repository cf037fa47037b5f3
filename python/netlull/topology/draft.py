"""A topology while it is read: every error names the file and the place in it."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from netlull.errors import InputError, NetlullWarning
from netlull.quantities import rate_text
from netlull.topology.model import Demand, Line, Network, Node, check_ends, given_twice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Draft"]

_Made = TypeVar("_Made")
_FASTEST = 1e18
"""A limit in b/s above all links. The core's quantities end not far above it."""


@dataclass(frozen=True)
class _Placed:
    """A link of the file and its place. A directed one may be one direction of a cable."""

    where: str
    line: Line
    directed: bool


class Draft:
    """Nodes, links and demands of a file, each with its place there.

    A cable has both directions. In a file of directed links, either each cable is one link, or each has one for each
    direction. It is the second if every link has its reverse.
    """

    def __init__(self, origin: str, parallel: str = "refuse") -> None:
        """`parallel` is that of `ReadOptions`."""
        self.origin = origin
        self._parallel = parallel
        self._nodes: dict[str, Node] = {}
        self._links: dict[frozenset[str], list[_Placed]] = {}
        self._loops: list[tuple[str, str]] = []
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

    def link(self, where: str, a: str, b: str, *, directed: bool = False, **fields: Any) -> None:
        """Adds a link between known nodes, with the fields of `Line`. A loop carries nothing: it is left out."""
        if a == b:
            self._loops.append((where, a))
            return
        line = self._made(where, lambda: Line(a, b, **fields))
        self._made(where, lambda: check_ends(f"link {line.label}", (a, b), self._nodes))
        self._links.setdefault(line.ends, []).append(_Placed(where, line, directed))

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
        nodes, lines = tuple(self._nodes.values()), tuple(self._cables())
        if self._loops:
            (where, node), more = self._loops[0], len(self._loops) - 1
            others = f", and so are {more} more loops" if more else ""
            told = f"link {node}-{node}: leads back to its own node and is left out{others}"
            warnings.warn(str(self.wrong(where, told)), NetlullWarning, stacklevel=3)
        return self._made("", lambda: Network(name, nodes, lines, tuple(self._demands), description))

    def _cables(self) -> Iterator[Line]:
        """The cables, in the order of their first link."""
        ways = [_ways(links) for links in self._links.values()]
        directed = [way for way in ways if way[0][0].directed]
        paired = bool(directed) and all(len(there) == len(back) for there, back in directed)
        for there, back in ways:
            cables = there
            if back and there[0].directed:
                if not paired and self._parallel == "refuse":
                    self._refuse_unclear(there[0], back[0], directed)
                if paired or self._parallel == "reverse":
                    self._check_reverse(there, back)
                    back = []  # noqa: PLW2901
            cables = [*there, *back]
            if len(cables) > 1 and self._parallel != "merge":
                raise self.wrong(cables[1].where, given_twice(cables[1].line, cables[0].line))
            yield functools.reduce(_merged, [placed.line for placed in cables])

    def _refuse_unclear(self, one: _Placed, other: _Placed, ways: list[_Ways]) -> None:
        count = sum(len(there) + len(back) for there, back in ways)
        alone = sum(abs(len(there) - len(back)) for there, back in ways)
        values = [f"{placed.line.label} ({placed.line.capacity or 'no capacity'})" for placed in (other, one)]
        told = f"link {values[0]}: is another cable, or the reverse of {values[1]}"
        expected = (
            f"of {count} links {alone} have no reverse; expected the reverse of every link or of none, or a choice"
        )
        raise self.wrong(other.where, f'{told}: {expected}, such as parallel = "reverse"')

    def _check_reverse(self, there: list[_Placed], back: list[_Placed]) -> None:
        """Refuses directions of a cable that differ."""
        order = functools.partial(sorted, key=lambda placed: _values(placed.line))
        if len(there) != len(back):
            few, many = sorted((there, back), key=len)
            told = f"has {len(few)} links, and the reverse {many[0].line.label} has {len(many)}"
            raise self.wrong(many[-1].where, f"link {few[0].line.label}: {told}; expected equal numbers of links")
        for one, other in zip(order(there), order(back), strict=True):
            for field in ("capacity_bps", "distance_km", "delay", "cost"):
                if getattr(one.line, field) != getattr(other.line, field):
                    shown = field.removesuffix("_bps")
                    values = [f"{shown} {getattr(placed.line, shown)}" for placed in (other, one)]
                    told = f"link {other.line.label}: has {values[0]}, and its reverse {one.line.label} has {values[1]}"
                    raise self.wrong(other.where, f"{told}; expected a cable with equal directions")


_Ways = tuple[list[_Placed], list[_Placed]]
"""The links in the direction of the first one, and their reverses."""


def _ways(links: list[_Placed]) -> _Ways:
    first = links[0].line.a
    return [link for link in links if link.line.a == first], [link for link in links if link.line.a != first]


def _values(line: Line) -> tuple[tuple[bool, Any], ...]:
    """The values that both directions of a cable have, in an order that knows None."""
    values = (line.capacity_bps, line.distance_km, line.delay, line.cost)
    return tuple((value is not None, value if value is not None else 0) for value in values)


def _merged(one: Line, other: Line) -> Line:
    """Two cables as one: capacities add up (None if one is unknown); length, delay and cost are the shorter one's."""
    rates = (one.capacity_bps, other.capacity_bps)
    capacity = None if rates[0] is None or rates[1] is None else rate_text(rates[0] + rates[1])
    lengths = [line.distance_km for line in (one, other)]
    shorter = other if lengths[0] is not None and lengths[1] is not None and lengths[1] < lengths[0] else one
    return replace(one, capacity=capacity, distance_km=shorter.distance_km, delay=shorter.delay, cost=shorter.cost)
