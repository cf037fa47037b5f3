"""Fig. 1: Abilene with its link loads, before and after the switch-off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from netlull import Result, Scenario
from netlull.papers import Drawn, Evidence
from netlull.plot import network_map
from netlull.topology.state import Part, part_of, topology_of_scenario

from . import directions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netlull.topology import Topology

RUN = "cubic-1"
CITIES = {
    "0": "Atlanta (measurement)",
    "1": "Atlanta",
    "2": "Chicago",
    "3": "Denver",
    "4": "Houston",
    "5": "Indianapolis",
    "6": "Kansas City",
    "7": "Los Angeles",
    "8": "New York",
    "9": "Sunnyvale",
    "10": "Seattle",
    "11": "Washington",
}
"""The city of each node."""


def topology(evidence: Evidence) -> Topology:
    """The topology of the paper's scenario."""
    return topology_of_scenario(Scenario.from_file(evidence.paper.info.folder / "scenario.toml").to_dict())


def hops(evidence: Evidence, off: Sequence[str]) -> int:
    """The number of hops of the shortest path of the TCP flow's data without these links."""
    whole = topology(evidence)
    near: dict[str, list[str]] = {node.name: [] for node in whole.nodes}
    for line in whole.lines:
        if line.label not in off:
            near[line.a].append(line.b)
            near[line.b].append(line.a)
    source, destination = (str(end) for end in directions.ENDS)
    reached, edge = {source: 0}, [source]
    for node in edge:
        for other in near[node]:
            if other not in reached:
                reached[other] = reached[node] + 1
                edge.append(other)
    return reached[destination]


def drawings(evidence: Evidence) -> Iterator[Drawn]:
    """Yields a map of the network before the switch-off, and another after it."""
    network = with_cities(topology(evidence))
    wide = "One flow of TCP CUBIC from 8 to 10 (seed 1) and the background."
    for name, phase, title, above, words in (
        (
            "fig1",
            "settled",
            "Fig. 1. Abilene before the switch-off",
            "Before ESTOP: all 15 links awake",
            "Means from 5 to 30 s. TCP goes 8-2-5-6-3-10. ",
        ),
        (
            "fig1-after",
            "later",
            "Fig. 1, after ESTOP at 70 %",
            "After ESTOP at 70 %: 3 of 15 links asleep",
            "Means from 32 to 60 s. TCP goes 8-11-1-4-6-3-10. The background of 8-2 goes 8-11-1-5-2, that of 9-3 goes "
            "9-7-4-6-3: 11-1 and 6-3 each have two flows of it, which leave TCP 20 Mb/s. ",
        ),
    ):
        run = cast("Result", evidence.series[RUN])
        found = part_of(run, phase=phase)
        states = {frozenset(map(named, ends)): replace(state, power_w=None) for ends, state in found.states.items()}
        yield Drawn(name, title, words + wide, network_map(network, Part(above, states), title=above))


def named(node: str) -> str:
    """The number of a node with its city."""
    return f"{node} {CITIES[node]}"


def with_cities(network: Topology) -> Topology:
    """The network whose nodes have their cities in their names."""
    nodes = tuple(replace(node, name=named(node.name)) for node in network.nodes)
    lines = tuple(replace(line, a=named(line.a), b=named(line.b)) for line in network.lines)
    return replace(network, nodes=nodes, lines=lines)
