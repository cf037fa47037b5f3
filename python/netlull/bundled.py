"""The scenarios that come with netlull: ready ones, which run by name from anywhere, and starters."""

from __future__ import annotations

import tomllib
from pathlib import Path

from netlull.errors import InputError
from netlull.sites import sites

__all__ = ["find", "ready", "starters"]

_SHIPPED = Path(__file__).parent / "shipped"


def ready() -> dict[str, Path]:
    """The ready scenarios by name."""
    return _scenarios("scenarios")


def starters() -> dict[str, Path]:
    """The commented scenarios that `netlull new` copies, by kind."""
    return _scenarios("starters")


def _scenarios(folder: str) -> dict[str, Path]:
    return {path.stem: path for path in sorted((_SHIPPED / folder).glob("*.toml"))}


def description(path: Path) -> str:
    """The description in a scenario file."""
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("description", ""))


def find(name_or_file: str) -> Path:
    """A scenario file by its path, or a ready scenario by its name.

    Raises:
        InputError: there is neither; lists the ready scenarios.
    """
    path = Path(name_or_file)
    if path.exists() and not path.is_dir():
        return path
    scenarios = ready()
    if name_or_file in scenarios:
        return scenarios[name_or_file]
    names = ", ".join(scenarios) or "none"
    places = f"or a site: {', '.join(sites())}"
    found = "is a folder" if path.is_dir() else "there is no such file"
    raise InputError(f"{name_or_file}: {found}; expected a scenario file or one of: {names}; {places}")
