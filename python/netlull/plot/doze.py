"""One download of a station that dozes, on one time axis: packets, acknowledgements, radio (`netlull plot doze`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from netlull.errors import InputError
from netlull.plot.air import STATES, Air, air_of
from netlull.plot.style import COLOURS, DOUBLE_COLUMN, figure, styled

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull import Result
    from netlull.plot.series import Floats

__all__ = ["doze_figure"]

_NAPS = 5
"""So many times from sleep to sleep are shown, unless more is asked for."""
_AROUND_S = 0.2
"""Shown on either side of the middle of a download, or of its only nap."""
_MOST_STRETCHES = 1500
"""More changes of the radio's state are shown as means over bins."""
_BINS = 240
_MOST_MARKS = 1500
"""More marks of one kind are thinned evenly; missed packets and open acknowledgements never are."""
_MOST_LINES = 40
"""Open acknowledgements that have a line through all panels; more would hide the panels."""

_BURSTS = (COLOURS[0], COLOURS[4])
_MISSED = "#d00000"
"""Red: nothing else in the figure is near it."""
_OPEN = COLOURS[2]
_PLAIN = COLOURS[6]
_STATE_COLOURS = {
    "asleep": "#c8d0d8",
    "waking": COLOURS[3],
    "idle": COLOURS[5],
    "receiving": COLOURS[0],
    "transmitting": COLOURS[2],
}
_MECHANISMS = {
    "always_on": "awake all the time",
    "eager": "awake, eager acknowledgements",
    "client_shaper": "client's shaper",
    "psm": "power-saving mode",
    "bsd": "bounded slowdown",
}

Span = tuple[float, float]
Mask = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]


def doze_figure(
    result: Result,
    station: str | None = None,
    span_s: tuple[float | None, float | None] = (None, None),
    *,
    whole: bool = False,
    radio: str | None = None,
    title: str | None = None,
) -> Figure:
    """Packets, acknowledgements and radio of a station over one axis of time.

    By default some bursts in the middle of the download, where the radio sleeps if it does; `span_s` are the times
    shown, `whole` shows all of the download. `station` and the power model `radio` are by default the first ones.

    Raises:
        FieldPathError: there is no such station.
        InputError: the run recorded no stations, nothing was in the span, or the radio has no such power model.
    """
    air = air_of(result, station, radio)
    start, end = _span(air, span_s, whole=whole, duration_s=float(result.summary["duration_s"]))
    with styled():
        drawn = figure(DOUBLE_COLUMN, 5.2)
        packets, windows, power = drawn.subplots(3, 1, sharex=True, height_ratios=[2.2, 1.1, 1.3])
        shown = (air.end_s >= start) & (air.time_s <= end)
        entries = _packets(packets, air, shown)
        entries += _acknowledgements(windows, air, shown)
        entries += _radio(power, air, shown, (start, end))
        opened = air.time_s[shown & (air.kind == "open")]
        if len(opened) <= _MOST_LINES:
            for axes in (packets, windows, power):
                for at in opened:
                    axes.axvline(at, color=_OPEN, linewidth=0.6, alpha=0.5, zorder=0.5)
        power.set_xlim(start, end)
        power.set_xlabel("Time (s)")
        for axes in (packets, windows, power):
            axes.grid(visible=False, axis="x")
        drawn.align_ylabels([packets, windows, power])
        drawn.suptitle(_title(air) if title is None else title, fontsize=8.5, x=0.01, ha="left")
        drawn.legend(handles=entries, loc="outside lower center", ncols=5, columnspacing=1.2, handletextpad=0.5)
    return drawn


def _span(air: Air, span_s: tuple[float | None, float | None], *, whole: bool, duration_s: float) -> Span:
    """The times shown."""
    usual = _download(air, duration_s)
    if not whole and span_s == (None, None):
        return _middle(air, usual)
    start, end = (given if given is not None else default for given, default in zip(span_s, usual, strict=True))
    if not start < end:
        raise InputError(
            f"from {start:g} s to {end:g} s: is no span of time; expected times from 0 s to {usual[1]:g} s"
        )
    if start >= duration_s:
        raise InputError(f"from {start:g} s to {end:g} s: is after the run, which ends at {duration_s:g} s")
    return start, end


def _download(air: Air, duration_s: float) -> Span:
    """From the first opening to the last byte; the whole run where the download is not complete."""
    download = air.summary["download"]
    if download is None:
        return 0.0, duration_s
    start = float(download["start_s"])
    margin = 0.01 * float(download["seconds"])
    return max(0.0, start - margin), min(duration_s, start + float(download["seconds"]) + margin)


def _middle(air: Air, download: Span) -> Span:
    """Some bursts in the middle of what the radio sleeps in the download, from a little before it wakes."""
    start, end = download
    wakes = air.wakes_s[(air.wakes_s >= start) & (air.wakes_s <= end)]
    if len(wakes) < 2:
        asleep = air.stretches[STATES.index("asleep")]
        nap = _inside(asleep.from_s, asleep.to_s, download) & (asleep.from_s > start)
        middle = (start + end) / 2
        first, last = (asleep.from_s[nap][0], asleep.to_s[nap][0]) if nap.any() else (middle, middle)
        return max(start, float(first) - _AROUND_S), min(end, float(last) + _AROUND_S)
    every = _usual_nap(wakes)
    first = wakes[max(0, len(wakes) // 2 - _NAPS // 2 - 1)]
    begin = max(start, float(first) - 0.15 * every)
    return begin, min(end, begin + _NAPS * every)


def _usual_nap(wakes: Floats) -> float:
    """From one wake to the next."""
    return float(np.median(np.diff(wakes)))


def _title(air: Air) -> str:
    summary = air.summary
    parts = [f"{summary['name']}: {_MECHANISMS.get(summary['mechanism'], summary['mechanism'])}"]
    download = summary["download"]
    if download is None:
        parts.append(f"download not complete, {summary['energy'][air.radio]['total_j']:.3g} J")
    else:
        joules = download["energy_j"][air.radio]
        parts.append(f"{download['seconds']:.3g} s x {joules:.3g} J = {joules * download['seconds']:.3g} Js")
        parts.append(f"asleep {100 * download['asleep_s'] / download['seconds']:.0f} %")
        missed = download["missed_packets"]
        parts.append(f"{missed or 'no'} packet{'' if missed <= 1 else 's'} missed")
    return ", ".join(parts) + f" ({air.radio})"


def _packets(axes: Axes, air: Air, shown: Mask) -> list[Artist]:
    """Places of packets in the download; the colour changes from burst to burst."""
    packets = shown & (air.kind == "data")
    missed = shown & (air.kind == "missed")
    for turn, colour in enumerate(_BURSTS):
        mine = _thinned(np.flatnonzero(packets & (air.burst % 2 == turn)))
        axes.plot(air.end_s[mine], air.offset_bytes[mine] / 1e3, ".", color=colour, markersize=_size(len(mine)))
    axes.plot(
        air.end_s[missed], air.offset_bytes[missed] / 1e3, "x", color=_MISSED, markersize=6, markeredgewidth=1.6,
        zorder=4,
    )  # fmt: skip
    axes.set_ylabel("Place in the\ndownload (kB)")
    axes.set_title("(a) Packets at the station; the colour changes from burst to burst", loc="left")
    entries: list[Artist] = [Line2D([], [], color=_BURSTS[0], marker=".", linestyle="", markersize=7, label="received")]
    if missed.any():
        cross: dict[str, Any] = {"color": _MISSED, "marker": "x", "markersize": 6, "markeredgewidth": 1.6}
        entries.append(Line2D([], [], linestyle="", label="missed", **cross))
    return entries


def _acknowledgements(axes: Axes, air: Air, shown: Mask) -> list[Artist]:
    """The windows that acknowledgements advertise."""
    told = np.flatnonzero(shown & np.isin(air.kind, ("closed", "open", "ack")))
    # What was advertised before holds from the left edge on.
    before = np.flatnonzero(np.isin(air.kind, ("closed", "open", "ack")) & (air.time_s < _first(air, shown)))
    steps = np.concatenate((before[-1:], told))
    axes.plot(
        air.time_s[steps], air.window_bytes[steps] / 1e3, color=_PLAIN, linewidth=0.6, alpha=0.6,
        drawstyle="steps-post",
    )  # fmt: skip
    opened = int(np.sum(shown & (air.kind == "open")))
    looks: dict[str, dict[str, Any]] = {
        "closed": {"marker": "o", "color": _PLAIN, "markerfacecolor": "white", "markersize": 3.2},
        "ack": {"marker": "o", "color": _PLAIN, "markersize": 2.0},
        "open": {"marker": "^", "color": _OPEN, "markersize": 6.5 if opened <= _MOST_LINES else 3.5},
    }
    other = "other acknowledgement" if opened else "acknowledgement"
    labels = {"closed": "closed acknowledgement", "ack": other, "open": "open acknowledgement"}
    entries: list[Artist] = []
    for kind, look in looks.items():
        mine = np.flatnonzero(shown & (air.kind == kind))
        if not len(mine):
            continue
        mine = mine if kind == "open" else _thinned(mine)
        axes.plot(
            air.time_s[mine], air.window_bytes[mine] / 1e3, linestyle="", markeredgewidth=0.7, clip_on=False,
            zorder=3 + (kind == "open"), **look,
        )  # fmt: skip
        entries.append(Line2D([], [], linestyle="", markeredgewidth=0.7, label=labels[kind], **look))
    highest = float(np.nanmax(air.window_bytes[steps], initial=1.0)) / 1e3
    axes.set_ylim(-0.08 * highest, 1.18 * highest)
    axes.set_ylabel("Window\n(kB)")
    axes.set_title("(b) Window that acknowledgements advertise", loc="left")
    return entries


def _first(air: Air, shown: Mask) -> float:
    return float(air.time_s[shown][0]) if np.any(shown) else float("inf")


def _radio(axes: Axes, air: Air, shown: Mask, span_s: Span) -> list[Artist]:
    """Power of the radio, coloured by its state; beacons and polls above it."""
    highest = max(air.powers_w.values())
    changes = sum(_inside(one.from_s, one.to_s, span_s).sum() for one in air.stretches)
    if changes <= _MOST_STRETCHES:
        _exact(axes, air, span_s)
        title = "(c) Radio"
    else:
        width = _means(axes, air, span_s)
        title = f"(c) Radio (mean power over {1e3 * width:.3g} ms)"
    axes.set_title(title, loc="left")
    axes.set_ylabel("Power (W)")
    entries: list[Artist] = [
        Patch(color=_STATE_COLOURS[one.state], label=one.state)
        for one in air.stretches
        if _inside(one.from_s, one.to_s, span_s).any()
    ]
    height = 1.1
    for kind, marker, label in (("beacon", "v", "beacon"), ("poll", "|", "poll")):
        at = air.time_s[_thinned(np.flatnonzero(shown & (air.kind == kind)))]
        if not len(at):
            continue
        axes.plot(
            at, np.full(len(at), height * highest), marker=marker, markersize=4, color=_PLAIN, linestyle="",
            markeredgewidth=0.6, clip_on=False,
        )  # fmt: skip
        entries.append(
            Line2D([], [], color=_PLAIN, marker=marker, markersize=4, markeredgewidth=0.6, linestyle="", label=label)
        )
        height += 0.16
    axes.set_ylim(0, max(1.05, height - 0.02) * highest)
    return entries


def _inside(from_s: Floats, to_s: Floats, span_s: Span) -> Mask:
    return np.asarray((to_s > span_s[0]) & (from_s < span_s[1]))


def _exact(axes: Axes, air: Air, span_s: Span) -> None:
    """A bar per stretch of time in a state. What is shorter than a line is wide is a line all the same."""
    for one in air.stretches:
        inside = _inside(one.from_s, one.to_s, span_s)
        begin, length = one.from_s[inside], one.to_s[inside] - one.from_s[inside]
        colour = _STATE_COLOURS[one.state]
        bars = list(zip(begin, length, strict=True))
        thin = 0.0 if one.state in {"asleep", "idle"} else 0.5
        axes.broken_barh(
            bars, (0, air.powers_w[one.state]), facecolors=colour, edgecolors=colour, linewidth=thin,
            # Of a transmission in the middle of receptions only the tip is to be seen.
            zorder=2.05 if one.state == "transmitting" else 2 + 0.1 * STATES.index(one.state),
        )  # fmt: skip


def _means(axes: Axes, air: Air, span_s: Span) -> float:
    """Mean power by state over bins, on top of each other; returns their width in s."""
    edges = _edges(air, span_s)
    width = float(edges[1] - edges[0])
    below = np.zeros(len(edges) - 1)
    for one in air.stretches:
        # How much of the state lies before each edge.
        nodes = np.concatenate(([-1.0], np.column_stack((one.from_s, one.to_s)).ravel()))
        spent = np.concatenate(([0.0], np.cumsum(np.column_stack((np.zeros(len(one.from_s)), one.to_s - one.from_s)))))
        share = np.diff(np.interp(edges, nodes, spent)) / width
        above = below + share * air.powers_w[one.state]
        axes.fill_between(
            edges, np.append(below, below[-1]), np.append(above, above[-1]), step="post",
            color=_STATE_COLOURS[one.state], linewidth=0,
        )  # fmt: skip
        below = above
    return width


def _edges(air: Air, span_s: Span) -> Floats:
    """Bins; where the radio sleeps regularly, of whole naps, or they would show how naps and bins fall together."""
    start, end = span_s
    wakes = air.wakes_s[(air.wakes_s >= start) & (air.wakes_s <= end)]
    width = (end - start) / _BINS
    if len(wakes) > _NAPS:
        every = _usual_nap(wakes)
        width = every * max(1, round(width / every))
    return np.asarray(start + width * np.arange(max(2, int((end - start) / width) + 1)), dtype=np.float64)


def _thinned(marks: Indices) -> Indices:
    """At most so many of the marks, evenly."""
    return marks[:: max(1, -(-len(marks) // _MOST_MARKS))]


def _size(packets: int) -> float:
    return 4.0 if packets <= 200 else 2.5 if packets <= 600 else 1.4
