"""Processes that netlull starts search no more folders for modules than their parent: not the current one."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from matplotlib.figure import Figure

from netlull import Scenario
from netlull.plot import saving
from netlull.plugins.loading import pass_on
from netlull.runs.worker import Worker
from plugin_classes import write_half

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOREIGN = """
from pathlib import Path

Path("{name}.ran").touch()
raise ImportError("a foreign module")
"""


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with modules that are named as packages. The parent does not search it."""
    for name in ("json", "matplotlib", "numpy"):
        (tmp_path / f"{name}.py").write_text(FOREIGN.format(name=name), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    yield tmp_path
    assert [file.name for file in tmp_path.glob("*.ran")] == []


def test_saving_imports_nothing_from_the_current_folder(foreign: Path) -> None:
    process = saving._started([("figure", Figure())], foreign / "figures")
    assert process is not None
    assert process.wait() == 0
    assert (foreign / "figures" / "figure.svg").is_file()


def test_a_worker_imports_nothing_from_the_current_folder(foreign: Path) -> None:
    folder = foreign / "scenario"
    folder.mkdir()
    assert rate_changes(write_half(folder), [str(folder)])


def test_a_worker_finds_the_modules_of_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert rate_changes(write_half(tmp_path), [])


def rate_changes(folder: Path, places: list[str]) -> bool:
    """True if a worker runs the scenario of a folder with its controller."""
    scenario = Scenario.from_file(folder / "mine.toml", allow_code=True)
    _, classes = pass_on()
    worker = Worker((places, classes))
    try:
        summary, _ = worker.measure(scenario.canonical(), 1, None)
    finally:
        worker.close()
    return bool(json.loads(summary)["links"][0]["rate_changes"])
