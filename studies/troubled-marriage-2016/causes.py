"""The causes that the page names for T7, T8 and T17, each isolated: only the named cause changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import Interval, mean_interval

from . import over_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECTION = "figures"
MRCI = (10.0, 50.0, 100.0, 500.0, 1000.0)
LONG, SHORT = (50.0, 100.0), (1.0, 10.0)
SEEDS = (301, 302, 303, 304)
PANELS = ("a", "b", "c", "d")
CHANGED = {
    "jump": "every 1 s, jumps of any size",
    "average": "every 1 s, forecast over 100 ms",
    "jump-average": "every 1 s, both",
}

Reductions = dict[float, dict[int, float]]
"""Reductions of TCP's goodput in percent, by mRCI and seed."""


def _cuts(evidence: Evidence, control: Callable[[float], Cell], plain: Cell) -> Reductions:
    return {
        mrci: {
            seed: 100 * value for seed, value in evidence.grid.reductions(control(mrci), plain, "goodput_bps").items()
        }
        for mrci in MRCI
    }


def by_cycle(evidence: Evidence, cycle: float, rtt: float) -> Reductions:
    """The reductions with bursts in cycles of `cycle` milliseconds."""
    plain = Cell.of("cycle-tcponly", cycle=cycle, long=rtt)
    return _cuts(evidence, lambda mrci: Cell.of("cycle", cycle=cycle, long=rtt, mrci=mrci), plain)


def changed(evidence: Evidence, experiment: str, rtt: float) -> Reductions:
    """The reductions with bursts every second and another practRA."""
    plain = Cell.of("cycle-tcponly", cycle=1000.0, long=rtt)
    return _cuts(evidence, lambda mrci: Cell.of(experiment, long=rtt, mrci=mrci), plain)


def of(evidence: Evidence, experiment: str, axis: str, rtt: float) -> Reductions:
    """The reductions of an experiment at a round trip on one of its axes."""
    plain = Cell.of(f"{experiment}-tcponly", **{axis: rtt})
    return _cuts(evidence, lambda mrci: Cell.of(experiment, mrci=mrci, **{axis: rtt}), plain)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the reduction by mRCI, with the cycles of the bursts and with jumps."""
    panels = []
    for letter, rtt in zip("ab", LONG, strict=True):
        lines = [(f"a burst every {cycle / 1000:g} s", by_cycle(evidence, cycle, rtt)) for cycle in (500, 1000, 4000)]
        lines += [(words, changed(evidence, experiment, rtt)) for experiment, words in CHANGED.items()]
        curves = [
            Curve(label, list(MRCI), [_over_seeds(cuts[mrci]) for mrci in MRCI], colour, colour >= 3)
            for colour, (label, cuts) in enumerate(lines)
        ]
        panels.append(Panel(f"({letter}) RTT {rtt:g} ms", "mRCI (ms)", "Throughput reduction (%)", curves, y_from=0))
    caption = "Bursts of 100 ms on average. Means over four seeds; bands are 95 % intervals (Student's t)."
    yield Drawn("causes", "The mRCI with the largest reduction", caption, panel_grid(panels), SECTION)


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields a table for each claim."""
    header = ["runs", *(f"{mrci:g} ms" for mrci in MRCI), "1000 less 10 ms (points)"]
    rows = [
        _row(f"RTT {rtt:g} ms, a burst every {cycle / 1000:g} s", by_cycle(evidence, cycle, rtt))
        for rtt in LONG
        for cycle in (500.0, 1000.0, 4000.0)
    ]
    rows += [
        _row(f"RTT {rtt:g} ms, {words}", changed(evidence, experiment, rtt))
        for rtt in LONG
        for experiment, words in CHANGED.items()
    ]
    yield Tabled(SECTION, "T7, bursts: reduction (%) by mRCI", header, rows)
    rows = [
        _row(f"RTT {rtt:g} ms, {words}", of(evidence, experiment, axis, rtt))
        for rtt in (*SHORT, *LONG)
        for experiment, axis, words in (
            ("alone", "rtt", "bursts alone"),
            ("both", "rtt", "bottleneck and bursts"),
            ("steady", "rtt", "steady bottleneck and bursts"),
            ("filled", "short", "bottleneck and bursts, N1's queue filled"),
        )
        if axis == "rtt" or rtt in SHORT
    ]
    yield Tabled(SECTION, "T7 and T8, bottleneck: reduction (%) by mRCI", header, rows)
    rows = []
    for name, words in (
        ("alone", "Fig. 5"),
        ("both", "Fig. 7"),
        ("steady", "Fig. 7, steady bottleneck"),
        ("alone-1", "Fig. 5, jumps, rates 1 Mb/s apart"),
        ("both-1", "Fig. 7, jumps, rates 1 Mb/s apart"),
        ("alone-0.25", "Fig. 5, jumps, rates 0.25 Mb/s apart"),
        ("both-0.25", "Fig. 7, jumps, rates 0.25 Mb/s apart"),
    ):
        rows.append([words, *(number(gap(evidence, name, panel), digits=2) for panel in PANELS)])
    columns = [f"({panel})" for panel in PANELS]
    yield Tabled(SECTION, "T17: gap between service rate and arrivals (Mb/s) by panel", ["runs", *columns], rows)


def gap(evidence: Evidence, name: str, panel: str) -> Interval:
    """T17's gap of the recorded runs of a panel, in Mb/s, over seeds."""
    runs = [evidence.series[f"{name}-{panel}-{seed}"] for seed in SEEDS]
    return mean_interval([over_time.gap(run) / 1e6 for run in runs])


def _row(words: str, cuts: Reductions) -> list[str]:
    rise = mean_interval([cuts[1000.0][seed] - cuts[10.0][seed] for seed in cuts[10.0]])
    return [words, *(f"{np.mean(list(cuts[mrci].values())):.1f}" for mrci in MRCI), number(rise)]


def _over_seeds(sample: dict[int, float]) -> Interval:
    return mean_interval(list(sample.values()))
