"""Thresholds of coalescing, timers of devices, and the retransmission timer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled
from netlull.plot import Curve, Panel, panel_grid

from .measures import OFF, RATES, added, micro, percent, places, ratio, saving, share_asleep, times, unique

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields energy and median completion over the load for each threshold, and energy for each timer."""
    panels = []
    found = places(evidence, "coalescing")
    for rate in unique(place.rate for place in found):
        for what, label in (("saving", "Energy saved (%)"), ("p50_s", "Median, times")):
            here = [place for place in found if (place.rate, place["rtt"]) == (rate, 1.0)]
            curves = [
                Curve(
                    hold,
                    [place.value("load") for place in here],
                    [
                        saving(evidence, place, hold).scaled(100)
                        if what == "saving"
                        else ratio(evidence, place, hold, what)
                        for place in here
                    ],
                    colour,
                )
                for colour, hold in enumerate(here[0].settings)
            ]
            panels.append(Panel(f"{RATES[rate]}, 1 ms", "Load", label, curves, log_x=False))
    caption = "Energy saved and median completion of web transfers over that without sleep, CUBIC, round trip 1 ms."
    yield Drawn("coalescing", "Thresholds of coalescing", caption, panel_grid(panels))


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
                micro(added(evidence, place, setting, "ping_p50_s").scaled(0.5)),
                *(times(ratio(evidence, place, setting, metric)) for metric in ("p50_s", "p99_s")),
            ]
            for place in places(evidence, kind)
            for setting in place.settings
        ]
        yield Tabled("figures", caption, header, rows)
    rows = []
    for place in places(evidence, "rto"):
        for setting in place.settings:
            counts = [f"{evidence.grid.interval(place.cell(name), 'timeouts').mean:.1f}" for name in (setting, OFF)]
            drops = percent(evidence.grid.interval(place.cell(setting), "drops"), digits=3)
            rows.append([str(place), setting, *counts, drops, times(ratio(evidence, place, setting, "p99_s"))])
    header = ["cell", "setting", "timeouts", "timeouts, off", "dropped", "99th percentile"]
    yield Tabled("figures", "The retransmission timer", header, rows)
