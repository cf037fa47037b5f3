"""The commit in a manifest."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from netlull.results import output


def git(*arguments: str, where: Path) -> str:
    own = ["-c", "user.name=netlull", "-c", "user.email=netlull@localhost"]
    return subprocess.run(["git", *own, *arguments], cwd=where, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git("init", "--quiet", where=tmp_path)
    (tmp_path / "file").write_text("one", encoding="utf-8")
    git("add", "file", where=tmp_path)
    git("commit", "--quiet", "--message", "one", where=tmp_path)
    return tmp_path


def commit(root: Path) -> str | None:
    output._commit.cache_clear()
    return output._commit(root)


def test_the_commit_has_twelve_digits_and_a_mark_if_a_tracked_file_differs(checkout: Path) -> None:
    digits = git("rev-parse", "--short=12", "HEAD", where=checkout).strip()
    (checkout / "untracked").touch()
    assert commit(checkout) == digits
    (checkout / "file").write_text("two", encoding="utf-8")
    assert commit(checkout) == f"{digits}-dirty"


def test_a_folder_without_git_has_no_commit(tmp_path: Path) -> None:
    assert commit(tmp_path) is None


def test_reading_the_commit_leaves_the_index_alone(checkout: Path) -> None:
    index = checkout / ".git" / "index"
    os.utime(checkout / "file", (1e9, 1e9))  # git would note the new time
    before = index.read_bytes()
    commit(checkout)
    assert index.read_bytes() == before
