"""Compares a crowd of 100 flows with ns-2: `python validation/ns2/crowd.py [--rerun] [--quick]`.

The dumb-bell of client-centered-2004 (Figs. 8 and 9) with standard flows alone, the reference of that paper's
losses and throughputs: 100 NewReno transfers over 100 Mb/s, buffers of half, one and two bandwidth-delay products.
Flows start one after another, with another interval in each run. ns-2's results are in `stored/crowd.txt`; `--rerun`
runs ns-2 first and rewrites the file. Exits 1 if a mean over the runs is out of tolerance.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agents import tcp_options
from ns2 import HERE, Numbers, Value, Verdict, in_parallel, run_comparison, run_script
from run import MSS_BYTES, milliseconds

from netlull.results.entries import jain

STORED = HERE / "stored" / "crowd.txt"
FLOWS, WINDOW = 100, 10_000
DURATION_S = 30.0
BUFFERS = {"0.5": 250, "1": 500, "2": 1000}
"""Waiting packets at the bottleneck, by bandwidth-delay products."""
STAGGERS = (0.0197, 0.0143, 0.0171, 0.0113)
"""Seconds between two starts, a run for each."""
QUICK = 2
TOLERANCES = {"goodput_bps": 0.01, "lost": 0.05, "segments_retransmitted": 0.05, "timeouts": 0.10, "jain": 0.03}
"""Relative tolerances of means over runs, in addition to three standard errors of the difference."""


@dataclass(frozen=True)
class Run:
    """A buffer and a time between starts."""

    buffer: str
    stagger: float

    @property
    def name(self) -> str:
        """The beginning of its line in `stored/crowd.txt`."""
        return f"{self.buffer} {self.stagger:g}"

    @property
    def options(self) -> dict[str, Value]:
        """Options of crowd.tcl."""
        return {"buffer": BUFFERS[self.buffer], "stagger": self.stagger, "duration": DURATION_S, "window": WINDOW}


def runs(quick: bool = False) -> list[Run]:
    """All runs, or some of each buffer."""
    return [Run(buffer, stagger) for buffer in BUFFERS for stagger in STAGGERS[: QUICK if quick else None]]


def store() -> None:
    """Runs ns-2 and rewrites the stored results."""
    wanted = runs()
    found = in_parallel(lambda run: run_script("crowd.tcl", run.options), wanted)
    lines = [
        "# ns-2.35, crowd.tcl; written by crowd.py --rerun",
        f"# buffer (BDP), stagger (s), {', '.join(TOLERANCES)}",
    ]
    for run, numbers in zip(wanted, found, strict=True):
        lines.append(f"{run.name} " + " ".join(f"{numbers[name]:.10g}" for name in TOLERANCES))
    STORED.write_text("\n".join(lines) + "\n")


def read_stored() -> dict[str, Numbers]:
    """The stored results of ns-2, by the names of the runs."""
    rows = [line.split() for line in STORED.read_text().splitlines() if not line.startswith("#")]
    return {" ".join(row[:2]): dict(zip(TOLERANCES, map(float, row[2:]), strict=True)) for row in rows}


def scenario(run: Run) -> dict[str, Any]:
    """The run in netlull's schema."""
    window = f"{WINDOW * MSS_BYTES} B"

    def link(start: str, end: str, rate: str, delay: str, buffer: str = "unlimited") -> dict[str, Any]:
        return {"from": start, "to": end, "rate": rate, "delay": delay, "buffer": buffer}

    links = [
        link("server", "N1", "1 Gb/s", "0 ms") | {"duplex": True},
        link("N1", "N2", "100 Mb/s", "20 ms", f"{BUFFERS[run.buffer]} packets"),
        link("N2", "N1", "100 Mb/s", "20 ms"),
    ]
    flows = []
    for flow in range(FLOWS):
        delay_ns = 5_000_000 + round(10_000_000 * ((37 * flow) % 100) / 99)
        links.append(link("N2", f"sink{flow}", "20 Mb/s", f"{delay_ns} ns") | {"duplex": True})
        one = {"kind": "tcp", "name": f"flow{flow}", "from": "server", "to": f"sink{flow}"}
        flows.append(one | {"start": milliseconds(flow * run.stagger)})
    return {
        "name": f"crowd-{run.name.replace(' ', '-')}",
        "duration": milliseconds(DURATION_S),
        "nodes": ["server", "N1", "N2", *(f"sink{flow}" for flow in range(FLOWS))],
        "link": links,
        "flow": flows,
        "tcp": tcp_options("new_reno") | {"receive_buffer": window, "initial_ssthresh": window},
    }


def run_netlull(run: Run) -> Numbers:
    """Runs the scenario through the public API."""
    from netlull import Scenario

    summary = Scenario.from_dict(scenario(run)).run(seed=1).summary
    goodputs = [float(flow["goodput_bps"]) for flow in summary["flows"]]
    return {
        "goodput_bps": sum(goodputs),
        "lost": next(link["dropped_packets"] for link in summary["links"] if link["name"] == "N1-N2"),
        "segments_retransmitted": sum(flow["retransmissions"] for flow in summary["flows"]),
        "timeouts": sum(flow["timeouts"] for flow in summary["flows"]),
        "jain": jain(goodputs),
    }


def compared(name: str, theirs: Sequence[Numbers], ours: Sequence[Numbers]) -> Verdict:
    """A quantity of one buffer: means over the runs."""
    pair = [[run[name] for run in side] for side in (theirs, ours)]
    means = [statistics.fmean(values) for values in pair]
    error = math.sqrt(sum(statistics.variance(values) / len(values) for values in pair))
    fits = abs(means[1] - means[0]) <= TOLERANCES[name] * means[0] + 3 * error
    line = f"  {name:24}{means[0]:14.6g}{means[1]:14.6g}"
    line += f"{100 * (means[1] / means[0] - 1):+8.1f} %  +- {100 * error / means[0]:.1f}"
    return f"{line}{'' if fits else '  OUT OF TOLERANCE'}", fits


def compare(quick: bool) -> Iterator[Verdict]:
    """The table."""
    stored = read_stored()
    wanted = runs(quick)
    found = dict(zip(wanted, in_parallel(run_netlull, wanted), strict=True))
    for buffer in BUFFERS:
        yield f"{buffer} BDP: ns-2, netlull, difference and its standard error in %", True
        chosen = [run for run in wanted if run.buffer == buffer]
        for name in TOLERANCES:
            yield compared(name, [stored[run.name] for run in chosen], [found[run] for run in chosen])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    quick = f"the first {QUICK} runs of each buffer"
    return run_comparison(__doc__, store, compare, arguments, quick=quick)


if __name__ == "__main__":
    sys.exit(main())
