"""A run whose links sleep, compared with the same run without sleep: the power saved, the packets lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netlull.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["compared_with_awake", "has_slept"]

Summary = dict[str, Any]


def has_slept(summary: Mapping[str, Any]) -> bool:
    """True if links fell asleep in a run, also in its warm-up."""
    return bool(summary["routing"] and summary["routing"]["sleep"])


def compared_with_awake(asleep: Mapping[str, Any], awake: Mapping[str, Any]) -> Summary:
    """The part `awake` of a summary (`Result.compare_awake`), from it and the summary of the run without sleep.

    Raises:
        InputError: links sleep in the second run, or the runs differ in their seed or their phases.
    """
    if has_slept(awake):
        raise InputError("awake: is a run in which links sleep; expected the same run without sleep")
    if awake["seed"] != asleep["seed"]:
        raise InputError(f"awake: has the seed {awake['seed']}; expected {asleep['seed']}, that of the run with sleep")
    own, other = (list(run.get("phase", {})) for run in (asleep, awake))
    if own != other:
        raise InputError(f"awake: has the phases {', '.join(other) or 'none'}; expected {', '.join(own) or 'none'}")
    found = _compared(asleep, awake, (asleep["flows"], awake["flows"]))
    if own:
        found["phase"] = {name: _phase(asleep["phase"][name], awake["phase"][name]) for name in own}
    return found


def _phase(asleep: Summary, awake: Summary) -> Summary:
    flows = (asleep["flow"].values(), awake["flow"].values())
    return {"transfers": awake["transfers"], **_compared(asleep, awake, flows)}


def _compared(
    asleep: Mapping[str, Any], awake: Mapping[str, Any], flows: tuple[Iterable[Summary], Iterable[Summary]]
) -> Summary:
    """The values of the awake run, and what sleep saves, for a run or a phase."""
    loss, awake_loss = map(_loss, flows)
    models = awake["network"]["energy"]
    return {
        "goodput_bps": awake["goodput_bps"],
        "loss_fraction": awake_loss,
        "more_loss_fraction": loss - awake_loss,
        "energy": {name: _saved(asleep["network"]["energy"][name], energy) for name, energy in models.items()},
    }


def _loss(flows: Iterable[Summary]) -> float:
    """The share of the packets that flows sent and that queues dropped, or that links or nodes lost."""
    sent = dropped = 0
    for flow in flows:
        sent += flow["packets_sent"]
        dropped += flow["packets_dropped"]
    return dropped / sent if sent else 0.0


def _saved(asleep: Summary, awake: Summary) -> Summary:
    return {
        "total_j": awake["total_j"],
        "mean_w": awake["mean_w"],
        "saved_j": awake["total_j"] - asleep["total_j"],
        "saved_w": awake["mean_w"] - asleep["mean_w"],
        "saving": 1 - asleep["total_j"] / awake["total_j"] if awake["total_j"] else None,
    }
