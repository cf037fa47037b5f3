"""The mean round trip, queueing included, over the propagation delay, and the propagation that gives 50 ms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import Interval, mean_interval

from .measures import TCP_PC, TCPONLY, round_trip_at

if TYPE_CHECKING:
    from collections.abc import Iterator

SECTIONS = {"round-trip": "The measured average round trip"}
"""The report's sections, in order."""

PRINTED_MS = 50.0
"""The paper's average round trip."""

NAMES = {TCPONLY: "TCPonly", TCP_PC: "TCP+PC"}


GRID_MS = 2.0
"""The distance of the rule's candidates. Others show how near its result is to its neighbours."""


def cell(experiment: str, tests: str, propagation: float, load: float) -> Cell:
    """A point of the sweep. TCPonly has no rules to test."""
    rules = {"tests": tests} if experiment == TCP_PC else {}
    return Cell.of(experiment, propagation=propagation, load=load, **rules)


def mean_ms(
    evidence: Evidence, tests: str, propagation: float, experiments: tuple[str, ...] = tuple(NAMES)
) -> Interval:
    """The round trip's mean over loads and scenarios with equal weights, in ms, with its interval over seeds."""
    found = [
        round_trip_at(evidence, cell(experiment, tests, propagation, load))
        for experiment in experiments
        for load in evidence.grid.values(experiment, "load")
    ]
    return mean_interval([1e3 * float(np.mean([times[seed] for times in found])) for seed in found[0]])


def derived(evidence: Evidence, tests: str) -> float:
    """The rule's candidate in ms whose mean round trip is nearest to the printed 50 ms."""
    candidates = [value for value in evidence.grid.values(TCPONLY, "propagation") if value % GRID_MS == 0]
    return min(candidates, key=lambda propagation: abs(mean_ms(evidence, tests, propagation).mean - PRINTED_MS))


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the mean round trip over the propagation, for both times of the tests."""
    candidates = evidence.grid.values(TCPONLY, "propagation")
    panels = []
    for letter, tests in zip("ab", evidence.grid.labels(TCP_PC, "tests"), strict=False):
        curves = [
            Curve(name, candidates, [mean_ms(evidence, tests, at, (experiment,)) for at in candidates], colour)
            for colour, (experiment, name) in enumerate(NAMES.items())
        ]
        curves.append(Curve("both", candidates, [mean_ms(evidence, tests, at) for at in candidates], 3))
        printed = [mean_interval([PRINTED_MS])] * len(candidates)
        curves.append(Curve("the paper: 50 ms", candidates, printed, 6, dashed=True, marked=False))
        title = f"({letter}) Rules tested {tests}; derived: {derived(evidence, tests):g} ms"
        panels.append(Panel(title, "Propagation delay, both ways (ms)", "Mean round trip (ms)", curves, log_x=False))
    caption = (
        "The round trip of a full packet: propagation, the mean waits at N1 and N2, and the transmission at N1's mean "
        "rate. Means over the loads with equal weights; bands are 95 % intervals over seeds. The rule was fixed before "
        "its first run: the propagation of the reading “measured average” is the candidate whose mean over loads and "
        "both scenarios is nearest to 50 ms. Its candidates are 2 ms apart."
    )
    drawn = panel_grid(panels, columns=1)
    yield Drawn("round-trip", "Mean round trip over the propagation", caption, drawn, "round-trip")


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the mean round trip at each load, for each propagation."""
    loads = evidence.grid.values(TCPONLY, "load")
    header = ["rules tested", "propagation (ms)", "scenario", *(f"load {load:g}" for load in loads), "mean (ms)"]
    rows = []
    for tests in evidence.grid.labels(TCP_PC, "tests"):
        for at in evidence.grid.values(TCPONLY, "propagation"):
            for experiment, name in NAMES.items():
                times = [round_trip_at(evidence, cell(experiment, tests, at, load)) for load in loads]
                shown = [number(mean_interval([1e3 * time for time in by_seed.values()])) for by_seed in times]
                rows.append([tests, f"{at:g}", name, *shown, number(mean_ms(evidence, tests, at, (experiment,)))])
            rows.append([tests, f"{at:g}", "both", *[""] * len(loads), number(mean_ms(evidence, tests, at))])
    yield Tabled("round-trip", "Mean round trips in ms", header, rows)
