"""Lists of a summary: long ones, read from the core a part at a time, and aggregates over their entries.

Paths such as `link.N1-N2.rate` lead to values of documents and summaries. An aggregate is written as
`max(link.*.utilisation)` or `jain(flow.tcp-*.goodput_bps)`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeGuard, overload

from netlull.documents.plain import entry_name
from netlull.errors import FieldPathError, some
from netlull.renames import hint

__all__ = ["AGGREGATES", "LONG", "Entries", "aggregate", "entries", "get", "is_list", "jain", "keys_to", "listed"]

LONG = 1000
"""The longest list that is read at once, as a plain list."""
_PART = 256


class Entries(Sequence[dict[str, Any]]):
    """The links or flows of a summary if there are many: 40,000 links would take 130 MB as objects.

    Each entry is read when it is used, as a new object. A change of it is not kept.
    """

    def __init__(self, length: int, read: Callable[[int, int], str]) -> None:
        """`read` gives a part of the list as JSON."""
        self._length = length
        self._read = read
        self._first = 0
        self._part: list[dict[str, Any]] = []

    def __len__(self) -> int:
        """The number of entries."""
        return self._length

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """The entry at an index, or a list of those of a slice."""
        places = range(self._length)[index]
        if isinstance(places, range):
            return [self[place] for place in places]
        first = places - places % _PART
        if not self._part or first != self._first:
            self._first, self._part = first, json.loads(self._read(first, first + _PART))
        return self._part[places - first]

    def __eq__(self, other: object) -> bool:
        """True for a list or other entries with equal content."""
        if not is_list(other):
            return NotImplemented
        return len(self) == len(other) and all(own == its for own, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __reduce__(self) -> tuple[type[list[Any]], tuple[list[dict[str, Any]]]]:
        """Copies and pickles the entries as a plain list."""
        return list, (list(self),)

    def __repr__(self) -> str:
        """A short description."""
        return f"<{self._length} entries>"


def entries(length: int, read: Callable[[int, int], str]) -> Sequence[dict[str, Any]]:
    """A list of the summary: a plain list, unless it is long. `read` gives a part of it as JSON."""
    if length > LONG:
        return Entries(length, read)
    whole: list[dict[str, Any]] = json.loads(read(0, length))
    return whole


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """True for a list of a document or a summary."""
    return isinstance(value, list | Entries)


def listed(value: object) -> list[Any]:
    """Long lists as plain lists, for the argument `default` of `json.dumps`.

    Raises:
        TypeError: the value is anything else.
    """
    if isinstance(value, Entries):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index: 1 if all values are equal, 1/n if one is positive and the others are 0; NaN if all are 0.

    Source: R. Jain, D. Chiu, W. Hawe, DEC-TR-301 (1984): (sum x)^2 / (n sum x^2).
    """
    squares = len(values) * sum(value * value for value in values)
    return sum(values) ** 2 / squares if squares else math.nan


AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "jain": jain,
    "max": max,
    "mean": lambda values: sum(values) / len(values),
    "min": min,
    "sum": sum,
}
"""The aggregate functions, by name."""

_CALL = re.compile(rf"({'|'.join(AGGREGATES)})\((.+)\)")


def aggregate(by_path: Mapping[str, Any], path: str) -> float | None:
    """The value of an aggregate such as `max(link.*.utilisation)`; None if the path is plain.

    `*` stands for any part of a name without a dot. The value is NaN if one of the numbers is null or belongs to a null
    download. Its unit is that of the numbers; `jain` has none.

    Raises:
        FieldPathError: nothing matches, or a match is not a number.
    """
    call = _CALL.fullmatch(path)
    if call is None:
        return None
    found = [_number(value, name, path) for name, value in _matching(by_path, call[2].split("."), "")]
    if not found:
        raise FieldPathError(f"{path}: nothing matches {call[2]}; expected names with * for any part of one")
    return math.nan if any(map(math.isnan, found)) else float(AGGREGATES[call[1]](found))


def _matching(node: Any, keys: Sequence[str], above: str) -> Iterator[tuple[str, Any]]:
    """Every entry at `keys`, with its path. A key may be a pattern."""
    if not keys:
        yield above, node
        return
    if node is None and above.endswith(".download"):
        # A null download has unknown parts, not missing ones.
        yield f"{above}.{'.'.join(keys)}", None
        return
    for name, value in _named_entries(node):
        if fnmatchcase(name, keys[0].replace("[", "[[]")):
            yield from _matching(value, keys[1:], f"{above}.{name}" if above else name)


def _named_entries(node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, Mapping):
        yield from node.items()
    elif is_list(node):
        yield from ((entry["name"], entry) for entry in node if isinstance(entry, Mapping) and "name" in entry)


def _number(value: Any, name: str, path: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FieldPathError(f"{path}: {name} is not a number; expected a path to numbers")
    return float(value)


# Paths into documents and summaries.


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
            name = entry_name(item)
            if name is not None and _starts(rest, name):
                found[name] = at
    if not found:
        return None
    name = max(found, key=len)
    if rest[len(name) :] == ".":
        raise _not_dotted(rest)
    return found[name], rest[len(name) + 1 :]


def _not_dotted(path: str) -> FieldPathError:
    return FieldPathError(f'"{path}": expected keys separated by dots, such as link.N1-N2.rate')


def _refuse(path: str, rest: str, node: object) -> FieldPathError:
    wanted = rest.partition(".")[0]
    where = path[: len(path) - len(rest)].rstrip(".") or "the scenario"
    if is_list(node):
        names = [name for name in map(entry_name, node) if name is not None] or [f"0 to {len(node) - 1}"]
        listed = f"expected one of {some(names)}" if node else "it has no entries"
        return FieldPathError(f'{path}: "{wanted}" is not an entry of {where}; {listed}')
    if isinstance(node, Mapping):
        listed = ", ".join(map(str, node)) or "nothing"
        renamed = hint(wanted, [str(key) for key in node])
        why = f"{renamed}; " if renamed else ""
        return FieldPathError(f'{path}: "{wanted}" is not a field of {where}; {why}it has {listed}')
    return FieldPathError(f"{path}: {where} holds {node!r}, which has no fields")


def get(document: object, path: str) -> Any:
    """The value at `path`.

    Raises:
        FieldPathError: the path leads nowhere; the message lists the existing keys.
    """
    node: Any = document
    for key in keys_to(document, path):
        node = node[key]
    return node


def keys_to(document: object, path: str) -> list[str | int]:
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
