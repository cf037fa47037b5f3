"""Texts for the terminal and for reports: tables, lists of seeds."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(header: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    """Rows of wrapped cells under a header. Widths are in characters."""
    rule = "  ".join("-" * width for width in widths)
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(header, widths, strict=True)).rstrip(), rule]
    for row in rows:
        cells = [textwrap.wrap(cell, width) or [""] for cell, width in zip(row, widths, strict=True)]
        for index in range(max(len(cell) for cell in cells)):
            parts = [cell[index] if index < len(cell) else "" for cell in cells]
            lines.append("  ".join(f"{part:<{width}}" for part, width in zip(parts, widths, strict=True)).rstrip())
    return "\n".join(lines)


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under a header. Every column is as wide as its longest cell."""
    widths = [max(len(row[index]) for row in [header, *rows]) for index in range(len(header))]
    rule = ["-" * width for width in widths]
    padded = [[f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)] for row in [header, rule, *rows]]
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def seeds_in_words(seeds: Sequence[int]) -> str:
    """`seed 1`, `seeds 1 to 10` or `seeds 1, 3`."""
    listed = sorted(seeds)
    if len(listed) == 1:
        return f"seed {listed[0]}"
    if listed and listed == list(range(listed[0], listed[-1] + 1)):
        return f"seeds {listed[0]} to {listed[-1]}"
    return f"seeds {', '.join(map(str, listed))}"
