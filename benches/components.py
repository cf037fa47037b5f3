"""Instructions of the engine's components, one operation each: `make bench-components`.

Gungraun runs every bench of benches/components under valgrind's callgrind; set-up is not counted. Instruction counts do
not depend on other programs, only on the compiler and the processor's instruction set. First-level cache misses are
those of callgrind's model of this machine's cache. The ideal loop is also timed, as the minimum of several turns.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from counts import judge
from instructions import REPOSITORY
from kept import compiler, keep

PACKAGE = REPOSITORY / "benches" / "components"


@dataclass(frozen=True)
class Count:
    """The cost of one operation in a bench."""

    component: str
    operation: str
    case: str
    instructions: float
    misses: float

    @property
    def name(self) -> str:
        """Returns the operation and its case in words."""
        return f"{self.operation} {self.case}".replace("_", " ")

    def row(self) -> str:
        """Returns a line of the table."""
        return f"{self.component:<10} {self.name:<36} {self.instructions:>12,.1f} {self.misses:>14.2f}"


HEADER = f"{'component':<10} {'operation':<36} {'instructions':>12} {'L1 data misses':>14}"


def operations() -> int:
    """Returns the number of operations per bench."""
    text = (PACKAGE / "src" / "lib.rs").read_text(encoding="utf-8")
    found = re.search(r"OPERATIONS: usize = ([0-9_]+);", text)
    if found is None:
        raise SystemExit("benches/components/src/lib.rs has no number of OPERATIONS per bench")
    return int(found.group(1))


def cargo(*arguments: str) -> str:
    """Runs cargo and returns its output. The build uses the engine's target folder, and always its own profile."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CARGO_PROFILE_")}
    environment.setdefault("CARGO_TARGET_DIR", str(REPOSITORY / "target"))
    command = ["cargo", *arguments]
    return subprocess.run(command, cwd=PACKAGE, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


def counted(benches: list[str]) -> Iterator[Count]:
    """Runs the benches. Each of them prints a line of JSON."""
    chosen = [word for name in benches for word in ("--bench", name)] or ["--benches"]
    each = operations()
    for line in cargo("bench", "--quiet", "--locked", *chosen, "--", "--output-format=json").splitlines():
        if not line.startswith("{"):
            continue
        bench = json.loads(line)
        totals = bench["profiles"][0]["data"]["total"]["metrics"]
        number = {name: totals[name]["values"]["new"] for name in ("Ir", "D1mr", "D1mw")}
        yield Count(
            bench["group"],
            bench["function_name"],
            bench["id"],
            number["Ir"] / each,
            (number["D1mr"] + number["D1mw"]) / each,
        )


def main() -> int:
    """Prints the table, and compares it with the stored counts; with --store also writes it to benches/runs/."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benches", nargs="*", metavar="COMPONENT", help="schedule, link, tcp, ...; default: all")
    parser.add_argument("--store", action="store_true", help="write the table to benches/runs/DATE/")
    parser.add_argument("--renew", metavar="REASON", help="store the counts that changed by more than 0.5 %%")
    arguments = parser.parse_args()
    found = list(counted(arguments.benches))
    lines = [f"{compiler()}; one operation of each component", HEADER, *(count.row() for count in found)]
    if not arguments.benches or "ideal" in arguments.benches:
        lines += ["", *cargo("run", "--release", "--quiet", "--locked", "--example", "ideal_hop").splitlines()]
    print("\n".join(lines))
    if arguments.store:
        keep({"components.txt": lines})
    print()
    return judge({f"{count.component}: {count.name}": count.instructions for count in found}, arguments.renew)


if __name__ == "__main__":
    sys.exit(main())
