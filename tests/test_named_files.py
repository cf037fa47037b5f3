"""Files that documents name are regular and have a limit. Files that users name may be pipes, with the same limits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import SMALL
from netlull import Axis, InputError, Scenario, ScenarioError, Sweep, SweepResult
from netlull.results.result import Result

SIZES = """[[flow]]
kind = "requests"
name = "q"
from = "a"
to = "b"
offered = "1 Mb/s"
size = { kind = "empirical", file = "NAME" }
"""
REPLAY = '[[flow]]\nkind = "replay"\nname = "r"\nfrom = "a"\nto = "b"\nfile = "NAME"\n'
SCENARIO = """name = "x"
duration = "1 s"
nodes = ["a", "b"]
[[link]]
from = "a"
to = "b"
duplex = true
rate = "1 Mb/s"
delay = "1 ms"
CONTROLLER
"""
WASM = 'controller = { kind = "wasm", module = "NAME" }'
NETWORK = 'name = "x"\nduration = "1 s"\n[topology]\nfile = "NAME"\n'

DOCUMENTS = {
    "sizes": SCENARIO.replace("CONTROLLER", "") + SIZES,
    "replay": SCENARIO.replace("CONTROLLER", "") + REPLAY,
    "parquet": SCENARIO.replace("CONTROLLER", "") + REPLAY.replace("NAME", "NAME.parquet"),
    "module": SCENARIO.replace("CONTROLLER", WASM),
    "network": NETWORK,
}


@pytest.mark.parametrize("part", DOCUMENTS)
@pytest.mark.parametrize("kind", ["fifo", "device", "sparse", "folder", "missing"])
def test_a_document_names_regular_files_below_a_limit(tmp_path: Path, part: str, kind: str) -> None:
    name = "given.parquet" if part == "parquet" else "given"
    path = tmp_path / name
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(2**40)
    elif kind == "folder":
        path.mkdir()
    text = DOCUMENTS[part].replace("NAME.parquet", name).replace("NAME", name)
    with pytest.raises((InputError, ScenarioError)) as caught:
        Scenario.from_toml(text, folder=tmp_path)
    expected = {
        "fifo": "is no regular file; expected a file",
        "device": "is no regular file; expected a file",
        "sparse": "is not a Parquet file" if part == "parquet" else "is too large; expected at most ",
        "folder": "",
        "missing": "there is no such file",
    }[kind]
    assert expected in str(caught.value)
    assert name in str(caught.value)


def piped(*command: str, text: bytes = b"", where: Path) -> subprocess.CompletedProcess[bytes]:
    whole = [sys.executable, "-m", "netlull", *command]
    return subprocess.run(whole, cwd=where, input=text, capture_output=True, check=False)


def test_a_user_may_name_a_pipe(tmp_path: Path) -> None:
    assert piped("run", "/dev/stdin", text=SMALL.encode(), where=tmp_path).returncode == 0
    network = "[nodes]\na = []\nb = []\n[[link]]\nfrom = 'a'\nto = 'b'\n"
    assert piped("topology", "/dev/stdin", text=network.encode(), where=tmp_path).returncode == 0


@pytest.mark.parametrize(
    "command",
    [["run"], ["topology"], ["sweep"], ["benchmark", "verify"], ["benchmark", "compare"]],
    ids=" ".join,
)
def test_limits_hold_for_what_users_name(tmp_path: Path, command: list[str]) -> None:
    for name in ("/dev/zero", "sparse"):
        with (tmp_path / "sparse").open("wb") as file:
            file.truncate(2**36)
        done = piped(*command, name, where=tmp_path)
        assert done.returncode == 2, done.stderr
        assert b"is too large; expected at most " in done.stderr


def test_a_file_of_the_kernel_is_empty(tmp_path: Path) -> None:
    # It is regular and has no size; /proc/kmsg keeps its reader waiting.
    with pytest.raises(InputError, match=r"flow\.r\.file: /proc/self/stat: expected the heading"):
        Scenario.from_toml(DOCUMENTS["replay"].replace("NAME", "/proc/self/stat"), folder=tmp_path)


def turn_into(path: Path, kind: str) -> None:
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_files_of_stores_and_runs_are_regular(tmp_path: Path, kind: str) -> None:
    scenario = Scenario.from_toml(SMALL).with_values({"duration": "100 ms"})
    sweep = Sweep(scenario, [Axis("delay", "link.a-b.delay", ["9 ms"])], seeds=1, metrics={"hops": "packet_hops"})
    for name in ("sweep.json", "journal.jsonl", "results.parquet"):
        store = tmp_path / name
        sweep.run(store, workers=1)
        turn_into(store / name, kind)
        with pytest.raises(InputError, match=rf"{name}.*: is no regular file; expected a file"):
            sweep.run(store, workers=1)
        if name != "journal.jsonl":
            with pytest.raises(InputError, match=rf"{name}.*: is no regular file; expected a file"):
                SweepResult.load(store)
    for name in ("manifest.json", "summary.json", "links.parquet"):
        run = tmp_path / f"run-{name}"
        scenario.run().save(run)
        turn_into(run / name, kind)
        with pytest.raises(InputError, match=rf"{name}: is no regular file; expected a file"):
            Result.load(run)
    axis = '[[axis]]\nname = "seconds"\npath = "duration"\nvalues = ["1 s"]\n'
    (tmp_path / "sweep.toml").write_text(f'scenario = "named.toml"\n[metrics]\nhops = "packet_hops"\n{axis}')
    (tmp_path / "named.toml").touch()
    turn_into(tmp_path / "named.toml", kind)
    with pytest.raises(InputError, match=r"named.toml: is no regular file; expected a file"):
        Sweep.from_file(tmp_path / "sweep.toml")


def test_a_manifest_names_files_of_its_folder(tmp_path: Path) -> None:
    Scenario.from_toml(SMALL).with_values({"duration": "100 ms"}).run().save(tmp_path / "run")
    manifest = tmp_path / "run" / "manifest.json"
    text = manifest.read_text()
    for name in ("/dev/zero", "../run/summary.json"):
        manifest.write_text(text.replace('"files": {', f'"files": {{"{name}": {{"bytes": 1, "sha256": ""}},', 1))
        with pytest.raises(InputError, match=r"files: is .*; expected names of files in this folder"):
            Result.load(tmp_path / "run")
