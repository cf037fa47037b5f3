"""The tables of `netlull benchmark`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull import benchmark
from netlull.benchmark.page import COLUMNS
from netlull.cli.numbers import scaled
from netlull.cli.tables import Table, draw, new_console, say, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netlull.benchmark import CellRows, Definition, League, Optimum, Record
    from netlull.stats import Interval

__all__ = ["print_cells", "print_comparison", "print_optima", "print_record"]

_MOST_FAILED = 5


def print_cells(definition: Definition) -> None:
    """Prints the cells and the baselines."""
    console = new_console()
    table = Table(["cell", "family", "power", "flows", "rates", "transition"], words=6)
    for cell in definition.cells:
        rates = cell.rates.listed()
        words = f"{scaled(rates[0], 'b/s')} to {scaled(rates[-1], 'b/s')}"
        table.add([cell.name, cell.family, cell.power, ", ".join(cell.flows), words, cell.transition])
    title = (
        f"netlull benchmark, version {definition.version}: {len(definition.cells)} cells, {definition.seeds} seeds each"
    )
    show(console, title, table)
    families = {cell.family: cell.title for cell in definition.cells}
    for family, words in families.items():
        say(console, f"{family}: {words}")
    baselines = Table(["baseline", "controller"], words=2)
    for each in definition.baselines:
        text = (
            "none"
            if each.controller is None
            else ", ".join(f"{name} {value}" for name, value in each.controller.items())
        )
        baselines.add([each.name, text])
    draw(console, baselines)


def print_optima(found: Mapping[str, Sequence[Optimum]], definition: Definition) -> None:
    """Prints the optima, as means over their seeds."""
    console = new_console()
    table = Table(["cell", *(f"{limit:.0%}".replace("%", " %") for limit in definition.leagues)])
    for name, each in found.items():
        means = [
            math.fsum(optimum.shares[number] for optimum in each) / len(each)
            for number in range(len(definition.leagues))
        ]
        table.add([name, *(f"{100 * mean:.1f}" for mean in means)])
    show(console, "Energy of the offline optimum in per cent of always-on's, by league", table)


def print_record(record: Record, definition: Definition, *, whole: bool) -> None:
    """Prints a submission's scores; with `whole` also its cells."""
    console = new_console()
    kind = record.document["seeds"]["kind"]
    if whole:
        columns = ["cell", "energy (%)", "p95 (times)", "goodput (times)", *_titles(record)]
        table = Table(columns, words=1)
        for cell in record.cells:
            table.add(_cell_row(cell, record))
        show(console, "Energy, completion times and goodput over always-on's; the verdict in each league", table)
    table = Table(["league", "energy (%)", "if undecided (%)", "kept", "undecided", "broken", "optimum (%)", "regret"])
    for league in record.leagues:
        table.add(_league_row(league))
    show(
        console,
        f"{record.name}: {len(record.cells)} of {len(definition.cells)} cells, {len(record.seeds)} {kind} seeds",
        table,
    )
    for line in _notes(record):
        say(console, line)


def print_comparison(records: Sequence[Record], definition: Definition) -> None:
    """Prints a table for each league."""
    console = new_console()
    for number, limit in enumerate(definition.leagues):
        table = Table(COLUMNS, words=2)
        for row in benchmark.league_rows(records, definition, number):
            table.add(row)
        show(
            console, f"League {limit:.0%}: p95 and goodput within {limit:.0%} of always-on's".replace("%", " %"), table
        )
    cells = len(records[0].cells)
    if cells < len(definition.cells):
        say(console, f"The scores are over the {cells} cells that all of these results have.")
    if not all(map(benchmark.is_ranked, records)):
        say(console, "A result without a rank has development seeds, or not all cells and seeds.")


def _titles(record: Record) -> list[str]:
    return [f"{limit:.0%}".replace("%", " %") for limit in record.document["limits"]]


def _league_row(league: League) -> list[str]:
    return [
        f"{league.limit:.0%}".replace("%", " %"),
        f"{100 * league.energy.mean:.1f}"
        + ("" if math.isnan(league.energy.low) else f" ± {100 * league.energy.half_width:.1f}"),
        f"{100 * league.best:.1f} to {100 * league.worst:.1f}",
        str(league.kept),
        str(league.undecided),
        str(league.broken),
        "-" if math.isnan(league.optimum) else f"{100 * league.optimum:.1f}",
        "-" if math.isnan(league.regret) else f"{100 * league.regret:.1f}",
    ]


def _cell_row(cell: CellRows, record: Record) -> list[str]:
    verdicts = [benchmark.standing(cell, limit).standing.value for limit in record.document["limits"]]
    if cell.failed is not None:
        return [cell.name, "failed", "-", "-", *verdicts]
    energy = 100 * math.fsum(cell.energy) / len(cell.energy)
    worst = max(cell.growth.values(), key=lambda interval: interval.mean, default=None)
    return [cell.name, f"{energy:.1f}", "-" if worst is None else _around(worst), _around(cell.goodput), *verdicts]


def _around(value: Interval) -> str:
    """A ratio with its interval; without bounds the ratio alone."""
    if math.isfinite(value.low):
        return f"{value.mean:.3f} [{value.low:.3f}, {value.high:.3f}]"
    return "-" if math.isnan(value.mean) else f"{value.mean:.3f}"


def _notes(record: Record) -> list[str]:
    failed = [cell for cell in record.cells if cell.failed is not None]
    lines = [f"Failed in {cell.name}, which counts as broken: {cell.failed}" for cell in failed[:_MOST_FAILED]]
    if len(failed) > _MOST_FAILED:
        lines.append(f"Failed in {len(failed) - _MOST_FAILED} more cells.")
    still = sum(cell.failed is None and set(cell.energy) == {1.0} for cell in record.cells)
    if still:
        lines.append(f"Always at the highest rate in {still} of {len(record.cells)} cells.")
    undecided = [league for league in record.leagues if league.undecided]
    if undecided:
        lines.append("Undecided: the interval of a cell holds the limit. Such a cell counts by its mean.")
    if not record.document["whole"]:
        lines.append("Not all cells and seeds: this result cannot be ranked.")
    return lines
