"""What a report page is made of, and its HTML."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup

from netlull.output import staged_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Fact:
    """A name and a value, for the manifest and the head of the page."""

    name: str
    value: str


@dataclass(frozen=True)
class ClaimPart:
    """One measured part of a claim."""

    holds: bool
    text: str


@dataclass(frozen=True)
class ClaimRow:
    """A claim, the paper's result and ours, and the verdict: holds, partly or fails."""

    id: str
    title: str
    statement: str
    where: str
    theirs: str
    measured: str
    parts: Sequence[ClaimPart]
    verdict: str
    explanation: str


@dataclass(frozen=True)
class ReadingRow:
    """A reading: question, choice, reason and what the alternatives do."""

    id: str
    question: str
    choice: str
    reason: str
    effect: str
    alternatives: Sequence[Fact] = ()


@dataclass(frozen=True)
class FigureBlock:
    """A figure with its caption; `svg` is the whole SVG text."""

    id: str
    title: str
    caption: str
    svg: str

    @property
    def source(self) -> str:
        """The figure as a data URI, so that names inside one figure cannot meet those of another."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg.encode("utf-8")).decode("ascii")


@dataclass(frozen=True)
class TableBlock:
    """A table of numbers with a caption."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Section:
    """A heading, what to say under it, tables and figures; a folded one opens on demand."""

    id: str
    title: str
    text: Sequence[str] = ()
    tables: Sequence[TableBlock] = ()
    figures: Sequence[FigureBlock] = ()
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    subtitle: str
    summary: str
    scope: str
    facts: Sequence[Fact]
    claims: Sequence[ClaimRow]
    sections: Sequence[Section]
    readings: Sequence[ReadingRow]
    reading_tables: Sequence[TableBlock]
    appendix: Sequence[Section]
    manifest: Sequence[Fact]
    scenario: str
    language: str = "en"

    def count(self, verdict: str) -> int:
        """How many claims have this verdict."""
        return sum(1 for claim in self.claims if claim.verdict == verdict)


def render(page: Page) -> str:
    """The page as HTML text."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,  # every text is escaped; the style sheet is ours
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(page=page, css=Markup(_template("style.css")))  # noqa: S704  # our own file


def write(page: Page, path: Path) -> Path:
    """Writes the page, whole or not at all."""
    with staged_file(path) as stage:
        stage.write_text(render(page), encoding="utf-8")
    return path


def _template(name: str) -> str:
    return files("netlull.report").joinpath(name).read_text(encoding="utf-8")
