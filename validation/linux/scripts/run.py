"""Plays the packet scripts of this folder: `python validation/linux/scripts/run.py [NAME ...]`.

netlull's TCP plays each script, and the verdict of a real kernel is stored (stored/kernel.txt). Prints a line per
script and TCP; exits 1 if a script fails, or if the kernel's verdict belongs to another text. With `--kernel` the
kernel of this machine plays them in real time (root; two minutes), and `--store` keeps its verdicts. `-v` prints the
events as well.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import kernel

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent
STORED = HERE / "stored" / "kernel.txt"
ATTEMPTS = 5
"""The most attempts of a script on a busy machine, where its segments may come late."""


def digest(path: Path) -> str:
    """The text of a script, in twelve digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def by_netlull(paths: list[Path], verbose: bool) -> int:
    """Plays the scripts with netlull's TCP; returns the exit code."""
    command = ["cargo", "run", "--quiet", "--locked", "--package", "netlull-tcp", "--example", "packet_script", "--"]
    done = subprocess.run([*command, *(["-v"] if verbose else []), *map(str, paths)], cwd=ROOT, check=False)
    return done.returncode


def attempt(path: Path) -> kernel.Outcome:
    """Plays a script with the kernel, in a process and a namespace of its own, ahead of other processes."""
    kernel.in_new_namespace()
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    return kernel.play(path)


def by_kernel(path: Path) -> kernel.Outcome:
    """The first run of a script that passes, or the last."""
    for _ in range(ATTEMPTS):
        with get_context("spawn").Pool(1) as pool:
            outcome = pool.apply(attempt, (path,))
        if not outcome.differences:
            break
    return outcome


def verdict(path: Path, outcome: kernel.Outcome) -> str:
    """The stored line of a script."""
    result = "FAIL" if outcome.differences else "pass"
    return f"{path.stem}: {result}, {outcome.checks} checks; Linux {os.uname().release}; {digest(path)}"


def stored() -> dict[str, str]:
    """The stored lines by the names of scripts."""
    lines = STORED.read_text(encoding="utf-8").splitlines() if STORED.exists() else []
    return {line.partition(":")[0]: line for line in lines}


def main() -> int:
    """Runs the command; returns 1 if a script fails or the kernel's verdict is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="scripts to play; all if none is named")
    parser.add_argument("--kernel", action="store_true", help="play them with the kernel of this machine")
    parser.add_argument("--store", action="store_true", help="keep the kernel's verdicts")
    parser.add_argument("-v", "--verbose", action="store_true", help="print the events of each script")
    given = parser.parse_args()

    paths = [path for path in sorted(HERE.glob("*.script")) if not given.names or path.stem in given.names]
    known = stored()
    if given.kernel:
        for path in paths:
            outcome = by_kernel(path)
            known[path.stem] = verdict(path, outcome)
            for line in outcome.transcript if given.verbose else outcome.differences:
                print(f"  {line}")
        if given.store:
            names = {path.stem for path in HERE.glob("*.script")}
            text = "".join(f"{known[name]}\n" for name in sorted(known.keys() & names))
            STORED.write_text(text, encoding="utf-8")
    code = 0
    for path in paths:
        line = known.get(path.stem, f"{path.stem}: not played by a kernel")
        print(line)
        if ": pass, " not in line or not line.endswith(digest(path)):
            print(f"{path.stem}: the kernel's verdict is not about this text; expected --kernel --store")
            code = 1
    sys.stdout.flush()
    return max(code, by_netlull(paths, given.verbose))


if __name__ == "__main__":
    sys.exit(main())
