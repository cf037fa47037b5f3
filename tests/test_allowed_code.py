"""Code runs only if it is asked for: a module that leaves a mark when it is imported, and every command."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import netlull
from netlull import InputError, Scenario, ScenarioError, Sweep
from netlull.cli import main

MODULE = """
import pathlib
import netlull

pathlib.Path(__file__).with_name("MARK").touch()


class Half(netlull.RateController):
    transition = "1 ms"
    interval = "100 ms"

    def tick(self, seen):
        return self.link.rate / 2
"""

SCENARIO = """
name = "coded"
duration = "1 s"
nodes = ["a", "b"]

[[link]]
from = "a"
to = "b"
rate = "10 Mb/s"
delay = "5 ms"
controller = { kind = "python", class = "marked:Half" }

[[link]]
from = "b"
to = "a"
rate = "10 Mb/s"
delay = "5 ms"

[[flow]]
kind = "cbr"
name = "f"
from = "a"
to = "b"
rate = "1 Mb/s"
packet = "1000 B"
"""

SWEEP = """
scenario = "coded.toml"
[metrics]
rate = "link.a-b.mean_rate_bps"
[[axis]]
name = "load"
path = "flow.f.rate"
values = ["1 Mb/s", "2 Mb/s"]
"""

SUBMISSION = 'kind = "python"\nclass = "marked:Half"\ntransition = "cell"\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A received folder, which is the current one."""
    # Equal code may be loaded already, by another test.
    for name, text in (
        ("marked.py", f"{MODULE}# {tmp_path}\n"),
        ("coded.toml", SCENARIO),
        ("sweep.toml", SWEEP),
        ("mine.toml", SUBMISSION),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def was_loaded(folder: Path) -> bool:
    """True if the module was imported since the last question."""
    mark = folder / "MARK"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


COMMANDS = [
    "run coded.toml",
    "sweep sweep.toml --out store",
    "trace coded.toml --link a-b --out t.pcapng",
    "bound coded.toml",
    "compare coded.toml coded.toml --metric link.a-b.mean_rate_bps",
    "plot link coded.toml --link a-b --out l.svg",
    "plot cwnd coded.toml --out c.svg",
    "benchmark run --controller mine.toml --cells writer-reno --count 1",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_simulates_refuses_code_and_tells_how_to_allow_it(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main(shlex.split(command)) == 2
    assert not was_loaded(folder)
    told = capsys.readouterr().err
    assert 'class: is "marked:Half", which is code; expected that you trust it: ' in told
    assert told.rstrip().endswith(f"netlull {command} --allow-code")


@pytest.mark.parametrize("command", ["compare coded.toml --emulate", "emulate coded.toml"])
def test_an_emulation_takes_no_classes(folder: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert main(shlex.split(command)) == 2
    assert not was_loaded(folder)
    told = capsys.readouterr().err.rstrip()
    assert told.endswith("which is code; expected a mechanism of netlull or a WebAssembly module")


def test_the_command_to_repeat_is_the_one_that_was_given(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "two  spaces").mkdir()
    for name in ("coded.toml", "marked.py"):
        (folder / name).rename(folder / "two  spaces" / name)
    assert main(["run", "two  spaces/coded.toml"]) == 2
    assert capsys.readouterr().err.endswith("trust it: netlull run 'two  spaces/coded.toml' --allow-code\n")


@pytest.mark.parametrize(
    "command", ["map coded.toml --out m.svg", "plan coded.toml --estop 0.5", "topology coded.toml", "lab coded.toml"]
)
def test_a_command_that_does_not_simulate_loads_no_code(folder: Path, command: str) -> None:
    main(shlex.split(command))
    assert not was_loaded(folder)


def netlull_in(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """The command in its own process, in which no class has been loaded."""
    whole = [sys.executable, "-P", "-m", "netlull", *command]
    return subprocess.run(whole, cwd=folder, capture_output=True, text=True, check=False)


def test_code_runs_with_permission_or_when_the_command_line_names_it(folder: Path) -> None:
    assert netlull_in(folder, "run", "coded.toml", "--allow-code").returncode == 0
    assert was_loaded(folder)
    text = SCENARIO.replace('controller = { kind = "python", class = "marked:Half" }\n', "")
    (folder / "plain.toml").write_text(text, encoding="utf-8")
    named = "link.a-b.controller={ kind = 'python', class = 'marked:Half' }"
    assert netlull_in(folder, "run", "plain.toml", "--set", named).returncode == 0
    assert was_loaded(folder)
    # A name on the command line allows that class, and no other.
    other = netlull_in(folder, "run", "coded.toml", "--set", "flow.f.name=marked:Half")
    assert (other.returncode, was_loaded(folder)) == (2, False)


def test_workers_load_what_their_parent_may_load(folder: Path) -> None:
    done = netlull_in(folder, "sweep", "sweep.toml", "--workers", "2", "--allow-code", "--json", "--out", "store")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    assert len(rows) == 2
    assert all(row["rate"] < 10e6 for row in rows)
    assert was_loaded(folder)
    # The report of a received store runs nothing.
    done = netlull_in(folder, "report", "store")
    assert (done.returncode, was_loaded(folder)) == (0, False), done.stderr
    assert (folder / "store" / "report.html").is_file()


def test_in_python_code_needs_an_argument(folder: Path) -> None:
    with pytest.raises(ScenarioError, match=r"class: is \"marked:Half\", which is code; expected permission"):
        Scenario.from_file("coded.toml")
    with pytest.raises(ScenarioError, match="which is code"):
        Scenario.from_file("coded.toml", allow_code=["marked:Other"])
    with pytest.raises(ScenarioError, match="which is code"):
        Scenario.from_toml(SCENARIO, allow_code=[])
    document: dict[str, Any] = {"kind": "python", "class": "netlull.plugins.classes:RateController"}
    with pytest.raises(ScenarioError):
        Scenario.from_file("coded.toml", values={"link.a-b.controller": document})
    with pytest.raises((ScenarioError, InputError), match="which is code"):
        Sweep.from_file("sweep.toml")
    assert not was_loaded(folder)
    scenario = Scenario.from_file("coded.toml", allow_code=["marked:Half"])
    assert was_loaded(folder)
    assert scenario.with_values({"duration": "2 s"}).run().link("a-b")["mean_rate_bps"] < 10e6
    # Now its code has been loaded by this process, and is the same.
    assert Scenario.from_file("coded.toml", values={"duration": "3 s"}).duration == "3 s"
    # Changed code is other code.
    (folder / "marked.py").write_text(MODULE.replace("/ 2", "/ 4"), encoding="utf-8")
    with pytest.raises(ScenarioError, match="which is code"):
        Scenario.from_file("coded.toml")


def test_an_object_needs_no_permission() -> None:
    class Third(netlull.RateController):
        transition = "1 ms"

        def tick(self, seen: Any) -> float:
            return self.link.rate / 3

    text = re.sub("controller = .*\n", "", SCENARIO)
    scenario = Scenario.from_toml(text, values={"link.a-b.controller": Third()})
    assert scenario.run().link("a-b")["mean_rate_bps"] < 10e6


def test_verifying_says_that_it_runs_a_submission(folder: Path) -> None:
    run = ["benchmark", "run", "--controller", "mine.toml", "--cells", "writer-reno", "--count", "1", "--allow-code"]
    done = netlull_in(folder, *run, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert was_loaded(folder)
    result = str(Path("out") / "mine" / "result.json")
    refused = netlull_in(folder, "benchmark", "verify", result, "--sample", "1")
    assert (refused.returncode, was_loaded(folder)) == (2, False)
    assert f"{result}: runs the submission on this machine: " in refused.stderr
    assert "--allow-code" in refused.stderr
    nothing = netlull_in(folder, "benchmark", "verify", result, "--sample", "0")
    assert (nothing.returncode, was_loaded(folder)) == (0, False), nothing.stderr
    assert "nothing was run, so its numbers are not verified" in nothing.stdout
    assert ": verified" not in nothing.stdout
