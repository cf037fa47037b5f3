"""Background load from 0 to 40 % of every link: the load from which sleep hurts each version, and the energy saved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, panel_grid

from .studies import (
    ASLEEP,
    BANDS,
    STATES,
    changed,
    exact,
    first_from,
    flat,
    saved,
    signed,
    values,
    version_curve,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netlull.stats import Interval

EXPERIMENTS = {"small": "load", "bdp": "few_loads"}
"""The experiments and their load axes: buffers of 50 packets, and of one bandwidth-delay product (250 packets)."""
BUFFERS = {"small": "50 packets", "bdp": "250 packets (BDP)"}
RATE = 40.0
"""The rate of every link, in Mb/s."""
HURTS = 5.0
"""The least loss of goodput in percent that counts as harm; its interval must also exclude zero."""
STATE_COLOURS = {0: 6, 90: 0, 70: 1, 50: 2}
MODELS = {
    "energy_ideal_j": "ideal scaling",
    "energy_cards_j": "line cards (ONS 15600)",
    "energy_measured_j": "Nexus 9336-FX2, measured",
}


def left(load: float, background: int) -> float:
    """The goodput in Mb/s that `background` datagram flows leave on a link; packets of 1040 B carry 1000 B."""
    return max(0.0, RATE * (1 - background * load / 100)) * 1000 / 1040


def cell(experiment: str, load: float, sleep: int, version: str) -> Cell:
    """The point of the sweep with these values."""
    point: dict[str, float | str] = {EXPERIMENTS[experiment]: load, "sleep": sleep, "version": version}
    return Cell.of(experiment, **point)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the goodput of each version over the load, its change by sleep, and the energy."""
    versions = evidence.grid.labels("small", "version")
    states = values(evidence, "small", "sleep", STATES)
    loads = evidence.grid.values("small", "load")
    panels = []
    for letter, version in zip("abcdefgh", versions, strict=False):
        curves = [
            Curve(
                label,
                loads,
                [evidence.grid.interval(cell("small", load, sleep, version), "after_bps", 1e-6) for load in loads],
                STATE_COLOURS[sleep],
            )
            for sleep, label in states.items()
        ]
        for flows, colour in ((1, 4), (2, 3)):
            bound = [exact(left(load, flows)) for load in loads]
            curves.append(Curve(f"left beside {flows} of the background's flows", loads, bound, colour, True, False))
        panels.append(flat(f"({letter}) {version}", "Background (%)", "Goodput (Mb/s)", curves))
    yield Drawn(
        "load-goodput",
        "Goodput from 30 to 60 s, by load and threshold",
        "Buffers of 50 packets. Awake the flow meets one flow of datagrams on a link; after links have gone to sleep, "
        f"two on the link 6-3, the rerouted one from 9 to 3 is the second. {BANDS}",
        within(panel_grid(panels, columns=4, row_height=1.9), 0, RATE),
    )
    yield _change(evidence)
    yield _energy(evidence)


def _change(evidence: Evidence) -> Drawn:
    panels = []
    letters = iter("abcdef")
    for experiment, axis in EXPERIMENTS.items():
        if experiment not in evidence.grid.experiments:
            continue
        loads = evidence.grid.values(experiment, axis)
        for sleep in (state for state in ASLEEP if state in evidence.grid.values(experiment, "sleep")):
            curves = [
                version_curve(version, loads, [_changed(evidence, experiment, load, sleep, version) for load in loads])
                for version in evidence.grid.labels(experiment, "version")
            ]
            title = f"({next(letters)}) {sleep} %, {BUFFERS[experiment]}"
            panels.append(flat(title, "Background (%)", "Change of goodput (%)", curves))
    return Drawn(
        "load-change",
        "The cost of sleeping, by load",
        f"Goodput from 30 to 60 s against the same seeds with all links awake. {BANDS}",
        within(panel_grid(panels, columns=3, row_height=2.2), -105, 15),
    )


def _changed(evidence: Evidence, experiment: str, load: float, sleep: int, version: str) -> Interval:
    return changed(evidence, cell(experiment, load, sleep, version), cell(experiment, load, 0, version))


def _energy(evidence: Evidence) -> Drawn:
    loads = evidence.grid.values("small", "load")
    versions = evidence.grid.labels("small", "version")
    version = "CUBIC 2.6.22" if "CUBIC 2.6.22" in versions else versions[0]
    panels = []
    states = [state for state in ASLEEP if state in evidence.grid.values("small", "sleep")]
    for letter, sleep in zip("abc", states, strict=False):
        curves = [
            Curve(
                name,
                loads,
                [
                    saved(evidence, cell("small", load, sleep, version), cell("small", load, 0, version), metric)
                    for load in loads
                ],
                index,
                dashed=index == 1,
            )
            for index, (metric, name) in enumerate(MODELS.items())
        ]
        paid = [-_changed(evidence, "small", load, sleep, version) for load in loads]
        curves.append(Curve("goodput lost", loads, paid, 6))
        panels.append(flat(f"({letter}) {sleep} %", "Background (%)", "Saved, lost (%)", curves))
    return Drawn(
        "load-energy",
        "Saving and cost",
        f"Energy of all links from 30 to 60 s against the same seeds with all of them awake, and the goodput that "
        f"{version} loses. {BANDS}",
        within(panel_grid(panels, columns=3, row_height=2.2), 0, 80),
    )


def hurts_from(evidence: Evidence, experiment: str, sleep: int, version: str) -> float | None:
    """The lowest load from which sleep hurts a version at every higher load too; None if there is none."""

    def hurts(load: float) -> bool:
        change = _changed(evidence, experiment, load, sleep, version)
        return change.mean <= -HURTS and (change.n < 2 or change.excludes(0))

    return first_from(evidence.grid.values(experiment, EXPERIMENTS[experiment]), hurts)


def ranking(evidence: Evidence, experiment: str, load: float, sleep: int) -> list[str]:
    """The versions in descending order of goodput from 30 to 60 s."""
    found = {
        version: evidence.grid.interval(cell(experiment, load, sleep, version), "after_bps").mean
        for version in evidence.grid.labels(experiment, "version")
    }
    return sorted(found, key=lambda version: -found[version])


SHOWN = (0, 10, 25, 40)
"""The loads in the tables, in percent."""


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the goodput and losses, the loads from which sleep hurts, and the rankings."""
    grid = evidence.grid
    ran = [experiment for experiment in EXPERIMENTS if experiment in grid.experiments]
    for experiment in ran:
        yield from _of_buffer(evidence, experiment)
    states = [state for state in ASLEEP if state in grid.values("small", "sleep")]
    rows = []
    for version in evidence.grid.labels("small", "version"):
        found = [hurts_from(evidence, "small", sleep, version) for sleep in states]
        rows.append([version, *("at none" if load is None else f"{load:g} %" for load in found)])
    yield Tabled(
        "figures",
        "The load from which sleeping costs 5 % or more",
        ["version", *(f"{sleep} %" for sleep in states)],
        rows,
    )
    rows = [
        [
            f"{BUFFERS[experiment]}, {load:g} %",
            *(" > ".join(ranking(evidence, experiment, load, sleep)) for sleep in (0, 70)),
        ]
        for experiment in ran
        for load in grid.values(experiment, EXPERIMENTS[experiment])
        if load in SHOWN and 70 in states
    ]
    yield Tabled("figures", "Versions by goodput from 30 to 60 s", ["buffer, load", "awake", "70 %"], rows)


def _of_buffer(evidence: Evidence, experiment: str) -> Iterator[Tabled]:
    grid = evidence.grid
    loads = [load for load in grid.values(experiment, EXPERIMENTS[experiment]) if load in SHOWN]
    states = [state for state in ASLEEP if state in grid.values(experiment, "sleep")]
    goodputs, losses = [], []
    for version in evidence.grid.labels(experiment, "version"):
        for load in loads:
            points = [cell(experiment, load, sleep, version) for sleep in (0, *states)]
            goodput = [number(grid.interval(point, "after_bps", 1e-6)) for point in points]
            change = [signed(_changed(evidence, experiment, load, sleep, version)) for sleep in states]
            goodputs.append([version, f"{load:g}", *goodput, *change])
            lost_packets = [number(grid.interval(point, "after_loss", 100), digits=2) for point in points]
            losses.append([version, f"{load:g}", *lost_packets])
    asleep = [f"{sleep} %" for sleep in states]
    header = ["version", "load (%)", "awake (Mb/s)", *asleep, *(f"change at {state} (%)" for state in asleep)]
    buffer = BUFFERS[experiment]
    yield Tabled("figures", f"Goodput from 30 to 60 s, buffers of {buffer}", header, goodputs)
    yield Tabled("figures", f"Packets lost (%), buffers of {buffer}", ["version", "load (%)", "awake", *asleep], losses)
