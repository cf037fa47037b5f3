"""Low-power idle next to controllers that lower the rate, on the same links."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled, percent, times
from netlull.plot import Panel, panel_grid

from .measures import RATES, curves, exchange, micro, places, ratio, saving

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields energy saved and completion times over the load."""
    panels = []
    found = places(evidence, "control")
    for rate in dict.fromkeys(place.rate for place in found):
        here = [place for place in found if place.rate == rate]
        settings = here[0].settings
        saved = curves(here, "load", settings, partial(saving, evidence), 100)
        slower = curves(here, "load", settings, partial(ratio, evidence, metric="p95_s"))
        panels.append(Panel(RATES[rate], "Load", "Energy saved (%)", saved, y_from=0))
        panels.append(Panel(RATES[rate], "Load", "95th percentile, times", slower, log_y=True))
    caption = "Low-power idle, Lull and practRA on the same link: CUBIC under web load, round trip 5 ms, ideal power."
    yield Drawn("control", "Sleep or lower the rate", caption, panel_grid(panels))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields every cell."""
    header = ["cell", "setting", "energy saved", "small exchange", "median", "95th percentile", "99th percentile"]
    rows = [
        [
            str(place),
            setting,
            percent(saving(evidence, place, setting)),
            micro(exchange(evidence, place, setting)),
            *(times(ratio(evidence, place, setting, metric)) for metric in ("p50_s", "p95_s", "p99_s")),
        ]
        for place in places(evidence, "control")
        for setting in place.settings
    ]
    yield Tabled("figures", "Low-power idle, Lull and practRA", header, rows)
