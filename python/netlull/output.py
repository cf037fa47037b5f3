"""Writing results: a folder or a file appears complete, or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from netlull.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["file_record", "staged_file", "staged_folder", "write_json"]


@contextlib.contextmanager
def staged_folder(folder: Path, *, ours: str) -> Iterator[Path]:
    """A temporary folder beside `folder` that takes its place when the block ends well, and vanishes when it does not.

    A `folder` that holds the file `ours` is a result of an earlier run and is replaced; an empty one too.

    Raises:
        OutputError: `folder` cannot be written, or holds something else.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100  # resolve() would follow a link that the user wants kept
    _check_replaceable(folder, ours)
    stage = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
    with _as_output_error(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir()
    try:
        yield stage
        with _as_output_error(folder):
            _replace_folder(stage, folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _check_replaceable(folder: Path, ours: str) -> None:
    with _as_output_error(folder):
        if not os.path.lexists(folder):
            return
        if not folder.is_dir():
            raise OutputError(f"{folder}: is a file; expected a folder to write to")
        here = Path.cwd()
        if folder == here or folder in here.parents:
            raise OutputError(f"{folder}: is or holds the current folder; expected another one to write to")
        present = {path.name for path in folder.iterdir()}
        strangers = present - _written(folder / ours) if present else set()
        if strangers:
            raise OutputError(
                f"{folder}: holds other files ({min(strangers)}); expected a new folder or an earlier result"
            )


def _written(manifest: Path) -> set[str]:
    """Names in a result folder that its manifest says netlull wrote; none if it is not netlull's manifest."""
    try:
        content = json.loads(manifest.read_text())
    except (OSError, ValueError, RecursionError):
        return set()
    if not isinstance(content, dict) or content.get("kind") != "netlull run":
        return set()
    files = content.get("files")
    return {manifest.name, "figures", *(files if isinstance(files, dict) else ())}


def _replace_folder(stage: Path, folder: Path) -> None:
    old = folder.with_name(f".{folder.name}.old-{os.getpid()}")
    replaced = folder.exists()
    if replaced:
        folder.rename(old)
    try:
        stage.rename(folder)
    except OSError:
        if replaced:
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def staged_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends well, and vanishes when it does not.

    Raises:
        OutputError: `path` cannot be written.
    """
    stage = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        with _as_output_error(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                raise OutputError(f"{path}: is a folder; expected a file to write to")
            stage.touch()
        yield stage
        with _as_output_error(path):
            stage.replace(path)
    finally:
        with contextlib.suppress(OSError):
            stage.unlink(missing_ok=True)


@contextlib.contextmanager
def _as_output_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_json(path: Path, document: object) -> None:
    """Writes readable JSON; the same document gives the same bytes."""
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def file_record(path: Path) -> dict[str, object]:
    """Size and checksum of a file, for a manifest."""
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
