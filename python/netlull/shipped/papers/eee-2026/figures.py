"""Energy saved, completion times and acknowledgements sent together, over the load."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled, number, percent, times
from netlull.plot import Curve, Panel, panel_grid
from netlull.stats import mean_interval

from .measures import (
    COALESCING,
    LPI,
    OFF,
    RATES,
    Place,
    above_closed_form,
    curves,
    exchange,
    mean,
    micro,
    places,
    ratio,
    saving,
    share_asleep,
    together,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netlull.stats import Interval

SECTIONS = {"figures": "Energy and delay", "energy": "Energy", "cells": "All cells"}
"""The report's sections, in order."""
SHOWN_RTT, SHOWN_SENDER = 1.0, "CUBIC"
"""The round trip (ms) and the TCP of the figures over the load."""
ASLEEP_POWER = 0.1
"""The power asleep, as a share of the power awake."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the figures of the main sweep."""
    yield energy_saved(evidence)
    yield median(evidence)
    yield bursts(evidence)


def _shown(evidence: Evidence, rate: str, rtt: float, sender: str = SHOWN_SENDER) -> list[Place]:
    return places(evidence, "web", lambda place: (place.rate, place["rtt"], place["sender"]) == (rate, rtt, sender))


def energy_saved(evidence: Evidence) -> Drawn:
    """Draws the energy saved over the load, next to the closed form for Poisson frames at 10 Gb/s."""
    panels = []
    for rate in dict.fromkeys(place.rate for place in places(evidence, "web")):
        found = _shown(evidence, rate, SHOWN_RTT)
        saved = curves(found, "load", (LPI, COALESCING), partial(saving, evidence), 100)
        if rate == "10g":
            form = [
                (share_asleep(evidence, place.cell(LPI)).mean - above_closed_form(evidence, place).mean)
                * (1 - ASLEEP_POWER)
                for place in found
            ]
            values = [mean_interval([100 * value]) for value in form]
            loads = [place.value("load") for place in found]
            saved.append(Curve("LPI, Poisson frames (closed form)", loads, values, 6, dashed=True))
        panels.append(Panel(RATES[rate], "Load", "Energy saved (%)", saved, y_from=0))
    caption = (
        f"Energy that an ideal link saves, {SHOWN_SENDER} under web load, round trip {SHOWN_RTT:g} ms. "
        "Coalescing: 10 frames or 100 us. Bands are 95 % intervals."
    )
    return Drawn("saving", "Energy saved over the load", caption, panel_grid(panels))


def median(evidence: Evidence) -> Drawn:
    """Draws the median completion over that without sleep, a panel for each rate and round trip."""
    panels = []
    found = places(evidence, "web", lambda place: place["sender"] == SHOWN_SENDER)
    for rate in dict.fromkeys(place.rate for place in found):
        for rtt in sorted({place.value("rtt") for place in found if place.rate == rate}):
            here = _shown(evidence, rate, rtt)
            if len(here) < 2:
                continue
            slower = curves(here, "load", (LPI, COALESCING), partial(ratio, evidence, metric="p50_s"))
            panels.append(Panel(f"{RATES[rate]}, {rtt:g} ms", "Load", "Median, times", slower, log_y=True))
    caption = f"Median completion of web transfers over that without sleep, {SHOWN_SENDER}."
    return Drawn("median", "Completion times over the load", caption, panel_grid(panels, columns=4, row_height=2.1))


def bursts(evidence: Evidence) -> Drawn:
    """Draws the frames of the reverse link between two sleeps, over the load."""

    def measure(place: Place, setting: str) -> Interval:
        return mean_interval(together(evidence, place.cell(setting)).values())

    panels = []
    for rate in dict.fromkeys(place.rate for place in places(evidence, "web")):
        found = [place for place in _shown(evidence, rate, SHOWN_RTT) if place.value("load") < 0.9]
        frames = curves(found, "load", (LPI, COALESCING), measure)
        panels.append(Panel(RATES[rate], "Load", "Frames between two sleeps", frames, log_y=True))
    caption = (
        f"Frames that the reverse link sends between two sleeps, mostly acknowledgements: {SHOWN_SENDER}, round trip "
        f"{SHOWN_RTT:g} ms."
    )
    return Drawn("bursts", "Acknowledgements sent together", caption, panel_grid(panels))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the numbers of every cell."""
    header = [
        "cell",
        "setting",
        "asleep",
        "energy saved",
        "small exchange",
        "median",
        "95th percentile",
        "99th percentile",
        "goodput",
        "timeouts (off)",
        "losses (off)",
    ]
    for kind, caption in (("web", "Web load"), ("bulk", "Transfers of 250 kB")):
        rows = []
        for place in places(evidence, kind):
            rows += [[str(place), setting, *_numbers(evidence, place, setting)] for setting in place.settings]
        yield Tabled("cells", f"{caption}: against no sleep, paired by seed", header, rows)


def _numbers(evidence: Evidence, place: Place, setting: str) -> list[str]:
    counts = [f"{mean(evidence, place, name, 'timeouts').mean:.1f}" for name in (setting, OFF)]
    losses = [percent(mean(evidence, place, name, "drops"), digits=2) for name in (setting, OFF)]
    return [
        percent(share_asleep(evidence, place.cell(setting))),
        percent(saving(evidence, place, setting)),
        micro(exchange(evidence, place, setting)),
        *(times(ratio(evidence, place, setting, metric)) for metric in ("p50_s", "p95_s", "p99_s")),
        number(ratio(evidence, place, setting, "goodput_bps"), digits=3),
        f"{counts[0]} ({counts[1]})",
        f"{losses[0]} ({losses[1]})",
    ]
