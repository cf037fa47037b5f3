"""Larger networks: the links that ESTOP, ESACON and the load-aware plan put to sleep, and the effect on traffic."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator, ScalarFormatter

from netlull.papers import Cell, Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import Interval, mean_interval

from .studies import BANDS, changed, saved, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from matplotlib.figure import Figure

KINDS = ("ESTOP", "ESACON", "load-aware", "load-aware, TCP counted")
AWAKE = "awake"
"""The plan without sleep; other plans are a kind with its threshold or bound: `load-aware 80 %, TCP counted`."""


def cell(experiment: str, network: str, plan: str, load: float) -> Cell:
    """The point of the sweep with these values."""
    return Cell.of(experiment, network=network, plan=plan, load=load)


def plans(evidence: Evidence, kind: str) -> dict[str, int]:
    """The simulated plans of a kind with their thresholds or bounds in percent, in ascending order."""
    parts = {plan: re.fullmatch(r"(.+?) (\d+) %(.*)", plan) for plan in evidence.grid.labels("tcp", "plan")}
    found = {plan: int(part[2]) for plan, part in parts.items() if part and part[1] + part[3] == kind}
    return dict(sorted(found.items(), key=lambda entry: entry[1]))


def stretch(evidence: Evidence, network: str, plan: str, load: float) -> Interval:
    """The number of links that a datagram crosses, in percent of its number with all links awake.

    The number is the traffic on all links divided by the traffic delivered, in runs without TCP.
    """
    grid = evidence.grid

    def hops(which: str) -> dict[int, float]:
        point = cell("datagrams", network, which, load)
        carried, arrived = grid.samples(point, "carried_bps"), grid.samples(point, "traffic_bps")
        return {seed: carried[seed] / arrived[seed] for seed in carried}

    now, awake = hops(plan), hops(AWAKE)
    return mean_interval([100 * now[seed] / awake[seed] for seed in now])


def _saved(evidence: Evidence, network: str, plan: str, load: float, metric: str) -> Interval:
    return saved(evidence, cell("tcp", network, plan, load), cell("tcp", network, AWAKE, load), metric)


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the utilisation, path lengths and TCP goodput of each plan over its savings, and the energy saved."""
    loads = evidence.grid.values("tcp", "load")
    load = max(loads)
    grid = evidence.grid

    def fullest(network: str, plan: str) -> Interval:
        return grid.interval(cell("datagrams", network, plan, load), "fullest", 100)

    def longer(network: str, plan: str) -> Interval:
        return stretch(evidence, network, plan, load) - 100

    def goodput(network: str, plan: str) -> Interval:
        return grid.interval(cell("tcp", network, plan, load), "tcp_bps", 1e-6)

    for name, title, label, value, caption in (
        (
            "larger-networks-fullest",
            "Load of the fullest link",
            "Utilisation (%)",
            fullest,
            "Datagrams alone.",
        ),
        (
            "larger-networks-stretch",
            "Longer ways",
            "Links more (%)",
            longer,
            "Links that a datagram crosses, relative to all links awake.",
        ),
        (
            "larger-networks-tcp",
            "Goodput of five TCP flows",
            "Goodput each (Mb/s)",
            goodput,
            "SACK CUBIC next to the datagrams, 12 to 23 s.",
        ),
    ):
        yield Drawn(
            name,
            title,
            f"{caption} Each point is a plan at one threshold or bound; further right it saves more (ideal scaling: "
            f"the share of links asleep). Background: {load:g} % of the links on average while all are awake. {BANDS}",
            _over_saving(evidence, load, label, value),
        )
    yield Drawn(
        "larger-networks-energy",
        "Energy saved",
        f"By the power model, for every plan; background {load:g} %. Ports that sleep on the measured device keep "
        "their share of the box and feed their transceivers.",
        _energy(evidence, load),
    )


def _over_saving(evidence: Evidence, load: float, label: str, value: Callable[[str, str], Interval]) -> Figure:
    panels = []
    for letter, network in zip("abc", evidence.grid.labels("tcp", "network"), strict=False):
        curves = []
        for colour, kind in enumerate(KINDS):
            if not plans(evidence, kind):
                continue
            points = sorted(
                (_saved(evidence, network, plan, load, "energy_ideal_j").mean, plan) for plan in plans(evidence, kind)
            )
            curves.append(Curve(kind, [x for x, _ in points], [value(network, plan) for _, plan in points], colour))
        ends = [min(min(curve.x) for curve in curves), max(max(curve.x) for curve in curves)]
        awake = mean_interval([value(network, AWAKE).mean])
        curves.append(Curve("all links awake", ends, [awake, awake], 6, dashed=True, marked=False))
        panels.append(Panel(f"({letter}) {network}", "Links asleep (%)", label, curves, log_x=False, y_from=0))
    drawn = panel_grid(panels, columns=3, row_height=2.4)
    for axes in drawn.axes:
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(ScalarFormatter())
    return drawn


def _energy(evidence: Evidence, load: float) -> Figure:
    models = {
        "energy_ideal_j": "ideal scaling",
        "energy_cards_j": "line cards",
        "energy_measured_j": "Nexus 9336-FX2, measured",
    }
    panels = []
    for letter, network in zip("abc", evidence.grid.labels("tcp", "network"), strict=False):
        ran = plans(evidence, "ESTOP")
        curves = [
            Curve(
                title,
                list(ran.values()),
                [_saved(evidence, network, plan, load, metric) for plan in ran],
                colour,
                dashed=colour == 1,
            )
            for colour, (metric, title) in enumerate(models.items())
        ]
        panels.append(
            Panel(f"({letter}) {network}", "ESTOP's threshold (%)", "Saved (%)", curves, log_x=False, y_from=0)
        )
    return panel_grid(panels, columns=3, row_height=2.3)


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of all plans, with a table for each network."""
    grid = evidence.grid
    for network in grid.labels("tcp", "network"):
        rows = []
        for load in grid.values("tcp", "load"):
            for plan in (AWAKE, *(plan for kind in KINDS for plan in plans(evidence, kind))):
                point, alone, awake = (
                    cell("tcp", network, plan, load),
                    cell("datagrams", network, plan, load),
                    cell("tcp", network, AWAKE, load),
                )
                rows.append(
                    [
                        f"{load:g}",
                        plan,
                        *(
                            number(_saved(evidence, network, plan, load, metric))
                            for metric in ("energy_ideal_j", "energy_cards_j", "energy_measured_j")
                        ),
                        number(grid.interval(alone, "fullest", 100)),
                        number(stretch(evidence, network, plan, load)),
                        number(grid.interval(point, "tcp_bps", 1e-6)),
                        signed(changed(evidence, point, awake, "tcp_bps")),
                        number(grid.interval(point, "least_tcp_bps", 1e-6)),
                    ]
                )
        header = [
            "load (%)",
            "plan",
            "saved (%): ideal",
            "line cards",
            "Nexus",
            "fullest link, datagrams alone (%)",
            "links crossed, of awake (%)",
            "TCP, mean (Mb/s)",
            "change (%)",
            "least (Mb/s)",
        ]
        yield Tabled("figures", network, header, rows)
