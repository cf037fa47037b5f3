"""A run with sleeping links and the same run without sleep in words: the power saved, the packets lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull.numbers import percent, scaled

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["loss_words", "saving_words"]

_LEAST_LOSS = 0.0005
"""The least share of lost packets that is worth a line: the smallest that is not 0.0 %."""
_LEAST_CHANGE = 0.01
"""The least fall of goodput that is worth a line where no packets are lost."""


def loss_words(summary: Mapping[str, Any]) -> list[str]:
    """The share of packets lost since links sleep, and the goodput; empty if flows lose neither."""
    awake = summary.get("awake")
    if awake is None:
        return []
    own, other = summary["goodput_bps"], awake["goodput_bps"]
    change = own / other - 1 if other else 0.0
    lines = []
    if awake["more_loss_fraction"] >= _LEAST_LOSS:
        share = percent(awake["more_loss_fraction"] + awake["loss_fraction"])
        lines.append(
            f"{percent(awake['more_loss_fraction'])} lost since links sleep: "
            f"{share} of the packets that flows sent, {percent(awake['loss_fraction'])} in the same run without sleep."
        )
    if lines or change <= -_LEAST_CHANGE:
        lines.append(f"Goodput {scaled(own, 'b/s')}, without sleep {scaled(other, 'b/s')} ({percent(change)}).")
    return lines


def saving_words(summary: Mapping[str, Any]) -> list[str]:
    """The power that sleep saves, under each power model and by phase; empty without a run without sleep."""
    awake = summary.get("awake", {})
    phases = awake.get("phase", {})
    lines = []
    for model, energy in awake.get("energy", {}).items():
        parts = (f"{name} {scaled(phase['energy'][model]['saved_w'], 'W')}" for name, phase in phases.items())
        by_phase = f" By phase: {', '.join(parts)}." if phases else ""
        lines.append(f"{model}: {_saving(energy)} the same run without sleep.{by_phase}")
    return lines


def _saving(energy: Mapping[str, Any]) -> str:
    watts, share = energy["saved_w"], energy["saving"]
    of_all = "" if share is None else f" ({percent(abs(share))})"
    if watts < 0:
        return f"{scaled(-watts, 'W')}{of_all} more than"
    return f"saving {scaled(watts, 'W')}{of_all} compared with"
