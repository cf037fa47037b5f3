"""Two, five and ten TCP flows over the remaining links: fairness, and the flows that lose goodput."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import figure, legend_above, mark_points, styled

from .studies import BARS, STATES, changed, signed, values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

    from netlull.stats import Interval

EXPERIMENTS = {"same": "versions", "crossing": "one_version"}
SECTIONS = {
    "figures": "Several flows over the remaining links",
    "crossing": "Flows that meet only because links sleep",
}
"""The report's sections, in order."""


def cell(experiment: str, versions: str, flows: float, sleep: int) -> Cell:
    """The point of the sweep with these values."""
    point: dict[str, float | str] = {EXPERIMENTS[experiment]: versions, "flows": flows, "sleep": sleep}
    return Cell.of(experiment, **point)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the fairness over the same path, and between flows that meet only because links sleep."""
    yield _fairness(evidence)
    if "crossing" in evidence.grid.experiments:
        yield _crossing(evidence)


def _marked(
    axes: Axes, title: str, label: str, names: Sequence[str], found: dict[str, tuple[int, list[Interval]]]
) -> None:
    for index, (legend, (colour, intervals)) in enumerate(found.items()):
        places = [place + 0.15 * (index - (len(found) - 1) / 2) for place in range(len(names))]
        mark_points(axes, legend, places, intervals, colour)
    axes.set_title(title, loc="left")
    axes.set_ylabel(label)
    axes.set_xticks(range(len(names)), [name.replace(" and ", "\nand ") for name in names])
    axes.tick_params(axis="x", labelsize=6.5, rotation=40)


def _fairness(evidence: Evidence) -> Drawn:
    grid = evidence.grid
    names = grid.labels("same", "versions")
    counts = grid.values("same", "flows")
    states = values(evidence, "same", "sleep", STATES)
    with styled():
        drawn = figure(height=2.6 * len(counts) + 0.4)
        panels = [axes for row in drawn.subplots(len(counts), 1, squeeze=False, sharex=True) for axes in row]
        for letter, axes, flows in zip("abc", panels, counts, strict=False):
            found = {
                label: (index, [grid.interval(cell("same", which, flows, sleep), "jain_after") for which in names])
                for index, (sleep, label) in enumerate(states.items())
            }
            _marked(axes, f"({letter}) {flows:g} flows", "Jain's index", names, found)
            axes.set_ylim(0, 1.05)
        legend_above(drawn, panels)
    caption = f"Jain's index of the goodputs from 30 to 60 s, all flows from 8 to 10, by the links asleep. {BARS}"
    return Drawn("sharing-jain", "Fairness over the same path", caption, drawn)


def _crossing(evidence: Evidence) -> Drawn:
    grid = evidence.grid
    names = grid.labels("crossing", "one_version")
    counts = grid.values("crossing", "flows")
    asleep = max(grid.values("crossing", "sleep"))
    with styled():
        drawn = figure(height=2.6 * len(counts) + 0.4)
        panels = [axes for row in drawn.subplots(len(counts), 1, squeeze=False, sharex=True) for axes in row]
        for letter, axes, flows in zip("abc", panels, counts, strict=False):
            found = {}
            for colour, (kind, place) in enumerate((("a", "8 to 10"), ("b", "9 to 10"))):
                for sleep, label in ((0, "awake"), (round(asleep), f"{asleep:g} %")):
                    points = [cell("crossing", which, flows, sleep) for which in names]
                    found[f"{place}, {label}"] = (
                        2 * colour + (sleep > 0),
                        [grid.interval(point, f"{kind}_after_bps", 1e-6) for point in points],
                    )
            _marked(axes, f"({letter}) {flows:g} flows", "Mb/s each", names, found)
            axes.set_ylim(bottom=0)
        legend_above(drawn, panels)
    caption = (
        "Goodput of a flow from 30 to 60 s, mean over the flows of its kind. Awake, flows from 9 to 10 have a link of "
        f"one hop to themselves; once it sleeps they go by 7, 4, 6 and 3, and share 6-3 and 3-10 with flows from "
        f"8. {BARS}"
    )
    return Drawn("sharing-crossing", "Who pays", caption, drawn, "crossing")


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of fairness and goodput, with all links awake and at 70 %."""
    grid = evidence.grid
    for experiment, section in (("same", "figures"), ("crossing", "crossing")):
        if experiment not in grid.experiments:
            continue
        rows = []
        for which in grid.labels(experiment, EXPERIMENTS[experiment]):
            for flows in grid.values(experiment, "flows"):
                for sleep, state in values(evidence, experiment, "sleep", {0: "awake", 70: "70 %"}).items():
                    point, awake = cell(experiment, which, flows, sleep), cell(experiment, which, flows, 0)
                    ratio = number(grid.ratio(point, point, "b_after_bps", to="a_after_bps"), digits=2)
                    rows.append(
                        [
                            which,
                            f"{flows:g}",
                            state,
                            number(grid.interval(point, "jain_after"), digits=3),
                            number(grid.interval(point, "sum_after_bps", 1e-6)),
                            signed(changed(evidence, point, awake, "sum_after_bps")),
                            number(grid.interval(point, "a_after_bps", 1e-6), digits=2),
                            number(grid.interval(point, "b_after_bps", 1e-6), digits=2),
                            ratio,
                            number(grid.interval(point, "least_after_bps", 1e-6), digits=2),
                        ]
                    )
        header = [
            "flows a and b",
            "flows",
            "links",
            "Jain",
            "together (Mb/s)",
            "change (%)",
            "a, each (Mb/s)",
            "b, each (Mb/s)",
            "b over a",
            "least (Mb/s)",
        ]
        yield Tabled(section, "From 30 to 60 s", header, rows)
