"""The report page of a reproduction."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netlull._engine import __version__
from netlull.papers import source
from netlull.papers.effects import Variations, number_table, tables_of, verdict_table
from netlull.papers.text import seeds_in_words
from netlull.plot import charts_of
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
)
from netlull.report.ledger import ledger_section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netlull.papers.documents import Paper, Study
    from netlull.papers.outcome import Drawn, EqualReading, Evidence, JudgedClaim, Tabled

_TITLES = {"figures": "Figures", "energy": "Energy", "appendix": "Appendix"}
"""The sections of a page, in order. A paper's `figures.SECTIONS` replaces them. The appendix follows the readings."""


@dataclass(frozen=True)
class StudyFindings:
    """The results of a further study: its evidence, and each drawing with its SVG."""

    study: Study
    evidence: Evidence
    drawings: Sequence[tuple[Drawn, str]]
    scenario: str


@dataclass(frozen=True)
class Findings:
    """The results: the evidence, the judged claims, each drawing with its SVG, and the effects of the readings."""

    evidence: Evidence
    claims: Sequence[JudgedClaim]
    drawings: Sequence[tuple[Drawn, str]]
    variations: Variations | None = None
    studies: Sequence[StudyFindings] = ()
    equals: Sequence[EqualReading] = ()


def page(paper: Paper, found: Findings, *, scope: str, scenario: str, manifest: Mapping[str, str]) -> Page:
    """Puts claims, figures, readings and the manifest on one page."""
    module = source.module_of(paper.info.folder, "figures")
    tables: list[Tabled] = list(module.tables(found.evidence)) if hasattr(module, "tables") else []
    titles: Mapping[str, str] = getattr(module, "SECTIONS", _TITLES)
    sections = [_section(name, title, found.drawings, tables, paper.notes.paper) for name, title in titles.items()]
    filled = [section for section in sections if section.figures or section.tables]
    return Page(
        title=paper.info.title,
        subtitle=_source(paper),
        summary=paper.summary,
        scope=scope,
        facts=[Fact(name, value) for name, value in paper.parameters.items()],
        claims=[_claim(claim, found.equals) for claim in found.claims],
        equals=[equal.label for equal in found.equals],
        unjudged=[UnjudgedRow(entry.quote, entry.where, entry.reason) for entry in paper.unjudged],
        sections=[
            *(section for section in filled if section.id != "appendix"),
            *(section for study in found.studies for section in _study_sections(paper, study)),
            *_ledger(found),
        ],
        readings=_readings(paper),
        reading_tables=_reading_tables(found.variations, paper),
        appendix=[section for section in filled if section.id == "appendix"],
        manifest=[Fact(name, value) for name, value in manifest.items()],
        scenario=scenario,
    )


def studies_page(
    paper: Paper,
    found: Sequence[StudyFindings],
    claims: Sequence[JudgedClaim],
    *,
    scope: str,
    manifest: Mapping[str, str],
) -> Page:
    """A page of studies alone, with the claims that they decide."""
    return Page(
        title=paper.info.title,
        subtitle=f"{_source(paper)} This page: {', '.join(findings.study.title for findings in found)}.",
        summary=paper.summary,
        scope=scope,
        facts=[],
        claims=[_claim(claim) for claim in claims],
        sections=[section for study in found for section in _study_sections(paper, study)],
        readings=[],
        reading_tables=[],
        appendix=[],
        manifest=[Fact(name, value) for name, value in manifest.items()],
        scenario=found[0].scenario,
    )


def _study_sections(paper: Paper, found: StudyFindings) -> list[Section]:
    """The sections of a study: one, unless its module has `SECTIONS`. Their ids start with the study's name."""
    study = found.study
    module = source.module_of(paper.info.folder, study.module)
    tables: list[Tabled] = list(module.tables(found.evidence)) if hasattr(module, "tables") else []
    notes = paper.notes.study.get(study.name, {})
    titles: Mapping[str, str] = getattr(module, "SECTIONS", {"figures": study.title})
    sections = [_section(name, title, found.drawings, tables, notes) for name, title in titles.items()]
    return [
        replace(
            section,
            id=f"{study.name}-{section.id}",
            figures=[replace(figure, id=f"{study.name}-{figure.id}") for figure in section.figures],
        )
        for section in sections
        if section.figures or section.tables
    ]


def study_facts(found: Sequence[StudyFindings]) -> dict[str, str]:
    """The number of runs and seeds of each study, for the manifest."""
    return {
        f"study {findings.study.name}": f"{findings.evidence.grid.runs:,} runs, {seeds_in_words(_seeds_of(findings))}"
        for findings in found
    }


def _seeds_of(found: StudyFindings) -> list[int]:
    grid = found.evidence.grid
    return sorted({seed for experiment in grid.experiments for seed in grid.seeds(experiment)})


def manifest(evidence: Evidence, scope: str, seeds: Sequence[int], origin: Mapping[str, str | None]) -> dict[str, str]:
    """The facts about the production of the page. Its times would differ between equal reproductions."""
    hops = evidence.grid.total("packet_hops")
    return {
        **made_by(scope, origin),
        "seeds": seeds_in_words(seeds).split(" ", 1)[1],
        "runs in the sweep": f"{evidence.grid.runs:,}",
        "recorded runs": str(len(evidence.series)),
        "packet-hops in the sweep": "unknown" if math.isnan(hops) else f"{hops:,.0f}",
    }


def made_by(scope: str, origin: Mapping[str, str | None]) -> dict[str, str]:
    """The facts common to all manifests."""
    return {
        "netlull": __version__,
        "engine": origin.get("engine") or "unknown",
        "commit": origin.get("commit") or "unknown",
        "scope": scope,
    }


def _source(paper: Paper) -> str:
    published = f"{paper.venue}, {paper.year}." + (f" DOI {paper.doi}." if paper.doi else "")
    return f"{', '.join(paper.authors)}. {published} The paper's simulator: {paper.simulator}."


def _section(
    name: str,
    title: str,
    drawings: Sequence[tuple[Drawn, str]],
    tables: Sequence[Tabled],
    notes: Mapping[str, Sequence[str]],
) -> Section:
    return Section(
        id=name,
        title=title,
        text=list(notes.get(name, ())),
        tables=[TableBlock(table.caption, table.header, table.rows) for table in tables if table.section == name],
        figures=[
            FigureBlock(item.id, item.title, item.caption, svg, charts_of(item.figure), item.tries)
            for item, svg in drawings
            if item.section == name
        ],
    )


def _ledger(found: Findings) -> list[Section]:
    section = ledger_section(found.evidence.energy)
    return [] if section is None else [section]


def _claim(judged: JudgedClaim, equals: Sequence[EqualReading] = ()) -> ClaimRow:
    claim = judged.claim
    return ClaimRow(
        id=claim.id,
        title=claim.title,
        statement=claim.statement,
        where=claim.where,
        theirs=claim.theirs,
        parts=[ClaimPart(part.holds, part.ours, part.counted) for part in judged.parts],
        verdict=judged.verdict.value,
        explanation=judged.explanation,
        quote=claim.quote,
        judgement=[
            Fact(name, value)
            for name, value in (
                ("Measured", claim.measured),
                ("Tolerance", claim.reason),
                ("Fixed", claim.fixed),
                ("Decided by", judged.decided_by),
            )
            if value
        ],
        equals=[str(equal.verdict(claim.id) or "") for equal in equals],
    )


def _readings(paper: Paper) -> list[ReadingRow]:
    return [
        ReadingRow(
            id=reading.id,
            question=reading.question,
            choice=reading.choice,
            reason=reading.reason,
            effect=reading.effect,
            alternatives=[
                Fact(
                    alternative.label,
                    " ".join(filter(None, [alternative.words, alternative.effect or "not measured yet"])),
                )
                for alternative in reading.alternatives
            ],
        )
        for reading in paper.readings
    ]


def _reading_tables(found: Variations | None, paper: Paper) -> list[TableBlock]:
    if found is None:
        return []
    tables = []
    for what, effects in tables_of(found):
        if effects:
            tables.append(
                TableBlock(f"{what}: verdicts (score: 2 for holds, 1 for partly or undecided)", *verdict_table(effects))
            )
            tables.append(TableBlock(f"{what}: headline numbers", *number_table(effects, paper)))
    return tables
