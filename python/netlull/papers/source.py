"""The folders of papers: the shipped ones, and `papers/` in the current folder."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from types import ModuleType

from netlull.papers.documents import PaperInfo, read_info
from netlull.papers.toml import PaperError

_PACKAGE = Path(__file__).resolve().parent.parent


def _places() -> list[Path]:
    """Folders that hold paper folders: the shipped ones first."""
    return [_PACKAGE / "shipped" / "papers", Path.cwd() / "papers"]


def find() -> list[PaperInfo]:
    """The papers there are, by key; of two with one key, the first place's."""
    found: dict[str, PaperInfo] = {}
    for place in _places():
        for document in sorted(place.glob("*/paper.toml")):
            info = read_info(document.parent)
            found.setdefault(info.key, info)
    return [found[key] for key in sorted(found)]


def folder_of(key: str) -> Path:
    """The folder of one paper; a path to a paper folder is one too, which is how a new paper is tried."""
    if (Path(key) / "paper.toml").is_file():
        return Path(key).resolve()
    known = {info.key: info.folder for info in find()}
    if key not in known:
        names = ", ".join(known) or "none (no folder `papers` was found)"
        raise PaperError(f'"{key}" is no paper; the papers are: {names}')
    return known[key]


def module_of(folder: Path, name: str) -> ModuleType:
    """Imports `NAME.py` of a paper folder; its modules can import each other with `from . import`."""
    package = "netlull_paper_" + "".join(letter if letter.isalnum() else "_" for letter in folder.name)
    held = sys.modules.get(package)
    if held is None or list(held.__path__) != [str(folder)]:
        for loaded in [module for module in sys.modules if module == package or module.startswith(f"{package}.")]:
            del sys.modules[loaded]
        made = types.ModuleType(package)
        made.__path__ = [str(folder)]
        sys.modules[package] = made
    try:
        return importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"{package}.{name}":
            raise PaperError(f"{folder.name}/{name}.py: the file is missing") from None
        raise
