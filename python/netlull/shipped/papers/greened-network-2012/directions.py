"""Directions of the background: the 2^15 sets of one flow on each link, and the capacity that each leaves TCP.

A set is a number. Its bit i is 1 if the flow of link i (in the scenario's order) goes from the higher to the lower
number of its ends. The paper prints no directions: SEARCH.md has the criterion that chooses among the sets.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled
from netlull.plot import Curve, panel_grid

from . import printed
from .studies import exact, flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    """The nearest set of each class of admissible sets that are alike before the switch-off."""
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


# ---- The study -------------------------------------------------------------------------------------------------------

MARGIN = 1.0
"""Fits this close to the best, in points, count as equal (SEARCH.md)."""
SAMPLES = {"fitting": "sets that the criterion leaves", "any": "admissible sets"}
"""The experiments of the two samples. The first also has the default."""
THRESHOLDS = (50, 70, 90)
SLACK = 0.001
"""Losses this close to each other count as falling (N7)."""


def fits(evidence: Evidence) -> dict[int, float]:
    """The distance in percent of each class's throughput from Table IV's column *before*, mean over versions."""
    found = {}
    for number in map(int, evidence.grid.values("early", "early")):
        gaps = []
        for version in evidence.grid.labels("early", "version"):
            cell = Cell.of("early", early=number, version=version)
            rate = evidence.grid.interval(cell, "before_bps", printed.WIRE_MBPS).mean
            gaps.append(abs(rate / printed.TABLE_IV[version]["before"] - 1))
        found[number] = 100 * fmean(gaps)
    return found


def _loss_based(evidence: Evidence, experiment: str) -> list[str]:
    return [version for version in evidence.grid.labels(experiment, "version") if version != "Vegas"]


def _sample(evidence: Evidence, experiment: str) -> list[int]:
    return sorted(map(int, evidence.grid.values(experiment, experiment)), reverse=True)


def _cell(experiment: str, number: int, version: str, threshold: int) -> Cell:
    point: dict[str, float | str] = {experiment: number, "version": version, "threshold": threshold}
    return Cell.of(experiment, **point)


def loss(evidence: Evidence, experiment: str, number: int, version: str, threshold: int) -> float:
    """The loss of throughput of a version with a set, as a mean over seeds."""
    cell = _cell(experiment, number, version, threshold)
    return evidence.grid.ratio(cell, cell, "after_bps", to="before_bps").mean * -1 + 1


def falling(evidence: Evidence, experiment: str, number: int) -> list[str]:
    """The versions whose loss falls from 50 to 70 and from 70 to 90 %, as N7 says."""
    found = []
    for version in evidence.grid.labels(experiment, "version"):
        values = [loss(evidence, experiment, number, version, threshold) for threshold in THRESHOLDS]
        if all(later <= earlier + SLACK for earlier, later in itertools.pairwise(values)):
            found.append(version)
    return found


def _after(evidence: Evidence, experiment: str, number: int) -> float:
    """The mean distance in percent from Table IV after ESTOP, without Vegas."""
    gaps = []
    for version, threshold in itertools.product(_loss_based(evidence, experiment), THRESHOLDS):
        cell = _cell(experiment, number, version, threshold)
        rate = evidence.grid.interval(cell, "after_bps", printed.WIRE_MBPS).mean
        gaps.append(abs(rate / printed.TABLE_IV[version][threshold] - 1))
    return 100 * fmean(gaps)


def _mean_loss(evidence: Evidence, experiment: str, number: int, threshold: int) -> float:
    versions = _loss_based(evidence, experiment)
    return 100 * fmean(loss(evidence, experiment, number, version, threshold) for version in versions)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the fit of every class before the switch-off, and the losses with the sampled sets."""
    found = sorted(fits(evidence).items(), key=lambda item: item[1])
    curves = []
    for label, colour, loaded in (("background on 8-2", 0, True), ("none on 8-2", 1, False)):
        places = [place for place, (number, _) in enumerate(found, 1) if (loads(number, "before")[0][0] > 0) == loaded]
        curves.append(Curve(label, places, [exact(found[place - 1][1]) for place in places], colour))
    yield Drawn(
        "directions-fit",
        "Distance from Table IV before ESTOP, by the directions of the background",
        "Each point is one class of admissible sets, in order of its distance (mean over six versions and the seeds). "
        "Background on 8-2, the flow's first link, spaces its segments.",
        panel_grid([flat("", "Class", "Distance (%)", curves)], columns=1, row_height=2.4),
    )
    panels = []
    for letter, (experiment, label) in zip("ab", SAMPLES.items(), strict=True):
        sets = _sample(evidence, experiment)
        curves = [
            Curve(
                f"{threshold} %",
                list(range(1, len(sets) + 1)),
                [exact(_mean_loss(evidence, experiment, number, threshold)) for number in sets],
                colour,
            )
            for colour, threshold in enumerate(THRESHOLDS)
        ]
        panels.append(flat(f"({letter}) {label}", "Set", "Throughput lost (%)", curves))
    yield Drawn(
        "directions-loss",
        "Loss of throughput at three thresholds, by the directions of the background",
        "Means over the five loss-based versions and the seeds, for each sampled set in the order of the tables; lines "
        "only guide the eye. Set 1 of (a) is the default. All sets leave TCP 20 Mb/s at all three thresholds.",
        panel_grid(panels, columns=2, row_height=2.6),
    )


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the classes with their fits, and the sampled sets with their losses."""
    classes = _classes(admissible(), ("before",))
    rows = []
    for number, fit in sorted(fits(evidence).items(), key=lambda item: item[1]):
        there, back = loads(number, "before")
        of_class = len(classes[(loads(number, "before"),)])
        shown = [" ".join(map(str, hops)) for hops in (there, back)]
        rows.append([*shown, str(of_class), "yes" if number == ALL_DOWN else "", f"{fit:.1f}"])
    header = ["flows on 8-2-5-6-3-10", "on the way back", "sets", "default's class", "distance (%)"]
    yield Tabled("figures", "Classes of the 5,568 admissible sets before ESTOP", header, rows)
    for experiment, label in SAMPLES.items():
        rows = []
        for place, number in enumerate(_sample(evidence, experiment), 1):
            falls = falling(evidence, experiment, number)
            own = [_mean_loss(evidence, experiment, number, threshold) for threshold in THRESHOLDS]
            rows.append(
                [
                    str(place),
                    ", ".join(f"{source}-{end}" for source, end in flows(number) if source < end) or "none",
                    *(" ".join(map(str, loads(number, state)[0])) for state in ("90", "70", "50")),
                    *(f"{value:.1f}" for value in own),
                    f"{100 * loss(evidence, experiment, number, 'CUBIC', 70):.1f}",
                    f"{_after(evidence, experiment, number):.1f}",
                    ", ".join(falls) or "none",
                ]
            )
        header = [
            *("set", "flows from the lower number", "flows on TCP's path at 90 %", "70 %", "50 %"),
            *("loss at 50 % (%)", "70 %", "90 %", "CUBIC's at 70 %", "distance after (%)", "loss falls (N7)"),
        ]
        yield Tabled("figures", f"A sample of the {label}", header, rows)
