"""Words that have another name now. An error on an old word names the new one.

The table is that of the core, crates/document/src/renames.rs.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import NamedTuple

# As in `typing`, which takes long to load.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

__all__ = ["RENAMES", "Rename", "hint", "hint_of_path"]


class Rename(NamedTuple):
    """A word with another name, or one that is gone."""

    place: str
    """The kind of word."""
    old: str
    new: str | None
    """The new word; None for a word that was removed."""
    since: str
    """The version that has the new word."""
    works: bool = False
    """True if the old word still works."""

    @property
    def hint(self) -> str:
        """The hint in an error, such as `it is called "rate" since 0.2.0`."""
        if self.new is None:
            return f"it was removed in {self.since}"
        return f'it is called "{self.new}" since {self.since}'


_PATH = "path in the repository"

# renames: written by tools/generate.py
RENAMES: tuple[Rename, ...] = (
    Rename("`netlull plugin new --kind`", "controller", "link-controller", "0.1.0", False),
    Rename("`netlull plugin new --kind`", "observer", "rate-controller", "0.1.0", False),
    Rename("`netlull plugin new --language`", "assemblyscript", None, "0.1.0", False),
    Rename("path in the repository", "scenarios/NAME.toml", "NAME", "0.1.0", False),
    Rename("path in the repository", "papers/KEY", "KEY", "0.1.0", False),
    Rename("module of the Python package", "netlull.bundled", "netlull.library", "0.1.0", True),
    Rename("module of the Python package", "netlull.bundled.ready", "netlull.library.shipped", "0.1.0", True),
    Rename("module of the Python package", "netlull.paired", "netlull.compare", "0.1.0", True),
    Rename("module of the Python package", "netlull.result", "netlull.results.result", "0.1.0", True),
    Rename("module of the Python package", "netlull.sites", "netlull.library", "0.1.0", True),
)
# end


def hint(word: str, known: Collection[str], renames: Iterable[Rename] = RENAMES) -> str | None:
    """The hint of an unknown word where the words `known` are accepted; None if it is no old word there."""
    for rename in renames:
        if rename.old == word and (rename.new is None or rename.new in known):
            return rename.hint
    return None


def hint_of_path(path: str | PurePath, known: Collection[str]) -> str | None:
    """The hint of a missing path that the repository had: the file of a shipped scenario, or the folder of a paper."""
    folder, name = PurePath("", *PurePath(path).parts[-2:]).parent.name, PurePath(path).name
    for rename in RENAMES:
        old = PurePath(rename.old)
        stem = name.removesuffix(old.suffix)
        if rename.place == _PATH and folder == old.parent.name and name.endswith(old.suffix) and stem in known:
            return rename._replace(new=stem).hint
    return None
