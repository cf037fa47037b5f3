"""The tests of a crate are one program, and it includes all of its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT

WHOLE = sorted(path.parent for path in ROOT.glob("crates/*/tests/all.rs"))


@pytest.mark.parametrize("folder", WHOLE, ids=lambda folder: folder.parent.name)
def test_every_file_of_tests_is_part_of_the_program(folder: Path) -> None:
    files = {path.stem for path in folder.glob("*.rs")} - {"all"}
    listed = {line[4:-1] for line in (folder / "all.rs").read_text().splitlines() if line.startswith("mod ")}
    assert files
    assert files <= listed
