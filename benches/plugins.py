"""The cost of a controller in Python: time and instructions per packet-hop of whole runs, with and without it.

    python benches/plugins.py [--instructions] [--store]

The dumb-bells are those of `benches/mechanisms.py`, for 60 s of simulated time, and the first again at 100 Mb/s. The
controller is on the link from N1 to N2, one of eight. Each time is the least CPU time of nine runs. The instructions
are those of the interpreter under callgrind: runs of 60 s minus runs of 20 s, which leaves out the start of Python.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from kept import compiler, keep, needs_release
from mechanisms import PRACTRA
from scenarios import dumbbell, single, twenty

import netlull
from netlull import Scenario

NETWORKS = ("single", "twenty", "fast")
DURATION_S, SHORT_S = 60, 20
RUNS = 9


class Tick(netlull.RateController):
    """Reads the queue at each tick, and keeps the rate."""

    def tick(self, seen: Any) -> float:
        """Returns the link's rate."""
        return float(self.link.rate if seen.queue_packets >= 0 else 0.0)


class Event(netlull.RateController):
    """Reads the queue at each event, and keeps the rate."""

    def event(self, seen: Any, event: Any) -> float:  # as netlull calls it
        """Returns the link's rate."""
        return float(self.link.rate if seen.queue_packets >= 0 else 0.0)


CASES: dict[str, Any] = {
    "no control": None,
    "practRA": PRACTRA,
    "Python, no call": Tick(interval="1000 s"),
    "Python, ticks of 10 ms": Tick(interval="10 ms"),
    "Python, ticks of 1 ms": Tick(interval="1 ms"),
    "Python, every event": Event(),
}


class Cost(NamedTuple):
    """The cost of a run."""

    amount: float
    hops: int


def scenario(network: str, case: str, duration_s: int) -> Scenario:
    """Returns the scenario of a case."""
    if network == "fast":
        document = dumbbell("fast", duration_s, flows=1, rate_bps=10**8, access_bps=10**9, stagger_s=0.0).document()
    else:
        document = {"single": single, "twenty": twenty}[network](duration_s).document()
    controller = CASES[case]
    if controller is not None:
        if network == "fast" and controller is PRACTRA:
            rates = {"from": "10 Mb/s", "to": "100 Mb/s", "step": "10 Mb/s"}
            controller = PRACTRA | {"rates": rates}
        links: list[dict[str, Any]] = document["link"]
        both = next(link for link in links if (link["from"], link["to"]) == ("N1", "N2"))
        there = {name: value for name, value in both.items() if name != "duplex"}
        back = there | {"from": "N2", "to": "N1"}
        place = links.index(both)
        links[place : place + 1] = [there | {"controller": controller}, back]
    return Scenario.from_dict(document)


def timed(network: str, case: str) -> Cost:
    """Returns the least CPU time of a run in ns, and its packet-hops."""
    made = scenario(network, case, DURATION_S)
    least = float("inf")
    for _ in range(RUNS):
        began = time.thread_time_ns()
        hops = made.run().summary["packet_hops"]
        least = min(least, time.thread_time_ns() - began)
    return Cost(least, hops)


def counted(network: str, case: str) -> Cost:
    """Returns the instructions of the simulated time from 20 s to 60 s, and its packet-hops."""
    found = []
    for duration_s in (DURATION_S, SHORT_S):
        own = [sys.executable, str(Path(__file__).resolve()), "--run", network, case, str(duration_s)]
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *own]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        instructions = re.search(r"Collected : (\d+)", done.stderr)
        if instructions is None:
            raise SystemExit(f"callgrind counted nothing:\n{done.stderr}")
        found.append((int(instructions[1]), int(done.stdout)))
    (most, hops), (least, before) = found
    return Cost(most - least, hops - before)


def rows(measure: Any) -> list[str]:
    """Returns a line of the table for each case of each network."""
    lines = []
    for network in NETWORKS:
        plain = 0.0
        for case in CASES:
            cost = measure(network, case)
            each = cost.amount / cost.hops
            plain = plain or each
            lines.append(f"{network:<7} {case:<24} {each:>8.1f} {each / plain:>7.2f}")
            print(lines[-1], flush=True)
    return lines


def main() -> int:
    """Prints the table; with --store also writes it to benches/runs/."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instructions", action="store_true", help="count instructions (needs valgrind)")
    parser.add_argument("--store", action="store_true", help="write the table to benches/runs/DATE/")
    parser.add_argument("--run", nargs=3, metavar=("NETWORK", "CASE", "SECONDS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    needs_release()
    if arguments.run:
        network, case, duration_s = arguments.run
        print(scenario(network, case, int(duration_s)).run().summary["packet_hops"])
        return 0
    unit = "instructions" if arguments.instructions else "ns of CPU time"
    head = [
        f"{compiler()}, Python {sys.version.split()[0]}; {unit} per packet-hop of the run; ratio to no control",
        f"{'network':<7} {'on the link':<24} {'per hop':>8} {'ratio':>7}",
    ]
    print("\n".join(head))
    lines = head + rows(counted if arguments.instructions else timed)
    if arguments.store:
        keep({f"plugins-{'instructions' if arguments.instructions else 'time'}.txt": lines})
    return 0


if __name__ == "__main__":
    sys.exit(main())
