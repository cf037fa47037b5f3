"""Thresholds of coalescing, timers of devices, and the retransmission timer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled, percent, times
from netlull.plot import Curve, Panel, panel_grid

from .measures import OFF, RATES, curves, exchange, mean, micro, places, ratio, saving, share_asleep

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields energy and median completion over the timer, and over the load for each threshold."""
    yield timers(evidence)
    yield coalescing(evidence)


def timers(evidence: Evidence) -> Drawn:
    """Draws the energy saved and the median completion over the timer, a curve for each round trip and load."""
    saved, slower = [], []
    for colour, place in enumerate(places(evidence, "timers")):
        us = [_microseconds(timer) for timer in place.settings]
        title = f"{place['rtt']:g} ms, load {place['load']:g}"
        saved.append(Curve(title, us, [saving(evidence, place, timer).scaled(100) for timer in place.settings], colour))
        slower.append(Curve(title, us, [ratio(evidence, place, timer, "p50_s") for timer in place.settings], colour))
    panels = [
        Panel("1 Gb/s", "Timer (us)", "Energy saved (%)", saved, y_from=0),
        Panel("1 Gb/s", "Timer (us)", "Median, times", slower, log_y=True),
    ]
    caption = (
        "Energy saved and median completion of web transfers over the idle time before sleep, by round trip and load: "
        "1000BASE-T, CUBIC. A timer above the round trip keeps the link awake during a transfer."
    )
    return Drawn("timers", "The timer before sleep", caption, panel_grid(panels))


def _microseconds(timer: str) -> float:
    """The time at the head of a timer's name."""
    value, unit = timer.split()[:2]
    return float(value) * {"us": 1.0, "ms": 1000.0}[unit]


def coalescing(evidence: Evidence) -> Drawn:
    """Draws energy and median completion over the load for each threshold of coalescing."""
    panels = []
    found = places(evidence, "coalescing")
    for rate in dict.fromkeys(place.rate for place in found):
        here = [place for place in found if (place.rate, place["rtt"]) == (rate, 1.0)]
        holds = here[0].settings
        saved = curves(here, "load", holds, partial(saving, evidence), 100)
        slower = curves(here, "load", holds, partial(ratio, evidence, metric="p50_s"))
        panels.append(Panel(f"{RATES[rate]}, 1 ms", "Load", "Energy saved (%)", saved))
        panels.append(Panel(f"{RATES[rate]}, 1 ms", "Load", "Median, times", slower))
    caption = "Energy saved and median completion of web transfers over that without sleep, CUBIC, round trip 1 ms."
    return Drawn("coalescing", "Thresholds of coalescing", caption, panel_grid(panels))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields every cell."""
    header = ["cell", "setting", "asleep", "energy saved", "small exchange", "median", "99th percentile"]
    for kind, caption in (("coalescing", "Thresholds of coalescing"), ("timers", "Timers of devices")):
        rows = [
            [
                str(place),
                setting,
                percent(share_asleep(evidence, place.cell(setting))),
                percent(saving(evidence, place, setting)),
                micro(exchange(evidence, place, setting)),
                *(times(ratio(evidence, place, setting, metric)) for metric in ("p50_s", "p99_s")),
            ]
            for place in places(evidence, kind)
            for setting in place.settings
        ]
        yield Tabled("figures", caption, header, rows)
    rows = []
    for place in places(evidence, "rto"):
        for setting in place.settings:
            counts = [f"{mean(evidence, place, name, 'timeouts').mean:.1f}" for name in (setting, OFF)]
            drops = percent(mean(evidence, place, setting, "drops"), digits=3)
            rows.append([str(place), setting, *counts, drops, times(ratio(evidence, place, setting, "p99_s"))])
    header = ["cell", "setting", "timeouts", "timeouts, off", "dropped", "99th percentile"]
    yield Tabled("figures", "The retransmission timer", header, rows)
