"""Phases of a run in words and numbers: transfers that started in them, goodput and power."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull.errors import some
from netlull.numbers import count, counted, digits, percent, scaled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["PHASES", "phase_notes", "phase_rows", "power_words"]

Summary = dict[str, Any]

PHASES = "Phases (transfers by the phase in which they start; times from the SYN to the last byte acknowledged)"
"""The title of the table."""
_TIMES = {"50 %": "p50", "95 %": "p95", "99 %": "p99"}
_AWAKE = "95 % awake"
_OF_TRANSFERS = {"transfers", "complete", *_TIMES, _AWAKE}


def phase_rows(summary: Mapping[str, Any], *, wide: bool) -> list[dict[str, str]]:
    """The rows of phases, each above a row for each of its flows of requests that is not all of its transfers."""
    awake = summary.get("awake", {}).get("phase", {})
    rows = [row for name, phase in summary["phase"].items() for row in _rows(name, phase, awake.get(name))]
    models = list(summary["network"]["energy"])
    # A narrow terminal has room for the power under the first model.
    left_out = set() if wide else {"time", "goodput", *models[1:]}
    if not _has_transfers(summary):
        left_out |= _OF_TRANSFERS
    return [{column: cell for column, cell in row.items() if column not in left_out} for row in rows]


def _has_transfers(summary: Mapping[str, Any]) -> bool:
    return any(phase["transfers"]["started"] for phase in summary["phase"].values())


def _rows(name: str, phase: Summary, awake: Summary | None) -> Iterator[dict[str, str]]:
    """The rows of a phase. Where links slept, its savings are those compared with the run without sleep."""
    transfers, models = phase["transfers"], phase["network"]["energy"]
    if awake is not None:
        models = {name: energy | {"saving": awake["energy"][name]["saving"]} for name, energy in models.items()}
    yield {
        "phase": name,
        "time": f"{digits(phase['from_s'])} to {digits(phase['to_s'])} s",
        "transfers": count(transfers["started"]),
        "complete": count(transfers["completed"]),
        **_times(transfers),
        **({} if awake is None else _awake(awake)),
        "goodput": scaled(phase["goodput_bps"], "b/s"),
        **{model: power_words(energy) for model, energy in models.items()},
    }
    for flow, found in phase["flow"].items():
        started = found.get("requests_started")
        if started and started != transfers["started"]:
            yield {
                "phase": f"  {flow}",
                "time": "",
                "transfers": count(started),
                "complete": count(found["requests_completed"]),
                **_times(found),
                **({} if awake is None else dict.fromkeys(_awake(awake), "")),
                "goodput": scaled(found["goodput_bps"], "b/s"),
                **dict.fromkeys(models, ""),
            }


def _awake(awake: Summary) -> dict[str, str]:
    """The completion time without sleep, and the share of packets lost since links sleep."""
    return {
        _AWAKE: scaled(awake["transfers"]["p95_completion_s"], "s", 3),
        "lost by sleep": percent(max(awake["more_loss_fraction"], 0.0)),
    }


def _times(found: Summary) -> dict[str, str]:
    return {column: scaled(found[f"{name}_completion_s"], "s", 3) for column, name in _TIMES.items()}


def power_words(energy: Summary) -> str:
    """A mean power, and the share saved if it is known."""
    saving = "" if energy["saving"] is None else f" ({percent(energy['saving'])})"
    return f"{scaled(energy['mean_w'], 'W')}{saving}"


def phase_notes(summary: Mapping[str, Any]) -> list[str]:
    """The unfinished transfers, and the paths of metrics."""
    lines = []
    for name, phase in summary["phase"].items():
        transfers = phase["transfers"]
        if transfers["unfinished"]:
            what = counted(transfers["unfinished"], "transfer")
            flows = some(transfers["unfinished_flows"])
            lines.append(f"{name}: {what} unfinished at the end of the run ({flows}).")
    name = next(iter(summary["phase"]))
    paths = [f"phase.{name}.transfers.p95_completion_s"] if _has_transfers(summary) else []
    paths += [f"phase.{name}.network.energy.{model}.mean_w" for model in list(summary["network"]["energy"])[:1]]
    return [*lines, f"Metrics of sweeps: {', '.join(paths)}"] if paths else lines
