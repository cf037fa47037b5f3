"""Figs. 5 to 7 with real senders: the kernel's bars, and dots of the simulator's median over seeds with their range."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness import SENDERS
from paths import LIVE, LOSSES, ROUND_TRIPS, SITES, Case, emulated_path

from netlull.plot import COLOURS, figure, legend_above, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from run import Row

HIGHEST = 3.0
"""Top of the axes. Higher values are written as numbers."""
GREY = "#aaaaaa"
PSM = {"psm-ideal": "PSM, ideal", "psm": "PSM, 802.11", "bsd": "BSD", "always_on": "always on"}


def save(rows: Sequence[Row], path: Path) -> None:
    """Draws the three panels, the paper's figures from above."""
    found = {row.case: row for row in rows}
    with styled():
        drawn = figure(height=8.4)
        sites, emulated, against = drawn.subplots(3)
        for place, sender in enumerate(SENDERS):
            cases = [Case(name, sender, LIVE) for name in SITES]
            _bars(sites, found, cases, _spread(len(cases), place, 3), sender, place)
            names = [emulated_path(rtt, loss) for rtt in ROUND_TRIPS for loss in LOSSES]
            cases = [Case(name, sender, LIVE) for name in names]
            _bars(emulated, found, cases, _spread(len(cases), place, 3), sender, place)
        ways = {LIVE: "shaper", **PSM}
        for place, (way, label) in enumerate(ways.items()):
            for at, sender in enumerate(("reno", "cubic")):
                cases = [Case(emulated_path(rtt, 0), sender, way) for rtt in ROUND_TRIPS]
                places = [2 * index + at + (place - 2) * 0.17 for index in range(len(cases))]
                _bars(
                    against,
                    found,
                    cases,
                    places,
                    label if not at else "",
                    GREY if way == "always_on" else place + 3,
                    0.15,
                )
        sites.set_xticks(range(len(SITES)), list(SITES))
        sites.set_title("(a) Fig. 5: sites; black: the simulator, median and range of ten seeds", fontsize=8)
        emulated.set_xticks(range(len(names)), [f"{loss:g}" for _ in ROUND_TRIPS for loss in LOSSES], fontsize=7)
        emulated.set_xlabel("Loss (%), at 30, 60, 90 and 120 ms from left to right")
        emulated.set_title("(b) Fig. 6: emulated paths", fontsize=8)
        ticks = [2 * index + at for index in range(len(ROUND_TRIPS)) for at in range(2)]
        labels = [f"{rtt} ms, {sender}" for rtt in ROUND_TRIPS for sender in ("reno", "cubic")]
        against.set_xticks(ticks, labels, fontsize=7)
        against.set_title("(c) Fig. 7: against power-saving mode, no loss", fontsize=8)
        for axes in (sites, emulated, against):
            axes.axhline(1, color="#222222", linewidth=0.8)
            axes.set_ylabel("Energy x delay, baseline = 1", fontsize=7)
            axes.set_ylim(0, HIGHEST)
        legend_above(drawn, [sites, against], columns=4)
        drawn.savefig(path, dpi=110, metadata={"Software": None})


def _spread(groups: int, place: int, of: int) -> list[float]:
    return [group + (place - (of - 1) / 2) * 0.27 for group in range(groups)]


def _bars(  # of one series
    axes: Axes,
    found: Mapping[Case, Row],
    cases: Sequence[Case],
    places: Sequence[float],
    label: str,
    colour: int | str,
    width: float = 0.25,
) -> None:
    rows = [found[case] for case in cases]
    heights = [row.products[1] for row in rows]
    shade = colour if isinstance(colour, str) else COLOURS[colour % len(COLOURS)]
    axes.bar(places, heights, width, color=shade, label=label or None)
    middles = [statistics.median(row.sims) for row in rows]
    low, high = zip(*(row.range for row in rows), strict=True)
    axes.vlines(places, low, high, color="#000000", linewidth=1)
    axes.plot(places, middles, ".", color="#000000", markersize=3)
    for place, height in zip(places, heights, strict=True):
        if height > HIGHEST:
            axes.text(
                place, HIGHEST * 0.97, f"{height:.1f}", ha="center", va="top", fontsize=5, rotation=90, color="white"
            )
