"""The folder of a judgement: a page, and the traces of each case."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from netlull._engine import Monitor
from netlull.conformance.frame import SUITES
from netlull.conformance.picture import case_figure, recovery_figure
from netlull.conformance.qlog import qlog_text
from netlull.plot.style import svg_text
from netlull.report.page import Fact, FigureBlock, Page, Section, TableBlock, render
from netlull.results.output import MANIFEST, file_record, json_text, origin, staged_folder, write_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from netlull.conformance.frame import Judgement, Kind
    from netlull.conformance.trace import Trace

__all__ = ["KIND", "document", "names_of", "overview", "write"]

KIND = "conformance"
_PAGE, _RESULT = "index.html", "result.json"
_SENDER = "sender-N1"
_RECEIVER = "N1-sender"


def write(judgements: Sequence[Judgement], folder: Path) -> Path:
    """Writes `index.html`, `result.json` and, for each case, `CASE.svg`, `CASE.sqlog` and `CASE.pcapng`.

    The picture and the traces show the last run of the case.

    Raises:
        OutputError: the folder holds other files, or cannot be written.
    """
    with staged_folder(folder, kind=KIND) as stage:
        sections = [_case(judgement, stage) for judgement in judgements]
        page = _page(judgements, sections)
        (stage / _PAGE).write_text(render(page), encoding="utf-8", newline="\n")
        (stage / _RESULT).write_text(json_text(document(judgements)), encoding="utf-8", newline="\n")
        files = {path.name: file_record(path) for path in sorted(stage.iterdir())}
        write_json(stage / MANIFEST, {"kind": KIND, "files": files, **origin()})
    return folder / _PAGE


def names_of(judgements: Sequence[Judgement]) -> str:
    """The judged TCPs."""
    return "; ".join(dict.fromkeys(one.subject.name for one in judgements))


def document(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """All judgements as plain values."""
    return {"congestion_control": names_of(judgements), "cases": [one.to_dict() for one in judgements]}


def overview(judgements: Sequence[Judgement]) -> tuple[list[str], list[list[str]]]:
    """The columns and the rows of the table of verdicts. Suites without checks of state have no such column."""
    kinds: list[Kind] = ["black box", "state"]
    kinds = [kind for kind in kinds if any(check.kind == kind for one in judgements for check in one.checks)]
    rows = [
        [one.case.number, one.case.title, *(one.verdict_of(kind) for kind in kinds), one.verdict, one.told]
        for one in judgements
    ]
    return ["case", "title", *kinds, "verdict", "seen"], rows


def _case(judgement: Judgement, stage: Path) -> Section:
    case, trace = judgement.case, judgement.traces[-1]
    number = case.number
    draw = recovery_figure if "tcp.loss_recovery" in SUITES[case.family].settings else case_figure
    svg = svg_text(draw(trace, f"{number} {case.title}", judgement.marks))
    (stage / f"{number}.svg").write_text(svg, encoding="utf-8", newline="\n")
    text = qlog_text(case, trace, judgement.marks)
    (stage / f"{number}.sqlog").write_text(text, encoding="utf-8", newline="\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checked = judgement.scenarios[-1].checked
        checked.trace([_SENDER, _RECEIVER], str(stage / f"{number}.pcapng"), Monitor())
    checks = TableBlock(
        f"{number}: {judgement.verdict}",
        ("check", "what", "seen", "expected", "verdict", "source"),
        [(one.kind, one.what, one.seen, one.expected, _WORDS[one.holds], one.source) for one in judgement.checks],
    )
    traces = f"Traces of the last run: `{number}.sqlog` (qlog), `{number}.pcapng` (Wireshark)."
    words = [f"{case.document}. Network: {case.network}.", case.doc, traces, *_notes(judgement.traces)]
    shown = FigureBlock(number, case.title, f"The last run of {number}. Dotted: the steps of the procedure.", svg)
    return Section(number, f"{number} {case.title}", words, [checks], [shown])


_WORDS = {True: "holds", False: "fails", None: "not judged"}


def _notes(traces: Sequence[Trace]) -> list[str]:
    notes = [trace.note for trace in traces if trace.note]
    return [f"Runs: {', '.join(dict.fromkeys(notes))}."] if notes else []


def _page(judgements: Sequence[Judgement], sections: Sequence[Section]) -> Page:
    passed = sum(one.verdict == "passes" for one in judgements)
    verdicts = TableBlock("Verdicts", *overview(judgements))
    documents = ", ".join(dict.fromkeys(one.case.document for one in judgements))
    return Page(
        title=f"Conformance of {names_of(judgements)}",
        subtitle=documents,
        summary=f"{passed} of {len(judgements)} cases pass.",
        scope="Each case runs one flow on a small simulated network, and compares the observations with the document.",
        facts=[Fact("passes", str(passed)), Fact("cases", str(len(judgements)))],
        claims=[],
        sections=[Section("verdicts", "Verdicts", [], [verdicts]), *sections],
        readings=[],
        reading_tables=[],
        appendix=[],
        manifest=[Fact(name, str(value)) for name, value in origin().items()],
        scenario="",
        kind="conformance report",
    )
