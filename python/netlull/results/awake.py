"""A run whose links sleep, compared with the same run without sleep: the power saved, the packets lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from netlull.documents.plain import entry_name
from netlull.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["check_arrivals", "compared_with_awake", "has_slept"]

_MAY_DIFFER = {"sleep", "seed", "name", "description", "probe", "verify"}
"""Fields of a scenario that change no result, apart from `sleep`; and the seed, which has its own error."""
_LONGEST = 60

Summary = dict[str, Any]


class _Run(Protocol):
    """The parts of a `Result` that are compared."""

    summary: dict[str, Any]

    @property
    def scenario(self) -> dict[str, Any]: ...
    @property
    def world(self) -> str: ...


def has_slept(run: _Run) -> bool:
    """True if links fell asleep in a run, also in its warm-up, or could do so and hold packets."""
    routing, entries = run.summary["routing"], run.scenario.get("sleep", [])
    return bool(routing and routing["sleep"]) or any(entry.get("while_asleep") == "hold" for entry in entries)


def check_arrivals(scenario: Mapping[str, Any]) -> None:
    """Refuses a scenario whose run without sleep would replay other packets, because it records them while links sleep.

    Raises:
        InputError: the scenario, in canonical form, has a recording with sleep.
    """
    without = scenario.get("recording", {"without": ["sleep"]})["without"]
    if "sleep" not in without:
        raise InputError(
            f'recording.without: is {json.dumps(without)}; expected "sleep" among them, so that the run without sleep '
            "replays the same packets"
        )


def compared_with_awake(asleep: _Run, awake: _Run) -> Summary:
    """The part `awake` of a summary (`Result.compare_awake`), from its run and the run without sleep.

    Raises:
        InputError: links sleep in the second run, or it is not the same run otherwise.
    """
    own, other = asleep.summary, awake.summary
    if has_slept(awake):
        raise InputError("awake: is a run in which links sleep; expected the same run without sleep")
    _check_same("world", awake.world, asleep.world)
    _check_same("seed", other["seed"], own["seed"])
    for field in sorted((asleep.scenario.keys() | awake.scenario.keys()) - _MAY_DIFFER):
        _check_same(field, awake.scenario.get(field), asleep.scenario.get(field))
    _check_same("measured_s", other.get("measured_s"), own.get("measured_s"))
    check_arrivals(asleep.scenario)
    try:
        found = _compared(own, other, (own["flows"], other["flows"]))
        if "phase" in own:
            found["phase"] = {name: _phase(phase, other["phase"][name]) for name, phase in own["phase"].items()}
    except KeyError as missing:
        name = missing.args[0]
        raise InputError(
            f"awake: {name}: is missing in one of the two runs, which an earlier netlull wrote; expected two runs with "
            f"{name}: run the scenario again"
        ) from None
    return found


def _check_same(field: str, value: Any, expected: Any) -> None:
    """Refuses a field of the run without sleep that is not that of the run with sleep."""
    if value == expected:
        return
    if isinstance(value, dict) and isinstance(expected, dict):
        for key in [*expected, *(key for key in value if key not in expected)]:
            _check_same(f"{field}.{key}", value.get(key), expected.get(key))
    elif isinstance(value, list) and isinstance(expected, list):
        for at in range(max(len(value), len(expected))):
            its, own = (entries[at] if at < len(entries) else None for entries in (value, expected))
            _check_same(f"{field}.{entry_name(own if its is None else its) or at}", its, own)
    raise InputError(f"awake: {field}: is {_shown(value)}; expected {_shown(expected)}, as in the run with sleep")


def _shown(value: Any) -> str:
    text = "missing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


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
