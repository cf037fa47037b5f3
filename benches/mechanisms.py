"""The cost that a mechanism adds to a packet-hop: instructions of whole runs under callgrind, with and without it.

    python benches/mechanisms.py [--store]

The dumb-bells are those of `benches/run.py`, with one flow and with twenty, for 60 s of simulated time. They have four
links each way, 10 Mb/s and a round trip of 50 ms. A controller is on the link from N1 to N2, one of eight. In place of
one, "departures as events" has a capacity that never changes: a link that practRA, Lull and gateways need. A station is
at the receiver of each flow, behind the last link. Abilene is that of `benches/run.py`, too; ESTOP puts some of its
links to sleep at 10 s. The table has the instructions per packet-hop of the run, and those added per packet of the
mechanism's own links. Each mechanism is compared with the same TCP without it, because estimators that read timestamps
require TCP to send them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from instructions import built, counted
from kept import compiler, keep
from scenarios import abilene, single, twenty

NETWORKS = {"single": (single, 1), "twenty": (twenty, 20), "abilene": (abilene, 1)}
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
LPI = {"kind": "lpi", "phy": "100base-tx", "hysteresis": "0 s"}
AWM = {"kind": "awm", "target": "20 packets", "beta": "1 Mb/s"}
G_ROUTER = {
    **AWM,
    "kind": "g_router",
    "min_rate": "1 Mb/s",
    "round_trip": {"kind": "timestamps", "initial": "100 ms"},
}
CONSTANT = {"kind": "steps", "steps": [{"at": "0 s", "rate": "10 Mb/s"}]}
EACH_EVENT = {"pace": "event", "queue": "waiting_and_in_service"}
RADIO = {"name": "phones", "radio": ["wavelan-dsss"]}
SLEEP = {"sleep": [{"at": "10 s", "plan": {"kind": "estop", "threshold": 0.7}}]}


class Case(NamedTuple):
    """A mechanism: fields of the link from N1 to N2, a station at each receiver, or other fields of the scenario.

    The reference is the previous case without any.
    """

    name: str
    tcp: dict[str, Any] | None = None
    link: dict[str, Any] | None = None
    station: dict[str, Any] | None = None
    fields: dict[str, Any] | None = None

    @property
    def is_plain(self) -> bool:
        """True if the network has no mechanism."""
        return self.link is None and self.station is None and self.fields is None


class Count(NamedTuple):
    """The counts of a run."""

    instructions: int
    hops: int
    hops_of_links: int


def cases(network: str) -> Sequence[Case]:
    """Returns the cases in the order of the table."""
    _, flows = NETWORKS[network]
    if network == "abilene":
        return (Case("no control"), Case("links sleep, ESTOP", fields=SLEEP))
    given = {"flows": {"kind": "fixed", "count": flows}}
    return (
        Case("no control"),
        Case("departures as events", link={"capacity": CONSTANT}),
        Case("practRA", link={"controller": PRACTRA}),
        Case("Lull", link={"controller": LULL}),
        Case("low-power idle", link={"controller": LPI}),
        Case("AWM, N given", link={"controller": AWM | given}),
        Case("AWM, N counted", link={"controller": AWM}),
        Case("stations, always awake", station=RADIO),
        Case("stations, client shaper", station=RADIO | {"mechanism": {"kind": "client_shaper"}}),
        Case("stations, power saving", station=RADIO | {"mechanism": {"kind": "psm"}}),
        Case("no control, timestamps", TIMESTAMPS),
        Case("G-Router, once per round trip", TIMESTAMPS, link={"controller": G_ROUTER}),
        Case("G-Router, at every event", TIMESTAMPS, link={"controller": G_ROUTER | EACH_EVENT}),
    )


def own_links(network: str, case: Case) -> set[str]:
    """Returns the names of the links with the mechanism."""
    if case.station is not None:
        return {f"N3-sink{flow}" for flow in range(NETWORKS[network][1])}
    return {"N1-N2"} if case.link is not None else set()


def document(network: str, case: Case, duration_s: float = DURATION_S) -> dict[str, Any]:
    """Returns the scenario of a case."""
    make, flows = NETWORKS[network]
    scenario = make(duration_s).document() | (case.fields or {})
    scenario["tcp"] |= case.tcp or {}
    if case.station is not None:
        scenario["station"] = [case.station | {"nodes": [f"sink{flow}" for flow in range(flows)]}]
    if case.link is not None:
        links: list[dict[str, Any]] = scenario["link"]
        both = next(link for link in links if (link["from"], link["to"]) == ("N1", "N2"))
        there = {name: value for name, value in both.items() if name != "duplex"}
        back = there | {"from": "N2", "to": "N1"}
        place = links.index(both)
        links[place : place + 1] = [there | case.link, back]
    return scenario


def counts_of(program: Path, scenario: dict[str, Any], links: set[str]) -> Count:
    """Runs a scenario under callgrind. `links` have the mechanism."""
    run = counted(program, scenario)
    own = sum(link["delivered_packets"] for link in run.summary["links"] if link["name"] in links)
    return Count(run.instructions, run.summary["packet_hops"], own)


def rows(program: Path, network: str) -> list[str]:
    """Returns a line of the table for each case."""
    lines = []
    plain = None
    for case in cases(network):
        count = counts_of(program, document(network, case), own_links(network, case))
        each = count.instructions / count.hops
        line = f"{network:<7} {case.name:<30} {each:>8.1f}"
        if case.is_plain:
            plain = each
        elif plain is not None:
            line += f" {each / plain:>7.2f}"
            if count.hops_of_links:
                line += f" {(each - plain) * count.hops / count.hops_of_links:>8.0f}"
        lines.append(line)
    return lines


HEADER = f"{'flows':<7} {'on the link':<30} {'per hop':>8} {'ratio':>7} {'added':>8}"


def main() -> int:
    """Prints the table; with --store also writes it to benches/runs/."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="store_true", help="write the table to benches/runs/DATE/")
    arguments = parser.parse_args()
    program = built()
    about = "instructions per packet-hop of the run; ratio to no control; added per packet of the mechanism's links"
    lines = [f"{compiler()}; {about}", HEADER]
    for network in NETWORKS:
        lines += rows(program, network)
    print("\n".join(lines))
    if arguments.store:
        keep({"mechanisms.txt": lines})
    return 0


if __name__ == "__main__":
    sys.exit(main())
