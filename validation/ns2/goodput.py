"""Compares long runs of every TCP of ns-2 with netlull's: `python validation/ns2/goodput.py [AGENT ...]`.

The cells of `goodput.toml` (agents, numbers of flows, buffers) run in netlull and are compared with ns-2's runs in
`stored/goodput.txt`: goodput, retransmissions, timeouts and Jain's index, as means over runs with different starts.
Exits 1 if the goodput of a cell is out of tolerance and `goodput.toml` gives no reason. `--rerun` runs ns-2 first and
rewrites the stored runs. `--quick` takes only the first runs of each cell.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from agents import AGENTS, tcp_options
from ns2 import HERE, Ns2Error, StoredError, Value, in_parallel, named, run_script, stored_lines, verdict
from run import MSS_BYTES, milliseconds, network

from netlull.results.entries import jain

STORED = HERE / "stored" / "goodput.txt"
DOCUMENT = tomllib.loads((HERE / "goodput.toml").read_text())
COLUMNS = ("goodput_bps", "segments_sent", "segments_retransmitted", "timeouts", "jain")

Counts = Mapping[str, float]
"""The counters of a run, by the names of `COLUMNS`."""


@dataclass(frozen=True)
class Cell:
    """An agent, a number of flows, and a buffer in bandwidth-delay products."""

    agent: str
    flows: int
    buffer: str

    @property
    def staggers(self) -> list[float]:
        """The time between starts, for each run."""
        return [float(stagger) for stagger in DOCUMENT["staggers"][str(self.flows)]]

    @property
    def reason(self) -> str | None:
        """The reason for a larger difference."""
        for entry in DOCUMENT.get("reason", []):
            if (entry["agent"], entry["flows"], entry["buffer"]) == (self.agent, self.flows, self.buffer):
                return str(entry["why"])
        return None


@dataclass(frozen=True)
class Run:
    """A run of a cell."""

    cell: Cell
    stagger: float

    @property
    def name(self) -> str:
        """The beginning of its line in `stored/goodput.txt`."""
        return f"{self.cell.agent} {self.cell.flows} {self.cell.buffer} {self.stagger:g}"

    @property
    def options(self) -> dict[str, Value]:
        """Options of common.tcl."""
        own = {"flows": self.cell.flows, "stagger": self.stagger, "buffer": DOCUMENT["buffers"][self.cell.buffer]}
        return dict(DOCUMENT["defaults"]) | own


def cells(agents: Sequence[str]) -> Iterator[Cell]:
    """The matrix of cells."""
    for agent in agents:
        for flows in DOCUMENT["staggers"]:
            for buffer in DOCUMENT["buffers"]:
                yield Cell(agent, int(flows), buffer)


# -------------------------------------------------------------------------------------------------------------- ns-2


def run_ns2(run: Run) -> Counts:
    """A run of goodput.tcl."""
    return run_script("goodput.tcl", run.options | {"agent": run.cell.agent})


def described() -> str:
    """The common options of all runs."""
    buffers = " ".join(f"{name}={packets}" for name, packets in DOCUMENT["buffers"].items())
    return (
        " ".join(f"{name}={value:g}" for name, value in sorted(DOCUMENT["defaults"].items())) + f"; buffers {buffers}"
    )


def rerun() -> None:
    """Runs ns-2 and stores its results."""
    runs = [Run(cell, stagger) for cell in cells(AGENTS) for stagger in cell.staggers]
    lines = [
        "# ns-2.35, goodput.tcl; written by goodput.py --rerun",
        f"# options {described()}",
        f"# agent, flows, buffer (bandwidth-delay products), stagger (s), {', '.join(COLUMNS)}",
    ]
    for run, counts in zip(runs, in_parallel(run_ns2, runs), strict=True):
        lines.append(
            f"{run.name} " + " ".join(f"{counts[name]:.10g}" for name in COLUMNS[:-1]) + f" {counts['jain']:.4f}"
        )
    STORED.write_text("\n".join(lines) + "\n")


def read_stored() -> dict[str, Counts]:
    """The stored results of ns-2, by the names of the runs.

    Raises:
        StoredError: there are none, or they are of other options.
    """
    found = {}
    for line in stored_lines(STORED, f"# options {described()}", "goodput.toml"):
        fields = line.split()
        if not line.startswith("#"):
            found[" ".join(fields[:4])] = dict(zip(COLUMNS, map(float, fields[4:]), strict=True))
    return found


# ----------------------------------------------------------------------------------------------------------- netlull


def scenario(run: Run) -> dict[str, Any]:
    """The run in netlull's schema."""
    nodes, links = network(run.options)
    flows = [
        {
            "kind": "tcp",
            "name": f"flow{flow}",
            "from": f"source{flow}",
            "to": f"sink{flow}",
            "start": milliseconds(flow * run.stagger),
        }
        for flow in range(run.cell.flows)
    ]
    window = f"{int(run.options['window']) * MSS_BYTES} B"
    return {
        "name": run.name.replace(" ", "-"),
        "duration": milliseconds(run.options["duration"]),
        "nodes": nodes,
        "link": links,
        "flow": flows,
        "tcp": tcp_options(run.cell.agent) | {"receive_buffer": window, "initial_ssthresh": window},
    }


def run_netlull(run: Run) -> Counts:
    """Runs the scenario through the public API."""
    from netlull import Scenario

    flows = [one for one in Scenario.from_dict(scenario(run)).run(seed=1).summary["flows"] if one["kind"] == "tcp"]
    goodputs = [float(flow["goodput_bps"]) for flow in flows]
    return {
        "goodput_bps": sum(goodputs),
        # Without the SYN.
        "segments_sent": sum(flow["packets_sent"] - 1 for flow in flows),
        "segments_retransmitted": sum(flow["retransmissions"] for flow in flows),
        "timeouts": sum(flow["timeouts"] for flow in flows),
        "jain": jain(goodputs),
    }


# ----------------------------------------------------------------------------------------------------------- verdict


@dataclass(frozen=True)
class Row:
    """A cell of both simulators."""

    cell: Cell
    ns2: Sequence[Counts]
    netlull: Sequence[Counts]

    @property
    def difference(self) -> float:
        """The relative difference of the mean goodputs."""
        return mean(self.netlull, "goodput_bps") / mean(self.ns2, "goodput_bps") - 1

    @property
    def error(self) -> float:
        """Standard error of the difference, relative; NaN for a single run."""
        if len(self.ns2) < 2:
            return math.nan
        squares = sum(statistics.variance(run["goodput_bps"] for run in runs) for runs in (self.ns2, self.netlull))
        return math.sqrt(squares / len(self.ns2)) / mean(self.ns2, "goodput_bps")

    @property
    def verdict(self) -> str:
        """The verdict: within the tolerance, out of it with a reason, or without one."""
        if abs(self.difference) <= DOCUMENT["tolerance"]:
            return "ok"
        return "listed" if self.cell.reason else "NOT MET"


def mean(runs: Sequence[Counts], name: str) -> float:
    """The mean of one column over the runs."""
    return statistics.fmean(run[name] for run in runs)


def line(row: Row) -> str:
    """A row of the table."""
    ours, theirs = row.netlull, row.ns2
    error = "-" if math.isnan(row.error) else f"{100 * row.error:.2f}"
    shown = f"  {row.cell.flows:5}{row.cell.buffer:>8}{len(ours):6}"
    shown += f"{mean(theirs, 'goodput_bps') / 1e6:9.4f}{mean(ours, 'goodput_bps') / 1e6:9.4f}"
    shown += f"{100 * row.difference:+8.2f}{error:>7}"
    for name in ("segments_retransmitted", "timeouts"):
        shown += f"{mean(theirs, name):9.1f}{mean(ours, name):9.1f}"
    return f"{shown}{mean(theirs, 'jain'):7.3f}{mean(ours, 'jain'):8.3f}  {row.verdict}"


HEAD = (
    f"  {'flows':>5}{'buffer':>8}{'runs':>6}{'goodput':>9}{'':9}{'diff':>8}{'error':>7}"
    f"{'retransmitted':>16}{'':2}{'timeouts':>16}{'':2}{'Jain':>7}\n"
    f"  {'':5}{'BDP':>8}{'':6}{'ns-2':>9}{'netlull':>9}{'%':>8}{'%':>7}"
    f"{'ns-2':>9}{'netlull':>9}{'ns-2':>9}{'netlull':>9}{'ns-2':>7}{'netlull':>8}"
)
"""The heading: goodput in Mb/s, counts per run, the standard error of the difference."""


def table(agent: str, rows: Sequence[Row]) -> str:
    """All rows of an agent, with the reasons below."""
    lines = [f"{agent}: goodput in Mb/s, the rest per run", HEAD, *map(line, rows)]
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict == "listed":
            reasons.setdefault(str(row.cell.reason), []).append(f"{row.cell.flows} at {row.cell.buffer}")
    lines += [f"  {', '.join(named)}: {why}" for why, named in reasons.items()]
    return "\n".join(lines) + "\n"


def compare(cell: Cell, stored: Mapping[str, Counts], quick: bool) -> Row:
    """A cell's runs in netlull next to ns-2's."""
    chosen = cell.staggers[: DOCUMENT["quick"][str(cell.flows)]] if quick else cell.staggers
    runs = [Run(cell, stagger) for stagger in chosen]
    return Row(cell, [stored[run.name] for run in runs], [run_netlull(run) for run in runs])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"of {', '.join(AGENTS)}; default all")
    parser.add_argument("--quick", action="store_true", help="the first runs of each cell only")
    parser.add_argument("--rerun", action="store_true", help="run ns-2 and rewrite the stored results first")
    chosen = parser.parse_args(arguments)
    agents = named(parser, chosen.agents, AGENTS)
    try:
        if chosen.rerun:
            rerun()
        stored = read_stored()
    except (Ns2Error, StoredError) as error:
        print(error, file=sys.stderr)
        return 2
    holds = True
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for agent in agents:
            rows = list(pool.map(partial(compare, stored=stored, quick=chosen.quick), cells([agent])))
            print(table(agent, rows), flush=True)
            holds = holds and all(row.verdict != "NOT MET" for row in rows)
    return verdict(holds=holds)


if __name__ == "__main__":
    sys.exit(main())
