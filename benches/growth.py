"""Time per packet-hop and peak memory for a growing number of flows, with a separate process per row."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from peers import weigh
from scenarios import growing

import netlull

GIGABIT = 10**9
# Flows, hosts on either side, rate of the bottleneck in bit/s, simulated seconds, and those with --quick.
ROWS = (
    (1, 1, GIGABIT, 20, 2),
    (10, 10, GIGABIT, 20, 2),
    (100, 100, GIGABIT, 20, 2),
    (1_000, 1_000, GIGABIT, 20, 2),
    (10_000, 10_000, GIGABIT, 20, 2),
    (10_000, 10_000, 10 * GIGABIT, 5, 1),
    (10_000, 100, GIGABIT, 20, 2),
    (10_000, 100, 10 * GIGABIT, 5, 1),
)


def table(*, quick: bool) -> Iterator[str]:
    """Yields the lines of the table."""
    yield (
        f"Growth on a dumb-bell, netlull {netlull.__version__}: CPU ns per packet-hop without set-up, set-up in s, "
        "ns of the whole; peak memory of the process, Python included"
    )
    first = None
    for flows, hosts, rate_bps, full_s, quick_s in ROWS:
        seconds = quick_s if quick else full_s
        _, text = weigh([sys.executable, __file__, *map(str, (flows, hosts, rate_bps, seconds))])
        hops, cpu_s, set_up_s, memory_mib, goodput_bps, loss = (float(word) for word in text.split())
        cost = (cpu_s - set_up_s) * 1e9 / hops
        first = first or cost
        yield (
            f"  {flows:>6,} flows, {hosts:>6,} hosts, {rate_bps // GIGABIT:>2} Gb/s, {seconds:>2} s: {cost:6.1f} ns "
            f" ({cost / first:4.2f} times one flow)  + {set_up_s:5.2f} s = {cpu_s * 1e9 / hops:6.1f} ns "
            f" {memory_mib:6.1f} MiB  {int(hops):>11,} packet-hops  goodput {goodput_bps / 1e6:8.1f} Mb/s "
            f" loss {100 * loss:6.3f} %"
        )


def peak_mib() -> float:
    """Returns the peak memory of this process since its program was loaded. `wait4` would include its parent's."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def main() -> int:
    """Prints the numbers of a row: packet-hops, CPU seconds, set-up seconds, MiB, goodput in bit/s, loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("flows", type=int)
    parser.add_argument("hosts", type=int)
    parser.add_argument("rate_bps", type=int)
    parser.add_argument("duration_s", type=float)
    given = parser.parse_args()
    from run import run_netlull
    from scenarios import single

    run_netlull(single(1.0))  # loads the late imports
    network = growing(given.flows, given.hosts, given.rate_bps, given.duration_s)
    outcome = run_netlull(network)
    memory_mib = peak_mib()
    set_up = run_netlull(network.set_up_only())
    print(outcome.packet_hops, outcome.cpu_s, set_up.cpu_s, memory_mib, outcome.goodput_bps, outcome.loss(network))
    return 0


if __name__ == "__main__":
    sys.exit(main())
