"""Runs the ns-2 scripts of this folder and reads what they print."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

HERE = Path(__file__).resolve().parent

Value = str | int | float
Numbers = dict[str, float]
Job = TypeVar("Job")
Answer = TypeVar("Answer")


class Ns2Error(Exception):
    """ns-2 is missing, or a script failed."""


def find_ns() -> str:
    """Path of ns-2's interpreter.

    Raises:
        Ns2Error: it is not installed.
    """
    path = shutil.which("ns")
    if path is None:
        raise Ns2Error("ns-2 is not installed: `ns` comes with the Debian package ns2 (apt-get install ns2)")
    return path


def run_script(script: str | Path, options: Mapping[str, Value]) -> Numbers:
    """Runs a script of this folder and returns the numbers it prints, one `name value` per line.

    Raises:
        Ns2Error: ns-2 is not installed, or the script failed; with the last line of its complaint.
    """
    command = [find_ns(), str(HERE / script), *(f"{name}={value}" for name, value in options.items())]
    # Agent/TCP/Linux reads memory that it never wrote: with this, the same in every run.
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


def in_parallel(work: Callable[[Job], Answer], jobs: Iterable[Job]) -> list[Answer]:
    """Applies `work`, which waits for a child process, to every job, as many at once as there are cores."""
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return list(pool.map(work, jobs))
