"""Origin of results: the version of netlull and, in a checkout, the commit."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

from netlull import _engine

__all__ = ["origin"]


@functools.cache
def _commit() -> str | None:
    root = Path(__file__).resolve().parents[2]
    git = shutil.which("git")
    if git is None or not (root / ".git").exists():
        return None
    command = [git, "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # a fixed command
    return found.stdout.strip() or None


def origin() -> dict[str, str | None]:
    """The origin in a manifest: `version`, `engine` (version and build) and `commit` (None outside git)."""
    return {"version": _engine.__version__, "engine": _engine.identity(), "commit": _commit()}
