#!/usr/bin/env python3
"""Checks that Python modules import one way, and at the top of their files.

Three rules for `python/netlull`, the papers and their further studies:

1. A part of the package (a module or a folder) imports only parts above it in `ORDER`, the order for reading them.
2. No modules import each other in a circle. Imports inside functions, and those for type checkers, count.
3. A function imports only the heavy libraries in `HEAVY`, which would delay `netlull --help`.

    tools/check_imports.py [ROOT]

prints each violation as ``file:line: what is wrong`` and exits 1, or counts the modules and exits 0.
"""

from __future__ import annotations

import ast
import graphlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from check_arrows import PACKAGE, PACKAGE_FOLDER, imports, python_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The parts of the package: values and files, the core, networks, scenarios, sweeps, readers, commands.
# A part may import the parts above it. A new part gets its line here first.
ORDER = (
    "builders",
    "renames",
    "errors",
    "quantities",
    "numbers",
    "_core",
    "_engine",
    "documents",
    "plugins",
    "runs",
    "results",
    "topology",
    "host",
    "emulation",
    "scenario",
    "bounds",
    "library",
    "stats",
    "cluster",
    "sweep",
    "compare",
    "fluid",
    "fleet",
    "plot",
    "benchmark",
    "gym",
    "report",
    "conformance",
    "papers",
    "_earlier",
    PACKAGE,
    "cli",
    "__main__",
)

# Libraries that load slowly: a function that needs one may import it.
HEAVY = {
    "dask",
    "dask_jobqueue",
    "distributed",
    "jinja2",
    "jitcdde",
    "matplotlib",
    "numpy",
    "polars",
    "psutil",
    "pyarrow",
    "rich",
    "scipy",
    "symengine",
    "sympy",
}

PAPERS = "papers"
STUDIES = "studies"
SHIPPED = "shipped"
"""The folder in the package with the files of papers, whose names in imports begin with `papers`."""


class Module(NamedTuple):
    """A file, its name in imports, and the package that its relative imports start from."""

    name: str
    package: str
    path: Path

    @property
    def part(self) -> str:
        """The part of the package that contains the module."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else PACKAGE


class Import(NamedTuple):
    """An imported module, and the line of the import."""

    line: int
    target: Module


def modules(folder: Path, package: str) -> dict[str, Module]:
    """The modules below a folder by name. The folder's own name in imports is `package`."""
    found = {}
    for path in python_files(folder):
        inside = path.relative_to(folder)
        if package == PACKAGE and SHIPPED in inside.parts:
            continue
        home = ".".join([package, *inside.parent.parts])
        name = home if inside.stem == "__init__" else f"{home}.{inside.stem}"
        found[name] = Module(name, home, path)
    return found


def imported(module: Module, known: dict[str, Module]) -> Iterator[Import]:
    """The known modules that a module imports. An import of a folder's module does not count for the folder."""
    for line, name in imports(parsed(module.path), module.package):
        target = next((known[part] for part in prefixes(name) if part in known), None)
        if target is not None and target != module:
            yield Import(line, target)


def prefixes(name: str) -> Iterator[str]:
    """The prefixes of a dotted name, the longest first: `a.b.c`, `a.b`, `a`."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(len(parts), 0, -1))


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(), filename=str(path))


def against_order(root: Path, package: dict[str, Module]) -> Iterator[str]:
    """The imports that point down in `ORDER`, and parts without a line there."""
    place = {part: number for number, part in enumerate(ORDER)}
    for module in package.values():
        where = module.path.relative_to(root)
        if module.part not in place:
            yield f"{where}:1: {module.part} has no line in ORDER"
            continue
        for line, target in imported(module, package):
            if target.part in place and place[target.part] > place[module.part]:
                yield f"{where}:{line}: {module.part} -> {target.part} points down in ORDER"


def circles(known: dict[str, Module]) -> Iterator[str]:
    """A circle of modules that import each other, if there is one."""
    graph = {name: [target.name for _, target in imported(module, known)] for name, module in known.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        yield f"modules import each other in a circle: {' -> '.join(reversed(error.args[1]))}"


def inside_functions(root: Path, known: Iterable[Module]) -> Iterator[str]:
    """The imports inside functions, except those of heavy libraries."""
    for module in known:
        tree = parsed(module.path)
        functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        inner = {part for function in functions for part in ast.walk(function)}
        late = [node for node in inner if isinstance(node, ast.Import | ast.ImportFrom)]
        for node in sorted(late, key=lambda node: node.lineno):
            for _, name in imports(node, module.package):
                if name.split(".")[0] not in HEAVY:
                    where = f"{module.path.relative_to(root)}:{node.lineno}"
                    yield f"{where}: {name} is imported inside a function; expected it at the top of the file"


def main(root: Path) -> int:
    """Prints the violations under ``root``; returns the exit code."""
    package = modules(root / PACKAGE_FOLDER, PACKAGE)
    papers = modules(root / PACKAGE_FOLDER / SHIPPED / PAPERS, PAPERS)
    known = package | papers | modules(root / STUDIES, STUDIES)
    try:
        wrong = [*against_order(root, package), *circles(known), *inside_functions(root, known.values())]
    except SyntaxError as error:
        wrong = [f"{error.filename}:{error.lineno}: cannot be parsed: {error.msg}"]
    for problem in wrong:
        print(problem)
    if not wrong:
        print(f"imports point one way: {len(known)} Python modules")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]))
