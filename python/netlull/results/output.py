"""Output of results: a folder or a file appears complete, or not at all. A manifest names their origin."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.documents.textfiles import read_regular
from netlull.errors import OutputError, ResultError
from netlull.results.entries import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "MANIFEST",
    "check_folder",
    "check_replaceable",
    "file_record",
    "is_standard_output",
    "json_text",
    "made_folder",
    "origin",
    "prepare_file",
    "read_description",
    "refuse_working_folder",
    "staged_file",
    "staged_folder",
    "write_json",
    "writing",
]

MANIFEST = "manifest.json"
"""The list of a folder's contents: `kind`, `files` with their checksums, `figures`."""


@contextlib.contextmanager
def staged_folder(folder: Path, *, kind: str) -> Iterator[Path]:
    """A temporary folder next to `folder`. It replaces `folder` if the block succeeds, and disappears if it fails.

    A `folder` is replaced if it is empty, or an earlier result: a manifest of this `kind` and no unlisted file.

    Raises:
        OutputError: `folder` cannot be written, or holds other files.
    """
    check_replaceable(folder, kind)
    folder = folder.resolve()
    stage = folder.with_name(f".{folder.name}.partial-{os.getpid()}")
    with made_folder(folder.parent, folder):
        try:
            with writing(folder):
                shutil.rmtree(stage, ignore_errors=True)
                stage.mkdir()
            try:
                yield stage
            except OutputError as error:
                # The error names the final path.
                raise OutputError(str(error).replace(str(stage), str(folder))) from None
            # Runs take long: check for new files in the folder.
            check_replaceable(folder, kind)
            with writing(folder):
                _replace_folder(stage, folder)
        finally:
            shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def made_folder(folder: Path, output: Path) -> Iterator[None]:
    """Creates a folder and those above it for an output. If the block fails, the created ones that are empty disappear.

    Raises:
        OutputError: they cannot be created.
    """
    created = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        with writing(output):
            folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for each in created:
            with contextlib.suppress(OSError):
                each.rmdir()
        raise


def check_replaceable(folder: Path, kind: str) -> None:
    """Refuses a folder that a result of this kind may not replace: a run that takes long checks it first.

    Raises:
        OutputError: `folder` holds other files, or is no folder.
    """
    if is_standard_output(folder):
        raise OutputError(f"{folder}: is the standard output; expected a folder to write to")
    folder = folder.resolve()
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
    """The first entry of the folder that the manifest does not list, or None."""
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
    """Refuses the working folder: results never replace it.

    Raises:
        OutputError: `folder` is the working folder, or contains it.
    """
    here, there = Path.cwd().resolve(), folder.resolve()
    if there == here or there in here.parents:
        raise OutputError(f"{folder}: is or holds the current folder; expected another one to write to")


def check_folder(folder: Path, expected: str) -> None:
    """Refuses a path that is not a folder, and says whether it is a file.

    Raises:
        ResultError: `folder` is a file or missing; expected is a folder of this kind.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "there is no such folder"
        raise ResultError(f"{folder}: {what}; expected {expected}")


def read_description(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None if the file has other content.

    Raises:
        OSError: the file cannot be read.
    """
    content = read_regular(path)
    try:
        document: Any = json.loads(content)
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
    """A temporary path next to `path`. It replaces `path` if the block succeeds, and disappears if it fails.

    A symbolic link stays, and its target is replaced. `-` and `/dev/stdout` stream to the standard output.

    Raises:
        OutputError: `path` cannot be written, or is a device, a pipe or a socket.
    """
    if is_standard_output(path):
        if getattr(sys.stdout, "name", None) == os.devnull:  # how the command line replaces a closed one
            raise OutputError(f"{path}: the standard output is closed; expected an open one")
        with tempfile.TemporaryDirectory() as folder:
            stage = Path(folder) / "output"
            yield stage
            _stream(stage)
        return
    target = _writable(path)
    stage = target.with_name(f".{target.name}.partial-{os.getpid()}")
    with made_folder(target.parent, path):
        try:
            with writing(path):
                stage.touch()
                yield stage
                stage.replace(target)
        finally:
            with contextlib.suppress(OSError):
                stage.unlink(missing_ok=True)


def is_standard_output(path: Path) -> bool:
    """True for `-` and for the names of the standard output in `/dev` and `/proc`."""
    return str(path) in {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}


def _stream(stage: Path) -> None:
    sys.stdout.flush()
    with stage.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.flush()


def prepare_file(path: Path) -> Path:
    """Creates the folder of a file; returns the file to write, which is the target of a symbolic link.

    Raises:
        OutputError: the folder cannot be created, or `path` exists and is no regular file.
    """
    target = _writable(path)
    with made_folder(target.parent, path):
        return target


def _writable(path: Path) -> Path:
    """The file to write. It is the target of a symbolic link."""
    with writing(path):
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        if target.is_symlink():
            raise OutputError(f"{path}: is a symbolic link to itself; expected a file to write to")
        if target.is_dir():
            raise OutputError(f"{path}: is a folder; expected a file to write to")
        if target.exists() and not target.is_file():
            expected = "expected a regular file, a new file, or - for the standard output"
            raise OutputError(f"{path}: is a device, a pipe or a socket; {expected}")
        return target


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns errors of writing within the block into `OutputError` with this path.

    Raises:
        OutputError: the path cannot be written, for example on a full disk.
    """
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_json(path: Path, document: object) -> None:
    """Writes readable JSON. Equal documents give equal bytes.

    Raises:
        OutputError: the file cannot be written.
    """
    text = json_text(document)
    with writing(path):
        path.write_text(text, encoding="utf-8", newline="\n")


def json_text(document: object) -> str:
    """Readable JSON. Equal documents give equal text."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=listed) + "\n"


def file_record(path: Path) -> dict[str, object]:
    """Size in bytes and SHA-256 checksum of a file, for a manifest."""
    content = read_regular(path)
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


_ROOT = Path(__file__).resolve().parents[3]


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
