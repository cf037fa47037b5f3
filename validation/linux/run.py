"""Compares netlull with Linux's TCP in an emulation: `python validation/linux/run.py [CASE ...]`.

Simulates each case and compares it with the kernel's run (stored/emulated.json). Prints a table, and exits 1 if a case
is out of tolerance and explained.toml has no reason, or a smaller bound. With `--emulate` the kernel runs again, in
real time (root and netlulld; 10 minutes), and `--store` writes stored/emulated.json and results.md. `--quick`: six
cases.
"""

from __future__ import annotations

import functools
import math
import statistics
import sys
from argparse import Namespace
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import harness
from cases import QUICK, REPEATED, SEED, Case, cases
from harness import Comparison, Deviation, Judgement

if TYPE_CHECKING:
    from netlull import Result, Scenario

COMPLETION = 3.0
"""Tolerance of completion times in percent. Retransmissions have one in percent and one in packets."""
RETRANSMISSIONS = 10.0
RETRANSMISSIONS_LEAST = 3
SAMPLES = 100
REPEATS = 5
METRICS = ("completion_time_s", "goodput_bps", "retransmissions", "segment_bytes")


@dataclass(frozen=True)
class Measured:
    """A run in either world."""

    completion_s: float
    """The completion time; NaN if the download did not complete."""
    goodput_bps: float
    """Goodput of the running download."""
    retransmissions: float
    cwnd_segments: float
    """The mean of `window`."""
    window: Sequence[float]
    """Segments, to a tenth, at `SAMPLES` instants over the simulated download; NaN before and after it."""
    late_s: float = 0.0
    """The lateness that 99 % of packets did not exceed."""
    kernel: str = ""


def measured(result: Result, size: float, instants: Sequence[float]) -> Measured:
    """The compared values of a run."""
    flow = result.flow("download")
    values = {name: math.nan if flow[name] is None else float(flow[name]) for name in METRICS}
    # Linux's acknowledgements carry timestamps: in both worlds, a segment has 1448 B of data.
    segment = values["segment_bytes"]
    completion = values["completion_time_s"]
    goodput = 8 * size / completion if completion > 0 else values["goodput_bps"]
    account, window = result.emulation, windows(result, segment, instants)
    known = [value for value in window if not math.isnan(value)]
    return Measured(
        completion,
        goodput,
        values["retransmissions"],
        statistics.mean(known) if known else math.nan,
        [round(value, 1) for value in window],
        account["lateness"]["p99_s"] if account else 0.0,
        account["system"]["kernel"] if account else "",
    )


def windows(result: Result, segment: float, instants: Sequence[float]) -> list[float]:
    """The congestion window in segments at some instants."""
    if "window" not in result.series_names:
        return [math.nan] * len(instants)
    table = result.series("window")
    times, cwnd = table["time_s"].to_pylist(), table["cwnd_bytes"].to_pylist()
    places = [bisect_right(times, at) - 1 for at in instants]
    return [cwnd[place] / segment if place >= 0 else math.nan for place in places]


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    """The distance of two windows: the mean of their differences over the mean of the first."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (math.isnan(x) or math.isnan(y))]
    mean = sum(x for x, _ in pairs)
    return sum(abs(x - y) for x, y in pairs) / mean if mean else math.nan


@dataclass(frozen=True)
class Simulated:
    """A case in the simulator, with the parameters of its emulation."""

    scenario: Scenario
    size: float
    """Size of its download, in bytes."""
    instants: Sequence[float]
    """Times of the samples."""
    run: Measured


@functools.cache
def simulated(case: Case) -> Simulated:
    """The simulator's result."""
    scenario = case.scenario()
    size = float(str(scenario.to_dict()["flow"][0]["size"]).split()[0])
    result = scenario.run(SEED)
    end = result.flow("download")["completion_time_s"] or result.summary["duration_s"]
    instants = [(index + 0.5) * end / SAMPLES for index in range(SAMPLES)]
    return Simulated(scenario, size, instants, measured(result, size, instants))


def emulate(case: Case, given: Namespace) -> list[Measured]:
    """The kernel's runs, five for cases that need the spread."""
    it = simulated(case)

    def once() -> Measured:
        result = harness.punctual(case.name, lambda: it.scenario.emulate(SEED, max_lateness=given.max_lateness))
        return measured(result, it.size, it.instants)

    return [once() for _ in range(REPEATS if case in REPEATED and not given.quick else 1)]


@dataclass(frozen=True)
class Row:
    """A case in both worlds."""

    case: Case
    sim: Measured
    real: Measured
    sd: float | None
    """Standard deviation of repeated emulations' completion times, as a share of their mean."""

    @property
    def completion(self) -> float:
        """The simulator's additional completion time, in percent of the kernel's."""
        return 100 * (self.sim.completion_s / self.real.completion_s - 1)

    @property
    def deviations(self) -> list[Deviation]:
        """The judged deviations."""
        allowed = max(RETRANSMISSIONS / 100 * self.real.retransmissions, RETRANSMISSIONS_LEAST)
        differ = abs(self.sim.retransmissions - self.real.retransmissions)
        return [
            Deviation("completion", abs(self.completion), COMPLETION),
            Deviation("retransmissions", differ, allowed),
        ]

    def cells(self) -> list[str]:
        """The cells of the table."""
        sim, real = self.sim, self.real
        return [
            self.case.name,
            f"{sim.completion_s:.3f}",
            f"{real.completion_s:.3f}",
            f"{self.completion:+.1f}",
            f"{sim.goodput_bps / 1e6:.2f}",
            f"{real.goodput_bps / 1e6:.2f}",
            f"{sim.retransmissions:.0f}",
            f"{real.retransmissions:.0f}",
            f"{sim.cwnd_segments:.1f}",
            f"{real.cwnd_segments:.1f}",
            f"{100 * distance(sim.window, real.window):.0f}",
            "" if self.sd is None else f"{100 * self.sd:.2f}",
        ]


COLUMNS = (
    *("case", "sim [s]", "Linux [s]", "differ [%]", "sim [Mb/s]", "Linux [Mb/s]", "sim retr", "Linux retr"),
    *("sim cwnd", "Linux cwnd", "windows differ [%]", "repeats sd [%]"),
)


def row(case: Case, stored: Mapping[str, Sequence[Measured]]) -> Row:
    """The row of a case: the kernel's first run is compared, and the others give the spread."""
    times = [one.completion_s for one in stored[case.name]]
    spread = statistics.stdev(times) / statistics.mean(times) if len(times) > 1 else None
    return Row(case, simulated(case).run, stored[case.name][0], spread)


def summary(rows: Sequence[Judgement[Row]], _stored: Mapping[str, Sequence[Measured]]) -> list[str]:
    """The summary of the table."""
    missed = [{deviation.measure for deviation in one.misses} for one in rows if one.row.case.judged]
    close = sum("completion" not in measures for measures in missed)
    return [
        f"Within {COMPLETION:g} % in completion time: {close} of {len(missed)} judged cases. Also within "
        f"{RETRANSMISSIONS:g} % or {RETRANSMISSIONS_LEAST} packets in retransmissions: "
        f"{sum(not one for one in missed)}."
    ]


COMPARISON = Comparison(
    folder=Path(__file__).parent,
    description=__doc__,
    cases=cases(),
    quick=QUICK,
    quick_is="six cases",
    example="cubic-*",
    jobs=None,
    writes="and results.md",
    units={"completion": "%", "retransmissions": "packets"},
    columns=COLUMNS,
    words=1,
    needs=lambda case: (case,),
    simulate=simulated,
    emulate=emulate,
    stored_as=Measured,
    row=row,
    summary=summary,
)

if __name__ == "__main__":
    sys.exit(harness.main(COMPARISON))
