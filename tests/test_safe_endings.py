"""Failures end in one line and leave no files; foreign files stay unchanged."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import start
from netlull import (
    Axis,
    Experiment,
    FieldPathError,
    InputError,
    OutputError,
    Result,
    ResultError,
    Scenario,
    Sweep,
    SweepError,
)

Refused = Callable[..., str]
Printed = Callable[..., str]
METRICS = {"goodput_bps": "flow.tcp.goodput_bps"}

SWEEP = """
scenario = "small.toml"
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[[axis]]
name = "d"
path = "duration"
values = ["100 ms"]
"""


@pytest.fixture
def sweep_file(small_file: Path) -> Path:
    path = small_file.parent / "sweep.toml"
    path.write_text(SWEEP)
    return path


@pytest.mark.parametrize("name", ["notes.txt", "figures/mine.svg", "data/x.csv"])
def test_a_result_with_a_file_of_the_users_is_not_replaced(
    refused: Refused, printed: Printed, small_file: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    printed("run", small_file, "--out", out)
    printed("run", small_file, "--out", out, "--seed", "2")
    assert Result.load(out).summary["seed"] == 2
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text("mine")
    assert "holds other files" in refused("run", small_file, "--out", out)
    assert (out / name).read_text() == "mine"


def test_a_file_that_comes_during_a_run_is_not_replaced(small: Scenario, tmp_path: Path) -> None:
    from netlull.results.output import staged_folder

    out = tmp_path / "out"
    small.run().save(out)
    with pytest.raises(OutputError, match=r"late\.txt"), staged_folder(out, kind="netlull run"):
        (out / "late.txt").write_text("mine")
    assert (out / "late.txt").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("emulate", ["--max-lateness", "1"]),
        ("trace", ["--link", "no-such"]),
        ("trace", ["--link", "a-b", "--link", "a-b"]),
        ("sweep", ["--until", "no_such<5%"]),
        ("topology", ["no-such"]),
    ],
)
def test_a_refused_command_leaves_no_new_folder(
    refused: Refused, sweep_file: Path, small_file: Path, tmp_path: Path, command: str, options: list[str]
) -> None:
    file = sweep_file if command == "sweep" else small_file
    refused(command, file, *options, "--out", tmp_path / "mistyped" / "deep" / "out")
    assert not (tmp_path / "mistyped").exists()


def test_a_sweep_whose_first_run_is_refused_leaves_no_folder(refused: Refused, sweep_file: Path) -> None:
    text = sweep_file.read_text()
    assert "[metrics]" in text
    sweep_file.write_text(text.replace("[metrics]", '[metrics]\nwrong = "flow.no-such.goodput_bps"'))
    assert "no-such" in refused("sweep", sweep_file, "--out", sweep_file.parent / "mistyped" / "out")
    assert not (sweep_file.parent / "mistyped").exists()


def test_folders_of_others_stay_after_a_failure(tmp_path: Path) -> None:
    from netlull.results.output import made_folder

    def fail() -> None:
        with made_folder(tmp_path / "a" / "b", tmp_path):
            (tmp_path / "a" / "kept").touch()
            raise OutputError("failed")

    with pytest.raises(OutputError, match="failed"):
        fail()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["kept"]


@pytest.mark.parametrize("command", ["run", "sweep"])
@pytest.mark.parametrize("where", [".", "..", "../here", "../link"])
def test_the_working_folder_is_no_place_for_results(
    refused: Refused, sweep_file: Path, monkeypatch: pytest.MonkeyPatch, command: str, where: str
) -> None:
    here = sweep_file.parent / "here"
    here.mkdir()
    (sweep_file.parent / "link").symlink_to(here)
    monkeypatch.chdir(here)
    file = sweep_file if command == "sweep" else sweep_file.with_name("small.toml")
    assert "is or holds the current folder" in refused(command, file, "--out", where)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "files",
    [
        {"sweep.json": '{"kind": "brush"}'},
        {"sweep.json": "// settings of a game"},
        {"journal.jsonl": '{"day": 1}\n{"day": 2}\n'},
        {"sweep.json": '{"kind": "netlull sweep"}', "journal.jsonl": "dear diary\n"},
    ],
    ids=["description", "text", "journal", "journal beside ours"],
)
def test_a_store_of_somebody_elses_stays_as_it_is(
    refused: Refused, sweep_file: Path, tmp_path: Path, files: dict[str, str]
) -> None:
    store = tmp_path / "store"
    store.mkdir()
    for name, text in files.items():
        (store / name).write_text(text)
    line = refused("sweep", sweep_file, "--out", store)
    assert "expected a new folder or a sweep's" in line
    assert {path.name: path.read_text() for path in store.iterdir()} == files


def test_a_journal_whose_only_line_is_broken_is_still_ours(printed: Printed, sweep_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    printed("sweep", sweep_file, "--out", store)
    for text in (b'{"check":"01', b'{"ch', b""):
        (store / "journal.jsonl").write_bytes(text)
        assert "1 runs simulated" in printed("sweep", sweep_file, "--out", store)


def test_seeds_are_bounded(refused: Refused, sweep_file: Path, tmp_path: Path) -> None:
    for command in (("sweep", sweep_file), ("reproduce", "--all")):
        line = refused(*command, "--out", tmp_path / "store", "--seeds", "1000001")
        assert "seeds: 1000001" in line
        assert "at most 1000000" in line
    assert not (tmp_path / "store").exists()


def test_lists_of_seeds_are_bounded(small: Scenario) -> None:
    with pytest.raises(SweepError, match="seeds: the list has too many seeds; expected at most 1000000"):
        Sweep(small, [], range(10**12), METRICS)


def test_runs_are_counted_before_they_are_made(small: Scenario) -> None:
    axis = Axis("seed_of_file", "seed", range(20))
    with pytest.raises(SweepError, match="20000000 runs; expected at most 10000000"):
        Sweep(small, [axis], 1_000_000, METRICS)
    one = Experiment("one", ["seed_of_file"], 1)
    with pytest.raises(SweepError, match="12000020 runs"):
        Sweep(small, [axis], 600_000, METRICS, [one, Experiment("two")])
    assert len(Sweep(small, [axis], 1_000_000, METRICS, [one]).points()) == 20


def test_points_are_counted_before_they_are_made(small: Scenario) -> None:
    seeds, sizes = Axis("seed_of_file", "seed", range(400)), Axis("mtu", "mtu", [f"{576 + n} B" for n in range(251)])
    with pytest.raises(SweepError, match="axis: the sweep has 100400 points; expected at most 100000"):
        Sweep(small, [seeds, sizes], 1, METRICS)
    with pytest.raises(SweepError, match="axis: the sweep has 100651 points"):
        Sweep(small, [seeds, sizes], 1, METRICS, [Experiment("both"), Experiment("sizes", ["mtu"])])
    parts = [Experiment("seeds", ["seed_of_file"]), Experiment("sizes", ["mtu"])]
    assert len(Sweep(small, [seeds, sizes], 1, METRICS, parts).points()) == 651


def test_points_can_be_checked_one_by_one(small: Scenario) -> None:
    each = Sweep(small, [Axis("mtu", "mtu", ["1500 B", "0 B"])], 1, METRICS).each_point()
    assert next(each).values == {"mtu": "1500 B"}
    with pytest.raises(SweepError, match="sweep at mtu=0 B: mtu: "):
        next(each)


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["run", "FILE"], ["run", "FILE", "--json"], ["list"], ["schema"], ["--help"]])
def test_a_standard_output_that_is_full(small_file: Path, arguments: list[str]) -> None:
    command = [sys.executable, "-m", "netlull", *(str(small_file) if part == "FILE" else part for part in arguments)]
    with FULL.open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "netlull: output: No space left on device\n")


@pytest.mark.parametrize("value", ["[" * 5000 + "]" * 5000, "[" * 100 + "]" * 100, "{ a = " * 100 + "1" + " }" * 100])
def test_values_nested_too_deeply_are_refused(refused: Refused, small_file: Path, value: str) -> None:
    line = refused("run", small_file, "--set", f"tcp={value}")
    assert "tcp: is nested too deeply; expected at most" in line
    assert len(line) < 200


@pytest.mark.parametrize("text", ["x = " + "[" * 5000, "x." * 5000 + "y = 1", "x = " + "[" * 100 + "]" * 100])
@pytest.mark.parametrize("command", ["run", "sweep"])
def test_files_nested_too_deeply_are_refused(refused: Refused, tmp_path: Path, command: str, text: str) -> None:
    path = tmp_path / "deep.toml"
    path.write_text(text)
    line = refused(command, path, "--out", tmp_path / "out")
    assert f"{path}, line 1, column " in line
    assert "nested too deeply" in line


def test_mappings_without_end_are_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    endless: dict[str, Any] = {}
    endless["a"] = endless
    for mapping in (deep, endless, {"tcp": deep}):
        with pytest.raises(InputError, match="nested too deeply"):
            Scenario.from_dict(mapping)


def test_a_path_that_is_no_text_is_refused(small: Scenario) -> None:
    wrong: Any = {1: 1}
    with pytest.raises(FieldPathError, match=r"1: is not a path; expected text such as link\.N1-N2\.rate"):
        small.with_values(wrong)


@pytest.mark.parametrize("key", ["series", "version", "engine", "commit", "files", "scenario"])
def test_a_manifest_that_lacks_a_key_is_named(small: Scenario, tmp_path: Path, key: str) -> None:
    small.run().save(tmp_path)
    path = tmp_path / "manifest.json"
    manifest = json.loads(path.read_text())
    for wrong in ({**manifest, key: 3}, {name: value for name, value in manifest.items() if name != key}):
        path.write_text(json.dumps(wrong))
        with pytest.raises(ResultError, match=rf"manifest\.json: .*{key}.*; expected"):
            Result.load(tmp_path)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("run", ["--set", "duration=1000000 s", "--set", "probe.window=false"]),
        ("trace", ["--set", "duration=1000000 s", "--link", "c-b"]),
    ],
)
def test_sigterm_leaves_nothing_behind(small_file: Path, tmp_path: Path, command: str, options: list[str]) -> None:
    out = tmp_path / "out.pcap"
    process = start(command, small_file, *options, "--out", out)
    while len(list(tmp_path.iterdir())) == 1:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    assert len(list(tmp_path.iterdir())) > 1
    process.send_signal(signal.SIGTERM)
    assert [text.strip() for text in process.communicate()] == ["", "terminated"]
    assert process.returncode == 143
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


def test_sigterm_stops_a_sweep(sweep_file: Path, tmp_path: Path) -> None:
    sweep_file.write_text(SWEEP.replace('["100 ms"]', '["100 ms", "1000000 s"]'))
    store = tmp_path / "store"
    process = start("sweep", sweep_file, "--out", store, "--workers", "1")
    journal = store / "journal.jsonl"
    while not (journal.exists() and journal.read_bytes()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert [text.strip() for text in process.communicate()] == ["", "terminated"]
    assert process.returncode == 143
    assert sorted(path.name for path in store.iterdir()) == ["journal.jsonl", "sweep.json"]
    assert journal.read_bytes().count(b"\n") == 1


def test_the_way_back_of_a_duplex_link_is_explained(refused: Refused, small_file: Path) -> None:
    line = refused("run", small_file, "--set", "link.c-b.rate=1 Mb/s")
    assert '"c-b" is the reverse direction of the duplex link b-c' in line
    assert "set it at b-c, for both directions, or remove duplex from b-c and write c-b as a link of its own" in line


@pytest.mark.parametrize("field", ["controller.delay_bound=3 ms", "loss.probability=0.1", "noise={mean='1 ms'}"])
def test_what_a_reverse_link_cannot_have_needs_a_link_of_its_own(
    refused: Refused, small_file: Path, field: str
) -> None:
    line = refused("run", small_file, "--set", f"link.c-b.{field}")
    assert "expected: remove duplex from b-c and write c-b as a link of its own" in line
    assert "both directions" not in line


def test_points_that_differ_late_are_different() -> None:
    axis = Axis("p", "link.a-b.loss.probability", [0.12345678, 0.12345679, 1.0, 2, 1e-9])
    assert [point.text for point in axis.resolved] == ["0.12345678", "0.12345679", "1", "2", "1e-09"]
    with pytest.raises(SweepError, match='the point "1" appears twice'):
        Axis("p", "x", [1, 1.0])


def test_trace_prints_json_for_machines(printed: Printed, small_file: Path, small: Scenario, tmp_path: Path) -> None:
    out = tmp_path / "x.pcapng"
    assert json.loads(printed("trace", small_file, "--link", "a-b", "--out", out, "--json")) == small.run().summary
    assert out.stat().st_size > 0
