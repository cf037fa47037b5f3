"""Incast: connections that begin together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled, number, percent, times
from netlull.plot import Curve, Panel, panel_grid

from .measures import COALESCING, LPI, OFF, RATES, mean, places, ratio, saving

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the percentiles of completion for each rate and size."""
    panels = []
    found = places(evidence, "incast")
    shares = {"p50_s": 50.0, "p95_s": 95.0, "p99_s": 99.0}
    for rate in dict.fromkeys(place.rate for place in found):
        for size in sorted({place.value("size") for place in found}):
            place = next(
                place for place in found if (place.rate, place["size"], place["sender"]) == (rate, size, "CUBIC")
            )
            curves = [
                Curve(
                    setting,
                    list(shares.values()),
                    [mean(evidence, place, setting, metric).scaled(1e3) for metric in shares],
                    colour,
                )
                for colour, setting in enumerate((OFF, LPI, COALESCING))
            ]
            title = f"{RATES[rate]}, {size:g} kB"
            panels.append(Panel(title, "Percentile", "Completion (ms)", curves, log_x=False, log_y=True))
    caption = "Completion of 20 connections that begin together, CUBIC, round trip 0.1 ms."
    yield Drawn("incast", "Incast", caption, panel_grid(panels))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields every cell."""
    header = ["cell", "setting", "energy saved", "median (ms)", "median", "99th percentile", "dropped (off)"]
    rows = []
    for place in places(evidence, "incast"):
        for setting in place.settings:
            dropped = [percent(mean(evidence, place, name, "drops"), digits=2) for name in (setting, OFF)]
            rows.append(
                [
                    str(place),
                    setting,
                    percent(saving(evidence, place, setting)),
                    number(mean(evidence, place, setting, "p50_s").scaled(1e3), digits=3),
                    *(times(ratio(evidence, place, setting, metric)) for metric in ("p50_s", "p99_s")),
                    f"{dropped[0]} ({dropped[1]})",
                ]
            )
    yield Tabled("figures", "20 connections that begin together", header, rows)
