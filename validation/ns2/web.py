"""Compares web load under practRA with ns-2: `python validation/ns2/web.py [--rerun]`.

Downloads of five sizes arrive as Poisson processes, each on a separate NewReno connection, at loads 0.5 and 0.8, with
and without practRA, with buffers of one and of half a bandwidth-delay product: the headline of intertwining-2012.
Its joint reading follows, at load 0.8: 36 ms of propagation, 29 waiting packets, rules tested once per 16 ms.
netlull draws the arrivals; ns-2 takes the same list. ns-2's results are read from `stored/web.txt`. With `--rerun` ns-2
runs first and the file is rewritten. Exits 1 if a mean over seeds is out of its tolerance.
"""

from __future__ import annotations

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

STORED = HERE / "stored" / "web.txt"
SEEDS = (1, 2, 3, 4)
DURATION_S, WARM_UP_S = 110, 10
CAPACITY_BPS = 10e6
SEGMENT_BYTES = 1460
CLASSES = {2: 0.45, 6: 0.35, 16: 0.15, 60: 0.045, 300: 0.005}
"""Segments of a download and its share: 9.6 segments, 14 kB, on average. ns-2 knows only whole segments."""

MEASURES = ("mean_completion_s", "p50_completion_s", "p95_completion_s", "completed", "mean_rate_bps", "rate_changes")
TOLERANCE = {
    "mean_completion_s": 0.05,
    "p50_completion_s": 0.07,
    "p95_completion_s": 0.08,
    "completed": 0.02,
    "mean_rate_bps": 0.02,
    "rate_changes": 0.05,
}
"""Relative tolerances, in addition to three standard errors of the paired difference: equal seeds, equal downloads.

The median's was 0.05 for a round trip of 50 ms. The FIN's round trip (README.md) is a larger share of 36 ms.
"""


@dataclass(frozen=True)
class Case:
    """A load, a buffer in packets, with or without practRA, the propagation both ways, and the tick of the rules."""

    load: float
    buffer: int
    control: bool
    propagation_ms: int = 50
    tick_ms: int = 0
    """0: the rules are tested at every event."""

    def __str__(self) -> str:
        """The name in tables and in the stored file."""
        path = "" if self.propagation_ms == 50 else f", {self.propagation_ms} ms"
        tick = f", tick {self.tick_ms} ms" if self.tick_ms else ""
        return f"load {self.load:g}, {self.buffer} packets{path}, {'TCP+PC' if self.control else 'TCPonly'}{tick}"

    @property
    def one_way_ms(self) -> int:
        """The delay of N1-N2; the links of servers and clients have 1 ms each."""
        return self.propagation_ms // 2 - 2


CASES = [
    *(Case(load, buffer, control) for load in (0.5, 0.8) for buffer in (42, 21) for control in (False, True)),
    Case(0.8, 29, control=False, propagation_ms=36),
    Case(0.8, 29, control=True, propagation_ms=36),
    Case(0.8, 29, control=True, propagation_ms=36, tick_ms=16),
]


def scenario(case: Case) -> dict[str, Any]:
    """The network of web.tcl in netlull's schema."""
    bottleneck: dict[str, Any] = {"from": "N1", "to": "N2", "rate": "10 Mb/s", "delay": f"{case.one_way_ms} ms"}
    if case.control:
        bottleneck["controller"] = {
            "kind": "practra",
            "rates": {"from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s"},
            "transition": "2 ms",
            "min_interval": "16 ms",
            "delay_bound": "40 ms",
        } | ({"tick": f"{case.tick_ms} ms"} if case.tick_ms else {})
    mean = sum(size * share for size, share in CLASSES.items())
    ends = [("source", "N1", "1 ms"), ("N2", "N3", "0 ms"), ("N3", "sink", "1 ms")]
    fast = {"rate": "1 Gb/s", "buffer": "unlimited"}
    links = [fast | {"from": a, "to": b, "delay": delay, "duplex": True} for a, b, delay in ends]
    back = {"from": "N2", "to": "N1", "rate": "10 Mb/s", "delay": f"{case.one_way_ms} ms", "buffer": "unlimited"}
    flows = [
        {
            "kind": "requests",
            "name": f"web{size}",
            "from": "source",
            "to": "sink",
            "offered": f"{case.load * CAPACITY_BPS * size * share / mean:.0f} b/s",
            "size": {"kind": "fixed", "size": f"{size * SEGMENT_BYTES} B"},
            "most_open": 100000,
        }
        for size, share in CLASSES.items()
    ]
    return {
        "duration": f"{DURATION_S} s",
        "warm_up": f"{WARM_UP_S} s",
        "nodes": ["source", "N1", "N2", "N3", "sink"],
        "tcp": {"preset": "ns2", "congestion_control": "new_reno"},
        "link": [bottleneck | {"buffer": f"{case.buffer} packets"}, back, *links],
        "flow": flows,
        "probe": {"requests": True},
    }


def run_netlull(case: Case, seed: int) -> netlull.Result:
    """A run."""
    from netlull import Scenario

    return Scenario.from_dict(scenario(case)).run(seed=seed)


def downloads(result: netlull.Result) -> list[tuple[float, int, float | None]]:
    """Start, segments and completion time (None without completion) of each, in the order of their starts."""
    table = result.series("request")
    columns = [table[name].to_pylist() for name in ("start_s", "size_bytes", "completion_s")]
    found = [(start, size // SEGMENT_BYTES, time) for start, size, time in zip(*columns, strict=True)]
    return sorted(found, key=lambda download: download[0])


def percentile(ordered: Sequence[float], share: float) -> float:
    """The percentile by nearest rank, as in web.tcl and in netlull's summaries."""
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def numbers_of(result: netlull.Result) -> Numbers:
    """The numbers of web.tcl for a run of netlull."""
    counted = [row for row in downloads(result) if row[0] >= WARM_UP_S]
    times = sorted(time for _, _, time in counted if time is not None)
    link = result.link("N1-N2")
    return {
        "started": len(counted),
        "completed": len(times),
        "mean_completion_s": statistics.fmean(times),
        "p50_completion_s": percentile(times, 0.50),
        "p95_completion_s": percentile(times, 0.95),
        "mean_rate_bps": link["mean_rate_bps"],
        "rate_changes": link["rate_changes"],
    }


def run_ns2(case: Case, seed: int) -> Numbers:
    """The same downloads in ns-2."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        for start, segments, _ in downloads(run_netlull(case, seed)):
            file.write(f"{start:.9f} {segments}\n")
        file.flush()
        fast = {"rate_access": 1e9, "rate_n2": 1e9, "buffer_n2": 1000000}
        delays = {"delay_access": 0.001, "delay_n1": case.one_way_ms / 1e3, "delay_n2": 0.0}
        frame = {"duration": DURATION_S, "warm_up": WARM_UP_S, "mrci": 0.016, "requests": file.name}
        control = {"buffer": case.buffer, "control": int(case.control), "tick": case.tick_ms / 1e3}
        return run_script("web.tcl", fast | delays | frame | control)


def store() -> None:
    """Runs ns-2 and stores its results."""
    jobs = [(case, seed) for case in CASES for seed in SEEDS]
    lines = [
        "# ns-2.35, web.tcl; written by web.py --rerun. Downloads of the list that netlull draws with the same seed.",
        f"# case | seed | {' | '.join(MEASURES)}",
    ]
    for (case, seed), numbers in zip(jobs, in_parallel(lambda job: run_ns2(*job), jobs), strict=True):
        lines.append(f"{case} | {seed} | {' | '.join(f'{numbers[name]:.6g}' for name in MEASURES)}")
    STORED.write_text("\n".join(lines) + "\n")


def read_stored(path: Path = STORED) -> dict[tuple[str, int], Numbers]:
    """The stored results of ns-2, by case and seed."""
    found = {}
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            case, seed, *values = (field.strip() for field in line.split("|"))
            found[case, int(seed)] = {name: float(value) for name, value in zip(MEASURES, values, strict=True)}
    return found


def compared(case: Case, stored: dict[tuple[str, int], Numbers]) -> Iterator[Verdict]:
    """A line for each measure, with True if it is within tolerance."""
    ours = [numbers_of(run_netlull(case, seed)) for seed in SEEDS]
    theirs = [stored[str(case), seed] for seed in SEEDS]
    for name in MEASURES:
        if name in ("mean_rate_bps", "rate_changes") and not case.control:
            continue
        gaps = [mine[name] - other[name] for mine, other in zip(ours, theirs, strict=True)]
        mean = statistics.fmean(other[name] for other in theirs)
        error = statistics.stdev(gaps) / math.sqrt(len(gaps))
        fits = abs(statistics.fmean(gaps)) <= 3 * error + TOLERANCE[name] * mean
        line = f"{case!s:<48}{name:<20}{mean:>14.6g}{mean + statistics.fmean(gaps):>14.6g}"
        line += difference(statistics.fmean(gaps), error, mean)
        yield f"{line}{'' if fits else '  OUT OF TOLERANCE'}", fits


def difference(gap: float, error: float, reference: float) -> str:
    """A difference and its standard error, relative to the reference, or absolute without one."""
    if reference == 0:
        return f"{gap:>+9.2g} +- {error:.2g}"
    return f"{gap / reference:>+9.2%} +- {error / reference:.2%}"


def table(_quick: bool) -> Iterator[Verdict]:
    """Every measure of every case."""
    stored = read_stored()
    yield f"{'case':<48}{'measure':<20}{'ns-2':>14}{'netlull':>14}{'difference':>11}", True
    for case in CASES:
        yield from compared(case, stored)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    return run_comparison(__doc__, store, table, arguments)


if __name__ == "__main__":
    sys.exit(main())
