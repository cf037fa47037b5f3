"""What comparisons with the kernel share: stored runs, late runs tried again, explanations with bounds, the command.

A `Comparison` (run.py here, in client/, gateway/ and greened/) says which cases there are, how one runs in either world
and what its row of the table is. A case that is out of tolerance needs an entry in explained.toml: the first whose
pattern fits its name, and whose bounds (`up_to`) it keeps.
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
"""What the kernel calls an algorithm, and the scenario."""
ATTEMPTS = 6
"""A run that was late on a busy machine is tried again."""


class Case(Protocol):
    """What is run in both worlds."""

    @property
    def name(self) -> str:
        """As tables, options and explanations have it."""

    @property
    def made_from(self) -> object:
        """What its run is made from beside its name, for JSON: with another, what is stored is of another case."""


class Emulated(Protocol):
    """A stored run, a dataclass."""

    @property
    def late_s(self) -> float:
        """99 % of packets were at most so late."""

    @property
    def kernel(self) -> str:
        """Its release."""


class Row(Protocol):
    """A case in both worlds."""

    @property
    def case(self) -> Any:
        """Which."""

    @property
    def real(self) -> Emulated:
        """The kernel's run that is compared."""

    @property
    def deviations(self) -> Sequence[Deviation]:
        """All that is judged."""

    def cells(self) -> list[str]:
        """As the table has them, without the verdict."""


@dataclass(frozen=True)
class Deviation:
    """How far apart the worlds are in one measure, in its unit."""

    measure: str
    found: float
    """NaN, as of a download that did not complete, is out of every tolerance and every bound."""
    tolerance: float

    @property
    def within(self) -> bool:
        """Whether the tolerance is kept."""
        return self.found <= self.tolerance


@dataclass(frozen=True)
class Explanation:
    """Why cases are out of tolerance, and how far."""

    pattern: str
    """Of the names of cases."""
    why: str
    is_open: bool
    """Not understood, or to be measured again."""
    up_to: Mapping[str, float]
    """The largest deviation that it explains, by measure; of other measures it explains none."""

    def covers(self, deviation: Deviation) -> bool:
        """Whether it explains as much."""
        return deviation.found <= self.up_to.get(deviation.measure, -math.inf)


class ExplanationError(ValueError):
    """An entry of explained.toml that says something else than expected."""


def explanations(path: Path, units: Mapping[str, str]) -> list[Explanation]:
    """The entries of an explained.toml.

    Args:
        path: The file.
        units: The unit of each measure that a comparison has; bounds are given in it, as `"3 %"` or `"12 packets"`.

    Raises:
        ExplanationError: If a bound is of no such measure, or in another unit, or an entry has none.
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
    """A row, and what is said of it."""

    row: R
    entry: Explanation | None

    @cached_property
    def misses(self) -> list[Deviation]:
        """What is out of tolerance."""
        return [deviation for deviation in self.row.deviations if not deviation.within]

    @cached_property
    def unexplained(self) -> list[Deviation]:
        """What of it nobody has explained, or not so much of it."""
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
    """Each with the entry that counts for it."""
    return [Judgement(row, entry_of(row.case.name, known)) for row in rows]


def entry_of(name: str, known: Sequence[Explanation]) -> Explanation | None:
    """The first that fits the name of a case."""
    return next((entry for entry in known if fnmatch(name, entry.pattern)), None)


def stale(judged: Sequence[Judgement[R]], known: Sequence[Explanation], names: Iterable[str]) -> list[Explanation]:
    """Entries that explain nothing: all their cases, of which there may be none, were compared and are in tolerance."""
    left = set(names) - {one.row.case.name for one in judged}
    needed = [*(one.entry for one in judged if one.misses), *(entry_of(name, known) for name in left)]
    return [entry for entry in known if entry not in needed]


def entries(judged: Sequence[Judgement[R]], known: Sequence[Explanation], units: Mapping[str, str]) -> list[str]:
    """What is explained and, apart, what is open, in Markdown: how far off its cases are, and may be."""
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
    """A comparison of cases in both worlds, and its words for the command."""

    folder: Path
    """Where explained.toml, results.md and stored/ are."""
    description: str | None
    cases: Sequence[C]
    quick: Sequence[C]
    quick_is: str
    example: str
    """A pattern of names."""
    jobs: int | None
    """Emulations at the same time, unless asked for others; none asks for one, always."""
    writes: str
    """What `--store` writes."""
    units: Mapping[str, str]
    """Of the measures that rows are judged by."""
    columns: Sequence[str]
    words: int
    """So many of the last columns, the verdict included, are words."""
    needs: Callable[[C], Sequence[C]]
    """The runs that a row is made of: the case's, and the one that it is compared with in its own world."""
    simulate: Callable[[C], object]
    """Called with each of these, several at a time; remembers what it finds."""
    emulate: Callable[[C, argparse.Namespace], list[Any]]
    """The kernel's runs, as stored."""
    stored_as: Callable[..., Any]
    """Makes a run of its stored fields."""
    row: Callable[[C, Mapping[str, Sequence[Any]]], R]
    """From the stored runs."""
    summary: Callable[[Sequence[Judgement[R]], Mapping[str, Sequence[Any]]], Sequence[str]]
    """What is below the table."""
    draw: Callable[[Sequence[R]], None] | None = None
    """Figures of the whole, stored with it."""

    @property
    def stored(self) -> Path:
        """What the kernel did."""
        return self.folder / "stored" / "emulated.json"


def report(
    comparison: Comparison[C, R], judged: Sequence[Judgement[R]], known: Sequence[Explanation], below: Sequence[str]
) -> str:
    """In Markdown."""
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
    """0 if every case is within tolerance or as far off as is explained."""
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
            # With the digits that are stored, so that the table is what any later run prints.
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
    # Their order is kept: the longest are not all at the end.
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
    """A thread a processor: simulations hold no lock of Python's."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, cases))


def emulate_all(
    comparison: Comparison[C, R], chosen: Sequence[C], given: argparse.Namespace, stored: dict[str, list[Any]]
) -> None:
    """Some at a time; `stored` keeps what is not emulated again, and is written after each with `--store`."""
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
    """A run that was not late, of a few.

    Raises:
        EmulationLate: If all were.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return run()
        except EmulationLate as late:
            print(f"{name}: {late}; again", file=sys.stderr)
    return run()


def read(comparison: Comparison[C, R]) -> tuple[dict[str, list[Any]], set[str]]:
    """What is stored, by the names of cases (null is NaN), and the names of what is made from other values now."""
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
    """A line a case, with as many digits as mean something."""
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
