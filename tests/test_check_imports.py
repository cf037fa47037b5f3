"""The check of Python's imports finds violations: each test breaks a small tree in one way."""

from pathlib import Path

import pytest

from conftest import checked_tree

CLEAN = {
    "python/netlull/__init__.py": "from netlull._engine import run\n",
    "python/netlull/_core.pyi": "def run() -> None: ...\n",
    "python/netlull/_engine.py": "from netlull import _core\n\nrun = _core.run\n",
    "python/netlull/plot/__init__.py": "from netlull.plot.lines import draw\n",
    "python/netlull/plot/lines.py": "from netlull import _engine\n\n\ndef draw():\n    import matplotlib.figure\n",
    "python/netlull/shipped/papers/one/claims.py": "import netlull\n",
    "python/netlull/shipped/papers/one/figures.py": "from . import claims\nfrom netlull.plot import draw\n",
}


def check(folder: Path, changed: dict[str, str]) -> tuple[int, list[str]]:
    return checked_tree("check_imports.py", folder, CLEAN | changed)


def test_a_clean_tree_passes(tmp_path: Path) -> None:
    assert check(tmp_path, {}) == (0, ["imports point one way: 7 Python modules"])


@pytest.mark.parametrize(
    "statement",
    [
        "from netlull.plot import lines",
        "import netlull.plot.lines",
        "def late():\n    from netlull.plot.lines import draw",
        "if TYPE_CHECKING:\n    from netlull.plot import draw",
    ],
)
def test_a_part_imports_parts_above_it(tmp_path: Path, statement: str) -> None:
    code, said = check(tmp_path, {"python/netlull/results/result.py": f"{statement}\n"})
    assert code == 1
    line = statement.count("\n") + 1
    assert said[0] == f"python/netlull/results/result.py:{line}: results -> plot points down in ORDER"


def test_a_new_part_needs_its_line(tmp_path: Path) -> None:
    found = ["python/netlull/new.py:1: new has no line in ORDER"]
    assert check(tmp_path, {"python/netlull/new.py": ""}) == (1, found)


@pytest.mark.parametrize(
    ("folder", "package"),
    [("python/netlull/plot", "netlull.plot"), ("python/netlull/shipped/papers/one", "papers.one")],
)
def test_modules_do_not_import_each_other(tmp_path: Path, folder: str, package: str) -> None:
    ring = {f"{folder}/a.py": "from . import b\n", f"{folder}/b.py": "if TYPE_CHECKING:\n    from .a import x\n"}
    code, (said,) = check(tmp_path, ring)
    assert code == 1
    circle = said.removeprefix("modules import each other in a circle: ").split(" -> ")
    assert circle[0] == circle[-1]
    assert set(circle) == {f"{package}.a", f"{package}.b"}


@pytest.mark.parametrize("name", ["json", "netlull._engine"])
def test_functions_import_heavy_libraries_only(tmp_path: Path, name: str) -> None:
    text = f"class Late:\n    def draw(self):\n        import {name}\n"
    found = [f"python/netlull/plot/late.py:3: {name} is imported inside a function; expected it at the top of the file"]
    assert check(tmp_path, {"python/netlull/plot/late.py": text}) == (1, found)


def test_what_cannot_be_parsed_is_said(tmp_path: Path) -> None:
    code, said = check(tmp_path, {"python/netlull/shipped/papers/one/figures.py": "def\n"})
    assert code == 1
    assert "python/netlull/shipped/papers/one/figures.py:1: cannot be parsed" in said[0]
