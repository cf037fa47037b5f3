"""Links without which a network falls apart: spanning forests and bridges of graphs with parallel links."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Sequence

__all__ = ["blocks_of", "bridges_of", "forest_of"]

Node = str | int
Pair = Sequence[Node]
"""The two ends of a link."""


def forest_of(pairs: Sequence[Pair], order: Iterable[int]) -> set[int]:
    """The links of the spanning forest that takes each link of `order` unless earlier ones connect its ends (Kruskal).

    A month of 260 links asks for 8,640 forests: the search for roots has no calls.
    """
    nodes = list(itertools.chain.from_iterable(pairs))
    parent = dict(zip(nodes, nodes, strict=True))
    links: set[int] = set()
    for link in order:
        one, other = pairs[link]
        while one != (above := parent[one]):
            parent[one] = one = parent[above]
        while other != (above := parent[other]):
            parent[other] = other = parent[above]
        if one != other:
            parent[one] = other
            links.add(link)
    return links


def blocks_of(pairs: Sequence[Pair]) -> list[list[int]]:
    """The links of each block of the graph: the parts that no single node cuts in two (Hopcroft and Tarjan 1973).

    A path without loops crosses the same blocks, at the same nodes, as any other path between its ends. A bridge is a
    block with one link, and a bundle without another way around it a block of two nodes. A link from a node to itself
    is in no block.
    """
    beside: dict[Node, list[tuple[Node, int]]] = {}
    for link, (one, other) in enumerate(pairs):
        if one != other:
            beside.setdefault(one, []).append((other, link))
            beside.setdefault(other, []).append((one, link))
    number: dict[Node, int] = {}
    low: dict[Node, int] = {}
    blocks: list[list[int]] = []
    for first in list(beside):
        if first in number:
            continue
        number[first] = low[first] = len(number)
        stack = [(first, -1, iter(beside[first]))]
        open_links: list[int] = []
        while stack:
            node, via, rest = stack[-1]
            for other, link in rest:
                if link == via or number.get(other, -1) > number[node]:
                    continue
                open_links.append(link)
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
                    if low[node] >= number[above]:
                        place = open_links.index(via)
                        blocks.append(sorted(open_links[place:]))
                        del open_links[place:]
    return blocks


def bridges_of(pairs: Sequence[Pair]) -> Container[int]:
    """The links without which the graph has more pieces. A link parallel to another is none."""
    return {block[0] for block in blocks_of(pairs) if len(block) == 1}
