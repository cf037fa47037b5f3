"""The results page: submissions in the order of their scores, with a Pareto plot."""

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
from netlull.output import staged_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netlull.benchmark.definition import Definition

__all__ = ["BEGIN", "END", "is_ranked", "league_rows", "markdown", "overview", "ranked", "replace_results", "shipped"]

BEGIN, END = "<!-- results -->", "<!-- end -->"
"""The lines of a page between which the results stand."""
OPTIMUM = "offline optimum"


def shipped() -> list[Record]:
    """The results of the baselines that come with netlull."""
    return [Record.read(path) for path in sorted((SHIPPED / "results").glob("*.json"))]


def is_ranked(record: Record) -> bool:
    """True for a result with all cells and ranking seeds."""
    return bool(record.document["whole"]) and record.document["seeds"]["kind"] == RANKING


def ranked(records: Sequence[Record], number: int) -> list[Record]:
    """The records by their score in a league: less energy first, then more kept cells, then the name."""

    def order(record: Record) -> tuple[float, int, str]:
        league = record.leagues[number]
        return league.energy.mean, -league.kept, record.name

    return sorted(records, key=order)


def league_rows(records: Sequence[Record], definition: Definition, number: int) -> list[list[str]]:
    """The rows of a league's table: rank, name, energy, range, kept, undecided, broken, regret. The optimum is first."""
    optima = [league.optimum for league in (record.leagues[number] for record in records)]
    known = [value for value in optima if not math.isnan(value)]
    rows = []
    if known:
        rows.append(["", _title(OPTIMUM, definition), _percent(math.fsum(known) / len(known)), "", "", "", "", "0"])
    place = 0
    for record in ranked(records, number):
        league = record.leagues[number]
        place += is_ranked(record)
        rows.append(
            [
                str(place) if is_ranked(record) else "-",
                _title(record.name, definition),
                f"{_percent(league.energy.mean)} ± {100 * league.energy.half_width:.1f}",
                f"{_percent(league.best)} to {_percent(league.worst)}",
                str(league.kept),
                str(league.undecided),
                str(league.broken),
                "-" if math.isnan(league.regret) else f"{100 * league.regret:.1f}",
            ]
        )
    return rows


COLUMNS = ("rank", "controller", "energy (%)", "if undecided (%)", "kept", "undecided", "broken", "regret")
"""The columns of a league's table."""


def _title(name: str, definition: Definition) -> str:
    baseline = definition.baseline(name)
    return name if baseline is None else baseline.title


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def markdown(records: Sequence[Record], definition: Definition, picture: str) -> str:
    """The results as Markdown: the picture, a table per league, and the energy in each family."""
    lines = [f"![Energy against slowdown of each controller, and the energy in three leagues]({picture})", ""]
    lines += [
        "*Left: the mean energy of all cells, counted or not, against the slowdown: the larger of p95 and of the inverse "
        "goodput, over always-on's; geometric mean over the cells. Left and down is better; the line joins the "
        "controllers that no other beats in both. Right: the score in each league.*",
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
    lines += [f"Energy in per cent of always-on's, as measured; in brackets the cells that are broken in league {title}.", ""]
    rows = []
    for record in ranked(records, middle):
        rows.append([_title(record.name, definition), *(_family(record, definition, name, middle) for name in families)])
    lines += [*_table(("controller", *families), rows), ""]
    return "\n".join(lines)


def _family(record: Record, definition: Definition, family: str, number: int) -> str:
    names = {cell.name for cell in definition.cells if cell.family == family}
    cells = [cell for cell in record.cells if cell.name in names]
    energies = [math.fsum(cell.energy) / len(cell.energy) for cell in cells if cell.energy]
    broken = sum(standing(cell, definition.leagues[number]).standing is Standing.BROKEN for cell in cells)
    text = f"{100 * math.fsum(energies) / len(energies):.0f}" if energies else "-"
    return f"{text} ({broken} of {len(cells)})" if broken else text


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


def _mean_energy(record: Record) -> float:
    energies = [math.fsum(cell.energy) / len(cell.energy) if cell.energy else 1.0 for cell in record.cells]
    return math.fsum(energies) / len(energies)


def _slowdown(record: Record) -> float:
    """The geometric mean over the cells in which the controller ran."""
    logs = [math.log(cell.slowdown) for cell in record.cells if math.isfinite(cell.slowdown)]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.inf


def overview(records: Sequence[Record], definition: Definition) -> Figure:
    """The Pareto plot, and the scores in the leagues."""
    from netlull.plot import COLOURS, DOUBLE_COLUMN, figure, log_y, styled
    from netlull.plot.style import MARKERS

    points = {record.name: (100 * _mean_energy(record), _slowdown(record)) for record in records}
    order = [record.name for record in ranked(records, 0)]
    with styled():
        drawn = figure(DOUBLE_COLUMN, 3.4)
        left, right = drawn.subplots(1, 2, width_ratios=(1.15, 1.0))
        front = sorted(place for place in points.values() if not _beaten(place, list(points.values())))
        left.plot([x for x, _ in front], [y for _, y in front], color="#999999", linewidth=0.9, zorder=1)
        for number, name in enumerate(order):
            x, y = points[name]
            style = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[(number * 3) % len(MARKERS)]}
            left.plot([x], [y], linestyle="", markersize=5, label=_title(name, definition), **style)
        for limit in definition.leagues:
            left.axhline(1 + limit, color="#222222", linewidth=0.5, linestyle=":")
        left.set_xlabel("Energy (% of always-on)")
        left.set_ylabel("Slowdown (times always-on)")
        log_y(left)
        left.set_title("All cells, as measured", loc="left")
        for number, limit in enumerate(definition.leagues):
            scores = [next(one for one in records if one.name == name).leagues[number].energy for name in order]
            right.errorbar(
                [100 * score.mean for score in scores],
                [len(order) - place + 0.2 * (1 - number) for place in range(len(order))],
                xerr=[100 * score.half_width if score.n > 1 else 0.0 for score in scores],
                linestyle="",
                marker=MARKERS[number],
                color=COLOURS[number],
                markersize=4,
                elinewidth=0.8,
                label=f"within {limit:.0%}".replace("%", " %"),
            )
        right.set_yticks([len(order) - place for place in range(len(order))], [_title(name, definition) for name in order])
        right.set_xlabel("Score: energy that counts (% of always-on)")
        right.set_title("Leagues", loc="left")
        right.legend(loc="lower left")
        left.legend(loc="upper right", fontsize=6.5)
    return drawn


def _beaten(place: tuple[float, float], others: Sequence[tuple[float, float]]) -> bool:
    """True if another point is at least as good in both and better in one."""
    return any(other != place and other[0] <= place[0] and other[1] <= place[1] for other in others)
