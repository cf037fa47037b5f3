"""Sleeping links with real senders: `python validation/linux/greened/run.py [CASE ...]`.

The paper's network (greened-network-2012): a download across Abilene, where ESTOP puts some links to sleep at 30
s. Simulates each case and compares it with the kernel's run (stored/emulated.json). Prints a table, and exits 1 if a
case is out of tolerance and explained.toml has no reason, or a smaller bound. With `--emulate` the kernel runs again,
in real time (root and netlulld), and `--store` writes stored/emulated.json and results.md. `--quick`: two cases.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # the common part of comparisons with the kernel
import harness
from emulated import Measured, emulate, simulated
from harness import Comparison, Deviation, Judgement
from switching import SEEDS, Case, cases, quick

GOODPUT, COST, PACKETS, PACKETS_LEAST = 3.0, 5.0, 10.0, 10
"""Tolerances in percent (of the cost in points), and negligible differences."""
COLUMNS = (
    *("case", "settled [Mb/s]", "later [Mb/s]", "switching costs [%]", "retransmissions", "timeouts"),
    *("lost to switching", "late p99 [ms]"),
)


@dataclass(frozen=True)
class Row:
    """A case in both worlds, and with all links awake; means over seeds."""

    case: Case
    sims: Sequence[Measured]
    reals: Sequence[Measured]
    sims_awake: Sequence[Measured]
    reals_awake: Sequence[Measured]

    @property
    def real(self) -> Measured:
        """The kernel's latest run."""
        return max(self.reals, key=lambda one: one.late_s)

    @property
    def deviations(self) -> list[Deviation]:
        """The judged deviations. With all links awake the cost is zero."""

        def of(pick: Callable[[Measured], float]) -> tuple[float, float]:
            return mean(self.sims, pick), mean(self.reals, pick)

        def goodput(name: str, pick: Callable[[Measured], float]) -> Deviation:
            sim, real = of(pick)
            return Deviation(name, 100 * abs(sim / real - 1), GOODPUT)

        sent_again = of(lambda one: one.retransmissions)
        bound = max(PACKETS / 100 * sent_again[1], PACKETS_LEAST)
        found = [
            goodput("settled", lambda one: one.settled_bps),
            goodput("later", lambda one: one.later_bps),
            Deviation("retransmissions", abs(sent_again[0] - sent_again[1]), bound),
        ]
        if self.case != self.case.awake:
            costs = cost(self.sims, self.sims_awake), cost(self.reals, self.reals_awake)
            found.append(Deviation("cost", abs(costs[0] - costs[1]), COST))
        return found

    def cells(self) -> list[str]:
        """The cells of the table: simulated, Linux."""

        def both(pick: Callable[[Measured], float], spec: str = ".0f", scale: float = 1.0) -> str:
            return ", ".join(format(scale * mean(runs, pick), spec) for runs in (self.sims, self.reals))

        return [
            self.case.name,
            both(lambda one: one.settled_bps, ".2f", 1e-6),
            both(lambda one: one.later_bps, ".2f", 1e-6),
            f"{cost(self.sims, self.sims_awake):.1f}, {cost(self.reals, self.reals_awake):.1f}",
            both(lambda one: one.retransmissions),
            both(lambda one: one.timeouts, ".1f"),
            both(lambda one: one.lost_to_switching),
            f"{1e3 * self.real.late_s:.1f}",
        ]


def mean(runs: Sequence[Measured], pick: Callable[[Measured], float]) -> float:
    """The mean over seeds."""
    return statistics.mean(pick(run) for run in runs)


def cost(asleep: Sequence[Measured], awake: Sequence[Measured]) -> float:
    """The reduction of goodput from 30 s on, compared with all links awake, in percent."""
    return 100 * (1 - mean(asleep, lambda one: one.after_bps) / mean(awake, lambda one: one.after_bps))


def row(case: Case, stored: Mapping[str, Sequence[Measured]]) -> Row:
    """The row of a case, with the case of all links awake."""
    return Row(case, simulated(case), stored[case.name], simulated(case.awake), stored[case.awake.name])


def summary(rows: Sequence[Judgement[Row]], _stored: Mapping[str, Sequence[Measured]]) -> list[str]:
    """The summary of the table."""
    lines = [f"Each cell: simulated, Linux; means over {len(SEEDS)} seeds.", "Within tolerance:"]
    for measure in COMPARISON.units:
        judged = [one for one in rows if measure in {found.measure for found in one.row.deviations}]
        misses = sum(measure in {miss.measure for miss in one.misses} for one in judged)
        lines.append(f"- {measure}: {len(judged) - misses} of {len(judged)}")
    looped, looped_really = (
        sum(run.expired_packets for runs in worlds for run in runs)
        for worlds in ([one.row.sims for one in rows], [one.row.reals for one in rows])
    )
    return [*lines, f"Lost in loops, by all flows: {looped:.0f}, {looped_really:.0f}."]


COMPARISON = Comparison(
    folder=Path(__file__).parent,
    description=__doc__,
    cases=cases(),
    quick=quick(cases()),
    quick_is="two cases",
    example="reno/*",
    jobs=1,
    writes="and results.md",
    units={"settled": "%", "later": "%", "cost": "points", "retransmissions": "packets"},
    columns=COLUMNS,
    words=1,
    needs=lambda case: (case, case.awake),
    simulate=simulated,
    emulate=emulate,
    stored_as=Measured,
    row=row,
    summary=summary,
)

if __name__ == "__main__":
    sys.exit(harness.main(COMPARISON))
