"""The output of `netlull compare`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import netlull
from netlull.cli.numbers import digits, percent, plus_minus
from netlull.cli.tables import Table, new_console, say, show

if TYPE_CHECKING:
    from netlull.compare import Compared, Comparison
    from netlull.stats import Interval

__all__ = ["print_comparison"]

_FOR_A_SENTENCE = 2
"""With fewer intervals, chance needs no explanation."""


def print_comparison(found: Comparison) -> None:
    """Prints a table of comparisons and the sentences needed to interpret it."""
    a, b = found.names
    out = new_console()
    axes = list(dict.fromkeys(axis for row in found.rows for axis in row.at))
    corrected = ["p (Holm)"] if found.options.correct else []
    columns = ["metric", *axes, "n", a, b, "difference", "relative", *corrected, "may hide", "verdict"]
    table = Table(columns, words=1 + len(axes))
    for row in found.rows:
        cells = [row.metric, *(row.at.get(axis, "-") for axis in axes), str(row.difference.n)]
        cells += [digits(row.a_mean), digits(row.b_mean)]
        cells += [_difference(row, bootstrap=found.options.bootstrap), _relative(row.relative)]
        cells += [digits(row.p_value, 2)] * len(corrected)
        table.add([*cells, _hidden(row), _words(row)])
    kind = "bootstrap" if found.options.bootstrap else "confidence"
    show(out, f"{b} minus {a}, with {100 * found.options.level:g} % {kind} intervals", table)
    for line in _sentences(found):
        say(out, line)


def _difference(row: Compared, *, bootstrap: bool) -> str:
    interval = row.difference
    if bootstrap and not math.isnan(interval.low):
        return f"{digits(interval.mean)} [{digits(interval.low, 3)}, {digits(interval.high, 3)}]"
    return plus_minus(interval.mean, interval.half_width, max(abs(row.a_mean), abs(row.b_mean)))


def _relative(interval: Interval) -> str:
    if math.isinf(interval.low):
        return f"{percent(interval.mean)} (no bounds)"
    if math.isnan(interval.low):
        return percent(interval.mean)
    low, high = (percent(edge).removesuffix(" %") for edge in (interval.low, interval.high))
    return f"{percent(interval.mean)} [{low}, {high}]"


def _words(row: Compared) -> str:
    words = row.verdict.value
    if row.verdict is netlull.compare.Verdict.NONE and row.hidden == 0:
        words = "the same in every pair"
    return words if row.paired else f"{words} (unpaired)"


def _hidden(row: Compared) -> str:
    """The largest difference that the interval does not exclude."""
    return digits(row.hidden, 2) if row.verdict is netlull.compare.Verdict.NONE and row.hidden else "-"


def _sentences(found: Comparison) -> list[str]:
    lines = [netlull.sweep.window_words(found.windows)]
    if any(row.paired for row in found.rows):
        lines.append("Pairs have the same seed: the same random traffic in both (common random numbers).")
    if found.intervals >= _FOR_A_SENTENCE:
        lines.append(_about_chance(found))
    doubtful = [row for row in found.rows if row.doubt]
    if doubtful:
        # A doubt shared by many rows appears once.
        told = list(dict.fromkeys(f"{row.metric}: {row.doubt}" for row in doubtful))
        more = f"; and {len(told) - 3} more" if len(told) > 3 else ""
        lines.append(
            f"Warning: these intervals may mislead ({'; '.join(told[:3])}{more}); with random traffic more seeds help."
        )
    lines += [f"Note: {note}." for note in found.notes]
    return [line for line in lines if line]


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
