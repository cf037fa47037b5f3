"""Case study 1 with other senders: ns-2's NewReno, NewReno, SACK, CUBIC, Vegas and BBR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import figure, legend_above, mark_points, styled

from . import claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


ROWS = {**claims.WAYS, "counted": "as printed, N counted"}
"""The estimators, by the names of their experiments. The last keeps RTT at the printed constant and wears no window."""
COLOURS = {"printed": 1, "working": 2, "counted": 3}


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields goodput and losses, by sender."""
    caption = (
        "Case study 1. (a) Goodput against the same senders over-provisioned. (b) Packets dropped at the G-Router. "
        "Means over seeds; bars are 95 % intervals (Student's t)."
    )
    yield Drawn("senders", "Other senders", caption, _drawn(evidence))


def _drawn(evidence: Evidence) -> Figure:
    grid = evidence.grid
    senders = grid.labels("case1-over", "sender")
    kept, dropped = {}, {}
    for way in ROWS:
        cells = [Cell.of(f"case1-{way}", sender=sender) for sender in senders]
        over = [Cell.of("case1-over", sender=sender) for sender in senders]
        kept[way] = [grid.ratio(cell, plain, "goodput_bps", 100) for cell, plain in zip(cells, over, strict=True)]
        dropped[way] = [grid.interval(cell, "drop_fraction", 100) for cell in cells]
    with styled():
        drawn = figure(height=2.8)
        panels = list(drawn.subplots(1, 2))
        shown = (
            ("(a) Goodput", "Of over-provisioned (%)", kept),
            ("(b) Losses at the G-Router", "Dropped packets (%)", dropped),
        )
        for axes, (title, label, values) in zip(panels, shown, strict=True):
            for index, (way, intervals) in enumerate(values.items()):
                places = [place + 0.2 * (index - (len(values) - 1) / 2) for place in range(len(senders))]
                mark_points(axes, ROWS[way], places, intervals, COLOURS[way])
            axes.set_title(title, loc="left")
            axes.set_ylabel(label)
            axes.set_xticks(range(len(senders)), [sender.replace(" (", "\n(") for sender in senders])
            axes.tick_params(axis="x", labelsize=6.5)
            axes.set_xlim(-0.6, len(senders) - 0.4)
        legend_above(drawn, panels)
    return drawn


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of the figures."""
    grid, rows = evidence.grid, []
    for sender in grid.labels("case1-over", "sender"):
        over = Cell.of("case1-over", sender=sender)
        for way, label in ROWS.items():
            cell = Cell.of(f"case1-{way}", sender=sender)
            phases = (f"{phase}_goodput_bps" for phase in ("high", "fall", "late"))
            rows.append(
                [
                    f"{sender}, {label}",
                    number(grid.ratio(cell, over, "goodput_bps", 100), digits=2),
                    *(number(grid.ratio(cell, over, phase, 100)) for phase in phases),
                    number(grid.interval(over, "goodput_bps", 1e-6), digits=2),
                    number(grid.interval(cell, "utilisation", 100), digits=2),
                    number(grid.interval(cell, "drop_fraction", 100), digits=3),
                ]
            )
    header = [
        "Sender, estimators",
        "goodput of over-provisioned (%)",
        "at 25 Mb/s (%)",
        "falling (%)",
        "at the end (%)",
        "over-provisioned (Mb/s)",
        "utilisation (%)",
        "dropped (%)",
    ]
    yield Tabled("figures", "Other senders in case study 1", header, rows)
