"""The notebooks run from top to bottom and give their stored outputs."""

from __future__ import annotations

import importlib.util
from typing import Any

import nbformat
import pytest

from conftest import ROOT

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def _tool() -> Any:
    spec = importlib.util.spec_from_file_location("run_notebook", ROOT / "tools" / "run_notebook.py")
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def printed(notebook: nbformat.NotebookNode) -> list[str]:
    """The printed output of each code cell. A busy machine sends it in several parts."""
    return [
        "".join(output["text"] for output in cell.outputs if output.output_type == "stream")
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client", "ignore::DeprecationWarning:zmq")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_gives_the_outputs_that_it_shows(path: Any) -> None:
    stored = nbformat.read(path, as_version=4)
    again = _tool().executed(path)
    assert any(printed(stored))
    assert printed(again) == printed(stored)
    pictures = [
        output
        for cell in again.cells
        for output in cell.get("outputs", [])
        if "image/svg+xml" in output.get("data", {})
    ]
    assert len(pictures) == 1
    assert path.stat().st_size < 200_000


def test_there_is_a_notebook() -> None:
    assert [path.name for path in NOTEBOOKS] == ["web-load.ipynb"]
