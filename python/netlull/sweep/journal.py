"""The journal of a sweep: one line per finished run, only ever added to, each with a checksum.

A line is a JSON object `{"check": CHECKSUM, "record": RECORD}`, written with one system call. A process that is killed
leaves at most one broken line, the last; a damaged one is found wherever it is.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from netlull import output

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Contents", "Journal", "is_foreign"]

_START = b'{"check":"'


@dataclass(frozen=True)
class Contents:
    """What a journal holds: sound lines by their record's key, and what is wrong with the others.

    Lines stay text until they are asked for: as objects they would take several times as much memory.
    """

    lines: dict[str, bytes]
    damaged: tuple[str, ...]

    def record(self, key: str) -> dict[str, Any]:
        """The record of a key that is in `lines`."""
        record: dict[str, Any] = json.loads(self.lines[key])["record"]
        return record


class Journal:
    """Appends records to a file; `open` has removed damaged lines from it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path) -> tuple[Self, Contents]:
        """Reads the journal, writes it anew without its damaged lines if it has any, and opens it to append.

        Raises:
            OSError: the file cannot be read or written.
        """
        contents = read(path)
        if contents.damaged:
            with output.staged_file(path) as stage:
                stage.write_bytes(b"".join(contents.lines.values()))
        return cls(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)), contents

    def append(self, record: dict[str, Any]) -> None:
        """Adds a record, which has a `key`; once this returns, killing the process does not lose it.

        Raises:
            OSError: the disk is full, for example; a part of the line may be in the file.
        """
        line = _line(record)
        written = os.write(self._descriptor, line)
        while written < len(line):
            written += os.write(self._descriptor, line[written:])

    def close(self) -> None:
        """Hands everything to the disk."""
        os.fsync(self._descriptor)
        os.close(self._descriptor)


def read(path: Path) -> Contents:
    """The records of a journal; a file that does not exist holds none.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        raw = path.read_bytes()
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
    return Contents(lines, tuple(damaged))


def is_foreign(path: Path) -> bool:
    """Whether a file is somebody else's: it has text, but no line begins as a journal's do, not even a broken one.

    Raises:
        OSError: the file cannot be read.
    """
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


def _text(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"), allow_nan=False)


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _line(record: dict[str, Any]) -> bytes:
    text = _text(record)
    return _START + f'{_checksum(text)}","record":{text}}}\n'.encode()


def _key(line: bytes) -> tuple[str | None, str]:
    """The key of a line's record, or why it has none."""
    if not line.endswith(b"\n"):
        return None, "is truncated"
    try:
        entry = json.loads(line)
        record, check = entry["record"], entry["check"]
        key = record["key"]
        # A damaged digit can make a number infinite, which has no JSON to take a checksum of.
        sound = isinstance(key, str) and _checksum(_text(record)) == check
    except (ValueError, TypeError, KeyError, RecursionError):
        return None, "is damaged: it is no record"
    if not sound:
        return None, "is damaged: its checksum is wrong"
    return key, ""
