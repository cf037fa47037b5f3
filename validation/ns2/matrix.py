"""Long-run goodput of every TCP of ns-2 beside netlull's: `python validation/ns2/matrix.py [AGENT ...]`.

1, 2 and 20 flows on 10 Mb/s with a round trip of 50 ms and buffers of 0.25, 1 and 2 bandwidth-delay products. A cell is
the mean over starting patterns: where flows compete, a packet's difference is soon another order of losses, in ns-2 too, and
the spread between patterns says how much that is. ns-2's goodputs are read from `stored/matrix.txt`; with `--rerun` ns-2 runs
again and it is rewritten first. Exits 1 if a cell differs by more than 2 %.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ns2 import HERE, Ns2Error, Value, in_parallel, run_script
from run import milliseconds, network
from traces import AGENTS, MSS_BYTES, tcp_options

STORED = HERE / "stored" / "matrix.txt"
ALLOWED = 0.02
DURATION_S = 200
# Half, one and two bandwidth-delay products are 21, 42 and 83 packets of 1500 B.
BUFFERS = {"0.25 BDP": 10, "1 BDP": 42, "2 BDP": 83}
# Seconds from the start of one flow to that of the next: one run each.
STAGGERS: dict[int, tuple[float, ...]] = {
    1: (0.0,),
    2: (3.07, 3.71, 4.37, 5.03),
    20: (0.137, 0.149, 0.163, 0.179),
}
WINDOW = 10_000
SSTHRESH = 1000


@dataclass(frozen=True)
class Run:
    """One run of either simulator."""

    agent: str
    flows: int
    buffer: str
    stagger: float

    @property
    def options(self) -> dict[str, Value]:
        """Options of traces.tcl, of which `run.network` takes its own."""
        packets = BUFFERS[self.buffer]
        # To Agent/TCP/Linux the first ssthresh is also the largest window that it ever uses.
        ssthresh = WINDOW if self.agent.startswith("linux-") else SSTHRESH
        return {
            "flows": self.flows,
            "stagger": self.stagger,
            "duration": DURATION_S,
            "buffer": packets,
            "buffer_n2": packets,
            "window": WINDOW,
            "ssthresh": ssthresh,
        }


Cell = tuple[str, int, str]
"""Agent, flows, buffer."""


def runs_of(agents: Iterable[str]) -> dict[Cell, list[Run]]:
    """The runs of each cell."""
    return {
        (agent, flows, buffer): [Run(agent, flows, buffer, stagger) for stagger in staggers]
        for agent in agents
        for flows, staggers in STAGGERS.items()
        for buffer in BUFFERS
    }


def run_ns2(run: Run) -> float:
    """Goodput of all flows in bit/s."""
    numbers = run_script("traces.tcl", run.options | {"agent": run.agent})
    return sum(value for name, value in numbers.items() if name.endswith("goodput_bps"))


def scenario(run: Run) -> dict[str, Any]:
    """The run in netlull's schema."""
    common: dict[str, Value] = {"rate": 10e6, "rate_n2": 10e6, "rate_access": 100e6, "delay_access": 0.0}
    nodes, links = network(common | {"delay_n1": 0.0125, "delay_n2": 0.0125} | run.options)
    flows = [
        {
            "kind": "tcp",
            "name": f"flow{flow}",
            "from": f"source{flow}",
            "to": f"sink{flow}",
            "start": milliseconds(flow * run.stagger),
        }
        for flow in range(run.flows)
    ]
    windows = {
        "receive_buffer": f"{WINDOW * MSS_BYTES} B",
        "initial_ssthresh": f"{int(run.options['ssthresh']) * MSS_BYTES} B",
    }
    tcp = tcp_options(run.agent) | windows
    return {"duration": f"{DURATION_S} s", "nodes": nodes, "link": links, "flow": flows, "tcp": tcp}


def run_netlull(run: Run) -> float:
    """Goodput of all flows in bit/s."""
    from netlull import Scenario

    flows = Scenario.from_dict(scenario(run)).run(seed=1).summary["flows"]
    return float(sum(flow["goodput_bps"] for flow in flows))


def store(agents: Sequence[str]) -> None:
    """Runs ns-2 and keeps what it gave; what other agents gave stays."""
    found = {cell: values for cell, values in (read_stored() if STORED.exists() else {}).items() if cell[0] not in agents}
    cells = runs_of(agents)
    goodputs = iter(in_parallel(run_ns2, [run for runs in cells.values() for run in runs]))
    found |= {cell: [next(goodputs) for _ in runs] for cell, runs in cells.items()}
    lines = [
        "# ns-2.35, traces.tcl: goodput of all flows (Mb/s), a column per starting pattern; written by matrix.py --rerun",
        *(f"{agent:16}{flows:3} flows  {buffer:9}" + "".join(f" {1e-6 * value:.6f}" for value in values)
          for (agent, flows, buffer), values in sorted(found.items(), key=lambda item: AGENTS.index(item[0][0]))),
    ]
    STORED.write_text("\n".join(lines) + "\n")


def read_stored() -> dict[Cell, list[float]]:
    """What ns-2 gave when it last ran."""
    found: dict[Cell, list[float]] = {}
    for line in STORED.read_text().splitlines():
        if not line.startswith("#"):
            agent, flows, _, buffer, unit, *values = line.split()
            found[agent, int(flows), f"{buffer} {unit}"] = [1e6 * float(value) for value in values]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="*", metavar="AGENT", help=f"of {', '.join(AGENTS)}; default all")
    parser.add_argument("--rerun", action="store_true", help="run ns-2 and rewrite the stored results first")
    chosen = parser.parse_args(arguments)
    agents = chosen.agents or AGENTS
    if chosen.rerun:
        try:
            store(agents)
        except Ns2Error as error:
            print(error, file=sys.stderr)
            return 2
    stored = read_stored()
    holds = True
    print(f"{'goodput, Mb/s':16}{'flows':>6}  {'buffer':9}{'ns-2':>18}{'netlull':>18}{'difference':>12}")
    for cell, runs in runs_of(agents).items():
        theirs, ours = stored[cell], [run_netlull(run) for run in runs]
        difference = statistics.mean(ours) / statistics.mean(theirs) - 1
        fits = abs(difference) <= ALLOWED
        holds = holds and fits
        columns = "".join(f"{1e-6 * statistics.mean(v):>9.4f} +-{1e-6 * statistics.pstdev(v):>6.3f}" for v in (theirs, ours))
        verdict = "" if fits else "  OUT OF TOLERANCE"
        print(f"{cell[0]:16}{cell[1]:>6}  {cell[2]:9}{columns}{difference:>+12.2%}{verdict}", flush=True)
    print("all within tolerance" if holds else "OUT OF TOLERANCE")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
