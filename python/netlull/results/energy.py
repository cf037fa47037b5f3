"""The energy of links in words: the links of interest, and the meaning of a power model's joules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.quantities import rate_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["costed_as", "has_varied", "model_words", "total_for_saving"]


def has_varied(link: Mapping[str, Any]) -> bool:
    """True if a link, in a run's summary, was below its full rate or asleep for some of the time."""
    return bool(link["rate_changes"] or link["asleep_s"] or link["mean_rate_bps"] < link["rate_bps"] * (1 - 1e-9))


def costed_as(summary: Mapping[str, Any], scenario: Mapping[str, Any], model: str) -> str | None:
    """The meaning of a link's power under a model: that of a device, or 1 W; None for a device of the links' rate.

    Args:
        summary: the summary of a run.
        scenario: its scenario in canonical form.
        model: the model's name in results.
    """
    return _costed(_models(summary, scenario)[model], summary)


def _costed(model: Mapping[str, Any], summary: Mapping[str, Any]) -> str | None:
    if "line_cards" in model:
        return f"{model['line_cards']['cards']} line cards per link of any rate"
    if "device" not in model:
        return "1 W per link and direction at full rate"
    port = max(speed["speed_bps"] for speed in model["device"]["speeds"])
    rates = sorted({link["rate_bps"] for link in summary["links"]})
    if rates == [port]:
        return None
    links = rate_text(rates[0]) if len(rates) == 1 else f"{rate_text(rates[0])} to {rate_text(rates[-1])}"
    return f"links of {links} as {rate_text(port)} ports"


def total_for_saving(path: str) -> str | None:
    """The metric to compare instead of a network's saving, which has no value where links slept; None for others."""
    is_saving = "network.energy." in path and path.endswith(".saving")
    return f"{path.removesuffix('saving')}total_j" if is_saving else None


def model_words(summary: Mapping[str, Any], scenario: Mapping[str, Any]) -> list[str]:
    """A sentence for each power model of a run: its description, and the device that stands for a link."""
    return [f"{name}: {_words(model, summary)}." for name, model in _models(summary, scenario).items()]


def _words(model: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    if "line_cards" in model:
        return str(model["description"])
    costed = _costed(model, summary)
    if costed is None:
        return str(model["description"])
    return f"{model['description']}; {costed}" + (" at the same utilisation" if "device" in model else "")


def _models(summary: Mapping[str, Any], scenario: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The catalogue's entries of a run's power models, by their names in its results."""
    listed = {entry["name"]: entry for entry in _engine.catalogue()["power"]}
    names = list(summary["links"][0]["energy"]) if summary["links"] else []
    return {name: listed[table["model"]] for name, table in zip(names, scenario["power"], strict=True)}
