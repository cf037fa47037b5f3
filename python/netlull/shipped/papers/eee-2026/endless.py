"""Endless transfers: goodput, DCTCP's threshold of marks, losses at the next buffer."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled, number, percent, times
from netlull.plot import Curve, Panel, panel_grid

from .measures import COALESCING, LPI, OFF, RATES, curves, lost, mean, places, ratio, share_asleep

if TYPE_CHECKING:
    from collections.abc import Iterator


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields goodput over the round trip, goodput over DCTCP's threshold, and drops over the next buffer."""
    yield goodput(evidence)
    yield threshold(evidence)
    yield next_buffer(evidence)


def goodput(evidence: Evidence) -> Drawn:
    """Draws the goodput lost over the round trip, a panel for each rate and setting."""
    panels = []
    found = places(evidence, "long")
    for rate in dict.fromkeys(place.rate for place in found):
        for setting in (LPI, COALESCING):
            senders = []
            for colour, sender in enumerate(dict.fromkeys(str(place["sender"]) for place in found)):
                here = [
                    place
                    for place in found
                    if (place.rate, place["sender"]) == (rate, sender) and setting in place.settings
                ]
                values = [lost(evidence, place, setting).scaled(100) for place in here]
                senders.append(Curve(sender, [place.value("rtt") for place in here], values, colour))
            panels.append(Panel(f"{RATES[rate]}, {setting}", "Round trip (ms)", "Goodput lost (%)", senders))
    caption = "Goodput of four endless transfers that is lost against no sleep, paired by seed."
    return Drawn("goodput", "Goodput of endless transfers", caption, panel_grid(panels))


def threshold(evidence: Evidence) -> Drawn:
    """Draws DCTCP's goodput over its threshold of marks, a panel for each round trip."""
    panels = []
    found = places(evidence, "marks")
    for rtt in sorted({place.value("rtt") for place in found}):
        here = [place for place in found if place["rtt"] == rtt]
        goodputs = curves(here, "k", (OFF, LPI, COALESCING), partial(mean, evidence, metric="goodput_bps"), 1e-6)
        panels.append(Panel(f"1 Gb/s, {rtt:g} ms", "Marks from (packets)", "Goodput (Mb/s)", goodputs, y_from=0))
    caption = "Goodput of four endless transfers of DCTCP over the queue length from which packets are marked."
    return Drawn("threshold", "DCTCP's threshold", caption, panel_grid(panels))


def next_buffer(evidence: Evidence) -> Drawn:
    """Draws the packets dropped at the next buffer, a panel for each TCP and round trip."""
    panels = []
    found = places(evidence, "next")
    for rtt in sorted({place.value("rtt") for place in found}):
        for sender in dict.fromkeys(str(place["sender"]) for place in found):
            here = [place for place in found if (place["rtt"], place["sender"]) == (rtt, sender)]
            drops = curves(here, "buffer", (OFF, LPI, COALESCING), partial(mean, evidence, metric="next_drops"), 100)
            panels.append(Panel(f"{sender}, {rtt:g} ms", "Buffer (packets)", "Dropped (%)", drops, y_from=0))
    caption = "Packets dropped at a bottleneck of 1 Gb/s behind a link of 10 Gb/s with low-power idle: four transfers."
    return Drawn("next", "The next buffer", caption, panel_grid(panels, columns=3))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields every cell."""
    header = ["cell", "setting", "asleep", "goodput (Mb/s)", "off (Mb/s)", "lost", "mean window", "timeouts (off)"]
    for kind, caption in (
        ("long", "Four endless transfers"),
        ("marks", "DCTCP's threshold"),
        ("next", "The next buffer"),
    ):
        rows = []
        for place in places(evidence, kind):
            for setting in place.settings:
                bps = [number(mean(evidence, place, name, "goodput_bps").scaled(1e-6)) for name in (setting, OFF)]
                timeouts = [f"{mean(evidence, place, name, 'timeouts').mean:.1f}" for name in (setting, OFF)]
                rows.append(
                    [
                        str(place),
                        setting,
                        percent(share_asleep(evidence, place.cell(setting))),
                        *bps,
                        percent(lost(evidence, place, setting), digits=2),
                        times(ratio(evidence, place, setting, "cwnd_bytes")),
                        f"{timeouts[0]} ({timeouts[1]})",
                    ]
                )
        yield Tabled("figures", caption, header, rows)
    rows = [
        [
            str(place),
            *(percent(mean(evidence, place, name, "next_drops"), digits=3) for name in (OFF, LPI, COALESCING)),
            *(number(mean(evidence, place, name, "next_queue")) for name in (OFF, LPI, COALESCING)),
        ]
        for place in places(evidence, "next")
    ]
    header = ["cell", "dropped, off", "LPI", "coalescing", "longest queue, off", "LPI", "coalescing"]
    yield Tabled("figures", "Losses at the next buffer", header, rows)
