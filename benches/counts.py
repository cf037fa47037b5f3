"""Instructions of short whole runs, compared with stored ones: `make counts`, or `python benches/counts.py --help`.

Each run is counted under callgrind, in the build of the tests (profile `fast`, with checks of overflow). A count is in
instructions per packet-hop. It depends only on the code and the compiler, not on other programs. The exit
code is 1 if a count has grown by more than 3 %.

`benches/counts.csv` holds the counts. The last row of a name is its stored count, the earlier ones are its history. A
change that makes a run more expensive for a good reason renews the count with `--renew "REASON"` and commits the file.
`make bench-components` compares the components with the same file, in the released build.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import math
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from instructions import REPOSITORY, built, counted
from kept import compiler
from mechanisms import Case, cases, document
from scenarios import abilene, gigabit, single, twenty, web

if TYPE_CHECKING:
    from network import Network

STORE = Path(__file__).resolve().parent / "counts.csv"
SCENARIOS = REPOSITORY / "python" / "netlull" / "shipped" / "scenarios"
LARGEST_GROWTH = 0.03
# A smaller change is not worth a row of the history.
NOTABLE = 0.005
SECONDS = 20


class Row(NamedTuple):
    """A stored count: the day, the commit before the change, and the reason of the change."""

    date: str
    commit: str
    compiler: str
    name: str
    instructions: float
    reason: str


class Change(NamedTuple):
    """A count, and the stored one if there is one."""

    name: str
    stored: float | None
    now: float

    @property
    def growth(self) -> float:
        """Returns the relative growth; 0 without a stored count."""
        return self.now / self.stored - 1 if self.stored else 0.0

    @property
    def grown(self) -> bool:
        """Returns True if the growth is above the limit."""
        return self.stored is not None and self.now > (1 + LARGEST_GROWTH) * self.stored

    @property
    def notable(self) -> bool:
        """Returns True if the count is new, or has changed visibly."""
        return self.stored is None or abs(self.growth) > NOTABLE

    def line(self) -> str:
        """Returns a line of the table."""
        before = f"{self.stored:>10,.1f}" if self.stored is not None else f"{'-':>10}"
        change = f"{100 * self.growth:>+8.2f} %" if self.stored is not None else f"{'new':>8}"
        return f"{self.name:<40} {before} {self.now:>10,.1f} {change}{'  GROWN' if self.grown else ''}"


def with_tcp(network: Network, **options: Any) -> dict[str, Any]:
    """Returns a network's scenario with other options of TCP."""
    scenario = network.document()
    scenario["tcp"] = {"mss": scenario["tcp"]["mss"], **options}
    return scenario


def shipped(name: str, duration: str) -> dict[str, Any]:
    """Returns a shipped scenario with another duration."""
    return tomllib.loads((SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")) | {"duration": duration}


def runs() -> Mapping[str, dict[str, Any]]:
    """Returns the scenario of each run. Each takes about a second under callgrind."""
    plain: dict[str, Case] = {case.name: case for case in cases("single")}
    probes = single(SECONDS).document()
    probes["probe"] = {"interval": "10 ms", "window": True, "drops": True, "segments": True, "events": True}
    return {
        "single": single(SECONDS).document(),
        "twenty": twenty(SECONDS).document(),
        "gigabit": gigabit(1).document(),
        "web": web(SECONDS).document(),
        "abilene": abilene(2).document(),
        "practRA": document("single", plain["practRA"], SECONDS),
        "Lull": document("single", plain["Lull"], SECONDS),
        "AWM": document("single", plain["AWM, N counted"], SECONDS),
        "G-Router": document("single", plain["G-Router, at every event"], SECONDS),
        "SACK": with_tcp(twenty(SECONDS), congestion_control="sack"),
        "CUBIC": with_tcp(twenty(SECONDS), congestion_control="cubic"),
        "BBR": with_tcp(single(SECONDS), congestion_control="bbr"),
        "probes": probes,
        "station": shipped("doze", "20 s"),
    }


def read(text: str) -> list[Row]:
    """Reads the rows of the file."""
    return [
        Row(date, commit, version, name, float(instructions), reason)
        for date, commit, version, name, instructions, reason in list(csv.reader(io.StringIO(text)))[1:]
    ]


def stored() -> list[Row]:
    """Returns the rows of the file, oldest first; none if there is no file."""
    return read(STORE.read_text(encoding="utf-8")) if STORE.exists() else []


def compared(counts: Mapping[str, float], rows: Iterable[Row], version: str) -> list[Change]:
    """Compares counts with the last row of each name by the same compiler."""
    last = {row.name: row.instructions for row in rows if row.compiler == version}
    return [Change(name, last.get(name), count) for name, count in counts.items()]


def report(changes: Sequence[Change]) -> Iterator[str]:
    """Yields the table, and the sum of it."""
    yield f"{'instructions per packet-hop or operation':<40} {'stored':>10} {'now':>10} {'change':>10}"
    for change in changes:
        yield change.line()
    for title, some in (
        ("grew by more than 3 %", [change.name for change in changes if change.grown]),
        ("shrank by more than 3 %", [change.name for change in changes if change.growth < -LARGEST_GROWTH]),
        ("not stored for this compiler", [change.name for change in changes if change.stored is None]),
    ):
        if some:
            yield f"{len(some)} {title}: {', '.join(some)}"


def head() -> str:
    """Returns the last commit."""
    command = ["git", "-C", str(REPOSITORY), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def renew(changes: Iterable[Change], reason: str, version: str) -> int:
    """Appends a row for each notable change. Returns their number."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    new = [Row(today, head(), version, c.name, round(c.now, 1), reason) for c in changes if c.notable]
    first = not STORE.exists()
    with STORE.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if first:
            writer.writerow(Row._fields)
        writer.writerows(new)
    return len(new)


def judge(counts: Mapping[str, float], reason: str | None) -> int:
    """Prints the comparison, and renews the stored counts if there is a reason. Returns the exit code."""
    version = compiler()
    changes = compared(counts, stored(), version)
    print(version, *report(changes), sep="\n")
    if reason:
        print(f"{renew(changes, reason, version)} rows added to {STORE.relative_to(REPOSITORY)}")
        return 0
    if any(change.grown for change in changes):
        print('A change that needs them renews the stored counts: add --renew "REASON", and commit benches/counts.csv.')
        return 1
    return 0


def counted_runs(chosen: Sequence[str]) -> dict[str, float]:
    """Counts the runs, one per processor at a time."""
    # CI has its libraries already. Link-time optimisation would make small changes in code look large.
    program = built("fast")
    scenarios = {name: scenario for name, scenario in runs().items() if name in (chosen or runs())}
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        found = pool.map(lambda scenario: counted(program, scenario).per_hop, scenarios.values())
        return dict(zip(scenarios, found, strict=True))


def histories(rows: Sequence[Row], stops: Sequence[tuple[str, str]]) -> dict[str, dict[str, list[float]]]:
    """Returns each name's counts at the stops, relative to its first, in groups: the runs, and each component.

    A name keeps its count until it is stored again, and has none before its first.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for name in dict.fromkeys(row.name for row in rows):
        own = {(row.date, row.commit): row.instructions for row in rows if row.name == name}
        first, last, line = next(iter(own.values())), math.nan, list[float]()
        for stop in stops:
            last = own.get(stop, last)
            line.append(last / first)
        group, _, short = name.rpartition(": ")
        found.setdefault(group or "run", {})[short] = line
    return found


def draw(target: Path) -> None:
    """Draws the history of all counts, with a panel for the runs and one for each component."""
    from netlull.plot.style import COLOURS, MARKERS, figure, styled, svg_text

    rows = stored()
    stops = list(dict.fromkeys((row.date, row.commit) for row in rows))
    groups = histories(rows, stops)
    with styled():
        drawn = figure(height=2.2 * len(groups))
        panels = drawn.subplots(len(groups), 1, squeeze=False, sharex=True)[:, 0]
        for axes, (group, lines) in zip(panels, groups.items(), strict=True):
            for index, (name, values) in enumerate(lines.items()):
                colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index // len(COLOURS)]
                axes.plot(range(len(stops)), values, label=name, color=colour, marker=marker)
            axes.set_title(group, loc="left")
            axes.set_ylabel("relative to the first")
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=1 + len(lines) // 9)
        panels[-1].set_xticks(range(len(stops)), [f"{date}\n{commit}" for date, commit in stops])
        target.write_text(svg_text(drawn), encoding="utf-8")


def main() -> int:
    """Counts and compares. Returns 1 if a count has grown, 2 without valgrind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"some of {', '.join(runs())}; default: all")
    parser.add_argument("--renew", metavar="REASON", help="store the counts that changed by more than 0.5 %%")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="only draw the history of the stored counts")
    given = parser.parse_args()
    unknown = [name for name in given.runs if name not in runs()]
    if unknown:
        parser.error(f"{unknown[0]!r} is unknown; expected some of {', '.join(runs())}")
    if given.plot:
        draw(given.plot)
        return 0
    if shutil.which("valgrind") is None:
        print("valgrind is missing (Debian: apt-get install valgrind)", file=sys.stderr)
        return 2
    return judge(counted_runs(given.runs), given.renew)


if __name__ == "__main__":
    sys.exit(main())
