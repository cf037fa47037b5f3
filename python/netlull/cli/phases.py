"""Phases of a run in words and numbers: transfers that started in them, goodput and power."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull.cli.numbers import count, counted, digits, percent, scaled
from netlull.errors import some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["PHASES", "phase_notes", "phase_rows"]

Summary = dict[str, Any]

PHASES = "Phases (transfers by the phase in which they start; times from the SYN to the last byte acknowledged)"
"""The title of the table."""
_TIMES = {"50 %": "p50", "95 %": "p95", "99 %": "p99"}


def phase_rows(summary: Mapping[str, Any], *, wide: bool) -> list[dict[str, str]]:
    """The rows of phases, each above a row for each of its flows of requests that is not all of its transfers."""
    rows = [row for name, phase in summary["phase"].items() for row in _rows(name, phase)]
    models = list(summary["network"]["energy"])
    # A narrow terminal has room for the power under the first model.
    left_out = set() if wide else {"from", "to", "goodput", *models[1:]}
    return [{column: cell for column, cell in row.items() if column not in left_out} for row in rows]


def _rows(name: str, phase: Summary) -> Iterator[dict[str, str]]:
    transfers = phase["transfers"]
    yield {
        "phase": name,
        "from": f"{digits(phase['from_s'])} s",
        "to": f"{digits(phase['to_s'])} s",
        "transfers": count(transfers["started"]),
        "complete": count(transfers["completed"]),
        **_times(transfers),
        "goodput": scaled(phase["goodput_bps"], "b/s"),
        **{model: power(energy) for model, energy in phase["network"]["energy"].items()},
    }
    for flow, found in phase["flow"].items():
        started = found.get("requests_started")
        if started and started != transfers["started"]:
            yield {
                "phase": f"  {flow}",
                "from": "",
                "to": "",
                "transfers": count(started),
                "complete": count(found["requests_completed"]),
                **_times(found),
                "goodput": scaled(found["goodput_bps"], "b/s"),
                **dict.fromkeys(phase["network"]["energy"], ""),
            }


def _times(found: Summary) -> dict[str, str]:
    return {column: scaled(found[f"{name}_completion_s"], "s", 3) for column, name in _TIMES.items()}


def power(energy: Summary) -> str:
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
    paths = [f"phase.{name}.transfers.p95_completion_s"]
    paths += [f"phase.{name}.network.energy.{model}.mean_w" for model in list(summary["network"]["energy"])[:1]]
    return [*lines, f"Metrics of sweeps: {', '.join(paths)}"]
