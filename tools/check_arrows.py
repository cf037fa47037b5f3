#!/usr/bin/env python3
"""Checks that dependencies point one way, as drawn in ARCHITECTURE.md.

    units <- document <- power, mechanism, tcp, network <- sim <- py <- python/netlull <- papers, validation, tests
    power <- mechanism; units <- power <- bound <- py; units <- wire <- live; sim, live <- agreement, which is tests
    mechanism, tcp <- guest <- plugin <- live, py

Crates are checked by their manifests, Python by its import statements; nothing is built or imported.

    tools/check_arrows.py [ROOT]

prints each forbidden arrow as ``file:line: a -> b is not allowed`` and exits 1, or counts the files and exits 0.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# The allowed dependencies of each crate, by the names of their folders. A new crate gets its line here first.
CRATES: dict[str, set[str]] = {
    "units": set(),
    "document": {"units"},
    "text": {"document"},
    "power": {"units", "document"},
    "bound": {"units", "power"},
    "mechanism": {"units", "document", "power"},
    "tcp": {"units", "document"},
    "network": {"units", "document", "power", "mechanism"},
    "sim": {"units", "document", "text", "power", "mechanism", "tcp", "network"},
    "guest": {"units", "document", "mechanism", "tcp"},
    "plugin": {"units", "document", "mechanism", "tcp", "guest"},
    "wire": {"units"},
    "live": {"units", "document", "text", "power", "mechanism", "network", "wire", "plugin"},
    "agreement": {"network", "sim", "live"},
    "web": {"text", "sim"},
    "py": {"units", "document", "text", "power", "bound", "mechanism", "tcp", "network", "sim", "guest", "plugin"},
}

# The Python package, its extension module, and the only files that may import the extension module.
PACKAGE = "netlull"
PACKAGE_FOLDER = Path("python") / PACKAGE
CORE = f"{PACKAGE}._core"
MAY_IMPORT_CORE = {Path("_engine.py"), Path("_core.pyi")}

PAPERS = PACKAGE_FOLDER / "shipped" / "papers"
# Folders that use only the package's public modules, and that the package never imports, by their names in imports.
USERS = {"papers": PAPERS, "studies": Path("studies"), "validation": Path("validation"), "tests": Path("tests")}


class Arrow(NamedTuple):
    """A dependency, and its place in a file."""

    file: Path
    line: int
    source: str
    target: str

    def __str__(self) -> str:
        """The arrow in a line that editors can follow."""
        return f"{self.file}:{self.line}: {self.source} -> {self.target} is not allowed"


def crate_arrows(root: Path) -> Iterator[Arrow]:
    """The forbidden arrows between the workspace's crates."""
    manifests = {path.parent.name: path for path in sorted(root.glob("crates/*/Cargo.toml"))}
    folders = {}
    for folder, path in manifests.items():
        folders[tomllib.loads(path.read_text())["package"]["name"]] = folder
    for folder, path in manifests.items():
        text = path.read_text()
        for key, package in dependencies(tomllib.loads(text)):
            target = folders.get(package)
            if target is not None and target not in CRATES.get(folder, set()):
                yield Arrow(path.relative_to(root), line_of(key, text), folder, target)


def dependencies(manifest: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every dependency of a manifest, of any kind and for any platform: its key and its package."""
    for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
        for key, value in manifest.get(kind, {}).items():
            renamed = value.get("package") if isinstance(value, dict) else None
            yield key, renamed or key
    for platform in manifest.get("target", {}).values():
        yield from dependencies(platform)


def line_of(key: str, text: str) -> int:
    """The line that names the dependency: ``key = ...``, ``key.workspace = ...`` or ``[dependencies.key]``."""
    naming = re.compile(rf'^\s*(\[.*dependencies\.)?"?{re.escape(key)}"?\s*[.=\]]')
    return next((n for n, line in enumerate(text.splitlines(), start=1) if naming.match(line)), 1)


def imports(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Every module or name imported, with its line; relative imports are resolved against ``package``."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = absolute(module or "", level, package)
                yield from ((node.lineno, f"{base}.{name.name}") for name in names)
            case ast.Call(
                func=ast.Name(id="__import__" | "import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def absolute(module: str, level: int, package: str) -> str:
    """The absolute name of ``from <level dots><module> import`` written in ``package``."""
    if level == 0:
        return module
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *([module] if module else [])])


def is_in(name: str, module: str) -> bool:
    """True if ``name`` is ``module`` or inside it."""
    return name == module or name.startswith(f"{module}.")


def is_private(name: str) -> bool:
    """True for a private name of the package. Names such as ``__version__`` are public."""
    parts = name.split(".")
    return parts[0] == PACKAGE and any(part.startswith("_") and not part.startswith("__") for part in parts)


def python_files(folder: Path) -> Iterator[Path]:
    """The Python sources and stubs under ``folder``, in order."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in {".py", ".pyi"} and path.is_file())


def package_arrows(root: Path) -> Iterator[Arrow]:
    """The forbidden arrows out of the Python package."""
    folder = root / PACKAGE_FOLDER
    for path in python_files(folder):
        if path.is_relative_to(root / PAPERS):
            continue
        inside = path.relative_to(folder)
        package = ".".join([PACKAGE, *inside.parent.parts])
        for line, name in imports(ast.parse(path.read_text(), filename=str(path)), package):
            to_core = is_in(name, CORE) and inside not in MAY_IMPORT_CORE
            if to_core or any(is_in(name, user) for user in USERS):
                yield Arrow(path.relative_to(root), line, ".".join([PACKAGE, *inside.with_suffix("").parts]), name)


def user_arrows(root: Path) -> Iterator[Arrow]:
    """The forbidden arrows from papers, validation and tests into private modules."""
    for user, folder in USERS.items():
        for path in python_files(root / folder):
            for line, name in imports(ast.parse(path.read_text(), filename=str(path)), ""):
                if is_private(name):
                    yield Arrow(path.relative_to(root), line, user, name)


def unknown_crates(root: Path) -> list[str]:
    """Crates without a line in the table, whose missing permissions nobody would notice."""
    found = sorted(path.parent.name for path in root.glob("crates/*/Cargo.toml"))
    return [f"crates/{name}/Cargo.toml:1: {name} has no line in CRATES" for name in found if name not in CRATES]


def main(root: Path) -> int:
    """Prints the violations under ``root``; returns the exit code."""
    try:
        wrong = [*unknown_crates(root), *crate_arrows(root), *package_arrows(root), *user_arrows(root)]
    except SyntaxError as error:
        wrong = [f"{error.filename}:{error.lineno}: cannot be parsed: {error.msg}"]
    except (tomllib.TOMLDecodeError, KeyError) as error:
        wrong = [f"{root}/crates: a manifest cannot be read: {error}"]
    for problem in wrong:
        print(problem)
    if not wrong:
        crates = len(list(root.glob("crates/*/Cargo.toml")))
        files = {path for folder in (PACKAGE_FOLDER, *USERS.values()) for path in python_files(root / folder)}
        print(f"arrows point one way: {crates} crates, {len(files)} Python files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]))
