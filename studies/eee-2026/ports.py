"""The administrators' table: four physical layers, five loads, four TCPs."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from netlull.papers import Drawn, Evidence, Tabled
from netlull.plot import Panel, panel_grid

from .measures import COALESCING, DEVICES, LPI, Place, added, curves, exchange, places, ratio, saving

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PHYSICAL = {"100m": "100BASE-TX", "1g": "1000BASE-T", "10g": "10GBASE-T", "100g": "802.3bj, 100 Gb/s"}
"""The physical layers by rate. 802.3bj has fast wake, then deep sleep."""
PORTS = {
    "100m": DEVICES["1g"],
    **DEVICES,
    "100g": {
        "wedge_tofino": "Wedge",
        "ncs_55a1_24h": "NCS-55A1-24H",
        "8201_32fh": "8201-32FH",
        "nexus_9336_fx2": "Nexus 9336-FX2",
        "7280cr3k_32d4": "7280CR3K-32D4",
    },
}
"""The measured devices of each physical layer. 100BASE-TX is a port of 1 Gb/s."""
SENDERS = ("NewReno", "CUBIC", "BBR", "DCTCP")
SHOWN = "CUBIC"
"""The TCP of the columns that are not of a TCP."""
EXCHANGES = {"exchange_p50_us": 50, "exchange_p99_us": 99}
"""Columns of the growth of a small exchange, in us a round trip, and their percentiles."""
RATIOS = {"p50": "p50_s", "p99": "p99_s", "goodput": "goodput_bps"}
"""Columns and metrics over those without sleep."""


def figures(evidence: Evidence) -> Iterator[Drawn]:
    """Yields the energy saved over the load, a panel for each physical layer."""
    found = places(evidence, "web", lambda place: place["sender"] == SHOWN)
    panels = []
    for rate, name in PHYSICAL.items():
        here = [place for place in found if place.rate == rate]
        saved = curves(here, "load", here[0].settings, partial(saving, evidence), 100)
        panels.append(Panel(name, "Load", "Energy saved (%)", saved, y_from=0, y_to=100))
    caption = f"Energy that an ideal link saves: {SHOWN} under web load, round trip 1 ms."
    yield Drawn("ports", "Four physical layers", caption, panel_grid(panels))


def tables(evidence: Evidence) -> Iterator[Tabled]:
    """Yields the administrators' table, for LPI and for coalescing."""
    found = records(evidence)
    for setting in (LPI, COALESCING):
        chosen = [record for record in found if record["setting"] == setting]
        for caption, header, rows in (sleep_table(chosen), tcp_table(chosen)):
            yield Tabled("figures", f"{setting}: {caption}", header, rows)


def records(evidence: Evidence) -> list[dict[str, str]]:
    """The numbers of every cell and setting, as texts for a file of comma-separated values."""
    return [
        _record(evidence, place, setting)
        for rate in PHYSICAL
        for place in places(evidence, "web", lambda place: place.rate == rate)  # noqa: B023  # used at once
        for setting in place.settings
    ]


def _record(evidence: Evidence, place: Place, setting: str) -> dict[str, str]:
    grid, cell = evidence.grid, place.cell(setting)
    measured = {name: exchange(evidence, place, setting, each).scaled(1e6) for name, each in EXCHANGES.items()} | {
        name: ratio(evidence, place, setting, metric) for name, metric in RATIOS.items()
    }
    values = {"asleep": grid.interval(cell, "low_share").mean, "saved": saving(evidence, place, setting).mean}
    for name, found in measured.items():
        values |= {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}
    for device in dict.fromkeys(name for devices in PORTS.values() for name in devices):
        known = device in PORTS[place.rate]
        values[f"watts_{device}"] = -added(evidence, place, setting, f"watts_{device}").mean if known else math.nan
    return {
        "physical": PHYSICAL[place.rate],
        "load": f"{place.value('load'):g}",
        "tcp": str(place["sender"]),
        "setting": setting,
        "seeds": str(len(grid.samples(cell, "saving_fs"))),
        **{name: f"{value:.6g}" for name, value in values.items()},
    }


def _shown(record: Mapping[str, str], name: str, form: str, same: float) -> str:
    """A number, in brackets if its interval includes no change."""
    mean, low, high = (float(record[key]) for key in (name, f"{name}_low", f"{name}_high"))
    text = format(mean, form)
    return f"({text})" if low <= same <= high else text


Table = tuple[str, list[str], list[list[str]]]
"""A caption, a header and rows."""


def sleep_table(found: Sequence[Mapping[str, str]]) -> Table:
    """Share of time asleep, energy, watts and the delay of a small exchange, by physical layer and load."""
    caption = (
        f"{SHOWN} under web load, round trip 1 ms. Watts: a measured port. Small exchange: growth of the median and of "
        "the 99th percentile of a round trip. In brackets: the 95 % interval over the seeds includes no change."
    )
    header = ["physical layer", "load", "asleep", "ideal energy saved", "watts saved", "small exchange"]
    rows = []
    for record in found:
        if record["tcp"] != SHOWN:
            continue
        rate = next(rate for rate, name in PHYSICAL.items() if name == record["physical"])
        watts = [f"{name} {float(record[f'watts_{device}']):.2f}" for device, name in PORTS[rate].items()]
        exchange = [_shown(record, name, "+.1f", 0) for name in EXCHANGES]
        shares = [f"{float(record[name]):.0%}".replace("%", " %") for name in ("asleep", "saved")]
        rows.append([record["physical"], record["load"], *shares, ", ".join(watts), f"{', '.join(exchange)} us"])
    return caption, header, rows


def tcp_table(found: Sequence[Mapping[str, str]]) -> Table:
    """Completion times and goodput of each TCP, by physical layer and load."""
    caption = (
        "web load, round trip 1 ms: median and 99th percentile of completion, and goodput, over those without sleep."
    )
    rows: dict[tuple[str, str], list[str]] = {}
    for record in found:
        row = rows.setdefault((record["physical"], record["load"]), [record["physical"], record["load"]])
        row.append(" / ".join(_shown(record, name, ".3f", 1) for name in RATIOS))
    return caption, ["physical layer", "load", *SENDERS], sorted_by_load(rows)


def sorted_by_load(rows: Mapping[tuple[str, str], list[str]]) -> list[list[str]]:
    """The rows by physical layer, then by load."""
    order = list(PHYSICAL.values())
    return [rows[key] for key in sorted(rows, key=lambda key: (order.index(key[0]), float(key[1])))]
