"""The scenarios that come with netlull, reachable by name from anywhere."""

from __future__ import annotations

import tomllib
from pathlib import Path

from netlull.errors import InputError
from netlull.sites import sites

__all__ = ["find", "ready"]

_FOLDERS = (Path(__file__).parent / "scenarios", Path(__file__).resolve().parents[2] / "scenarios")
"""Beside the package (an installed wheel), then in the repository."""


def ready() -> dict[str, Path]:
    """The ready scenarios by name."""
    found = {path.stem: path for folder in reversed(_FOLDERS) for path in folder.glob("*.toml")}
    return dict(sorted(found.items()))


def description(path: Path) -> str:
    """What a scenario file says that it shows."""
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("description", ""))


def find(name_or_file: str) -> Path:
    """A scenario file by its path, or a ready scenario by its name.

    Raises:
        InputError: there is neither; lists the ready ones.
    """
    path = Path(name_or_file)
    if path.is_file():
        return path
    scenarios = ready()
    if name_or_file in scenarios:
        return scenarios[name_or_file]
    names = ", ".join(scenarios) or "none"
    places = f"or a site: {', '.join(sites())}"
    raise InputError(f"{name_or_file}: there is no such file; expected a scenario file or one of: {names}; {places}")
