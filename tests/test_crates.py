"""The tests of a crate are one program; the metadata of crates, package and papers agree."""

from __future__ import annotations

import re
import subprocess
import tomllib
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


def features(*arguments: str) -> dict[str, str]:
    """The features of each package of a build."""
    command = ["cargo", "tree", "--locked", "--prefix=none", "--no-dedupe", "--format={p}|{f}", *arguments]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return dict(line.split("|") for line in found.splitlines() if line)


def test_the_extension_and_the_tests_share_their_packages() -> None:
    extension = features("--package=netlull-py", "--edges=normal,build")
    tests = features("--workspace", "--exclude=netlull-components", "--edges=normal,build,dev")
    assert len(extension.keys() & tests.keys()) > 50
    others = {name: (each, tests[name]) for name, each in extension.items() if tests.get(name, each) != each}
    assert others == {}, "name these features in crates/py/Cargo.toml: Cargo compiles such packages twice"


def test_only_one_crate_has_examples_in_its_documentation() -> None:
    # Rust's documentation has pictures and tables; examples are in docs/, where they run as files.
    found = set()
    for path in ROOT.glob("crates/*/src/**/*.rs"):
        fences = [line for line in path.read_text(encoding="utf-8").splitlines() if re.match(r"\s*//[/!] ```", line)]
        if any(fence.rstrip().endswith(("```", "```rust", "```no_run")) for fence in fences[::2]):
            found.add(path.relative_to(ROOT / "crates").parts[0])
    assert found == {"tcp"}


@pytest.mark.parametrize("file", ["pyproject.toml", "CITATION.cff", "packaging/conda/recipe.yaml"])
def test_the_projects_address_is_the_same_everywhere(file: str) -> None:
    address = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
    assert address in (ROOT / file).read_text(encoding="utf-8")


def test_no_file_has_another_address_of_the_project() -> None:
    address = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
    command = ["git", "grep", "-IEho", r"https?://[^][<>()\"'` ]*netlull[^][<>()\"'` ]*"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert [each for each in found if not each.startswith(address)] == []


@pytest.mark.parametrize(
    ("file", "line"), [("CITATION.cff", "version: {}"), ("packaging/conda/recipe.yaml", '  version: "{}"')]
)
def test_the_version_is_the_same_everywhere(file: str, line: str) -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert line.format(version) in (ROOT / file).read_text(encoding="utf-8").splitlines()


def test_the_recipe_needs_what_the_package_needs() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8").splitlines()
    for each in needed:
        name = each.partition(">")[0]
        assert f"    - {name} {each.removeprefix(name)}" in recipe
