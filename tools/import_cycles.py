#!/usr/bin/env python3
"""Checks that the files of a crate do not import each other in circles, and that its folders import one way.

    tools/import_cycles.py [ROOT]

A file imports another if one of its ``use`` statements names an item of the other. Names are followed through
re-exports. A re-export does not count as an import, nor do a parent's ``mod`` and its calls by path. Tests are left
out. Two files may import each other. A longer circle is printed as ``file:line: ...`` and the exit code is 1. So is an
import against the order of a crate's folders.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

# The most files that may import each other.
MOST = 2

# The folders of a crate in order: each may be imported by the later ones.
FOLDERS: dict[str, tuple[str, ...]] = {
    "sim": ("net", "traffic", "scenario", "probe", "verify", "run", "emulation", "catalogue"),
}

COMMENT = re.compile(r"//[^\n]*")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod\s+\w+\s*\{")
TEST_FILE = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
FROM_ROOT = re.compile(r"\bcrate::(\w+)")
USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.MULTILINE)

Path_ = tuple[str, ...]


@dataclass
class Module:
    """A file of a crate."""

    path: Path
    module: Path_
    # The file's text without comments and tests.
    text: str
    # Imported paths, each with its line.
    imports: list[tuple[int, Path_]] = field(default_factory=list)
    # The paths of the names available in the file.
    names: dict[str, Path_] = field(default_factory=dict)
    # Modules imported with a glob.
    globs: list[Path_] = field(default_factory=list)


def leaves(tree: str) -> Iterator[tuple[Path_, str]]:
    """The paths of a ``use`` tree, each with its local name."""
    head, brace, rest = tree.strip().partition("{")
    prefix = tuple(part.strip() for part in head.split("::") if part.strip())
    if not brace:
        path, _, alias = head.partition(" as ")
        whole = tuple(part.strip() for part in path.split("::") if part.strip())
        if whole:
            yield whole, alias.strip() or whole[-1]
        return
    for part in split(rest.rsplit("}", 1)[0]):
        for inner, name in leaves(part):
            yield (prefix, prefix[-1]) if inner == ("self",) else ((*prefix, *inner), name)


def split(inside: str) -> Iterator[str]:
    """The parts between the commas outside of inner braces."""
    depth, start = 0, 0
    for at, char in enumerate(inside):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            yield inside[start:at]
            start = at + 1
    if inside[start:].strip():
        yield inside[start:]


def modules(source: Path) -> dict[Path_, Module]:
    """The modules of a crate by their paths, without test modules."""
    found: dict[Path_, Module] = {}
    tests: set[Path_] = set()
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).with_suffix("").parts
        module = parts[:-1] if parts[-1] in {"mod", "lib", "main"} else parts
        text = COMMENT.sub("", path.read_text())
        tests.update((*module, name) for name in TEST_FILE.findall(text))
        cut = TESTS.search(text)
        found[module] = Module(path, module, text[: cut.start()] if cut else text)
    for module in [one for one in found if any(one[: len(test)] == test for test in tests)]:
        del found[module]
    for entry in found.values():
        read_uses(entry, found)
    return found


def read_uses(entry: Module, known: Mapping[Path_, Module]) -> None:
    """Fills in the imports and the exports of a file."""
    for match in USE.finditer(entry.text):
        line = entry.text.count("\n", 0, match.start(2)) + 1
        for path, name in leaves(match.group(2)):
            whole = absolute(path, entry.module, known)
            if whole is None:
                continue
            if not match.group(1):
                entry.imports.append((line, whole))
            if name == "*":
                entry.globs.append(whole[:-1])
            else:
                entry.names[name] = whole


def absolute(path: Path_, module: Path_, known: Mapping[Path_, Module]) -> Path_ | None:
    """A path from the crate's root; ``None`` for a path into another crate."""
    if path[0] == "crate":
        return path[1:]
    base = list(module)
    rest = list(path)
    if rest[0] not in {"self", "super"}:
        return (*module, *path) if (*module, path[0]) in known else None
    while rest and rest[0] in {"self", "super"}:
        if rest.pop(0) == "super":
            base.pop()
    return (*base, *rest)


def definer(path: Path_, known: Mapping[Path_, Module], depth: int = 0) -> Module | None:
    """The file that defines the item at a path, through re-exports."""
    end = len(path)
    while end > 0 and path[:end] not in known:
        end -= 1
    holder = known.get(path[:end])
    if holder is None or end == len(path) or depth > len(known):
        return holder
    name, rest = path[end], path[end + 1 :]
    if name in holder.names and holder.names[name] != path[: end + 1]:
        return definer((*holder.names[name], *rest), known, depth + 1)
    return holder


def circles(edges: Mapping[Path_, Mapping[Path_, int]]) -> list[list[Path_]]:
    """Sets of at least two files that reach each other by imports (strongly connected components)."""

    def reach(start: Path_) -> set[Path_]:
        seen, waiting = {start}, [start]
        while waiting:
            for after in edges[waiting.pop()]:
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        return seen

    reached = {module: reach(module) for module in edges}
    found, placed = [], set()
    for module in edges:
        if module not in placed:
            circle = [other for other in edges if other in reached[module] and module in reached[other]]
            placed.update(circle)
            if len(circle) > 1:
                found.append(circle)
    return found


def against(order: tuple[str, ...], entry: Module) -> Iterator[str]:
    """The paths in a file against the order of folders, in ``use`` statements, re-exports and calls."""
    if not entry.module or entry.module[0] not in order:
        return
    here = entry.module[0]
    for match in FROM_ROOT.finditer(entry.text):
        target = match.group(1)
        if target in order and order.index(target) > order.index(here):
            line = entry.text.count("\n", 0, match.start()) + 1
            yield f"{line}: {here} -> {target} is not allowed"


def check(root: Path) -> list[str]:
    """The too long circles and the imports against the order, each as a line that editors can follow."""
    wrong = []
    for source in sorted(root.glob("crates/*/src")):
        crate = source.parent.name
        known = modules(source)
        edges: dict[Path_, dict[Path_, int]] = {module: {} for module in known}
        for module, entry in known.items():
            for line, path in entry.imports:
                target = definer(path, known)
                if target is not None and target.module != module:
                    edges[module].setdefault(target.module, line)
        for entry in known.values():
            place = entry.path.relative_to(root)
            wrong += [f"{place}:{text}" for text in against(FOLDERS.get(crate, ()), entry)]
        for circle in circles(edges):
            if len(circle) <= MOST:
                continue
            first = known[circle[0]]
            line = next(line for target, line in edges[circle[0]].items() if target in circle)
            names = ", ".join(str(known[one].path.relative_to(source)) for one in circle)
            wrong.append(f"{first.path.relative_to(root)}:{line}: {len(circle)} files import each other: {names}")
    return wrong


def main(root: Path) -> int:
    """Prints the violations under ``root``; returns the exit code."""
    wrong = check(root)
    for problem in wrong:
        print(problem)
    if not wrong:
        print(f"no more than {MOST} files of a crate import each other")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1]))
