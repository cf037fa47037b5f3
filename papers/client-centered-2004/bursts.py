"""Bursts of one download: packets, acknowledgements and the radio on one time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netlull.plot import COLOURS, figure, legend_above, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netlull.papers import Recorded

Floats = npt.NDArray[np.float64]

SPAN_S = 0.33
"""Drawn, from shortly before the first burst's end on."""
CAPTION = (
    "Emulated, 60 ms, no loss, seed 1: packets that the client receives (dots) and misses (crosses), its closed "
    "acknowledgements (ticks) and open ones (triangles), and when its radio is awake (shaded), around the first bursts "
    "after slow start. It wakes early, as its round trip is the shortest that it has ever seen, on a clock of 10 ms."
)
KINDS = {
    "data": ("packet received", ".", 0),
    "missed": ("packet missed", "x", 1),
    "closed": ("closed acknowledgement", "|", 6),
    "open": ("open acknowledgement", "^", 2),
}
"""Kinds of the table `air`: name, mark and colour."""


def drawn(run: Recorded) -> Figure:
    """Sequence numbers over time while the radio is awake or not."""
    start = run.series("burst")["time_s"].to_pylist()[0] - SPAN_S / 6
    end = start + SPAN_S
    time, kind, kilobytes = _on_air(run)
    arrived = np.isin(kind, ("data", "missed")) & (time >= start) & (time <= end)
    low, high = kilobytes[arrived].min(), kilobytes[arrived].max()
    foot = low - 0.08 * (high - low)
    with styled():
        made = figure(height=3.4)
        axes = made.subplots()
        for from_s, to_s in _awake(run, start, end):
            axes.axvspan(from_s, to_s, color="#eeeeee", zorder=0, label="radio awake")
        for name, (label, mark, colour) in KINDS.items():
            chosen = (kind == name) & (time >= start) & (time <= end)
            height = kilobytes[chosen] if name in ("data", "missed") else np.full(int(chosen.sum()), foot)
            axes.plot(time[chosen], height, mark, markersize=4, color=COLOURS[colour], label=label)
        axes.set_xlim(start, end)
        axes.set_xlabel("Time (s)")
        axes.set_ylabel("Data received (kB)")
        legend_above(made, [axes])
    return made


def _on_air(run: Recorded) -> tuple[Floats, npt.NDArray[np.str_], Floats]:
    """Time, kind and place in the file of what was on the air."""
    air = run.series("air")
    kind = np.array(air["kind"].to_pylist())
    numbers = np.array([np.nan if seq is None else seq for seq in air["seq"].to_pylist()], dtype=float)
    first = numbers[kind == "data"][0]
    return air["time_s"].to_numpy(), kind, (numbers - first) % 2.0**32 / 1e3


def _awake(run: Recorded, start: float, end: float) -> list[tuple[float, float]]:
    """Stretches in which the radio is not asleep; it is awake at first."""
    radio = run.series("radio")
    spans, since = [], start
    asleep = False
    for at, state in zip(radio["time_s"].to_pylist(), radio["state"].to_pylist(), strict=True):
        if (state == "asleep") is asleep:
            continue
        asleep = state == "asleep"
        if asleep:
            spans.append((since, at))
        since = at
    if not asleep:
        spans.append((since, end))
    clipped = [(max(from_s, start), min(to_s, end)) for from_s, to_s in spans]
    return [(from_s, to_s) for from_s, to_s in clipped if from_s < to_s]
