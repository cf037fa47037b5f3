"""The report: complete, self-contained, well-formed, escaped."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import netlull.report
from netlull.plot import Chart, Series
from netlull.plot.style import COLOURS
from netlull.report import (
    ClaimPart,
    ClaimRow,
    Fact,
    FigureBlock,
    Page,
    ReadingRow,
    Section,
    TableBlock,
    UnjudgedRow,
    chart_library,
    render,
    write,
)

SVG = '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'
VOID = {"meta", "br", "img", "link", "hr", "input"}


def page() -> Page:
    claims = [
        ClaimRow(
            "T1", "Calm", "It holds.", "Fig. 2", "10 Mb/s", [ClaimPart(True, "9.9 Mb/s")], "holds", "", "calm <links>"
        ),
        ClaimRow("T2", "Storm", "a < b", "Fig. 4", "huge", [ClaimPart(False, "3 %")], "fails", "Buffers & bounds."),
    ]
    return Page(
        title="A paper",
        subtitle="Authors, venue",
        summary="What it says.",
        scope="--quick: little",
        facts=[Fact("RTT", "1 ms")],
        claims=claims,
        sections=[Section("figures", "Figures", figures=[FigureBlock("fig2", "Fig. 2", "Four panels.", SVG)])],
        readings=[
            ReadingRow("d", "The bound d", "40 ms", "Not printed.", "Much.", [Fact("d = 5 ms", "T1 holds → fails")])
        ],
        reading_tables=[TableBlock("Verdicts", ["reading", "T1"], [["as chosen", "holds"]])],
        appendix=[Section("appendix", "Appendix", figures=[FigureBlock("a1", "bON = 1 ms", "Panels.", SVG)])],
        manifest=[Fact("netlull", "0.1.0"), Fact("seeds", "1 to 4")],
        scenario='name = "x"  # <tag>',
    )


class Checker(HTMLParser):
    """Follows open tags, and collects ids and references of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in {"src", "href"} and value:
                self.references.append(value)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


def checked(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    checker.close()
    return checker


def test_the_page_is_well_formed_and_its_links_lead_somewhere() -> None:
    found = checked(render(page()))
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    inside = [reference[1:] for reference in found.references if reference.startswith("#")]
    assert set(inside) <= set(found.ids)


def test_the_page_asks_nothing_of_the_network() -> None:
    html = render(page())
    found = checked(html)
    assert all(reference.startswith(("#", "data:")) for reference in found.references)
    assert not re.search(r"(src|href|url\()\s*=?\s*[\"']?https?:", html)
    assert not re.search(r"<(script|link|iframe|object)[^>]*(src|href)=", html)
    assert not re.search(r"\b(fetch|XMLHttpRequest|importScripts|WebSocket|sendBeacon)\b", html)
    assert "@import" not in html


def test_the_browser_is_told_to_fetch_nothing_and_to_run_these_scripts_alone() -> None:
    html = render(page())
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    assert policy[1].startswith("default-src 'none'; img-src data:;")
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert scripts
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in unescape(policy[1])


@pytest.mark.skipif(chart_library() is None, reason="no chart library here: make setup fetches it with npm")
def test_a_figure_with_charts_has_its_data_and_its_picture() -> None:
    html = render(charted())
    assert html.count("data:image/svg+xml;base64,") == 2
    data = re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    assert data
    assert "<" not in data[1]
    (panel,) = json.loads(data[1])
    assert panel["title"] == "a < b </script>"
    assert panel["series"][0]["px"] == [1, 2]
    # A missing mean is null, and never zero.
    assert panel["series"][0]["py"] == [0.5, None]
    assert "The MIT License" in html


def test_without_the_library_figures_are_pictures_and_the_page_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netlull.report.page.chart_library", lambda: None)
    html = render(charted())
    assert checked(html).open == []
    assert html.count("data:image/svg+xml;base64,") == 2
    assert "application/json" not in html
    assert "uPlot" not in html
    assert "netlull was set up without npm" in html


def charted() -> Page:
    """The page with one figure that can be interactive."""
    nothing = float("nan")
    series = Series("x", [1.0, 2.0], [0.5, nothing], [0.4, nothing], [0.6, nothing], [3, 3])
    chart = Chart("a < b </script>", "load", "time (s)", [series], (1.0, 2.0), (0.0, 1.0))
    figures = [FigureBlock("fig2", "Fig. 2", "One panel.", SVG, [chart])]
    return dataclasses.replace(page(), sections=[Section("figures", "Figures", figures=figures)])


def test_the_page_holds_each_claim_with_paper_ours_and_verdict_in_words() -> None:
    html = render(page())
    for text in (
        "T1",
        "T2",
        "10 Mb/s",
        "9.9 Mb/s",
        "3 %",
        "Buffers &amp; bounds.",
        "holds",
        "fails",
        "--quick: little",
    ):
        assert text in html
    assert "1 holds" in html
    assert "0 partly" in html


def test_the_page_shows_the_papers_words_the_judgement_and_a_second_column_of_verdicts() -> None:
    first, second = page().claims
    claims = [
        dataclasses.replace(first, equals=["partly"], judgement=[Fact("Decided by", "single (seed 1)")]),
        dataclasses.replace(second, parts=[ClaimPart(None, "1 to 3 %")], verdict="undecided", equals=[""]),
    ]
    unjudged = [UnjudgedRow("Energy matters.", "section I", "An opinion.")]
    html = render(dataclasses.replace(page(), claims=claims, equals=["RTT is measured"], unjudged=unjudged))
    for text in (
        "<q>calm &lt;links&gt;</q>",
        "no sentence of the paper makes it",
        "single (seed 1)",
        "1 undecided",
        'class="open">1 to 3 %',
        "as well: (1) RTT is measured",
        "◐ partly",
        "Energy matters.",
        "An opinion.",
    ):
        assert text in html
    checked(html)


def test_the_page_holds_readings_figures_tables_and_manifest() -> None:
    html = render(page())
    for text in ("The bound d", "T1 holds → fails", "as chosen", "1 to 4", 'alt="Fig. 2. Four panels."', "bON = 1 ms"):
        assert text in html
    assert html.count("data:image/svg+xml;base64,") == 2


def test_the_first_figure_is_above_the_claims() -> None:
    figures = [FigureBlock("fig3", "Fig. 3", "Three panels.", SVG), FigureBlock("fig4", "Fig. 4", "Two.", SVG)]
    reproduced = dataclasses.replace(page(), sections=[Section("figures", "Figures", figures=figures)])
    html = render(reproduced)
    places = [html.index(text) for text in ('<figure id="fig3"', '<tr id="T1"', '<tr id="T2"', '<figure id="fig4"')]
    assert places == sorted(places)
    assert html.count('<figure id="fig3"') == 1
    assert '<a href="#fig3">Fig. 3</a> is at the top of this page.' in html
    swept = render(dataclasses.replace(reproduced, claims=[]))
    assert swept.index("<h2>Figures</h2>") < swept.index('<figure id="fig3"')


def test_code_has_no_backquotes() -> None:
    quoted = "`--study <buffer>` and `mRCI`"
    block = FigureBlock("fig2", "Fig. 2", quoted, SVG)
    table = TableBlock(quoted, [quoted], [[quoted]])
    claims = [
        dataclasses.replace(
            claim, title=quoted, statement=quoted, theirs=quoted, parts=[ClaimPart(True, quoted)], explanation=quoted,
            judgement=[Fact("Measured", quoted)],
        )
        for claim in page().claims
    ]  # fmt: skip
    html = render(
        dataclasses.replace(
            page(), summary=quoted, scope=quoted, facts=[Fact("x", quoted)], claims=claims,
            sections=[Section("figures", "Figures", [quoted], [table], [block])],
            readings=[ReadingRow("d", quoted, quoted, quoted, quoted, [Fact("d", quoted)])], reading_tables=[table],
            unjudged=[UnjudgedRow("words", "section 1", quoted)], manifest=[Fact("x", quoted)],
        )
    )  # fmt: skip
    assert "`" not in re.sub(r"<(script|style).*?</\1>", "", html, flags=re.DOTALL)
    assert html.count("<code>--study &lt;buffer&gt;</code> and <code>mRCI</code>") == 30


def test_text_is_escaped() -> None:
    html = render(dataclasses.replace(page(), summary="<b>bold</b>"))
    assert "&lt;b&gt;bold" in html
    assert "# &lt;tag&gt;" in html
    assert "a &lt; b" in html


def test_dark_and_light_and_print_are_styled() -> None:
    html = render(page())
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


@pytest.mark.parametrize("section", ["appendix", "reading_tables", "readings"])
def test_empty_parts_leave_no_hole(section: str) -> None:
    assert checked(render(dataclasses.replace(page(), **{section: []}))).open == []


def test_the_page_is_written_whole(tmp_path: Path) -> None:
    path = write(page(), tmp_path / "out" / "report.html")
    assert path.read_text(encoding="utf-8") == render(page())
    assert [item.name for item in path.parent.iterdir()] == ["report.html"]


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2.2, definitions)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_curve_has_a_contrast_of_three_to_its_ground() -> None:
    theme = (Path(netlull.report.__file__).parent / "theme.css").read_text(encoding="utf-8")
    blocks = [
        dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r"\{([^{}]*)\}", theme)
    ]
    themes = [block for block in blocks if "page" in block]
    assert len(themes) == 3
    for colours in themes:
        curves = {name: colour for name, colour in colours.items() if re.fullmatch(r"s\d", name)}
        assert len(curves) == len(COLOURS)
        for name, colour in curves.items():
            for ground in ("page", "card"):
                low, high = sorted((luminance(colour), luminance(colours[ground])))
                assert (high + 0.05) / (low + 0.05) >= 3, (name, ground)
