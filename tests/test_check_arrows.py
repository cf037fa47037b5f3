"""The check of dependency arrows finds violations: each test breaks a small tree in one way."""

from pathlib import Path

import pytest

from conftest import checked_tree

CLEAN = {
    "crates/units/Cargo.toml": '[package]\nname = "netlull-units"\n',
    "crates/tcp/Cargo.toml": '[package]\nname = "netlull-tcp"\n\n[dependencies]\nnetlull-units.workspace = true\n',
    "crates/mechanism/Cargo.toml": (
        '[package]\nname = "netlull-mechanism"\n\n[dependencies]\nnetlull-units.workspace = true\n\n'
        '[dev-dependencies]\nproptest = "1"\n'
    ),
    "crates/sim/Cargo.toml": (
        '[package]\nname = "netlull-sim"\n\n[dependencies]\n'
        "netlull-tcp.workspace = true\nnetlull-mechanism = { workspace = true }\n"
    ),
    "python/netlull/__init__.py": "from ._engine import run\n",
    "python/netlull/_engine.py": "from . import _core\n\nrun = _core.run\n",
    "python/netlull/_core.pyi": "def run() -> None: ...\n",
    "python/netlull/papers/__init__.py": "from netlull import run\nfrom ..plot import lines\n",
    "python/netlull/plot/__init__.py": "import matplotlib\n",
    "python/netlull/shipped/papers/one/figures.py": "import netlull\nfrom netlull import __version__, plot\n",
    "tests/test_run.py": "from netlull.plot import lines\n",
}


def check(folder: Path, changed: dict[str, str]) -> tuple[int, list[str]]:
    return checked_tree("check_arrows.py", folder, CLEAN | changed)


def test_a_clean_tree_passes(tmp_path: Path) -> None:
    assert check(tmp_path, {}) == (0, ["arrows point one way: 4 crates, 7 Python files"])


@pytest.mark.parametrize(
    ("manifest", "line"),
    [
        ("[dependencies]\nnetlull-mechanism.workspace = true\n", 5),
        ('[dependencies]\nserde = "1"\nnetlull-mechanism = { path = "../mechanism" }\n', 6),
        ("[dev-dependencies]\nnetlull-mechanism = { workspace = true }\n", 5),
        ("[dependencies.netlull-mechanism]\nworkspace = true\n", 4),
        ("[target.'cfg(unix)'.dependencies]\nnetlull-mechanism.workspace = true\n", 5),
        ('[dependencies]\nother = { package = "netlull-mechanism", path = "../mechanism" }\n', 5),
    ],
)
def test_tcp_never_sees_a_mechanism(tmp_path: Path, manifest: str, line: int) -> None:
    text = f'[package]\nname = "netlull-tcp"\n\n{manifest}'
    found = [f"crates/tcp/Cargo.toml:{line}: tcp -> mechanism is not allowed"]
    assert check(tmp_path, {"crates/tcp/Cargo.toml": text}) == (1, found)


def test_a_crate_never_points_back(tmp_path: Path) -> None:
    text = '[package]\nname = "netlull-units"\n\n[dependencies]\nnetlull-sim.workspace = true\n'
    found = ["crates/units/Cargo.toml:5: units -> sim is not allowed"]
    assert check(tmp_path, {"crates/units/Cargo.toml": text}) == (1, found)


def test_a_new_crate_needs_its_line_in_the_table(tmp_path: Path) -> None:
    found = ["crates/storage/Cargo.toml:1: storage has no line in CRATES"]
    assert check(tmp_path, {"crates/storage/Cargo.toml": '[package]\nname = "netlull-storage"\n'}) == (1, found)


@pytest.mark.parametrize(
    ("statement", "target"),
    [
        ("from .. import _core", "netlull._core"),
        ("from .._core import run", "netlull._core.run"),
        ("from netlull import _core", "netlull._core"),
        ("import netlull._core as core", "netlull._core"),
        ('import importlib\nimportlib.import_module("netlull._core")', "netlull._core"),
        ("from papers.one import figures", "papers.one.figures"),
        ("import tests", "tests"),
    ],
)
def test_the_package_hides_its_core_and_knows_no_user(tmp_path: Path, statement: str, target: str) -> None:
    line = statement.count("\n") + 1
    found = [f"python/netlull/plot/lines.py:{line}: netlull.plot.lines -> {target} is not allowed"]
    assert check(tmp_path, {"python/netlull/plot/lines.py": f"{statement}\n"}) == (1, found)


@pytest.mark.parametrize(
    ("user", "folder"),
    [("papers", "python/netlull/shipped/papers/one"), ("validation", "validation/ns2"), ("tests", "tests")],
)
@pytest.mark.parametrize(
    ("statement", "target"),
    [
        ("import netlull._engine", "netlull._engine"),
        ("from netlull._core import run", "netlull._core.run"),
        ("def late():\n    from netlull.plot import _style", "netlull.plot._style"),
    ],
)
def test_users_keep_to_the_public_modules(tmp_path: Path, user: str, folder: str, statement: str, target: str) -> None:
    line = statement.count("\n") + 1
    found = [f"{folder}/extra.py:{line}: {user} -> {target} is not allowed"]
    assert check(tmp_path, {f"{folder}/extra.py": f"{statement}\n"}) == (1, found)


def test_what_cannot_be_parsed_is_said(tmp_path: Path) -> None:
    code, said = check(tmp_path, {"python/netlull/shipped/papers/one/figures.py": "def\n"})
    assert code == 1
    assert "python/netlull/shipped/papers/one/figures.py:1: cannot be parsed" in said[0]
