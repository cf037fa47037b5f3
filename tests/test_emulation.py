"""Emulated runs in Python and on the command line, with a stand-in for netlulld."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT, SHIPPED, doze
from netlull import (
    ClientShaper,
    EmulationError,
    EmulationLate,
    InputError,
    Result,
    ResultError,
    Scenario,
    ScenarioError,
)
from netlull.cli.doctor import examine, simulates
from netlull.emulation import find_program, program_version, replay

if TYPE_CHECKING:
    Printed = Callable[..., str]

FAKE = ROOT / "tests" / "fake_netlulld.py"
TRANSFER = """
name = "transfer"
duration = "3 s"
nodes = ["a", "b"]
[[link]]
from = "a"
to = "b"
duplex = true
rate = "10 Mb/s"
delay = "20 ms"
[[flow]]
kind = "tcp"
name = "tcp"
from = "a"
to = "b"
size = "1 MB"
"""


@pytest.fixture
def transfer() -> Scenario:
    return Scenario.from_toml(TRANSFER)


@pytest.fixture
def transfer_file(tmp_path: Path) -> Path:
    path = tmp_path / "transfer.toml"
    path.write_text(TRANSFER)
    return path


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stand-in, named by NETLULLD."""
    program = tmp_path / "bin" / "netlulld"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("NETLULLD", str(program))
    monkeypatch.delenv("FAKE_NETLULLD", raising=False)
    return program


def mode(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    monkeypatch.setenv("FAKE_NETLULLD", what)


@pytest.mark.usefixtures("fake")
def test_a_result_is_like_a_runs(transfer: Scenario) -> None:
    emulated, simulated = transfer.emulate(7), transfer.run(7)
    assert (emulated.world, simulated.world) == ("emulated", "simulated")
    assert list(emulated.summary) == list(simulated.summary)
    assert emulated.flows.schema == simulated.flows.schema
    assert emulated.links.column_names == simulated.links.column_names
    assert emulated.summary["seed"] == 7
    # The stand-in: 4 x 20 ms, then 1 MB at 10 Mb/s x 1448/1500.
    assert emulated.metric("flow.tcp.completion_time_s") == pytest.approx(0.08 + 8e6 / (10e6 * 1448 / 1500))
    assert simulated.emulation is None
    assert emulated.emulation is not None
    assert emulated.emulation["lateness"]["p99_s"] == pytest.approx(15e-6)
    assert emulated.emulation["system"]["kernel"] == "6.18.5"
    assert emulated.emulation["differences"] == ["the kernel's min RTO stands"]


@pytest.mark.usefixtures("fake")
def test_a_result_keeps_its_lateness_in_the_manifest(transfer: Scenario, tmp_path: Path) -> None:
    result = transfer.emulate()
    result.save(tmp_path / "run")
    loaded = Result.load(tmp_path / "run")
    assert (loaded.emulation, loaded.world) == (result.emulation, "emulated")
    manifest = tmp_path / "run" / "manifest.json"
    document = json.loads(manifest.read_text())
    assert document["emulation"] == result.emulation
    manifest.write_text(json.dumps(document | {"emulation": "late"}))
    with pytest.raises(ResultError, match="emulation"):
        Result.load(tmp_path / "run")
    transfer.run().save(tmp_path / "simulated")
    assert "emulation" not in json.loads((tmp_path / "simulated" / "manifest.json").read_text())


@pytest.mark.usefixtures("fake")
def test_stations_have_energy() -> None:
    station = doze(ClientShaper()).emulate().station("client")
    # Half of 4 s asleep at 177 mW, half idle at 1.319 W.
    assert station["energy"]["wavelan-dsss"]["total_j"] == pytest.approx(2 * 0.177 + 2 * 1.319)
    assert (station["state"], station["fallback"], station["download"]) == ("standard", "paced", None)


@pytest.mark.usefixtures("fake")
def test_options_reach_the_program(transfer: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_ARGUMENTS", str(tmp_path / "given"))
    shares: list[float] = []
    transfer.emulate(
        max_lateness="2 ms",
        tapes=tmp_path / "tapes",
        capture=tmp_path / "packets.pcapng",
        attach={"a": "mine"},
        progress=shares.append,
    )
    assert shares == [0.5, 1.0]
    given = json.loads((tmp_path / "given").read_text())
    assert given[0] == "emulate"
    assert given[5:] == [
        *("--max-lateness", "2 ms", "--tapes", str(tmp_path / "tapes"), "--capture", str(tmp_path / "packets.pcapng")),
        *("--attach", "a=mine", "--progress"),
    ]


@pytest.mark.usefixtures("fake")
def test_options_that_make_no_sense_are_refused(transfer: Scenario) -> None:
    with pytest.raises(InputError, match='max_lateness: "soon" is not a time'):
        transfer.emulate(max_lateness="soon")
    with pytest.raises(ScenarioError, match="tahoe, which Linux does not have"):
        transfer.with_values({"tcp.congestion_control": "tahoe"}).emulate()
    with pytest.raises(ScenarioError, match="out of range"):
        transfer.emulate(-1)


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("refuse", r"^flow.tcp: the kernel has no vegas; it has reno, cubic, bbr$"),
        ("silent", "ended with code 1 and no message"),
        ("damaged", "wrote no outcome"),
        ("foreign", "is of another scenario"),
    ],
)
def test_what_fails_says_why(transfer: Scenario, monkeypatch: pytest.MonkeyPatch, what: str, said: str) -> None:
    mode(monkeypatch, what)
    with pytest.raises(EmulationError, match=said):
        transfer.emulate()


@pytest.mark.usefixtures("fake")
def test_a_late_run_is_no_result(transfer: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    mode(monkeypatch, "late")
    with pytest.raises(EmulationLate, match="40 ms late") as caught:
        transfer.emulate()
    assert (caught.value.p99_s, caught.value.limit_s) == (pytest.approx(0.04), pytest.approx(0.001))


def test_the_program_is_looked_for(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_program() == fake
    assert program_version() == "0.2.0"
    with pytest.raises(EmulationError, match=r"program: .*nothing is not a program"):
        find_program(tmp_path / "nothing")
    monkeypatch.setenv("NETLULLD", str(tmp_path))
    with pytest.raises(EmulationError, match=r"NETLULLD: .* is not a program; .*make netlulld"):
        find_program()
    monkeypatch.delenv("NETLULLD")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(fake.parent))
    assert find_program() == fake
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EmulationError, match=r"netlulld is missing: .*`make netlulld` builds it"):
        find_program()
    beside = tmp_path / "netlulld"
    beside.write_text("#!/bin/sh\n")
    beside.chmod(0o755)
    assert find_program() == beside


@pytest.mark.usefixtures("fake")
def test_emulate_prints_what_run_prints_and_how_late_it_was(printed: Printed, transfer_file: Path) -> None:
    text = printed("emulate", transfer_file, "--seed", "3")
    for words in ("transfer", "seed 3", "3 s emulated", "a-b", "tcp", "99 % 15 µs", "Linux 6.18.5", "fifo", "min RTO"):
        assert words in text, text
    assert all(len(line) <= 150 for line in text.splitlines())
    document = json.loads(printed("emulate", transfer_file, "--json", "--set", "duration=2 s"))
    assert (document["duration_s"], document["emulation"]["lateness"]["packets"]) == (2.0, 1000)


@pytest.mark.usefixtures("fake")
def test_emulate_writes_what_run_writes(printed: Printed, transfer_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert f"written to {out}" in printed("emulate", transfer_file, "--out", out)
    result = Result.load(out)
    assert {"link", "window", "rate"} <= set(result.series_names)
    assert list((out / "figures").glob("*.svg"))


@pytest.mark.usefixtures("fake")
def test_a_late_run_writes_nothing(
    refused: Callable[..., str], transfer_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode(monkeypatch, "late")
    assert "40 ms late" in refused("emulate", transfer_file, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert "expected node=namespace" in refused("emulate", transfer_file, "--attach", "a")


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_program_too(transfer_file: Path, tmp_path: Path, number: signal.Signals, code: int) -> None:
    started = tmp_path / "started"
    environment = os.environ | {"FAKE_NETLULLD": "slow", "FAKE_STARTED": str(started)}
    command = [sys.executable, "-m", "netlull", "emulate", str(transfer_file), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as child:
        while not (started.exists() and started.read_text()):
            assert child.poll() is None
            time.sleep(0.01)
        child.send_signal(number)
        assert child.wait() == code
    assert (tmp_path / "removed").read_text() == "what was made"
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("fake")
def test_a_killed_emulation_leaves_no_temporary_file(transfer_file: Path, tmp_path: Path) -> None:
    started, temporary = tmp_path / "started", tmp_path / "temporary"
    temporary.mkdir()
    environment = os.environ | {"FAKE_NETLULLD": "slow", "FAKE_STARTED": str(started), "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "netlull", "emulate", str(transfer_file)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as child:
        while not (started.exists() and started.read_text()):
            assert child.poll() is None
            time.sleep(0.01)
        child.kill()
        # The real netlulld notices the death of its caller.
        os.kill(int(started.read_text()), signal.SIGKILL)
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("fake")
def test_doctor_says_what_is_missing(printed: Printed) -> None:
    text = printed("doctor")
    for words in ("core", "netlulld", "version 0.2.0", "root", "netem", "not in this kernel", "simulating"):
        assert words in text, text
    assert "Not or only partly possible: nothing." in text
    assert "Possible, but less exact: emulating." in text
    document = json.loads(printed("doctor", "--json"))
    assert document["simulates"] is True
    names = ["package", "core", "netlulld", "root", "netem", "real-time priority"]
    assert [check["name"] for check in document["checks"]] == names
    assert document["checks"][-1]["optional_for"] == ["emulating", "nothing"]


def test_doctor_without_netlulld_still_simulates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: Printed
) -> None:
    monkeypatch.setenv("NETLULLD", str(tmp_path / "nothing"))
    assert "Not or only partly possible: emulating." in printed("doctor")
    assert "make netlulld" in json.loads(printed("doctor", "--json"))["checks"][2]["message"]
    monkeypatch.setenv("NETLULLD", "/bin/true")
    checks = examine()
    assert simulates(checks)
    assert "is not netlulld" in next(check.message for check in checks if check.name == "netlulld")


@pytest.mark.usefixtures("fake")
def test_replay_says_whether_it_decides_the_same(
    tmp_path: Path, printed: Printed, capsys: pytest.CaptureFixture[str]
) -> None:
    from netlull.cli import main

    tape = tmp_path / "tape"
    tape.write_text("same")
    assert replay(tape) == (True, "1 event, 1 decision: the same")
    assert "the same" in printed("replay", tape)
    tape.write_text("other")
    assert main(["replay", str(tape)]) == 1
    assert "decision 1 of 1 differs" in capsys.readouterr().err


@pytest.mark.usefixtures("fake")
def test_compare_puts_both_worlds_side_by_side(printed: Printed, transfer_file: Path) -> None:
    text = printed("compare", "--emulate", transfer_file, "--seeds", "2")
    for words in ("simulated", "emulated", "flow.tcp.completion_time_s", "15 µs late", "the kernel's min RTO stands"):
        assert words in text, text
    only = ("--metric", "flow.tcp.completion_time_s", "--metric", "flow.tcp.retransmissions")
    document = json.loads(printed("compare", "--emulate", transfer_file, *only, "--seeds", "2", "--json"))
    first, second = document["rows"]
    simulated = Scenario.from_toml(TRANSFER).run(1).metric("flow.tcp.completion_time_s")
    emulated = 0.08 + 8e6 / (10e6 * 1448 / 1500)
    assert first["a_mean"] == pytest.approx(simulated)
    assert first["relative"]["mean"] == pytest.approx(emulated / simulated - 1)
    assert (second["b_mean"], second["pairs"]) == (0, 2)


@pytest.mark.usefixtures("fake")
def test_runs_that_were_written_are_compared_and_drawn(printed: Printed, transfer_file: Path, tmp_path: Path) -> None:
    printed("run", transfer_file, "--out", tmp_path / "a")
    printed("emulate", transfer_file, "--out", tmp_path / "b")
    document = json.loads(printed("compare", tmp_path / "a", tmp_path / "b", "--json"))
    assert (document["a"], document["b"]) == ("simulated", "emulated")
    assert "flow.tcp.completion_time_s" in [row["metric"] for row in document["rows"]]
    picture = tmp_path / "both.svg"
    printed("plot", "compare", tmp_path / "a", tmp_path / "b", "--out", picture)
    drawn = picture.read_text()
    for words in ("simulated", "emulated", "Congestion window of tcp", "Queue of a-b"):
        assert words in drawn
    printed("plot", "compare", transfer_file, tmp_path / "b", "--link", "b-a", "--out", picture)
    assert "Queue of b-a" in picture.read_text()


def test_what_does_not_go_together_is_refused(
    refused: Callable[..., str], printed: Printed, transfer_file: Path, tmp_path: Path
) -> None:
    printed("run", transfer_file, "--out", tmp_path / "a")
    (tmp_path / "b").mkdir()
    assert "is a run" in refused("compare", tmp_path / "a", tmp_path / "b")
    assert "expected no second scenario" in refused("compare", "--emulate", transfer_file, transfer_file)
    assert "is an option of --emulate only" in refused("compare", transfer_file, transfer_file, "--set", "seed=2")
    assert "--by: is an option for sweeps" in refused("compare", "--emulate", transfer_file, "--by", "x=1,2")
    assert "there is no link" in refused(
        "plot", "compare", tmp_path / "a", tmp_path / "a", "--link", "x", "--out", tmp_path / "x.svg"
    )


@pytest.mark.usefixtures("fake")
def test_the_page_works_as_printed(
    printed: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "how-to" / "emulate.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(SHIPPED / "scenarios", tmp_path / "scenarios")
    for block in re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL):
        for line in block.splitlines():
            prompt, command, *arguments = shlex.split(line, comments=True)
            assert prompt == "$"
            if command == "netlull":
                printed(*arguments)
    assert (tmp_path / "both.svg").exists()
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    exec(compile(code, "emulate.md", "exec"), {})  # noqa: S102  # our own page
    assert "simulated emulated" in capsys.readouterr().out
