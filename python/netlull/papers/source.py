"""The folders of papers: the shipped ones, and `papers/` in the current folder."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from types import ModuleType

from netlull.errors import near
from netlull.papers.documents import SHIPPED, PaperInfo, folders, read_info
from netlull.papers.toml import PaperError
from netlull.renames import hint_of_path


def _places() -> list[Path]:
    """Folders that contain paper folders: the shipped ones first."""
    return [SHIPPED, Path.cwd() / "papers"]


def find() -> list[PaperInfo]:
    """The available papers, by key. A shipped paper precedes another one with the same key."""
    found: dict[str, PaperInfo] = {}
    for place in _places():
        for document in sorted(place.glob("*/paper.toml")):
            info = read_info(document.parent)
            found.setdefault(info.key, info)
    return [found[key] for key in sorted(found)]


def folder_of(key: str) -> Path:
    """The folder of one paper, by its key or by the path of a paper folder (to try a new paper).

    Raises:
        PaperError: there is no such paper; lists the keys.
    """
    if (Path(key) / "paper.toml").is_file():
        return Path(key).resolve()
    known = {info.key: info.folder for info in find()}
    if key not in known:
        renamed = hint_of_path(key, known)
        if renamed is not None:
            raise PaperError(f"{key}: there is no such folder; {renamed}")
        raise PaperError(f'there is no paper "{key}"; {near(key, known)}')
    return known[key]


def module_of(folder: Path, name: str) -> ModuleType:
    """Imports `NAME.py` of a paper folder. Its modules can import each other with `from . import`.

    Raises:
        PaperError: the file is missing.
    """
    package = "netlull_paper_" + "".join(letter if letter.isalnum() else "_" for letter in folder.name)
    held = sys.modules.get(package)
    places = [str(place) for place in folders(folder)]
    if held is None or list(held.__path__) != places:
        for loaded in [module for module in sys.modules if module == package or module.startswith(f"{package}.")]:
            del sys.modules[loaded]
        made = types.ModuleType(package)
        made.__path__ = places
        sys.modules[package] = made
    try:
        return importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"{package}.{name}":
            raise PaperError(f"{folder.name}/{name}.py: the file is missing") from None
        raise
