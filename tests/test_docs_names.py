"""Every path and every Python name that a document gives in backticks exists.

A word in backticks is a path of this tree

- if its first part is a folder at the root (`crates/tcp`), or if it ends in `.rs`: on every page,
- if it ends in `.py`, `.md`, `.toml` or `/`: on every page but those in docs/how-to and the tutorial, where such files
  are the reader's own.

A short path starts at the root, or at a folder that leads to a path earlier in its paragraph. A paragraph without such
a path may also start at its section's paths, its page's folder, a crate or `python/`. `src/` may be left out. `<key>`,
NAME, KEY and DATE stand for any name. `out/` holds files that commands write.

A word in backticks is a Python name if it begins with `netlull.`, or with a class and a dot (`Scenario.from_file`).
`import netlull` is enough for the first part; a deeper module may need its own import.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT

PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
HOW_TO = ROOT / "docs" / "how-to"
TUTORIAL = ROOT / "docs" / "tutorial.md"
TOP = ["benches", "crates", "docs", "examples", "python", "tests", "tools"]
TOP += ["validation", "web"]
CRATES = sorted(ROOT.glob("crates/*/"))
ANYWHERE = [*CRATES, *(crate / "src" for crate in CRATES), ROOT / "python"]
PATH = re.compile(r"[\w.*{},<>-]+(/[\w.*{},<>-]+)*/?")
PYTHON_NAME = re.compile(r"netlull(?:\.[A-Za-z_]\w*)+|[A-Z][a-z]+(?:[A-Z][a-z]+)*\.[a-z_]\w*")
CHECK_NAMES = """
import importlib, inspect, sys
import netlull

def there(name):
    first, *rest = name.split(".")
    known = netlull if first == "netlull" else getattr(netlull, first, None) or getattr(netlull.topology, first)
    for depth, part in enumerate(rest, start=1):
        if inspect.ismodule(known) and depth > 1 and not hasattr(known, part):
            importlib.import_module(f"{known.__name__}.{part}")
        set_by_itself = inspect.isclass(known) and f"self.{part} = " in inspect.getsource(known)
        known = None if set_by_itself else getattr(known, part)

for name in sys.argv[1:]:
    try:
        there(name)
    except (AttributeError, ImportError):
        print(name)
"""


def _without_code(text: str) -> str:
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)


def _sections(page: Path) -> Iterator[list[list[str]]]:
    """The words in backticks of each section, by paragraph. Entries of lists and rows of tables are paragraphs."""
    for section in re.split(r"^#+ ", _without_code(page.read_text(encoding="utf-8")), flags=re.MULTILINE):
        paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-|]|\d+\.)\s)", section)
        yield [" ".join(re.findall(r"`([^`]+)`", paragraph)).split() for paragraph in paragraphs]


def _is_path(word: str, page: Path) -> bool:
    first, slash, _ = word.partition("/")
    if not PATH.fullmatch(word) or first == "out":
        return False
    if (slash and first in TOP) or word.endswith(".rs"):
        return True
    return HOW_TO not in page.parents and page != TUTORIAL and word.endswith((".py", ".md", ".toml", "/"))


def _patterns(word: str) -> list[str]:
    """Each choice in braces, with `*` for any name."""
    choice = re.search(r"\{([^}]*)\}", word)
    if choice:
        return [each for part in choice[1].split(",") for each in _patterns(word.replace(choice[0], part))]
    return [re.sub(r"<[^>]*>|\b(NAME|KEY|DATE)\b", "*", word).strip("/")]


def _exists(pattern: str, bases: list[Path]) -> bool:
    return any(path for base in bases for path in base.glob(pattern))


def _lead_to(pattern: str) -> list[Path]:
    """The folders between the root and a path, and their `src`."""
    above = [folder for path in ROOT.glob(pattern) for folder in (path, *path.parents) if ROOT in folder.parents]
    folders = [folder for folder in above if folder.is_dir()]
    return [*folders, *(folder / "src" for folder in folders)]


def _missing_paths(page: Path) -> Iterator[str]:
    for section in _sections(page):
        of_section: list[Path] = []
        for paragraph in section:
            named: list[Path] = []
            for pattern in (each for word in paragraph if _is_path(word, page) for each in _patterns(word)):
                if not _exists(pattern, [ROOT, *(named or [*of_section, page.parent, *ANYWHERE])]):
                    yield pattern
                named += _lead_to(pattern)
            of_section += named


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_in_backticks_exist(page: Path) -> None:
    assert list(_missing_paths(page)) == []


def test_the_folders_that_architecture_draws_exist() -> None:
    """A word that ends in `/` is a folder inside one named earlier on its line, or opened by a less indented line."""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (house,) = re.findall(r"```text\n(crates/.*?)```", page, flags=re.DOTALL)
    opened: dict[int, Path] = {}
    for line in house.splitlines():
        indent = len(line) - len(line.lstrip())
        opened = {depth: folder for depth, folder in opened.items() if depth < indent}
        bases = [ROOT, *opened.values()]
        for word in re.findall(r"(?<!\S)\(?([\w<>/]+/)(?=[\s,):]|$)", line):
            pattern = _patterns(word)[0]
            found = [path for base in bases for inside in (base, base / "src") for path in inside.glob(pattern)]
            assert found, f"{word} in: {line}"
            bases.append(found[0])
            if line.lstrip().startswith(word):
                opened[indent] = found[0]


def test_python_names_in_backticks_are_there_after_a_bare_import() -> None:
    places = {
        match.group(): page.name
        for page in PAGES
        for section in _sections(page)
        for paragraph in section
        for word in paragraph
        if (match := PYTHON_NAME.match(word)) and not _is_path(word, page)
    }
    assert "netlull.plot" in places
    command = [sys.executable, "-c", CHECK_NAMES, *places]
    missing = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert [f"{places[name]}: {name}" for name in missing] == []


def test_the_tour_of_the_code_names_what_is_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .*?\| `([\w/.]+\.(?:rs|py))` \| (.*?) \|$", text, flags=re.MULTILINE)
    assert len(rows) > 20
    for path, names in rows:
        code = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"\b(fn|struct|trait|enum|def|class) {name}\b", code), f"{path}: {name}"
