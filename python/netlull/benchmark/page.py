"""The results page: submissions in the order of their scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from netlull.benchmark.definition import SHIPPED
from netlull.benchmark.judge import Standing, standing
from netlull.benchmark.record import Record
from netlull.benchmark.submission import RANKING
from netlull.errors import InputError
from netlull.results.output import staged_file

if TYPE_CHECKING:
    from netlull.benchmark.definition import Definition

__all__ = [
    "BEGIN",
    "COLUMNS",
    "END",
    "OPTIMUM",
    "common",
    "is_ranked",
    "league_rows",
    "markdown",
    "optimum",
    "ranked",
    "replace_results",
    "shipped",
    "title_of",
]

BEGIN, END = "<!-- results -->", "<!-- end -->"
"""The lines of a page between which the results stand."""
COLUMNS = ("rank", "controller", "energy (%)", "if undecided (%)", "kept", "undecided", "broken", "regret")
"""The columns of a league's table."""
OPTIMUM = "Offline optimum"
"""The title of the optimum in tables and pictures."""


def shipped() -> list[Record]:
    """The results of the baselines that come with netlull."""
    return [Record.read(path) for path in sorted((SHIPPED / "results").glob("*.json"))]


def is_ranked(record: Record) -> bool:
    """True for a result with all cells and ranking seeds."""
    return bool(record.document["whole"]) and record.document["seeds"]["kind"] == RANKING


def common(records: Sequence[Record]) -> list[Record]:
    """The records with the cells that all of them have. A record that loses cells is no longer whole.

    Raises:
        InputError: they have no cell in common.
    """
    shared = set.intersection(*({cell.name for cell in record.cells} for record in records))
    if not shared:
        raise InputError("FILE: the results have no cell in common; expected the same cells")
    return [
        record
        if len(shared) == len(record.cells)
        else Record({**record.document, "whole": False}, tuple(cell for cell in record.cells if cell.name in shared))
        for record in records
    ]


def ranked(records: Sequence[Record], number: int) -> list[Record]:
    """The records by their score in a league: less energy first, then more kept cells, then the name."""

    def order(record: Record) -> tuple[float, int, str]:
        league = record.leagues[number]
        return league.energy.mean, -league.kept, record.name

    return sorted(records, key=order)


def league_rows(records: Sequence[Record], definition: Definition, number: int) -> list[list[str]]:
    """The rows of a league's table, with the cells of `COLUMNS`. The optimum is first."""
    best = optimum(records, number)
    rows = [] if math.isnan(best) else [["", OPTIMUM, _percent(best), "", "", "", "", "0"]]
    place = 0
    for record in ranked(records, number):
        league = record.leagues[number]
        place += is_ranked(record)
        rows.append(
            [
                str(place) if is_ranked(record) else "-",
                title_of(record.name, definition),
                f"{_percent(league.energy.mean)} ± {100 * league.energy.half_width:.1f}",
                f"{_percent(league.best)} to {_percent(league.worst)}",
                str(league.kept),
                str(league.undecided),
                str(league.broken),
                "-" if math.isnan(league.regret) else f"{100 * league.regret:.1f}",
            ]
        )
    return rows


def optimum(records: Sequence[Record], number: int) -> float:
    """The energy of the offline optimum in a league, over always-on's; NaN without it."""
    known = [value for record in records if not math.isnan(value := record.leagues[number].optimum)]
    return math.fsum(known) / len(known) if known else math.nan


def title_of(name: str, definition: Definition) -> str:
    """The title of a baseline; else the name."""
    baseline = definition.baseline(name)
    return name if baseline is None else baseline.title


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def markdown(records: Sequence[Record], definition: Definition, picture: str) -> str:
    """The results as Markdown: the picture, a table per league, and the energy in each family."""
    lines = [f"![Energy against slowdown of each controller, and the energy in three leagues]({picture})", ""]
    lines += [
        "*Left: the mean energy of all cells, counted or not, against the slowdown: p95 or the inverse goodput over "
        "always-on's, the larger one, as geometric mean over the cells. Left and down is better. The line joins the "
        "controllers that no other beats in both. Right: the score in each league.*",
        "",
    ]
    shared = len(records[0].cells)
    if shared < len(definition.cells):
        lines += [
            f"All tables are of {shared} of the {len(definition.cells)} cells, which all of these results have.",
            "",
        ]
    for number, limit in enumerate(definition.leagues):
        lines += [f"### League {limit:.0%}".replace("%", " %"), ""]
        lines += _table(COLUMNS, league_rows(records, definition, number))
        lines.append("")
    middle = len(definition.leagues) // 2
    families = list(dict.fromkeys(cell.family for cell in definition.cells))
    title = f"{definition.leagues[middle]:.0%}".replace("%", " %")
    lines += ["### Cells by family", ""]
    lines += [
        f"Energy in per cent of always-on's, as measured; in brackets the number of cells broken in league {title}.",
        "",
    ]
    order = ranked(records, middle)
    rows = [[family, *(_family(record, definition, family, middle) for record in order)] for family in families]
    lines += [*_table(("family", *(record.name for record in order)), rows), ""]
    return "\n".join(lines)


def _family(record: Record, definition: Definition, family: str, number: int) -> str:
    names = {cell.name for cell in definition.cells if cell.family == family}
    cells = [cell for cell in record.cells if cell.name in names]
    energies = [math.fsum(cell.energy) / len(cell.energy) for cell in cells if cell.energy]
    broken = sum(standing(cell, definition.leagues[number]).standing is Standing.BROKEN for cell in cells)
    text = f"{100 * math.fsum(energies) / len(energies):.0f}" if energies else "-"
    return f"{text} ({broken})" if broken else text


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def replace_results(page: Path, text: str) -> None:
    """Puts the results between the lines `BEGIN` and `END` of a page; a new page has nothing else.

    Raises:
        InputError: the page exists, but lacks the lines.
        OutputError: the page cannot be written.
    """
    before, after = "# Results of the benchmark\n\n", ""
    if page.exists():
        found = page.read_text(encoding="utf-8")
        if found.count(BEGIN) != 1 or found.count(END) != 1:
            raise InputError(f"{page}: lacks the lines {BEGIN} and {END}; expected each once, or a new file")
        before, rest = found.split(BEGIN)
        after = rest.split(END)[1]
    with staged_file(page) as stage:
        stage.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after or chr(10)}", encoding="utf-8", newline="\n")
