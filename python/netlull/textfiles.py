"""Reading of text files that users name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_text"]


def read_text(path: Path) -> str:
    """The text of a file that a user named.

    Raises:
        InputError: the file is missing, a folder, unreadable or not UTF-8 text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; expected one that exists") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; expected a file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; expected a text file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
