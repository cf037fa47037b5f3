"""The cost of reproducing whole papers: `python benches/papers.py [KEY]... [--scope full] [--workers N] [--store]`.

Every paper runs with an empty store, in a process of its own. The table has the wall-clock time, the CPU time of the
process with all its threads, and the CPU time in the runs alone. It also has the simulated packet-hops, and the CPU
nanoseconds per packet-hop in the runs. `--store` writes the table to benches/runs/DATE/papers.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from kept import keep, needs_release

import netlull
from netlull import papers


@dataclass(frozen=True)
class Reproduction:
    """The cost of one paper with an empty store, from the kernel and the paper's own summary."""

    key: str
    runs: int
    wall_s: float
    cpu_s: float
    simulated_cpu_s: float
    packet_hops: int
    claims: str

    def row(self) -> str:
        """Returns a line of the table."""
        return (
            f"{self.key:<32} {self.runs:>6,} {self.wall_s:>8.1f} {self.cpu_s:>8.1f} {self.simulated_cpu_s:>8.1f}"
            f" {self.packet_hops:>15,} {self.simulated_cpu_s * 1e9 / self.packet_hops:>7.1f}  {self.claims}"
        )


HEADER = (
    f"{'paper':<32} {'runs':>6} {'wall s':>8} {'CPU s':>8} {'in runs':>8} {'packet-hops':>15} {'ns/hop':>7}  claims"
)


def reproduce(key: str, scope: str, workers: int) -> Reproduction:
    """Runs `netlull reproduce` in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.json"
        command = [sys.executable, "-m", "netlull", "reproduce", key, f"--{scope}", "--json"]
        command += ["--workers", str(workers), "--out", folder]
        began = time.monotonic()
        with told.open("wb") as file:
            actions = [(os.POSIX_SPAWN_DUP2, file.fileno(), 1)]
            process = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
            _, status, used = os.wait4(process, 0)
        wall_s = time.monotonic() - began
        if status != 0:
            raise SystemExit(f"{key}: netlull reproduce failed")
        (outcome,) = json.loads(told.read_text(encoding="utf-8"))
    verdicts = [claim["verdict"] for claim in outcome["claims"]]
    return Reproduction(
        key,
        outcome["runs"],
        wall_s,
        used.ru_utime + used.ru_stime,
        outcome["simulated_cpu_s"],
        outcome["simulated_packet_hops"],
        ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("holds", "partly", "fails")),
    )


def main() -> int:
    """Prints the table; with --store also writes it to benches/runs/."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("keys", nargs="*", metavar="KEY", help="the papers (default: all papers)")
    parser.add_argument("--scope", choices=("quick", "full"), default="full")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="default: one per core")
    parser.add_argument("--store", action="store_true", help="write the table to benches/runs/DATE/")
    arguments = parser.parse_args()
    needs_release()
    lines = [
        f"netlull {netlull.__version__}, reproduce --{arguments.scope}, {arguments.workers} workers; load average "
        f"before: {os.getloadavg()[0]:.1f}",
        HEADER,
    ]
    print("\n".join(lines), flush=True)
    for key in arguments.keys or [info.key for info in papers.find()]:
        lines.append(reproduce(key, arguments.scope, max(1, arguments.workers)).row())
        print(lines[-1], flush=True)
    if arguments.store:
        keep({"papers.txt": lines})
    return 0


if __name__ == "__main__":
    sys.exit(main())
