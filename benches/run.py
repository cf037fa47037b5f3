"""CPU nanoseconds per packet-hop, netlull beside ns-2 in one run: `python benches/run.py [--runs N] [--store]`.

A packet-hop is one data or ACK packet crossing one link. The two simulators run the same network in turn, A B A B ...,
so that both meet the same moods of the machine; the figure is the ratio pair by pair. netlull is timed whole: checking
the scenario, building it, running, verifying. ns-2's start and set-up are taken off, in its favour, and it carries only
the packet headers it needs. ns-2 has several event queues: Calendar is its default, which its users run; Splay is the
quickest here. Both are measured.
"""

from __future__ import annotations

import argparse
import datetime
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ns2.bench import SET_UP_ONLY_S, run_once

import netlull

RUNS_KEPT = Path(__file__).parent / "runs"
PACKET_BYTES = 1500


@dataclass(frozen=True)
class Bench:
    """A dumb-bell: how many flows, for how long, each starting `stagger_s` after the one before."""

    name: str
    flows: int
    duration_s: int
    stagger_s: float

    def ns2_options(self, duration_s: float, scheduler: str) -> dict[str, str | float]:
        """Options of benches/ns2/bench_dumbbell.tcl."""
        return {"flows": self.flows, "duration": duration_s, "stagger": self.stagger_s, "scheduler": scheduler}

    def scenario(self) -> netlull.Scenario:
        """The same network: source i -- N1 -- N2 -- N3 -- sink i, 10 Mb/s between routers, a round trip of 50 ms."""
        sources = [f"source{flow}" for flow in range(self.flows)]
        sinks = [f"sink{flow}" for flow in range(self.flows)]
        access = {"duplex": True, "rate": "100 Mb/s", "buffer": "unlimited"}
        router = {"duplex": True, "rate": "10 Mb/s", "delay": "12.5 ms", "buffer": "42 packets"}
        links = [
            {"from": "N1", "to": "N2"} | router,
            {"from": "N2", "to": "N3"} | router,
            *({"from": source, "to": "N1"} | access for source in sources),
            *({"from": "N3", "to": sink} | access for sink in sinks),
        ]
        flows = [
            {
                "kind": "tcp",
                "name": f"tcp{flow}",
                "from": source,
                "to": sink,
                "start": f"{flow * self.stagger_s:.3f} s",
                "tcp": {"preset": "ns2"},
            }
            for flow, (source, sink) in enumerate(zip(sources, sinks, strict=True))
        ]
        return netlull.Scenario.from_dict(
            {
                "name": self.name,
                "duration": f"{self.duration_s} s",
                "nodes": ["N1", "N2", "N3", *sources, *sinks],
                "link": links,
                "flow": flows,
            }
        )


@dataclass(frozen=True)
class Pair:
    """One turn of each simulator."""

    netlull_ns: float
    ns2_ns: dict[str, float]
    netlull_goodput_bps: float
    ns2_goodput_bps: float
    netlull_drops: int
    ns2_drops: int
    hops: int

    def ratio(self, scheduler: str) -> float:
        """How many times ns-2's cost netlull's is lower."""
        return self.ns2_ns[scheduler] / self.netlull_ns


SCHEDULERS = ("Calendar", "Splay")
BENCHES = (
    Bench("single flow, 10 Mb/s, 300 s", 1, 300, 0.0),
    Bench("20 flows, 10 Mb/s, 600 s", 20, 600, 0.137),
)


def turn(bench: Bench) -> Pair:
    """Runs both, one after the other."""
    scenario = bench.scenario()
    before = time.process_time()
    result = scenario.run(seed=1)
    spent_s = time.process_time() - before
    summary = result.summary
    ns2_ns = {}
    for scheduler in SCHEDULERS:
        set_up_s, _ = run_once(bench.ns2_options(SET_UP_ONLY_S, scheduler))
        ns2_s, numbers = run_once(bench.ns2_options(bench.duration_s, scheduler))
        ns2_ns[scheduler] = (ns2_s - set_up_s) * 1e9 / numbers["packet_hops"]
    return Pair(
        spent_s * 1e9 / summary["packet_hops"],
        ns2_ns,
        sum(flow["goodput_bps"] for flow in summary["flows"]),
        numbers["goodput_bps"],
        sum(link["dropped_packets"] for link in summary["links"]),
        int(numbers["drops"]),
        summary["packet_hops"],
    )


def rows(bench: Bench, pairs: list[Pair]) -> list[str]:
    """One row per scheduler of ns-2: medians, and the spread of the ratio."""
    first = pairs[0]
    lines = [
        f"{bench.name}: {first.hops:,} packet-hops; goodput {first.netlull_goodput_bps / 1e6:.4f} Mb/s, "
        f"ns-2 {first.ns2_goodput_bps / 1e6:.4f}; drops {first.netlull_drops}, ns-2 {first.ns2_drops}"
    ]
    for scheduler in SCHEDULERS:
        ratios = sorted(pair.ratio(scheduler) for pair in pairs)
        lines.append(
            f"  ns-2 with {scheduler:<9} netlull {statistics.median(p.netlull_ns for p in pairs):6.1f} ns"
            f"   ns-2 {statistics.median(p.ns2_ns[scheduler] for p in pairs):6.1f} ns"
            f"   ratio {statistics.median(ratios):5.2f}  ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )
    return lines


def main() -> int:
    """Prints the table; with --store keeps it under benches/runs/."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="turns of each simulator (default 7)")
    parser.add_argument("--store", action="store_true", help="keep the table in benches/runs/DATE/")
    arguments = parser.parse_args()
    lines = [f"CPU ns per packet-hop, median of {arguments.runs} turns; netlull {netlull.__version__}, ns-2.35"]
    print(lines[0], flush=True)
    for bench in BENCHES:
        measured = rows(bench, [turn(bench) for _ in range(max(1, arguments.runs))])
        lines += measured
        print("\n".join(measured), flush=True)
    if arguments.store:
        folder = RUNS_KEPT / datetime.datetime.now(tz=datetime.UTC).date().isoformat()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ns2.txt").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
