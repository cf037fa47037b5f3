"""Compares packets with the fluid model of AWM, on both sides of its bound: `python validation/fluid/run.py --help`.

Runs AWM alone on a link of fixed rate at multiples of two bounds on beta: that of the model with ACK-clocked senders,
and 1.707 T / R_0. For each case it prints where the queue begins to move and to fill its buffer. Seeds are fixed: the
numbers are the same everywhere. With `--store` the tables replace those in `stored/`. With `--figures FOLDER` the map
and both sides are drawn, which takes some minutes: integration is slow where the fluid swings.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, fields, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from packets import Case, Measured, mean_window_age_s, measure

HERE = Path(__file__).parent
MULTIPLES = (0.25, 0.5, 0.8, 0.95, 1.05, 1.25, 2.0, 4.0)
SLOW = 0.02
"""The multiple of 1.707 T / R_0 at which the queue shows the effect of packets alone."""
BOUNDS = ("ack_clock", "rate")
SEEDS = (1, 2, 3)
QUICK = ("ns2  N 30  R 100 ms  T 50  d  2 ms", "ns2  N 30  R 100 ms  T 50  d 80 ms")


def cases() -> list[Case]:
    """Two TCPs, two N, two R, two T, and two positions of the gateway: close to the senders, and far from them."""
    grid = itertools.product(("ns2", "rfc"), (10, 30), (0.1, 0.04), (50, 20), (None, 0.8))
    return [
        Case(preset, flows, round_trip, target, 0.002 if far is None else far * round_trip)
        for preset, flows, round_trip, target, far in grid
    ]


@dataclass(frozen=True)
class Row:
    """A case at one beta, as means over seeds."""

    case: Case
    bound: str
    multiple: float
    beta_bps: float
    values: Measured

    def moves(self, quiet: Measured) -> bool:
        """True if the queue moves more than packets alone cause: twice that plus a packet."""
        return self.fills(quiet) or self.values.late_packets > 2 * quiet.late_packets + 1

    def fills(self, quiet: Measured) -> bool:
        """True if it drops, or if it swings over more than half of the buffer 2 T and packets alone do not.

        The standard deviation 0.4 T is that of a sine of amplitude 0.57 T.
        """
        wide = self.values.late_packets > max(0.4 * self.case.target_packets, 1.5 * quiet.late_packets)
        return wide or self.values.drops > 0


def bound_bps(case: Case, bound: str) -> float:
    """A bound on beta, in b/s."""
    return case.fluid.critical_beta_bps() if bound == "ack_clock" else case.fluid.rate_bound_bps()


def mean(measured: Iterable[Measured]) -> Measured:
    """Means by field. Runs without a period are left out of its mean."""
    rows = np.array([astuple(one) for one in measured])
    values = [float(np.mean(column[np.isfinite(column)])) if np.isfinite(column).any() else np.nan for column in rows.T]
    return Measured(*values)


def simulate(chosen: Sequence[Case], seeds: Sequence[int]) -> list[Row]:
    """All rows. The simulations release Python's lock."""
    points = [
        (case, bound, multiple, multiple * bound_bps(case, bound))
        for case in chosen
        for bound, multiple in [("rate", SLOW), *itertools.product(BOUNDS, MULTIPLES)]
    ]

    def row(point: tuple[Case, str, float, float]) -> Row:
        case, bound, multiple, beta = point
        scenario = case.scenario(beta)
        return Row(case, bound, multiple, beta, mean(measure(scenario.run(seed)) for seed in seeds))

    with ThreadPoolExecutor() as pool:
        return list(pool.map(row, points))


@dataclass(frozen=True)
class Edge:
    """The multiples of a bound between which a behaviour begins: absent up to `below`, present at `above`."""

    below: float
    above: float
    first: Row | None

    def __str__(self) -> str:
        """The text in the table."""
        return f"{self.below:g} .. {self.above:g}"


def edge(rows: Sequence[Row], bound: str, begun: Callable[[Row, Measured], bool]) -> Edge:
    """The edge of a behaviour in the rows of one case."""
    quiet = next(row.values for row in rows if row.multiple == SLOW)
    ordered = sorted((row for row in rows if row.bound == bound and row.multiple != SLOW), key=lambda row: row.multiple)
    for index, row in enumerate(ordered):
        if begun(row, quiet):
            return Edge(ordered[index - 1].multiple if index else 0.0, row.multiple, row)
    return Edge(ordered[-1].multiple, np.inf, None)


def table(rows: Sequence[Row]) -> str:
    """The edges of all cases, next to both bounds."""
    lines = [
        "Multiples of a bound on beta between which the queue begins to move (twice its quiet standard deviation and",
        "a packet) and to fill the buffer (drops, or a standard deviation above 0.4 T).",
        "quiet: the standard deviation at a small beta, in packets; bounds: ACK-clocked senders' over 1.707 T/R0;",
        "period: of the queue where it begins to fill the buffer, beside the model's at its bound.",
        "",
        f"{'':<37} {'':>6} {'x ACK-clock bound':>27} {'x 1.707 T/R0':>13}",
        f"{'case':<37} {'quiet':>6} {'moves':>13} {'fills':>13} {'fills':>13} {'bounds':>7} {'period':>8} {'model':>8}",
    ]
    for case in dict.fromkeys(row.case for row in rows):
        own = [row for row in rows if row.case == case]
        quiet = next(row.values for row in own if row.multiple == SLOW)
        moves = edge(own, "ack_clock", Row.moves)
        fills, rate = (edge(own, bound, Row.fills) for bound in BOUNDS)
        period = fills.first.values.period_s if fills.first else np.nan
        lines.append(
            f"{case!s:<37} {quiet.late_packets:>6.1f} {moves!s:>13} {fills!s:>13} {rate!s:>13}"
            f" {bound_bps(case, 'ack_clock') / bound_bps(case, 'rate'):>7.2f}"
            f" {period:>6.3f} s {case.fluid.critical_period_s():>6.3f} s"
        )
    return "\n".join(lines) + "\n"


def ages(chosen: Sequence[Case]) -> str:
    """The age of the windows in force, at a beta far below either bound."""
    lines = [
        "The mean age of the windows in force in ms, seen as segments leave: measured; in the model with whole windows",
        "as bursts; in the model with interleaved flows. Then a flow's packets in a row, measured, and a whole window.",
        "",
        f"{'case':<37} {'measured':>9} {'bursts':>7} {'error':>6} {'interleaved':>12} {'in a row':>9} {'window':>7}",
    ]
    for case in chosen:
        beta = 0.3 * min(bound_bps(case, bound) for bound in BOUNDS)
        age, row = mean_window_age_s(case, beta, SEEDS[0])
        bursts, single = case.fluid.window_age_s, replace(case.fluid, burst_packets=1.0).window_age_s
        lines.append(
            f"{case!s:<37} {age * 1e3:>9.1f} {bursts * 1e3:>7.1f} {age / bursts - 1:>+6.0%} {single * 1e3:>12.1f}"
            f" {row:>9.1f} {case.fluid.burst:>7.1f}"
        )
    return "\n".join(lines) + "\n"


def write(rows: Sequence[Row], path: Path) -> None:
    """Every row as CSV."""
    names = [field.name for field in fields(Measured)]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(field.name for field in fields(Case)), "bound", "multiple", "beta_bps", *names])
        for row in rows:
            numbers = [f"{value:.4g}" for value in astuple(row.values)]
            writer.writerow([*astuple(row.case), row.bound, row.multiple, f"{row.beta_bps:.0f}", *numbers])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the grid; always returns 0, as there are no tolerances."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two cases and one seed, in seconds")
    parser.add_argument("--store", action="store_true", help="replace the tables in stored/")
    parser.add_argument("--figures", type=Path, metavar="FOLDER", help="draw the figures into a folder")
    chosen = parser.parse_args(arguments)
    if chosen.figures is not None:
        try:
            chosen.figures.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parser.error(f"--figures: {chosen.figures}: {error.strerror}; expected a folder that can be written")
        if find_spec("jitcdde") is None or find_spec("sympy") is None:
            parser.error("--figures: JiTCDDE or SymPy is missing: pip install 'netlull[fluid]'")
    some = [case for case in cases() if not chosen.quick or str(case) in QUICK]
    rows = simulate(some, SEEDS[:1] if chosen.quick else SEEDS)
    print(table(rows))
    aged = ages(some)
    print(aged)
    if chosen.store:
        write(rows, HERE / "stored" / "packets.csv")
        (HERE / "stored" / "edges.txt").write_text(table(rows))
        (HERE / "stored" / "ages.txt").write_text(aged)
    if chosen.figures is not None:
        from figures import draw

        draw(rows, chosen.figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
