"""Paths of one to five links that sleep."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled, percent, times
from netlull.plot import Curve, Panel, panel_grid

from .measures import RATES, curves, exchange, micro, places, ratio, share_asleep

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the delay of a small exchange over the number of links, and the share of time asleep of each link."""
    found = places(evidence, "path")
    delays, shares = [], []
    for rate in dict.fromkeys(place.rate for place in found):
        for load in sorted({place.value("load") for place in found}):
            here = [place for place in found if (place.rate, place["load"]) == (rate, load)]
            title = f"{RATES[rate]}, load {load:g}"
            added = curves(here, "hops", here[0].settings, partial(exchange, evidence), 1e6)
            delays.append(Panel(title, "Links", "Added round trip (us)", added, log_x=False, log_y=True))
            longest = max(here, key=lambda place: place.value("hops"))
            links = range(1, int(longest.value("hops")) + 1)
            asleep = [
                Curve(
                    setting,
                    [float(link) for link in links],
                    [share_asleep(evidence, longest.cell(setting), f"asleep_{link}_s").scaled(100) for link in links],
                    colour,
                )
                for colour, setting in enumerate(longest.settings)
            ]
            shares.append(Panel(title, "Link of the path", "Time asleep (%)", asleep, log_x=False, y_from=0))
    caption = "Growth of the median round trip of a small exchange over paths of one to five links, CUBIC."
    yield Drawn("delays", "Delays along the path", caption, panel_grid(delays))
    caption = "Share of time that each link of the longest path sleeps."
    yield Drawn("shares", "Sleep along the path", caption, panel_grid(shares))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields every cell."""
    header = ["cell", "setting", "small exchange", "median", "99th percentile", "asleep, by link"]
    rows = []
    for place in places(evidence, "path"):
        for setting in place.settings:
            links = range(1, int(place.value("hops")) + 1)
            shares = [share_asleep(evidence, place.cell(setting), f"asleep_{link}_s") for link in links]
            rows.append(
                [
                    str(place),
                    setting,
                    micro(exchange(evidence, place, setting)),
                    *(times(ratio(evidence, place, setting, metric)) for metric in ("p50_s", "p99_s")),
                    ", ".join(percent(share) for share in shares),
                ]
            )
    yield Tabled("figures", "Links in series", header, rows)
