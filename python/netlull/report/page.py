"""The parts of a report page, and its HTML."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup, escape

from netlull.library import LAB_PAGE, lab_page, place_lab
from netlull.report.tries import Offer, Try, offer
from netlull.results.output import staged_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from netlull.plot import Chart


@dataclass(frozen=True)
class Fact:
    """A name and a value, shown in the manifest or at the head of the page."""

    name: str
    value: str


@dataclass(frozen=True)
class ClaimPart:
    """A measured part of a claim."""

    holds: bool | None
    """None: undecided."""
    text: str
    counted: bool = True
    """False if the verdict ignores this part."""


@dataclass(frozen=True)
class ClaimRow:
    """A claim with the paper's result, the measured result and the verdict: holds, partly, fails or undecided."""

    id: str
    title: str
    statement: str
    where: str
    theirs: str
    parts: Sequence[ClaimPart]
    verdict: str
    explanation: str
    quote: str = ""
    """The paper's own words; empty for a claim of ours."""
    judgement: Sequence[Fact] = ()
    """The measured quantity, the reason for the tolerance, when it was fixed, and the deciding runs."""
    equals: Sequence[str] = ()
    """The verdicts with equally supported readings, in the page's order; empty where a study decides."""


@dataclass(frozen=True)
class UnjudgedRow:
    """A sentence of the paper that no claim judges."""

    quote: str
    where: str
    reason: str


@dataclass(frozen=True)
class ReadingRow:
    """A reading (an assumption where the paper is silent): question, choice, reason and effects of the alternatives."""

    id: str
    question: str
    choice: str
    reason: str
    effect: str
    alternatives: Sequence[Fact] = ()


@dataclass(frozen=True)
class FigureBlock:
    """A figure with its caption: `svg` is the whole SVG text, `charts` the data of an interactive figure."""

    id: str
    title: str
    caption: str
    svg: str
    charts: Sequence[Chart] = ()
    points: Sequence[Try] = ()
    """The points that the lab can open."""
    shown: int | None = None
    """The number of points, if `points` has only a part of them."""

    @property
    def data(self) -> Markup:
        """The charts as JSON, with `<` escaped: a browser never reads it as the end of the script element."""
        text = json.dumps(
            [chart.document() for chart in self.charts], ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        return Markup(text.replace("<", "\\u003c"))  # noqa: S704  # no `<` remains

    @property
    def source(self) -> str:
        """The figure as a data URI: identifiers of different figures cannot collide."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg.encode("utf-8")).decode("ascii")


_SENTENCE = 30
"""The number of characters from which a cell is a sentence."""


@dataclass(frozen=True)
class TableBlock:
    """A table of numbers with a caption; readers can sort and filter a sortable table if scripts run."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    sortable: bool = False

    @property
    def prose(self) -> frozenset[int]:
        """The columns with sentences, after the first."""
        columns = enumerate(zip(*self.rows, strict=True))
        return frozenset(n for n, cells in columns if n and any(len(cell) > _SENTENCE for cell in cells))


@dataclass(frozen=True)
class Section:
    """A heading with its text, tables and figures; a folded section opens on demand."""

    id: str
    title: str
    text: Sequence[str] = ()
    tables: Sequence[TableBlock] = ()
    figures: Sequence[FigureBlock] = ()
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """A whole report of a reproduction, or of a sweep if there are no claims and readings."""

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
    kind: str = "reproduction report"
    unjudged: Sequence[UnjudgedRow] = ()
    equals: Sequence[str] = ()
    """The labels of the equally supported readings, each with a column of verdicts."""
    language: str = "en"

    @property
    def lead(self) -> FigureBlock | None:
        """The figure above the claims: the first of a reproduction."""
        figures = [figure for section in self.sections for figure in section.figures]
        return figures[0] if self.claims and figures else None

    @property
    def interactive(self) -> bool:
        """True if a figure has charts."""
        return any(figure.charts for section in (*self.sections, *self.appendix) for figure in section.figures)

    @functools.cached_property
    def tries(self) -> Offer:
        """The points of all figures that can be tried in the lab."""
        blocks = (figure for section in (*self.sections, *self.appendix) for figure in section.figures)
        return offer({figure.id: figure.points for figure in blocks})

    @property
    def verdicts(self) -> dict[str, str]:
        """The sign of each verdict, in the order of a summary."""
        return {"holds": "✓", "partly": "◐", "fails": "✗", "undecided": "?"}

    def count(self, verdict: str) -> int:
        """The number of claims with this verdict."""
        return sum(1 for claim in self.claims if claim.verdict == verdict)


def render(page: Page) -> str:
    """The page as HTML text; without the chart library (see `chart_library`) its figures are static pictures."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,  # escapes every text; style sheets and scripts come from this package
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    library = chart_library() if page.interactive else None
    scripts = [_template("page.js")]
    styles = [_template("theme.css"), _template("style.css")]
    if library is not None:
        scripts = [library.script, *scripts, _template("charts.js")]
        styles = [library.style, *styles]
    return environment.get_template("page.html").render(
        page=page,
        css=Markup("\n".join(styles)),  # noqa: S704  # files of this package
        scripts=[Markup(script) for script in scripts],  # noqa: S704  # files of this package
        hashes=" ".join(_hash(script) for script in scripts),
        library=library,
        lab=LAB_PAGE if page.tries.numbers and lab_page() is not None else None,
    )


def _prose(text: str) -> Markup:
    """A text as HTML, with the code between its backquotes as `<code>`."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704  # it is escaped


@dataclass(frozen=True)
class Library:
    """The chart library that a page embeds."""

    script: str
    style: str
    licence: str


def chart_library() -> Library | None:
    """The uPlot library, which `make setup` fetches; None if it is missing."""
    folder = files("netlull.report").joinpath("shipped")
    try:
        script, style, licence = (
            folder.joinpath(name).read_text(encoding="utf-8").strip()
            for name in ("uPlot.iife.min.js", "uPlot.min.css", "LICENSE")
        )
    except OSError:
        return None
    return Library(script, style, licence)


def _hash(script: str) -> str:
    """The hash of a script for the page's content security policy, which blocks every other script."""
    # The template puts a line break before and after the script.
    digest = hashlib.sha256(f"\n{script}\n".encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def write(page: Page, path: Path) -> Path:
    """Writes the page atomically: a failure leaves no partial file. The lab comes next to it, if it was built."""
    if page.tries.numbers:
        place_lab(path.with_name(LAB_PAGE))
    with staged_file(path) as stage:
        stage.write_text(render(page), encoding="utf-8", newline="\n")
    return path


def _template(name: str) -> str:
    return files("netlull.report").joinpath(name).read_text(encoding="utf-8")
