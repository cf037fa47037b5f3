"""Links without which a network falls apart: spanning forests and bridges of graphs with parallel links."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

__all__ = ["Forest", "bridges_of", "forest_of"]

Node = str | int
Pair = Sequence[Node]
"""The two ends of a link."""


class Forest:
    """A spanning forest, grown link by link (Kruskal's algorithm)."""

    def __init__(self) -> None:
        self._parent: dict[Node, Node] = {}
        self.links: set[int] = set()
        """The links of the forest."""

    def root(self, node: Node) -> Node:
        """The node that stands for all that are connected with this one."""
        while self._parent.setdefault(node, node) != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def add(self, link: int, pair: Pair) -> None:
        """Adds a link unless its ends are connected."""
        one, other = map(self.root, pair)
        if one != other:
            self._parent[one] = other
            self.links.add(link)


def forest_of(pairs: Sequence[Pair], order: Iterable[int]) -> Forest:
    """The forest of the links in `order`: each is taken unless earlier ones connect its ends."""
    forest = Forest()
    for link in order:
        forest.add(link, pairs[link])
    return forest


def bridges_of(pairs: Sequence[Pair]) -> Container[int]:
    """The links without which the graph has more pieces (Tarjan 1974). A link parallel to another is none."""
    beside: dict[Node, list[tuple[Node, int]]] = {}
    for link, (one, other) in enumerate(pairs):
        beside.setdefault(one, []).append((other, link))
        beside.setdefault(other, []).append((one, link))
    number: dict[Node, int] = {}
    low: dict[Node, int] = {}
    bridges: set[int] = set()
    for first in list(beside):
        if first in number:
            continue
        number[first] = low[first] = len(number)
        stack = [(first, -1, iter(beside[first]))]
        while stack:
            node, via, rest = stack[-1]
            for other, link in rest:
                if link == via:
                    continue
                if other in number:
                    low[node] = min(low[node], number[other])
                else:
                    number[other] = low[other] = len(number)
                    stack.append((other, link, iter(beside[other])))
                    break
            else:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[node])
                    if low[node] > number[above]:
                        bridges.add(via)
    return bridges
