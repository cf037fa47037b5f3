"""sweep.json: what a store is of, with a checksum of itself and one of the table beside it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull import output
from netlull.errors import OutputError, ResultError
from netlull.provenance import origin
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
DESCRIPTION = "sweep.json"
JOURNAL = "journal.jsonl"
TABLE = "results.parquet"
ENERGY = "energy.parquet"
LOCK = ".lock"
"""Held by the process that writes to the folder."""
_CHECK = "check"
_AT_THE_END = ("unmet", "files", _CHECK)
"""What is not known before the sweep has ended, and the checksum."""
_BEGINNING = b'{\n  "format": 1,\n  "kind": "netlull sweep"'


@dataclass(frozen=True)
class Description:
    """The document that is in sweep.json now, without what comes at the end, and what was wrong with files before."""

    document: dict[str, Any]
    damaged: tuple[str, ...]


def describe(folder: Path, description: Mapping[str, Any]) -> Description:
    """Looks at sweep.json and the tables of an earlier sweep; writes sweep.json if it says something else.

    A table that belongs to another sweep.json than the one there is not taken for a result.

    Raises:
        OutputError: sweep.json cannot be written.
    """
    # As it reads when it was written: texts for whatever JSON has no other word for.
    wanted = json.loads(json.dumps({"format": 1, "kind": KIND, **origin(), **description}))
    found, damaged = _earlier(folder)
    if found is None or damaged or {key: found[key] for key in found if key not in _AT_THE_END} != wanted:
        write_description(folder, wanted)
    return Description(wanted, damaged)


def _earlier(folder: Path) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """The sweep.json that is there, if it is sound, and what is wrong with it or the tables."""
    try:
        found = read_checked(folder)
    except FileNotFoundError:
        lost = (folder / JOURNAL).exists() or (folder / TABLE).exists()
        return None, (f"{DESCRIPTION}: is missing",) if lost else ()
    except ResultError as error:
        return None, (str(error),)
    damage = (table_damage(folder, found, name) for name in (TABLE, ENERGY))
    return found, tuple(filter(None, damage))


def read_checked(folder: Path) -> dict[str, Any]:
    """The document in sweep.json.

    Raises:
        FileNotFoundError: there is none.
        ResultError: it is truncated, or not what was written; says so without the folder.
    """
    raw = (folder / DESCRIPTION).read_bytes()
    try:
        document: Any = json.loads(raw)
    except (ValueError, RecursionError):
        raise ResultError(f"{DESCRIPTION}: is truncated or damaged") from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise ResultError(f"{DESCRIPTION}: is damaged: it describes no sweep")
    # 0.1.0 before checksums had none.
    if _CHECK in document and document[_CHECK] != _checksum(document):
        raise ResultError(f"{DESCRIPTION}: is damaged: its checksum is wrong")
    return document


def table_damage(folder: Path, document: Mapping[str, Any], name: str = TABLE) -> str | None:
    """What is wrong with a table, by the checksum in sweep.json; None if all is well or no table is expected."""
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
        OutputError: the disk is full, for example; what was there before stays.
    """
    path = folder / DESCRIPTION
    text = output.json_text({**document, _CHECK: _checksum(document)})
    with output.staged_file(path) as stage:
        stage.write_text(text, encoding="utf-8", newline="\n")


def _checksum(document: Mapping[str, Any]) -> str:
    """Of everything else in the document, whatever its white space."""
    rest = {key: value for key, value in document.items() if key != _CHECK}
    return hashlib.sha256(json.dumps(rest).encode()).hexdigest()


def check_ours(folder: Path) -> None:
    """Refuses a folder with files of somebody else, before anything in it is touched.

    A journal with lines of ours makes the folder ours, whatever has become of sweep.json.

    Raises:
        OutputError: says which file is not ours.
        OSError: the folder cannot be read.
    """
    names = {path.name for path in folder.iterdir() if ".partial-" not in path.name and path.name != LOCK}
    if not names:
        return
    expected = "expected a new folder or a sweep's"
    if is_foreign(folder / JOURNAL):
        raise OutputError(f"{folder}: holds files that no sweep wrote ({JOURNAL}); {expected}")
    if JOURNAL in names and (folder / JOURNAL).stat().st_size:
        return
    if DESCRIPTION not in names:
        raise OutputError(f"{folder}: holds other files (no {DESCRIPTION}); {expected}")
    description = output.read_description(folder / DESCRIPTION)
    if description is None:
        ours = (folder / DESCRIPTION).read_bytes().startswith(_BEGINNING)
    else:
        ours = description.get("kind") == KIND
    if not ours:
        raise OutputError(f"{folder}: holds files that no sweep wrote ({DESCRIPTION}); {expected}")
