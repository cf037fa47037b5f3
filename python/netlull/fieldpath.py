"""Scenario documents as plain JSON values, and paths into them: `link.N1-N2.controller.min_interval`."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from netlull.entries import is_list
from netlull.errors import FieldPathError, InputError, some
from netlull.renames import hint

__all__ = ["fields_of", "get", "keys_to", "plain"]

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
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, numbers.Integral):
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
        names = [_entry_name(_as_table(item)) or str(index) for index, item in enumerate(value)]
        return [plain(item, f"{path}.{name}" if path else name, inner) for name, item in zip(names, value, strict=True)]
    expected = "expected text, a number, true or false, a list or a table"
    raise InputError(f"{path or 'scenario'}: {value!r} is a {type(value).__name__}; {expected}")


def _as_table(value: Any) -> Any:
    """The fields of a builder element; any other value unchanged."""
    return fields_of(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value


def _entry_name(item: object) -> str | None:
    # A dict first: the general question takes several times as long, and sweeps ask it millions of times.
    if not isinstance(item, dict | Mapping):
        return None
    name, start, end, model = item.get("name"), item.get("from"), item.get("to"), item.get("model")
    if isinstance(name, str):
        return name
    if isinstance(start, str) and isinstance(end, str):
        return f"{start}-{end}"
    return model if isinstance(model, str) else None


def _starts(rest: str, name: str) -> bool:
    """True if `name` is the first part of `rest`, or all of it."""
    return rest.startswith(name) and (len(rest) == len(name) or rest[len(name)] == ".")


def _step(node: object, rest: str) -> tuple[str | int, str] | None:
    """The first key in `rest`, and the remainder. Names may contain dots: the longest match wins."""
    found: dict[str, str | int] = {}
    if isinstance(node, Mapping):
        found = {key: key for key in node if _starts(rest, key)}
    elif is_list(node):
        found = {str(at): at for at in range(len(node)) if _starts(rest, str(at))}
        for at, item in enumerate(node):
            name = _entry_name(item)
            if name is not None and _starts(rest, name):
                found[name] = at
    if not found:
        return None
    name = max(found, key=len)
    if rest[len(name) :] == ".":
        raise _not_dotted(rest)
    return found[name], rest[len(name) + 1 :]


def _not_dotted(path: Path) -> FieldPathError:
    return FieldPathError(f'"{path}": expected keys separated by dots, such as link.N1-N2.rate')


def _refuse(path: Path, rest: str, node: object) -> FieldPathError:
    wanted = rest.partition(".")[0]
    where = path[: len(path) - len(rest)].rstrip(".") or "the scenario"
    if is_list(node):
        names = [name for name in map(_entry_name, node) if name is not None] or [f"0 to {len(node) - 1}"]
        listed = f"expected one of {some(names)}" if node else "it has no entries"
        return FieldPathError(f'{path}: "{wanted}" is not an entry of {where}; {listed}')
    if isinstance(node, Mapping):
        listed = ", ".join(map(str, node)) or "nothing"
        renamed = hint(wanted, [str(key) for key in node])
        why = f"{renamed}; " if renamed else ""
        return FieldPathError(f'{path}: "{wanted}" is not a field of {where}; {why}it has {listed}')
    return FieldPathError(f"{path}: {where} holds {node!r}, which has no fields")


def get(document: object, path: Path) -> Any:
    """The value at `path`.

    Raises:
        FieldPathError: the path leads nowhere; the message lists the existing keys.
    """
    node: Any = document
    for key in keys_to(document, path):
        node = node[key]
    return node


def keys_to(document: object, path: Path) -> list[str | int]:
    """The keys and indices from `document` to `path`, in order.

    Raises:
        FieldPathError: the path leads nowhere; the message lists the existing keys.
    """
    node, rest = document, path
    keys: list[str | int] = []
    while rest:
        step = _step(node, rest)
        if step is None:
            raise _refuse(path, rest, node)
        key, rest = step
        keys.append(key)
        node = node[key]  # type: ignore[index]  # _step only answers for mappings and lists
    return keys
