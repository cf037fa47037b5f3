"""Where the joules went: static, rate-dependent, traffic and transitions, by power model and scenario."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull.plot.charts import Series, record
from netlull.plot.style import COLOURS, DOUBLE_COLUMN, figure, legend_above, styled
from netlull.report.page import TableBlock

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PARTS", "Entry", "ledger", "ledger_figure", "ledger_table", "metered"]

PARTS = {
    "static_j": "static",
    "rate_dependent_j": "rate-dependent",
    "traffic_j": "bits and packets",
    "transitions_j": "transitions",
}
"""The parts of a link's energy by their fields in a run's summary."""
_MOST_BARS = 24
_COLUMNS = 3


@dataclass(frozen=True)
class Entry:
    """Energy of a link under a power model in a scenario, in joules a run: means over the scenario's runs."""

    scenario: str
    link: str
    model: str
    runs: int
    parts: Mapping[str, float]
    total_j: float
    reference_j: float
    """The same traffic with the link always at its maximum rate."""


def metered(summary: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, float]]:
    """The energy of every link that has power models, by link and model."""
    return {
        (link["name"], model): energy
        for link in summary["links"]
        for model, energy in (link.get("energy") or {}).items()
    }


def ledger(runs: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Entry]:
    """Adds up the energy of runs, each with the name of its scenario; links that never vary their rate are left out."""
    found: dict[tuple[str, str, str], list[Mapping[str, float]]] = {}
    varied: set[str] = set()
    for scenario, summary in runs:
        for (link, model), energy in metered(summary).items():
            found.setdefault((scenario, link, model), []).append(energy)
        varied |= {link["name"] for link in summary["links"] if link.get("rate_changes")}
    kept = {key: energies for key, energies in found.items() if not varied or key[1] in varied}
    return [_entry(key, energies) for key, energies in kept.items()]


def _entry(key: tuple[str, str, str], energies: Sequence[Mapping[str, float]]) -> Entry:
    def mean(field: str) -> float:
        return math.fsum(float(energy[field]) for energy in energies) / len(energies)

    parts = {name: mean(field) for field, name in PARTS.items()}
    return Entry(*key, len(energies), parts, mean("total_j"), mean("reference_j"))


def ledger_table(entries: Sequence[Entry]) -> TableBlock:
    """The ledger as a table; the parts of a row add up to its total."""
    header = ["Scenario", "Link", "Power model", *(f"{name} (J)" for name in PARTS.values()), "total (J)", "saved (%)"]
    rows = []
    for entry in entries:
        parts = [f"{entry.parts[name]:,.2f}" for name in PARTS.values()]
        saved = f"{100 * (1 - entry.total_j / entry.reference_j):.1f}" if entry.reference_j else "none"
        rows.append([f"{entry.scenario}", entry.link, entry.model, *parts, f"{entry.total_j:,.2f}", saved])
    caption = (
        "Energy of a run in joules, means over the runs of each scenario. Saved: against the same link always at its "
        "maximum rate. A model without a stated power has 1 W there."
    )
    return TableBlock(caption, header, rows, sortable=True)


def ledger_figure(entries: Sequence[Entry]) -> Figure | None:
    """Stacked bars, a panel per power model and a bar per scenario; None if there are no or too many bars."""
    models = list(dict.fromkeys(entry.model for entry in entries))
    names = list(dict.fromkeys(_bar(entry, entries) for entry in entries))
    if not models or len(names) > _MOST_BARS:
        return None
    columns = min(len(models), _COLUMNS)
    lines = math.ceil(len(models) / columns)
    used_parts = [name for name in PARTS.values() if any(entry.parts[name] for entry in entries)]
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
    """The bar's name: the link is in it where there are several."""
    several = len({other.link for other in entries}) > 1
    return f"{entry.scenario}, {entry.link}" if several else entry.scenario


def _draw(
    axes: Axes, model: str, shown: Sequence[Entry], names: Sequence[str], parts: Sequence[str], entries: Sequence[Entry]
) -> None:
    places = [float(names.index(_bar(entry, entries))) for entry in shown]
    base = [0.0] * len(shown)
    for part in parts:
        heights = [entry.parts[part] for entry in shown]
        colour = list(PARTS.values()).index(part)
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
