"""Gateways and practRA before real senders: `python validation/linux/gateway/run.py [CASE ...]`.

Simulates each case and compares it with what the kernel did (stored/emulated.json); prints a table and what is
expected, and exits 1 if a case is out of tolerance and explained.toml does not say why. With `--emulate` the kernel
does it again, in real time (root and netlulld), and `--store` writes stored/emulated.json and results.md.
`--quick`: two cases.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import emulated
from bottlenecks import JUDGED, SEED, Case, cases, quick
from emulated import Measured

from netlull import EmulationError

HERE = Path(__file__).parent
RESULTS, EXPLAINED = HERE / "results.md", HERE / "explained.toml"
GOODPUT, QUEUE, QUEUE_LEAST_KB, DROPS, DROPS_LEAST = 0.03, 0.15, 4.0, 0.3, 10
"""Tolerances: shares, and differences below which nothing is meant."""
STEADIER = 4.0
"""By how much AWM makes the queue steadier, as is expected."""
COLUMNS = (
    *("case", "queue [kB]", "its sd [kB]", "steadier", "drops", "goodput [Mb/s]", "mean rate [Mb/s]", "rate changes"),
    *("energy saved [%]", "late p99 [ms]", "verdict"),
)


@dataclass(frozen=True)
class Row:
    """A case in both worlds, and without control."""

    case: Case
    sim: Measured
    real: Measured
    sim_free: Measured
    real_free: Measured

    @property
    def misses(self) -> list[str]:
        """What is out of tolerance."""
        sim, real = self.sim, self.real
        checks = {
            "goodput": abs(sim.goodput_bps / real.goodput_bps - 1) <= GOODPUT,
            "queue": abs(sim.queue_kb - real.queue_kb) <= max(QUEUE * real.queue_kb, QUEUE_LEAST_KB),
            "sd": abs(sim.queue_sd_kb - real.queue_sd_kb) <= max(QUEUE * real.queue_sd_kb, QUEUE_LEAST_KB),
            "drops": abs(sim.drops - real.drops) <= max(DROPS * real.drops, DROPS_LEAST),
        }
        return [name for name, near in checks.items() if not near]

    def cells(self, reason: str) -> list[str]:
        """As the table has them: simulated, Linux."""
        sim, real = self.sim, self.real
        verdict = "ok" if not self.misses else f"{', '.join(self.misses)}: {reason or 'NOT EXPLAINED'}"
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
            verdict if self.case.sender in JUDGED else f"shown; {reason}".rstrip("; "),
        ]


def steadier(free: Measured, held: Measured) -> float:
    """How many times the standard deviation of the queue is lower than without control."""
    return free.queue_sd_kb / max(held.queue_sd_kb, 1e-3)


def explanations() -> list[tuple[str, str]]:
    """Patterns of cases and why they differ; the first that fits counts."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("case", [])
    return [(entry["name"], " ".join(entry["why"].split())) for entry in entries]


def expected(rows: Sequence[Row]) -> list[str]:
    """Whether AWM does with real senders what is expected of it, a line each."""
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


def report(rows: Sequence[Row], known: Sequence[tuple[str, str]]) -> str:
    """In Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|---|{'---:|' * (len(COLUMNS) - 2)}---|"]
    lines += [f"| {' | '.join(row.cells(reason_of(row.case, known)))} |" for row in rows]
    kernels = ", ".join(sorted({row.real.kernel for row in rows}))
    lines += ["", "In cells: simulated, Linux.", "", *expected(rows), "", f"Linux {kernels}."]
    return "\n".join(lines) + "\n"


def reason_of(case: Case, known: Sequence[tuple[str, str]]) -> str:
    """Why it differs; empty if nobody has said."""
    return next((why for pattern, why in known if fnmatch(case.name, pattern)), "")


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if every case that is judged is within tolerance or explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="CASE", help="patterns such as 'awm/*'; default all")
    parser.add_argument("--quick", action="store_true", help="two cases")
    parser.add_argument("--emulate", action="store_true", help="emulate first, in real time")
    parser.add_argument("--jobs", type=int, default=2, help="emulations at the same time; default 2")
    parser.add_argument("--max-lateness", metavar="TIME", help="of 99 in 100 packets; default netlulld's")
    parser.add_argument("--store", action="store_true", help="write what was emulated, and results.md")
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
    rows = []
    for case in chosen:
        if case.name in stored and case.uncontrolled.name in stored:
            sim, free = (emulated.simulate(which, [SEED])[0] for which in (case, case.uncontrolled))
            rows.append(Row(case, sim, stored[case.name][0], free, stored[case.uncontrolled.name][0]))
    if not rows:
        print("nothing is stored of these cases; expected --emulate", file=sys.stderr)
        return 1
    known = explanations()
    text = report(rows, known)
    print(text, end="")
    if given.store and len(chosen) == len(cases()):
        RESULTS.write_text(text, encoding="utf-8")
    return 1 if any(r.case.sender in JUDGED and r.misses and not reason_of(r.case, known) for r in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
