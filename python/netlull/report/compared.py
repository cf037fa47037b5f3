"""A comparison as a table with the sentences needed to interpret it, for `netlull compare` and for reports."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.compare import Verdict
from netlull.numbers import digits, percent, plus_minus, scaled
from netlull.report.page import TableBlock
from netlull.sweep.table import window_words

if TYPE_CHECKING:
    from netlull.compare import Compared, Comparison
    from netlull.stats import Interval

__all__ = ["comparison_lines", "comparison_table"]

_FOR_A_SENTENCE = 2
"""With fewer intervals, chance needs no explanation."""


def comparison_table(found: Comparison) -> TableBlock:
    """A row per metric and point. The columns before `n` are text."""
    a, b = found.names
    axes = list(dict.fromkeys(axis for row in found.rows for axis in row.at))
    corrected = ["p (Holm)"] if found.options.correct else []
    header = ["metric", *axes, "n", a, b, "difference", "relative", *corrected, "may hide", "verdict"]
    rows = []
    for row in found.rows:
        unit, divisor = found.unit_of(row.metric)
        cells = [
            f"{row.metric} [{unit}]" if unit else row.metric,
            *(row.at.get(axis, "-") for axis in axes),
            str(row.difference.n),
        ]
        seconds = found.seconds_of(row.metric)
        cells += [digits(mean / divisor) + _watts(mean, seconds) for mean in (row.a_mean, row.b_mean)]
        difference = _difference(row, divisor, bootstrap=found.options.bootstrap)
        cells += [difference + _watts(row.difference.mean, seconds), _relative(row.relative)]
        cells += [digits(row.p_value, 2)] * len(corrected)
        rows.append([*cells, _hidden(row, divisor), _words(row)])
    kind = "bootstrap" if found.options.bootstrap else "confidence"
    return TableBlock(f"{b} minus {a}, with {100 * found.options.level:g} % {kind} intervals", header, rows)


def _watts(joules: float, seconds: float | None) -> str:
    """The mean power of an energy, in brackets."""
    return f" ({scaled(joules / seconds, 'W')})" if seconds else ""


def _difference(row: Compared, divisor: float, *, bootstrap: bool) -> str:
    mean, low, high = (side / divisor for side in (row.difference.mean, row.difference.low, row.difference.high))
    if bootstrap and not math.isnan(low):
        return f"{digits(mean)} [{digits(low, 3)}, {digits(high, 3)}]"
    return plus_minus(mean, (high - low) / 2, max(abs(row.a_mean), abs(row.b_mean)) / divisor)


def _relative(interval: Interval) -> str:
    if math.isinf(interval.low):
        return f"{percent(interval.mean)} (no bounds)"
    if math.isnan(interval.low):
        return percent(interval.mean)
    low, high = (percent(edge).removesuffix(" %") for edge in (interval.low, interval.high))
    return f"{percent(interval.mean)} [{low}, {high}]"


def _words(row: Compared) -> str:
    words = row.verdict.value
    if row.verdict is Verdict.NONE and row.hidden == 0:
        words = "the same in every pair"
    return words if row.paired else f"{words} (unpaired)"


def _hidden(row: Compared, divisor: float) -> str:
    """The largest difference that the interval does not exclude."""
    return digits(row.hidden / divisor, 2) if row.verdict is Verdict.NONE and row.hidden else "-"


def comparison_lines(found: Comparison) -> list[str]:
    """The measured part, the pairing, chance, doubts and notes, a sentence each."""
    lines = [window_words(found.windows)]
    if any(row.paired for row in found.rows):
        lines.append("Pairs have the same seed: the same random traffic in both (common random numbers).")
    if found.intervals >= _FOR_A_SENTENCE:
        lines.append(_about_chance(found))
    doubtful = [row for row in found.rows if row.doubt]
    if doubtful:
        # A doubt shared by many rows appears once.
        told = list(dict.fromkeys(f"{row.metric}{_at(row)}: {row.doubt}" for row in doubtful))
        more = f"; and {len(told) - 3} more" if len(told) > 3 else ""
        lines.append(
            f"Warning: these intervals may mislead ({'; '.join(told[:3])}{more}); with random traffic more seeds help."
        )
    lines += [f"Note: {note}." for note in found.notes]
    return [line for line in lines if line]


def _at(row: Compared) -> str:
    """The point of a row whose values are skewed, in words; empty if there is only one. Few seeds are so everywhere."""
    if not row.at or not str(row.doubt).startswith("skewed"):
        return ""
    return f" at {', '.join(f'{axis}={label}' for axis, label in row.at.items())}"


def _about_chance(found: Comparison) -> str:
    count, level = found.intervals, found.options.level
    if found.options.correct:
        return (
            f"Verdicts by Holm's correction: any error among the {count} has probability at most {1 - level:.2g}. "
            "The intervals are not corrected."
        )
    return (
        f"Of {count} intervals at {100 * level:g} %, {found.expected_misses:.2g} miss the true value by chance on "
        "average (one in twenty at 95 %)"
        + ("." if found.options.bootstrap else "; --correct holm corrects the verdicts.")
    )
