"""Documents as plain JSON values."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from netlull.documents.textfiles import check_text
from netlull.errors import InputError

__all__ = ["entry_name", "fields_of", "plain"]

_DEEPEST = 32
Path = str
"""Keys separated by dots. Entries of arrays go by name (an unnamed link: FROM-TO) or by index."""


def fields_of(element: Any) -> dict[str, object]:
    """The document of a builder element (`Link`, `Tcp`, ...): its set fields, and its `kind`."""
    kind = getattr(type(element), "kind", None)
    document: dict[str, object] = {} if kind is None else {"kind": kind}
    for field in dataclasses.fields(element):
        value = getattr(element, field.name)
        if value is not None:
            document[field.name.rstrip("_")] = value
    return document


def _too_deep(path: Path) -> InputError:
    field = path.partition(".")[0] or "scenario"
    return InputError(f"{field}: is nested too deeply; expected at most {_DEEPEST} tables and lists in one another")


def plain(value: Any, path: Path = "", depth: int = 0) -> Any:
    """`value` in JSON's types: builder elements become tables, tuples lists, NumPy numbers numbers.

    Raises:
        InputError: a value is of another type (a date, NaN, an object), or nested too deeply; names the field.
    """
    if isinstance(value, str) and not value.isascii():
        check_text(path or "scenario", value)
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, numbers.Integral):
        if not -(2**63) <= int(value) < 2**64:
            raise InputError(f"{path or 'scenario'}: {int(value):.3g}; expected a whole number of 64 bits")
        return int(value)
    if isinstance(value, numbers.Real):
        number = float(value)
        if math.isfinite(number):
            return number
        raise InputError(f"{path or 'scenario'}: {number}; expected a finite number")
    value = _as_table(value)
    if depth > _DEEPEST:
        raise _too_deep(path)
    inner = depth + 1
    if isinstance(value, Mapping):
        return {str(key): plain(item, f"{path}.{key}" if path else str(key), inner) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        names = [entry_name(_as_table(item)) or str(index) for index, item in enumerate(value)]
        return [plain(item, f"{path}.{name}" if path else name, inner) for name, item in zip(names, value, strict=True)]
    expected = "expected text, a number, true or false, a list or a table"
    raise InputError(f"{path or 'scenario'}: {value!r} is a {type(value).__name__}; {expected}")


def _as_table(value: Any) -> Any:
    """The fields of a builder element; any other value unchanged."""
    return fields_of(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value


def entry_name(item: object) -> str | None:
    """The name of a list's entry in paths."""
    # A dict first: the general question takes several times as long, and sweeps ask it millions of times.
    if not isinstance(item, dict | Mapping):
        return None
    name, start, end, model = item.get("name"), item.get("from"), item.get("to"), item.get("model")
    if isinstance(name, str):
        return name
    if isinstance(start, str) and isinstance(end, str):
        return f"{start}-{end}"
    return model if isinstance(model, str) else None
