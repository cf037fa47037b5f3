"""Effects of the readings on the result: the quick grid again with every alternative, and with every supported pair."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from netlull.papers.measure import STORE, headlines, judged, measure
from netlull.papers.outcome import Evidence, Verdict
from netlull.papers.plan import plan
from netlull.papers.text import plain_table
from netlull.sweep import Cost

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from netlull.papers.documents import Alternative, Paper, Reading
    from netlull.papers.measure import Execution

    Picked = tuple[Reading, Alternative]


@dataclass(frozen=True)
class Effect:
    """The verdicts and headline numbers under one choice of readings."""

    label: str
    changes: tuple[tuple[str, str], ...]
    verdicts: dict[str, Verdict]
    numbers: dict[str, float]

    @property
    def score(self) -> int:
        """The sum over the claims: 2 for each that holds, 1 for each that holds partly or is undecided."""
        worth = {Verdict.HOLDS: 2, Verdict.PARTLY: 1, Verdict.UNDECIDED: 1, Verdict.FAILS: 0}
        return sum(worth[verdict] for verdict in self.verdicts.values())


def effect_of(label: str, changes: tuple[tuple[str, str], ...], evidence: Evidence) -> Effect:
    """The verdicts and headline numbers of one measurement."""
    verdicts = {claim.id: claim.verdict for claim in judged(evidence)}
    numbers = {line.label: line.measure(evidence) for line in headlines(evidence.paper)}
    return Effect(label, changes, verdicts, numbers)


@dataclass(frozen=True)
class Variations:
    """The chosen readings, each alternative by itself, and the pairs that the paper's words support."""

    base: Effect
    alternatives: list[Effect]
    pairs: list[Effect]
    cost: Cost
    """The cost of the runs that were simulated for these readings."""


def vary(
    paper: Paper,
    folder: Path,
    execution: Execution,
    *,
    seeds: int | None = None,
) -> Variations:
    """Measures the `vary` scope under each alternative, and under every pair of `pairs_of`.

    Args:
        paper: the paper.
        folder: the folder for scenarios, sweeps and their store.
        execution: the means of running the sweeps.
        seeds: replaces the number of seeds wherever there is randomness.
    """
    costs: list[Cost] = []

    def measured(label: str, picked: Sequence[Picked]) -> Effect:
        names = tuple((reading.id, alternative.name) for reading, alternative in picked)
        alternatives = [alternative for _, alternative in picked]
        planned = plan(paper, paper.vary, seeds, alternatives)
        use = {column: metric for alternative in alternatives for column, metric in alternative.use.items()}
        place = folder / ("-".join("_".join(name) for name in names) or "base")
        evidence = measure(
            paper,
            planned,
            place,
            execution=execution,
            stores=(folder / STORE, folder.parent / STORE),
            use=use,
        )
        costs.append(evidence.cost)
        return effect_of(label, names, evidence)

    base = measured("as chosen", ())
    single = [
        measured(alternative.label, [(reading, alternative)])
        for reading in paper.readings
        for alternative in reading.alternatives
    ]
    pairs = [measured(_named(pair), pair) for pair in pairs_of(paper)]
    return Variations(base, single, pairs, sum(costs, Cost()))


def pairs_of(paper: Paper) -> list[tuple[Picked, Picked]]:
    """The pairs of alternatives of two readings that the paper's words support. A pair changes no field twice."""
    supported = [
        (reading, alternative)
        for reading in paper.readings
        for alternative in reading.alternatives
        if alternative.words
    ]
    return [
        (one, other)
        for one, other in itertools.combinations(supported, 2)
        if one[0].id != other[0].id and not one[1].changed & other[1].changed
    ]


def _named(picked: Sequence[Picked]) -> str:
    return ", ".join(f"{reading.id} {alternative.name}" for reading, alternative in picked)


def verdict_table(effects: Sequence[Effect]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: readings against claims. The score counts 2 for holds, and 1 for partly and undecided."""
    header = ["readings", *effects[0].verdicts, "score"]
    rows = [
        [effect.label, *(verdict.value for verdict in effect.verdicts.values()), str(effect.score)]
        for effect in effects
    ]
    return header, rows


def number_table(effects: Sequence[Effect], paper: Paper) -> tuple[list[str], list[list[str]]]:
    """Header and rows: readings against headline numbers, in the units of the header."""
    header = ["readings", *(f"{line.label} ({line.unit})" for line in headlines(paper))]
    return header, [[effect.label, *(_shown(value) for value in effect.numbers.values())] for effect in effects]


def tables_of(found: Variations) -> list[tuple[str, list[Effect]]]:
    """The titles and rows of the tables; a table may be empty."""
    return [
        ("One reading changed", [found.base, *found.alternatives]),
        (f"Every pair of readings that the paper's words support ({len(found.pairs)})", found.pairs),
    ]


def as_csv(found: Variations, paper: Paper) -> str:
    """A row for each choice of readings: names of alternatives, verdicts by claim, score, headline numbers."""
    effects = [found.base, *found.alternatives, *found.pairs]
    verdicts, numbers = verdict_table(effects), number_table(effects, paper)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*verdicts[0], *numbers[0][1:]])
    for effect, row, more in zip(effects, verdicts[1], numbers[1], strict=True):
        writer.writerow([", ".join(map(" ".join, effect.changes)) or effect.label, *row[1:], *more[1:]])
    return file.getvalue()


def as_text(found: Variations, paper: Paper) -> str:
    """The tables as text for the terminal and for a file. Numbered columns fit any width."""
    parts = []
    for title, effects in tables_of(found):
        if not effects:
            continue
        parts.append(f"{title}: verdicts\n\n{plain_table(*verdict_table(effects))}")
        header, rows = number_table(effects, paper)
        legend = "\n".join(f"  {index}: {name}" for index, name in enumerate(header[1:], start=1))
        numbered = plain_table([header[0], *(str(index) for index in range(1, len(header)))], rows)
        parts.append(f"{title}: numbers\n\n{legend}\n\n{numbered}")
    return "\n\n\n".join(parts) + "\n"


def told(effect: Effect, base: Effect) -> str:
    """The effect of an alternative in one sentence: changed verdicts, and the numbers that change most."""
    changed = [
        f"{claim} {base.verdicts[claim]} → {verdict}"
        for claim, verdict in effect.verdicts.items()
        if verdict is not base.verdicts[claim]
    ]
    moved = sorted(effect.numbers, key=lambda label: -_move(effect.numbers[label], base.numbers[label]))
    shown = [
        f"{label} {_shown(base.numbers[label])} → {_shown(effect.numbers[label])}"
        for label in moved[:3]
        if _move(effect.numbers[label], base.numbers[label]) > 0.02
        and _shown(effect.numbers[label]) != _shown(base.numbers[label])
    ]
    verdicts = ", ".join(changed) if changed else "no verdict changes"
    return f"{verdicts}; {'; '.join(shown) if shown else 'no headline number moves by more than 2 %'}."


def with_effects(text: str, found: Variations) -> str:
    """A copy of readings.toml with the measured `effect` of every alternative. A reading's own effect is kept."""
    effects = {effect.changes[0]: told(effect, found.base) for effect in found.alternatives}
    lines: list[str] = []
    reading, inside = "", False
    for line in text.splitlines():
        if re.fullmatch(r"\[\[reading(\.\w+)*\]\]", line.strip()):
            inside = line.strip() == "[[reading.alternative]]"
        if inside and line.startswith("effect = "):
            continue
        lines.append(line)
        identity = re.fullmatch(r'id = "(.*)"', line)
        if identity and not inside:
            reading = identity.group(1)
        name = re.fullmatch(r'name = "(.*)"', line)
        if inside and name and (reading, name.group(1)) in effects:
            lines.append(f"effect = {json.dumps(effects[reading, name.group(1)], ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _move(value: float, base: float) -> float:
    if not (math.isfinite(value) and math.isfinite(base)):
        return 0.0
    return abs(value - base) / max(abs(value), abs(base), 1.0)


def _shown(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else "-"
