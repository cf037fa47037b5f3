"""Compares the homes of the G-Router paper, without a gateway, with ns-2: `python validation/ns2/homes.py [--rerun]`.

The experiments `case1-over` and `case2-none` of the paper g-router: homes with endless transfers and web files behind
uplinks of 1 Mb/s, and an Internet node with 15 of its 100 Mb/s from 300 to 600 s. netlull draws the starts of transfers
and the sizes of files; ns-2 takes the same list. ns-2's results are read from `stored/homes.txt`. With `--rerun` ns-2
runs first and the file is rewritten. `--quick` takes fewer seeds. Exits 1 if a mean is out of its tolerance.

Comparisons: "plain" has each simulator with its defaults. In the others, a lost SYN does not lower ns-2's windows, as
in netlull (RFC 6928 section 2). "alike" has files in whole segments in netlull, as in ns-2. "spread" has uplinks of
0.95 to 1.05 Mb/s: packets of homes do not keep their order in the Internet node's queue.
"""

from __future__ import annotations

import functools
import math
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ns2 import HERE, Numbers, Verdict, in_parallel, run_comparison, run_script

if TYPE_CHECKING:
    import netlull

STORED = HERE / "stored" / "homes.txt"
SWEEP = HERE.parents[1] / "python" / "netlull" / "shipped" / "papers" / "g-router" / "sweep.toml"
SEEDS = (1, 2, 3, 4, 5)
QUICK_SEEDS = 3
CASES = {"case1-over": ("plain", "alike"), "case2-none": ("plain", "alike", "spread")}
"""Experiments and their comparisons."""
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
"""The compared phases of the scenario, in seconds."""
BOTTLENECK = (300.0, 600.0)
EDGES = sorted({WARM_UP_S, END_S, *BOTTLENECK, *(edge for phase in PHASES.values() for edge in phase)})
SEGMENT_BYTES = 960
WINDOW_SEGMENTS = 65535 // SEGMENT_BYTES
"""Whole segments in the receiver's buffer: netlull's window is in bytes, ns-2's in packets."""


@dataclass(frozen=True)
class Measure:
    """The tolerance of two means: relative, in addition to three standard errors of the paired difference."""

    plain: float
    """Each simulator with its defaults."""
    alike: float
    """With known differences set alike, or without effect."""
    only: str = ""
    """The only experiment of this measure; empty for both."""


MEASURES = {
    "goodput_bps": Measure(0.01, 0.005),
    **{f"{phase}_throughput_bps": Measure(0.01, 0.005) for phase in PHASES},
    "node_drops": Measure(0.1, 0.03, only="case2-none"),
    "node_queue_packets": Measure(0.1, 0.03, only="case2-none"),
    "uplink_drops": Measure(0.1, 0.03),
    "retransmissions": Measure(0.1, 0.03),
    "timeouts": Measure(0.1, 0.03),
    "files_completed": Measure(0.01, 0.01),
    "mean_completion_s": Measure(0.1, 0.05),
}
LOST_SYN = {"plain": "ns2", "alike": "kept", "spread": "kept"}
"""ns-2's reaction to a lost SYN in each comparison."""
HOMES = 25


def uplink_rates(comparison: str) -> list[int]:
    """Rates of the homes' uplinks (bit/s). Neighbours in number are not neighbours in rate."""
    spread = 0.05 if comparison == "spread" else 0.0
    return [round(1e6 * (1 + spread * (7 * home % HOMES - 12) / 12)) for home in range(1, HOMES + 1)]


@functools.cache
def scenario(case: str, comparison: str) -> netlull.Scenario:
    """An experiment of the paper's sweep, with recorded requests."""
    from netlull import Sweep

    found = next(point.scenario for point in Sweep.from_file(SWEEP).points() if point.experiment == case)
    rates = {f"link.h{n}-access.rate": f"{rate} b/s" for n, rate in enumerate(uplink_rates(comparison), start=1)}
    return found.with_values(rates | {"probe.requests": True})


@dataclass(frozen=True)
class Transfer:
    """A transfer of a run, with ns-2's parameters."""

    start_s: float
    home: int
    size_bytes: int
    """Size of the file; 0: unlimited until `stop_s`."""
    stop_s: str = "never"

    def __str__(self) -> str:
        """A line of the input of homes.tcl."""
        return f"{self.start_s:.9f} {self.home} {self.size_bytes} {self.stop_s}"

    def flow(self, name: str) -> dict[str, Any]:
        """The same transfer in netlull's schema, with a file in whole segments."""
        ends = {"kind": "tcp", "name": name, "from": f"h{self.home}", "to": "servers", "start": f"{self.start_s:.9f} s"}
        if self.size_bytes > 0:
            return ends | {"size": f"{math.ceil(self.size_bytes / SEGMENT_BYTES) * SEGMENT_BYTES} B"}
        return ends if self.stop_s == "never" else ends | {"stop": f"{self.stop_s} s"}


def home_of(flow: str) -> int:
    """The home of a flow such as `web-12`."""
    return int(flow.rpartition("-")[2])


def transfers(result: netlull.Result) -> list[Transfer]:
    """The transfers of a run, in the order of their starts."""
    table = result.series("request")
    columns = [table[name].to_pylist() for name in ("start_s", "flow", "size_bytes")]
    found = [Transfer(start, home_of(flow), size) for start, flow, size in zip(*columns, strict=True)]
    for flow in result.scenario["flow"]:
        if flow["kind"] == "tcp":
            stop = str(flow.get("stop", "never")).removesuffix(" s")
            found.append(Transfer(result.flow(flow["name"])["start_s"], home_of(flow["name"]), 0, stop))
    return sorted(found, key=lambda transfer: transfer.start_s)


def in_whole_segments(case: str, listed: Sequence[Transfer]) -> netlull.Scenario:
    """The experiment with the transfers of a list, each as a separate flow."""
    from netlull import Scenario

    flows = [transfer.flow(f"{'web' if transfer.size_bytes else 'ftp'}-{n}") for n, transfer in enumerate(listed)]
    return Scenario.from_dict(scenario(case, "alike").to_dict() | {"flow": flows, "probe": {}})


def completions(result: netlull.Result) -> list[float]:
    """Completion times of the files of a run that completed (s)."""
    if "request" in result.series_names:
        found = result.series("request")["completion_s"].to_pylist()
    else:
        found = [flow["completion_time_s"] for flow in result.summary["flows"]]
    return [time for time in found if time is not None]


def numbers_of(result: netlull.Result) -> Numbers:
    """The measures of a run of netlull."""
    times = completions(result)
    links, flows = result.summary["links"], result.summary["flows"]
    throughput = {
        f"{phase}_throughput_bps": result.metric(f"phase.{phase}.link.{ROUTER}.throughput_bps") for phase in PHASES
    }
    return throughput | {
        "goodput_bps": result.metric("goodput_bps"),
        "node_drops": result.metric(f"phase.bottleneck.link.{NODE}.dropped_packets"),
        "node_queue_packets": result.metric(f"phase.squeezed.link.{NODE}.mean_queue_packets"),
        "uplink_drops": sum(
            link["dropped_packets"] for link in links if link["to"] == "access" and link["from"] != "internet"
        ),
        "retransmissions": sum(flow["retransmissions"] for flow in flows),
        "timeouts": sum(flow["timeouts"] for flow in flows),
        "files_completed": len(times),
        "mean_completion_s": statistics.fmean(times),
    }


@functools.cache
def drawn(case: str, comparison: str, seed: int) -> netlull.Result:
    """A run with the experiment's random draws."""
    return scenario(case, comparison).run(seed=seed)


def run_netlull(case: str, comparison: str, seed: int) -> Numbers:
    """The measures of one run."""
    # The comparison "alike" uses the transfers of the plain one.
    result = drawn(case, "plain" if comparison == "alike" else comparison, seed)
    if comparison == "alike":
        result = in_whole_segments(case, transfers(result)).run(seed=seed)
    return numbers_of(result)


def numbers_of_ns2(printed: Numbers) -> Numbers:
    """The measures, from the counters that homes.tcl prints at each edge."""

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


def run_ns2(case: str, comparison: str, seed: int) -> Numbers:
    """The same transfers in ns-2."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{transfer}\n" for transfer in transfers(scenario(case, comparison).run(seed=seed)))
        file.flush()
        frame = {"duration": END_S + 0.001, "packet": 1000, "window": WINDOW_SEGMENTS, "buffer": 100}
        edges = ",".join(f"{edge:g}" for edge in EDGES)
        demand = {"transfers": file.name, "steps": STEPS[case], "lost_syn": LOST_SYN[comparison]}
        uplinks = ",".join(map(str, uplink_rates(comparison)))
        return numbers_of_ns2(run_script("homes.tcl", frame | demand | {"edges": edges, "uplinks": uplinks}))


def store() -> None:
    """Runs ns-2 and stores its results."""
    jobs = [(case, comparison, seed) for case in CASES for comparison in CASES[case] for seed in SEEDS]
    lines = [
        "# ns-2.35, homes.tcl; written by homes.py --rerun. The transfers that netlull draws with the same seed.",
        f"# case | comparison | seed | {' | '.join(MEASURES)}",
    ]
    for job, numbers in zip(jobs, in_parallel(lambda job: run_ns2(*job), jobs), strict=True):
        lines.append(" | ".join([*map(str, job), *(f"{numbers[name]:.6g}" for name in MEASURES)]))
    STORED.write_text("\n".join(lines) + "\n")


def read_stored(path: Path = STORED) -> dict[tuple[str, str, int], Numbers]:
    """The stored results of ns-2, by case, comparison and seed."""
    found = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            case, comparison, seed, *values = (field.strip() for field in line.split("|"))
            found[case, comparison, int(seed)] = {
                name: float(value) for name, value in zip(MEASURES, values, strict=True)
            }
    return found


def compared(case: str, comparison: str, ours: Sequence[Numbers], theirs: Sequence[Numbers]) -> Iterator[Verdict]:
    """A line for each measure, with True if it is within tolerance."""
    for name, measure in MEASURES.items():
        if measure.only not in ("", case):
            continue
        gaps = [mine[name] - other[name] for mine, other in zip(ours, theirs, strict=True)]
        mean = statistics.fmean(other[name] for other in theirs)
        gap, error = statistics.fmean(gaps), statistics.stdev(gaps) / math.sqrt(len(gaps))
        tolerance = measure.plain if comparison == "plain" else measure.alike
        fits = abs(gap) <= 3 * error + tolerance * mean
        line = f"{case:<12}{comparison:<8}{name:<26}{mean:>12.6g}{mean + gap:>12.6g}"
        line += f"{gap / mean:>+9.2%} +- {error / mean:.2%}"
        yield f"{line}{'' if fits else '  OUT OF TOLERANCE'}", fits


def table(quick: bool) -> Iterator[Verdict]:
    """Every measure of every comparison."""
    stored = read_stored()
    seeds = SEEDS[:QUICK_SEEDS] if quick else SEEDS
    yield f"{'case':<12}{'':<8}{'measure':<26}{'ns-2':>12}{'netlull':>12}{'difference':>11}", True
    for case, comparisons in CASES.items():
        for comparison in comparisons:
            ours = in_parallel(functools.partial(run_netlull, case, comparison), seeds)
            yield from compared(case, comparison, ours, [stored[case, comparison, seed] for seed in seeds])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    quick = f"the first {QUICK_SEEDS} seeds of {len(SEEDS)}"
    return run_comparison(__doc__, store, table, arguments, quick=quick)


if __name__ == "__main__":
    sys.exit(main())
