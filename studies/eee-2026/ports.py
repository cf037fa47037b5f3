"""The administrators' table: four physical layers, five loads, four TCPs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled, number
from netlull.plot import Curve, Panel, panel_grid

from .measures import COALESCING, LPI, Place, added, percent, places, ratio, saving, share_asleep

if TYPE_CHECKING:
    from collections.abc import Iterator

PHYSICAL = {"100m": "100BASE-TX", "1g": "1000BASE-T", "10g": "10GBASE-T", "100g": "802.3bj, 100 Gb/s"}
"""The physical layers by rate. 802.3bj has fast wake, then deep sleep."""
DEVICES = {
    "100m": {"n540x_8z16g": "N540X-8Z16G (port of 1 Gb/s)"},
    "1g": {"n540x_8z16g": "N540X-8Z16G"},
    "10g": {"n540x_8z16g": "N540X-8Z16G", "wedge_tofino": "Wedge (Tofino)"},
    "100g": {
        "wedge_tofino": "Wedge (Tofino)",
        "ncs_55a1_24h": "NCS-55A1-24H",
        "8201_32fh": "8201-32FH",
        "nexus_9336_fx2": "Nexus 9336-FX2",
        "7280cr3k_32d4": "7280CR3K-32D4",
    },
}
"""The measured devices with a port of the rate: suffix of the metric, and name."""
HEADER = [
    "physical layer",
    "load",
    "setting",
    "asleep",
    "energy of an ideal link saved",
    "watts saved a port",
    "small exchange: median, 99th percentile",
    *(f"{sender}: median, 99th percentile, goodput" for sender in ("NewReno", "CUBIC", "BBR", "DCTCP")),
]
"""The columns of the table."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the energy saved over the load, a panel for each physical layer."""
    found = places(evidence, "web", lambda place: place["sender"] == "CUBIC")
    panels = []
    for rate, name in PHYSICAL.items():
        here = [place for place in found if place.rate == rate]
        curves = [
            Curve(
                setting,
                [place.value("load") for place in here],
                [saving(evidence, place, setting).scaled(100) for place in here],
                colour,
            )
            for colour, setting in enumerate(here[0].settings)
        ]
        panels.append(Panel(name, "Load", "Energy saved (%)", curves, log_x=False, y_from=0, y_to=100))
    caption = "Energy that an ideal link saves: CUBIC under web load, round trip 1 ms."
    yield Drawn("ports", "Four physical layers", caption, panel_grid(panels))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the administrators' table."""
    caption = (
        "Web load at a round trip of 1 ms, against a link that never sleeps. Asleep, energy, watts and the small "
        "exchange (growth of a round trip) are those of CUBIC. TCPs: ratios of the median and the 99th percentile of "
        "completion and of the goodput."
    )
    yield Tabled("figures", caption, HEADER, rows(evidence))


def rows(evidence: Evidence) -> list[list[str]]:
    """The rows of the administrators' table."""
    found = places(evidence, "web")
    table = []
    for rate, name in PHYSICAL.items():
        loads = sorted({place.value("load") for place in found if place.rate == rate})
        for setting in (LPI, COALESCING):
            for load in loads:
                here = {str(place["sender"]): place for place in found if (place.rate, place["load"]) == (rate, load)}
                if setting in here["CUBIC"].settings:
                    table.append([name, f"{load:g}", setting, *_numbers(evidence, rate, here, setting)])
    return table


def _numbers(evidence: Evidence, rate: str, here: dict[str, Place], setting: str) -> list[str]:
    shown = here["CUBIC"]
    share = share_asleep(evidence, shown.cell(setting))
    if rate == "100g":
        share = evidence.grid.interval(shown.cell(setting), "low_share")
    saved = [
        f"{-added(evidence, shown, setting, f'watts_{device}').mean:.3f} W {name}"
        for device, name in DEVICES[rate].items()
    ]
    ping = [added(evidence, shown, setting, f"ping_{which}_s").scaled(0.5e6) for which in ("p50", "p99")]
    return [
        percent(share),
        percent(saving(evidence, shown, setting)),
        "; ".join(saved),
        ", ".join(f"{value.mean:+.1f} us" for value in ping),
        *(
            ", ".join(number(ratio(evidence, place, setting, metric), digits=2) for metric in ("p50_s", "p99_s"))
            + f", {ratio(evidence, place, setting, 'goodput_bps').mean:.3f}"
            for place in (here[sender] for sender in ("NewReno", "CUBIC", "BBR", "DCTCP"))
        ),
    ]
