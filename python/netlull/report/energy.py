"""The files of an answer: a report of one page, the energy by hour and cause, the links."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from netlull import plot
from netlull.fleet.power import CAUSES
from netlull.numbers import count, digits, percent, scaled
from netlull.quantities import rate_text
from netlull.report.page import Fact, FigureBlock, Page, Section, TableBlock, render
from netlull.results.energy import CAUSE_WORDS
from netlull.results.output import MANIFEST, file_record, origin, staged_folder, write_json
from netlull.topology import Line, Node, Topology
from netlull.topology.state import LineState, Part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from netlull.fleet.answer import Answer, Names

__all__ = ["KIND", "energy_report"]

KIND = "energy"
_REPORT, _HOURS, _LINKS = "report.html", "hours.csv", "links.csv"
_MOST_ROWS = 2000
_ABOUT_SLEEP = (
    "Hypnos puts a link to sleep if the links of its two devices have room for its load, until its budget of rerouted "
    "traffic is spent (docs/models/hypnos.md). It sees link loads only."
)
_ABOUT_SOURCES = (
    "A transceiver without a measured power has the most that its maker states (`netlull list transceivers`)."
)
_ABOUT_LINKS = "Without a bridge the network falls apart: a bridge never sleeps."


def energy_report(answer: Answer, folder: Path, *, anonymise: bool = False) -> Path:
    """Writes `report.html`, `hours.csv` and `links.csv` into a new folder, or over earlier results; returns the report.

    `anonymise` replaces the names of devices, interfaces and files by numbers.

    Raises:
        OutputError: the folder holds other files, or cannot be written.
    """
    names = answer.names(anonymise=anonymise)
    with staged_folder(folder, kind=KIND) as stage:
        (stage / _REPORT).write_text(render(_page(answer, names)), encoding="utf-8", newline="\n")
        (stage / _HOURS).write_text(_csv(_hours(answer)), encoding="utf-8", newline="\n")
        (stage / _LINKS).write_text(_csv(_links(answer, names)), encoding="utf-8", newline="\n")
        files = {name: file_record(stage / name) for name in (_REPORT, _HOURS, _LINKS)}
        write_json(stage / MANIFEST, {"kind": KIND, "files": files, **origin()})
    return folder / _REPORT


def _csv(rows: Sequence[Sequence[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(
        [f"{cell:.9g}" if isinstance(cell, float) else cell for cell in row] for row in rows
    )
    return file.getvalue()


def _hours(answer: Answer) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = [("hour", *(f"{cause}_kwh" for cause in CAUSES), "total_kwh")]
    return rows + [(hour.isoformat(), *kwh.tolist(), float(kwh.sum())) for hour, kwh in answer.by_hour()]


def _links(answer: Answer, names: Names) -> list[Sequence[Any]]:
    saved = ("sleep", "unplugged", "adaptation", "idle")
    rows: list[Sequence[Any]] = [
        ("link", "speed_bps", "bridge", "mean_utilisation", "asleep_share", *(f"saved_{each}_w" for each in saved))
    ]
    rows += [
        (name, facts.link.speed_bps, "yes" if facts.is_bridge else "no", facts.utilisation, facts.asleep, *facts.saved)
        for name, facts in zip(names.links, answer.by_link(), strict=True)
    ]
    return rows


def _page(answer: Answer, names: Names) -> Page:
    inventory = answer.fleet.inventory
    return Page(
        title="What would it save?",
        subtitle=f"{len(inventory.models)} devices, {len(answer.links)} links, {digits(answer.hours)} hours",
        summary=answer.sentence,
        scope=_scope(answer),
        facts=[
            Fact("mean power", scaled(answer.mean_w, "W")),
            Fact("boxes without ports", percent(dict(answer.by_cause()).get("base", 0.0) / answer.mean_w)),
            Fact("mean utilisation", percent(answer.utilisation)),
            *(
                Fact(words, f"{scaled(stated, 'W')}; here {scaled(ours, 'W')}")
                for words, stated, ours in answer.compared()
            ),
        ],
        claims=[],
        sections=[
            Section(
                "power", "What draws it", [],
                [TableBlock("Mean power and energy by cause", *answer.power_table())], _power_figure(answer),
            ),
            Section("savings", "What could be saved", [], _savings(answer)),
            Section("plans", "Plans", answer.about_plans(), [TableBlock("Plans", *answer.plans_table())]),
            Section("sleep", "Links asleep", [_ABOUT_SLEEP], [_classes(answer)], _sleep_figures(answer, names)),
            Section("assumptions", "Assumptions", answer.notes(names)),
            Section("sources", "Sources of the powers", [_ABOUT_SOURCES], [_sources(answer, names)], folded=True),
            Section("devices", "Every device", [], [_devices(answer, names)], folded=True),
            Section("links", "Every link", [_ABOUT_LINKS], [_link_table(answer, names)], folded=True),
        ],
        readings=[],
        reading_tables=[],
        appendix=[],
        manifest=[Fact(name, str(value)) for name, value in origin().items() if value],
        scenario="",
        kind="energy report",
    )  # fmt: skip


def _savings(answer: Answer) -> list[TableBlock]:
    return [TableBlock("Savings", *answer.savings_table())] if answer.schemes else []


def _scope(answer: Answer) -> str:
    first = answer.by_hour()[0][0]
    length = f"{count(answer.loads.intervals)} intervals of {digits(answer.loads.step_s)} s"
    return f"{length} from {first:%Y-%m-%d %H:%M %Z}."


def _power_figure(answer: Answer) -> list[FigureBlock]:
    hours = answer.by_hour()
    if len(hours) < 2:
        return []
    with plot.styled():
        drawn = plot.figure(plot.DOUBLE_COLUMN, 3.0)
        axes = drawn.add_subplot()
        # Steps: a month has 720 hours, and bars would be elements of the page for each of them and each cause.
        edges = np.arange(len(hours) + 1)
        below = np.zeros(len(hours) + 1)
        for place, (cause, words) in enumerate(CAUSE_WORDS.items()):
            kwh = np.array([each[CAUSES.index(cause)] for _, each in hours])
            if np.any(kwh):
                above = below + np.append(kwh, kwh[-1])
                colour = plot.COLOURS[place % len(plot.COLOURS)]
                # An edge of the same colour shows thin layers, too.
                axes.fill_between(
                    edges, below, above, step="post", label=words, color=colour, edgecolor=colour, linewidth=0.5
                )
                below = above
        axes.set_xlim(0, len(hours))
        axes.set_ylim(0, None)
        shown = edges[: -1 : max(1, len(hours) // 8)]
        axes.set_xticks(shown, [f"{hours[place][0]:%d %b %H:%M}" for place in shown])
        axes.set_ylabel("energy in an hour (kWh)")
        axes.set_xlabel(f"hour ({hours[0][0]:%Z})")
        plot.legend_above(drawn, [axes], 4)
    caption = "The energy of the devices in each hour, by cause."
    return [FigureBlock("hours", "Energy by hour", caption, plot.svg_text(drawn))]


def _node_names(names: Sequence[str]) -> list[str]:
    """The names of devices as nodes of a topology, whose names lack some characters; no two are equal."""
    found: dict[str, None] = {}
    for name in names:
        plain = re.sub(r"[^\w -]", "-", name).strip() or "-"
        while plain in found:
            plain += "'"
        found[plain] = None
    return list(found)


def _sleep_figures(answer: Answer, names: Names) -> list[FigureBlock]:
    load: dict[frozenset[str], float] = {}
    off: dict[frozenset[str], bool] = {}
    lines: dict[frozenset[str], Line] = {}
    shown = _node_names([names.devices[name] for name in answer.fleet.inventory.models])
    nodes = dict(zip(answer.fleet.inventory.models, shown, strict=True))
    for facts in answer.by_link():
        link = facts.link
        one, other = (nodes[device] for device in link.devices)
        if one == other:
            continue
        ends = frozenset((one, other))
        lines.setdefault(ends, Line(one, other, None, rate_text(link.speed_bps)))
        load[ends] = max(load.get(ends, 0.0), facts.utilisation)
        off[ends] = off.get(ends, True) and facts.asleep >= 0.5
    used = dict.fromkeys(name for line in lines.values() for name in (line.a, line.b))
    if not used or len(used) > _MOST_ROWS or len(lines) > 2 * _MOST_ROWS:
        return []
    network = Topology("the network", tuple(map(Node, used)), tuple(lines.values()))
    states = {ends: LineState(load=load[ends], asleep=off[ends]) for ends in lines}
    drawn = plot.network_map(network, Part("", states), title="Links asleep for at least half of the time")
    caption = "Dashed links sleep in at least half of the intervals. Colours show the mean load of the others."
    return [FigureBlock("map", "Map", caption, plot.svg_text(drawn))]


def _classes(answer: Answer) -> TableBlock:
    rows = [
        [speed, str(links), str(most), digits(mean), percent(mean / links)]
        for speed, links, most, mean in answer.by_class()
    ]
    header = ["capacity", "links", "most asleep at once", "mean asleep", "share"]
    return TableBlock("Links that Hypnos chooses, by capacity", header, rows)


def _sources(answer: Answer, names: Names) -> TableBlock:
    models = list(answer.fleet.inventory.models.values())

    def source(model: str, table: Mapping[str, Any]) -> str:
        """The source; not that of the user's own table if its name is hidden."""
        hidden = names.models[model] != model and "source" in answer.fleet.tables[model]
        return "-" if hidden else str(table.get("source") or "-")

    rows = [
        [names.models[model], str(models.count(model)), source(model, table)]
        for model, table in answer.fleet.described.items()
    ]
    return TableBlock("Models", ["model", "devices", "source"], rows)


def _devices(answer: Answer, names: Names) -> TableBlock:
    shown = [CAUSES.index(cause) for cause, _ in answer.by_cause()]
    rows = [
        [
            names.devices[name],
            names.models[answer.fleet.inventory.models[name]],
            *(digits(float(watts)) for watts in (each.sum(), *each[shown])),
        ]
        for name, each in answer.power.devices.items()
    ]
    header = ["device", "model", "all (W)", *(f"{CAUSE_WORDS[CAUSES[place]]} (W)" for place in shown)]
    return TableBlock(f"Mean power of devices{_first(rows)}", header, rows[:_MOST_ROWS], sortable=True)


def _link_table(answer: Answer, names: Names) -> TableBlock:
    rows = [
        [
            name,
            rate_text(facts.link.speed_bps),
            "yes" if facts.is_bridge else "no",
            percent(facts.utilisation),
            percent(facts.asleep),
            *map(digits, facts.saved),
        ]
        for name, facts in zip(names.links, answer.by_link(), strict=True)
    ]
    header = ["link", "speed", "bridge", "mean utilisation", "asleep under Hypnos", "asleep it saves (W)",
              "unplugged (W)", "by lower speeds (W)", "by low-power idle (W)"]  # fmt: skip
    return TableBlock(
        f"Links, with the watts that each would save by itself{_first(rows)}", header, rows[:_MOST_ROWS], sortable=True
    )


def _first(rows: Sequence[object]) -> str:
    return f" (the first {_MOST_ROWS} of {len(rows)})" if len(rows) > _MOST_ROWS else ""
