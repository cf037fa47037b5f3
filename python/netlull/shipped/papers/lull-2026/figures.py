"""Pareto front, completion times over load, goodput lost, and energy of measured devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled, number, percent
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import mean_interval

from .drawing import Priced, fronts
from .measures import LULL, SHOWN_RTT, Place, growth, lost, places, saving, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netlull.stats import Interval

SECTIONS = {"figures": "Energy and delay", "lost": "Goodput", "energy": "Energy", "cells": "All cells"}
"""The report's sections, in order."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the figures of the main sweep."""
    yield front(evidence)
    yield times(evidence)
    if "bursts" in evidence.grid.experiments:
        yield goodput(evidence)
    yield energy(evidence)


def _web(law: str, load: float, rtt: float = SHOWN_RTT) -> Place:
    return Place("web", law=law, load=load, web_rtt=rtt)


def _scaled(value: Interval, scale: float = 100.0) -> Interval:
    return type(value)(value.mean * scale, value.low * scale, value.high * scale, value.n)


def front(evidence: Evidence) -> Drawn:
    """Draws energy saved against the growth of the 95th percentile, a panel for each law of sizes."""
    grid = evidence.grid
    panels = {}
    for law in grid.labels("web", "law"):
        lines = {}
        for control in [LULL, *settings(evidence)]:
            found = [_web(law, load) for load in grid.values("web", "load")]
            lines[control] = [
                Priced(
                    f"{place.point['load']:g}",
                    _scaled(saving(evidence, place.cell(control))),
                    growth(evidence, place, control),
                )
                for place in found
            ]
        panels[law] = lines
    caption = (
        "Each point: energy saved (FS, static power 0) and 95th percentile of completion over always on's at a load, "
        "with 95 % intervals; round trip 50 ms, delta 2 ms. Right and down is better."
    )
    return Drawn("front", "Energy saved against completion times", caption, fronts(panels))


def times(evidence: Evidence) -> Drawn:
    """Draws the growth of the 95th percentile over the load, for each law and round trip."""
    grid = evidence.grid
    panels = []
    for law in grid.labels("web", "law"):
        loads = grid.values("web", "load")
        curves = [
            Curve(f"Lull, RTT {rtt:g} ms", loads, [growth(evidence, _web(law, load, rtt)) for load in loads], colour)
            for colour, rtt in enumerate(grid.values("web", "web_rtt"))
        ]
        bound = [_constant(1.05) for _ in loads]
        curves.append(Curve("the target, 1.05", loads, bound, 6, dashed=True, marked=False))
        panels.append(Panel(law, "Offered load", "95th percentile over always on", curves, log_x=False))
    caption = (
        "95th percentile of completion times with Lull over that of always on: means over the seeds, with a paired "
        "bootstrap of 95 %."
    )
    return Drawn("times", "Completion times over the load", caption, panel_grid(panels, columns=3))


def _constant(value: float) -> Interval:
    return mean_interval([value])


def goodput(evidence: Evidence) -> Drawn:
    """Draws the goodput lost under each disturbance, over the round trip."""
    grid = evidence.grid
    panels = []
    shown: dict[str, dict[str, float | str]] = {
        "bulk": {"sender": "NewReno", "flows": 4.0},
        "bursts": {"rival": "NewReno", "few": 1.0, "burst": 10.0},
        "bursts, 4 transfers": {"rival": "NewReno", "few": 4.0, "burst": 10.0},
        "bottleneck of 4 Mb/s": {"rival": "NewReno", "kind": "4 Mb/s"},
        "bottleneck redrawn, 50 ms": {"rival": "NewReno", "kind": "redrawn, 50 ms"},
        "bursts, CUBIC": {"rival": "CUBIC", "few": 1.0, "burst": 10.0},
    }
    for title, fixed in shown.items():
        experiment = title.split(",", 1)[0].split(" ", 1)[0]
        found = places(evidence, experiment, **fixed)
        axis = "bulk_rtt" if experiment == "bulk" else "rtt"
        across = [float(place.point[axis]) for place in found]
        curves = [
            Curve(control, across, [_scaled(lost(evidence, place, control)) for place in found], colour)
            for colour, control in enumerate([LULL, *settings(evidence)])
        ]
        panels.append(Panel(title, "Round trip (ms)", "Goodput lost (%)", curves))
    caption = (
        "Goodput of TCP that is lost against always on, paired by seed, with 95 % intervals. NewReno unless stated; "
        "bursts of 10 Mb/s; four transfers in bulk. "
        f"Seeds {grid.seeds('bursts')[0]} to {grid.seeds('bursts')[-1]}."
    )
    return Drawn("goodput", "Goodput lost under disturbances", caption, panel_grid(panels, columns=3), "lost")


MODELS = {
    "fs": "ideal FS",
    "dvs": "ideal DVS",
    "ncs_55a1_24h": "measured: NCS-55A1-24H",
    "wedge_tofino": "measured: Wedge (Tofino)",
}
"""The power models: suffix of the metric, and name."""


def energy(evidence: Evidence) -> Drawn:
    """Draws the energy saved under each power model, a panel for each law."""
    grid = evidence.grid
    panels = []
    for law in grid.labels("web", "law"):
        loads = grid.values("web", "load")
        curves = [
            Curve(name, loads, [_scaled(saving(evidence, _web(law, load).cell(LULL), model)) for load in loads], colour)
            for colour, (model, name) in enumerate(MODELS.items())
        ]
        panels.append(Panel(law, "Offered load", "Energy saved (%)", curves, log_x=False, y_from=0))
    caption = "Energy that Lull saves at a round trip of 50 ms. A port of a measured device has its share of the box."
    return Drawn("energy", "Energy saved under each power model", caption, panel_grid(panels, columns=3), "energy")


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of every web cell, and of every other cell."""
    header = ["cell", "FS (%)", "DVS (%)", "95th percentile (times)", "practRA, best: FS (%)", "practRA, best: times"]
    best = settings(evidence)[-1]
    experiments = [name for name in ("web", "buffers", "senders") if name in evidence.grid.experiments]
    rows = [
        [
            str(place),
            percent(saving(evidence, place.cell(LULL))),
            percent(saving(evidence, place.cell(LULL), "dvs")),
            number(growth(evidence, place), digits=3),
            percent(saving(evidence, place.cell(best))),
            number(growth(evidence, place, best), digits=2),
        ]
        for name in experiments
        for place in places(evidence, name)
    ]
    yield Tabled("cells", "Web load", header, rows)
    header = ["cell", "Lull: goodput lost", "Lull: FS", "practRA, best: goodput lost", "practRA, best: FS"]
    rows = []
    for name in ("bulk", "bursts", "bottleneck", "writer"):
        if name not in evidence.grid.experiments:
            continue
        for place in places(evidence, name):
            row = [str(place)]
            for control in (LULL, best):
                row += [percent(lost(evidence, place, control)), percent(saving(evidence, place.cell(control)))]
            rows.append(row)
    yield Tabled("cells", "Bulk, bursts, bottlenecks and the writer", header, rows)
