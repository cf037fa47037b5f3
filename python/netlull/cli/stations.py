"""Stations and radios in words and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull.cli.numbers import count, percent, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["radio_powers", "radio_words", "station_cells", "stations_notes"]

Summary = dict[str, Any]

_ESSENTIAL = ("station", "mechanism", "asleep", "missed", "energy", "download", "energy x delay")
_FALLBACKS = {
    "no_timestamps": "the sender echoes no timestamps",
    "bad_bursts": "of bursts with missing packets",
    "saturated": "the window fills the air",
    "paced": "the sender paces its bursts",
}


def station_cells(station: Summary, *, wide: bool) -> dict[str, str]:
    """The row of a station; energy under the first power model of its radio, the others only on a wide terminal."""
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
        "download": scaled(download["seconds"] if download else None, "s"),
        "asleep in it": percent(download["asleep_s"] / download["seconds"] if download else None),
        "its energy": scaled(download["energy_j"][radio] if download else None, "J"),
        "energy x delay": scaled(download["energy_delay_js"][radio] if download else None, "Js"),
    }
    return cells if wide else {column: cells[column] for column in _ESSENTIAL}


def radio_words(stations: Sequence[Summary]) -> str:
    """Under which power models the energy of stations is shown."""
    shown = dict.fromkeys(next(iter(station["energy"])) for station in stations)
    return f"of {', '.join(shown)}, and the share saved against a radio awake"


def stations_notes(stations: Sequence[Summary]) -> list[str]:
    """Why shapers gave up, and what other power models say."""
    lines = []
    for station in stations:
        if station["fallback"] is not None:
            why = _FALLBACKS.get(station["fallback"], station["fallback"])
            lines.append(f"{station['name']}: its shaper went over to standard TCP: {why}.")
        others = [
            f"{radio} {scaled(energy['total_j'], 'J')} ({percent(energy['saving'])})"
            for radio, energy in list(station["energy"].items())[1:]
        ]
        if others:
            lines.append(f"{station['name']} with other radios: {', '.join(others)}.")
    return lines


def radio_powers(radio: Summary) -> str:
    """The powers of a radio of the catalogue, and what waking takes."""
    states = ("asleep", "idle", "receive", "transmit", "waking")
    powers = ", ".join(f"{state} {scaled(radio[f'{state}_w'], 'W')}" for state in states)
    return f"{powers}; wakes in {scaled(radio['wake_time_s'], 's')}"
