"""The common part of comparisons with the kernel: stored runs, retries of late runs, bounded explanations, the command.

A `Comparison` (run.py here, in client/, gateway/ and greened/) defines the cases, their runs in both worlds and their
rows of the table. A case out of tolerance needs an entry in explained.toml: the first whose pattern fits its name, and
whose bounds (`up_to`) it keeps.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import sys
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

from netlull import EmulationError, EmulationLate, Result

SENDERS: Mapping[str, str] = {"reno": "sack", "cubic": "cubic", "bbr": "bbr"}
"""The scenario's name of each of the kernel's algorithms."""
ATTEMPTS = 6
"""The most attempts of a run that is late on a busy machine."""


class Case(Protocol):
    """The object of a comparison, run in both worlds."""

    @property
    def name(self) -> str:
        """The name in tables, options and explanations."""

    @property
    def made_from(self) -> object:
        """The other inputs of its run, for JSON. A stored run with different inputs belongs to another case."""


class Emulated(Protocol):
    """A stored run, a dataclass."""

    @property
    def late_s(self) -> float:
        """The lateness that 99 % of packets did not exceed."""

    @property
    def kernel(self) -> str:
        """The kernel's release."""


class Row(Protocol):
    """A case in both worlds."""

    @property
    def case(self) -> Any:
        """The case."""

    @property
    def real(self) -> Emulated:
        """The compared run of the kernel."""

    @property
    def deviations(self) -> Sequence[Deviation]:
        """All judged deviations."""

    def cells(self) -> list[str]:
        """The cells of the table, without the verdict."""


@dataclass(frozen=True)
class Deviation:
    """The difference of the worlds in one measure, in its unit."""

    measure: str
    found: float
    """The difference. NaN (an incomplete download) is out of every tolerance and every bound."""
    tolerance: float

    @property
    def within(self) -> bool:
        """True if the difference is within the tolerance."""
        return self.found <= self.tolerance


@dataclass(frozen=True)
class Explanation:
    """The reason why cases are out of tolerance, with bounds."""

    pattern: str
    """The pattern of the cases' names."""
    why: str
    is_open: bool
    """True if the reason is not understood, or must be measured again."""
    up_to: Mapping[str, float]
    """The largest explained deviation by measure. Other measures are not explained."""

    def covers(self, deviation: Deviation) -> bool:
        """True if it explains this deviation."""
        return deviation.found <= self.up_to.get(deviation.measure, -math.inf)


class ExplanationError(ValueError):
    """An invalid entry of explained.toml."""


def explanations(path: Path, units: Mapping[str, str]) -> list[Explanation]:
    """The entries of an explained.toml.

    Args:
        path: The file.
        units: The unit of each measure of a comparison. Bounds are in it, as `"3 %"` or `"12 packets"`.

    Raises:
        ExplanationError: If a bound has an unknown measure or another unit, or an entry has no bound.
    """
    return [_explanation(entry, units) for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("case", [])]


def _explanation(entry: Mapping[str, Any], units: Mapping[str, str]) -> Explanation:
    pattern, bounds = entry["name"], {}
    for measure, bound in entry.get("up_to", {}).items():
        number, _, unit = str(bound).partition(" ")
        if measure not in units or unit != units[measure]:
            expected = ", ".join(f'{name} = "... {unit}"' for name, unit in units.items())
            raise ExplanationError(f'{pattern}: up_to.{measure} is "{bound}"; expected {expected}')
        bounds[measure] = float(number)
    if not bounds:
        raise ExplanationError(f"{pattern}: has no bounds; expected up_to")
    return Explanation(pattern, " ".join(entry["why"].split()), entry.get("open", False), bounds)


C = TypeVar("C", bound=Case)
R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Judgement(Generic[R]):
    """A row with its explanation."""

    row: R
    entry: Explanation | None

    @cached_property
    def misses(self) -> list[Deviation]:
        """The deviations out of tolerance."""
        return [deviation for deviation in self.row.deviations if not deviation.within]

    @cached_property
    def unexplained(self) -> list[Deviation]:
        """The deviations out of tolerance without an explanation, or beyond its bound."""
        return [one for one in self.misses if self.entry is None or not self.entry.covers(one)]

    def verdict(self, units: Mapping[str, str]) -> str:
        """The last cell of its row."""
        if not self.misses:
            return "ok"
        if self.entry is None:
            return f"{_measures(self.misses)}: NOT EXPLAINED"
        if self.unexplained:
            beyond = (f"{one.measure} {_number(one.found)} {units[one.measure]}" for one in self.unexplained)
            return f"NOT EXPLAINED, beyond `{self.entry.pattern}`: {', '.join(beyond)}"
        return f"{_measures(self.misses)}: {'open' if self.entry.is_open else 'explained'}, `{self.entry.pattern}`"


def _measures(deviations: Iterable[Deviation]) -> str:
    return ", ".join(deviation.measure for deviation in deviations)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def judge(rows: Iterable[R], known: Sequence[Explanation]) -> list[Judgement[R]]:
    """The rows, each with its entry."""
    return [Judgement(row, entry_of(row.case.name, known)) for row in rows]


def entry_of(name: str, known: Sequence[Explanation]) -> Explanation | None:
    """The first entry that fits the name of a case."""
    return next((entry for entry in known if fnmatch(name, entry.pattern)), None)


def stale(judged: Sequence[Judgement[R]], known: Sequence[Explanation], names: Iterable[str]) -> list[Explanation]:
    """Entries that explain nothing: all their cases (possibly none) were compared and are in tolerance."""
    left = set(names) - {one.row.case.name for one in judged}
    needed = [*(one.entry for one in judged if one.misses), *(entry_of(name, known) for name in left)]
    return [entry for entry in known if entry not in needed]


def entries(judged: Sequence[Judgement[R]], known: Sequence[Explanation], units: Mapping[str, str]) -> list[str]:
    """The explained and, separately, the open deviations in Markdown, with their values and bounds."""
    lines: list[str] = []
    for title, is_open in (("Out of tolerance, explained", False), ("Out of tolerance, open", True)):
        cells = [_cells(entry, judged, units) for entry in known if entry.is_open is is_open]
        found = [" | ".join(each) for each in cells if each]
        if found:
            lines += [
                "",
                f"## {title}",
                "",
                "| cases | out of tolerance | largest deviation, of the bound | reason |",
                "|---|---|---|---|",
            ]
            lines += [f"| {each} |" for each in found]
    return lines


def _cells(entry: Explanation, judged: Sequence[Judgement[R]], units: Mapping[str, str]) -> list[str]:
    own = [one for one in judged if one.entry == entry]
    off = [one for one in own if one.misses]
    if not off:
        return []
    largest = []
    for measure, bound in entry.up_to.items():
        found = max((miss.found for one in off for miss in one.misses if miss.measure == measure), default=0.0)
        largest.append(f"{measure} {_number(found)} of {bound:g} {units[measure]}")
    return [f"`{entry.pattern}`", f"{len(off)} of {len(own)}", ", ".join(largest), entry.why]


@dataclass(frozen=True)
class Comparison(Generic[C, R]):
    """A comparison of cases in both worlds, with the texts of its command."""

    folder: Path
    """The folder of explained.toml, results.md and stored/."""
    description: str | None
    cases: Sequence[C]
    quick: Sequence[C]
    quick_is: str
    example: str
    """A pattern of names."""
    jobs: int | None
    """Default number of simultaneous emulations; None: always one."""
    writes: str
    """The files that `--store` writes."""
    units: Mapping[str, str]
    """The units of the judged measures."""
    columns: Sequence[str]
    words: int
    """The number of last columns, the verdict included, with words."""
    needs: Callable[[C], Sequence[C]]
    """The runs for a row: the case's, and the run for comparison in its own world."""
    simulate: Callable[[C], object]
    """Simulates one of these cases and remembers its result. Called in parallel."""
    emulate: Callable[[C, argparse.Namespace], list[Any]]
    """The kernel's runs, in their stored form."""
    stored_as: Callable[..., Any]
    """Makes a run from its stored fields."""
    row: Callable[[C, Mapping[str, Sequence[Any]]], R]
    """The row of a case, from the stored runs."""
    summary: Callable[[Sequence[Judgement[R]], Mapping[str, Sequence[Any]]], Sequence[str]]
    """The text below the table."""
    draw: Callable[[Sequence[R]], None] | None = None
    """Draws figures of all rows, which are stored with them."""

    @property
    def stored(self) -> Path:
        """The file of the kernel's runs."""
        return self.folder / "stored" / "emulated.json"


def report(
    comparison: Comparison[C, R], judged: Sequence[Judgement[R]], known: Sequence[Explanation], below: Sequence[str]
) -> str:
    """The report in Markdown."""
    columns, units = (*comparison.columns, "verdict"), comparison.units
    lines = [
        f"| {' | '.join(columns)} |",
        f"|---|{'---:|' * (len(columns) - 1 - comparison.words)}{'---|' * comparison.words}",
        *(f"| {' | '.join([*one.row.cells(), one.verdict(units)])} |" for one in judged),
        "",
        *below,
        *entries(judged, known, units),
    ]
    idle = stale(judged, known, (case.name for case in comparison.cases))
    if idle:
        lines += ["", "## Stale entries: no case needs them", "", *(f"- `{entry.pattern}`" for entry in idle)]
    kernels = ", ".join(sorted({one.row.real.kernel for one in judged}))
    late = max(one.row.real.late_s for one in judged)
    lines += ["", f"Linux {kernels}; 99 % of packets were at most {1e3 * late:.1f} ms late."]
    return "\n".join(lines) + "\n"


def main(comparison: Comparison[C, R], arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns 0 if every case is within its tolerance or its explanation's bounds."""
    given = _parser(comparison).parse_args(arguments)
    known = explanations(comparison.folder / "explained.toml", comparison.units)
    every = comparison.quick if given.quick else comparison.cases
    chosen = [case for case in every if not given.names or any(fnmatch(case.name, name) for name in given.names)]
    stored, outdated = read(comparison)
    if given.emulate:
        try:
            emulate_all(comparison, chosen, given, stored)
        except EmulationError as error:
            print(f"cannot emulate: {error}", file=sys.stderr)
            return 1
        outdated -= stored.keys()
        if given.store:
            # With the stored digits: the table is the same in any later run.
            stored, _ = read(comparison)
    needed = {one.name for case in chosen for one in comparison.needs(case)}
    for name in sorted(outdated & needed):
        print(f"{name}: what is stored was made from other values; expected --emulate --store", file=sys.stderr)
    if outdated & needed:
        return 1
    there = [case for case in chosen if all(one.name in stored for one in comparison.needs(case))]
    if not there:
        print("nothing is stored of these cases; expected --emulate", file=sys.stderr)
        return 1
    # The order stays: the longest cases are not all at the end.
    in_parallel(comparison.simulate, list(dict.fromkeys(one for case in there for one in comparison.needs(case))))
    rows = [comparison.row(case, stored) for case in there]
    judged = judge(rows, known)
    text = report(comparison, judged, known, comparison.summary(judged, stored))
    print(text, end="")
    if given.store and len(rows) == len(comparison.cases):
        (comparison.folder / "results.md").write_text(text, encoding="utf-8")
        if comparison.draw:
            comparison.draw(rows)
    return 1 if any(one.unexplained for one in judged) else 0


def _parser(comparison: Comparison[C, R]) -> argparse.ArgumentParser:
    words, jobs = argparse.RawDescriptionHelpFormatter, comparison.jobs
    parser = argparse.ArgumentParser(description=comparison.description, formatter_class=words)
    parser.add_argument(
        "names", nargs="*", metavar="CASE", help=f"patterns such as '{comparison.example}'; default all"
    )
    parser.add_argument("--quick", action="store_true", help=comparison.quick_is)
    parser.add_argument("--emulate", action="store_true", help="emulate first, in real time")
    if jobs is not None:
        parser.add_argument("--jobs", type=int, default=jobs, help=f"emulations at the same time; default {jobs}")
    parser.add_argument("--max-lateness", metavar="TIME", help="of 99 in 100 packets; default netlulld's")
    parser.add_argument("--store", action="store_true", help=f"write what was emulated, {comparison.writes}")
    parser.set_defaults(**({"jobs": 1} if jobs is None else {}))
    return parser


def in_parallel(run: Callable[[C], object], cases: Sequence[C]) -> None:
    """Runs all cases, a thread per processor. Simulations release Python's lock."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, cases))


def emulate_all(
    comparison: Comparison[C, R], chosen: Sequence[C], given: argparse.Namespace, stored: dict[str, list[Any]]
) -> None:
    """Emulates some cases at a time. `stored` keeps the other runs, and is written after each with `--store`."""
    lock, done = Lock(), 0

    def one(case: C) -> None:
        nonlocal done
        found = comparison.emulate(case, given)
        with lock:
            done += 1
            stored[case.name] = found
            print(f"{done}/{len(chosen)} {case.name}", file=sys.stderr)
            if given.store:
                write(comparison, stored)

    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(one, chosen))


def punctual(name: str, run: Callable[[], Result]) -> Result:
    """The first of a few runs that was not late.

    Raises:
        EmulationLate: If all runs were late.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return run()
        except EmulationLate as late:
            print(f"{name}: {late}; again", file=sys.stderr)
    return run()


def read(comparison: Comparison[C, R]) -> tuple[dict[str, list[Any]], set[str]]:
    """The stored runs by the names of cases (null is NaN), and the names of cases whose inputs have changed."""
    if not comparison.stored.exists():
        return {}, set()
    document = json.loads(comparison.stored.read_text(encoding="utf-8"))
    made_from = {case.name: _digest(case) for case in comparison.cases}
    fits = {name: case for name, case in document.items() if made_from.get(name) == case["made_from"]}
    return {
        name: [comparison.stored_as(**{key: _value(value) for key, value in run.items()}) for run in case["runs"]]
        for name, case in fits.items()
    }, document.keys() - fits.keys()


def _digest(case: Case) -> str:
    return hashlib.sha256(json.dumps(case.made_from, sort_keys=True).encode()).hexdigest()[:12]


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return [_value(one) for one in value]
    return math.nan if value is None else value


def write(comparison: Comparison[C, R], stored: Mapping[str, Sequence[Any]]) -> None:
    """Writes a line per case, with significant digits only."""
    comparison.stored.parent.mkdir(exist_ok=True)
    made_from = {case.name: _digest(case) for case in comparison.cases}
    lines = (
        f"{json.dumps(name)}: "
        + json.dumps({"made_from": made_from[name], "runs": [_digits(asdict(run)) for run in stored[name]]})
        for name in sorted(stored.keys() & made_from.keys())
    )
    comparison.stored.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _digits(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _digits(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_digits(one) for one in value]
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.6g}")
    return value
