"""Figures saved by several processes: the same bytes, and none is lost if a process fails."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from netlull import OutputError
from netlull.plot import figure, save, save_all, styled
from netlull.plot.saving import FEWEST

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def drawn(slope: float) -> Figure:
    with styled():
        made = figure(3.0, 2.0)
        axes = made.subplots()
        axes.plot([0, 1, 2], [0, slope, 2 * slope])
        axes.set_xlabel("Time (s)")
    return made


def drawings() -> list[tuple[str, Figure]]:
    return [(f"slope{slope}", drawn(slope)) for slope in range(2 * FEWEST)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("expected")
    for name, figure_ in drawings():
        save(figure_, folder, name)
    return contents(folder)


def test_the_bytes_do_not_depend_on_the_number_of_processes(tmp_path: Path, expected: dict[str, bytes]) -> None:
    files = save_all(drawings(), tmp_path, workers=2)
    assert contents(tmp_path) == expected
    assert files[1] == [tmp_path / "slope1.svg", tmp_path / "slope1.pdf"]
    assert len(files) == 2 * FEWEST


def test_half_of_the_figures_are_saved_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here: list[str] = []

    def noted(figure_: Figure, folder: Path, name: str) -> list[Path]:
        here.append(name)
        return save(figure_, folder, name)

    monkeypatch.setattr("netlull.plot.saving.save", noted)
    save_all(drawings(), tmp_path, workers=2)
    assert here == [f"slope{slope}" for slope in range(0, 2 * FEWEST, 2)]
    # Too few for a separate process.
    here.clear()
    save_all(drawings()[: 2 * FEWEST - 1], tmp_path, workers=2)
    assert len(here) == 2 * FEWEST - 1


def test_a_figure_that_cannot_be_sent_is_saved_here(tmp_path: Path) -> None:
    made = drawings()
    made[1][1].axes[0].xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    save_all(made, tmp_path, workers=2)
    assert len(contents(tmp_path)) == 4 * FEWEST


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false"])
def test_without_a_process_all_are_saved_here(
    program: str, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    save_all(drawings(), tmp_path, workers=2)
    assert contents(tmp_path) == expected


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OutputError, match="file"):
        save_all(drawings(), tmp_path / "file", workers=2)
