"""An old word in a document gives an error with the new one, and the files of commit 93fcbb73 are read as a whole."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tarfile
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import netlull
from conftest import ROOT
from netlull import InputError, NetlullWarning, Result, ResultError, Scenario, ScenarioError, Sweep
from netlull.benchmark import Definition, Record, check_sum
from netlull.documents.decode import Document, FieldError, decode
from netlull.emulation import replay
from netlull.errors import FormatError, near
from netlull.plugins.loading import listed
from netlull.report import sweep_report
from netlull.results.result import metric
from netlull.sweep import SweepResult

Refused = Callable[..., str]
Printed = Callable[..., str]

NAME = "written_at_93fcbb73"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The files that commit 93fcbb73 wrote."""
    with tarfile.open(ROOT / "tests" / f"{NAME}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / NAME


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """True if two summaries are equal apart from the version, the number of checks, the last digits and later fields.

    Runs of 0.1.0 have no mean powers, and no time in recovery.
    """
    texts = (json.dumps(summary | {"version": "", "checks": 0}) for summary in (one, other))

    def of_then(table: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in table.items() if key not in ("mean_w", "recovery_s")}

    read, expected = (
        json.loads(text, parse_float=lambda number: f"{float(number):.14g}", object_hook=of_then) for text in texts
    )
    return bool(read == expected)


# Renamed words.


def test_every_old_word_is_refused_with_the_new_one_or_still_works(
    refused: Refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sweep.toml").write_text('scenario = "scenarios/dumbbell.toml"\n[[experiment]]\nname = "one"\n')
    said: dict[str, str] = {
        "controller": refused("plugin", "new", "mine", "--language", "c", "--kind", "controller"),
        "observer": refused("plugin", "new", "mine", "--language", "c", "--kind", "observer"),
        "assemblyscript": refused("plugin", "new", "mine", "--language", "assemblyscript"),
        "scenarios/NAME.toml": refused("run", "scenarios/dumbbell.toml"),
        "papers/KEY": refused("reproduce", "papers/lull-2026"),
    }
    for rename in netlull.renames.RENAMES:
        if not rename.works:
            named = {"NAME": "dumbbell", "KEY": "lull-2026"}.get(rename.new or "", rename.new)
            assert rename._replace(new=named).hint in said.pop(rename.old)
    assert said == {}
    assert 'it is called "dumbbell" since 0.1.0' in refused("sweep", "sweep.toml")
    assert not Path("mine").exists()


class Sheet(Document, frozen=True):
    """A document with a field that had another name."""

    rate: int = 1


def test_an_old_word_is_one_only_where_the_new_one_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    # A word that no version had.
    made_up = (
        netlull.renames.Rename("field", "speed", "rate", "9.0"),
        netlull.renames.Rename("field", "x", None, "9.1"),
    )
    monkeypatch.setattr(netlull.renames.hint, "__defaults__", (made_up,))
    assert near("speed", ["delay", "rate"]) == 'it is called "rate" since 9.0; expected one of delay, rate'
    assert near("speed", ["delay", "seed"]) == "did you mean seed?"
    assert near("x", ["delay", "seed"]) == "it was removed in 9.1; expected one of delay, seed"
    with pytest.raises(FieldError, match=r'speed: is unknown; it is called "rate" since 9.0'):
        decode({"speed": 3}, Sheet)
    summary = {"links": [{"name": "a-b", "rate": 1.0}]}
    with pytest.raises(InputError, match=r'"speed" is not a field of link.a-b; it is called "rate" since 9.0; it has'):
        metric(summary, "link.a-b.speed")


def test_a_plug_in_in_an_old_group_is_told_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A group that no version had.
    made_up = netlull.renames.Rename("entry points", "netlull.regulators", "netlull.controllers", "9.0")
    monkeypatch.setattr(netlull.renames, "RENAMES", (made_up,))
    info = tmp_path / "tiny_plugins-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-plugins\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[netlull.regulators]\nhalves = tiny:Half\n")
    monkeypatch.syspath_prepend(tmp_path)
    link = netlull.Link("a", "b", "10 Mb/s", "20 ms", duplex=True, controller={"kind": "halves"})
    flow = netlull.Tcp("tcp", "a", "b")
    told = 'another group: it is called "netlull.controllers" since 9.0'
    expected = f'is "halves" of the package tiny-plugins 1.2, in the group netlull.regulators; expected {told}'
    with pytest.raises(ScenarioError, match=expected):
        Scenario(duration="1 s", nodes=["a", "b"], links=[link], flows=[flow])
    (problem,) = [each.problem for each in listed() if each.name == "halves"]
    assert problem == f"it is in the group netlull.regulators; expected {told}"


# Files of commit 93fcbb73.


def test_a_scenario_and_a_run_give_the_same_numbers(old: Path) -> None:
    scenario, result = Scenario.from_file(old / "scenario.toml"), Result.load(old / "run")
    assert scenario.canonical() == (old / "canonical.json").read_text()
    assert same(scenario.run(1).summary, result.summary)
    assert result.series_names == ("rate", "link", "flow")
    assert (result.links.num_rows, result.flows.num_rows, result.stations.num_rows) == (4, 1, 1)


def test_a_store_is_read_as_a_whole_and_its_sweep_says_that_no_run_is_reused(old: Path) -> None:
    before = SweepResult.load(old / "store")
    assert (before.table.num_rows, before.gaps()) == (6, [])
    assert before.energy is not None
    with pytest.warns(NetlullWarning, match=r"sweep\.json: is of the engine 0\.1\.0\+a96c045a98e8; this is 0\.2\.0\+"):
        after = Sweep.from_file(old / "sweep.toml").run(old / "store", workers=1)
    assert (after.executed, after.reused) == (6, 0)
    assert after.table.equals(before.table)
    # Tables of then have no energy of sleeping links.
    assert after.energy.select(before.energy.column_names).equals(before.energy)
    # The earlier runs stay in the journal.
    assert len((old / "store" / "journal.jsonl").read_bytes().splitlines()) == 12


def test_a_borrowed_store_of_another_engine_is_named(old: Path, tmp_path: Path) -> None:
    sweep = Sweep.from_file(old / "sweep.toml")
    with pytest.warns(NetlullWarning, match=r"store/sweep\.json: is of the engine 0\.1\.0\+a96c045a98e8"):
        sweep.run(tmp_path / "new", borrow=[old / "store"], workers=1)


def test_tapes_play_with_the_same_decisions(old: Path) -> None:
    recorded = Scenario.from_file(old / "taped.toml", replay=old / "plug-ins.tape")
    assert same(recorded.run().summary, Scenario.from_file(old / "taped.toml", allow_code=True).run(1).summary)


def test_a_module_has_its_interface(old: Path, printed: Printed) -> None:
    assert "version 1 of the interface" in printed("plugin", "check", old / "module.wasm")


def plan_of_today(old: Path) -> str:
    return Scenario.from_file(old / "emulated.toml").checked.emulation_plan()


def test_a_plan_differs_by_its_number_and_later_fields(old: Path) -> None:
    def of_then(table: dict[str, Any]) -> dict[str, Any]:
        if "arrival" in table:
            table["noise"] = (table.pop("arrival") or {}).get("noise")
        later = {"overhead", "coupled_with", "naps", "reorder", "trace"}
        return {key: value for key, value in table.items() if key not in later}

    plan, today = json.loads((old / "plan.json").read_text()), json.loads(plan_of_today(old), object_hook=of_then)
    assert (plan.pop("format"), today.pop("format")) == (7, 10)
    assert plan == today


def test_an_emulation_is_read(old: Path) -> None:
    result = Result.load(old / "emulated")
    assert result.world == "emulated"
    assert result.flow("download")["completion_time_s"] < 2


def test_an_outcome_of_an_earlier_format_is_refused(old: Path) -> None:
    checked = Scenario.from_file(old / "emulated.toml").checked
    with pytest.raises(ScenarioError, match=r"has format 7; expected 10: use netlulld and netlull of one version"):
        checked.emulation_result((old / "outcome.json").read_text())


def test_a_result_of_the_benchmark_is_read_and_its_version_refused(old: Path) -> None:
    record = Record.read(old / "benchmark.json")
    assert record.document["check"] == check_sum(record.document)
    with pytest.raises(InputError, match=r"the result is of version 1 .*; expected version 2 "):
        record.check_version(Definition.load())


@pytest.fixture
def program() -> Path:
    """The program that replays, where it is built."""
    built = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "fast" / "netlulld"
    if not built.exists():
        pytest.skip(f"{built} is missing: `cargo build --profile fast -p netlull-live` makes it")
    return built


def test_tapes_of_machines_replay(old: Path, program: Path) -> None:
    tapes = sorted((old / "tapes").iterdir())
    assert [tape.stem for tape in tapes] == ["N1-N2", "client.access-point", "client"]
    for tape in tapes:
        agrees, said = replay(tape, program)
        assert agrees, said
        assert "all as recorded" in said


def test_a_router_file_is_read(old: Path, program: Path) -> None:
    (old / "etc").mkdir()
    (old / "router.toml").rename(old / "etc" / "lull.toml")
    link = ["--dev", "eth7", "--rate", "20 Mb/s", "--buffer", "150 kB"]
    place = ["--root", str(old), "--config", "/etc/lull.toml", "--dry-run"]
    done = subprocess.run([program, "router", "install", *link, *place], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--config /etc/lull.toml" in done.stdout


# Other formats.


def renumbered(path: Path, number: int = 99) -> Path:
    """Changes the format of a file, and nothing else."""
    text = path.read_text(encoding="utf-8")
    changed = re.sub(r'("format": ?)\d+', rf"\g<1>{number}", text, count=1)
    assert changed != text
    path.write_text(changed, encoding="utf-8", newline="\n")
    return path


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_run_of_another_format_is_refused(old: Path) -> None:
    path = renumbered(old / "run" / "manifest.json")
    expected = rf"{path}: has the format 99 \(written by netlull 0.1.0\); expected the format 1: run the scenario again"
    with pytest.raises(ResultError, match=expected):
        Result.load(old / "run")


def test_a_store_of_another_format_is_refused_and_not_changed(old: Path, tmp_path: Path) -> None:
    store = old / "store"
    path = renumbered(store / "sweep.json")
    before = content(store)
    sweep = Sweep.from_file(old / "sweep.toml")
    for act in (
        lambda: SweepResult.load(store),
        lambda: sweep_report(store),
        lambda: sweep.run(store, workers=1),
        lambda: sweep.run(tmp_path / "new", borrow=[store], workers=1),
    ):
        with pytest.raises(FormatError) as refusal:
            act()
        assert str(refusal.value) == (
            f"{path}: has the format 99 (written by netlull 0.1.0); expected the format 1: "
            "use a new folder, or the netlull that wrote it"
        )
    assert {name: data for name, data in content(store).items() if name != ".lock"} == before


def test_a_result_of_the_benchmark_of_another_format_is_refused(old: Path) -> None:
    path = renumbered(old / "benchmark.json")
    with pytest.raises(FormatError, match=r"benchmark.json: has the format 99 .*; expected the format 1: run"):
        Record.read(path)


def test_a_tape_of_plug_ins_of_another_format_is_refused(old: Path) -> None:
    path = renumbered(old / "plug-ins.tape")
    expected = r"plug-ins.tape: line 1.*format 99.*expected plug-ins, format 2, vocabulary 1: record the run again"
    with pytest.raises(InputError, match=expected):
        Scenario.from_file(old / "taped.toml", replay=path)


def test_a_tape_of_a_machine_of_another_format_is_refused(old: Path, program: Path) -> None:
    path = renumbered(old / "tapes" / "N1-N2.tape")
    with pytest.raises(
        InputError, match=r"N1-N2.tape: is a tape, format 99; expected a tape, format 3: record it again"
    ):
        replay(path, program)


def test_a_module_of_another_interface_is_refused(old: Path) -> None:
    module = old / "module.wasm"
    module.write_bytes(module.read_bytes().replace(b'"netlull":1', b'"netlull":9'))
    with pytest.raises(ScenarioError, match=r"version 9 of the interface; expected version 1: build it with"):
        netlull._engine.module_description(str(module))


def test_an_outcome_of_another_format_is_refused(old: Path) -> None:
    checked = Scenario.from_file(old / "scenario.toml").checked
    with pytest.raises(ScenarioError, match=r"has format 99; expected 10: use netlulld and netlull of one version"):
        checked.emulation_result('{"format": 99}')


def test_the_changelog_has_the_number_of_every_format(old: Path) -> None:
    def number(name: str, field: str = "format") -> int:
        text = plan_of_today(old) if name == "plan" else (old / name).read_bytes().decode("utf-8", "replace")
        found = re.search(rf'"{field}": ?(\d+)', text)
        assert found is not None
        return int(found[1])

    page = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| ([^|]+) \| (\d+) \|", page.partition("## Formats")[2], flags=re.MULTILINE))
    assert {what: int(found) for what, found in told.items()} == {
        "folder of a run": number("run/manifest.json"),
        "store of a sweep": number("store/sweep.json"),
        "result of the benchmark": number("benchmark.json"),
        "tape of plug-ins": number("plug-ins.tape"),
        "tape of a machine": number("tapes/N1-N2.tape"),
        "plan and outcome of an emulation": number("plan"),
        "interface of WebAssembly modules": number("module.wasm", "netlull"),
    }


# Reports.


def edited(store: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Changes sweep.json, with its checksum."""
    document = json.loads((store / "sweep.json").read_text())
    change(document)
    document.pop("check")
    document["check"] = hashlib.sha256(json.dumps(document).encode()).hexdigest()
    (store / "sweep.json").write_text(json.dumps(document, indent=2))


def report(store: Path) -> str:
    return unescape(sweep_report(store).read_text(encoding="utf-8"))


def test_a_report_counts_the_points_that_the_lab_cannot_open(old: Path) -> None:
    store = old / "store"
    assert "The lab cannot open" not in report(store)
    # As before the description had the changes of each point.
    edited(store, lambda document: document["axes"][0].pop("changes"))
    lacks = "an earlier version wrote sweep.json, which lacks"
    assert f'The lab cannot open 2 of 3 points: {lacks} "1 ms"; {lacks} "3 ms".' in report(store)
    edited(store, lambda document: document["scenario"].update(speed=1))
    assert "The lab cannot open 3 of 3 points: speed: is unknown" in report(store)


def test_a_report_counts_the_points_without_a_place_in_its_figures(
    old: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "1 of 3 points have no place on these axes: the table has them." in report(old / "store")
    assert netlull.cli.main(["plot", "sweep", str(old / "store"), "--x", "delay", "--out", str(old / "one.svg")]) == 0
    told = "warning: the figure leaves out 1 of 3 points, which have no place on the axis delay\n"
    assert capsys.readouterr().err == told


def test_a_report_of_a_store_without_energy_says_so(old: Path) -> None:
    store = old / "store"
    assert "energy ledger is left out" not in report(store)
    edited(store, lambda document: document["files"].pop("energy.parquet"))
    assert "The store has no energy of its runs, so the energy ledger is left out." in report(store)
