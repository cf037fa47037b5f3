"""Aggregates over entries of a summary: `max(link.*.utilisation)`, `jain(flow.tcp-*.goodput_bps)`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from netlull.entries import is_list
from netlull.errors import FieldPathError

__all__ = ["AGGREGATES", "aggregate", "jain"]


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
    for name, value in _entries(node):
        if fnmatchcase(name, keys[0].replace("[", "[[]")):
            yield from _matching(value, keys[1:], f"{above}.{name}" if above else name)


def _entries(node: Any) -> Iterator[tuple[str, Any]]:
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
