"""CPU time of ns-2 per packet-hop on the dumb-bell: `python benches/ns2/bench.py`.

Each run is a process of its own; its user and system CPU time come from the kernel when it ends. The time that a run
of almost no simulated time takes (starting ns-2, building the network) is taken off, in ns-2's favour. The least of
several runs counts: what else the machine does can only add. ns-2's default event queue and its quickest are shown.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "bench_dumbbell.tcl"
SET_UP_ONLY_S = 0.001

SCENARIOS: dict[str, dict[str, str | float]] = {
    "single flow, 10 Mb/s, 300 s": {"flows": 1, "duration": 300},
    "20 flows, 10 Mb/s, 600 s": {"flows": 20, "duration": 600, "stagger": 0.137},
}
SCHEDULERS = ("Calendar", "Splay")


@dataclass(frozen=True)
class Cost:
    """What a scenario cost: seconds of CPU with set-up taken off, and the packet-hops they bought."""

    cpu_s: float
    set_up_s: float
    packet_hops: int
    goodput_bps: float
    drops: int

    @property
    def ns_per_hop(self) -> float:
        """Nanoseconds of CPU per packet-hop."""
        return self.cpu_s * 1e9 / self.packet_hops


def run_once(options: Mapping[str, str | float]) -> tuple[float, dict[str, float]]:
    """Runs the script; its CPU seconds and the numbers it printed.

    Raises:
        FileNotFoundError: ns-2 is not installed (its command is `ns`).
        RuntimeError: the script failed.
    """
    command = ["ns", str(SCRIPT), *(f"{name}={value}" for name, value in options.items())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        text = child.stdout.read() if child.stdout else ""
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {child.returncode}")
    numbers = {name: float(value) for name, value in (line.split() for line in text.splitlines())}
    return used.ru_utime + used.ru_stime, numbers


def measure(options: Mapping[str, str | float], runs: int) -> Cost:
    """The least cost of several runs."""
    set_up_s = min(run_once({**options, "duration": SET_UP_ONLY_S})[0] for _ in range(runs))
    cpu_s, numbers = min((run_once(options) for _ in range(runs)), key=lambda run: run[0])
    return Cost(cpu_s - set_up_s, set_up_s, int(numbers["packet_hops"]), numbers["goodput_bps"], int(numbers["drops"]))


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs per scenario (default 5)")
    chosen = parser.parse_args(arguments)
    titles = ("packet-hops", "CPU s", "set-up s", "ns/hop", "goodput b/s", "drops")
    print("{:<40} {:>12} {:>8} {:>9} {:>8} {:>12} {:>7}".format("scenario", *titles))
    for (name, options), scheduler in itertools.product(SCENARIOS.items(), SCHEDULERS):
        cost = measure({**options, "scheduler": scheduler}, chosen.runs)
        print(
            f"{name + ', ' + scheduler:<40} {cost.packet_hops:>12} {cost.cpu_s:>8.3f} {cost.set_up_s:>9.3f} "
            f"{cost.ns_per_hop:>8.1f} {cost.goodput_bps:>12.0f} {cost.drops:>7}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
