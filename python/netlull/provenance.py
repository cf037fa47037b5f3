"""Origin of results: the version of netlull and, in a checkout, the commit."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

from netlull import _engine

__all__ = ["origin"]

_ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def _commit(root: Path) -> str | None:
    """The commit of a checkout, with `-dirty` after it if a tracked file differs. Writes nothing into the checkout."""
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None

    def said(*arguments: str) -> str:
        command = [git, "--no-optional-locks", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # a fixed command
        return done.stdout.strip()

    # `describe --dirty` would write a new index in spite of the option, and leave its lock if it may not.
    commit = said("describe", "--always", "--abbrev=12")
    changed = said("status", "--porcelain", "--untracked-files=no")
    return f"{commit}-dirty" if commit and changed else commit or None


def origin() -> dict[str, str | None]:
    """The origin in a manifest: `version`, `engine` (version and build) and `commit` (None outside git)."""
    return {"version": _engine.__version__, "engine": _engine.identity(), "commit": _commit(_ROOT)}
