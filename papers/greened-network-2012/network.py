"""Fig. 1: Abilene with its loads, before the switch-off and after it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.lines import Line2D

from netlull import Scenario
from netlull.papers import Drawn, Evidence
from netlull.plot import figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PHASES = {"settled": "(a) Before: all links awake", "later": "(b) After ESTOP at 70 %"}
RUN = "cubic-1"
LOADS = ScalarMappable(Normalize(0, 100), ListedColormap(colormaps["viridis_r"](np.linspace(0.08, 1, 256))))
"""Colours of loads in percent, without viridis' yellow end."""
ASLEEP = "#999999"
ENDS = ("8", "10")
"""Of TCP."""


def drawn(evidence: Evidence) -> Drawn:
    """The figure."""
    return Drawn(
        "fig1",
        "Fig. 1. Abilene, its loads and what sleeps",
        "Load of each link's busier direction with one flow of TCP CUBIC from 8 to 10 at 70 % (seed 1). TCP goes "
        "8-2-5-6-3-10 before, "
        "8-11-1-4-6-3-10 after; then 9-7-4-6-3 carries 9-3's background, too, so that 4-6 and 6-3 leave TCP 20 Mb/s. "
        "Nodes are in their "
        "places (longitude scaled by the cosine of the mean latitude).",
        both(evidence),
    )


def both(evidence: Evidence) -> Figure:
    """A map for each phase."""
    document = Scenario.from_file(evidence.paper.info.folder / "scenario.toml").to_dict()
    summary = evidence.series[RUN].summary
    with styled():
        made = figure(height=2.6)
        panels = made.subplots(1, 2)
        for axes, (phase, title) in zip(panels, PHASES.items(), strict=True):
            _map(axes, document, summary["phase"][phase]["link"])
            axes.set_title(title, loc="left")
        bar = made.colorbar(LOADS, ax=list(panels), shrink=0.75, pad=0.01, aspect=24)
        bar.set_label("load (%)")
        bar.outline.set_visible(False)
        dashed = Line2D([], [], color=ASLEEP, linewidth=2, linestyle=(0, (2.5, 1.5)), label="asleep")
        made.legend(handles=[dashed], loc="outside lower center")
    return made


def _map(axes: Axes, document: dict[str, Any], links: dict[str, Any]) -> None:
    places = {name: (float(x), float(y)) for name, (x, y) in document["position"].items()}
    squeeze = math.cos(math.radians(sum(y for _, y in places.values()) / len(places)))
    points = {name: (x * squeeze, y) for name, (x, y) in places.items()}
    for link in document["link"]:
        ends = link["from"], link["to"]
        ways = [links["-".join(way)] for way in (ends, ends[::-1])]
        x, y = [points[end][0] for end in ends], [points[end][1] for end in ends]
        if all(way["asleep_s"] > 0 for way in ways):
            axes.plot(x, y, color=ASLEEP, linewidth=2.2, linestyle=(0, (2.5, 1.5)))
        else:
            load = 100 * max(way["utilisation"] for way in ways)
            axes.plot(x, y, color=LOADS.to_rgba(np.array([load]))[0], linewidth=2.6, solid_capstyle="butt")
    for name, (east, north) in points.items():
        face, ink = ("#222222", "white") if name in ENDS else ("white", "#222222")
        axes.plot(
            [east], [north], "o", markersize=10.5, color=face, markeredgecolor="#222222", markeredgewidth=0.8, zorder=4
        )
        axes.text(east, north - 0.05, name, fontsize=6.5, color=ink, ha="center", va="center", zorder=5)
    axes.set_aspect("equal")
    axes.margins(0.08)
    axes.axis("off")
