"""The journal of a sweep: one line per finished run, append-only, each with a checksum.

A line is a JSON object `{"check":CHECKSUM,"record":RECORD}`, written with one system call. The checksum is of RECORD's
bytes, and RECORD starts with its key. A killed process leaves at most one broken line, the last. Damaged lines are
found anywhere.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import msgspec

from netlull.documents.decode import decode, loads
from netlull.documents.textfiles import check_regular, read_regular
from netlull.errors import InputError, ResultError
from netlull.results import output

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Contents", "Journal", "is_foreign"]

_START = b'{"check":"'
_CHECK_DIGITS = 16
_MIDDLE = b'","record":'
_END = b"}\n"
_KEY = b'{"key":"'
_RECORD_AT = len(_START) + _CHECK_DIGITS + len(_MIDDLE)


class _Energy(msgspec.Struct):
    static_j: float
    rate_dependent_j: float
    traffic_j: float
    transitions_j: float
    asleep_j: float
    total_j: float
    reference_j: float


class _Named(msgspec.Struct):
    name: str


class _Link(_Named):
    rate_bps: float
    mean_rate_bps: float
    rate_changes: int
    asleep_s: float
    energy: dict[str, _Energy] | None = None


class _Summary(msgspec.Struct):
    """The fields of a summary that every sweep reads; metrics read others by their paths."""

    links: list[_Link]
    flows: list[_Named] = []
    stations: list[_Named] = []


class _Record(msgspec.Struct):
    key: str
    seed: int
    summary: _Summary
    cpu_s: float | None = None


@dataclass(frozen=True)
class Contents:
    """The contents of a journal: sound lines by their record's key, and the damage to the others.

    Lines stay text until use: parsed objects would take several times the memory.
    """

    path: Path
    lines: dict[str, bytes]
    damaged: tuple[str, ...]

    def record(self, key: str) -> dict[str, Any]:
        """The record of a key in `lines`.

        Raises:
            ResultError: it has not the fields of a run; the message names the file, the field and its value.
        """
        where = f"{self.path}: the run {key}"
        try:
            record: dict[str, Any] = loads(self.lines[key][_RECORD_AT : -len(_END)])
            decode(record, _Record)
        except InputError as error:
            raise ResultError(f"{where}: {error}; without its line the run is repeated") from None
        except ValueError:
            raise ResultError(f"{where}: is no JSON of a run; without its line the run is repeated") from None
        return record


class Journal:
    """Appends records to a file. `open` has removed its damaged lines."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path) -> tuple[Self, Contents]:
        """Reads the journal, rewrites it without damaged lines if it has any, and opens it for appending.

        Raises:
            OSError: the file cannot be read or written.
        """
        contents = read(path)
        if contents.damaged:
            with output.staged_file(path) as stage:
                stage.write_bytes(b"".join(contents.lines.values()))
        # Windows would write "\r\n" without O_BINARY, which no other system has.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        return cls(os.open(path, flags, 0o644)), contents

    def append(self, record: bytes) -> None:
        """Adds a record: a JSON object on one line whose first field is its `key`.

        After the return, killing the process does not lose it.

        Raises:
            OSError: writing failed, for example on a full disk; the line is not in the file, and later lines are sound.
        """
        line = _line(record)
        before = os.fstat(self._descriptor).st_size
        try:
            written = os.write(self._descriptor, line)
            while written < len(line):
                written += os.write(self._descriptor, line[written:])
        except OSError:
            # A partial line would spoil the next one.
            os.ftruncate(self._descriptor, before)
            raise

    def close(self) -> None:
        """Flushes all data to the disk and closes the file."""
        os.fsync(self._descriptor)
        os.close(self._descriptor)


def read(path: Path) -> Contents:
    """The records of a journal; empty for a missing file.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        raw = read_regular(path)
    except FileNotFoundError:
        raw = b""
    lines: dict[str, bytes] = {}
    damaged: list[str] = []
    for number, line in enumerate(raw.splitlines(keepends=True), start=1):
        key, why = _key(line)
        if key is None:
            damaged.append(f"{path.name} line {number} {why}")
        else:
            lines[key] = line
    return Contents(path, lines, tuple(damaged))


def is_foreign(path: Path) -> bool:
    """True for a foreign file: it has text, but no line begins as a journal's, not even a broken one.

    Raises:
        OSError: the file cannot be read.
    """
    check_regular(path)
    try:
        with path.open("rb") as file:
            lines = 0
            for line in file:
                if line.startswith(_START) or _START.startswith(line):
                    return False
                lines += 1
            return lines > 0
    except FileNotFoundError:
        return False


def _checksum(record: bytes) -> bytes:
    return hashlib.sha256(record).hexdigest()[:_CHECK_DIGITS].encode()


def _line(record: bytes) -> bytes:
    return b"".join((_START, _checksum(record), _MIDDLE, record, _END))


def _key(line: bytes) -> tuple[str | None, str]:
    """The key of a line's record, or the damage to the line."""
    if not line.endswith(b"\n"):
        return None, "is truncated"
    check, middle = line[len(_START) : _RECORD_AT - len(_MIDDLE)], line[_RECORD_AT - len(_MIDDLE) : _RECORD_AT]
    record = line[_RECORD_AT : -len(_END)]
    key_end = record.find(b'"', len(_KEY))
    if not (line.startswith(_START) and middle == _MIDDLE and line.endswith(_END) and record.startswith(_KEY)):
        return None, "is damaged: it is not a record"
    if _checksum(record) != check:
        return None, "is damaged: its checksum is wrong"
    try:
        return record[len(_KEY) : key_end].decode(), ""
    except UnicodeDecodeError:
        return None, "is damaged: it is not a record"
