"""Effects of the readings on the result: the quick grid again with every alternative and chosen combinations."""

from __future__ import annotations

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
    """The chosen readings, each alternative by itself, and the combinations searched."""

    base: Effect
    alternatives: list[Effect]
    combinations: list[Effect]
    cost: Cost
    """The cost of the runs that were simulated for these readings."""


def vary(
    paper: Paper,
    folder: Path,
    execution: Execution,
    *,
    seeds: int | None = None,
) -> Variations:
    """Measures the `vary` scope under each alternative, and under every combination of the searched readings.

    Args:
        paper: the paper.
        folder: the folder for scenarios, sweeps and their store.
        execution: the means of running the sweeps.
        seeds: replaces the number of seeds wherever there is randomness.
    """
    costs: list[Cost] = []

    def measured(label: str, picked: Sequence[tuple[Reading, Alternative]]) -> Effect:
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
    searched = [reading for reading in paper.readings if reading.id in paper.search_over]
    options = [[None, *reading.alternatives] for reading in searched]
    known = {effect.changes: effect for effect in [base, *single]}
    combinations = []
    for chosen in itertools.product(*options) if searched else ():
        picked = [(reading, option) for reading, option in zip(searched, chosen, strict=True) if option is not None]
        names = tuple((reading.id, option.name) for reading, option in picked)
        label = ", ".join(
            f"{reading.id} {option.name if option else 'as chosen'}"
            for reading, option in zip(searched, chosen, strict=True)
        )
        done = known.get(names)
        combinations.append(Effect(label, names, done.verdicts, done.numbers) if done else measured(label, picked))
    return Variations(base, single, combinations, sum(costs, Cost()))


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


def as_text(found: Variations, paper: Paper) -> str:
    """The tables as text for the terminal and for a file. Numbered columns fit any width."""
    parts = []
    for title, effects in (
        ("One reading changed", [found.base, *found.alternatives]),
        (f"Every combination of {', '.join(paper.search_over)}", found.combinations),
    ):
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
