"""Links that sleep one by one, after a route change, with slower or faster routing updates, and that wake again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import figure, legend_above, mark_points, styled
from netlull.stats import Interval, mean_interval

from .studies import BARS, MARKS, collapsed, signed, values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.figure import Figure

THRESHOLDS = {90: "90 %: two links, the flow keeps its path", 70: "70 %: three links, the flow is rerouted"}


def cell(manner: str, threshold: int, version: str) -> Cell:
    """The point of the sweep with these values."""
    return Cell.of("sleep-order", manner=manner, threshold=threshold, version=version)


def difference(evidence: Evidence, manner: str, threshold: int, version: str, metric: str, scale: float) -> Interval:
    """The difference of a metric from its value with all links awake, paired by seed."""
    return evidence.grid.difference(cell(manner, threshold, version), Cell.of("awake", version=version), metric, scale)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields packets lost, bytes missing in the first seconds, and the goodput at the end."""
    grid = evidence.grid

    def lost(manner: str, threshold: int, version: str) -> Interval:
        return grid.interval(cell(manner, threshold, version), "dip_lost")

    def dip(manner: str, threshold: int, version: str) -> Interval:
        return -difference(evidence, manner, threshold, version, "dip_bytes", 1e-6)

    def end(manner: str, threshold: int, version: str) -> Interval:
        return grid.interval(cell(manner, threshold, version), "last_bps", 1e-6)

    yield Drawn(
        "sleep-order-lost",
        "Packets of the flow lost in the 3 s after links went to sleep",
        f"Immediate cost of a way of going to sleep: packets of the TCP flow lost from 29.9 to 33 s. {BARS}",
        _drawn(evidence, "Packets lost", lost),
    )
    yield Drawn(
        "sleep-order-dip",
        "TCP's dip",
        "Megabytes delivered less than while all links are awake, same seed, from 29.9 to 33 s: the reaction to "
        f"losses, the longer path, and the rerouted datagrams. {BARS}",
        _drawn(evidence, "Megabytes less", dip),
    )
    yield Drawn(
        "sleep-order-end",
        "Goodput afterwards",
        f"Goodput from 50 to 60 s. Links that woke at 40 s restore the earlier goodput. {BARS}",
        _drawn(evidence, "Goodput (Mb/s)", end),
    )


def _drawn(evidence: Evidence, label: str, value: Callable[[str, int, str], Interval]) -> Figure:
    manners = evidence.grid.labels("sleep-order", "manner")
    versions = evidence.grid.labels("sleep-order", "version")
    thresholds = values(evidence, "sleep-order", "threshold", THRESHOLDS)
    with styled():
        drawn = figure(height=0.35 + 2.9 * len(thresholds))
        panels = list(drawn.subplots(len(thresholds), 1, squeeze=False, sharex=True)[:, 0])
        for letter, axes, (threshold, title) in zip("ab", panels, thresholds.items(), strict=False):
            for index, version in enumerate(versions):
                places = [place + 0.11 * (index - (len(versions) - 1) / 2) for place in range(len(manners))]
                found = [value(manner, threshold, version) for manner in manners]
                mark_points(axes, version, places, found, MARKS[version])
            axes.set_title(f"({letter}) {title}" if len(panels) > 1 else title, loc="left")
            axes.set_ylabel(label)
            # A goodput is never negative, but Student's t gives negative bounds for two very different seeds.
            axes.set_ylim(bottom=0.0 if label.startswith("Goodput") else min(0.0, axes.get_ylim()[0]))
            axes.set_xticks(range(len(manners)), [name.replace(", ", ",\n") for name in manners])
            axes.tick_params(axis="x", labelsize=6.5, rotation=40)
            axes.set_xticks([place + 0.5 for place in range(len(manners) - 1)], minor=True)
            axes.tick_params(axis="x", which="minor", length=0)
            axes.grid(False, axis="x", which="major")
            axes.grid(True, axis="x", which="minor")
        legend_above(drawn, panels)
    return drawn


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of the figures."""
    grid = evidence.grid
    for threshold in values(evidence, "sleep-order", "threshold", THRESHOLDS):
        rows = []
        for version in evidence.grid.labels("sleep-order", "version"):
            for manner in evidence.grid.labels("sleep-order", "manner"):
                point = cell(manner, threshold, version)
                timeouts = difference(evidence, manner, threshold, version, "timeouts", 1)
                seeds = len(grid.samples(point, "last_bps"))
                rows.append(
                    [
                        version,
                        manner,
                        number(grid.interval(point, "dip_lost")),
                        number(grid.interval(point, "asleep_packets"), digits=0),
                        signed(difference(evidence, manner, threshold, version, "dip_bytes", 1e-6), 2),
                        signed(timeouts),
                        signed(_change(evidence, manner, threshold, version)),
                        number(grid.interval(point, "last_bps", 1e-6)),
                        f"{collapsed(evidence, point)} of {seeds}",
                    ]
                )
        header = [
            "version",
            "links sleep",
            "packets of TCP lost in 3 s",
            "packets lost on sleeping links, all flows",
            "MB in 3 s, against awake",
            "timeouts more",
            "goodput after 30 s, change (%)",
            "goodput 50 to 60 s (Mb/s)",
            "seeds below 2 Mb/s then",
        ]
        yield Tabled("figures", f"Threshold {threshold} %", header, rows)


def _change(evidence: Evidence, manner: str, threshold: int, version: str) -> Interval:
    """The change of the goodput from 30 to 60 s, in percent of the awake run."""
    with_sleep = evidence.grid.samples(cell(manner, threshold, version), "after_bps")
    awake = evidence.grid.samples(Cell.of("awake", version=version), "after_bps")
    return mean_interval([100 * (with_sleep[seed] / awake[seed] - 1) for seed in with_sleep])
