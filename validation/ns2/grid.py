"""practRA under one TCP flow in ns-2: the 2016 paper's experiments under the readings that determine their results.

`python validation/ns2/grid.py [TABLE ...]` runs ns-2 and writes `stored/practra-TABLE.txt`, for every table by default:
`grid` (section IV-A), `bursts` (IV-B and IV-C), `sensitivity` (the share of chance), `edge` (buffers of 31 to 33
packets), `clock` (rules tested once per mRCI); at most 4 minutes each on two idle cores. `--full` runs `grid` for every
combination of buffer, acknowledgement and delay bound: 20 minutes.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ns2 import HERE, Ns2Error, Numbers, Value, in_parallel, run_script

RTT_MS = (1, 10, 50, 100)
MRCI_MS = (10, 50, 100, 500, 1000)

# Readings: buffer of N1 and of N2, delayed ACK, delay bound in ms.
Reading = tuple[str, int, int]
READINGS: tuple[Reading, ...] = (("1 BDP", 0, 40), ("1 BDP", 0, 10), ("0.4 BDP", 1, 40), ("33 packets", 1, 40))
ALL_READINGS: tuple[Reading, ...] = tuple(
    itertools.product(("1 BDP", "0.4 BDP", "33 packets"), (0, 1), (5, 10, 20, 40)),
)

CAPACITY_BPS = 10e6
PACKET_BITS = 1500 * 8
BUFFER_FLOOR = 5
REACHED_BPS = 9.5e6
FALLEN_BPS = 9.0e6


def buffer_packets(rtt_ms: float, rule: str) -> int:
    """A buffer, "0.4 BDP" or "33 packets", in packets. A buffer in BDP is rounded, and at least five packets."""
    amount, unit = rule.split()
    if unit == "packets":
        return int(amount)
    return max(BUFFER_FLOOR, round(float(amount) * CAPACITY_BPS * rtt_ms * 1e-3 / PACKET_BITS))


def described(reading: Reading) -> str:
    """A reading in words."""
    buffer, delack, bound = reading
    return f"buffer {buffer}, delayed ACK {'on' if delack else 'off'}, d = {bound} ms"


@dataclass(frozen=True)
class Point:
    """A run. `mrci_ms` 0 is TCPonly, where the delay bound has no effect."""

    rtt_ms: float
    buffer: str
    delack: int
    mrci_ms: float = 0
    delay_bound_ms: float = 0
    extra: tuple[tuple[str, Value], ...] = ()

    def options(self) -> dict[str, Value]:
        """The options of the script."""
        buffer = buffer_packets(self.rtt_ms, self.buffer)
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

    @property
    def tcponly(self) -> Point:
        """The same point without power control."""
        return dataclasses.replace(self, mrci_ms=0, delay_bound_ms=0)


def point(reading: Reading, rtt_ms: float, mrci_ms: float) -> Point:
    """A point of a reading. `mrci_ms` 0 is TCPonly."""
    buffer, delack, bound = reading
    return Point(rtt_ms, buffer, delack, mrci_ms, bound if mrci_ms else 0)


@dataclass(frozen=True)
class Series:
    """The time series: bytes offered to N1 per 0.1 s, rate changes, drops."""

    offered: tuple[tuple[float, float], ...] = ()
    rates: tuple[tuple[float, float], ...] = ()
    drops: tuple[float, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The numbers of a run, and results from its series."""

    numbers: Numbers
    recovery_s: float
    unrecovered: int
    lowest_bps: float
    last_bps: float


def read_series(lines: Iterable[str]) -> Series:
    """Reads the series in the output of `practra.tcl`."""
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
    """Seconds from a loss until the arrival rate, over 1 s, is back at 9.5 Mb/s, and the number of missing recoveries.

    Drops less than 1 s apart are one episode. An episode in which the rate stays at 9 Mb/s or more has a recovery time
    of zero. An episode that ends with the next one or with the run counts with its length, a lower bound.
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


def unique(points: Iterable[Point]) -> list[Point]:
    """Each point once, in order."""
    return list(dict.fromkeys(points))


def run_point(job: Point) -> Outcome:
    """Runs one point with its series."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "series"
        numbers = run_script("practra.tcl", job.options() | {"series": str(path)})
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


SET_UP = """\
# Rates 1..10 Mb/s in steps of 1, delta 2 ms, forecast weight 0.25, sample interval = mRCI, rules tested at every event;
# N1-N2 and N2-N3 10 Mb/s, each with half of the round trip; N1 and N2 have the same buffer; 300 s.
"""

# ------------------------------------------------------------------------------------------------------- section IV-A


def grid(readings: Sequence[Reading] = READINGS) -> list[Point]:
    """All points of the first table, TCPonly included."""
    return unique(point(*values) for values in itertools.product(readings, RTT_MS, (0, *MRCI_MS)))


GRID_HEADER = f"""\
# practRA under one endless NewReno flow in ns-2.35: written by grid.py, see README.md.
{SET_UP}#   mRCI      "-" is TCPonly
#   rate      mean service rate, Mb/s        low, last   lowest rate, rate at the end, Mb/s
#   reduction of goodput against TCPonly, %  loss        TCP packets dropped / sent, %
#   rto       retransmission timeouts        cuts        window cuts without them
#   back      median seconds from a loss until the arrival rate at N1 over 1 s is 9.5 Mb/s again (0: it never fell
#             below 9); `never` counts losses after which it was not back before the next one, which count with their
#             length
"""
GRID_COLUMNS = "mRCI_ms   rate  low last changes  goodput reduction    loss  rto cuts    back never"


def grid_row(mrci: str, outcome: Outcome, plain: Outcome) -> str:
    """A line of the first table."""
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


def grid_table(results: Mapping[Point, Outcome], readings: Sequence[Reading] = READINGS) -> str:
    """A block per reading and round-trip time."""
    lines = [GRID_HEADER]
    for reading, rtt in itertools.product(readings, RTT_MS):
        packets = buffer_packets(rtt, reading[0])
        plain = results[point(reading, rtt, 0)]
        lines += [f"RTT {rtt} ms, {described(reading)} ({packets} packets of buffer)", GRID_COLUMNS]
        lines.append(grid_row("-", plain, plain))
        lines += [grid_row(str(mrci), results[point(reading, rtt, mrci)], plain) for mrci in MRCI_MS]
        lines.append("")
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------- sections IV-B and IV-C

BURST_READINGS = (READINGS[0], READINGS[3])
BURST_RTT_MS = (10, 100)
DISTURBANCES: dict[str, tuple[tuple[str, Value], ...]] = {
    "bursts": (("bon", 0.1),),
    "bursts and bottleneck": (("bon", 0.1), ("bn", 0.05)),
}
BURST_MRCI_MS = (10, 1000)
SEEDS = (1, 2)


def seeded(quiet: Point, disturbance: str, seed: int) -> Point:
    """The same point with this disturbance and seed."""
    return dataclasses.replace(quiet, extra=(*DISTURBANCES[disturbance], ("seed", seed)))


def bursts() -> list[Point]:
    """All points of the second table."""
    runs = itertools.product(BURST_READINGS, BURST_RTT_MS, (0, *BURST_MRCI_MS), DISTURBANCES, SEEDS)
    return unique(
        seeded(point(reading, rtt, mrci), disturbance, seed) for reading, rtt, mrci, disturbance, seed in runs
    )


BURST_HEADER = f"""\
# practRA, one NewReno flow, bursts of 10 Mb/s with bON 100 ms once a second, without and with a bottleneck N2-N3 of
# 1..10 Mb/s redrawn with BN 50 ms, in ns-2.35: written by grid.py, see README.md.
{SET_UP}# Means over seeds {SEEDS[0]} to {SEEDS[-1]}; the reduction is against TCPonly with the same seed, and sd is its
# standard deviation over seeds.
#   rate       mean service rate, Mb/s       changes    of the rate
#   goodput    of TCP, Mb/s                  reduction  of goodput against TCPonly, %
#   loss       TCP packets dropped / sent with practRA and without, %
"""
BURST_COLUMNS = "RTT_ms mRCI_ms   rate changes  goodput  tcponly reduction    sd    loss tcponly"


def burst_row(scaled: Point, disturbance: str, results: Mapping[Point, Outcome]) -> str:
    """A line of the second table."""

    def numbers(of: Point, name: str) -> list[float]:
        return [results[seeded(of, disturbance, seed)].numbers[name] for seed in SEEDS]

    mean = statistics.fmean
    goodput, plain = numbers(scaled, "goodput_bps"), numbers(scaled.tcponly, "goodput_bps")
    reduction = [100 * (1 - one / other) for one, other in zip(goodput, plain, strict=True)]
    return (
        f"{scaled.rtt_ms:>6g} {scaled.mrci_ms:>7g} {mean(numbers(scaled, 'mean_rate_bps')) / 1e6:6.3f} "
        f"{mean(numbers(scaled, 'rate_changes')):7.0f} {mean(goodput) / 1e6:8.4f} {mean(plain) / 1e6:8.4f} "
        f"{mean(reduction):9.2f} {statistics.stdev(reduction):5.2f} "
        f"{100 * mean(numbers(scaled, 'loss')):7.4f} {100 * mean(numbers(scaled.tcponly, 'loss')):7.4f}"
    )


def bursts_table(results: Mapping[Point, Outcome]) -> str:
    """A block per reading and disturbance."""
    lines = [BURST_HEADER]
    for reading, disturbance in itertools.product(BURST_READINGS, DISTURBANCES):
        lines += [f"{disturbance}: {described(reading)}", BURST_COLUMNS]
        lines += [
            burst_row(point(reading, rtt, mrci), disturbance, results)
            for rtt, mrci in itertools.product(BURST_RTT_MS, BURST_MRCI_MS)
        ]
        lines.append("")
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------ how far to trust it

SENSITIVITY_RTT_MS = 100
SENSITIVITY_READINGS = (READINGS[0], READINGS[2])
SENSITIVITY_MRCI_MS = (0, 10, 100, 1000)
SHIFTS = tuple(index * 1e-3 for index in range(-4, 5))
"""Relative changes of the round-trip time, which affect only the phase of the packets."""
TICKS_S = (0.001, 0.01)


def shifted(middle: Point, shift: float) -> Point:
    """The same point with a slightly different round trip."""
    delay = middle.rtt_ms / 4e3 * (1 + shift)
    return dataclasses.replace(middle, extra=(("delay_n1", delay), ("delay_n2", delay)))


def ticking(middle: Point, tick_s: float) -> Point:
    """The same point with rules that are tested on a tick."""
    return dataclasses.replace(middle, extra=(*middle.extra, ("tick", tick_s)))


def sensitivity() -> list[Point]:
    """All points of the third table."""
    middles = [
        point(reading, SENSITIVITY_RTT_MS, mrci)
        for reading, mrci in itertools.product(SENSITIVITY_READINGS, SENSITIVITY_MRCI_MS)
    ]
    runs = [shifted(middle, shift) for middle, shift in itertools.product(middles, SHIFTS)]
    return runs + [ticking(middle, tick) for middle, tick in itertools.product(middles, TICKS_S) if middle.mrci_ms]


SENSITIVITY_HEADER = f"""\
# How much of a single deterministic run is chance, RTT 100 ms, in ns-2.35: written by grid.py, see README.md.
{SET_UP}# Least, median and largest of {len(SHIFTS)} runs whose round trip differs by up to {SHIFTS[-1]:.1%} either way;
# below them single runs whose rules are tested on a tick instead of at every event. Columns as in practra-grid.txt.
"""
SENSITIVITY_COLUMNS = f"{'mRCI_ms what':<22}   rate  goodput changes    loss    back"


def sensitivity_row(label: str, values: Sequence[float]) -> str:
    """A line of the third table."""
    rate, goodput, changes, loss, back = values
    return f"{label:<22} {rate / 1e6:6.3f} {goodput / 1e6:8.4f} {changes:7.0f} {100 * loss:7.4f} {back:7.2f}"


def sensitivity_table(results: Mapping[Point, Outcome]) -> str:
    """A block per reading."""

    def values(at: Point) -> tuple[float, ...]:
        outcome = results[at]
        names = ("mean_rate_bps", "goodput_bps", "rate_changes", "loss")
        return (*(outcome.numbers[name] for name in names), outcome.recovery_s)

    lines = [SENSITIVITY_HEADER]
    for reading in SENSITIVITY_READINGS:
        lines += [described(reading), SENSITIVITY_COLUMNS]
        for mrci in SENSITIVITY_MRCI_MS:
            middle = point(reading, SENSITIVITY_RTT_MS, mrci)
            columns = list(zip(*(values(shifted(middle, shift)) for shift in SHIFTS), strict=True))
            label = f"{mrci or '-':>7}"
            for name, choose in (("least", min), ("median", statistics.median), ("largest", max)):
                lines.append(sensitivity_row(f"{label} {name}", [choose(column) for column in columns]))
            for tick in TICKS_S if mrci else ():
                lines.append(sensitivity_row(f"{label} tick {tick * 1e3:g} ms", values(ticking(middle, tick))))
        lines.append("")
    return "\n".join(lines)


# --------------------------------------------------------------------------------- the buffer's edge at 32 packets

EDGE_BUFFERS = (31, 32, 33)
EDGE_MRCI_MS = (10, 1000)


def edge_point(buffer: int, mrci: float, shift: float) -> Point:
    """RTT 100 ms or near it, with delayed ACKs and d = 40 ms."""
    return shifted(point((f"{buffer} packets", 1, 40), SENSITIVITY_RTT_MS, mrci), shift)


def edge() -> list[Point]:
    """All points of the fourth table."""
    return [edge_point(*values) for values in itertools.product(EDGE_BUFFERS, EDGE_MRCI_MS, SHIFTS)]


EDGE_HEADER = f"""\
# practRA at RTTs near 100 ms with buffers near 32 packets, delayed ACKs, d = 40 ms, in ns-2.35: written by grid.py, see
# README.md.
{SET_UP}# `packets` may wait, the one being sent not counted: ns-2's queue-limit is one more. Other columns as in
# practra-grid.txt.
"""
EDGE_COLUMNS = "packets mRCI_ms RTT_ms   rate changes  goodput    back never"


def edge_row(buffer: int, mrci: float, shift: float, outcome: Outcome) -> str:
    """A line of the last two tables."""
    numbers = outcome.numbers
    return (
        f"{buffer:>7} {mrci:>7} {SENSITIVITY_RTT_MS * (1 + shift):6.1f} {numbers['mean_rate_bps'] / 1e6:6.3f} "
        f"{numbers['rate_changes']:7.0f} {numbers['goodput_bps'] / 1e6:8.4f} "
        f"{outcome.recovery_s:7.2f} {outcome.unrecovered:5d}"
    )


def edge_table(results: Mapping[Point, Outcome]) -> str:
    """A block per buffer."""
    lines = [EDGE_HEADER]
    for buffer in EDGE_BUFFERS:
        lines.append(EDGE_COLUMNS)
        for mrci, shift in itertools.product(EDGE_MRCI_MS, SHIFTS):
            lines.append(edge_row(buffer, mrci, shift, results[edge_point(buffer, mrci, shift)]))
        lines.append("")
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------- practRA on its clock

CLOCK_BUFFER = 32
CLOCK_MRCI_MS = (10, 500, 1000)


def clock_point(mrci: float, shift: float) -> Point:
    """The same, with rules that are tested once per mRCI."""
    return ticking(edge_point(CLOCK_BUFFER, mrci, shift), mrci / 1e3)


def clock() -> list[Point]:
    """All points of the fifth table."""
    return [clock_point(*values) for values in itertools.product(CLOCK_MRCI_MS, SHIFTS)]


CLOCK_HEADER = """\
# practRA whose rules are tested once per mRCI, at RTTs near 100 ms with 32 waiting packets, delayed ACKs, d = 40 ms, in
# ns-2.35: written by grid.py, see README.md. All else, and the columns, as in practra-edge.txt.
"""


def clock_table(results: Mapping[Point, Outcome]) -> str:
    """A line per mRCI and RTT."""
    points = itertools.product(CLOCK_MRCI_MS, SHIFTS)
    rows = [edge_row(CLOCK_BUFFER, mrci, shift, results[clock_point(mrci, shift)]) for mrci, shift in points]
    return "\n".join([CLOCK_HEADER, EDGE_COLUMNS, *rows, ""])


TABLES: dict[str, tuple[Callable[[], list[Point]], Callable[[Mapping[Point, Outcome]], str]]] = {
    "grid": (grid, grid_table),
    "bursts": (bursts, bursts_table),
    "sensitivity": (sensitivity, sensitivity_table),
    "edge": (edge, edge_table),
    "clock": (clock, clock_table),
}
FULL = (functools.partial(grid, ALL_READINGS), functools.partial(grid_table, readings=ALL_READINGS))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)}; default all")
    parser.add_argument("--full", action="store_true", help="grid: every combination of readings, as practra-full.txt")
    parser.add_argument("--out", type=Path, default=HERE / "stored", help="folder to write to")
    chosen = parser.parse_args(arguments)
    wanted = {name: TABLES.get(name) for name in chosen.tables or TABLES} if not chosen.full else {"full": FULL}
    for name, parts in wanted.items():
        if parts is None:
            parser.error(f"{name}: expected one of {', '.join(TABLES)}")
        points, table = parts
        jobs = points()
        try:
            results = dict(zip(jobs, in_parallel(run_point, jobs), strict=True))
        except Ns2Error as error:
            print(error, file=sys.stderr)
            return 2
        path = chosen.out / f"practra-{name}.txt"
        path.write_text(table(results))
        print(f"{path}: {len(jobs)} runs", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
