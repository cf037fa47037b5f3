"""WebAssembly modules that a scenario names: their place and their digest."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["digest_of", "locate", "without_places"]

_KIND = "wasm"


def locate(document: dict[str, Any], folder: Path | None = None) -> None:
    """Completes each table of the kind `wasm` in `document` with the absolute place and the digest of its module.

    Files are relative to `folder`, or else to the current one. A digest that is given stays, and the core compares it.

    Raises:
        InputError: the message names the field and the file that cannot be read.
    """
    for path, table in _tables(document, ""):
        name = table.get("module")
        # The core refuses a `module` that is missing or no text: it has the message.
        if not isinstance(name, str):
            continue
        beside = (folder or Path()) / name
        file = Path(name) if not beside.exists() and Path(name).exists() else beside
        try:
            digest = digest_of(file)
        except OSError as error:
            what = error.strerror or "cannot be read"
            raise InputError(f'{path}.module: "{name}": {what}; expected a WebAssembly module') from None
        table["module"] = str(file.resolve())
        table.setdefault("digest", digest)


def digest_of(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def without_places(document: dict[str, Any]) -> dict[str, Any]:
    """A copy of `document` in which modules have their digest only: their place does not change a run."""
    copy: dict[str, Any] = _copied(document)
    for _, table in _tables(copy, ""):
        if "digest" in table:
            table.pop("module", None)
    return copy


def _copied(value: Any) -> Any:  # any value of a document
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def _tables(value: object, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables of the kind `wasm`, with their paths."""
    if isinstance(value, dict):
        if value.get("kind") == _KIND:
            yield path, value
        for key, inner in value.items():
            yield from _tables(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            named = inner.get("name") if isinstance(inner, dict) else None
            ends = f"{inner.get('from')}-{inner.get('to')}" if isinstance(inner, dict) and "from" in inner else index
            yield from _tables(inner, f"{path}.{named or ends}")
