#!/usr/bin/env python3
"""Prints measures of the code: files and lines of Rust and Python without tests, forced inlines, flat files.

A line counts unless it is blank or a comment. Tests are files in a folder `tests`, files `tests.rs` and `*_tests.rs`,
and what follows `#[cfg(test)]`. Docstrings count as comments.
"""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def tracked(pattern: str) -> list[Path]:
    """The files of the repository that match a pattern, without tests."""
    listed = subprocess.run(["git", "ls-files", pattern], capture_output=True, text=True, check=True, cwd=ROOT).stdout  # noqa: S603, S607
    paths = [ROOT / name for name in listed.splitlines()]
    return [path for path in paths if "tests" not in path.parts and not re.search(r"(^|_)tests\.rs$", path.name)]


def rust_lines(path: Path) -> int:
    """The lines of code of a Rust file before its tests."""
    text = re.split(r"^#\[cfg\(test\)\]\nmod ", path.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)[0]
    return sum(bool(line.strip()) and not line.strip().startswith("//") for line in text.splitlines())


def python_lines(path: Path) -> int:
    """The lines of code of a Python file."""
    text = path.read_text(encoding="utf-8")
    said: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        # A text alone is a docstring, also after a field.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            said.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") and number not in said for number, line in lines)


def main() -> None:
    """Prints the measures."""
    rust, python = tracked("crates/*/src/*.rs"), tracked("python/netlull/*.py")
    sizes = [len(path.read_text(encoding="utf-8").splitlines()) for path in rust]
    flat = [path for path in python if path.parent == ROOT / "python" / "netlull"]
    inlines = sum(len(re.findall(r"inline\((?:always|never)\)", path.read_text(encoding="utf-8"))) for path in rust)
    print(f"source files of the crates: {len(rust)}, median {statistics.median(sizes):.0f} lines")
    print(f"below 100 lines: {sum(size < 100 for size in sizes)}, above 600: {sum(size > 600 for size in sizes)}")
    print(f"forced inlines: {inlines}")
    print(f"flat files in python/netlull: {len(flat)}")
    print(f"lines of Rust: {sum(map(rust_lines, rust))}, of Python: {sum(map(python_lines, python))}")


if __name__ == "__main__":
    main()
