"""Kills sweeps and reproductions at random moments, resumes them, and compares every file with an undisturbed run.

    tools/kill.py [--moments N] [--seed N] COMMAND...

COMMAND is a netlull command without `--out`, such as `sweep my.toml` or `reproduce g-router --quick`. It runs once
undisturbed. Then it runs again and again in a new folder, and gets SIGKILL, SIGTERM or SIGINT at moments spread evenly
over the undisturbed time, until N signals have hit. In between it is allowed to finish, and then all files of its
folder must have the same bytes. The journal of a sweep has CPU times and is not compared. Results name the commit of
the working tree: change nothing there during the test. The exit code is 1 if a file differs.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import netlull

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SIGNALS_PER_ROUND = 5
UNCOMPARED = {"journal.jsonl"}
PACKAGE = str(Path(netlull.__file__).parent).encode()
"""A traceback without it is of Python's own start, before netlull can handle a signal."""


def digests(folder: Path) -> dict[str, str]:
    """The digest of every compared file. Files of killed writers are hidden."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    names = {path: path.relative_to(folder) for path in files if path.name not in UNCOMPARED}
    return {
        str(name): hashlib.sha256(path.read_bytes()).hexdigest()
        for path, name in names.items()
        if not any(part.startswith(".") for part in name.parts)
    }


class Victim:
    """A netlull command that is run in folders of its own."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.command = command
        self.folder = folder
        self.hits: Counter[str] = Counter()

    def start(self, out: Path) -> subprocess.Popen[bytes]:
        """Starts the command with its output below `out`."""
        command = [sys.executable, "-m", "netlull", *self.command, "--out", str(out)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # noqa: S603  # netlull

    def finish(self, out: Path) -> float:
        """Runs to the end; returns the seconds it took.

        Raises:
            RuntimeError: the command failed.
        """
        began_s = time.monotonic()
        process = self.start(out)
        _, said = process.communicate()
        if process.returncode:
            raise RuntimeError(f"exit code {process.returncode}: {said.decode(errors='replace')}")
        return time.monotonic() - began_s

    def strike(self, out: Path, after_s: float, how: signal.Signals) -> bool:
        """Sends a signal after some seconds; returns True if it hit."""
        process = self.start(out)
        try:
            process.communicate(timeout=after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(how)
            _, said = process.communicate()
            if b"Traceback" in said and PACKAGE in said:
                raise RuntimeError(f"{how.name} after {after_s:.3f} s: {said.decode(errors='replace')}") from None
            self.hits[how.name] += 1
            return True
        return False


def main() -> int:
    """Parses the command line and kills."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=100, help="number of signals")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    # A shell starts a command in the background with SIGINT ignored, and the killed commands would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = random.Random(options.seed)  # noqa: S311  # moments
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        victim = Victim(options.command, folder)
        whole_s = victim.finish(folder / "whole")
        expected = digests(folder / "whole")
        print(f"undisturbed: {len(expected)} files in {whole_s:.1f} s", flush=True)
        rounds = differing = 0
        while victim.hits.total() < options.moments:
            out = folder / f"round-{rounds}"
            for _ in range(SIGNALS_PER_ROUND):
                victim.strike(out, rng.uniform(0, whole_s), rng.choice(SIGNALS))
            victim.finish(out)
            found = digests(out)
            for file in sorted(expected.keys() ^ found.keys()):
                print(f"round {rounds}: {file} is {'missing' if file in expected else 'new'}")
            for file in sorted(expected.keys() & found.keys()):
                if expected[file] != found[file]:
                    print(f"round {rounds}: {file} differs")
            differing += expected != found
            rounds += 1
            print(f"{victim.hits.total()} signals in {rounds} rounds, {differing} of them differ", flush=True)
        hits = ", ".join(f"{count} {how}" for how, count in sorted(victim.hits.items()))
        print(f"{hits}; {rounds} resumed runs, {differing} of them differ")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
