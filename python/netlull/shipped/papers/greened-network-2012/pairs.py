"""All 132 pairs of nodes: a test of the paper's statement that its pair, 8 to 10, is the worst case."""

from __future__ import annotations

import functools
from statistics import fmean
from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled
from netlull.plot import Curve, mark_points, panel_grid
from netlull.stats import mean_interval
from netlull.topology import ReadOptions, Topology, sleep_plan
from netlull.topology.find import find

from .studies import (
    ASLEEP,
    COLLAPSED_BPS,
    COLOURS,
    exact,
    flat,
    quantile,
    signed,
    version_curve,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

PAPERS = "8-10"
"""The paper's pair of nodes."""
SEGMENT_B = 1000
"""The data of a segment, in bytes."""


@functools.cache
def abilene() -> Topology:
    """The Abilene topology that netlull ships."""
    return find("abilene", ReadOptions())


def hops(off: tuple[str, ...] = ()) -> dict[str, int]:
    """The number of hops of every pair without the links in `off`; a key is the pair's label on the axis."""
    awake = [line for line in abilene().lines if line.label not in off]
    near: dict[str, list[str]] = {node.name: [] for node in abilene().nodes}
    for line in awake:
        near[line.a].append(line.b)
        near[line.b].append(line.a)
    index = abilene().index
    found: dict[str, int] = {}
    for source in near:
        reached, edge = {source: 0}, [source]
        for node in edge:
            for other in near[node]:
                if other not in reached:
                    reached[other] = reached[node] + 1
                    edge.append(other)
        found |= {f"{index[source]}-{index[end]}": length for end, length in reached.items() if end != source}
    return found


@functools.cache
def asleep(threshold: int) -> tuple[str, ...]:
    """The links that ESTOP puts to sleep at a threshold in percent."""
    return tuple(line.label for line in sleep_plan(abilene(), "estop", threshold=threshold / 100).off)


def stretch(threshold: int) -> dict[str, int]:
    """The additional hops of every pair's path at a threshold in percent."""
    before, after = hops(), hops(asleep(threshold))
    return {pair: after[pair] - before[pair] for pair in before}


def cell(pair: str, sleep: int, version: str) -> Cell:
    """The point of the sweep with these values."""
    return Cell.of("pairs", pair=pair, sleep=sleep, version=version)


def changes(evidence: Evidence, sleep: int, version: str) -> dict[str, float]:
    """The change of every pair's goodput in percent of the awake run, paired by seed (mean over seeds)."""
    found = {}
    for pair in evidence.grid.labels("pairs", "pair"):
        ratio = evidence.grid.ratio(cell(pair, sleep, version), cell(pair, 0, version), "after_bps", 100)
        found[pair] = ratio.mean - 100
    return found


def rank(evidence: Evidence, sleep: int, version: str) -> int:
    """The rank of the paper's pair among all pairs by loss; 1 if no pair loses more."""
    found = changes(evidence, sleep, version)
    return 1 + sum(value < found[PAPERS] for value in found.values())


def _states(evidence: Evidence) -> list[int]:
    return [state for state in ASLEEP if state in evidence.grid.values("pairs", "sleep")]


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields all pairs in order of their loss, and by the stretch of their paths."""
    versions = evidence.grid.labels("pairs", "version")
    panels = []
    for letter, sleep in zip("abc", _states(evidence), strict=False):
        curves = []
        for version in versions:
            ordered = sorted(changes(evidence, sleep, version).values())
            shares = [100 * (place + 0.5) / len(ordered) for place in range(len(ordered))]
            curves.append(
                Curve(version, shares, [exact(value) for value in ordered], COLOURS[version], version == "BBRv3", False)
            )
        panels.append(flat(f"({letter}) {sleep} %", "Share of the pairs (%)", "Change of goodput (%)", curves))
    drawn = within(panel_grid(panels, columns=3, row_height=2.6), -105, 15)
    for axes, sleep in zip(drawn.axes, _states(evidence), strict=False):
        found = {version: changes(evidence, sleep, version) for version in versions}
        ranked = [version for version in versions if PAPERS in found[version]]
        places = [100 * (rank(evidence, sleep, version) - 0.5) / len(found[version]) for version in ranked]
        mark_points(axes, "", places, [exact(found[version][PAPERS]) for version in ranked], 6)
    yield Drawn(
        "pairs-change",
        "Every pair of nodes",
        "Change of goodput after links went to sleep (10 to 25 s), against the same run with all links awake. "
        "Pairs are ordered by this change, with one line for each version. Crosses: the paper's pair, 8 to 10.",
        drawn,
    )
    yield _by_stretch(evidence)


def _by_stretch(evidence: Evidence) -> Drawn:
    versions = evidence.grid.labels("pairs", "version")
    panels = []
    for letter, sleep in zip("abc", _states(evidence), strict=False):
        longer = stretch(sleep)
        ran = evidence.grid.labels("pairs", "pair")
        steps = sorted({longer[pair] for pair in ran})
        curves = []
        for version in versions:
            found = changes(evidence, sleep, version)
            grouped = [exact(fmean(found[pair] for pair in ran if longer[pair] == step)) for step in steps]
            curves.append(version_curve(version, steps, grouped))
        panels.append(flat(f"({letter}) {sleep} %", "Hops more than awake", "Change of goodput (%)", curves))
    return Drawn(
        "pairs-stretch",
        "By the stretch of the path",
        "Means over all pairs by the growth of their shortest path: at 70 % 106, 18, 2, 4 and 2 pairs, from none "
        "to four hops.",
        within(panel_grid(panels, columns=3, row_height=2.4), -105, 5),
    )


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the distribution over pairs, next to the paper's pair."""
    rows = []
    for version in evidence.grid.labels("pairs", "version"):
        for sleep in _states(evidence):
            found = changes(evidence, sleep, version)
            ordered = list(found.values())
            own = (
                [f"{found[PAPERS]:+.1f}", f"{rank(evidence, sleep, version)} of {len(found)}"]
                if PAPERS in found
                else ["", ""]
            )
            kept = [value for pair, value in found.items() if not stretch(sleep)[pair]]
            down = sum(
                sum(v < COLLAPSED_BPS for v in evidence.grid.samples(cell(pair, sleep, version), "last_bps").values())
                > 0
                for pair in found
            )
            rows.append(
                [
                    version,
                    f"{sleep} %",
                    signed(mean_interval(ordered)),
                    *(f"{quantile(ordered, share):+.1f}" for share in (0.05, 0.25, 0.5, 0.75)),
                    f"{min(ordered):+.1f}",
                    f"{100 * sum(value < -5 for value in ordered) / len(ordered):.0f}",
                    f"{100 * sum(value < -5 for value in kept) / len(kept):.0f}" if kept else "",
                    str(down),
                    *own,
                ]
            )
    header = [
        "version",
        "threshold",
        "mean change (%; ± over pairs)",
        "5 % of pairs below",
        "25 %",
        "median",
        "75 %",
        "worst",
        "pairs that lose over 5 % (%)",
        "of those with paths as short as before",
        "pairs below 2 Mb/s at the end",
        "8 to 10 (%)",
        "its place",
    ]
    yield Tabled("figures", "All pairs", header, rows)
    yield _averages(evidence)
    yield Tabled(
        "figures",
        "Paths",
        ["threshold", "links asleep", "mean hops", "pairs with longer paths", "longest stretch"],
        _paths(),
    )


def _averages(evidence: Evidence) -> Tabled:
    """Throughput and window averaged over all pairs, next to the paper's pair."""
    grid = evidence.grid
    ran = grid.labels("pairs", "pair")
    rows = []
    for version in grid.labels("pairs", "version"):
        for sleep in _states(evidence):
            row = [version, f"{sleep} %"]
            for metric, scale, digits in (("after_bps", 1e-6, 1), ("cwnd_bytes", 1 / SEGMENT_B, 0)):
                awake, now = (
                    {pair: grid.interval(cell(pair, state, version), metric, scale).mean for pair in ran}
                    for state in (0, sleep)
                )
                change = [100 * (now[pair] / awake[pair] - 1) for pair in ran]
                row += [f"{fmean(one.values()):.{digits}f}" for one in (awake, now)]
                row += [signed(mean_interval(change)), f"{100 * (now[PAPERS] / awake[PAPERS] - 1):+.1f}"]
            rows.append(row)
    header = [
        *("version", "threshold", "goodput awake (Mb/s)", "asleep", "change (%; mean and ± over pairs)", "8 to 10 (%)"),
        *("window awake (segments)", "asleep ", "change (%; mean and ± over pairs) ", "8 to 10 (%) "),
    ]
    return Tabled("figures", "Averages over all pairs: goodput and congestion window", header, rows)


def _paths() -> list[list[str]]:
    rows = [["awake", "0", f"{sum(hops().values()) / len(hops()):.2f}", "", ""]]
    for sleep in ASLEEP:
        after, longer = hops(asleep(sleep)), stretch(sleep)
        grown = sum(step > 0 for step in longer.values())
        mean = sum(after.values()) / len(after)
        rows.append(
            [
                f"{sleep} %",
                str(len(asleep(sleep))),
                f"{mean:.2f}",
                f"{grown} of {len(longer)}",
                str(max(longer.values())),
            ]
        )
    return rows
