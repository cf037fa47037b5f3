"""Stations and radios in words and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull.numbers import count, percent, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["radio_powers", "radio_words", "station_cells", "stations_notes"]

Summary = dict[str, Any]

_ESSENTIAL = ("station", "mechanism", "asleep", "missed", "energy", "download", "energy x delay")
_FALLBACKS = {
    "no_timestamps": "the sender echoes no timestamps",
    "bad_bursts": "bursts had missing packets",
    "saturated": "the window fills the air",
    "paced": "the sender paces its bursts",
    "slowdown": "shaping reached most_slowdown",
}


def station_cells(station: Summary, *, wide: bool) -> dict[str, str]:
    """The row of a station. Energy is under the radio's first power model; details appear only on a wide terminal."""
    download = station["download"]
    measured = sum(station[f"{state}_s"] for state in ("asleep", "waking", "idle", "receiving", "transmitting"))
    radio, energy = next(iter(station["energy"].items()))
    cells = {
        "station": station["name"],
        "mechanism": station["mechanism"],
        "asleep": percent(station["asleep_s"] / measured if measured else None),
        "wakes": count(station["wakes"]),
        "received": count(station["received_packets"]),
        "missed": count(station["missed_packets"]),
        "energy": f"{scaled(energy['total_j'], 'J')} ({percent(energy['saving'])})",
        "mean power": scaled(energy["mean_w"], "W"),
        "download": scaled(download["seconds"] if download else None, "s"),
        "download asleep": percent(download["asleep_s"] / download["seconds"] if download else None),
        "download energy": scaled(download["energy_j"][radio] if download else None, "J"),
        "energy x delay": scaled(download["energy_delay_js"][radio] if download else None, "Js"),
    }
    return cells if wide else {column: cells[column] for column in _ESSENTIAL}


def radio_words(stations: Sequence[Summary]) -> str:
    """The power models of the stations' energies."""
    shown = dict.fromkeys(next(iter(station["energy"])) for station in stations)
    return f"of {', '.join(shown)}, and the share saved compared with a radio always awake"


def stations_notes(stations: Sequence[Summary]) -> list[str]:
    """The reasons of shapers that gave up, and the energies under other power models."""
    lines = []
    for station in stations:
        if station["fallback"] is not None:
            why = _FALLBACKS.get(station["fallback"], station["fallback"])
            lines.append(f"{station['name']}: its shaper fell back to standard TCP: {why}.")
        others = [
            f"{radio} {scaled(energy['total_j'], 'J')} ({percent(energy['saving'])})"
            for radio, energy in list(station["energy"].items())[1:]
        ]
        if others:
            lines.append(f"{station['name']} with other radios: {', '.join(others)}.")
    return lines


def radio_powers(radio: Summary) -> str:
    """The powers of a radio in the catalogue, and its wake time."""
    states = ("asleep", "idle", "receive", "transmit", "waking")
    powers = ", ".join(f"{state} {scaled(radio[f'{state}_w'], 'W')}" for state in states)
    return f"{powers}; wakes in {scaled(radio['wake_time_s'], 's')}"
