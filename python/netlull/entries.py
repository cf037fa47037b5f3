"""Long lists of a summary, read from the core a part at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, overload

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LONG", "Entries", "entries", "is_list", "listed"]

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
