"""The store of a sweep: damage is found, reported and repaired; a full disk and SIGKILL lose no data."""

from __future__ import annotations

import json
import random
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pytest

from conftest import start
from netlull import Axis, NetlullWarning, OutputError, ResultError, Scenario, Sweep, SweepError, SweepResult
from netlull.sweep.journal import read

Printed = Callable[..., str]
pytestmark = pytest.mark.filterwarnings("ignore::netlull.NetlullWarning")

METRICS = {"goodput_bps": "flow.tcp.goodput_bps"}
RATE = Axis("rate", "flow.noise.rate", ["2 Mb/s", "8 Mb/s"], unit="Mb/s")

SWEEP = """
scenario = "small.toml"
seeds = 12
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[[axis]]
name = "length"
path = "duration"
values = ["1 s", "2 s"]
[[axis]]
name = "rate"
path = "flow.noise.rate"
values = ["2 Mb/s", "4 Mb/s", "8 Mb/s"]
unit = "Mb/s"
"""
RUNS = 2 * 3 * 12
MORE_METRICS = 'noise_bps = "flow.noise.goodput_bps"\nrate_bps = "link.a-b.mean_rate_bps"\n'


@pytest.fixture
def sweep(small: Scenario) -> Sweep:
    return Sweep(small.with_values({"duration": "300 ms"}), [RATE], 3, METRICS)


@pytest.fixture
def sweep_file(small_file: Path) -> Path:
    path = small_file.with_name("sweep.toml")
    path.write_text(SWEEP)
    return path


def test_the_table_reads_alike_in_pandas_polars_and_duckdb(sweep: Sweep, tmp_path: Path) -> None:
    table = sweep.run(tmp_path / "store").table
    path = tmp_path / "store" / "results.parquet"
    wanted = table["goodput_bps"].to_pylist()
    assert list(pd.read_parquet(path)["goodput_bps"]) == wanted
    assert pl.read_parquet(path)["goodput_bps"].to_list() == wanted
    # A typical query, on the file in its place.
    query = f"select rate, avg(goodput_bps), count(*) from '{path}' group by rate order by rate"  # noqa: S608
    rows = duckdb.sql(query).fetchall()
    assert [(rate, count) for rate, _, count in rows] == [(2.0, 3), (8.0, 3)]
    assert rows[0][1] == pytest.approx(sum(wanted[:3]) / 3)


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    # A byte of the text "wanted" or of the data, not of white space.
    raw[len(raw) // 2] ^= 1
    path.write_bytes(bytes(raw))


@pytest.mark.parametrize("name", ["sweep.json", "results.parquet", "energy.parquet"])
@pytest.mark.parametrize("damage", ["truncated", "flipped", "another", "missing", "empty", "noise"])
def test_a_damaged_file_is_found_named_and_written_anew(sweep: Sweep, tmp_path: Path, name: str, damage: str) -> None:
    store, other = tmp_path / "store", tmp_path / "other"
    whole = sweep.run(store)
    sweep.replaced(seeds=2).run(other)
    path = store / name
    before = path.read_bytes()
    match damage:
        case "truncated":
            truncate(path)
        case "flipped":
            flip(path)
        case "another":
            path.write_bytes((other / name).read_bytes())
        case "missing":
            path.unlink()
        case "empty":
            path.write_bytes(b"")
        case _:
            path.write_bytes(b"\x00" * 1000)
    if path.exists() and path.read_bytes() == before:
        pytest.fail("nothing was damaged")
    with pytest.raises(ResultError, match=r"sweep\.json|results\.parquet|energy\.parquet"):
        SweepResult.load(store)
    again = sweep.run(store)
    # A sound sweep.json of another sweep is found by its tables' checksums.
    named = ["results.parquet", "energy.parquet"] if (name, damage) == ("sweep.json", "another") else [name]
    assert [told.partition(": is ")[0] for told in again.rebuilt] == named
    assert (again.executed, again.damaged) == (0, ())
    assert path.read_bytes() == before
    assert SweepResult.load(store).table.equals(whole.table)
    assert sweep.run(store).rebuilt == ()


@pytest.mark.parametrize("place", range(0, 100, 7))
def test_no_flipped_bit_of_the_description_goes_unseen(sweep: Sweep, tmp_path: Path, place: int) -> None:
    sweep.run(tmp_path)
    path = tmp_path / "sweep.json"
    raw = bytearray(path.read_bytes())
    raw[len(raw) * place // 100] ^= 1 << (place % 8)
    path.write_bytes(bytes(raw))
    try:
        told = sweep.run(tmp_path).rebuilt
    except SweepError as error:
        pytest.fail(str(error))
    # A changed bit may turn white space into other white space, with the same meaning.
    assert told or json.loads(raw) == json.loads(path.read_bytes())
    assert sweep.run(tmp_path).rebuilt == ()


def test_the_command_names_what_it_wrote_anew(
    sweep_file: Path, tmp_path: Path, printed: Printed, capsys: pytest.CaptureFixture[str]
) -> None:
    from netlull.cli import main

    store = tmp_path / "store"
    printed("sweep", sweep_file, "--out", store, "--seeds", "1")
    truncate(store / "results.parquet")
    assert main(["sweep", str(sweep_file), "--out", str(store), "--seeds", "1"]) == 0
    told = capsys.readouterr().err
    assert told.startswith(f"warning: {store}: results.parquet: is truncated or damaged: it has ")
    assert told.endswith("; it is rewritten\n")


def test_damage_is_named_before_the_first_run(sweep: Sweep, tmp_path: Path) -> None:
    sweep.run(tmp_path)
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], lines[2].replace(b'"seed"', b'"sead"'), *lines[3:]]))
    truncate(tmp_path / "energy.parquet")

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.warns(NetlullWarning) as told, pytest.raises(KeyboardInterrupt):
        sweep.run(tmp_path, progress=interrupt)
    first, second = (str(warning.message) for warning in told)
    assert first == f"{tmp_path}: journal.jsonl line 3 is damaged: its checksum is wrong; its run is repeated"
    assert second.startswith(f"{tmp_path}: energy.parquet: is truncated or damaged: it has ")
    assert second.endswith("; it is rewritten")


def test_a_table_of_an_earlier_sweep_is_not_taken_for_this_one(sweep: Sweep, tmp_path: Path) -> None:
    sweep.run(tmp_path / "store")

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep.replaced(seeds=4).run(tmp_path / "store", progress=interrupt)
    with pytest.raises(ResultError, match=r"results\.parquet: is of an earlier sweep; this one has not ended"):
        SweepResult.load(tmp_path / "store")
    assert sweep.replaced(seeds=4).run(tmp_path / "store").executed <= 2


def test_a_sweep_borrows_the_runs_of_another_store(sweep: Sweep, tmp_path: Path) -> None:
    sweep.run(tmp_path / "first")
    longer = sweep.replaced(seeds=4)
    borrowing = longer.run(tmp_path / "second", borrow=[tmp_path / "first", tmp_path / "missing"])
    assert (borrowing.executed, borrowing.reused) == (2, 6)
    longer.run(tmp_path / "alone")
    tables = [(tmp_path / store / "results.parquet").read_bytes() for store in ("second", "alone")]
    assert tables[0] == tables[1]
    assert len((tmp_path / "second" / "journal.jsonl").read_text().splitlines()) == 2


def test_another_version_runs_everything(sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep.run(tmp_path)
    assert sweep.run(tmp_path).executed == 0
    monkeypatch.setattr("netlull._engine.identity", lambda: "netlull 9.9.9 of another build")
    fresh = Sweep(sweep.scenario.with_values({}), [RATE], 3, METRICS)
    assert fresh.run(tmp_path).executed == 6


def test_another_content_of_a_file_that_a_scenario_names_runs_again(small_file: Path, tmp_path: Path) -> None:
    text = small_file.read_text().replace("2 s", "300 ms")
    text += """
[[flow]]
kind = "requests"
name = "web"
from = "a"
to = "c"
offered = "1 Mb/s"
size = { kind = "empirical", file = "sizes.csv" }
"""
    small_file.write_text(text)
    sizes = small_file.with_name("sizes.csv")

    def executed(largest: int) -> int:
        sizes.write_text(f"1000 0\n{largest} 1\n")
        return Sweep(Scenario.from_file(small_file), [RATE], 2, METRICS).run(tmp_path / "store").executed

    assert [executed(largest) for largest in (9000, 9000, 8000, 9000)] == [4, 0, 4, 0]


def limited(sweep_file: Path, store: Path, most_bytes: int) -> subprocess.CompletedProcess[str]:
    """A sweep whose files cannot exceed a size, as on a full disk."""
    return limited_command(most_bytes, "sweep", sweep_file, "--out", store, "--workers", "2")


def limited_command(most_bytes: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """A command whose files cannot exceed a size."""
    limit = (most_bytes, most_bytes)
    return subprocess.run(
        [sys.executable, "-m", "netlull", *map(str, arguments)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),  # one thread
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_full_disk_is_told_and_loses_nothing(sweep_file: Path, tmp_path: Path, printed: Printed) -> None:
    whole, store = tmp_path / "whole", tmp_path / "store"
    printed("sweep", sweep_file, "--out", whole)
    wanted = (whole / "results.parquet").read_bytes()
    sizes = sorted(len(line) for line in (whole / "journal.jsonl").read_bytes().splitlines(keepends=True))
    # Room for ten and a half lines.
    ended = limited(sweep_file, store, 10 * sizes[-1] + sizes[0] // 2)
    assert ended.returncode == 2
    assert ended.stderr == f"netlull: {store}/journal.jsonl: cannot be written: File too large\n"
    kept = read(store / "journal.jsonl")
    assert (len(kept.lines) >= 10, kept.damaged) == (True, ())
    assert f"{RUNS - len(kept.lines)} runs simulated" in printed("sweep", sweep_file, "--out", store)
    assert (store / "results.parquet").read_bytes() == wanted


@pytest.mark.parametrize(("name", "most_bytes"), [("sweep.json", 1000), ("results.parquet", 3000)])
def test_a_disk_too_full_for_a_file(
    sweep_file: Path, tmp_path: Path, printed: Printed, name: str, most_bytes: int
) -> None:
    store = tmp_path / "store"
    if name == "results.parquet":
        # All runs are present, and the table is lost. It has more columns, and thus more bytes than the description.
        sweep_file.write_text(SWEEP.replace("[metrics]\n", f"[metrics]\n{MORE_METRICS}"))
        printed("sweep", sweep_file, "--out", store)
        assert (store / "sweep.json").stat().st_size < most_bytes < (store / name).stat().st_size
        (store / name).unlink()
    ended = limited(sweep_file, store, most_bytes)
    assert ended.returncode == 2
    *warned, line = ended.stderr.splitlines()
    assert line.startswith(f"netlull: {store / name}: cannot be written: ")
    missing = f"warning: {store}: results.parquet: is missing; it is rewritten"
    assert warned == ([missing] if name == "results.parquet" else [])
    assert not any(".partial-" in path.name for path in tmp_path.rglob("*"))
    assert not (store / name).exists()
    printed("sweep", sweep_file, "--out", store)
    assert (store / name).exists()


def test_numbers_are_printed_where_the_report_cannot_be_written(
    sweep_file: Path, tmp_path: Path, printed: Printed
) -> None:
    store = tmp_path / "store"
    told = printed("sweep", sweep_file, "--out", store, "--seeds", "1")
    others = max(path.stat().st_size for path in store.iterdir() if path.suffix != ".html")
    assert (store / "report.html").stat().st_size > others + 1000
    (store / "report.html").unlink()
    ended = limited_command(others + 1000, "sweep", sweep_file, "--out", store, "--seeds", "1")
    assert ended.stdout == told.replace("6 runs simulated, 0 taken", "0 runs simulated, 6 taken")
    assert ended.stderr == f"netlull: {store}/report.html: cannot be written: File too large\n"
    assert ended.returncode == 2
    again = limited_command(others + 1000, "report", store)
    assert (again.stdout, again.stderr) == ("", ended.stderr)
    assert not any(".partial-" in path.name for path in store.iterdir())


@pytest.mark.parametrize("most_bytes", [1, 500, 2000, 5000])
def test_a_run_names_the_file_that_a_full_disk_does_not_take(
    small_file: Path, tmp_path: Path, printed: Printed, most_bytes: int
) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    printed("run", small_file, "--out", whole)
    ended = limited_command(most_bytes, "run", small_file, "--out", out)
    found = re.fullmatch(rf"netlull: {re.escape(str(out))}/(\S+): cannot be written: .*File too large\n", ended.stderr)
    assert found is not None, ended.stderr
    assert ".partial" not in ended.stderr
    assert (whole / found[1]).is_file()
    assert (ended.returncode, list(tmp_path.glob(".out*")), out.exists()) == (2, [], False)


def test_a_sweep_killed_again_and_again_gives_the_same_bytes(
    sweep_file: Path, tmp_path: Path, printed: Printed
) -> None:
    whole, store = tmp_path / "whole", tmp_path / "store"
    printed("sweep", sweep_file, "--out", whole)
    chance = random.Random(1)  # noqa: S311  # moments to kill at
    journal = store / "journal.jsonl"
    kills, kept = 0, 0
    while kills < 6:
        process = start("sweep", sweep_file, "--out", store, "--workers", "2")
        # At a random moment after some more runs have ended; the first time as soon as the folder exists.
        wanted = kept + chance.randrange(12) if kills else 0
        while process.poll() is None and (not store.exists() or lines_in(journal) < wanted):
            time.sleep(0.002)
        time.sleep(chance.random() * 0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += 1
        # Every kept run is still there.
        assert lines_in(journal) >= kept
        kept = lines_in(journal)
    last = printed("sweep", sweep_file, "--out", store)
    contents = read(journal)
    # Every run is present once: finished runs were not repeated.
    assert len(contents.lines) == lines_in(journal) == RUNS
    assert f"{RUNS - kept} runs simulated, {kept} taken" in last
    for name in ("results.parquet", "sweep.json", "energy.parquet", "report.html"):
        assert (store / name).read_bytes() == (whole / name).read_bytes()


def lines_in(journal: Path) -> int:
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def test_a_folder_that_cannot_be_written_is_named(sweep: Sweep, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file/store: cannot be written"):
        sweep.run(tmp_path / "file" / "store")
