"""Search for a topology: a file, a shipped one, or the hub."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from netlull.documents.textfiles import check_regular
from netlull.errors import InputError, near_file
from netlull.topology.files import Topology
from netlull.topology.hub import PREFIX, read_hub
from netlull.topology.read import read_file

if TYPE_CHECKING:
    from netlull.topology.options import ReadOptions

__all__ = ["find", "shipped"]

_FOLDER = Path(__file__).parents[1] / "shipped" / "scenarios" / "topologies"


def shipped() -> dict[str, Path]:
    """The shipped topologies, by name."""
    return {path.stem: path for path in sorted(_FOLDER.glob("*.toml"))}


def find(name: str, options: ReadOptions, folder: Path | None = None, *, regular: bool = False) -> Topology:
    """The topology of a file, a shipped one, or `topohub:KEY`.

    A file is next to the scenario (in `folder`) or in the current folder. One that a document names is `regular`.

    Raises:
        InputError: no topology has this name, or its file cannot be read.
    """
    if name.startswith(PREFIX):
        return Topology.of(read_hub(name.removeprefix(PREFIX), options))
    there = shipped()
    known = there.get(name) or there.get(name.removesuffix(".toml"))
    beside = (folder or Path()) / name
    for path in (beside, Path(name)):
        # A folder with this name, such as that of a run, does not count.
        if _exists(path) and not (known and path.is_dir()):
            if regular:
                check_regular(path)
            return Topology.of(read_file(path, options))
    if known is not None:
        return Topology.of(read_file(known, options))
    expected = near_file(name, f"a topology's file, one of {', '.join(there)}, or {PREFIX}GROUP/NAME", there)
    raise InputError(f"{name}: there is no such file; {expected}")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False
