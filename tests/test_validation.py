"""The commands of validation/ are run as users run them; the numbers they compare are theirs to judge."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a script of validation/ and keeps what it prints."""
    command = [sys.executable, str(ROOT / "validation" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_simulations_agree_with_closed_forms() -> None:
    done = run("analytic/run.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "NOT MET" not in done.stdout
    assert "window at p = 0.001" in done.stdout


def test_the_stored_tables_are_what_the_command_prints() -> None:
    printed = run("analytic/run.py").stdout
    for name in ("serialisation", "md1", "reno-loss"):
        stored = (ROOT / "validation" / "analytic" / "stored" / f"{name}.txt").read_text()
        assert stored in printed, f"{name}.txt is out of date; run validation/analytic/run.py --store"


def test_netlull_agrees_with_the_stored_results_of_ns2() -> None:
    done = run("ns2/run.py")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert "single-rtt50:" in done.stdout


def test_red_agrees_with_the_stored_results_of_ns2() -> None:
    done = run("ns2/red.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "twenty NewReno flows" in done.stdout
