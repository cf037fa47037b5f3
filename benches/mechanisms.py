"""The cost that a mechanism adds to a packet-hop: instructions of whole runs under callgrind, with and without it.

    python benches/mechanisms.py [--store]

The dumb-bells are those of `benches/run.py`, with one flow and with twenty, for 60 s of simulated time. They have four
links each way, 10 Mb/s and a round trip of 50 ms. The mechanism is on the link from N1 to N2, one of eight. The table
has the instructions per packet-hop of the run, and the added instructions per packet of the mechanism's own link. Each
mechanism is compared with the same TCP without it, because estimators that read timestamps require TCP to send them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from instructions import built, counted
from kept import compiler, keep
from scenarios import single, twenty

NETWORKS = {"single": (single, 1), "twenty": (twenty, 20)}
DURATION_S = 60
TIMESTAMPS = {"timestamps": True}
PRACTRA = {
    "kind": "practra",
    "rates": {"from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s"},
    "transition": "0 s",
    "min_interval": "100 ms",
    "delay_bound": "50 ms",
}
LULL = {"kind": "lull", "rates": PRACTRA["rates"], "transition": "2 ms"}
AWM = {"kind": "awm", "target": "20 packets", "beta": "1 Mb/s"}
G_ROUTER = {
    **AWM,
    "kind": "g_router",
    "min_rate": "1 Mb/s",
    "round_trip": {"kind": "timestamps", "initial": "100 ms"},
}
EACH_EVENT = {"pace": "event", "queue": "waiting_and_in_service"}


class Case(NamedTuple):
    """A mechanism on the link, and its settings of TCP."""

    name: str
    controller: dict[str, Any] | None
    tcp: dict[str, Any]


class Count(NamedTuple):
    """The counts of a run."""

    instructions: int
    hops: int
    hops_of_link: int


def cases(flows: int) -> Sequence[Case]:
    """Returns the cases in the order of the table. The reference is the previous case without a mechanism."""
    given = {"flows": {"kind": "fixed", "count": flows}}
    return (
        Case("no control", None, {}),
        Case("practRA", PRACTRA, {}),
        Case("Lull", LULL, {}),
        Case("AWM, N given", AWM | given, {}),
        Case("AWM, N counted", AWM, {}),
        Case("no control, timestamps", None, TIMESTAMPS),
        Case("G-Router, once per round trip", G_ROUTER, TIMESTAMPS),
        Case("G-Router, at every event", G_ROUTER | EACH_EVENT, TIMESTAMPS),
    )


def document(network: str, case: Case, duration_s: float = DURATION_S) -> dict[str, Any]:
    """Returns the scenario of a case."""
    make, _ = NETWORKS[network]
    scenario = make(duration_s).document()
    scenario["tcp"] |= case.tcp
    if case.controller is not None:
        links: list[dict[str, Any]] = scenario["link"]
        both = next(link for link in links if (link["from"], link["to"]) == ("N1", "N2"))
        there = {name: value for name, value in both.items() if name != "duplex"}
        back = there | {"from": "N2", "to": "N1"}
        place = links.index(both)
        links[place : place + 1] = [there | {"controller": case.controller}, back]
    return scenario


def counts_of(program: Path, scenario: dict[str, Any]) -> Count:
    """Runs a scenario under callgrind."""
    run = counted(program, scenario)
    link = next(link for link in run.summary["links"] if link["name"] == "N1-N2")
    return Count(run.instructions, run.summary["packet_hops"], link["delivered_packets"])


def rows(program: Path, network: str) -> list[str]:
    """Returns a line of the table for each case."""
    lines = []
    plain = None
    for case in cases(NETWORKS[network][1]):
        count = counts_of(program, document(network, case))
        each = count.instructions / count.hops
        line = f"{network:<7} {case.name:<30} {each:>8.1f}"
        if case.controller is None:
            plain = each
        elif plain is not None:
            added = (each - plain) * count.hops / count.hops_of_link
            line += f" {each / plain:>7.2f} {added:>8.0f}"
        lines.append(line)
    return lines


HEADER = f"{'flows':<7} {'on the link':<30} {'per hop':>8} {'ratio':>7} {'added':>8}"


def main() -> int:
    """Prints the table; with --store also writes it to benches/runs/."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="store_true", help="write the table to benches/runs/DATE/")
    arguments = parser.parse_args()
    program = built()
    about = "instructions per packet-hop of the run; ratio to no control; added per packet of the mechanism's link"
    lines = [f"{compiler()}; {about}", HEADER]
    for network in NETWORKS:
        lines += rows(program, network)
    print("\n".join(lines))
    if arguments.store:
        keep({"mechanisms.txt": lines})
    return 0


if __name__ == "__main__":
    sys.exit(main())
