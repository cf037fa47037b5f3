"""Scenario documents as plain JSON values, and paths into them: `link.N1-N2.controller.min_interval`."""

from __future__ import annotations

import dataclasses
import math
import numbers
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from netlull.entries import is_list
from netlull.errors import FieldPathError, InputError, some
from netlull.textfiles import check_text

__all__ = ["fields_of", "get", "keys_to", "parse_setting", "plain", "put", "read_toml", "remove"]

_DEEPEST = 32
_ONE_WAY = frozenset({"capacity", "controller", "loss", "noise"})
"""Fields of a duplex link that its reverse link does not have."""

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


class _NotFiniteError(InputError):
    """A number is infinite or NaN."""


class _TooDeepError(InputError):
    """Tables and lists are nested too deeply, or without end."""


def _too_deep(path: Path) -> _TooDeepError:
    field = path.partition(".")[0] or "scenario"
    return _TooDeepError(f"{field}: is nested too deeply; expected at most {_DEEPEST} tables and lists in one another")


def read_toml(text: str, origin: str) -> dict[str, Any]:
    """The document in TOML text, as plain values.

    Raises:
        InputError: the text is not TOML or is nested too deeply; the message starts with `origin`.
    """
    try:
        _refuse_deep_keys(text)
        document: dict[str, Any] = plain(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{origin}: is not TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{origin}: {_too_deep('')}") from None
    except InputError as error:
        raise InputError(f"{origin}: {error}") from None
    return document


_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_KEY = re.compile(r"[\s\[{]*[\w-]+\s*")


def _refuse_deep_keys(text: str) -> None:
    """Refuses a dotted key of many parts, for which the TOML parser needs quadratic time.

    Raises:
        InputError: a key has more parts than tables may be nested.
    """
    for line in text.splitlines():
        if line.count(".") <= _DEEPEST:
            continue
        length = 0
        for part in _QUOTED.sub("q", line).split("."):
            length = length + 1 if _KEY.fullmatch(part) else 0
            if length > 2 * _DEEPEST:
                raise _too_deep("")


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
        raise _NotFiniteError(f"{path or 'scenario'}: {number}; expected a finite number")
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


def parse_setting(setting: str) -> tuple[Path, object]:
    """Splits `path=value`. A value in TOML syntax is parsed; any other value is text.

    Raises:
        InputError: there is no `=`, no path before it, the value is nested too deeply, or a number is not finite.
    """
    check_text("--set", setting)
    path, equals, text = setting.partition("=")
    path, text = path.strip(), text.strip()
    if not equals or not path:
        raise InputError(f'--set "{setting}": expected path=value, such as link.N1-N2.rate="10 Mb/s"')
    return path, _toml_value(text, path)


def _toml_value(text: str, path: Path) -> object:
    if "\n" in text:
        return text
    try:
        _refuse_deep_keys(text)
        value = tomllib.loads(f"value = {text}\n")["value"]
        return plain(value, path)
    except (RecursionError, _TooDeepError):
        raise _too_deep(path) from None
    except _NotFiniteError:
        raise
    except (tomllib.TOMLDecodeError, InputError):
        return text


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


def _duplex_of(links: Sequence[object], rest: str) -> tuple[str, str] | None:
    """The reverse link at the start of `rest`, and its duplex link; None if it names no reverse link."""
    for link in links:
        if isinstance(link, Mapping) and link.get("duplex") is True:
            way_back = f"{link.get('to')}-{link.get('from')}"
            name = _entry_name(link)
            if name is not None and (rest == way_back or rest.startswith(f"{way_back}.")):
                return way_back, name
    return None


def _refuse(path: Path, rest: str, node: object) -> FieldPathError:
    wanted = rest.partition(".")[0]
    where = path[: len(path) - len(rest)].rstrip(".") or "the scenario"
    if is_list(node):
        duplex = _duplex_of(node, rest)
        if duplex is not None:
            way_back, link = duplex
            apart = f"remove duplex from {link} and write {way_back} as a link of its own"
            field = rest[len(way_back) + 1 :].partition(".")[0]
            told = (
                f"{apart}: {field} is for one direction"
                if field in _ONE_WAY
                else f"set it at {link}, for both directions, or {apart}"
            )
            return FieldPathError(
                f'{path}: "{way_back}" is the reverse direction of the duplex link {link}; expected: {told}'
            )
        names = [name for name in map(_entry_name, node) if name is not None] or [f"0 to {len(node) - 1}"]
        listed = f"expected one of {some(names)}" if node else "it has no entries"
        return FieldPathError(f'{path}: "{wanted}" is not an entry of {where}; {listed}')
    if isinstance(node, Mapping):
        listed = ", ".join(map(str, node)) or "nothing"
        return FieldPathError(f'{path}: "{wanted}" is not a field of {where}; it has {listed}')
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


def _parent(document: dict[str, Any], path: Path, *, create: bool) -> tuple[Any, str | int] | None:
    """The table or list with the last part of `path`, and its key there; None if it does not exist."""
    node: Any = document
    rest = path
    while True:
        step = _step(node, rest)
        if step is None:
            if not isinstance(node, dict):
                raise _refuse(path, rest, node)
            if "" in rest.split("."):
                raise _not_dotted(path)
            key, _, after = rest.partition(".")
            if not create:
                return None
            if after:
                node[key] = {}
            step = (key, after)
        here, rest = step
        if not rest:
            return node, here
        node = node[here]


def put(document: dict[str, Any], path: Path, value: object) -> None:
    """Sets the value at `path` in `document` and creates missing tables.

    Raises:
        FieldPathError: an array entry does not exist, or a value in the path is not a table.
    """
    found = _parent(document, path, create=True)
    if found is not None:
        node, key = found
        node[key] = plain(value, path)


def remove(document: dict[str, Any], path: Path) -> None:
    """Removes the value at `path` from `document`, if present.

    Raises:
        FieldPathError: an array entry in the path does not exist.
    """
    found = _parent(document, path, create=False)
    if found is not None:
        node, key = found
        if isinstance(node, dict):
            node.pop(key, None)
        else:
            del node[key]
