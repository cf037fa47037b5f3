"""XML from untrusted sources, without document types, entities or fetching. Each element knows its line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat

from netlull.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Element", "parse"]

_DEEPEST = 32
"""The deepest nesting of elements: SNDlib and GraphML need seven levels."""
_MOST = 400_000
"""The most elements of a document: enough for 100,000 links."""


@dataclass(slots=True)
class Element:
    """An element of a document, without its namespace."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text in it, without that of its children."""
        return "".join(self.parts)

    def all(self, tag: str) -> Iterator[Element]:
        """The children with this name."""
        return (child for child in self.children if child.tag == tag)

    def first(self, *tags: str) -> Element | None:
        """The first element along a path of names."""
        found: Element | None = self
        for tag in tags:
            found = None if found is None else next(found.all(tag), None)
        return found

    def content(self, *tags: str) -> str | None:
        """The text of the first element along a path of names, on one line."""
        found = self.first(*tags)
        return None if found is None else " ".join(found.text.split())


class _Builder:
    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data
        self.open: list[Element] = []
        self.root: Element | None = None
        self.count = 0

    def wrong(self, message: str) -> InputError:
        return InputError(f"{self.origin}, line {self.parser.CurrentLineNumber}: {message}")

    def _doctype(self, *_: object) -> None:
        # Entities can be declared only in a document type: without one, nothing can be expanded or fetched.
        raise self.wrong("has a document type; expected XML without <!DOCTYPE>")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open) >= _DEEPEST:
            raise self.wrong(f"is nested too deeply; expected at most {_DEEPEST} elements in one another")
        self.count += 1
        if self.count > _MOST:
            raise self.wrong(f"has more than {_MOST:,} elements; expected a network")
        element = Element(name.rpartition(" ")[2], attributes, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def _end(self, _name: str) -> None:
        self.open.pop()

    def _data(self, text: str) -> None:
        self.open[-1].parts.append(text)


def parse(content: bytes, origin: str) -> Element:
    """The root of an XML document.

    Raises:
        InputError: the document is not XML, has a document type or is nested too deeply; the message names the line.
    """
    builder = _Builder(origin)
    try:
        builder.parser.Parse(content, True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise InputError(f"{origin}, line {error.lineno}: is no XML: {why}") from None
    except (LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{origin}: is in an encoding that cannot be read: {error}; expected UTF-8") from None
    if builder.root is None:
        raise InputError(f"{origin}: is empty; expected a topology")
    return builder.root
