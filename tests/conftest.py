"""A small network for every test, and the command line as a subprocess."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from netlull import Link, Probe, Radio, Scenario, Station, Tcp, TcpOptions
from netlull.cli import main

# No timed assertions: machines are shared.
settings.register_profile("netlull", deadline=None)
settings.register_profile("fuzz", deadline=None, max_examples=3000)  # for `make fuzz`
settings.load_profile("netlull")

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ROOT / "python" / "netlull" / "shipped"
"""Scenarios and papers."""
STUDIES = ROOT / "studies"
"""Studies of papers that decide no claim."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs so, and the processes that tests interrupt would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def copy_of_paper(paper: Path, folder: Path) -> Path:
    """A copy of a shipped paper in `folder`, which has its further studies as well."""
    copy = folder / "papers" / paper.name
    shutil.copytree(paper, copy, ignore=shutil.ignore_patterns("__pycache__"))
    joined = {"paper.toml": STUDIES / paper.name / "studies.toml", "notes.toml": STUDIES / paper.name / "notes.toml"}
    for name, more in joined.items():
        if more.is_file():
            with (copy / name).open("a", encoding="utf-8") as file:
                file.write("\n" + more.read_text(encoding="utf-8"))
    ignored = shutil.ignore_patterns("__pycache__", "studies.toml", "notes.toml")
    shutil.copytree(STUDIES / paper.name, copy, dirs_exist_ok=True, ignore=ignored)
    return copy


SMALL = """
name = "small"
duration = "2 s"
nodes = ["a", "b", "c"]

[[link]]
from = "a"
to = "b"
rate = "10 Mb/s"
delay = "5 ms"
buffer = "20 packets"
[link.controller]
kind = "practra"
rates = { from = "1 Mb/s", to = "10 Mb/s", step = "1 Mb/s" }
transition = "2 ms"
min_interval = "16 ms"
delay_bound = "10 ms"

[[link]]
from = "b"
to = "a"
rate = "10 Mb/s"
delay = "5 ms"

[[link]]
from = "b"
to = "c"
duplex = true
rate = "10 Mb/s"
delay = "5 ms"

[[flow]]
kind = "tcp"
name = "tcp"
from = "a"
to = "c"

[[flow]]
kind = "bursts"
name = "noise"
from = "a"
to = "c"
rate = "8 Mb/s"
cycle = "200 ms"
mean_on = "40 ms"
"""
"""A link under practRA (a-b), a long TCP flow and random bursts."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Appends the names of skipped tests to the file that `make test` names, which counts them at the end."""
    skipped = [report.nodeid.removeprefix("tests/") for report in terminalreporter.stats.get("skipped", ())]
    if skipped and (reports := os.environ.get("NETLULL_SKIPPED")):
        with Path(reports).open("a", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in skipped)


MODERN = Radio("modern", asleep="10 mW", idle="500 mW", receive="900 mW", transmit="1.2 W", wake_time="1 ms")


def doze(mechanism: Any = None, **extra: Any) -> Scenario:
    """A download of 1 MB over 20 ms each way and an air of 20 Mb/s."""
    fields = {
        "name": "nap",
        "duration": "4 s",
        "nodes": ["server", "ap", "client"],
        "tcp": TcpOptions(timestamps=True, window_scaling=False, receive_buffer="64 KiB"),
        "links": [
            Link("server", "ap", "100 Mb/s", "20 ms", duplex=True),
            Link("ap", "client", "20 Mb/s", "0 ms", duplex=True),
        ],
        "flows": [Tcp("download", "server", "client", size="1 MB")],
        "stations": [Station(["client"], name="phone", radio=["wavelan-dsss", MODERN], mechanism=mechanism)],
        "probe": Probe(stations=True),
    }
    return Scenario(**(fields | extra))


@pytest.fixture(scope="session")
def small() -> Scenario:
    return Scenario.from_toml(SMALL)


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that must be refused: exit code 2 and only one line, on stderr. Returns the line."""

    def run(*arguments: str | Path) -> str:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert code == 2, captured.err
        assert captured.out == ""
        assert captured.err.startswith("netlull: ")
        assert captured.err.count("\n") == 1
        assert "Traceback" not in captured.err
        return captured.err

    return run


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command that must work. Returns its output."""

    def run(*arguments: str | Path) -> str:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert code == 0, captured.err
        return captured.out

    return run


LONGEST = (
    "test_lab.py",
    "test_docs.py",
    "test_validation.py",
    "test_papers.py",
    "test_intertwining.py",
    "test_store.py",
)
"""The files that take longest. They start first, so that none of them runs alone at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts the files; the order within a file stays."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@pytest.fixture(scope="session")
def netlulld() -> Path:
    """The program that emulates, where it is built and may."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "fast" / "netlulld"
    if not built.exists():
        pytest.skip(f"{built} is missing: `cargo build --profile fast -p netlull-live` makes it")
    said = json.loads(subprocess.run([built, "doctor", "--json"], capture_output=True, check=True).stdout)
    missing = [check for check in said["checks"] if "emulate" in check["needed_for"] and not check["ok"]]
    if missing:
        pytest.skip("; ".join(f"{check['name']}: {check['message']}" for check in missing))
    return built


def start(*arguments: str | Path, **options: Any) -> subprocess.Popen[str]:
    """Starts `netlull` as a separate process."""
    command = [sys.executable, "-m", "netlull", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, **options)


def checked_tree(tool: str, folder: Path, files: dict[str, str]) -> tuple[int, list[str]]:
    """Writes the files into the folder and runs a program of `tools` on it; returns its exit code and output."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = [sys.executable, str(ROOT / "tools" / tool), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()
