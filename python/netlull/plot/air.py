"""The states of a station's radio over time, from the series `radio` and `air` of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from netlull._engine import catalogue
from netlull.errors import FieldPathError, InputError
from netlull.plot.series import column, rows_of
from netlull.quantities import in_unit

if TYPE_CHECKING:
    import pyarrow as pa

    from netlull.plot.series import Floats
    from netlull.results.result import Result

__all__ = ["STATES", "Air", "Stretch", "air_of", "offsets", "radio_powers"]

STATES = ("asleep", "waking", "idle", "receiving", "transmitting")
"""States of a radio, with the names of the summary."""
_RECEIVED = ("data", "beacon")
_SENT = ("closed", "open", "eager", "ack", "sent", "poll", "null")
_PROBE = "expected a run with stations = true in [probe]"
_HALF = 2**31
_SILENCE_S = 3e-3
_SILENCE_GAPS = 10

Strings = npt.NDArray[np.str_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Stretch:
    """The times of a radio in a state: from each of `from_s` to the same entry of `to_s`, in s."""

    state: str
    from_s: Floats
    to_s: Floats


@dataclass(frozen=True)
class Air:
    """A station over a whole run: its packets and signals on the air, and its radio's states, as arrays."""

    summary: dict[str, Any]
    """The station in numbers (`Result.station`)."""
    poll: str | None
    """The packets released by a poll, "one" or "all"; None without an access point that holds packets."""
    has_download: bool
    """True if a TCP flow leads to the station. Without one, packets have no position in a download."""
    powers_w: dict[str, float]
    """Power of its radio by state, in W."""
    radio: str
    """The power model of these powers."""
    time_s: Floats
    """Start of each transmission on the air, in s."""
    end_s: Floats
    kind: Strings
    """data, missed, closed, open, eager, ack, sent, beacon, poll or null."""
    offset_bytes: Floats
    """Position in the download for data, acknowledged position for acknowledgements; NaN for the others. In bytes."""
    size_bytes: Floats
    window_bytes: Floats
    """The advertised window of an acknowledgement, in bytes; NaN for all others."""
    burst: Ints
    """The burst of each packet. A new burst begins after a silence."""
    wakes_s: Floats
    """Start of each wake-up of the radio, in s."""
    stretches: tuple[Stretch, ...]
    """The radio's states, one entry per state of `STATES`. Together they cover the whole run."""


def air_of(result: Result, station: str | None = None, radio: str | None = None) -> Air:
    """The air of a station of a run; by default the first station, and the first power model of its radio.

    Raises:
        FieldPathError: there is no such station; stations go by their nodes.
        InputError: the run has no station or did not record them, or the radio has no such power model.
    """
    stations = result.summary.get("stations", [])
    if not stations:
        raise InputError(f"{result.summary['name']}: has no station; expected a scenario with [[station]]")
    summary = _summary(result, stations[0]["name"] if station is None else station)
    if not {"air", "radio"} <= set(result.series_names):
        raise InputError(f"{result.summary['name']}: did not record its stations; {_PROBE}")
    model = next(iter(summary["energy"])) if radio is None else radio
    powers = radio_powers(result, summary["name"], model)
    return _read(result, summary, model, powers)


def _summary(result: Result, name: str) -> dict[str, Any]:
    """A station by its node. The error for a table's name lists its nodes."""
    try:
        return result.station(name)
    except FieldPathError as error:
        named = [one for one in result.scenario["station"] if one.get("name") == name]
        if not named:
            raise
        nodes = named[0]["nodes"]
        are = f"is the node {nodes[0]}" if len(nodes) == 1 else f"is the nodes {', '.join(nodes)}"
        raise FieldPathError(f'{error}: station "{name}" {are}') from None


def _read(result: Result, summary: dict[str, Any], model: str, powers: dict[str, float]) -> Air:
    rows = rows_of(result.series("air"), "station", summary["name"])
    time, end = column(rows, "time_s"), column(rows, "end_s")
    kind: Strings = np.asarray(rows["kind"].to_pylist(), dtype=np.str_)
    changes = rows_of(result.series("radio"), "station", summary["name"])
    states: Strings = np.asarray(changes["state"].to_pylist(), dtype=np.str_)
    at = column(changes, "time_s")
    return Air(
        summary=summary,
        poll=((_table_of(result, summary["name"]).get("mechanism") or {}).get("access_point") or {}).get("poll"),
        has_download=any(
            flow["to"] == summary["name"] and flow["congestion_control"] is not None for flow in result.summary["flows"]
        ),
        powers_w=powers,
        radio=model,
        time_s=time,
        end_s=end,
        kind=kind,
        offset_bytes=offsets(rows, kind),
        size_bytes=column(rows, "size_bytes"),
        window_bytes=column(rows, "window_bytes"),
        burst=_bursts(time, kind),
        wakes_s=at[states == "waking"],
        stretches=_stretches(at, states, (time, end, kind), float(result.summary["duration_s"])),
    )


def offsets(rows: pa.Table, kind: Strings) -> Floats:
    """Sequence numbers as positions in the download in bytes: they start anywhere and wrap at 2^32."""
    seq = np.asarray(rows["seq"].to_numpy(), dtype=np.int64)
    # Packets without TCP have 0, as has one in four billion of TCP's own numbers.
    carries = np.isin(kind, ("data", "missed", "closed", "open", "eager", "ack")) & (seq != 0)
    first = np.flatnonzero(carries & np.isin(kind, ("data", "missed")))
    places = np.full(len(seq), np.nan)
    if len(first):
        # The first packet opens the connection and uses one sequence number.
        relative = (seq[carries] - seq[first[0]] - 1 + _HALF) % (2 * _HALF) - _HALF
        # A step of more than half of the range is a wrap.
        places[carries] = np.maximum(np.unwrap(relative.astype(np.float64), period=2 * _HALF), 0)
    return places


def _bursts(time: Floats, kind: Strings) -> Ints:
    """The burst of each packet. A silence of ten median gaps, and at least 3 ms, starts a new burst."""
    number: Ints = np.full(len(time), -1, dtype=np.int64)
    packets = np.flatnonzero(np.isin(kind, ("data", "missed")))
    if len(packets):
        gaps = np.diff(time[packets])
        silence = max(_SILENCE_S, _SILENCE_GAPS * float(np.median(gaps))) if len(gaps) else _SILENCE_S
        number[packets] = np.concatenate(([0], np.cumsum(gaps > silence)))
    return number


def _stretches(
    at: Floats, states: Strings, air: tuple[Floats, Floats, Strings], duration_s: float
) -> tuple[Stretch, ...]:
    """The radio's time by state. While awake, transmitting precedes receiving and idle, as in the energy meter."""
    time, end, kind = air
    edges = np.unique(np.concatenate(([0.0, duration_s], at, time, end)))
    edges = edges[(edges >= 0) & (edges <= duration_s)]
    middle = (edges[1:] + edges[:-1]) / 2
    # The radio is awake at the start.
    state = np.concatenate((["awake"], states))[np.searchsorted(at, middle, side="right")]
    awake = state == "awake"
    receiving, transmitting = (_covered(middle, time, end, np.isin(kind, kinds)) for kinds in (_RECEIVED, _SENT))
    name = np.where(awake, "idle", state)
    name = np.where(awake & receiving, "receiving", name)
    name = np.where(awake & transmitting, "transmitting", name)
    return tuple(_joined(one, edges, name == one) for one in STATES)


def _covered(middle: Floats, time: Floats, end: Floats, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """True for each instant within any of the chosen intervals."""
    begun = np.searchsorted(np.sort(time[chosen]), middle, side="right")
    over = np.searchsorted(np.sort(end[chosen]), middle, side="right")
    return np.asarray(begun > over)


def _joined(state: str, edges: Floats, inside: npt.NDArray[np.bool_]) -> Stretch:
    """Joins adjacent parts into one stretch."""
    steps = np.diff(np.concatenate(([0], inside.astype(np.int8), [0])))
    return Stretch(state, edges[:-1][steps[:-1] == 1], edges[np.flatnonzero(steps == -1)])


def radio_powers(result: Result, station: str, model: str) -> dict[str, float]:
    """The powers in W of a station's radio by state, under one of its power models.

    Raises:
        InputError: there is no such power model; lists the existing ones.
    """
    document = _table_of(result, station)
    named = {one if isinstance(one, str) else str(one["name"]): one for one in document["radio"]}
    if model not in named:
        raise InputError(f'station "{station}" has no radio "{model}"; expected one of {", ".join(named)}')
    one = named[model]
    if isinstance(one, str):
        shipped = next(radio for radio in catalogue()["radios"] if radio["name"] == one)
        return {state: float(shipped[f"{_FIELDS[state]}_w"]) for state in STATES}
    idle = one["idle"]
    return {state: _watts(one.get(_FIELDS[state]) or idle) for state in STATES}


def _table_of(result: Result, station: str) -> dict[str, Any]:
    """The scenario's table of a station, by its node."""
    found: dict[str, Any] = next(one for one in result.scenario["station"] if station in one["nodes"])
    return found


_FIELDS = {
    "asleep": "asleep",
    "waking": "waking",
    "idle": "idle",
    "receiving": "receive",
    "transmitting": "transmit",
}
"""States, with the names of their powers in scenarios and the catalogue."""


def _watts(power: str) -> float:
    found = in_unit(power, "W")
    if found is None:
        raise InputError(f'"{power}": is not a power; expected text such as 1.4 W')
    return found
