"""Two downloads, without and with bursts: packets, acknowledgements and the state of the radio over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netlull.plot import COLOURS, figure, legend_above, styled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.papers import Recorded

Floats = npt.NDArray[np.float64]

SPAN_S = 0.33
"""The length of the time axis in seconds; it starts shortly before the end of the first burst."""
CAPTION = (
    "Emulated, 60 ms, no loss, seed 201. Left: standard TCP with eager acknowledgements. Right: the technique, at "
    "the same time of the download. Dots are packets that the client receives, ticks its closed acknowledgements, "
    "triangles open ones (left, the eager one after 3 ms of silence). Shaded: the radio is awake. The right panel "
    "has the first bursts after slow start. The radio wakes early, because its round trip is the shortest seen so "
    "far, on a clock of 10 ms."
)
STANDARD, SHAPED = "emulated-baseline-201", "emulated-201"
"""The names of the recorded runs."""
POLLS_SPAN_S, POLLS_FROM_S = 0.52, 2.99
POLLS_CAPTION = (
    "Without loss, seed 201. Left: the paper's ideal PSM. Right: 802.11's, with a poll for each packet. Vertical lines "
    "are beacons. A window of 22 packets returns within 13 ms around a beacon. The one poll of the ideal PSM releases "
    "the packets that wait at the beacon; the others of the window wait 100 ms. Polls for each packet also release "
    "those that arrive meanwhile, so a window takes one beacon and the download is faster (C25)."
)
POLLED = {"psm-ideal-201": "PSM, ideal", "psm-80211-201": "PSM, 802.11"}
"""The recorded runs with PSM, and their titles."""
KINDS = {
    "data": ("packet received", ".", 0),
    "missed": ("packet missed", "x", 1),
    "closed": ("closed acknowledgement", "|", 6),
    "open": ("open acknowledgement", "^", 2),
    "eager": ("eager acknowledgement", "^", 4),
    "ack": ("ordinary acknowledgement", "|", 4),
    "poll": ("poll", "|", 2),
}
"""The kinds of rows in the table `air`: name, marker and colour."""


def drawn(series: Mapping[str, Recorded]) -> Figure:
    """Draws both downloads at the same time: without bursts and with bursts."""
    start = series[SHAPED].series("burst")["time_s"].to_pylist()[0] - SPAN_S / 6
    return _side_by_side(series, {STANDARD: "Standard TCP", SHAPED: "The technique"}, start, start + SPAN_S)


def polled(series: Mapping[str, Recorded]) -> Figure:
    """Draws a download with the ideal PSM and one with 802.11's."""
    return _side_by_side(series, POLLED, POLLS_FROM_S, POLLS_FROM_S + POLLS_SPAN_S)


def _side_by_side(series: Mapping[str, Recorded], titles: Mapping[str, str], start: float, end: float) -> Figure:
    with styled():
        made = figure(height=3.4)
        places = made.subplots(1, 2, sharey=True)
        for axes, (name, title) in zip(places, titles.items(), strict=True):
            _draw(axes, series[name], start, end)
            axes.set_title(title, loc="left")
        places[0].set_ylabel("Data received (kB)")
        legend_above(made, list(places), columns=3)
    return made


def _draw(axes: Axes, run: Recorded, start: float, end: float) -> None:
    """Draws data over time, with beacons as lines and the awake intervals of the radio shaded.

    Data counts from the first packet shown.
    """
    time, kind, kilobytes = _on_air(run)
    shown = (time >= start) & (time <= end)
    arrived = np.isin(kind, ("data", "missed")) & shown
    kilobytes = kilobytes - kilobytes[arrived].min()
    low, high = 0.0, kilobytes[arrived].max()
    foot = low - 0.06 * (high - low)
    for from_s, to_s in _awake(run, start, end):
        axes.axvspan(from_s, to_s, color="#eeeeee", zorder=0, label="radio awake")
    for name, (label, mark, colour) in KINDS.items():
        chosen = (kind == name) & shown
        if not chosen.any():
            continue
        height = kilobytes[chosen] if name in ("data", "missed") else np.full(int(chosen.sum()), foot)
        axes.plot(time[chosen], height, mark, markersize=4, color=COLOURS[colour], label=label)
    for beacon in time[(kind == "beacon") & shown]:
        axes.axvline(beacon, color="#777777", linewidth=0.8, linestyle=":", zorder=1, label="beacon")
    axes.set_xlim(start, end)
    axes.set_xlabel("Time (s)")


def _on_air(run: Recorded) -> tuple[Floats, npt.NDArray[np.str_], Floats]:
    """The packets on the air: time (s), kind and offset in the file (kB)."""
    air = run.series("air")
    kind = np.array(air["kind"].to_pylist())
    numbers = np.array([np.nan if seq is None else seq for seq in air["seq"].to_pylist()], dtype=float)
    first = numbers[kind == "data"][0]
    return air["time_s"].to_numpy(), kind, (numbers - first) % 2.0**32 / 1e3


def _awake(run: Recorded, start: float, end: float) -> list[tuple[float, float]]:
    """The intervals in which the radio is not asleep; it is awake at first."""
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
