"""The case studies with other senders: ns-2's NewReno, NewReno, SACK, CUBIC, Vegas and BBR."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import figure, legend_above, mark_points, styled

from . import claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


COLOURS = {"printed": 1, "working": 2, "none": 6}
LABELS = {**claims.WAYS, "none": "not controlled"}


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields goodput, losses and tracking of the bottleneck, by sender."""
    caption = (
        "(a) Case study 1: goodput against the same senders over-provisioned. (b) Packets dropped at the G-Router. "
        "(c) Case study 2: packets lost at the Internet node, against not controlled. (d) Goodput behind the "
        "bottleneck of 15 Mb/s, 330 to 600 s. Means over seeds; bars are 95 % intervals (Student's t)."
    )
    yield Drawn("senders", "Other senders", caption, _drawn(evidence))


def _drawn(evidence: Evidence) -> Figure:
    grid = evidence.grid
    senders = grid.labels("case1-over", "sender")

    def cells(experiment: str) -> list[Cell]:
        return [Cell.of(experiment, sender=sender) for sender in senders]

    over, none, both = cells("case1-over"), cells("case2-none"), tuple(claims.WAYS)
    goodput = {
        way: [
            grid.ratio(cell, plain, "goodput_bps", 100) for cell, plain in zip(cells(f"case1-{way}"), over, strict=True)
        ]
        for way in both
    }
    dropped = {way: [grid.interval(cell, "drop_fraction", 100) for cell in cells(f"case1-{way}")] for way in both}
    fewer = {
        way: [
            grid.reduction(cell, plain, "node_drops", 100)
            for cell, plain in zip(cells(f"case2-{way}"), none, strict=True)
        ]
        for way in both
    }
    squeezed = {
        way: [grid.interval(cell, "squeezed_goodput_bps", 1e-6) for cell in cells(f"case2-{way}")]
        for way in ("none", *both)
    }
    with styled():
        drawn = figure(height=5.0)
        panels = [axes for row in drawn.subplots(2, 2) for axes in row]
        shown = (
            ("(a) Case study 1: goodput", "Of over-provisioned (%)", goodput),
            ("(b) Case study 1: losses at the G-Router", "Dropped packets (%)", dropped),
            ("(c) Case study 2: fewer losses", "Fewer packets lost (%)", fewer),
            ("(d) Case study 2: goodput", "Goodput (Mb/s)", squeezed),
        )
        for axes, (title, label, values) in zip(panels, shown, strict=True):
            for index, (way, intervals) in enumerate(values.items()):
                places = [place + 0.2 * (index - (len(values) - 1) / 2) for place in range(len(senders))]
                mark_points(axes, LABELS[way], places, intervals, COLOURS[way])
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
        over, none = Cell.of("case1-over", sender=sender), Cell.of("case2-none", sender=sender)
        plain = number(grid.interval(none, "squeezed_goodput_bps", 1e-6), digits=2)
        for way, label in claims.WAYS.items():
            one, two = Cell.of(f"case1-{way}", sender=sender), Cell.of(f"case2-{way}", sender=sender)
            kept = grid.ratio(one, over, "goodput_bps", 100)
            rows.append(
                [
                    f"{sender}, {label}",
                    number(kept, digits=2),
                    number(grid.interval(one, "utilisation", 100), digits=2),
                    number(grid.interval(one, "drop_fraction", 100), digits=3),
                    number(grid.reduction(two, none, "node_drops", 100)),
                    number(grid.interval(two, "squeezed_rate_bps", 1e-6), digits=2),
                    number(grid.interval(two, "squeezed_goodput_bps", 1e-6), digits=2),
                    plain,
                ]
            )
    header = [
        "Sender, estimators",
        "1: goodput of over-provisioned (%)",
        "1: utilisation (%)",
        "1: dropped (%)",
        "2: fewer lost at the Internet node (%)",
        "2: rate at the bottleneck (Mb/s)",
        "2: goodput there (Mb/s)",
        "2: goodput not controlled (Mb/s)",
    ]
    yield Tabled("figures", "Other senders", header, rows)
