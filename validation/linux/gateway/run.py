"""Gateways and practRA with real senders: `python validation/linux/gateway/run.py [CASE ...]`.

Simulates each case and compares it with the kernel's run (stored/emulated.json). Prints a table and the expectations.
Exits 1 if a case is out of tolerance and explained.toml has no reason, or a smaller bound. With `--emulate` the kernel
runs again, in real time (root and netlulld), and `--store` writes stored/emulated.json and results.md. `--quick`: two
cases.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # the common part of comparisons with the kernel
import harness
from bottlenecks import JUDGED, Case, cases, quick
from emulated import Measured, emulate, simulated
from harness import Comparison, Deviation, Judgement

GOODPUT, QUEUE, QUEUE_LEAST_KB, DROPS, DROPS_LEAST = 3.0, 15.0, 4.0, 30.0, 10
"""Tolerances in percent, and negligible differences."""
STEADIER = 4.0
"""The expected reduction of the queue's standard deviation by AWM, as a factor."""
COLUMNS = (
    *("case", "queue [kB]", "its sd [kB]", "steadier", "drops", "goodput [Mb/s]", "mean rate [Mb/s]", "rate changes"),
    *("energy saved [%]", "late p99 [ms]"),
)


@dataclass(frozen=True)
class Row:
    """A case in both worlds, and the case without control."""

    case: Case
    sim: Measured
    real: Measured
    sim_free: Measured
    real_free: Measured

    @property
    def deviations(self) -> list[Deviation]:
        """The judged deviations."""
        sim, real = self.sim, self.real
        queue, sd = (
            Deviation(name, abs(one - other), max(QUEUE / 100 * other, QUEUE_LEAST_KB))
            for name, one, other in (("queue", sim.queue_kb, real.queue_kb), ("sd", sim.queue_sd_kb, real.queue_sd_kb))
        )
        return [
            Deviation("goodput", 100 * abs(sim.goodput_bps / real.goodput_bps - 1), GOODPUT),
            queue,
            sd,
            Deviation("drops", abs(sim.drops - real.drops), max(DROPS / 100 * real.drops, DROPS_LEAST)),
        ]

    def cells(self) -> list[str]:
        """The cells of the table: simulated, Linux."""
        sim, real = self.sim, self.real
        return [
            self.case.name,
            f"{sim.queue_kb:.1f}, {real.queue_kb:.1f}",
            f"{sim.queue_sd_kb:.1f}, {real.queue_sd_kb:.1f}",
            f"{steadier(self.sim_free, sim):.1f}, {steadier(self.real_free, real):.1f}",
            f"{sim.drops:.0f}, {real.drops:.0f}",
            f"{sim.goodput_bps / 1e6:.2f}, {real.goodput_bps / 1e6:.2f}",
            f"{sim.rate_bps / 1e6:.2f}, {real.rate_bps / 1e6:.2f}",
            f"{sim.changes:.0f}, {real.changes:.0f}",
            f"{100 * sim.saving:.0f}, {100 * real.saving:.0f}",
            f"{1e3 * real.late_s:.1f}",
        ]


def steadier(free: Measured, held: Measured) -> float:
    """The factor by which the queue's standard deviation is lower than without control."""
    return free.queue_sd_kb / max(held.queue_sd_kb, 1e-3)


def expected(rows: Sequence[Row]) -> list[str]:
    """The expectations of AWM with real senders, a line each."""
    lines = []
    for row in rows:
        if row.case.control != "awm":
            continue
        times = steadier(row.real_free, row.real)
        met = times >= STEADIER and not row.real.drops
        said = "expected" if met else "NOT AS EXPECTED" if row.case.sender in JUDGED else "shown"
        lines.append(
            f"- {row.case.sender}, {row.case.flows} flows: under AWM the queue's standard deviation is {times:.1f} "
            f"times lower ({row.real_free.queue_sd_kb:.1f} and {row.real.queue_sd_kb:.1f} kB), {row.real.drops:.0f} "
            f"drops ({row.real_free.drops:.0f} without): {said}."
        )
    return lines


def row(case: Case, stored: Mapping[str, Sequence[Measured]]) -> Row:
    """The row of a case, with the case without control."""
    (real, *_), (free, *_) = stored[case.name], stored[case.uncontrolled.name]
    return Row(case, simulated(case), real, simulated(case.uncontrolled), free)


def summary(rows: Sequence[Judgement[Row]], _stored: Mapping[str, Sequence[Measured]]) -> list[str]:
    """The summary of the table."""
    near = [not one.misses for one in rows if one.row.case.sender in JUDGED]
    return [
        "Each cell: simulated, Linux.",
        f"Within tolerance: {sum(near)} of {len(near)} judged cases.",
        "",
        *expected([one.row for one in rows]),
    ]


COMPARISON = Comparison(
    folder=Path(__file__).parent,
    description=__doc__,
    cases=cases(),
    quick=quick(cases()),
    quick_is="two cases",
    example="awm/*",
    jobs=2,
    writes="and results.md",
    units={"goodput": "%", "queue": "kB", "sd": "kB", "drops": "packets"},
    columns=COLUMNS,
    words=1,
    needs=lambda case: (case, case.uncontrolled),
    simulate=simulated,
    emulate=emulate,
    stored_as=Measured,
    row=row,
    summary=summary,
)

if __name__ == "__main__":
    sys.exit(harness.main(COMPARISON))
