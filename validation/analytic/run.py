"""Compares simulations with closed forms; run it with `python validation/analytic/run.py [LAW ...]`.

Prints one table per law with tolerances and verdicts, and exits 1 if a row fails. With `--store` the tables of all
laws also replace those in `stored/`. With `--quick` the slowest rows are left out. Seeds are fixed: the numbers are
the same everywhere.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from delays import bbr, dctcp, vegas
from fairness import equal_flows
from idle import low_power_idle
from queues import md1, serialisation
from windows import cubic_periodic, reno_loss, reno_periodic

if TYPE_CHECKING:
    from law import Law

HERE = Path(__file__).parent
LAWS: dict[str, Callable[[], Law]] = {
    "serialisation": serialisation,
    "md1": md1,
    "reno-loss": reno_loss,
    "reno-periodic": reno_periodic,
    "cubic-periodic": cubic_periodic,
    "vegas": vegas,
    "dctcp": dctcp,
    "bbr": bbr,
    "jain": equal_flows,
    "lpi": low_power_idle,
}
QUICK = LAWS | {
    "reno-loss": functools.partial(reno_loss, others_at=(1e-3,)),
    "cubic-periodic": functools.partial(cubic_periodic, rarest=100_000),
    "lpi": functools.partial(low_power_idle, loads=(0.05, 0.3), wakes_at=(1, 10)),
}
"""All laws without the rows that take more than half of the time."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the laws; returns 1 if a row fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("laws", nargs="*", metavar="LAW", help=f"of {', '.join(LAWS)}; default all")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="leave the slowest rows out")
    how.add_argument("--store", action="store_true", help="replace the tables in stored/")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.laws if name not in LAWS]
    if unknown:
        parser.error(f"{unknown[0]}: expected one of {', '.join(LAWS)}")
    if chosen.store and chosen.laws:
        parser.error("--store: expected no names of laws, it stores all")
    # The simulations release Python's lock.
    with ThreadPoolExecutor() as pool:
        laws = list(pool.map(lambda name: (QUICK if chosen.quick else LAWS)[name](), chosen.laws or LAWS))
    for law in laws:
        print(law.table())
    if chosen.store:
        (HERE / "stored" / "tables.txt").write_text("\n".join(law.table() for law in laws))
    return 0 if all(law.holds for law in laws) else 1


if __name__ == "__main__":
    sys.exit(main())
