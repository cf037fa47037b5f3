"""Reading a paper's TOML files so that an error names the file, the field and the value; and writing plain data."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class PaperError(InputError):
    """A paper folder is wrong, or what was asked of it cannot be done; one line, for the user."""


class Fields:
    """The fields of one table; `close()` refuses those nobody asked for."""

    def __init__(self, file: Path, where: str, data: Mapping[str, Any]) -> None:
        self.file = file
        self.where = where
        self.data = data
        self._seen: set[str] = set()

    def wrong(self, field: str, message: str) -> PaperError:
        """An error about one field."""
        path = f"{self.where}.{field}" if self.where else field
        return PaperError(f"{self.file.parent.name}/{self.file.name}: {path}: {message}")

    def _take(self, field: str) -> Any:
        self._seen.add(field)
        return self.data.get(field)

    def text(self, field: str, default: str | None = None) -> str:
        """A text that is not empty, unless a default allows it to be left out."""
        value = self._take(field)
        if value is None and default is not None:
            return default
        if value is None:
            raise self.wrong(field, "is missing; expected text")
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(field, f"is {_shown(value)}; expected text")
        return " ".join(value.split()) if "\n" in value else value

    def number(self, field: str) -> float:
        """A number."""
        value = self._take(field)
        if value is None:
            raise self.wrong(field, "is missing; expected a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(field, f"is {_shown(value)}; expected a number")
        return float(value)

    def whole(self, field: str, least: int = 0) -> int:
        """A whole number of at least `least`."""
        value = self._take(field)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.wrong(field, f"is {_shown(value)}; expected a whole number of at least {least}")
        return value

    def texts(self, field: str) -> list[str]:
        """A list of texts; left out, it is empty."""
        value = self._take(field)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(field, f"is {_shown(value)}; expected a list of texts")
        return list(value)

    def mapping(self, field: str) -> dict[str, Any]:
        """A table of anything; left out, it is empty."""
        value = self._take(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.wrong(field, f"is {_shown(value)}; expected a table")
        return dict(value)

    def table(self, field: str) -> Fields:
        """A table with known fields; left out, it is empty."""
        return Fields(self.file, f"{self.where}.{field}" if self.where else field, self.mapping(field))

    def names(self) -> list[str]:
        """The fields that are there."""
        return list(self.data)

    def tables(self, field: str, name: str) -> list[Fields]:
        """A list of tables, each named in errors by its field `name`; names must differ."""
        value = self._take(field)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(field, f"is {_shown(value)}; expected a list of tables")
        found: list[Fields] = []
        names: set[str] = set()
        for index, item in enumerate(value):
            label = item.get(name)
            path = f"{field}.{label}" if isinstance(label, str) and label else f"{field}.{index}"
            if label in names:
                raise self.wrong(path, f'"{label}" appears twice')
            if isinstance(label, str):
                names.add(label)
            found.append(Fields(self.file, f"{self.where}.{path}" if self.where else path, item))
        return found

    def close(self) -> None:
        """Refuses fields that were never asked for."""
        unknown = sorted(set(self.data) - self._seen)
        if unknown:
            known = ", ".join(sorted(self._seen))
            raise self.wrong(unknown[0], f"is unknown; expected one of: {known}")


def read(path: Path) -> Fields:
    """The top table of a TOML file."""
    return Fields(path, "", read_data(path))


def read_data(path: Path) -> dict[str, Any]:
    """A TOML file as plain data."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PaperError(f"{path.parent.name}/{path.name}: the file is missing") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PaperError(f"{path.parent.name}/{path.name}: is not valid TOML: {error}") from None


def written(data: Mapping[str, Any]) -> str:
    """Plain data as TOML: one line for each field, and for each table in a list."""
    lines: list[str] = []
    for key, value in data.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            lines.append(f"{_key(key)} = [")
            lines += [f"    {_value(item)}," for item in value]
            lines.append("]")
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    return "\n".join(lines) + "\n"


def _key(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, str | bool | int | float):
        return json.dumps(value, ensure_ascii=False)
    raise TypeError(f"{value!r} cannot be written as TOML")


def _shown(value: Any) -> str:
    if value is None:
        return "missing"
    return json.dumps(value, default=str) if isinstance(value, str | int | float | bool | list | dict) else repr(value)
