"""sweep.json: the description of a store, with checksums of itself and of the tables next to it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from netlull.documents.decode import Text, decode, loads
from netlull.documents.textfiles import read_regular
from netlull.errors import FormatError, InputError, OutputError, ResultError, check_format
from netlull.results import output
from netlull.results.output import origin
from netlull.sweep.journal import is_foreign

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = [
    "DESCRIPTION",
    "ENERGY",
    "JOURNAL",
    "LOCK",
    "TABLE",
    "Description",
    "check_ours",
    "describe",
    "read_checked",
    "table_damage",
    "write_description",
]

KIND = "netlull sweep"
_FORMAT = 1
"""The number of the whole store: it stands in sweep.json and holds for the journal and the tables as well."""
DESCRIPTION = "sweep.json"
JOURNAL = "journal.jsonl"
TABLE = "results.parquet"
ENERGY = "energy.parquet"
LOCK = ".lock"
"""Held by the process that writes to the folder."""
_CHECK = "check"
_AT_THE_END = ("unmet", "constant", "files", _CHECK)
"""Fields known only after the sweep, and the checksum."""
_BEGINNING = b'{\n  "format": %d,\n  "kind": "netlull sweep"' % _FORMAT


class _Axis(msgspec.Struct):
    name: Text
    unit: str | None
    points: list[str]
    changes: list[dict[str, Any]] = []


class _Experiment(msgspec.Struct):
    name: str
    axes: list[str]
    set: dict[str, Any] = {}
    unset: list[str] = []


class _Design(msgspec.Struct):
    kind: str
    axes: list[str] = []


class _Until(msgspec.Struct):
    conditions: list[str]
    most_seeds: int


class _Window(msgspec.Struct, rename={"start": "from", "end": "to"}):
    start: Text
    end: Text


class _File(msgspec.Struct):
    bytes: int
    sha256: str


class _Fields(msgspec.Struct):
    """The fields of sweep.json that netlull reads."""

    metrics: dict[str, str]
    axes: list[_Axis]
    experiments: list[_Experiment]
    scenario: dict[str, Any] = {}
    version: str | None = None
    engine: str | None = None
    commit: str | None = None
    design: _Design | None = None
    until: _Until | None = None
    measured: list[_Window] = []
    warnings: list[str] = []
    unmet: list[str] = []
    constant: list[str] = []
    files: dict[str, _File] = {}


@dataclass(frozen=True)
class Description:
    """The present document of sweep.json without its last fields, and notes on the earlier files."""

    document: dict[str, Any]
    damaged: tuple[str, ...]
    """The damage to files."""
    engine: str | None
    """The engine of the earlier sweep.json; None without one."""


def describe(folder: Path, description: Mapping[str, Any]) -> Description:
    """Checks sweep.json and the tables of an earlier sweep; writes sweep.json if its content differs.

    A table of another sweep.json than the present one does not count as a result.

    Raises:
        FormatError: the store has another format.
        OutputError: sweep.json cannot be written.
    """
    # The document in its form after reading: values without a JSON type become text.
    wanted = json.loads(json.dumps({"format": _FORMAT, "kind": KIND, **origin(), **description}))
    try:
        found, damaged = _earlier(folder)
    except FormatError as error:
        raise FormatError(f"{folder}/{error}") from None
    if found is None or damaged or {key: found[key] for key in found if key not in _AT_THE_END} != wanted:
        write_description(folder, wanted)
    return Description(wanted, damaged, None if found is None else found.get("engine"))


def _earlier(folder: Path) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The existing sweep.json, if undamaged, and the damage to it or to the tables."""
    try:
        found = read_checked(folder)
    except FileNotFoundError:
        lost = (folder / JOURNAL).exists() or (folder / TABLE).exists()
        return None, (f"{DESCRIPTION}: is missing",) if lost else ()
    except FormatError:
        raise
    except ResultError as error:
        return None, (str(error),)
    damage = (table_damage(folder, found, name) for name in (TABLE, ENERGY))
    return found, tuple(filter(None, damage))


def read_checked(folder: Path) -> dict[str, Any]:
    """The document in sweep.json.

    Raises:
        FileNotFoundError: the store has no description.
        FormatError: the store has another format; the message omits the folder.
        ResultError: it is truncated, was changed, or has a wrong field; the message omits the folder.
    """
    raw = read_regular(folder / DESCRIPTION)
    try:
        document: Any = loads(raw)
    except ValueError:
        raise ResultError(f"{DESCRIPTION}: is truncated or damaged") from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ResultError(f"{DESCRIPTION}: is damaged: it does not describe a sweep")
    check_format(DESCRIPTION, document, _FORMAT, "use a new folder, or the netlull that wrote it")
    # Early files of 0.1.0 have no checksum.
    if _CHECK in document and document[_CHECK] != _checksum(document):
        raise ResultError(f"{DESCRIPTION}: is damaged: its checksum is wrong")
    try:
        decode(document, _Fields)
    except InputError as error:
        raise ResultError(f"{DESCRIPTION}: {error}") from None
    return document


def table_damage(folder: Path, document: Mapping[str, Any], name: str = TABLE) -> str | None:
    """The damage to a table, by the checksum in sweep.json; None for a sound table, or if none is expected."""
    record = document.get("files", {}).get(name)
    if record is None:
        return None
    try:
        found = output.file_record(folder / name)
    except FileNotFoundError:
        return f"{name}: is missing"
    except OSError as error:
        return f"{name}: cannot be read: {error.strerror or error}"
    if found["bytes"] != record["bytes"]:
        return f"{name}: is truncated or damaged: it has {found['bytes']} bytes, {DESCRIPTION} says {record['bytes']}"
    if found["sha256"] != record["sha256"]:
        return f"{name}: is damaged: its checksum is not the one in {DESCRIPTION}"
    return None


def write_description(folder: Path, document: Mapping[str, Any]) -> None:
    """Writes sweep.json with its checksum.

    Raises:
        OutputError: it cannot be written, for example on a full disk; the earlier file stays.
    """
    path = folder / DESCRIPTION
    text = output.json_text({**document, _CHECK: _checksum(document)})
    with output.staged_file(path) as stage:
        stage.write_text(text, encoding="utf-8", newline="\n")


def _checksum(document: Mapping[str, Any]) -> str:
    """The checksum of all other fields, independent of white space."""
    rest = {key: value for key, value in document.items() if key != _CHECK}
    return hashlib.sha256(json.dumps(rest).encode()).hexdigest()


def check_ours(folder: Path) -> None:
    """Refuses a folder with foreign files, before any change to it.

    A journal with lines of a sweep makes the folder ours, whatever the state of sweep.json.

    Raises:
        OutputError: a file is foreign; the message names it.
        OSError: the folder cannot be read.
    """
    names = {path.name for path in folder.iterdir() if ".partial-" not in path.name and path.name != LOCK}
    if not names:
        return
    expected = "expected a new folder or a sweep's"
    if is_foreign(folder / JOURNAL):
        if _is_ours(folder):
            raise OutputError(f"{folder / JOURNAL}: is damaged: none of its lines is of a sweep; {expected}")
        raise OutputError(f"{folder}: holds files that no sweep wrote ({JOURNAL}); {expected}")
    if JOURNAL in names and (folder / JOURNAL).stat().st_size:
        return
    if DESCRIPTION not in names:
        raise OutputError(f"{folder}: holds other files (no {DESCRIPTION}); {expected}")
    if not _is_ours(folder):
        raise OutputError(f"{folder}: holds files that no sweep wrote ({DESCRIPTION}); {expected}")


def _is_ours(folder: Path) -> bool:
    """True if sweep.json describes a sweep, or is cut off."""
    path = folder / DESCRIPTION
    if not path.exists():
        return False
    description = output.read_description(path)
    if description is None:
        return read_regular(path).startswith(_BEGINNING)
    return description.get("kind") == KIND
