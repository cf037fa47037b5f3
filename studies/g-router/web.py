"""The case studies with web files for separate homes, whose demand varies from second to second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number

from . import figures as paper

if TYPE_CHECKING:
    from collections.abc import Iterator


ROWS = {
    **paper.EXPERIMENTS,
    "case1-printed-rtt": "1, as printed, once per RTT",
    "case1-working-rtt": "1, working, once per RTT",
    "case2-printed-rtt": "2, as printed, once per RTT",
    "case2-working-rtt": "2, working, once per RTT",
}
"""The rows of the table."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields Fig. 2 with web traffic."""
    caption = (
        "As Fig. 2, with web files from 20 homes of their own (8 Mb/s on average) and 2, 7, 17, then 12 FTP-like "
        "sources. One run."
    )
    yield Drawn("web", "Case study 1 with web files from homes of their own", caption, paper.case1(evidence))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers that the claims use, with web traffic."""
    grid = evidence.grid
    rows = []
    for name, label in ROWS.items():
        study, _, way = name.partition("-")
        if not grid.cells(name) or way in ("over", "none"):
            continue
        cell, reference = Cell.of(name), Cell.of("case1-over" if study == "case1" else "case2-none")
        fewer = number(grid.reduction(cell, reference, "node_drops", 100)) if study == "case2" else ""
        rows.append(
            [
                label,
                number(grid.ratio(cell, reference, "goodput_bps", 100)),
                number(grid.interval(cell, "utilisation", 100), digits=2),
                number(grid.interval(cell, "mean_rate_bps", 1e-6), digits=2),
                number(grid.interval(cell, "queue_packets")),
                number(grid.interval(cell, "drop_fraction", 100), digits=2),
                fewer,
            ]
        )
    header = [
        "Case study",
        "goodput of over-provisioned or not controlled (%)",
        "utilisation (%)",
        "mean rate (Mb/s)",
        "queue (packets)",
        "dropped (%)",
        "fewer lost at the Internet node (%)",
    ]
    yield Tabled("figures", "Web files from homes of their own", header, rows)
