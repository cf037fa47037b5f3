"""The energy of links in words: the links of interest, and the meaning of a power model's joules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.quantities import in_unit, rate_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CAUSE_WORDS", "PART_WORDS", "costed_as", "has_varied", "model_words", "total_for_saving"]

CAUSE_WORDS = {
    "base": "boxes without ports",
    "line_card": "line cards",
    "port": "ports",
    "transceiver_in": "transceivers, plugged in",
    "transceiver_up": "transceivers, in use",
    "per_bit": "traffic, by bits",
    "per_packet": "traffic, by packets",
    "supply_loss": "losses of power supplies",
}
"""The causes of a device's power, as the core names them, in words."""
PART_WORDS = {
    "static_j": "static",
    "rate_dependent_j": "rate-dependent",
    "traffic_j": "traffic, by bits and packets",
    "transitions_j": "transitions",
    "asleep_j": "asleep",
}
"""The parts of a simulated link's energy by their fields in a run's summary. `static_j` has the causes from `base` to
`transceiver_up` as far as the link's rate does not change them, `traffic_j` those of traffic."""


def has_varied(link: Mapping[str, Any]) -> bool:
    """True if a link, in a run's summary, was below its full rate or asleep for some of the time."""
    return bool(link["rate_changes"] or link["asleep_s"] or link["mean_rate_bps"] < link["rate_bps"] * (1 - 1e-9))


def costed_as(summary: Mapping[str, Any], scenario: Mapping[str, Any], model: str) -> str | None:
    """The meaning of a link's power under a model: that of a device, or a power; None for ports of the links' speeds.

    Args:
        summary: the summary of a run.
        scenario: its scenario in canonical form.
        model: the model's name in results.
    """
    return _costed(_models(scenario)[model], summary, scenario)


def _costed(model: Mapping[str, Any], summary: Mapping[str, Any], scenario: Mapping[str, Any]) -> str | None:
    if "parts" in model:
        return None
    device = model.get("device")
    if device is None:
        most = model.get("max_power", "1 W")
        of_speed = f" of {model['max_power_at']}, and in proportion to the speed" if "max_power_at" in model else ""
        return f"{most} per link and direction{of_speed} at full rate"
    ports = {_bps(port["speed"]) for port in device.get("port", []) if "speed" in port}
    if not ports:
        return None
    card = device.get("line_card")
    if card is not None and max(ports) >= _bps(card["capacity"]) and len(ports) == 1:
        return f"{math.ceil(max(ports) / _bps(card['capacity']))} line cards per link of any rate"
    speeds = _speeds(scenario)
    named = {link["name"]: link["rate_bps"] for link in summary["links"]}
    scaled = sorted({rate for name, rate in named.items() if speeds.get(name, rate) not in ports})
    words = []
    if scaled:
        links = rate_text(scaled[0]) if len(scaled) == 1 else f"{rate_text(scaled[0])} to {rate_text(scaled[-1])}"
        words.append(f"links of {links} as {rate_text(max(ports))} ports")
    smaller = {(rate, speeds[name]) for name, rate in named.items() if speeds.get(name, rate) in ports - {rate}}
    words += [f"links of {rate_text(rate)} as {rate_text(speed)} ports" for rate, speed in sorted(smaller)]
    return "; ".join(words) or None


def _bps(rate: str) -> int:
    return round(in_unit(rate, "b/s") or 0)


def _speeds(scenario: Mapping[str, Any]) -> dict[str, int]:
    """The speeds of links that stand for others, by their names."""
    speeds = {}
    for link in scenario["link"]:
        if "port_speed" in link:
            speeds[link.get("name") or f"{link['from']}-{link['to']}"] = _bps(link["port_speed"])
            if link["duplex"]:
                speeds[f"{link['to']}-{link['from']}"] = _bps(link["port_speed"])
    return speeds


def total_for_saving(path: str) -> str | None:
    """The metric to compare instead of a network's saving, which has no value where links slept; None for others."""
    is_saving = "network.energy." in path and path.endswith(".saving")
    return f"{path.removesuffix('saving')}total_j" if is_saving else None


def model_words(summary: Mapping[str, Any], scenario: Mapping[str, Any]) -> list[str]:
    """A sentence for each power model of a run: its description, and the device that stands for a link."""
    if not summary["links"]:
        return []
    return [f"{name}: {_words(model, summary, scenario)}." for name, model in _models(scenario).items()]


def _words(model: Mapping[str, Any], summary: Mapping[str, Any], scenario: Mapping[str, Any]) -> str:
    costed = _costed(model, summary, scenario)
    if costed is None or "line_card" in model.get("device", {}):
        return str(model["description"])
    return f"{model['description']}; {costed}" + (" at the same utilisation" if "device" in model else "")


def _models(scenario: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The power models of a scenario by their names in results: the catalogue's entries with the scenario's fields."""
    listed = {entry["name"]: entry for entry in _engine.catalogue()["power"]}
    models: dict[str, list[dict[str, Any]]] = {}
    for table in scenario["power"]:
        entry = listed.get(table.get("model"), {"description": "a device of the scenario", "device": {}})
        given = {key: value for key, value in table.items() if key not in {"name", "model", "nodes", "links"}}
        device = {"device": {**entry["device"], **given}} if "device" in entry else given
        models.setdefault(_name(table), []).append(
            {**entry, **device, "description": table.get("description", entry["description"])}
        )
    return {name: parts[0] if len(parts) == 1 else _joined(parts) for name, parts in models.items()}


def _name(table: Mapping[str, Any]) -> str:
    """The name of a power model in results."""
    share = table.get("static_fraction", 0)
    return str(table.get("name") or (f"{table['model']}-{share * 100:.0f}%" if share > 0 else table["model"]))


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Several models of one network."""
    names = sorted({str(part.get("name", part["description"])) for part in parts})
    return {"description": f"each link with the power of its own device: {', '.join(names)}", "parts": parts}
