"""Execution of the ns-2 scripts in this folder, and parsing of their output."""

from __future__ import annotations

import argparse
import lzma
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

HERE = Path(__file__).resolve().parent

Value = str | int | float
Numbers = dict[str, float]
Job = TypeVar("Job")
Answer = TypeVar("Answer")
Verdict = tuple[str, bool]
"""A line of a comparison, and True if it is within tolerance."""


class Ns2Error(Exception):
    """ns-2 is missing, or a script failed."""


class StoredError(Exception):
    """A stored result is missing or belongs to other options."""


def find_ns() -> str:
    """Path of ns-2's interpreter.

    Raises:
        Ns2Error: ns-2 is not installed.
    """
    path = shutil.which("ns")
    if path is None:
        raise Ns2Error("ns-2 is not installed: `ns` comes with the Debian package ns2 (apt-get install ns2)")
    return path


def run_script(script: str | Path, options: Mapping[str, Value]) -> Numbers:
    """Runs a script of this folder and returns its printed numbers, one `name value` per line.

    Raises:
        Ns2Error: ns-2 is not installed, or the script failed; the message has the last line of its error output.
    """
    command = [find_ns(), str(HERE / script), *(f"{name}={value}" for name, value in options.items())]
    # Agent/TCP/Linux reads uninitialised memory. This makes it the same in every run.
    environment = os.environ | {"MALLOC_PERTURB_": "255"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        complaint = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise Ns2Error(f"{' '.join(command)}: exit code {done.returncode}: {complaint[-1]}")
    return read_numbers(done.stdout.splitlines())


def read_numbers(lines: Iterable[str]) -> Numbers:
    """`name value` lines as a dictionary; other lines are skipped."""
    numbers: Numbers = {}
    for line in lines:
        fields = line.split()
        if len(fields) == 2 and not line.startswith("#"):
            numbers[fields[0]] = float(fields[1])
    return numbers


def read_runs(path: Path) -> dict[str, list[str]]:
    """The lines of a stored file by run. A line `== NAME` begins a run; the lines before the first belong to ``."""
    lines: list[str] = []
    runs = {"": lines}
    if path.exists():
        content = path.read_bytes()
        for line in (lzma.decompress(content) if path.suffix == ".xz" else content).decode().splitlines():
            if line.startswith("== "):
                lines = runs[line.removeprefix("== ")] = []
            else:
                lines.append(line)
    return runs


def write_runs(path: Path, runs: Mapping[str, Sequence[str]], order: Iterable[str]) -> None:
    """Replaces these runs of a stored file, and keeps the others of `order`. The same lines give the same bytes."""
    known = {**read_runs(path), **runs}
    lines = (line for name in order if name in known for line in (f"== {name}", *known[name]))
    content = "".join(f"{line}\n" for line in lines).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    preset = lzma.PRESET_DEFAULT | lzma.PRESET_EXTREME
    path.write_bytes(lzma.compress(content, preset=preset) if path.suffix == ".xz" else content)


def stored_lines(path: Path, options: str, source: str, run: str = "") -> list[str]:
    """The lines of a stored run with this line of options.

    Raises:
        StoredError: the run is missing, or its options are not those of `source`.
    """
    lines, where = read_runs(path).get(run), f"{path}: {run}" if run else str(path)
    if not lines:
        raise StoredError(f"{where}: there is no such run; --rerun writes it")
    if options not in lines:
        raise StoredError(f"{where}: was written with other options than {source} has; --rerun renews it")
    return lines


def named(parser: argparse.ArgumentParser, names: Sequence[str], known: Iterable[str]) -> list[str]:
    """The names on the command line, default all. An unknown name ends the command."""
    listed = list(known)
    unknown = [name for name in names if name not in listed]
    if unknown:
        parser.error(f"{unknown[0]}: expected one of {', '.join(listed)}")
    return list(names) or listed


def verdict(*, holds: bool) -> int:
    """Prints the overall verdict; returns the exit code."""
    print("all within tolerance" if holds else "OUT OF TOLERANCE")
    return 0 if holds else 1


def in_parallel(work: Callable[[Job], Answer], jobs: Iterable[Job]) -> list[Answer]:
    """Applies `work`, which waits for a child process, to every job, with one at a time per core."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return list(pool.map(work, jobs))


def run_comparison(
    description: str | None,
    store: Callable[[], None],
    compare: Callable[[bool], Iterator[Verdict]],
    arguments: Sequence[str] | None = None,
    *,
    quick: str | None = None,
) -> int:
    """Runs the command of a comparison with stored results; returns 0 if all is within tolerance.

    Args:
        description: the description of the command, for `--help`.
        store: runs ns-2 and rewrites the stored results; called with `--rerun`.
        compare: the table, line by line; its argument is True with `--quick`.
        arguments: the command line; default the process's own.
        quick: the parts that `--quick` omits; without it there is no such option.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rerun", action="store_true", help="run ns-2 and rewrite the stored results first")
    if quick is not None:
        parser.add_argument("--quick", action="store_true", help=quick)
    options = parser.parse_args(arguments)
    if options.rerun:
        try:
            store()
        except Ns2Error as error:
            print(error, file=sys.stderr)
            return 2
    holds = True
    for line, fits in compare(quick is not None and options.quick):
        holds = holds and fits
        print(line, flush=True)
    return verdict(holds=holds)
