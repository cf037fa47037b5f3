"""Compares netlull with Linux's TCP in an emulation: `python validation/linux/run.py [CASE ...]`.

Simulates each case and compares it with what the kernel did (stored/emulated.json); prints a table, and exits 1 if a
case is out of tolerance and explained.toml does not say why. With `--emulate` the kernel does it again, in real time
(root and netlulld; 10 minutes), and `--store` writes stored/emulated.json and results.md. `--quick`: six cases.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from cases import QUICK, REPEATED, SEED, Case, cases

from netlull import EmulationError, EmulationLate, Result, Scenario

HERE = Path(__file__).parent
STORED = HERE / "stored" / "emulated.json"
RESULTS = HERE / "results.md"
EXPLAINED = HERE / "explained.toml"
COMPLETION = 0.03
RETRANSMISSIONS = 0.10
RETRANSMISSIONS_LEAST = 3
SAMPLES = 100
REPEATS = 5
ATTEMPTS = 3
"""A run that was late on a busy machine is tried again."""
METRICS = ("completion_time_s", "goodput_bps", "retransmissions", "segment_bytes")


@dataclass(frozen=True)
class Measured:
    """A run in either world."""

    completion_s: float
    """NaN if it did not complete."""
    goodput_bps: float
    """Of the download while it ran."""
    retransmissions: float
    cwnd_segments: float
    """The mean of `window`."""
    window: Sequence[float]
    """Segments at `SAMPLES` instants spread over the simulated download; NaN before and after."""
    late_s: float = 0.0
    kernel: str = ""


def measured(result: Result, size: float, instants: Sequence[float]) -> Measured:
    """What is compared of a run."""
    flow = result.flow("download")
    values = {name: math.nan if flow[name] is None else float(flow[name]) for name in METRICS}
    # Linux's acknowledgements carry timestamps: both worlds have 1448 B of data in a segment.
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
        window,
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
    """How far apart two windows are: the mean of their differences, in shares of the mean of the first."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (math.isnan(x) or math.isnan(y))]
    mean = sum(x for x, _ in pairs)
    return sum(abs(x - y) for x, y in pairs) / mean if mean else math.nan


def simulated(case: Case) -> tuple[Scenario, float, list[float], Measured]:
    """The scenario, the size of its download, the instants of samples and what the simulator says."""
    scenario = case.scenario()
    size = float(str(scenario.to_dict()["flow"][0]["size"]).split()[0])
    result = scenario.run(SEED)
    end = result.flow("download")["completion_time_s"] or result.summary["duration_s"]
    instants = [(index + 0.5) * end / SAMPLES for index in range(SAMPLES)]
    return scenario, size, instants, measured(result, size, instants)


def emulate(case: Case, times: int, max_lateness: str | None) -> list[dict[str, Any]]:
    """What the kernel does with it, so many times."""
    scenario, size, instants, _ = simulated(case)
    return [as_stored(measured(_punctual(scenario, max_lateness), size, instants)) for _ in range(times)]


def _punctual(scenario: Scenario, max_lateness: str | None) -> Result:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return scenario.emulate(SEED, max_lateness=max_lateness)
        except EmulationLate as late:
            if attempt == ATTEMPTS:
                raise
            print(f"{scenario.name}: {late}; again", file=sys.stderr)
    raise AssertionError


def as_stored(one: Measured) -> dict[str, Any]:
    """With as many digits as mean something."""
    whole = {key: _number(value) for key, value in vars(one).items() if key not in {"window", "kernel"}}
    window = [None if math.isnan(value) else round(value, 1) for value in one.window]
    return {**whole, "window": window, "kernel": one.kernel}


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(f"{value:.6g}")


def from_stored(document: Mapping[str, Any]) -> Measured:
    """Null is NaN."""
    values = {key: math.nan if value is None else value for key, value in document.items() if key != "window"}
    window = [math.nan if value is None else value for value in document["window"]]
    return Measured(**{**values, "window": window})


@dataclass(frozen=True)
class Row:
    """A case in both worlds."""

    case: Case
    sim: Measured
    real: Measured
    sd: float | None
    """Of the completion times of repeated emulations, in shares of their mean."""

    @property
    def completion(self) -> float:
        """How much longer the kernel took, as a share of its time."""
        return self.sim.completion_s / self.real.completion_s - 1

    @property
    def misses(self) -> list[str]:
        """What is out of tolerance."""
        missed = []
        if not abs(self.completion) <= COMPLETION:
            missed.append("completion")
        allowed = max(RETRANSMISSIONS * self.real.retransmissions, RETRANSMISSIONS_LEAST)
        if not abs(self.sim.retransmissions - self.real.retransmissions) <= allowed:
            missed.append("retransmissions")
        return missed

    def cells(self, reason: str) -> list[str]:
        """As the table has them."""
        sim, real = self.sim, self.real
        verdict = "ok" if not self.misses else f"{' and '.join(self.misses)}: {reason or 'NOT EXPLAINED'}"
        return [
            self.case.name,
            f"{sim.completion_s:.3f}",
            f"{real.completion_s:.3f}",
            f"{100 * self.completion:+.1f}",
            f"{sim.goodput_bps / 1e6:.2f}",
            f"{real.goodput_bps / 1e6:.2f}",
            f"{sim.retransmissions:.0f}",
            f"{real.retransmissions:.0f}",
            f"{sim.cwnd_segments:.1f}",
            f"{real.cwnd_segments:.1f}",
            f"{100 * distance(sim.window, real.window):.0f}",
            "" if self.sd is None else f"{100 * self.sd:.2f}",
            verdict if self.case.judged else f"not judged: {reason}".rstrip(": "),
        ]


COLUMNS = (
    *("case", "sim [s]", "Linux [s]", "differ [%]", "sim [Mb/s]", "Linux [Mb/s]", "sim retr", "Linux retr"),
    *("sim cwnd", "Linux cwnd", "windows differ [%]", "repeats sd [%]", "verdict"),
)


def explanations() -> list[tuple[str, str]]:
    """Patterns of cases and why they differ; the first that fits counts."""
    entries = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")).get("case", [])
    return [(entry["name"], " ".join(entry["why"].split())) for entry in entries]


def reason_of(case: Case, known: Sequence[tuple[str, str]]) -> str:
    """Why it differs; empty if nobody has said."""
    return next((why for pattern, why in known if fnmatch(case.name, pattern)), "")


def compare(case: Case, runs: Sequence[Mapping[str, Any]]) -> Row:
    """The first of the kernel's runs is compared, the others give the spread."""
    real = [from_stored(run) for run in runs]
    times = [one.completion_s for one in real]
    spread = statistics.stdev(times) / statistics.mean(times) if len(times) > 1 else None
    return Row(case, simulated(case)[-1], real[0], spread)


def report(rows: Sequence[Row], known: Sequence[tuple[str, str]]) -> str:
    """The table in Markdown, and below it what it comes to."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|---|{'---:|' * (len(COLUMNS) - 2)}---|"]
    lines += [f"| {' | '.join(row.cells(reason_of(row.case, known)))} |" for row in rows]
    judged = [row for row in rows if row.case.judged]
    close = [row for row in judged if "completion" not in row.misses]
    both = [row for row in judged if not row.misses]
    late = max(row.real.late_s for row in rows)
    kernels = ", ".join(sorted({row.real.kernel for row in rows}))
    lines += [
        "",
        f"Within {100 * COMPLETION:g} % in completion time: {len(close)} of {len(judged)} judged; also within "
        f"{100 * RETRANSMISSIONS:g} % or {RETRANSMISSIONS_LEAST} in retransmissions: {len(both)}.",
        f"Linux {kernels}; 99 % of packets were at most {late * 1e6:.0f} us late.",
    ]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if every case that is judged is within tolerance or explained."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="CASE", help="patterns such as 'cubic-*'; default all")
    parser.add_argument("--quick", action="store_true", help="six cases")
    parser.add_argument("--emulate", action="store_true", help="emulate first, in real time")
    parser.add_argument("--max-lateness", metavar="TIME", help="of 99 in 100 packets; default netlulld's")
    parser.add_argument("--store", action="store_true", help="write what was emulated, and results.md")
    given = parser.parse_args(arguments)
    chosen = [case for case in (QUICK if given.quick else cases()) if _wanted(case, given.names)]
    stored: dict[str, list[dict[str, Any]]] = json.loads(STORED.read_text()) if STORED.exists() else {}
    if given.emulate:
        try:
            for number, case in enumerate(chosen, start=1):
                repeats = REPEATS if case in REPEATED and not given.quick else 1
                print(f"{number}/{len(chosen)} {case.name}", file=sys.stderr)
                stored[case.name] = emulate(case, repeats, given.max_lateness)
                if given.store:
                    _store(stored)
        except EmulationError as error:
            print(f"cannot emulate: {error}", file=sys.stderr)
            return 1
    rows = [compare(case, stored[case.name]) for case in chosen if case.name in stored]
    if not rows:
        print("nothing is stored of these cases; expected --emulate", file=sys.stderr)
        return 1
    known = explanations()
    text = report(rows, known)
    print(text, end="")
    if given.store and len(chosen) == len(cases()):
        RESULTS.write_text(text, encoding="utf-8")
    unexplained = [row for row in rows if row.case.judged and row.misses and not reason_of(row.case, known)]
    return 1 if unexplained else 0


def _wanted(case: Case, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch(case.name, pattern) for pattern in patterns)


def _store(stored: Mapping[str, Any]) -> None:
    STORED.parent.mkdir(exist_ok=True)
    lines = (f"{json.dumps(name)}: {json.dumps(runs)}" for name, runs in sorted(stored.items()))
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
