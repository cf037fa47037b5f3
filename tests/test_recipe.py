"""CONTRIBUTING.md's recipes: a mechanism, a sleep plan or a TCP is one file and one line of a list."""

from __future__ import annotations

import re

import pytest

from conftest import ROOT

RECIPES = {
    "mechanism/src/rate/lull.rs": ("Lull", "mechanism/src/link/kinds.rs"),
    "mechanism/src/radio/bsd.rs": ("Bsd", "mechanism/src/station/kinds.rs"),
    "mechanism/src/topology/load_aware.rs": ("LoadAware", "mechanism/src/topology/algorithms.rs"),
    "tcp/src/cc/compound.rs": ("Compound", "tcp/src/cc/mod.rs"),
}
"""The example of each recipe, the name of its type, and the file with the list."""


@pytest.mark.parametrize("file", RECIPES)
def test_a_recipe_is_one_file_and_one_line(file: str) -> None:
    name, listed = RECIPES[file]
    crates = ROOT / "crates"
    assert f"crates/{file}" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

    word = re.compile(rf"\b{name}(Config)?\b")
    own = crates / file
    found = set()
    for path in crates.glob("*/src/**/*.rs"):
        code = re.sub(r"//.*", "", path.read_text(encoding="utf-8").split("#[cfg(test)]")[0])
        if word.search(code) and path.name != "tests.rs" and "tests" not in path.parts:
            found.add(path)
    # The folder's mod.rs may export it; parts of the example may be in files of their own.
    assert {own, crates / listed} <= found
    assert found - {own, crates / listed, own.parent / "mod.rs", *own.with_suffix("").glob("*.rs")} == set()
    assert (
        len(re.findall(rf'^ +"?\w+"?.*\b{name}\b.*;$', (crates / listed).read_text(encoding="utf-8"), re.MULTILINE))
        == 1
    )
