"""Folders with foreign files are refused and stay unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import netlull

SCENARIO = {
    "duration": "1 s",
    "nodes": ["a", "b"],
    "link": [{"from": "a", "to": "b", "rate": "1 Mb/s"}],
    "flow": [{"kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "1 Mb/s"}],
}


def saved(folder: Path) -> netlull.Result:
    """A result written to `folder`."""
    result = netlull.Scenario.from_dict(SCENARIO).run(seed=1)
    result.save(folder)
    return result


def test_a_foreign_manifest_is_no_earlier_result(tmp_path: Path) -> None:
    folder = tmp_path / "webapp"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    (folder / "main.js").write_text("x")
    with pytest.raises(netlull.OutputError, match="holds other files"):
        saved(folder)
    assert (folder / "main.js").read_text() == "x"


def test_a_note_beside_an_earlier_result_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "result"
    saved(folder)
    saved(folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(netlull.OutputError, match=r"notes\.txt"):
        saved(folder)
    assert (folder / "notes.txt").read_text() == "mine"


def test_the_current_folder_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(netlull.OutputError, match="current folder"):
        saved(Path())


def test_a_foreign_sweep_folder_is_refused(tmp_path: Path) -> None:
    description = tmp_path / "sweep.json"
    description.write_text(json.dumps({"name": "brush"}))
    sweep = netlull.Sweep(netlull.Scenario.from_dict(SCENARIO), axes=[], seeds=2, metrics={"g": "flow.c.goodput_bps"})
    with pytest.raises(netlull.OutputError, match="no sweep wrote"):
        sweep.run(tmp_path)
    assert json.loads(description.read_text()) == {"name": "brush"}


def test_a_journal_without_a_line_of_the_sweep_is_damaged(tmp_path: Path) -> None:
    sweep = netlull.Sweep(netlull.Scenario.from_dict(SCENARIO), axes=[], seeds=2, metrics={"g": "flow.c.goodput_bps"})
    table = sweep.run(tmp_path).table
    journal = tmp_path / "journal.jsonl"
    journal.write_text("other text\n")
    with pytest.raises(netlull.OutputError, match=r"journal\.jsonl: is damaged: none of its lines"):
        sweep.run(tmp_path)
    journal.unlink()
    assert sweep.run(tmp_path).table == table


def test_too_many_seeds_are_refused_before_they_fill_the_memory() -> None:
    scenario = netlull.Scenario.from_dict(SCENARIO)
    with pytest.raises(netlull.SweepError, match="too many; expected at most 1000000"):
        netlull.Sweep(scenario, axes=[], seeds=9_223_372_036_854_775_807, metrics={"g": "flow.c.goodput_bps"})


def test_a_manifest_without_a_key_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "result"
    saved(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["engine"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(netlull.ResultError, match="has no engine"):
        netlull.Result.load(folder)
