"""Compares the G-Router paper's network without a gateway with ns-2: `python validation/ns2/homes.py [--rerun]`.

The experiments `case1-over` and `case2-none` of papers/g-router: homes with endless transfers and web files behind uplinks
of 1 Mb/s, and an Internet node with 15 of its 100 Mb/s from 300 to 600 s. netlull draws when transfers begin and how large
files are; ns-2 takes the same list. ns-2's results are read from `stored/homes.txt`; with `--rerun` ns-2 runs again and it is
rewritten first. Exits 1 if a mean over seeds is out of its tolerance.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ns2 import HERE, Ns2Error, Numbers, in_parallel, run_script

if TYPE_CHECKING:
    import netlull

STORED = HERE / "stored" / "homes.txt"
SWEEP = HERE.parent.parent / "papers" / "g-router" / "sweep.toml"
SEEDS = (1, 2, 3, 4, 5)
CASES = ("case1-over", "case2-none")
ROUTER, NODE = "access-internet", "internet-servers"
WARM_UP_S, END_S = 10.0, 750.0
STEPS = {"case1-over": "", "case2-none": "300:15e6,600:100e6"}
PHASES = {
    "low": (25.0, 75.0),
    "middle": (100.0, 150.0),
    "high": (175.0, 300.0),
    "squeezed": (330.0, 600.0),
    "after": (630.0, 750.0),
}
"""The phases of the scenario that are compared, in seconds."""
BOTTLENECK = (300.0, 600.0)
EDGES = sorted({WARM_UP_S, END_S, *BOTTLENECK, *(edge for phase in PHASES.values() for edge in phase)})
WINDOW_SEGMENTS = 65535 // 960
"""Whole segments in the receiver's buffer: netlull's window is in bytes, ns-2's in packets."""


@dataclass(frozen=True)
class Measure:
    """What is compared and how close it must come: relative, beside three standard errors of the paired difference."""

    tolerance: float
    only: str = ""
    """The case that it is about, if not both."""


MEASURES = {
    "goodput_bps": Measure(0.01),
    **{f"{phase}_throughput_bps": Measure(0.01) for phase in PHASES},
    "node_drops": Measure(0.05, only="case2-none"),
    "node_queue_packets": Measure(0.05, only="case2-none"),
    "uplink_drops": Measure(0.05),
    "retransmissions": Measure(0.05),
    "timeouts": Measure(0.05),
    "files_completed": Measure(0.01),
    "mean_completion_s": Measure(0.05),
}


def scenario(case: str) -> netlull.Scenario:
    """An experiment of the paper's sweep, whose requests are recorded."""
    from netlull import Sweep

    found = next(point.scenario for point in Sweep.from_file(SWEEP).points() if point.experiment == case)
    return found.with_values({"probe.requests": True})


def home_of(flow: str) -> int:
    """The home that a flow such as `web-12` begins at."""
    return int(flow.rpartition("-")[2])


def transfers(result: netlull.Result) -> list[tuple[float, int, int, str]]:
    """Start (s), home, bytes (0: endless) and end of each transfer, in the order of their starts."""
    table = result.series("request")
    columns = [table[name].to_pylist() for name in ("start_s", "flow", "size_bytes")]
    found = [(start, home_of(flow), size, "never") for start, flow, size in zip(*columns, strict=True)]
    for flow in result.scenario["flow"]:
        if flow["kind"] == "tcp":
            stop = str(flow.get("stop", "never")).removesuffix(" s")
            found.append((result.flow(flow["name"])["start_s"], home_of(flow["name"]), 0, stop))
    return sorted(found)


def numbers_of(result: netlull.Result) -> Numbers:
    """The measures, of a run of netlull."""
    times = [time for time in result.series("request")["completion_s"].to_pylist() if time is not None]
    uplinks = [link for link in result.summary["links"] if link["to"] == "access" and link["from"].startswith("h")]
    throughput = {
        f"{phase}_throughput_bps": result.metric(f"phase.{phase}.link.{ROUTER}.throughput_bps") for phase in PHASES
    }
    return throughput | {
        "goodput_bps": result.metric("goodput_bps"),
        "node_drops": result.metric(f"phase.bottleneck.link.{NODE}.dropped_packets"),
        "node_queue_packets": result.metric(f"phase.squeezed.link.{NODE}.mean_queue_packets"),
        "uplink_drops": sum(link["dropped_packets"] for link in uplinks),
        "retransmissions": sum(flow["retransmissions"] for flow in result.summary["flows"]),
        "timeouts": sum(flow["timeouts"] for flow in result.summary["flows"]),
        "files_completed": len(times),
        "mean_completion_s": statistics.fmean(times),
    }


def numbers_of_ns2(printed: Numbers) -> Numbers:
    """The measures, of the counters that homes.tcl prints at each edge."""

    def between(counter: str, edges: tuple[float, float]) -> float:
        first, last = (printed[f"{edge:g}.{counter}"] for edge in edges)
        return last - first

    def rate(counter: str, edges: tuple[float, float]) -> float:
        return between(counter, edges) / (edges[1] - edges[0])

    measured = (WARM_UP_S, END_S)
    completed = printed[f"{END_S:g}.completed"]
    throughput = {f"{name}_throughput_bps": 8 * rate("router.bytes", phase) for name, phase in PHASES.items()}
    return throughput | {
        "goodput_bps": 8 * rate("goodput", measured),
        "node_drops": between("node.drops", BOTTLENECK),
        "node_queue_packets": rate("node.queue", PHASES["squeezed"]),
        "uplink_drops": between("uplink.drops", measured),
        "retransmissions": between("retransmitted", measured),
        "timeouts": between("timeouts", measured),
        "files_completed": completed,
        "mean_completion_s": printed[f"{END_S:g}.completion"] / completed,
    }


def run_ns2(case: str, seed: int) -> Numbers:
    """The same transfers in ns-2."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        for start, home, size, stop in transfers(scenario(case).run(seed=seed)):
            file.write(f"{start:.9f} {home} {size} {stop}\n")
        file.flush()
        frame = {"duration": END_S + 0.001, "packet": 1000, "window": WINDOW_SEGMENTS, "buffer": 100}
        edges = ",".join(f"{edge:g}" for edge in EDGES)
        return numbers_of_ns2(
            run_script("homes.tcl", frame | {"transfers": file.name, "steps": STEPS[case], "edges": edges})
        )


def store() -> None:
    """Runs ns-2 and keeps what it gave."""
    jobs = [(case, seed) for case in CASES for seed in SEEDS]
    lines = [
        "# ns-2.35, homes.tcl; written by homes.py --rerun. Transfers of the list that netlull draws with the same seed.",
        f"# case | seed | {' | '.join(MEASURES)}",
    ]
    for (case, seed), numbers in zip(jobs, in_parallel(lambda job: run_ns2(*job), jobs), strict=True):
        lines.append(f"{case} | {seed} | {' | '.join(f'{numbers[name]:.6g}' for name in MEASURES)}")
    STORED.write_text("\n".join(lines) + "\n")


def read_stored(path: Path = STORED) -> dict[tuple[str, int], Numbers]:
    """What ns-2 gave when it last ran, by case and seed."""
    found = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            case, seed, *values = (field.strip() for field in line.split("|"))
            found[case, int(seed)] = {name: float(value) for name, value in zip(MEASURES, values, strict=True)}
    return found


def compared(case: str, stored: dict[tuple[str, int], Numbers]) -> Iterator[tuple[str, bool]]:
    """A line for each measure, and whether it is within tolerance."""
    document = scenario(case)
    ours = in_parallel(lambda seed: numbers_of(document.run(seed=seed)), SEEDS)
    theirs = [stored[case, seed] for seed in SEEDS]
    for name, measure in MEASURES.items():
        if measure.only in ("", case):
            gaps = [mine[name] - other[name] for mine, other in zip(ours, theirs, strict=True)]
            mean = statistics.fmean(other[name] for other in theirs)
            gap, error = statistics.fmean(gaps), statistics.stdev(gaps) / math.sqrt(len(gaps))
            fits = abs(gap) <= 3 * error + measure.tolerance * mean
            line = f"{case:<12}{name:<26}{mean:>12.6g}{mean + gap:>12.6g}{gap / mean:>+9.2%} +- {error / mean:.2%}"
            yield f"{line}{'' if fits else '  OUT OF TOLERANCE'}", fits


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rerun", action="store_true", help="run ns-2 and rewrite the stored results first")
    if parser.parse_args(arguments).rerun:
        try:
            store()
        except Ns2Error as error:
            print(error, file=sys.stderr)
            return 2
    stored = read_stored()
    holds = True
    print(f"{'case':<12}{'measure':<26}{'ns-2':>12}{'netlull':>12}{'difference':>11}")
    for case in CASES:
        for line, fits in compared(case, stored):
            holds = holds and fits
            print(line)
    print("all within tolerance" if holds else "OUT OF TOLERANCE")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
