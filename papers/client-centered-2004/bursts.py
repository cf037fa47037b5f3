"""Bursts of one download: packets, acknowledgements and the radio on one time axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.plot import COLOURS, figure, legend_above, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netlull.papers import Recorded

SPAN_S = 0.33
"""Drawn from the first bursts of the download on."""
CAPTION = (
    "Emulated, 60 ms, no loss, seed 1: packets that the client receives (dots) and misses (crosses), its closed "
    "acknowledgements (ticks) and open ones (triangles), and when its radio is awake (shaded), around the first bursts "
    "after slow start."
)


def drawn(run: Recorded) -> Figure:
    """Sequence numbers over time, and the radio below."""
    air, table, radio = run.series("air"), run.series("burst"), run.series("radio")
    start = float(table["time_s"].to_pylist()[0]) - 0.05 if len(table) else 0.0
    end = start + SPAN_S
    time, kind = air["time_s"].to_numpy(), np.array(air["kind"].to_pylist())
    seq = np.array(air["seq"].to_pylist(), dtype=float)
    shown = (time >= start) & (time <= end)
    with styled():
        made = figure(height=3.4)
        axes = made.subplots()
        low, high = _range(seq[shown & (kind == "data")])
        for from_s, to_s in _awake(radio, end):
            axes.axvspan(max(from_s, start), min(to_s, end), color="#eeeeee", zorder=0, label="radio awake") if to_s > start else None
        axes.plot(1e0 * time[shown & (kind == "data")], seq[shown & (kind == "data")] / 1e3, ".", markersize=3, color=COLOURS[0], label="packet received")
        axes.plot(time[shown & (kind == "missed")], seq[shown & (kind == "missed")] / 1e3, "x", color=COLOURS[1], label="packet missed")
        for name, mark, colour in (("closed", "|", 6), ("open", "^", 2)):
            at = time[shown & (kind == name)]
            axes.plot(at, np.full(len(at), low / 1e3 - 0.08 * (high - low) / 1e3), mark, markersize=5, color=COLOURS[colour], label=f"{name} acknowledgement")
        axes.set_xlim(start, end)
        axes.set_xlabel("Time (s)")
        axes.set_ylabel("Sequence number (kB)")
        legend_above(made, [axes])
    return made


def _range(values: np.ndarray) -> tuple[float, float]:
    return (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)


def _awake(radio: object, end: float) -> list[tuple[float, float]]:
    """Stretches in which the radio is not asleep."""
    times, states = (radio[name].to_pylist() for name in ("time_s", "state"))  # type: ignore[index]
    spans, since = [], None
    for at, state in zip(times, states, strict=True):
        if state == "asleep" and since is not None:
            spans.append((since, at))
            since = None
        elif state != "asleep" and since is None:
            since = at
    return [*spans, (since, end)] if since is not None else spans
