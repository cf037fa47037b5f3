"""Lull with real senders: `python validation/linux/lull/run.py [CASE ...]`.

Simulates each case with a link under Lull and with the same link always on, and compares with the kernel's runs
(stored/emulated.json). Prints a table. Exits 1 if a case is out of tolerance and explained.toml has no reason, or a
smaller bound. With `--emulate` the kernel runs again, in real time (root and netlulld), and `--store` writes
stored/emulated.json and results.md. `--quick`: two cases.
"""

from __future__ import annotations

import functools
import math
import statistics
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.append(str(Path(__file__).parents[1]))  # the common part of comparisons with the kernel
import harness
from harness import Comparison, Deviation, Judgement
from traffic import COMPLETION, GOODPUT, LOST, SAVING, SLOWER, Case, cases, quick

if TYPE_CHECKING:
    from netlull import Result

JUDGED = ("reno", "cubic")
"""The TCPs whose simulation is judged. Linux's bbr is version 1, netlull's version 3."""
COLUMNS = (
    *("case", "seeds", "goodput [Mb/s]", "lost [%]", "mean completion [ms]", "slower [%]", "p95 slower [%]", "drops"),
    *("FS saved [%]", "rate changes", "late p99 [ms]"),
)


@dataclass(frozen=True)
class Measured:
    """The measurements of a run."""

    goodput_bps: float
    """Goodput of TCP."""
    completion_s: float
    """Mean completion time of the short transfers; NaN without them, or if one is incomplete."""
    p95_s: float
    """The 95th percentile of completion times of requests; NaN without requests."""
    drops: float
    changes: float
    """Number of rate changes."""
    saving: float
    """Share of the link's energy saved, ideal frequency scaling."""
    late_s: float = 0.0
    """The lateness that 99 % of packets did not exceed."""
    kernel: str = ""
    """The kernel's release; empty in the simulator."""


def measured(case: Case, result: Result) -> Measured:
    """The compared values of a run."""
    link, account, flows = result.link("server-client"), result.emulation, result.summary["flows"]
    tcp = [flow for flow in flows if flow["kind"] in {"tcp", "requests"}]
    completion = p95 = math.nan
    if case.traffic == "web":
        (web,) = tcp
        if web["requests_completed"] == web["requests_started"]:
            completion, p95 = web["mean_completion_s"], web["p95_completion_s"]
    elif case.traffic == "sizes":
        completion = statistics.mean(
            math.nan if one is None else one for one in (flow["completion_time_s"] for flow in tcp)
        )
    return Measured(
        goodput_bps=sum(flow["goodput_bps"] for flow in tcp),
        completion_s=completion,
        p95_s=p95,
        drops=link["dropped_packets"],
        changes=link["rate_changes"],
        saving=link["energy"]["fs"]["saving"],
        late_s=account["lateness"]["p99_s"] if account else 0.0,
        kernel=account["system"]["kernel"] if account else "",
    )


@functools.cache
def simulated(case: Case) -> Sequence[Measured]:
    """The simulator's runs, one per seed."""
    scenario = case.scenario()
    return [measured(case, scenario.run(seed)) for seed in range(1, case.seeds + 1)]


def emulate(case: Case, given: Namespace) -> list[Measured]:
    """The kernel's runs: for each seed under Lull, then always on."""
    found = []
    for seed in range(1, case.seeds + 1):
        for one in (case, case.always_on):
            emulation = functools.partial(one.scenario().emulate, seed, max_lateness=given.max_lateness)
            found.append(measured(one, harness.punctual(one.name, emulation)))
    return found


def mean(runs: Sequence[Measured]) -> Measured:
    """The means of runs with different seeds, and their largest lateness."""

    def of(name: str) -> float:
        return statistics.mean(float(getattr(run, name)) for run in runs)

    names = ("goodput_bps", "completion_s", "p95_s", "drops", "changes", "saving")
    late, kernel = max(run.late_s for run in runs), runs[0].kernel
    return Measured(**{name: of(name) for name in names}, late_s=late, kernel=kernel)


def growth(value: float, base: float) -> float:
    """The growth of a value in percent of its base."""
    return 100 * (value / base - 1)


@dataclass(frozen=True)
class Row:
    """A case in both worlds, each under Lull and always on."""

    case: Case
    sim: Measured
    sim_on: Measured
    real: Measured
    real_on: Measured
    seeds: int
    """The number of compared seeds."""

    @property
    def deviations(self) -> list[Deviation]:
        """The judged deviations: Linux under Lull from Linux always on, and the simulator from Linux."""
        case, sim, real, on = self.case, self.sim, self.real, self.real_on
        if case.short_transfers:
            slower = growth(real.completion_s, on.completion_s)
            found = [Deviation("slower", slower, SLOWER[case.rtt_ms >= 20])]
            agree = Deviation("completion", abs(growth(sim.completion_s, real.completion_s)), COMPLETION)
        else:
            found = [Deviation("lost", -growth(real.goodput_bps, on.goodput_bps), LOST[case.traffic])]
            agree = Deviation("goodput", abs(growth(sim.goodput_bps, real.goodput_bps)), GOODPUT)
        if case.sender in JUDGED:
            found += [agree, Deviation("saving", self.saving_points, SAVING)]
        return found

    @property
    def saving_points(self) -> float:
        """The difference of energy saved between simulator and Linux, in points."""
        return 100 * abs(self.sim.saving - self.real.saving)

    def cells(self) -> list[str]:
        """The cells of the table: simulated, Linux."""
        both = ((self.sim, self.sim_on), (self.real, self.real_on))

        def pair(values: Sequence[float], form: str) -> str:
            return ", ".join("-" if math.isnan(value) else format(value, form) for value in values)

        return [
            self.case.name,
            f"{self.seeds} of {self.case.seeds}",
            pair([run.goodput_bps / 1e6 for run, _ in both], ".2f"),
            pair([-growth(run.goodput_bps, on.goodput_bps) for run, on in both], ".1f"),
            pair([1e3 * run.completion_s for run, _ in both], ".1f"),
            pair([growth(run.completion_s, on.completion_s) for run, on in both], ".1f"),
            pair([growth(run.p95_s, on.p95_s) for run, on in both], ".1f"),
            pair([run.drops for run, _ in both], ".0f"),
            pair([100 * run.saving for run, _ in both], ".0f"),
            pair([run.changes for run, _ in both], ".0f"),
            f"{1e3 * max(self.real.late_s, self.real_on.late_s):.2f}",
        ]


def row(case: Case, stored: Mapping[str, Sequence[Measured]]) -> Row:
    """The row of a case. A seed with an incomplete request in any of its four runs is left out."""
    runs = stored[case.name]
    four = list(zip(simulated(case), simulated(case.always_on), runs[::2], runs[1::2], strict=True))
    complete = [each for each in four if not any(math.isnan(run.completion_s) for run in each)]
    # Without a complete seed, the missing values are out of every tolerance.
    compared = complete if case.short_transfers and complete else four
    sim, sim_on, real, real_on = (mean(each) for each in zip(*compared, strict=True))
    return Row(case, sim, sim_on, real, real_on, len(compared))


def summary(rows: Sequence[Judgement[Row]], _stored: Mapping[str, Sequence[Measured]]) -> list[str]:
    """The summary of the table."""

    def within(measures: set[str], chosen: Sequence[Judgement[Row]]) -> str:
        kept = [not measures & {miss.measure for miss in one.misses} for one in chosen]
        return f"{sum(kept)} of {len(kept)}"

    judged = [one for one in rows if one.row.case.sender in JUDGED]
    lines = [
        "Each cell: simulated, Linux.",
        f"Lull's cost in Linux is within its limit in {within({'lost', 'slower'}, rows)} cases.",
        f"The simulator agrees with Linux (goodput {GOODPUT:g} %, completion {COMPLETION:g} %, saving {SAVING:g} "
        f"points) in {within({'goodput', 'completion', 'saving'}, judged)} judged cases.",
    ]
    if judged:
        widest = max((one.row for one in judged), key=lambda row: row.saving_points)
        lines.append(f"Energy saved differs by at most {widest.saving_points:.2f} points there ({widest.case.name}).")
    return lines


COMPARISON = Comparison(
    folder=Path(__file__).parent,
    description=__doc__,
    cases=cases(),
    quick=quick(cases()),
    quick_is="two cases",
    example="cubic/web/*",
    jobs=2,
    writes="and results.md",
    units={"lost": "%", "slower": "%", "goodput": "%", "completion": "%", "saving": "points"},
    columns=COLUMNS,
    words=1,
    needs=lambda case: (case,),
    simulate=lambda case: (simulated(case), simulated(case.always_on)),
    emulate=emulate,
    stored_as=Measured,
    row=row,
    summary=summary,
)

if __name__ == "__main__":
    sys.exit(harness.main(COMPARISON))
