"""Reading of text files that users name."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from netlull.errors import InputError, near_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LARGEST_BYTES", "check_regular", "check_text", "read_regular", "read_text"]

LARGEST_BYTES = 8 * 2**20
"""The largest text file that is read, in bytes. A scenario with 60,000 flows is smaller."""


def check_text(option: str, given: str) -> None:
    """Refuses the value of an option that is no text: Python keeps such bytes as lone surrogates (PEP 383).

    Raises:
        InputError: the bytes are not UTF-8.
    """
    try:
        given.encode()
    except UnicodeEncodeError:
        shown = given.encode(errors="backslashreplace").decode()
        raise InputError(f'{option} "{shown}": is not UTF-8 text; expected text') from None


def check_regular(path: Path) -> None:
    """Refuses a file that a document names if it is a pipe or a device: its reader might wait without end.

    Raises:
        InputError: it exists and is neither a regular file nor a folder.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError(f"{path}: is no regular file; expected a file")


def read_regular(path: Path) -> bytes:
    """The content of a file that a document or a store names.

    Raises:
        InputError: it is a pipe or a device.
        OSError: it cannot be read.
    """
    check_regular(path)
    return path.read_bytes()


def read_text(path: Path, largest: int = LARGEST_BYTES) -> str:
    """The text of a file that a user named, without a byte order mark. Pipes and devices are read to their end.

    Raises:
        InputError: the file is missing, a folder, unreadable, larger than `largest` bytes, or not UTF-8 text.
    """
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
        if len(content) > largest:
            raise InputError(f"{path}: is too large; expected at most {largest // 2**20} MiB")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; {near_file(path, 'one that exists')}") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; expected a file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; expected a text file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
