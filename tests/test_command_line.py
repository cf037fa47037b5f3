"""Output and files of the commands."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import netlull
from conftest import ROOT, start
from netlull import Result, Scenario
from netlull.cli import LISTED, commands, main, tables
from netlull.sweep.journal import read

Printed = Callable[..., str]

SWEEP = """
scenario = "small.toml"
seeds = 2
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[[axis]]
name = "mrci"
unit = "ms"
path = "link.a-b.controller.min_interval"
values = ["10 ms", "50 ms"]
"""


@pytest.fixture
def sweep_file(small_file: Path) -> Path:
    path = small_file.parent / "sweep.toml"
    path.write_text(SWEEP)
    return path


def test_run_prints_links_energy_and_flows(printed: Printed, small_file: Path) -> None:
    text = printed("run", small_file)
    for words in (
        "small",
        "seed 1",
        "2 s simulated",
        "checks passed",
        "a-b",
        "Mb/s",
        "fs",
        "saved",
        "tcp",
        "noise",
        " %",
    ):
        assert words in text, text
    assert all(len(line) <= 150 for line in text.splitlines())


def test_run_explains_its_numbers(printed: Printed, tmp_path: Path) -> None:
    file = tmp_path / "short.toml"
    file.write_text(
        """duration = "4 s"
warm_up = "2 s"
nodes = ["a", "b"]
power = [{ model = "fs" }, { model = "nexus-9336-fx2", name = "router" }]
[[link]]
from = "a"
to = "b"
rate = "4 Mb/s"
delay = "10 ms"
duplex = true
capacity = { kind = "steps", steps = [{ at = "0 s", rate = "2 Mb/s" }] }
[[flow]]
kind = "tcp"
name = "short"
from = "a"
to = "b"
size = "20 kB"
[[flow]]
kind = "requests"
name = "web"
from = "a"
to = "b"
offered = "100 kb/s"
size = { kind = "fixed", size = "5 kB" }
[[flow]]
kind = "requests"
name = "morning"
from = "a"
to = "b"
offered = "100 kb/s"
size = { kind = "fixed", size = "5 kB" }
stop = "1 s"
[[flow]]
kind = "cbr"
name = "night"
from = "a"
to = "b"
rate = "100 kb/s"
stop = "1 s"
[[flow]]
kind = "cbr"
name = "noon"
from = "a"
to = "b"
rate = "100 kb/s"
stop = "3 s"
"""
    )
    text = printed("run", str(file))
    lines = text.splitlines()
    ended = [line.split()[0] for line in lines if "ended in warm-up" in line]
    assert sorted(ended) == ["morning", "night", "short"], text
    assert " segments)" in text
    assert "flow.web.requests_completed, mean_completion_s, p50_completion_s" in text
    assert "with this run's traffic)" in text
    assert "fs: ideal frequency scaling: power linear in the rate; 1 W per link and direction at full rate." in text
    assert "links of 4 Mb/s as 100 Gb/s ports at the same utilisation." in " ".join(text.split())
    # The link was at half its rate for 2 s without a change of rate: it has its own row.
    energy = [line.split() for line in lines if line.startswith((" a-b", " b-a", " all links"))]
    assert ["a-b", "1", "J,", "500", "mW", "(50.0", "%)"] in [row[:7] for row in energy]
    assert "always at full rate" not in text


@pytest.mark.parametrize(
    ("computation", "said"),
    [
        ("20 ms", "Routing: 2 new routing tables, convergence 20 ms, "),
        ("1 s", "Routing: no new routing table before the end, "),
    ],
)
def test_run_tells_of_tables_that_came_before_the_end(
    printed: Printed, tmp_path: Path, computation: str, said: str
) -> None:
    file = tmp_path / "nap.toml"
    file.write_text(
        f"""duration = "3 s"
nodes = ["a", "b"]
routing.update = {{ kind = "flooding", computation = "{computation}" }}
sleep = [{{ at = "2.9 s", links = ["a-b"], drain = "20 ms" }}]
link = [{{ from = "a", to = "b", rate = "1 Mb/s", delay = "10 ms", duplex = true }}]
flow = [{{ kind = "cbr", name = "f", from = "a", to = "b", rate = "500 kb/s" }}]
"""
    )
    assert said in printed("run", str(file))


def test_run_fits_a_narrow_terminal(
    small: Scenario, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tables, "new_console", lambda: Console(width=80, force_terminal=True, color_system=None))
    tables.print_result(small.run())
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line.split()[0] for line in lines if line.startswith(" a-b")]
    assert rows == ["a-b", "a-b"], "one line of the links, one of the energy"


def test_run_prints_json_for_machines(printed: Printed, small_file: Path, small: Scenario) -> None:
    assert json.loads(printed("run", small_file, "--json", "--seed", "4")) == small.run(4).summary


def test_run_takes_settings(printed: Printed, small_file: Path) -> None:
    text = printed(
        "run", small_file, "--json", "--set", "duration=1 s", "--set", "link.b-a.rate=12 Mb/s", "--verify", "off"
    )
    summary = json.loads(text)
    assert (summary["duration_s"], summary["links"][1]["rate_bps"], summary["verify"]) == (1.0, 12e6, "off")


def test_run_writes_columns_manifest_and_figures(printed: Printed, small_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    assert f"written to {out}" in printed("run", small_file, "--out", out)
    result = Result.load(out)
    # 2 s / 500 = 4 ms
    assert result.scenario["probe"]["interval"] == "4 ms"
    assert result.series("link").num_rows == 500 * 4
    assert result.series("window").num_rows > 0
    assert list((out / "figures").glob("*.svg"))
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_run_keeps_the_scenarios_own_probe(printed: Printed, small_file: Path, tmp_path: Path) -> None:
    printed("run", small_file, "--out", tmp_path / "out", "--set", 'probe.interval="500 ms"')
    result = Result.load(tmp_path / "out")
    assert result.scenario["probe"]["interval"] == "500 ms"
    assert "window" not in result.series_names


def test_a_run_without_time_series_says_so_and_can_be_replaced(
    small_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        assert main(["run", str(small_file), "--out", str(tmp_path / "out"), "--set", 'probe.links=["a-b"]']) == 0
        assert "no figures are drawn: probe records no time series" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out" / "figures").exists()


def test_bins_are_at_least_a_millisecond(printed: Printed, small_file: Path, tmp_path: Path) -> None:
    printed("run", small_file, "--out", tmp_path / "out", "--set", "duration=100 ms")
    assert Result.load(tmp_path / "out").scenario["probe"]["interval"] == "1 ms"


def test_ready_scenarios_run_by_name_from_anywhere(
    printed: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [entry["name"] for entry in json.loads(printed("list", "scenarios", "--json"))]
    assert {"dumbbell", "dumbbell-20-flows", "practra-link"} <= set(names)
    for name in names:
        summary = json.loads(printed("run", name, "--json", "--set", "duration=11 s"))
        assert summary["name"] == name


def test_sweep_runs_resumes_and_prints(printed: Printed, sweep_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "store"
    text = printed("sweep", sweep_file, "--out", out)
    assert "mrci [ms]" in text
    assert "±" in text
    assert "4 runs simulated, 0 taken from the store" in text
    again = json.loads(printed("sweep", sweep_file, "--out", out, "--seeds", "3", "--json"))
    assert (again["executed"], again["reused"], len(again["rows"])) == (2, 4, 6)
    assert pq.read_table(out / "results.parquet").to_pylist() == again["rows"]


def test_sweep_has_a_default_store(
    printed: Printed, sweep_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    printed("sweep", sweep_file)
    assert (Path("out") / tmp_path.name / "results.parquet").exists()


def test_sweep_names_damaged_lines(sweep_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", str(sweep_file), "--out", str(tmp_path / "store")]) == 0
    with (tmp_path / "store" / "journal.jsonl").open("ab") as journal:
        journal.write(b"half a li")
    capsys.readouterr()
    assert main(["sweep", str(sweep_file), "--out", str(tmp_path / "store")]) == 0
    assert "journal.jsonl line 5 is truncated; its run is repeated" in capsys.readouterr().err


def test_list_shows_every_kind_with_its_count(printed: Printed) -> None:
    text = printed("list")
    assert len(text.splitlines()) <= 40
    assert "netlull list mechanisms practra" in text
    found = json.loads(printed("list", "--json"))
    for kind, entries in found.items():
        assert re.search(rf"^ {kind} .* {len(entries)} *$", text, re.MULTILINE), kind
    assert list(found) == [
        "papers",
        "mechanisms",
        "tcp",
        "tcp-options",
        "queues",
        "losses",
        "power",
        "transceivers",
        "radios",
        "sites",
        "scenarios",
        "topologies",
    ]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("mechanisms", "practra lull estop"),
        ("tcp", "new_reno"),
        ("power", "fs dvs ncs-55a1-24h"),
        ("scenarios", "dumbbell"),
        ("papers", "troubled-marriage-2016"),
    ],
)
def test_a_kind_shows_its_entries(printed: Printed, kind: str, words: str) -> None:
    assert set(words.split()) <= set(printed("list", kind).split())


def test_version_and_help(printed: Printed) -> None:
    assert printed("--version").startswith("netlull 0.")
    for command in ("run", "sweep", "plot", "reproduce", "list", "schema", "trace"):
        assert command in printed("--help")
        assert f"netlull {command}" in printed(command, "--help")


def test_help_does_not_wait_for_heavy_packages() -> None:
    code = "import sys; from netlull.cli import main; main(['--help']); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "pyarrow", "matplotlib", "scipy", "pandas"} & set(loaded)


def test_the_list_of_commands_says_what_each_command_says() -> None:
    for name in commands.list_commands(click.Context(commands)):
        command = commands.get_command(click.Context(commands), name)
        assert command is not None
        assert (command.name, command.get_short_help_str(1000)) == (name, LISTED[name].short_help)


def test_a_bare_import_reaches_every_public_module() -> None:
    code = "import netlull; print(netlull.topology.sleep_plan.__module__, netlull.plot.save.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["netlull.topology.plan", "netlull.plot.style"]
    assert not hasattr(netlull, "no_such_module")


def test_a_closed_pipe_ends_without_a_traceback(small_file: Path) -> None:
    with start("run", small_file) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def _wait_until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Waits for an event in a process; fails if the process ends first."""
    while not happened():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def test_control_c_ends_a_run(small_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start("run", small_file, "--set", "duration=1000000 s", "--set", "probe.window=false", "--out", out)
    _wait_until(lambda: any(".out.partial" in path.name for path in tmp_path.iterdir()), process)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate()
    assert (process.returncode, stdout, stderr.strip()) == (130, "", "interrupted")
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_control_c_ends_a_trace(small_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.pcapng"
    process = start("trace", small_file, "--set", "duration=1000000 s", "--link", "c-b", "--out", out)
    _wait_until(lambda: len(list(tmp_path.iterdir())) > 1, process)
    process.send_signal(signal.SIGINT)
    assert process.communicate()[1].strip() == "interrupted"
    assert process.returncode == 130
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


class _Hit:
    """Gets a signal while its class is made, as an import does. Python raises RuntimeError then."""

    def __init__(self, how: signal.Signals) -> None:
        self.how = how

    def __set_name__(self, _owner: type, _name: str) -> None:
        signal.raise_signal(self.how)


def _make_a_class(how: signal.Signals) -> None:
    type("Made", (), {"field": _Hit(how)})


def _clean_up_badly(how: signal.Signals) -> None:
    """Fails in its clean-up, as a library does if a signal interrupts a change of its state."""
    try:
        signal.raise_signal(how)
    finally:
        raise ValueError("inconsistent state")


@pytest.mark.parametrize("work", [_make_a_class, _clean_up_badly])
@pytest.mark.parametrize(
    ("how", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_behind_another_error_is_no_defect(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    work: Callable[[signal.Signals], None],
    how: signal.Signals,
    code: int,
    said: str,
) -> None:
    monkeypatch.setattr(netlull.cli.commands, "main", lambda **_options: work(how))
    # A shell starts background jobs with SIGINT ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["run"]) == code
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err.strip() == said


RUNS = 40
LONG_SWEEP = SWEEP.replace("seeds = 2", f"seeds = {RUNS // 2}")
"""A sweep of runs of 600 simulated seconds, long enough to be stopped in the middle."""


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_sweep_that_is_stopped_loses_nothing(sweep_file: Path, tmp_path: Path, how: int, code: int) -> None:
    sweep_file.write_text(LONG_SWEEP)
    small = sweep_file.with_name("small.toml")
    small.write_text(small.read_text().replace('duration = "2 s"', 'duration = "600 s"'))
    whole, store = tmp_path / "whole", tmp_path / "store"
    assert main(["sweep", str(sweep_file), "--out", str(whole)]) == 0
    journal = store / "journal.jsonl"
    process = start("sweep", sweep_file, "--out", store)
    _wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 5, process)
    process.send_signal(how)
    stderr = process.communicate()[1]
    assert process.returncode == code
    assert stderr.strip() == ("interrupted" if how == signal.SIGINT else "")
    assert not (store / "results.parquet").exists()
    kept = read(journal).lines
    assert 5 <= len(kept) < RUNS

    ended = start("sweep", sweep_file, "--out", store, "--json")
    stdout, stderr = ended.communicate()
    assert ended.returncode == 0, stderr
    found = json.loads(stdout)
    assert (found["executed"], found["reused"]) == (RUNS - len(kept), len(kept))
    assert (store / "results.parquet").read_bytes() == (whole / "results.parquet").read_bytes()
    # No run was repeated: every key is in the journal once.
    assert journal.read_bytes().count(b"\n") == RUNS


def test_the_command_is_installed() -> None:
    command = Path(sys.executable).parent / "netlull"
    text = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout
    assert text.startswith("netlull ")


def test_results_do_not_depend_on_the_folder(small_file: Path, tmp_path: Path) -> None:
    outputs = []
    for folder in (tmp_path, ROOT, Path(os.sep)):
        process = start("run", small_file, "--json", cwd=folder)
        outputs.append(process.communicate()[0])
    assert outputs[0] == outputs[1] == outputs[2]
