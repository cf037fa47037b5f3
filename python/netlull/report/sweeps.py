"""The report of a sweep: its points and runs, a figure per metric, the energy ledger, every number."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull.errors import ResultError
from netlull.plot import charts_of, svg_text
from netlull.plot.panels import metric_figure
from netlull.plot.sweep import metric_label
from netlull.report.compared import comparison_lines, comparison_table
from netlull.report.ledger import ledger_section, span
from netlull.report.page import Fact, FigureBlock, Page, Section, TableBlock, write
from netlull.report.tries import MOST_TRIES, spread, tries
from netlull.results.output import read_description
from netlull.sweep.description import DESCRIPTION, JOURNAL
from netlull.sweep.stored import stored_points
from netlull.sweep.table import SweepResult, window_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netlull.compare import Comparison

__all__ = ["REPORT", "sweep_page", "sweep_report"]

REPORT = "report.html"
_MOST_ROWS = 2000
_FEW_SEEDS = 5
_MOST_REASONS = 3
_HOPS = re.compile(rb'"packet_hops":(\d{1,18})\b')


def sweep_report(store: str | Path, out: Path | None = None, compared: Comparison | None = None) -> Path:
    """Writes the report of a completed sweep to `out`, by default to `report.html` in its store.

    The same store gives the same bytes. `compared` is a comparison of its points to show, of
    `netlull.compare.compare_with` or `compare_points`.

    Raises:
        ResultError: A file of the store is missing, truncated or damaged; the message names it.
        OutputError: The report cannot be written.
    """
    folder = Path(store)
    result = SweepResult.load(folder)
    document = read_description(folder / DESCRIPTION)
    if document is None:
        raise ResultError(f"{folder / DESCRIPTION}: is truncated or damaged; run the sweep again to rebuild it")
    return write(sweep_page(result, document, _work(folder / JOURNAL), compared), out or folder / REPORT)


def sweep_page(
    result: SweepResult, document: Mapping[str, Any], work: tuple[int, int], compared: Comparison | None = None
) -> Page:
    """The page of a sweep, from its result, its store's description, and the stored runs and their packet-hops."""
    scenario = document.get("scenario", {})
    notes = _notes(result)
    figures, ledger = _with_tries([_figures(result), ledger_section(result.energy, result.windows)], result, document)
    return Page(
        title=str(scenario.get("name") or "sweep"),
        subtitle=str(scenario.get("description") or ""),
        summary=_summary(result),
        scope=window_words(result.windows) or "the measured part of a run is unknown.",
        facts=[*_axis_facts(result), Fact("seeds at a point", _seeds(result)), *_until(result)],
        claims=[],
        sections=[
            *([Section("notes", "Warnings", notes)] if notes else []),
            *([] if compared is None else [_comparison(compared)]),
            *([figures] if figures and figures.figures else []),
            *([] if ledger is None else [ledger]),
            Section("numbers", "Every number", _number_words(result), [_numbers(result)]),
        ],
        readings=[],
        reading_tables=[],
        appendix=[],
        manifest=_manifest(document, work),
        scenario=json.dumps(scenario, indent=2, ensure_ascii=False),
        kind="sweep report",
    )


def _comparison(compared: Comparison) -> Section:
    return Section(
        "compared", f"Compared with {compared.names[0]}", comparison_lines(compared), [comparison_table(compared)]
    )


def _work(journal: Path) -> tuple[int, int]:
    """The number of runs in the store and their packet-hops. Their times would differ after an interruption."""
    runs, hops = 0, 0
    try:
        with journal.open("rb") as lines:
            for line in lines:
                runs += 1
                found = _HOPS.search(line)
                hops += int(found[1]) if found else 0
    except OSError as error:
        raise ResultError(f"{journal}: cannot be read: {error.strerror or error}") from None
    return runs, hops


def _rows(result: SweepResult) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result.summarise().to_pylist()
    return rows


def _summary(result: SweepResult) -> str:
    rows = _rows(result)
    experiments = len({row["experiment"] for row in rows})
    where = f" of {experiments} experiments" if experiments > 1 else ""
    metrics = ", ".join(result.metrics)
    return f"{len(rows):,} points{where}, {result.table.num_rows:,} runs. Metrics: {metrics}."


def _axis_facts(result: SweepResult) -> list[Fact]:
    facts = []
    for axis in result.axes:
        labels = [label for label in dict.fromkeys(result.table[f"{axis}_label"].to_pylist()) if label is not None]
        shown = ", ".join(labels) if len(labels) <= 24 else span(labels)
        unit = f" ({result.units[axis]})" if result.units.get(axis) else ""
        facts.append(Fact(f"axis {axis}{unit}", shown))
    return facts


def _seeds(result: SweepResult) -> str:
    counts = sorted({row["runs"] for row in _rows(result)})
    if not counts:
        return "none"
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _until(result: SweepResult) -> list[Fact]:
    if result.until is None:
        return []
    return [Fact("seeds until", ", ".join(str(each) for each in result.until.conditions))]


def _notes(result: SweepResult) -> list[str]:
    # Warnings and doubts begin with the name of a field or a metric: no capital letter is added.
    notes = [f"{text}." for text in result.warnings]
    counts = [row["runs"] for row in _rows(result)]
    single = sum(count == 1 for count in counts)
    few = sum(1 < count < _FEW_SEEDS for count in counts)
    if single:
        notes.append(f"{single} of {len(counts)} points have a single run, so their values have no interval.")
    if few:
        notes.append(
            f"{few} of {len(counts)} points have fewer than {_FEW_SEEDS} seeds. Their intervals are wide, and assume "
            "that runs are normally distributed."
        )
    notes += [f"{text}." for text in [result.equal_seeds()] if text]
    notes += [f"{text}." for text in result.doubts() if not text.startswith("only")]
    notes += [f"{text}." for text in result.gaps()]
    notes += [f"Condition not reached: {text}." for text in result.unmet]
    if result.energy is None:
        notes.append(
            "The store has no energy of its runs, so the energy ledger is left out. Run the sweep again to add it."
        )
    return notes


def _figures(result: SweepResult) -> Section:
    blocks: list[FigureBlock] = []
    for metric in result.metrics:
        found = metric_figure(result, metric)
        if found is None:
            continue
        colours = f", a colour for each {found.by}" if found.by else ""
        more = f" The table alone has {found.left_out} more panels." if found.left_out else ""
        if found.without:
            more += f" {found.without} of {len(_rows(result))} points have no place on these axes: the table has them."
        places = f"{' and '.join(found.x)}, a panel each" if len(found.x) > 1 else found.x[0]
        caption = f"Over {places}{colours}. Means over seeds; bands and bars are 95 % intervals (Student's t)."
        drawn = found.figure
        blocks.append(FigureBlock(f"metric-{len(blocks)}", metric, caption + more, svg_text(drawn), charts_of(drawn)))
    return Section("figures", "Figures", figures=blocks)


def _with_tries(
    sections: Sequence[Section | None], result: SweepResult, document: Mapping[str, Any]
) -> list[Section | None]:
    """The sections with the points of the sweep at each figure, evenly spread if there are very many."""
    names = [f"{axis}_label" for axis in result.axes]
    table: dict[str, list[Any]] = result.table.select(["experiment", *names, "seed"]).to_pydict()
    first: dict[tuple[Any, ...], int] = {}
    for row, place in enumerate(zip(*(table[name] for name in ("experiment", *names)), strict=True)):
        first.setdefault(place, row)
    chosen = spread(list(first.values()), MOST_TRIES)
    stored, reasons = stored_points(document, table, chosen)
    points = tries(stored, result.units)
    reasons += ["its plug-ins do not run in the lab"] * (len(stored) - len(points))
    shown = len(first) if len(chosen) < len(first) else len(points)
    left_out = _left_out(reasons, len(chosen))

    def with_points(section: Section) -> Section:
        if not section.figures:
            return section
        figures = [replace(figure, points=points, shown=shown) for figure in section.figures]
        return replace(section, figures=figures, text=[*section.text, *left_out])

    return [None if section is None else with_points(section) for section in sections]


def _left_out(reasons: Sequence[str], points: int) -> list[str]:
    """The line on the points that the lab cannot open, with the first reasons."""
    if not reasons:
        return []
    different = list(dict.fromkeys(reasons))
    more = f"; and {len(different) - _MOST_REASONS} more" if len(different) > _MOST_REASONS else ""
    return [f"The lab cannot open {len(reasons)} of {points} points: {'; '.join(different[:_MOST_REASONS])}{more}."]


def _number_words(result: SweepResult) -> list[str]:
    points = len(_rows(result))
    words = ["Means over seeds ± half the width of the 95 % interval (Student's t). A single run has no interval."]
    if points > _MOST_ROWS:
        words.append(f"The table has the first {_MOST_ROWS:,} of {points:,} points; results.parquet has every run.")
    return words


def _numbers(result: SweepResult) -> TableBlock:
    rows = _rows(result)
    several = len({row["experiment"] for row in rows}) > 1
    header = [
        *(["experiment"] if several else []),
        *result.axes,
        "runs",
        *(metric_label(result, metric)[0] for metric in result.metrics),
    ]
    table = []
    for row in rows[:_MOST_ROWS]:
        cells = [row["experiment"]] if several else []
        cells += [row[f"{axis}_label"] or "" for axis in result.axes]
        cells += [str(row["runs"]), *(_value(row, metric, result.unit_of(metric)[1]) for metric in result.metrics)]
        table.append(cells)
    return TableBlock("Every point", header, table, sortable=True)


def _value(row: Mapping[str, Any], metric: str, scale: float) -> str:
    """Text such as `5.901 ± 0.012`: the interval sets the digits, and the column's header the unit."""
    mean, low, high = (math.nan if row[name] is None else row[name] / scale for name in _sides(metric))
    half = (high - low) / 2
    if math.isnan(mean):
        return "none"
    if math.isnan(half) or half == 0:
        return f"{mean:,.6g}"
    digits = min(max(1 - math.floor(math.log10(half)), 0), 9)
    return f"{mean:,.{digits}f} ± {half:,.{digits}f}"


def _sides(metric: str) -> tuple[str, str, str]:
    return metric, f"{metric}_low", f"{metric}_high"


def _manifest(document: Mapping[str, Any], work: tuple[int, int]) -> Sequence[Fact]:
    runs, hops = work
    facts = [
        Fact("netlull" if name == "version" else name, str(document.get(name) or "unknown"))
        for name in ("version", "engine", "commit")
    ]
    facts.append(Fact("runs in the store", f"{runs:,}"))
    if hops:
        facts.append(Fact("packet-hops in the store", f"{hops:,}"))
    for name, path in document.get("metrics", {}).items():
        facts.append(Fact(f"metric {name}", path))
    return facts
