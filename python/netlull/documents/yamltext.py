"""YAML text as plain values that know their lines. Every scalar is text: `model: 7050` stays "7050"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from netlull.errors import InputError

__all__ = ["Yaml", "read_yaml"]

_DEEPEST = 16
_MOST_NODES = 100_000
_LONGEST_NAME = 100
"""Characters of a name in a message."""
_NULLS = ("", "~", "null", "Null", "NULL")
"""Plain scalars without a value (YAML 1.2.2, section 10.3.2)."""


@dataclass(frozen=True)
class Yaml:
    """A value of a YAML document."""

    value: str | Sequence[Yaml] | Mapping[str, Yaml] | None
    line: int


def read_yaml(text: str, name: str) -> Yaml:
    """The only document of a text. It is read event by event, so no value can refer to another or name a class.

    Raises:
        InputError: the text is no YAML, has an alias, an anchor, a tag, a key twice or a second document, or is too
            deep or too large; the message has the name and the line.
    """
    try:
        # The parser in C, where PyYAML has it.
        events: Iterator[Any] = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return _Reader(name, events).document()
    except yaml.reader.ReaderError as error:
        raise InputError(f"{name}: is not YAML: {error.reason}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = name if mark is None else f"{name}, line {mark.line + 1}"
        raise InputError(f"{where}: is not YAML: {error.problem or error.context}") from None


class _Reader:
    def __init__(self, name: str, events: Iterator[Any]) -> None:
        self._name = name
        self._events = events
        self._nodes = 0

    def document(self) -> Yaml:
        """The document."""
        while not isinstance(event := next(self._events), yaml.DocumentStartEvent):
            if isinstance(event, yaml.StreamEndEvent):
                raise InputError(f"{self._name}: is empty; expected YAML")
        root = self._node(next(self._events), 0)
        next(self._events)
        if isinstance(event := next(self._events), yaml.DocumentStartEvent):
            raise self._error(event, "has a second document; expected one")
        return root

    def _node(self, event: Any, depth: int) -> Yaml:
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise self._error(event, f"has too many values; expected at most {_MOST_NODES:,}")
        if depth > _DEEPEST:
            raise self._error(event, f"is nested too deeply; expected at most {_DEEPEST} lists and mappings")
        if isinstance(event, yaml.AliasEvent):
            raise self._error(event, f"has the alias *{event.anchor[:_LONGEST_NAME]}; expected the value itself")
        if event.anchor is not None:
            raise self._error(event, f"has the anchor &{event.anchor[:_LONGEST_NAME]}; expected none")
        if event.tag is not None:
            raise self._error(event, f"has the tag {event.tag[:_LONGEST_NAME]}; expected none")
        line = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            return Yaml(None if event.implicit[0] and event.value in _NULLS else event.value, line)
        if isinstance(event, yaml.SequenceStartEvent):
            return Yaml([self._node(item, depth + 1) for item in self._until(yaml.SequenceEndEvent)], line)
        found: dict[str, Yaml] = {}
        for item in self._until(yaml.MappingEndEvent):
            key = self._node(item, depth + 1).value
            if not isinstance(key, str):
                raise self._error(item, "has a key that is no text; expected a name")
            if key in found:
                raise self._error(item, f"{key[:_LONGEST_NAME]}: is twice in a mapping; expected it once")
            found[key] = self._node(next(self._events), depth + 1)
        return Yaml(found, line)

    def _until(self, end: type) -> Iterator[Any]:
        while not isinstance(event := next(self._events), end):
            yield event

    def _error(self, event: Any, text: str) -> InputError:
        return InputError(f"{self._name}, line {event.start_mark.line + 1}: {text}")
