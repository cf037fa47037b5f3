"""The paper's client with real senders: `python validation/linux/client/run.py [CASE ...]`.

Simulates each case and compares it with the kernel's run (stored/emulated.json). Prints the tables of Figs. 5 to 7, the
paper's claims and the expectations. Exits 1 if a case is out of tolerance and explained.toml has no reason, or a
smaller bound. With `--emulate` the kernel runs again, in real time (root and netlulld), and `--store` writes
stored/emulated.json, results.md and figures.png. `--quick`: a site and a path.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # the common part of comparisons with the kernel
import claims
import harness
from emulated import Download, emulate, simulated
from harness import SENDERS, Comparison, Deviation, Judgement
from paths import BASE, LIVE, Case, cases, quick

TIME, PRODUCT = 3.0, 10.0
"""Tolerances in percent of the baseline's time and of a ratio of products. Values inside the range over seeds hold."""
PACED_SLOWDOWN = 0.05
"""The expected limit of bbr's slowdown by the shaper."""
JUDGED = ("reno", "cubic")
CLAIMS_SAY = "The paper's claims, one run of each case; (no) marks a part that does not hold:"
COLUMNS = (
    *("path/sender/way", "time [s]", "time, baseline = 1", "energy x delay, baseline = 1", "simulated, ten seeds"),
    *("missed", "asleep [%]", "late p99 [ms]", "fallback, Linux"),
)


@dataclass(frozen=True)
class Row:
    """A case in both worlds, with its baseline."""

    case: Case
    real: Download
    real_base: Download

    @property
    def sim(self) -> Download:
        """The simulated run with the same seed."""
        return simulated(self.case)[0]

    @property
    def sim_base(self) -> Download:
        """The simulated baseline with the same seed."""
        return simulated(self.case.base)[0]

    @property
    def sims(self) -> list[float]:
        """The simulator's products by seed, for downloads that ended."""
        pairs = zip(simulated(self.case), simulated(self.case.base), strict=True)
        found = [one.product_js / base.product_js for one, base in pairs]
        return [value for value in found if not math.isnan(value)] or [math.nan]

    @property
    def range(self) -> tuple[float, float]:
        """The range of these products."""
        return min(self.sims), max(self.sims)

    @property
    def products(self) -> tuple[float, float]:
        """The products: simulated, Linux."""
        return self.sim.product_js / self.sim_base.product_js, self.real.product_js / self.real_base.product_js

    @property
    def deviations(self) -> list[Deviation]:
        """The judged deviations."""
        if self.case.way == BASE:
            return [Deviation("time", 100 * abs(self.sim.seconds / self.real.seconds - 1), TIME)]
        (sim, real), (low, high), slack = self.products, self.range, TIME / 100
        inside = low * (1 - slack) <= real <= high * (1 + slack)
        return [Deviation("product", 0.0 if inside else 100 * abs(sim / real - 1), PRODUCT)]

    def cells(self) -> list[str]:
        """The cells of the table: simulated, Linux."""
        sim, real = self.sim, self.real
        ratios = sim.seconds / self.sim_base.seconds, real.seconds / self.real_base.seconds
        based = self.case.way == BASE
        return [
            self.case.name,
            f"{sim.seconds:.2f}, {real.seconds:.2f}",
            "" if based else f"{ratios[0]:.2f}, {ratios[1]:.2f}",
            "" if based else f"{self.products[0]:.2f}, {self.products[1]:.2f}",
            "" if based else f"{self.range[0]:.2f} to {self.range[1]:.2f}",
            f"{sim.missed:.0f}, {real.missed:.0f}",
            f"{100 * sim.asleep:.0f}, {100 * real.asleep:.0f}",
            f"{1e3 * real.late_s:.1f}",
            real.fallback,
        ]


def expected(rows: Sequence[Row]) -> list[str]:
    """The expectations of the shaper with real senders, a line each."""
    shaped = [row for row in rows if row.case.way == LIVE]
    lines = []
    for sender in JUDGED:
        for kind, paths in (("without noise and loss", "*-clean"), ("with noise, without loss", "*-0%")):
            found = [row for row in shaped if row.case.sender == sender and fnmatch(row.case.path, paths)]
            if found:
                each = ", ".join(f"{row.case.path.partition('-')[0]} {row.real.missed:.0f}" for row in found)
                lines.append(f"- {sender}, {kind}: packets missed by the shaper: {each}.")
    paced = [row for row in shaped if row.case.sender == "bbr"]
    slow = {row.case.path: row.real.seconds / row.real_base.seconds - 1 for row in paced}
    if slow:
        over = ", ".join(f"{path} {value:.0%}" for path, value in slow.items() if value >= PACED_SLOWDOWN) or "none"
        less = sum(value < PACED_SLOWDOWN for value in slow.values())
        lines.append(
            f"- bbr: less than {PACED_SLOWDOWN:.0%} slower on {less} of {len(slow)} paths, which all complete. "
            f"Slower on: {over}. The shaper gives up on {sum(bool(row.real.fallback) for row in paced)}."
        )
    return lines


def of_claims(stored: Mapping[str, Sequence[Download]]) -> list[str]:
    """The paper's claims by world and sender, in Markdown."""

    def linux(case: Case) -> Download | None:
        return stored[case.name][0] if case.name in stored else None

    worlds = {f"simulated, {name}": claims.World(lambda case: simulated(case)[0], name) for name in SENDERS}
    worlds |= {f"Linux, {name}": claims.World(linux, name) for name in SENDERS}
    found = {name: claims.judged(world) for name, world in worlds.items()}
    lines = [f"| claim | {' | '.join(worlds)} |", f"|---|{'---|' * len(worlds)}"]
    for claim, title in claims.TITLES.items():
        verdicts = []
        for name in worlds:
            parts = found[name][claim]
            verdicts.append(f"{claims.verdict(parts)}: {'; '.join(f'{said}{_mark(held)}' for said, held in parts)}")
        lines.append(f"| {claim}, {title} | {' | '.join(verdicts)} |")
    return lines


def _mark(held: bool) -> str:  # for a table's cell
    return "" if held else " (no)"


def row(case: Case, stored: Mapping[str, Sequence[Download]]) -> Row:
    """The row of a case with its baseline."""
    return Row(case, stored[case.name][0], stored[case.base.name][0])


def summary(rows: Sequence[Judgement[Row]], stored: Mapping[str, Sequence[Download]]) -> list[str]:
    """The summary of the table; for all cases also the paper's claims."""
    near = [not one.misses for one in rows if one.row.case.sender in JUDGED]
    return [
        "Each cell: simulated, Linux.",
        f"Within tolerance: {sum(near)} of {len(near)} judged cases.",
        "",
        *expected([one.row for one in rows]),
        *(["", CLAIMS_SAY, "", *of_claims(stored)] if len(rows) == len(cases()) else []),
    ]


def draw(rows: Sequence[Row]) -> None:
    """Draws Figs. 5 to 7."""
    import drawn

    drawn.save(rows, Path(__file__).with_name("figures.png"))


COMPARISON = Comparison(
    folder=Path(__file__).parent,
    description=__doc__,
    cases=cases(),
    quick=quick(cases()),
    quick_is="a site and a path",
    example="sun/*",
    jobs=4,
    writes="results.md and figures.png",
    units={"time": "%", "product": "%"},
    columns=COLUMNS,
    words=2,
    needs=lambda case: (case, case.base),
    simulate=simulated,
    emulate=emulate,
    stored_as=Download,
    row=row,
    summary=summary,
    draw=draw,
)

if __name__ == "__main__":
    sys.exit(harness.main(COMPARISON))
