"""Fig. 1: Abilene with its link loads, before and after the switch-off."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from netlull import Result, Scenario
from netlull.papers import Drawn, Evidence
from netlull.plot import network_map
from netlull.topology.state import part_of, topology_of_scenario

from . import directions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from netlull.topology import Topology

RUN = "cubic-1"


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
    network = topology(evidence)
    wide = "One flow of TCP CUBIC from 8 to 10 (seed 1) and the background; watts are of the line cards at both ends."
    for name, phase, title, words in (
        ("fig1", "settled", "Fig. 1. Abilene before the switch-off", "TCP goes 8-2-5-6-3-10. "),
        (
            "fig1-after",
            "later",
            "Fig. 1, after ESTOP at 70 %",
            "TCP goes 8-11-1-4-6-3-10. The background of 8-2 goes 8-11-1-5-2, that of 9-3 goes 9-7-4-6-3: 11-1 and 6-3 "
            "each have two flows of it, which leave TCP 20 Mb/s. ",
        ),
    ):
        run = cast("Result", evidence.series[RUN])
        part = part_of(run, phase=phase, model="ons-15600")
        yield Drawn(name, title, words + wide, network_map(network, part, title=f"From {part.title.split(', ')[1]}"))
