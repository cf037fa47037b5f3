"""Time per packet-hop and peak of memory as flows are added, each row in a process of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from peers import weigh
from scenarios import growing

import netlull

# Flows, rate of the bottleneck in bit/s, simulated seconds, and with --quick.
ROWS = ((1, 10**9, 10, 1), (10, 10**9, 10, 1), (100, 10**9, 10, 1), (1_000, 10**9, 10, 1), (10_000, 10**9, 10, 1))
LARGE = (10_000, 10**10, 5, 1)


def table(*, quick: bool) -> Iterator[str]:
    """The lines of the table."""
    yield f"Growth on a dumb-bell, netlull {netlull.__version__}: CPU ns per packet-hop of the whole process"
    first = None
    for flows, rate_bps, duration_s, quick_s in (*ROWS, LARGE):
        seconds = quick_s if quick else duration_s
        command = [sys.executable, str(Path(__file__)), str(flows), str(rate_bps), str(seconds)]
        _, memory_mib, text = weigh(command)
        hops, cpu_s, goodput_bps, loss = (float(word) for word in text.split())
        cost = cpu_s * 1e9 / hops
        first = first or cost
        yield (
            f"  {flows:>6,} flows, {rate_bps // 10**9:>2} Gb/s, {seconds:>2} s: {cost:7.1f} ns "
            f" ({cost / first:.2f} times one flow)  {memory_mib:6.1f} MiB  {int(hops):>11,} packet-hops "
            f" goodput {goodput_bps / 1e6:8.1f} Mb/s  loss {100 * loss:6.3f} %"
        )


def main() -> int:
    """One row, in this process: packet-hops, CPU seconds, goodput in bit/s, loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flows", type=int)
    parser.add_argument("rate_bps", type=int)
    parser.add_argument("duration_s", type=float)
    given = parser.parse_args()
    from run import run_netlull

    network = growing(given.flows, given.rate_bps, given.duration_s)
    outcome = run_netlull(network)
    print(outcome.packet_hops, outcome.cpu_s, outcome.goodput_bps, outcome.loss(network))
    return 0


if __name__ == "__main__":
    sys.exit(main())
