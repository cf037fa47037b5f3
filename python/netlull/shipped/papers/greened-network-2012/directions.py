"""Directions of the background: the 2^15 sets of one flow on each link, and the capacity that each leaves TCP.

A set is a number. Its bit i is 1 if the flow of link i (in the scenario's order) goes from the higher to the lower
number of its ends. The paper prints no directions: SEARCH.md has the criterion that chooses among the sets.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LINKS = (
    *((0, 1), (1, 4), (1, 5), (1, 11), (2, 5), (2, 8), (3, 6), (3, 9), (3, 10)),
    *((4, 6), (4, 7), (5, 6), (7, 9), (8, 11), (9, 10)),
)
"""The links of scenario.toml, in its order, each from its lower to its higher end."""
ALL_DOWN = 2 ** len(LINKS) - 1
"""The set in which every flow goes from the higher to the lower number."""
ENDS = (8, 10)
"""Source and destination of the TCP flow's data (Table II)."""
OFF: dict[str, tuple[tuple[int, int], ...]] = {
    "before": (),
    "50": ((9, 10), (3, 9), (2, 8), (1, 5)),
    "70": ((9, 10), (3, 9), (2, 8)),
    "90": ((9, 10), (3, 9)),
}
"""The links that sleep in each column of Table IV."""
PRINTED = ((9, 10), (9, 3), (2, 8), (1, 5))
"""The links of Table V, in the order in which it prints their ends."""
RATE, FLOW = 40, 10
"""The rate of a link and of a background flow, in Mb/s."""
WANTED = (30, 20, 20, 20)
"""The capacity in Mb/s that Table IV needs before, and at 50, 70 and 90 %: its best cells are 27.23, 19.96, 20.19 and
20.49."""

Hop = tuple[int, int]


@functools.cache
def _next_hops(off: tuple[Hop, ...]) -> Mapping[Hop, int]:
    """The next hop by node and destination: fewest hops, then the lowest-numbered first link, as in the simulator."""
    near: dict[int, list[Hop]] = {}
    for index, (low, high) in enumerate(LINKS):
        if (low, high) not in off:
            near.setdefault(low, []).append((index, high))
            near.setdefault(high, []).append((index, low))
    found: dict[Hop, int] = {}
    for destination in near:
        distance, edge = {destination: 0}, [destination]
        for node in edge:
            for _, other in near[node]:
                if other not in distance:
                    distance[other] = distance[node] + 1
                    edge.append(other)
        for node, far in distance.items():
            if node != destination:
                closer = [hop for hop in near[node] if distance[hop[1]] < far]
                found[node, destination] = min(closer)[1]
    return found


@functools.cache
def route(state: str, source: int, destination: int) -> tuple[Hop, ...]:
    """The hops from a node to another in a column of Table IV."""
    hops, nodes = _next_hops(OFF[state]), [source]
    while nodes[-1] != destination:
        nodes.append(hops[nodes[-1], destination])
    return tuple(itertools.pairwise(nodes))


def flows(directions: int) -> list[Hop]:
    """The ends of each background flow of a set, in the order of the links."""
    return [(high, low) if directions >> index & 1 else (low, high) for index, (low, high) in enumerate(LINKS)]


def loads(directions: int, state: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The number of background flows on each hop of TCP's path, and of its acknowledgements' path."""
    crossed = Counter(itertools.chain.from_iterable(route(state, *flow) for flow in flows(directions)))
    there, back = route(state, *ENDS), route(state, *reversed(ENDS))
    return tuple(crossed[hop] for hop in there), tuple(crossed[hop] for hop in back)


def left(directions: int) -> tuple[int, ...]:
    """The capacity in Mb/s that a set leaves TCP in each column of Table IV."""
    return tuple(RATE - FLOW * max(loads(directions, state)[0]) for state in OFF)


@functools.cache
def admissible() -> tuple[int, ...]:
    """The sets that leave TCP the capacity that Table IV needs."""
    return tuple(number for number in range(ALL_DOWN + 1) if left(number) == WANTED)


def as_printed(directions: int) -> int:
    """The number of Table V's links whose flow goes from the end that the table prints first to the other."""
    return sum(flow in PRINTED for flow in flows(directions))


def reversed_links(directions: int) -> int:
    """The number of links whose flow goes from the lower to the higher number."""
    return len(LINKS) - directions.bit_count()


def _classes(sets: Iterable[int], states: Sequence[str]) -> dict[tuple[object, ...], list[int]]:
    """Sets by the loads on the paths of TCP's data and acknowledgements. Flows elsewhere do not touch TCP."""
    found: dict[tuple[object, ...], list[int]] = {}
    for number in sets:
        found.setdefault(tuple(loads(number, state) for state in states), []).append(number)
    return found


def nearest(sets: Iterable[int]) -> int:
    """The set with the fewest reversed links; among equals the one that reverses the first links."""
    return min(sets, key=lambda number: (reversed_links(number), f"{number:015b}"[::-1]))


def before_classes() -> list[int]:
    """One set of each class of admissible sets that are alike before the switch-off: each class's nearest."""
    return sorted((nearest(sets) for sets in _classes(admissible(), ("before",)).values()), reverse=True)


def pool(fits: Mapping[int, float], margin: float) -> list[int]:
    """The sets that steps 2 and 3 of the criterion leave.

    Args:
        fits: the distance from Table IV's column *before* of each set of `before_classes`, in percent.
        margin: distances this close to the smallest, in points, count as equal.
    """
    best = min(fits.values())
    good = {loads(number, "before") for number, fit in fits.items() if fit <= best + margin}
    fitting = [number for number in admissible() if loads(number, "before") in good]
    most = max(map(as_printed, fitting))
    return [number for number in fitting if as_printed(number) == most]


def drawn(sets: Iterable[int], count: int, seed: int = 21) -> list[int]:
    """Sets drawn at random, each from another class of loads before and after."""
    classes = [nearest(found) for found in _classes(sets, tuple(OFF)).values()]
    return sorted(random.Random(seed).sample(classes, min(count, len(classes))), reverse=True)  # noqa: S311
