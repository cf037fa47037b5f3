"""Writing results: a folder or a file appears complete, or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from netlull.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "MANIFEST",
    "file_record",
    "json_text",
    "prepare_file",
    "read_description",
    "refuse_working_folder",
    "staged_file",
    "staged_folder",
    "write_json",
    "writing",
]

MANIFEST = "manifest.json"
"""Lists what a folder holds: `kind`, `files` with their checksums, `figures`."""


@contextlib.contextmanager
def staged_folder(folder: Path, *, kind: str) -> Iterator[Path]:
    """A temporary folder beside `folder` that takes its place when the block ends well, and vanishes when it does not.

    A `folder` with a manifest of this `kind` that holds nothing else is an earlier result and is replaced; an empty
    one too.

    Raises:
        OutputError: `folder` cannot be written, or holds something else.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100  # resolve() would follow a link that the user wants kept
    _check_replaceable(folder, kind)
    stage = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
    try:
        with writing(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(stage, ignore_errors=True)
            stage.mkdir()
        try:
            yield stage
        except OutputError as error:
            # Named by where it would have been in the end.
            raise OutputError(str(error).replace(str(stage), str(folder))) from None
        # A run takes its time: somebody may have put files there meanwhile.
        _check_replaceable(folder, kind)
        with writing(folder):
            _replace_folder(stage, folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _check_replaceable(folder: Path, kind: str) -> None:
    with writing(folder):
        if not os.path.lexists(folder):
            return
        if not folder.is_dir():
            raise OutputError(f"{folder}: is a file; expected a folder to write to")
        refuse_working_folder(folder)
        if not any(folder.iterdir()):
            return
        expected = "expected a new folder or an earlier result"
        if not (folder / MANIFEST).is_file():
            raise OutputError(f"{folder}: holds other files (no {MANIFEST}); {expected}")
        manifest = read_description(folder / MANIFEST)
        if manifest is None or manifest.get("kind") != kind:
            raise OutputError(f'{folder}: holds other files ({MANIFEST} is of no "{kind}"); {expected}')
        foreign = _first_foreign(folder, manifest)
        if foreign is not None:
            raise OutputError(f"{folder}: holds other files ({foreign}); {expected}")


def _first_foreign(folder: Path, manifest: Mapping[str, Any]) -> str | None:
    """Something in the folder that the manifest does not list; None if there is nothing."""
    listed = {MANIFEST}
    for field in ("files", "figures"):
        names = manifest.get(field)
        listed |= {str(name) for name in names} if isinstance(names, list | dict) else set()
    folders = {parent.as_posix() for name in listed for parent in PurePosixPath(name).parents}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        known = folders if path.is_dir() and not path.is_symlink() else listed
        if name not in known:
            return name
    return None


def refuse_working_folder(folder: Path) -> None:
    """Results never take the place of the folder that the user works in.

    Raises:
        OutputError: `folder` is the working folder, or holds it.
    """
    here, there = Path.cwd().resolve(), folder.resolve()
    if there == here or there in here.parents:
        raise OutputError(f"{folder}: is or holds the current folder; expected another one to write to")


def read_description(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None if the file holds something else.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        document: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


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
        prepare_file(path)
        with writing(path):
            stage.touch()
            yield stage
            stage.replace(path)
    finally:
        with contextlib.suppress(OSError):
            stage.unlink(missing_ok=True)


def prepare_file(path: Path) -> None:
    """Makes the folder that a file goes to.

    Raises:
        OutputError: the folder cannot be made, or `path` is a folder.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise OutputError(f"{path}: is a folder; expected a file to write to")


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Names the file that the block writes.

    Raises:
        OutputError: it cannot be written: the disk is full, for example.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_json(path: Path, document: object) -> None:
    """Writes readable JSON; the same document gives the same bytes.

    Raises:
        OutputError: the file cannot be written.
    """
    text = json_text(document)
    with writing(path):
        path.write_text(text, encoding="utf-8", newline="\n")


def json_text(document: object) -> str:
    """Readable JSON; the same document gives the same text."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def file_record(path: Path) -> dict[str, object]:
    """Size and checksum of a file, for a manifest."""
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
