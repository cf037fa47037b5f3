"""The observations of one run of a case: black-box series, and the variables that the algorithm exports."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from netlull.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from netlull.results.result import Result

__all__ = ["FLOW", "LINK", "STATES", "NotExportedError", "Spell", "Steps", "Trace"]

FLOW = "flow"
"""The judged flow of the networks of all cases."""
LINK = "N1-N2"
"""Their bottleneck."""
STATES = ("STARTUP", "DRAIN", "PROBE_DOWN", "PROBE_CRUISE", "PROBE_REFILL", "PROBE_UP", "PROBE_RTT")
"""The words of `BBR.state`."""

_PACKET_S = 12e-6
"""The time of a full packet on the sender's link."""

Floats = npt.NDArray[np.float64]


class NotExportedError(Exception):
    """The algorithm exports no variable of this name, so the case cannot judge the state."""


@dataclass(frozen=True)
class Steps:
    """A quantity that holds from each time in s until the next."""

    time_s: Floats
    value: Floats

    def at(self, time_s: float) -> float:
        """The value at a time; NaN before the first, and at a time that is NaN."""
        place = int(np.searchsorted(self.time_s, time_s, side="right")) - 1
        return float(self.value[place]) if place >= 0 and not math.isnan(time_s) else math.nan

    def between(self, start_s: float, end_s: float) -> Floats:
        """The values from `start_s` to `end_s`, with the one that holds at the start; NaN if there is none."""
        first = max(int(np.searchsorted(self.time_s, start_s, side="right")) - 1, 0)
        inside = self.value[first : int(np.searchsorted(self.time_s, end_s, side="right"))]
        return np.array([math.nan]) if math.isnan(start_s + end_s) or not len(inside) else inside

    def first(self, holds: Callable[[Floats], npt.NDArray[np.bool_]], after_s: float = 0.0) -> float | None:
        """The first time from `after_s` on at which a new value has the property; None for never."""
        places = np.flatnonzero(holds(self.value) & (self.time_s >= after_s))
        return float(self.time_s[places[0]]) if len(places) else None


@dataclass(frozen=True)
class Spell:
    """A stay in a state."""

    state: str
    start_s: float
    end_s: float
    ended: bool
    """False if the run ended first."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end_s - self.start_s


class Trace:
    """A run. Times are in s, volumes in bytes, rates of data in bytes/s."""

    def __init__(self, result: Result, note: str = "") -> None:
        self.result = result
        self.note = note
        """The change of the run, in words."""

    @property
    def end_s(self) -> float:
        """The end of the run."""
        return float(self.result.summary["duration_s"])

    @functools.cached_property
    def _variables(self) -> dict[str, pa.Table]:
        table = self.result.series("variable")
        mine = table.filter(pc.equal(pc.cast(table["flow"], pa.string()), FLOW))
        names = pc.cast(mine["variable"], pa.string())
        return {name: mine.filter(pc.equal(names, name)) for name in pc.unique(names).to_pylist()}

    def _rows(self, name: str) -> pa.Table:
        if name not in self._variables:
            raise NotExportedError(name)
        return self._variables[name]

    def number(self, name: str) -> Steps:
        """A variable that is a number.

        Raises:
            NotExportedError: the algorithm does not export it.
        """
        rows = self._rows(name)
        value = rows["value"].to_numpy(zero_copy_only=False)
        return Steps(_floats(rows["time_s"]), np.asarray(value, dtype=np.float64))

    def words(self, name: str) -> list[tuple[float, str]]:
        """The changes of a variable that is a word.

        Raises:
            NotExportedError: the algorithm does not export it.
        """
        rows = self._rows(name)
        words = (word or "" for word in rows["word"].to_pylist())
        return list(zip(rows["time_s"].to_pylist(), words, strict=True))

    def spells(self, *states: str) -> list[Spell]:
        """The stays in these states, or in all, in the order of time.

        Raises:
            NotExportedError: the algorithm exports no state.
            InputError: a state has another name than those of the draft.
        """
        unknown = next((word for _, word in self.words("BBR.state") if word not in STATES), None)
        if unknown is not None:
            raise InputError(f'variables: BBR.state is "{unknown}"; expected one of {", ".join(STATES)}')
        changes = [*self.words("BBR.state"), (self.end_s, "")]
        every = [Spell(state, start, end, bool(after)) for (start, state), (end, after) in pairwise(changes)]
        return [spell for spell in every if not states or spell.state in states]

    def after(self, spell: Spell | None) -> str | None:
        """The state that follows a stay; None for none."""
        if spell is None or not spell.ended:
            return None
        return next((one.state for one in self.spells() if one.start_s == spell.end_s), None)

    def __contains__(self, name: str) -> bool:
        """True if the variable is exported."""
        return name in self._variables

    # Black box

    def inflight(self) -> Steps:
        """Data in flight after each event of the sender."""
        return self.number("C.inflight")

    def cwnd(self) -> Steps:
        """The congestion window, also in recovery."""
        return self.number("C.cwnd")

    @functools.cached_property
    def _arrived(self) -> tuple[Floats, Floats]:
        table = self.result.series("flow")
        mine = table.filter(pc.equal(pc.cast(table["flow"], pa.string()), FLOW))
        return _floats(mine["time_s"]), np.cumsum(_floats(mine["delivered_bytes"]))

    def delivered(self, start_s: float, end_s: float) -> float:
        """The mean rate of new data at the receiver."""
        time, total = self._arrived
        first, last = (float(np.interp(at, time, total)) for at in (start_s, end_s))
        return (last - first) / (end_s - start_s)

    @functools.cached_property
    def _sent(self) -> tuple[Floats, Floats]:
        table = self.result.series("segment")
        mine = table.filter(pc.equal(pc.cast(table["flow"], pa.string()), FLOW))
        return _floats(mine["time_s"]), np.cumsum(_floats(mine["length_bytes"]))

    def sent(self, start_s: float, end_s: float) -> float:
        """The mean rate of sent data, retransmissions included."""
        time, total = self._sent
        first, last = (int(np.searchsorted(time, at, side="right")) for at in (start_s, end_s))
        before = total[first - 1] if first else 0.0
        return float((total[last - 1] if last else 0.0) - before) / (end_s - start_s)

    def longest_silence(self, start_s: float, end_s: float) -> float:
        """The longest time without a transmission."""
        time, _ = self._sent
        inside = time[(time > start_s) & (time < end_s)]
        return float(np.max(np.diff(np.concatenate(([start_s], inside, [end_s])))))

    def sends(self, number: int) -> list[float]:
        """The times at which a segment of the data, numbered from 1, leaves the sender."""
        return [at for at, sent in self.segments if sent == number]

    @functools.cached_property
    def segments(self) -> list[tuple[float, int]]:
        """The time and the number of each segment that the sender sends, in order. The first of the data is 1."""
        table = self.result.series("segment")
        mine = table.filter(pc.equal(pc.cast(table["flow"], pa.string()), FLOW))
        offsets = _floats(mine["offset_bytes"]) // self.segment_bytes
        return list(zip(mine["time_s"].to_pylist(), (int(offset) + 1 for offset in offsets), strict=True))

    @property
    def segment_bytes(self) -> int:
        """The data of a full segment."""
        return int(self.result.flow(FLOW)["segment_bytes"])

    def sent_before(self, time_s: float) -> int:
        """The number of segments that the sender has sent by a time."""
        return int(np.searchsorted(self._sent[0], time_s, side="right"))

    def sent_at(self, number: int) -> float:
        """The time of a segment, numbered from 1; NaN if it is never sent."""
        time, _ = self._sent
        return float(time[number - 1]) if len(time) >= number else math.nan

    def queue(self, start_s: float, end_s: float) -> Floats:
        """Samples of the bottleneck's queue, in packets; NaN if there is none."""
        table = self.result.series("link")
        mine = table.filter(pc.equal(pc.cast(table["link"], pa.string()), LINK))
        time = _floats(mine["time_s"])
        inside = _floats(mine["queue_packets"])[(time > start_s) & (time <= end_s)]
        return inside if len(inside) else np.array([math.nan])

    def drops(self) -> Floats:
        """The times of packets dropped by the bottleneck."""
        table = self.result.series("drop")
        mine = table.filter(pc.equal(pc.cast(table["flow"], pa.string()), FLOW))
        return _floats(mine.filter(pc.equal(pc.cast(mine["link"], pa.string()), LINK))["time_s"])

    @functools.cached_property
    def lost(self) -> frozenset[int]:
        """The places in `segments` of those that the bottleneck drops, at their arrival over the sender's link."""
        arrivals, last = [], 0.0
        for at, _ in self.segments:
            last = max(last, at) + _PACKET_S
            arrivals.append(last)
        return frozenset(int(np.argmin(np.abs(np.array(arrivals) - drop))) for drop in self.drops())

    def events(self, kind: str) -> Floats:
        """The times of events of the sender, such as `timeout`."""
        table = self.result.series("event")
        mine = table.filter(pc.equal(pc.cast(table["flow"], pa.string()), FLOW))
        return _floats(mine.filter(pc.equal(pc.cast(mine["event"], pa.string()), kind))["time_s"])


def _floats(column: pa.ChunkedArray) -> Floats:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
