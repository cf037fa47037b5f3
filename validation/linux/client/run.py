"""The paper's client with real senders: `python validation/linux/client/run.py [CASE ...]`.

Simulates each case and compares it with what the kernel did (stored/emulated.json); prints the tables of Figs. 5 to 7,
the paper's claims and what is expected, and exits 1 if a case is out of tolerance and explained.toml does not say why.
With `--emulate` the kernel does it again, in real time (root and netlulld), and `--store` writes stored/emulated.json,
results.md and figures.png. `--quick`: a site and a path.
"""

from __future__ import annotations

import argparse
import functools
import math
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import claims
import emulated
from emulated import Download
from paths import BASE, LIVE, SEED, SEEDS, Case, cases, quick

from netlull import EmulationError

HERE = Path(__file__).parent
RESULTS, EXPLAINED, FIGURES = HERE / "results.md", HERE / "explained.toml", HERE / "figures.png"
TIME, PRODUCT = 0.03, 0.10
"""Tolerances: of the baseline's time, of a ratio of products. Inside the simulator's range over seeds is near, too."""
PACED_SLOWDOWN = 0.05
"""What bbr may lose by the shaper, as is expected."""
JUDGED = ("reno", "cubic")
COLUMNS = (
    *("path/sender/way", "time [s]", "time, baseline = 1", "energy x delay, baseline = 1", "simulated, ten seeds"),
    *("missed", "asleep [%]", "fallback, Linux", "late p99 [ms]", "verdict"),
)


@functools.cache
def simulated(case: Case) -> tuple[Download, ...]:
    """All seeds, the compared one first."""
    return tuple(emulated.simulate(case, SEEDS))


@dataclass(frozen=True)
class Row:
    """A case in both worlds, beside its baseline."""

    case: Case
    real: Download
    real_base: Download

    @property
    def sim(self) -> Download:
        """With the same seed."""
        return simulated(self.case)[0]

    @property
    def sim_base(self) -> Download:
        """The same."""
        return simulated(self.case.base)[0]

    @property
    def sims(self) -> list[float]:
        """The simulator's products by seed, of downloads that ended."""
        pairs = zip(simulated(self.case), simulated(self.case.base), strict=True)
        found = [one.product_js / base.product_js for one, base in pairs]
        return [value for value in found if not math.isnan(value)] or [math.nan]

    @property
    def range(self) -> tuple[float, float]:
        """Of these."""
        return min(self.sims), max(self.sims)

    @property
    def products(self) -> tuple[float, float]:
        """Simulated, Linux."""
        return self.sim.product_js / self.sim_base.product_js, self.real.product_js / self.real_base.product_js

    @property
    def misses(self) -> list[str]:
        """What is out of tolerance."""
        if self.case.way == BASE:
            return [] if abs(self.sim.seconds / self.real.seconds - 1) <= TIME else ["time"]
        (sim, real), (low, high) = self.products, self.range
        near = abs(sim / real - 1) <= PRODUCT or low * (1 - TIME) <= real <= high * (1 + TIME)
        return [] if near else ["product"]

    def cells(self, reason: str) -> list[str]:
        """As the table has them: simulated, Linux."""
        sim, real = self.sim, self.real
        ratios = sim.seconds / self.sim_base.seconds, real.seconds / self.real_base.seconds
        verdict = "ok" if not self.misses else f"{', '.join(self.misses)}: {reason or 'NOT EXPLAINED'}"
        based = self.case.way == BASE
        return [
            self.case.name,
            f"{sim.seconds:.2f}, {real.seconds:.2f}",
            "" if based else f"{ratios[0]:.2f}, {ratios[1]:.2f}",
            "" if based else f"{self.products[0]:.2f}, {self.products[1]:.2f}",
            "" if based else f"{self.range[0]:.2f} to {self.range[1]:.2f}",
            f"{sim.missed:.0f}, {real.missed:.0f}",
            f"{100 * sim.asleep:.0f}, {100 * real.asleep:.0f}",
            real.fallback,
            f"{1e3 * real.late_s:.1f}",
            verdict if self.case.sender in JUDGED else f"shown; {reason}".rstrip("; "),
        ]


def explanations() -> list[tuple[str, str]]:
    """Patterns of cases and why they differ; the first that fits counts."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("case", [])
    return [(entry["name"], " ".join(entry["why"].split())) for entry in entries]


def reason_of(case: Case, known: Sequence[tuple[str, str]]) -> str:
    """Why it differs; empty if nobody has said."""
    return next((why for pattern, why in known if fnmatch(case.name, pattern)), "")


def expected(rows: Sequence[Row]) -> list[str]:
    """What is expected of the shaper with real senders, a line each."""
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
            f"- bbr: slower by less than {PACED_SLOWDOWN:.0%} on {less} of {len(slow)} paths, all of which complete; "
            f"not: {over}. It gives up on {sum(bool(row.real.fallback) for row in paced)}."
        )
    return lines


def of_claims(stored: Mapping[str, Sequence[Download]]) -> list[str]:
    """The paper's claims by world and sender, in Markdown."""

    def linux(case: Case) -> Download | None:
        return stored[case.name][0] if case.name in stored else None

    worlds = {
        f"simulated, {name}": claims.World(lambda case: simulated(case)[0], name) for name in ("reno", "cubic", "bbr")
    }
    worlds |= {f"Linux, {name}": claims.World(linux, name) for name in ("reno", "cubic", "bbr")}
    found = {name: claims.judged(world) for name, world in worlds.items()}
    lines = [f"| claim | {' | '.join(worlds)} |", f"|---|{'---|' * len(worlds)}"]
    for claim, title in claims.TITLES.items():
        verdicts = []
        for name in worlds:
            parts = found[name][claim]
            verdicts.append(f"{claims.verdict(parts)}: {'; '.join(f'{said}{_mark(held)}' for said, held in parts)}")
        lines.append(f"| {claim}, {title} | {' | '.join(verdicts)} |")
    return lines


def _mark(held: bool) -> str:  # of a table's cell
    return "" if held else " (no)"


def report(rows: Sequence[Row], known: Sequence[tuple[str, str]], judged: Sequence[str]) -> str:
    """In Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|---|{'---:|' * (len(COLUMNS) - 3)}---|---|"]
    lines += [f"| {' | '.join(row.cells(reason_of(row.case, known)))} |" for row in rows]
    near = [row for row in rows if row.case.sender in JUDGED]
    kernels = ", ".join(sorted({row.real.kernel for row in rows}))
    lines += [
        "",
        "In cells: simulated, Linux.",
        f"Within tolerance: {sum(not row.misses for row in near)} of {len(near)} judged.",
        "",
        *expected(rows),
        "",
        *judged,
        "",
        f"Linux {kernels}; 99 % of packets were at most {1e3 * max(row.real.late_s for row in rows):.1f} ms late.",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if every case that is judged is within tolerance or explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="CASE", help="patterns such as 'sun/*'; default all")
    parser.add_argument("--quick", action="store_true", help="a site and a path")
    parser.add_argument("--emulate", action="store_true", help="emulate first, in real time")
    parser.add_argument("--jobs", type=int, default=4, help="emulations at the same time; default 4")
    parser.add_argument("--max-lateness", metavar="TIME", help="of 99 in 100 packets; default netlulld's")
    parser.add_argument("--store", action="store_true", help="write what was emulated, results.md and figures.png")
    given = parser.parse_args(arguments)
    every = quick(cases()) if given.quick else cases()
    chosen = [case for case in every if not given.names or any(fnmatch(case.name, name) for name in given.names)]
    stored = emulated.read()
    if given.emulate:
        try:
            emulated.emulate_all(chosen, [SEED], given.jobs, given.max_lateness, stored, write_each=given.store)
        except EmulationError as error:
            print(f"cannot emulate: {error}", file=sys.stderr)
            return 1
    there = [case for case in chosen if case.name in stored and case.base.name in stored]
    rows = [Row(case, stored[case.name][0], stored[case.base.name][0]) for case in there]
    if not rows:
        print("nothing is stored of these cases; expected --emulate", file=sys.stderr)
        return 1
    known, whole = explanations(), len(rows) == len(cases())
    text = report(rows, known, of_claims(stored) if whole else [])
    print(text, end="")
    if given.store and whole:
        import drawn

        RESULTS.write_text(text, encoding="utf-8")
        drawn.save(rows, FIGURES)
    return 1 if any(r.case.sender in JUDGED and r.misses and not reason_of(r.case, known) for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
