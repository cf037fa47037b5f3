"""practRA under one TCP flow in ns-2: the grid of the 2016 paper under the readings that decide its results.

`python grid.py` runs every point (about 25 minutes on two cores) and writes `stored/practra-grid.txt`.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ns2 import HERE, Ns2Error, Numbers, Value, in_parallel, run_script

RTT_MS = (1, 10, 50, 100)
MRCI_MS = (10, 50, 100, 500, 1000)
DELAY_BOUND_MS = (5, 10, 20, 40)
BUFFER_BDP = (0.4, 1.0)
DELAYED_ACK = (0, 1)

CAPACITY_BPS = 10e6
PACKET_BITS = 1500 * 8
BUFFER_FLOOR = 5
REACHED_BPS = 9.5e6
FALLEN_BPS = 9.0e6


def buffer_packets(rtt_ms: float, bdp: float) -> int:
    """A buffer in bandwidth-delay products as packets, rounded to the nearest, at least five."""
    return max(BUFFER_FLOOR, round(bdp * CAPACITY_BPS * rtt_ms * 1e-3 / PACKET_BITS))


@dataclass(frozen=True)
class Point:
    """One run; `mrci_ms` 0 is TCPonly, for which the delay bound means nothing."""

    rtt_ms: float
    bdp: float
    delack: int
    mrci_ms: float = 0
    delay_bound_ms: float = 0
    extra: tuple[tuple[str, Value], ...] = ()

    def options(self) -> dict[str, Value]:
        """What the script is given."""
        buffer = buffer_packets(self.rtt_ms, self.bdp)
        options: dict[str, Value] = {
            "delay_n1": self.rtt_ms / 4e3,
            "delay_n2": self.rtt_ms / 4e3,
            "buffer": buffer,
            "buffer_n2": buffer,
            "delack": self.delack,
            "control": int(self.mrci_ms > 0),
        }
        if self.mrci_ms > 0:
            options |= {"mrci": self.mrci_ms / 1e3, "d": self.delay_bound_ms / 1e3}
        return options | dict(self.extra)


@dataclass(frozen=True)
class Series:
    """What happened over time: bytes offered to N1 per 0.1 s, rate changes, drops."""

    offered: tuple[tuple[float, float], ...] = ()
    rates: tuple[tuple[float, float], ...] = ()
    drops: tuple[float, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The numbers of a run and what was worked out from its series."""

    numbers: Numbers
    recovery_s: float
    unrecovered: int
    lowest_bps: float
    last_bps: float


def read_series(lines: Iterable[str]) -> Series:
    """Reads the series that `practra.tcl` writes."""
    offered: list[tuple[float, float]] = []
    rates: list[tuple[float, float]] = []
    drops: list[float] = []
    for line in lines:
        kind, *values = line.split()
        match kind:
            case "a":
                offered.append((float(values[0]), float(values[1])))
            case "r":
                rates.append((float(values[0]), float(values[1])))
            case "d":
                drops.append(float(values[0]))
            case _:
                raise ValueError(f"{line!r}: expected a line of kind a, r or d")
    return Series(tuple(offered), tuple(rates), tuple(drops))


def rate_per_second(series: Series) -> list[float]:
    """Arrival rate at N1 in bins of 1 s, bit/s."""
    bits = [8 * amount for _, amount in series.offered]
    return [sum(bits[start : start + 10]) for start in range(0, len(bits) - 9, 10)]


def recoveries(series: Series) -> tuple[list[float], int]:
    """Seconds from a loss until the arrival rate, over 1 s, is back at 9.5 Mb/s; and how many never were.

    Drops less than 1 s apart are one episode. An episode in which the rate stays at 9 Mb/s or more took nothing to
    recover from. One that ends in the next episode or with the run counts with its length, a lower bound.
    """
    rate = rate_per_second(series)
    starts = [now for before, now in zip((-10.0, *series.drops), series.drops, strict=False) if now - before > 1]
    times: list[float] = []
    unrecovered = 0
    for start, end in itertools.pairwise([*starts, float(len(rate))]):
        inside = [second for second in range(len(rate)) if start < second < end]
        fallen = next((second for second in inside if rate[second] < FALLEN_BPS), None)
        if fallen is None:
            continue
        back = next((second for second in inside if second > fallen and rate[second] >= REACHED_BPS), None)
        times.append(end - start if back is None else back + 1 - start)
        unrecovered += back is None
    return times, unrecovered


def run_point(point: Point) -> Outcome:
    """Runs one point with its series."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "series"
        numbers = run_script("practra.tcl", point.options() | {"series": str(path)})
        series = read_series(path.read_text().splitlines())
    times, unrecovered = recoveries(series)
    rates = [rate for _, rate in series.rates]
    return Outcome(
        numbers,
        recovery_s=statistics.median(times) if times else 0.0,
        unrecovered=unrecovered,
        lowest_bps=min(rates, default=CAPACITY_BPS),
        last_bps=rates[-1] if rates else CAPACITY_BPS,
    )


def grid() -> list[Point]:
    """All points of the table, TCPonly ones first."""
    plain = [Point(*values) for values in itertools.product(RTT_MS, BUFFER_BDP, DELAYED_ACK)]
    scaled = itertools.product(RTT_MS, BUFFER_BDP, DELAYED_ACK, MRCI_MS, DELAY_BOUND_MS)
    return plain + [Point(*values) for values in scaled]


HEADER = """\
# practRA under one endless NewReno flow in ns-2.35, 300 s: written by grid.py, see README.md.
# Rates 1..10 Mb/s in steps of 1, delta 2 ms, forecast weight 0.25, sample interval = mRCI, rules tested at every event;
# N1-N2 and N2-N3 10 Mb/s with a quarter of the round trip each way; N1 and N2 have the same buffer.
#   mRCI      "-" is TCPonly
#   rate      mean service rate, Mb/s        low, last   lowest rate, rate at the end, Mb/s
#   reduction of goodput against TCPonly, %  loss        TCP packets dropped / sent, %
#   rto       retransmission timeouts        cuts        window cuts without them
#   back      median seconds from a loss until the arrival rate at N1 over 1 s is 9.5 Mb/s again (0: it never fell
#             below 9); `never` counts losses after which it was not back before the next one, which count with their
#             length
"""
COLUMNS = "mRCI_ms   rate  low last changes  goodput reduction    loss  rto cuts    back never"


def row(mrci: str, outcome: Outcome, plain: Outcome) -> str:
    """One line of the table."""
    numbers = outcome.numbers
    goodput = numbers["goodput_bps"]
    low, last = outcome.lowest_bps / 1e6, outcome.last_bps / 1e6
    reduction = 100 * (1 - goodput / plain.numbers["goodput_bps"])
    return (
        f"{mrci:>7} {numbers['mean_rate_bps'] / 1e6:6.3f} {low:4.0f} {last:4.0f} "
        f"{numbers['rate_changes']:7.0f} {goodput / 1e6:8.4f} {reduction:9.2f} {100 * numbers['loss']:7.4f} "
        f"{numbers['timeouts']:4.0f} {numbers['fast_retransmits']:4.0f} "
        f"{outcome.recovery_s:7.2f} {outcome.unrecovered:5d}"
    )


def table(results: Mapping[Point, Outcome]) -> str:
    """The whole table, one block per round-trip time, buffer, acknowledgement and delay bound."""
    lines = [HEADER]
    for bdp, delack, rtt in itertools.product(BUFFER_BDP, DELAYED_ACK, RTT_MS):
        plain = results[Point(rtt, bdp, delack)]
        for bound in DELAY_BOUND_MS:
            lines.append(
                f"RTT {rtt} ms, buffer {bdp:g} BDP ({buffer_packets(rtt, bdp)} packets), "
                f"delayed ACK {'on' if delack else 'off'}, d = {bound} ms"
            )
            lines.append(COLUMNS)
            lines.append(row("-", plain, plain))
            lines += [row(str(mrci), results[Point(rtt, bdp, delack, mrci, bound)], plain) for mrci in MRCI_MS]
            lines.append("")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=HERE / "stored" / "practra-grid.txt", help="file to write")
    chosen = parser.parse_args(arguments)
    points = grid()
    try:
        results = dict(zip(points, in_parallel(run_point, points), strict=True))
    except Ns2Error as error:
        print(error, file=sys.stderr)
        return 2
    chosen.out.write_text(table(results))
    print(f"{chosen.out}: {len(points)} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
