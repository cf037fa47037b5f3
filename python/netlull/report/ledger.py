"""The energy ledger: static, rate-dependent, traffic and transition energy, by power model and scenario."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull.plot.charts import Series, charts_of, record
from netlull.plot.style import COLOURS, DOUBLE_COLUMN, figure, legend_above, styled, svg_text
from netlull.report.page import FigureBlock, Section, TableBlock
from netlull.results.energy import PART_WORDS
from netlull.sweep.table import measured_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.sweep.table import Window

__all__ = ["Entry", "averaged_over", "ledger", "ledger_figure", "ledger_section", "ledger_table", "span"]

_MOST_BARS = 24
_COLUMNS = 3
_FEW_POINTS = 4


@dataclass(frozen=True)
class Entry:
    """Mean energy of a link in joules per run, under a power model and over the runs of a scenario."""

    scenario: str
    link: str
    model: str
    runs: int
    parts: Mapping[str, float]
    total_j: float
    reference_j: float
    """Energy of the same traffic with the link always at its maximum rate."""


def ledger(energy: pa.Table) -> list[Entry]:
    """Returns a sweep's energy (`SweepResult.energy`) by scenario: the experiment and its points on axes of names.

    If this gives a single scenario, the points of the first axis with several values separate scenarios.
    """
    rows = energy.to_pylist()
    return _by(rows, _told_apart(rows))


def _told_apart(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The label columns that separate scenarios; the ledger averages over the other columns."""
    labels = _label_columns(rows)
    named = [name for name in labels if any(row[name] is not None and _number(row[name]) is None for row in rows)]
    if len({entry.scenario for entry in _by(rows, named)}) > 1:
        return named
    return next(([name] for name in labels if len({row[name] for row in rows}) > 1), named)


def _label_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [name for name in (rows[0] if rows else ()) if name.endswith("_label")]


def averaged_over(energy: pa.Table) -> list[str]:
    """The axes over which the ledger averages a scenario, with their points: `load 0.1 to 0.9 (9 points)`."""
    rows = energy.to_pylist()
    apart = _told_apart(rows)
    several = len({row["experiment"] for row in rows}) > 1
    told = []
    for name in (name for name in _label_columns(rows) if name not in apart):
        mixed: dict[tuple[str, ...], dict[str, None]] = {}
        for row in rows:
            if row[name] is not None:
                place = (row["experiment"] if several else "", *(str(row[other]) for other in apart))
                mixed.setdefault(place, {})[row[name]] = None
        if any(len(labels) > 1 for labels in mixed.values()):
            points = dict.fromkeys(label for labels in mixed.values() for label in labels)
            told.append(f"{name.removesuffix('_label')} {span(list(points))}")
    return told


def span(labels: Sequence[str]) -> str:
    """A short text for an axis: `1 ms, 2 ms`, or `1 ms to 50 ms (30 points)`, with numbers in ascending order."""
    if len(labels) <= _FEW_POINTS:
        return ", ".join(labels)
    numbers = [_number(label) for label in labels]
    units = {label.partition(" ")[2] for label in labels}
    if len(units) == 1 and None not in numbers:
        labels = sorted(labels, key=lambda label: _number(label) or 0.0)
        return f"{labels[0]} to {labels[-1]} ({len(labels)} points)"
    return f"{labels[0]} ... {labels[-1]} ({len(labels)} points)"


def _number(label: str) -> float | None:
    """The number in a label, with or without a unit; None for a name."""
    try:
        return float(label.split(maxsplit=1)[0])
    except (ValueError, IndexError):
        return None


def _by(rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> list[Entry]:
    several = len({row["experiment"] for row in rows}) > 1
    found: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        words = [row["experiment"]] if several else []
        words += [row[name] for name in labels if row[name] is not None]
        found.setdefault((", ".join(words) or "all points", row["link"], row["model"]), []).append(row)
    return [_entry(key, group) for key, group in found.items()]


def _entry(key: tuple[str, str, str], rows: Sequence[Mapping[str, Any]]) -> Entry:
    runs = sum(int(row["runs"]) for row in rows)

    def mean(field: str) -> float:
        # Tables of older stores have no energy of sleeping links.
        return math.fsum(float(row.get(field, 0.0)) * int(row["runs"]) for row in rows) / runs

    parts = {name: mean(field) for field, name in PART_WORDS.items()}
    return Entry(*key, runs, parts, mean("total_j"), mean("reference_j"))


def ledger_section(energy: pa.Table | None, windows: Sequence[Window] = ()) -> Section | None:
    """The ledger of a sweep as a section of its report; None if no link's rate varied or the energy is unknown."""
    if energy is None or not energy.num_rows:
        return None
    entries, over = ledger(energy), _over(energy, windows)
    drawn = ledger_figure(entries)
    figures = []
    if drawn is not None:
        caption = "Parts of the energy of a run, by power model and scenario. Each model has its own scale."
        caption += over
        figures = [FigureBlock("ledger-figure", "Where the joules went", caption, svg_text(drawn), charts_of(drawn))]
    elif entries:
        over += f" The figure is left out: it has at most {_MOST_BARS} bars."
    text = [
        "Static power does not depend on the rate. Rate scaling can save the rate-dependent part. Traffic takes "
        "energy for each bit and packet. Transitions are the time between two rates, at the power of the higher rate "
        "unless the scenario says otherwise. Links that neither slept nor varied their rate are left out."
    ]
    table = ledger_table(entries, over, measured_seconds(windows))
    return Section("ledger", "Where the joules went", text, [table], figures)


def _over(energy: pa.Table, windows: Sequence[Window]) -> str:
    """The sentence about the axes averaged over; empty if the means are over seeds alone."""
    axes = averaged_over(energy)
    if not axes:
        return ""
    lengths = list(dict.fromkeys((window.warm_up, window.duration) for window in windows))
    listed = span([f"{warm_up} to {duration}" for warm_up, duration in lengths])
    unlike = f" The runs differ in their measured part: {listed}." if len(lengths) > 1 else ""
    return f" Each value is a mean over {', over '.join(axes)}.{unlike}"


def ledger_table(entries: Sequence[Entry], over: str = "", seconds: float | None = None) -> TableBlock:
    """The ledger as a table; the parts of a row add up to its total, and `over` names the axes averaged over.

    `seconds` is the time of the energy, if it is the same for all entries: it gives the mean power.
    """
    header = ["Scenario", "Link", "Power model", *(f"{name} (J)" for name in PART_WORDS.values()), "total (J)"]
    header += [*(["mean power (W)"] if seconds else []), "saved (%)"]
    rows = []
    for entry in entries:
        parts = [f"{entry.parts[name]:,.2f}" for name in PART_WORDS.values()]
        saved = f"{100 * (1 - entry.total_j / entry.reference_j):.1f}" if entry.reference_j else "none"
        watts = [f"{entry.total_j / seconds:,.3f}"] if seconds else []
        rows.append([entry.scenario, entry.link, entry.model, *parts, f"{entry.total_j:,.2f}", *watts, saved])
    caption = (
        "Energy of a run in joules, as means over the runs of each scenario. Savings are relative to the same link "
        "always at its maximum rate, with the same traffic. A model without a stated power has 1 W at that rate. "
        "A measured device stands for a link as a port of its own speed at the link's utilisation."
    )
    caption += over
    return TableBlock(caption, header, rows, sortable=True)


def ledger_figure(entries: Sequence[Entry]) -> Figure | None:
    """Stacked bars: a panel per power model, a bar per scenario. None without bars or with more than `_MOST_BARS`."""
    models = list(dict.fromkeys(entry.model for entry in entries))
    names = list(dict.fromkeys(_bar(entry, entries) for entry in entries))
    if not models or len(names) > _MOST_BARS:
        return None
    columns = min(len(models), _COLUMNS)
    lines = math.ceil(len(models) / columns)
    used_parts = [name for name in PART_WORDS.values() if any(entry.parts[name] for entry in entries)]
    with styled():
        drawn = figure(DOUBLE_COLUMN, 0.5 + lines * (2.1 + 0.05 * max(map(len, names))))
        used = [axes for line in drawn.subplots(lines, columns, squeeze=False) for axes in line]
        for axes, model in zip(used, models, strict=False):
            _draw(axes, model, [entry for entry in entries if entry.model == model], names, used_parts, entries)
        for axes in used[len(models) :]:
            axes.set_axis_off()
        legend_above(drawn, used[:1])
    return drawn


def _bar(entry: Entry, entries: Sequence[Entry]) -> str:
    """The bar's name; it contains the link if there are several."""
    several = len({other.link for other in entries}) > 1
    return f"{entry.scenario}, {entry.link}" if several else entry.scenario


def _draw(
    axes: Axes, model: str, shown: Sequence[Entry], names: Sequence[str], parts: Sequence[str], entries: Sequence[Entry]
) -> None:
    places = [float(names.index(_bar(entry, entries))) for entry in shown]
    base = [0.0] * len(shown)
    for part in parts:
        heights = [entry.parts[part] for entry in shown]
        colour = list(PART_WORDS.values()).index(part)
        bars = axes.bar(places, heights, 0.6, bottom=base, label=part, color=COLOURS[colour])
        record(axes, Series(part, places, heights, base, colour=colour, kind="bars"), bars.patches)
        base = [low + height for low, height in zip(base, heights, strict=True)]
    axes.set_title(model, loc="left")
    long = max(map(len, names)) > 7 or len(names) > 5
    axes.set_xticks(range(len(names)), names, rotation=35 if long else 0, ha="right" if long else "center")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(visible=False, axis="x")
    axes.set_xlabel("Scenario")
    axes.set_ylabel("Energy of a run (J)")
