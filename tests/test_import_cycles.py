"""The check of import circles finds violations: each test closes a circle in one way, or opens it."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[1] / "tools" / "import_cycles.py"

FINE = "no more than 2 files of a crate import each other"

# a uses b, b uses c.
LINE = {
    "lib.rs": "mod a;\nmod b;\npub mod c;\n",
    "a.rs": "use crate::b::B;\npub struct A(B);\n",
    "b.rs": "use super::c::C;\npub struct B(C);\n",
    "c/mod.rs": "mod inner;\npub use inner::Inner;\npub struct C;\n",
    "c/inner.rs": "pub struct Inner;\n",
}


def check(folder: Path, changed: dict[str, str]) -> tuple[int, list[str]]:
    for name, text in (LINE | changed).items():
        path = folder / "crates" / "one" / "src" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([sys.executable, str(CHECK), str(folder)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def test_a_line_passes(tmp_path: Path) -> None:
    assert check(tmp_path, {}) == (0, [FINE])


@pytest.mark.parametrize(
    "imports",
    [
        "use crate::a::A;\n",
        "use super::a::{self, A as Other};\n",
        "use crate::{\n    a::A,\n    b,\n};\n",
        "use super::super::a::A;\nuse super::*;\n",
    ],
)
def test_a_circle_of_three_is_found(tmp_path: Path, imports: str) -> None:
    # From `c`, or from `c/inner`, from which `c` imports its definitions.
    if "super::super" in imports:
        changed = {"c/inner.rs": imports, "c/mod.rs": "mod inner;\nuse inner::Inner;\npub struct C(Inner);\n"}
    else:
        changed = {"c/mod.rs": imports + LINE["c/mod.rs"]}
    code, found = check(tmp_path, changed)
    assert code == 1
    assert "files import each other: a.rs, b.rs, c/" in found[0]


def test_two_files_may_import_each_other(tmp_path: Path) -> None:
    assert check(tmp_path, {"b.rs": "use crate::a::A;\npub struct B(Option<A>);\n"}) == (0, [FINE])


def test_names_are_followed_through_re_exports(tmp_path: Path) -> None:
    # Through the root, which defines neither: a -> b -> c -> a.
    root = LINE["lib.rs"] + "pub use a::A;\npub use c::C;\n"
    changed = {
        "lib.rs": root,
        "b.rs": "use crate::C;\npub struct B(C);\n",
        "c/mod.rs": "use crate::A;\npub struct C(A);\n",
    }
    code, found = check(tmp_path, changed)
    assert (code, len(found)) == (1, 1)
    assert found[0] == "crates/one/src/a.rs:1: 3 files import each other: a.rs, b.rs, c/mod.rs"


@pytest.mark.parametrize(
    "text",
    [
        "// use crate::a::A;\npub struct C;\n",
        "pub struct C;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
        "use std::fmt;\nuse a::A;\npub struct C;\n",
    ],
)
def test_comments_tests_and_other_crates_are_no_imports(tmp_path: Path, text: str) -> None:
    assert check(tmp_path, {"c/mod.rs": text}) == (0, [FINE])


@pytest.mark.parametrize(
    "text",
    [
        "use crate::run::Run;\npub struct Link(Run);\n",
        "pub use crate::run::Run;\n",
        "pub struct Link(crate::run::Run);\n",
    ],
)
def test_folders_import_one_way(tmp_path: Path, text: str) -> None:
    sim = tmp_path / "crates" / "sim" / "src"
    for folder, content in {"net": text, "run": "pub struct Run;\n"}.items():
        (sim / folder).mkdir(parents=True)
        (sim / folder / "mod.rs").write_text(content)
    (sim / "lib.rs").write_text("pub mod net;\npub mod run;\n")
    assert check(tmp_path, {}) == (1, ["crates/sim/src/net/mod.rs:1: net -> run is not allowed"])


def test_a_file_of_tests_is_no_import(tmp_path: Path) -> None:
    changed = {"c/mod.rs": "#[cfg(test)]\nmod tests;\npub struct C;\n", "c/tests.rs": "use crate::a::A;\n"}
    assert check(tmp_path, changed) == (0, [FINE])
