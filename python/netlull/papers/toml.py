"""Reading of a paper's TOML files, with errors that name file, field and value."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, TypeVar

from netlull.documents.decode import FieldError, decode
from netlull.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_T = TypeVar("_T")


class PaperError(InputError):
    """An invalid paper folder, or an impossible request. The message is one line for the user."""


def read(path: Path, kind: type[_T]) -> _T:
    """A TOML file as a struct.

    Raises:
        PaperError: the file is missing or invalid; the message names the file, the field and the value.
    """
    data = read_data(path)
    try:
        return decode(data, kind)
    except FieldError as error:
        raise PaperError(f"{path.parent.name}/{path.name}: {error}") from None


def read_data(path: Path) -> dict[str, Any]:
    """A TOML file as plain data.

    Raises:
        PaperError: the file is missing or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PaperError(f"{path.parent.name}/{path.name}: the file is missing") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PaperError(f"{path.parent.name}/{path.name}: is not valid TOML: {error}") from None
