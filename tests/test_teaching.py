"""The exercises of docs/teaching: every number that a table gives for a link into the lab is what the lab shows."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT
from test_lab import MODULE, NODE, needs_lab

TEACHING = ROOT / "docs" / "teaching"
PAGES = [page for page in sorted(TEACHING.glob("*.md")) if page.read_text("utf-8").startswith("# Exercise ")]
LINK = re.compile(r'<a href="[^"#]*lab/index\.html(#[^"]*)">')


def tables(text: str) -> list[tuple[str, dict[str, str]]]:
    """The rows with a link into the lab: its fragment, and the other cells by their headings."""
    rows: list[tuple[str, dict[str, str]]] = []
    header: list[str] = []
    for line in text.splitlines():
        if not line.lstrip().startswith("|"):
            header = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not header:
            header = cells
        elif link := LINK.search(cells[0]):
            rows.append((html.unescape(link[1]), dict(zip(header[1:], cells[1:], strict=True))))
    return rows


def figures(fragments: list[str], folder: Path) -> list[dict[str, str]]:
    """The figures that the lab shows for addresses."""
    file = folder / "fragments.json"
    file.write_text(json.dumps(fragments), encoding="utf-8")
    assert NODE
    ended = subprocess.run(
        [NODE, ROOT / "web/lab/tests/figures.mjs", MODULE, ROOT / "web/lab/data.json", file],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: list[dict[str, str]] = json.loads(ended.stdout)
    return found


def number(shown: str) -> float:
    """The number of a figure."""
    return float(shown.split(maxsplit=1)[0].replace("\N{MINUS SIGN}", "-"))


def listed_names() -> list[str]:
    """The names for which docs/teaching gives ranges."""
    listed = re.search(r"The names (.*) give these ranges", (TEACHING / "index.md").read_text(encoding="utf-8"))
    assert listed
    return re.findall(r"[A-Z]\w+", listed[1])


@needs_lab
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_answers_are_the_labs(page: Path, tmp_path: Path) -> None:
    rows = tables(page.read_text(encoding="utf-8"))
    assert len(rows) >= 3
    for (fragment, cells), shown in zip(rows, figures([fragment for fragment, _ in rows], tmp_path), strict=True):
        assert {name: shown[name] for name in cells} == cells, fragment


@needs_lab
def test_names_give_the_ranges_of_the_page(tmp_path: Path) -> None:
    names = listed_names()
    rows = tables((TEACHING / "index.md").read_text(encoding="utf-8"))
    assert (len(names), len(rows)) == (10, 5)
    shown = iter(figures([f"{fragment}&seed={name}" for fragment, _ in rows for name in names], tmp_path))
    for fragment, cells in rows:
        values = [next(shown)[cells["figure"]] for _ in names]
        values.sort(key=number)
        assert [values[0], values[-1]] == [cells["least"], cells["greatest"]], fragment


@needs_lab
def test_the_first_answer_holds_for_the_names(tmp_path: Path) -> None:
    """The longer the round trip, the lower the goodput in Mb/s, and the more energy is saved."""
    names = listed_names()
    fragments = [f"#scene=one-flow&mrci=10&rtt={rtt}&seed={name}" for name in names for rtt in (10, 50, 200)]
    shown = iter(figures(fragments, tmp_path))
    for name in names:
        runs = [next(shown) for _ in range(3)]
        goodput, saved = (
            [number(run[label]) for run in runs] for label in ("Goodput of TCP", "Energy saved, frequency scaling (FS)")
        )
        assert goodput[0] > goodput[1] > goodput[2], name
        assert saved[0] < saved[1] < saved[2], name


@needs_lab
def test_the_list_of_addresses_is_the_labs(tmp_path: Path) -> None:
    page = TEACHING / "addresses.md"
    copy = tmp_path / page.name
    copy.write_bytes(page.read_bytes())
    assert NODE
    subprocess.run([NODE, ROOT / "web/lab/tests/addresses.mjs", copy, ROOT / "web/lab/data.json"], check=True)
    assert copy.read_bytes() == page.read_bytes(), "run `make generate`"


def test_there_are_five_exercises_with_questions_and_answers() -> None:
    assert len(PAGES) == 5
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert text.count("\n## Question") >= 3, page.name
        assert "## Answers" in text, page.name
