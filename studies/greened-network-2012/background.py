"""Other distributions of the same background: constant, Poisson, in bursts, and between every pair of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import panel_grid

from .studies import ASLEEP, BANDS, changed, collapsed, flat, signed, version_curve, within

if TYPE_CHECKING:
    from collections.abc import Iterator


def cell(background: str, sleep: int, version: str) -> Cell:
    """The point of the sweep with these values."""
    return Cell.of("background", background=background, sleep=sleep, version=version)


def _states(evidence: Evidence) -> list[int]:
    return [state for state in ASLEEP if state in evidence.grid.values("background", "sleep")]


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the change of goodput by threshold, with a panel for each distribution."""
    states = sorted(_states(evidence))
    panels = []
    for letter, background in zip("abcdef", evidence.grid.labels("background", "background"), strict=False):
        curves = [
            version_curve(
                version,
                states,
                [changed(evidence, cell(background, state, version), cell(background, 0, version)) for state in states],
            )
            for version in evidence.grid.labels("background", "version")
        ]
        panels.append(flat(f"({letter}) {background}", "Connectivity threshold (%)", "Change of goodput (%)", curves))
    yield Drawn(
        "background-change",
        "The cost of sleeping, by the distribution of the background",
        "Goodput from 30 to 60 s against the same seeds with all links awake. Every distribution carries 10 Mb/s on a "
        f"link on average, both directions together. {BANDS}",
        within(panel_grid(panels, columns=2, row_height=2.4), -105, 15),
    )
    levels = []
    for letter, background in zip("abcdef", evidence.grid.labels("background", "background"), strict=False):
        curves = [
            version_curve(
                version,
                [0, *states],
                [evidence.grid.interval(cell(background, state, version), "after_bps", 1e-6) for state in (0, *states)],
            )
            for version in evidence.grid.labels("background", "version")
        ]
        levels.append(flat(f"({letter}) {background}", "Threshold (%; 0: awake)", "Goodput (Mb/s)", curves))
    yield Drawn(
        "background-goodput",
        "Goodput, by the distribution of the background",
        f"From 30 to 60 s. {BANDS}",
        within(panel_grid(levels, columns=2, row_height=2.4), 0, 40),
    )


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields goodput, its change and the lost packets for every distribution."""
    grid = evidence.grid
    states = _states(evidence)
    for background in grid.labels("background", "background"):
        rows = []
        for version in grid.labels("background", "version"):
            points = {state: cell(background, state, version) for state in (0, *states)}
            rows.append(
                [
                    version,
                    *(number(grid.interval(point, "after_bps", 1e-6)) for point in points.values()),
                    *(signed(changed(evidence, points[state], points[0])) for state in states),
                    *(number(grid.interval(point, "after_loss", 100), digits=2) for point in points.values()),
                    *(f"{collapsed(evidence, points[state])} of {len(grid.seeds('background'))}" for state in states),
                ]
            )
        names = [f"{state} %" for state in states]
        header = [
            "version",
            "goodput awake (Mb/s)",
            *names,
            *(f"change at {name} (%)" for name in names),
            "packets lost awake (%)",
            *(f"lost at {name}" for name in names),
            *(f"seeds below 2 Mb/s at {name}" for name in names),
        ]
        yield Tabled("figures", f"Background: {background}", header, rows)
