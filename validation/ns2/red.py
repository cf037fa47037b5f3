"""Compares RED with ns-2's: `python validation/ns2/red.py [--rerun]`.

Loss and mean queue of one link under random traffic, as means over seeds: the two simulators draw different numbers.
ns-2's results are read from `stored/red.txt`. With `--rerun` ns-2 runs first and the file is rewritten. Exits 1 if a
mean differs by more than three standard errors of the difference and half a percent (`SLACK`).
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ns2 import HERE, Numbers, Value, Verdict, in_parallel, run_comparison, run_script

STORED = HERE / "stored" / "red.txt"
SEEDS = range(1, 17)
MEASURES = ("loss", "mean_queue")
SLACK = 0.005
# With few flows the queue holds the part of the windows beyond the path's 43 packets: 0.2 % of 53 is 1 % of 10.
SLACK_OF = {("three NewReno flows", "mean_queue"): 0.015}
WARM_UP_S = 10
DURATION_S = 310

CASES: dict[str, dict[str, Value]] = {
    "poisson at 1.1 of the rate, gentle": {"traffic": "poisson", "load": 1.1},
    "poisson at 1.1 of the rate, not gentle": {"traffic": "poisson", "load": 1.1, "gentle": 0},
    "poisson at 0.95 of the rate, quick average": {"traffic": "poisson", "load": 0.95, "weight": 0.05, "min_th": 5},
    "twenty NewReno flows": {"traffic": "tcp", "flows": 20},
    "three NewReno flows": {"traffic": "tcp", "flows": 3},
}


@dataclass(frozen=True)
class Mean:
    """A mean over seeds and its standard error."""

    value: float
    error: float


def means(runs: Sequence[Numbers]) -> dict[str, Mean]:
    """Each measure over the runs."""
    root = math.sqrt(len(runs))
    columns = {name: [run[name] for run in runs] for name in MEASURES}
    return {name: Mean(statistics.mean(c), statistics.stdev(c) / root) for name, c in columns.items()}


def run_ns2(options: dict[str, Value]) -> dict[str, Mean]:
    """Means of ns-2."""
    frame: dict[str, Value] = {"duration": DURATION_S, "warm_up": WARM_UP_S}
    return means(in_parallel(lambda seed: run_script("red.tcl", frame | options | {"seed": seed}), SEEDS))


def scenario(options: dict[str, Value]) -> dict[str, Any]:
    """The network of red.tcl in netlull's schema."""
    low, high = options.get("min_th", 10), options.get("max_th", 30)
    queue = {
        "kind": "red",
        "rules": "ns2",
        "min_threshold": f"{low} packets",
        "max_threshold": f"{high} packets",
        "max_probability": 0.1,
        "weight": options.get("weight", 0.002),
        "gentle": bool(options.get("gentle", 1)),
    }
    link = {"rate": "10 Mb/s", "delay": "25 ms"}
    ends = {"from": "near", "to": "far"}
    if options["traffic"] == "poisson":
        flow = ends | {"kind": "poisson", "name": "p", "rate": f"{10 * float(options['load']):g} Mb/s"}
    else:
        tcp = {"preset": "ns2", "limited_transmit": False}
        flow = ends | {"kind": "tcp", "name": "t", "count": options["flows"], "jitter": "1 s", "tcp": tcp}
    return {
        "duration": f"{DURATION_S} s",
        "warm_up": f"{WARM_UP_S} s",
        "nodes": ["near", "far"],
        "link": [
            link | ends | {"buffer": "1000 packets", "queue": queue},
            link | {"from": "far", "to": "near", "buffer": "unlimited"},
        ],
        "flow": [flow],
    }


def run_netlull(options: dict[str, Value]) -> dict[str, Mean]:
    """Means of netlull."""
    from netlull import Scenario

    document = Scenario.from_dict(scenario(options))
    runs = []
    for seed in SEEDS:
        link = document.run(seed=seed).link("near-far")
        runs.append({"loss": link["drop_fraction"], "mean_queue": link["mean_queue_packets"]})
    return means(runs)


def store() -> None:
    """Runs ns-2 and stores its results."""
    lines = [f"# ns-2.35, red.tcl; means over {len(SEEDS)} seeds and their standard errors; written by red.py --rerun"]
    for case, options in CASES.items():
        for name, mean in run_ns2(options).items():
            lines.append(f"{case} | {name} | {mean.value:.6g} | {mean.error:.3g}")
    STORED.write_text("\n".join(lines) + "\n")


def read_stored() -> dict[tuple[str, str], Mean]:
    """The stored results of ns-2."""
    found = {}
    for line in STORED.read_text().splitlines():
        if not line.startswith("#"):
            case, name, value, error = (field.strip() for field in line.split("|"))
            found[case, name] = Mean(float(value), float(error))
    return found


def table(_quick: bool) -> Iterator[Verdict]:
    """Loss and mean queue of every case."""
    stored = read_stored()
    yield f"{'case':<44}{'measure':<12}{'ns-2':>22}{'netlull':>22}{'difference':>12}", True
    for case, options in CASES.items():
        for name, mean in run_netlull(options).items():
            other = stored[case, name]
            slack = SLACK_OF.get((case, name), SLACK) * other.value
            fits = abs(mean.value - other.value) <= 3 * math.hypot(mean.error, other.error) + slack
            columns = "".join(f"{m.value:>13.5g} +- {m.error:<5.1g}" for m in (other, mean))
            share = mean.value / other.value - 1
            yield f"{case:<44}{name:<12}{columns}{share:>+11.2%}{'' if fits else '  OUT OF TOLERANCE'}", fits


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    return run_comparison(__doc__, store, table, arguments)


if __name__ == "__main__":
    sys.exit(main())
