"""Typed parameters of classes that users write: annotations with defaults, units and ranges."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import operator
import sys
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from netlull.quantities import in_unit

__all__ = [
    "Data",
    "Duration",
    "Parameter",
    "ParameterDefault",
    "Rate",
    "RefusedError",
    "param",
    "parameters_of",
    "shown",
]

Rate = Annotated[float, "b/s"]
"""A parameter in bits per second; a scenario gives text such as "10 Mb/s"."""

Duration = Annotated[float, "s"]
"""A parameter in seconds; a scenario gives text such as "40 ms"."""

Data = Annotated[float, "B"]
"""A parameter in bytes; a scenario gives text such as "1500 B"."""

_EXAMPLES = {"b/s": "10 Mb/s", "s": "40 ms", "B": "1500 B"}
_REQUIRED: Any = object()


class RefusedError(Exception):
    """A value that a plug-in does not take: the field, the value and the expected values."""

    def __init__(self, field: str, value: str, expected: str) -> None:
        super().__init__(f"{field}: is {value}; expected {expected}")
        self.refusal = (field, value, expected)


@dataclass(frozen=True)
class ParameterDefault:
    """The default, the range and the description of a parameter."""

    value: Any
    least: float | str | None
    most: float | str | None
    above: float | str | None
    doc: str


def param(
    default: Any = _REQUIRED,
    *,
    least: float | str | None = None,
    most: float | str | None = None,
    above: float | str | None = None,
    doc: str = "",
) -> Any:
    """A parameter with a range and a description: `gain: float = netlull.param(2, above=0, doc="The gain.")`.

    Args:
        default: the default; without one, a scenario must give the value.
        least: the least value, as a number or as text with a unit.
        most: the largest value.
        above: a bound that the value must exceed.
        doc: a description for `netlull list`.
    """
    return ParameterDefault(default, least, most, above, doc)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a class."""

    name: str
    type: Any
    """float, int, str, bool, or a tuple of words."""
    unit: str | None
    is_list: bool
    is_optional: bool
    default: ParameterDefault

    @property
    def is_required(self) -> bool:
        """True without a default."""
        return self.default.value is _REQUIRED

    def read(self, value: object) -> Any:
        """The value as its class sees it.

        Raises:
            RefusedError: the value has another type, or is out of range.
        """
        if value is None and self.is_optional:
            return None
        if self.is_list:
            if isinstance(value, str) or not isinstance(value, Sequence):
                raise RefusedError(self.name, shown(value), f"a list of {self.expected()}")
            return tuple(self._single(each) for each in value)
        return self._single(value)

    def written(self, value: object) -> object:
        """The value as a document gives it: quantities carry their unit."""
        if self.is_list and isinstance(value, Sequence) and not isinstance(value, str):
            return [self._written(each) for each in value]
        return self._written(value)

    def _written(self, value: object) -> object:
        return f"{value!r} {self.unit}" if self._is_bare(value) else value

    def check_units(self, value: object) -> None:
        """Refuses quantities of a document that have no unit.

        Raises:
            RefusedError: names the value.
        """
        for each in value if self.is_list and isinstance(value, list) else [value]:
            if self._is_bare(each):
                raise RefusedError(self.name, shown(each), self.expected())

    def _is_bare(self, value: object) -> bool:
        """True for a number where quantities have a unit."""
        return self.unit is not None and isinstance(value, int | float) and not isinstance(value, bool)

    def _single(self, value: object) -> Any:
        read = self._typed(value)
        if read is None:
            raise RefusedError(self.name, shown(value), self.expected())
        self._check(value, read)
        return read

    def _typed(self, value: object) -> Any:
        """The value in its type; None if it has another."""
        if self.unit is not None and isinstance(value, str):
            return in_unit(value, self.unit)
        if isinstance(self.type, tuple):
            return value if value in self.type else None
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if isinstance(value, self.type) and (self.type is bool or not isinstance(value, bool)):
            return None if isinstance(value, float) and not math.isfinite(value) else value
        return None

    def is_bound(self, bound: object) -> bool:
        """True if values compare with a bound."""
        return self.type in {float, int} and self._typed(bound) is not None

    def _check(self, given: object, value: Any) -> None:
        default = self.default
        bounds = (
            ("at least", default.least, operator.ge),
            ("at most", default.most, operator.le),
            ("more than", default.above, operator.gt),
        )
        for words, bound, holds in bounds:
            if bound is not None and not holds(value, self._typed(bound)):
                raise RefusedError(self.name, shown(given), f"{words} {self._with_unit(bound)}")

    def _with_unit(self, bound: float | str) -> str:
        if isinstance(bound, str):
            return bound
        return f"{bound:g}" if self.unit is None else f"{bound:g} {self.unit}"

    def expected(self) -> str:
        """The expected values."""
        if self.unit is not None:
            return f'a quantity with a unit, such as "{_EXAMPLES[self.unit]}"'
        if isinstance(self.type, tuple):
            return "one of " + ", ".join(f'"{word}"' for word in self.type)
        words: dict[type, str] = {float: "a number", int: "a whole number", str: "text", bool: "true or false"}
        return words[self.type]

    def described(self) -> dict[str, str]:
        """The parameter as `netlull list` shows it."""
        kind = " | ".join(self.type) if isinstance(self.type, tuple) else self.type.__name__
        default = self.default.value
        text = "must be given" if default is _REQUIRED else "none" if default is None else str(default)
        unit = self.unit or kind
        return {"name": self.name, "unit": unit, "default": text, "description": self.default.doc, "source": "own"}


def shown(value: object) -> str:
    """A value as a scenario gives it."""
    return json.dumps(value, ensure_ascii=False, default=repr)


@functools.cache
def parameters_of(cls: type, root: type, reserved: frozenset[str]) -> dict[str, Parameter]:
    """The parameters of a class by name: the annotations of the class and of its bases, down from `root`.

    Raises:
        TypeError: an annotation is no type of a parameter, or a name is reserved.
    """
    found: dict[str, Parameter] = {}
    for base in reversed(cls.__mro__):
        if not issubclass(base, root):
            continue
        for name, hint in vars(base).get("__annotations__", {}).items():
            resolved = _resolved(base, name, hint)
            if not name.startswith("_") and ClassVar not in {resolved, typing.get_origin(resolved)}:
                if name in reserved:
                    what = f"{base.__qualname__}.{name}"
                    raise TypeError(f"{what}: is an option of the scenario's own; expected another name")
                what = f"{base.__qualname__}.{name}"
                before, found[name] = found.get(name), _parameter(cls, base, name, resolved)
                if before is not None and _kind(before) != _kind(found[name]):
                    raise TypeError(f"{what}: has another type than in the base class; expected the same type")
                _check_bounds(what, found[name])
    return found


def _kind(parameter: Parameter) -> tuple[Any, ...]:
    return parameter.type, parameter.unit, parameter.is_list


def _resolved(base: type, name: str, hint: Any) -> Any:
    """The type in an annotation, which may be text."""
    if not isinstance(hint, str):
        return hint
    module = vars(base).get("_module") or sys.modules.get(base.__module__)
    try:
        return eval(hint, dict(vars(module)) if module else {}, dict(vars(base)))  # noqa: S307  # as `get_type_hints`
    except Exception as error:
        raise TypeError(f"{base.__qualname__}.{name}: its type cannot be read: {error}") from error


def _parameter(cls: type, base: type, name: str, hint: Any) -> Parameter:
    given = getattr(cls, name, _REQUIRED)
    # A class may give a parameter of its base another default; the range stays.
    ranges = (vars(each)[name] for each in cls.__mro__ if isinstance(vars(each).get(name), ParameterDefault))
    default = next(ranges, ParameterDefault(_REQUIRED, None, None, None, ""))
    if not isinstance(given, ParameterDefault):
        default = dataclasses.replace(default, value=given)
    where = f"{base.__qualname__}.{name}"
    is_optional, hint = _without_none(hint)
    is_list = typing.get_origin(hint) in {list, tuple, Sequence}
    if is_list:
        hint = typing.get_args(hint)[0]
    unit = None
    if typing.get_origin(hint) is Annotated:
        kind, unit = typing.get_args(hint)[:2]
    elif typing.get_origin(hint) is Literal:
        kind = typing.get_args(hint)
    else:
        kind = hint
    if not (isinstance(kind, tuple) or kind in {float, int, str, bool}) or unit not in {None, *_EXAMPLES}:
        types = "float, int, str, bool, netlull.Rate, netlull.Duration, netlull.Data, Literal, or a list of them"
        raise TypeError(f"{where}: has the type {hint}; expected {types}")
    return Parameter(name, kind, unit, is_list, is_optional or default.value is None, default)


def _check_bounds(where: str, parameter: Parameter) -> None:
    default = parameter.default
    for words, bound in (("least", default.least), ("most", default.most), ("above", default.above)):
        if bound is not None and not parameter.is_bound(bound):
            expected = parameter.expected() if parameter.type in {float, int} else "no bound of such a type"
            raise TypeError(f"{where}: has {words}={bound!r}; expected {expected}")


def _without_none(hint: Any) -> tuple[bool, Any]:
    """Returns True if None is allowed, and the rest of the type."""
    parts = typing.get_args(hint)
    if type(None) not in parts:
        return False, hint
    rest = [part for part in parts if part is not type(None)]
    return True, rest[0] if len(rest) == 1 else hint
