"""Plain data as structs. An error names the field by its path, its value and the expected value."""

from __future__ import annotations

import copy
import json
import re
import threading
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from msgspec import inspect

from netlull.errors import InputError, near

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Document", "FieldError", "Text", "decode", "loads"]

_T = TypeVar("_T")

Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
"""Non-empty text."""


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table with known fields. The meta data `expected` of a field replaces its type in error messages."""


class FieldError(InputError):
    """An invalid field. `__post_init__` of a struct raises it with a path inside the struct."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


_CONVERTING = threading.RLock()
"""msgspec 0.22 prepares a kind when it is first used. Two threads at once would end the process."""


def _converted(data: object, kind: type[_T]) -> _T:
    with _CONVERTING:
        return msgspec.convert(data, kind)


def decode(data: object, kind: type[_T]) -> _T:
    """The data as a struct of this kind.

    Raises:
        FieldError: a field is missing, unknown or invalid.
        InputError: a struct refuses its values.
    """
    try:
        return _converted(data, kind)
    except msgspec.ValidationError as error:
        raise _explained(error, data, kind) from None


_LARGEST = 1e100
"""No number of a result is larger. Sums and squares of such numbers stay finite."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def loads(raw: bytes) -> Any:
    """The JSON in a stored file. Its numbers are finite, and its text has an encoding.

    Raises:
        ValueError: it is no such JSON, or nested too deeply.
    """
    try:
        found = json.loads(raw, parse_int=_whole, parse_float=_number, parse_constant=_number)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if _SURROGATE.search(raw):
        json.dumps(found, ensure_ascii=False).encode()
    return found


def _whole(text: str) -> int:
    _number(text)
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if not abs(number) < _LARGEST:
        raise ValueError(f"{text[:20]} is no number of a result")
    return number


_PLACE = re.compile(r"(?P<what>.*?)(?: - at (?:`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<field>\w+)|\[(?P<index>\d+|\.\.\.)\]")
_FIELD = re.compile(r"Object (?P<lack>missing required|contains unknown) field `(?P<name>.*)`", re.DOTALL)


def _explained(error: msgspec.ValidationError, data: object, kind: type) -> InputError:
    """The error in the words of the document."""
    found = _PLACE.fullmatch(str(error))
    keys = list(_keys(found["path"] or "", data, kind, str(error))) if found else []
    cause = error.__cause__
    if isinstance(cause, FieldError):
        return FieldError(".".join(filter(None, [_path(data, keys), cause.path])), cause.message)
    if isinstance(cause, InputError):
        return cause
    field = _FIELD.fullmatch(found["what"]) if found else None
    if field is None:
        return FieldError(_path(data, keys), f"is {_shown(_at(data, keys))}; expected {_words(_type_at(kind, keys))}")
    path = ".".join(filter(None, [_path(data, keys), field["name"]]))
    if field["lack"] == "missing required":
        return FieldError(path, f"is missing; expected {_words(_type_at(kind, [*keys, field['name']]))}")
    known = _member(_type_at(kind, keys), inspect.StructType)
    return FieldError(path, f"is unknown; {near(field['name'], [one.encode_name for one in known.fields])}")


def _keys(path: str, data: object, kind: type, message: str) -> Iterator[str | int]:
    """The keys and indices of msgspec's path into the data."""
    keys: list[str | int] = []
    for step in _STEP.finditer(path):
        key: str | int
        if step["field"]:
            key = step["field"]
        elif step["index"] != "...":
            key = int(step["index"])
        else:
            key = _culprit(data, keys, kind, message)
        keys.append(key)
        yield key


def _culprit(data: object, keys: Sequence[str | int], kind: type, message: str) -> str:
    """The key in a table of arbitrary keys, which msgspec does not name: alone, it gives the same error."""
    for name in _at(data, keys):
        alone = copy.deepcopy(data)
        table = _at(alone, keys)
        for other in [key for key in table if key != name]:
            del table[other]
        try:
            _converted(alone, kind)
        except msgspec.ValidationError as error:
            if str(error) == message:
                return str(name)
    return "..."


def _at(data: Any, keys: Sequence[str | int]) -> Any:
    for key in keys:
        data = data[key]
    return data


def _path(data: object, keys: Sequence[str | int]) -> str:
    """The path as users write it: entries of lists by their names."""
    parts = []
    for depth, key in enumerate(keys):
        entry = _at(data, keys[: depth + 1])
        named = (entry.get("id") or entry.get("name")) if isinstance(key, int) and isinstance(entry, dict) else None
        parts.append(named if isinstance(named, str) and named else str(key))
    return ".".join(parts)


def _type_at(kind: type, keys: Sequence[str | int]) -> inspect.Type:
    """The type of the field at these keys."""
    found: inspect.Type = inspect.type_info(kind)
    for key in keys:
        if isinstance(key, int):
            found = _member(found, inspect.ListType | inspect.VarTupleType).item_type
            continue
        table = _member(found, inspect.StructType | inspect.DictType)
        if isinstance(table, inspect.DictType):
            found = table.value_type
        else:
            found = next(field.type for field in table.fields if field.encode_name == key)
    return found


def _member(found: inspect.Type, kinds: Any) -> Any:
    """The type, or the member of a union, that is of these kinds."""
    while isinstance(found, inspect.Metadata):
        found = found.type
    types = found.types if isinstance(found, inspect.UnionType) else (found,)
    return next(one for one in types if isinstance(one, kinds))


_WORDS: dict[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.StructType: "a table",
    inspect.DictType: "a table",
}
_SEVERAL = {"text": "texts", "a number": "numbers", "a table": "tables"}


def _words(found: inspect.Type) -> str:
    """The values that a type accepts, in words."""
    match found:
        case inspect.Metadata(type=inner, extra=extra):
            return str((extra or {}).get("expected") or _words(inner))
        case inspect.UnionType(types=types):
            words = [_words(one) for one in types if not isinstance(one, inspect.NoneType)]
            return " or ".join(dict.fromkeys(words))
        case inspect.LiteralType(values=values):
            return ("one of " if len(values) > 1 else "") + ", ".join(map(str, values))
        case inspect.IntType(ge=least):
            return "a whole number" + ("" if least is None else f" of at least {least}")
        case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
            several = _SEVERAL.get(_words(item))
            return f"a list of {several}" if several else "a list"
    return _WORDS.get(type(found), "a value")


_LONGEST = 80
"""The longest value that an error shows, in characters."""


def _shown(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
