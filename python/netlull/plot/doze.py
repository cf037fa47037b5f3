"""A download of a dozing station on one time axis: packets, acknowledgements, radio (`netlull plot doze`)."""

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

    from netlull.plot.series import Floats
    from netlull.results.result import Result

__all__ = ["doze_figure"]

_NAPS = 5
"""The default number of sleep cycles shown."""
_AROUND_S = 0.2
"""The time shown on either side of the middle of a download, or of its only sleep. In seconds."""
_MOST_STRETCHES = 1500
"""The most state changes drawn exactly. More are drawn as means over bins."""
_BINS = 240
_MOST_MARKS = 1500
"""The most marks of one kind. More are thinned evenly, except missed packets and open acknowledgements."""
_MOST_LINES = 40
"""The most open acknowledgements with a line through all panels. More lines would hide the panels."""

_BURSTS = (COLOURS[0], COLOURS[4])
_MISSED = "#d00000"
"""Red: no other colour in the figure is similar."""
_OPEN = COLOURS[2]
_PLAIN = COLOURS[6]
_ACKNOWLEDGEMENTS = ("closed", "open", "eager", "ack")
_SIGNALS = {"beacon": "v", "poll": "|"}
"""The signals about sleep on the air, with their marks."""
_SIGNAL_WORDS = {"beacon": "the beacons that it hears", "poll": "its polls"}
_STATE_COLOURS = {
    "asleep": "#c8d0d8",
    "waking": COLOURS[3],
    "idle": COLOURS[5],
    "receiving": COLOURS[0],
    "transmitting": COLOURS[2],
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
    """Packets, acknowledgements and radio of a station on one time axis.

    The default span is some bursts in the middle of the download, where the radio sleeps if it ever does.

    Args:
        result: a run that recorded its stations.
        station: the station, by its node; default the first.
        span_s: start and end of the figure, in s.
        whole: shows the whole download.
        radio: the power model; default the first.
        title: the title; default the station with its results.

    Raises:
        FieldPathError: there is no such station.
        InputError: the run recorded no stations, the span is invalid or after the run, or the radio has no such power
            model.
    """
    air = air_of(result, station, radio)
    start, end = _span(air, span_s, whole=whole, duration_s=float(result.summary["duration_s"]))
    with styled():
        drawn = figure(DOUBLE_COLUMN, 5.2)
        shown = (air.end_s >= start) & (air.time_s <= end)
        # Beacons and polls have their own strip, as they are not powers.
        signals = [kind for kind in _SIGNALS if np.any(shown & (air.kind == kind))]
        heights = [2.2, 1.1, *([0.12 * len(signals)] if signals else []), 1.3]
        panels: list[Axes] = list(drawn.subplots(len(heights), 1, sharex=True, height_ratios=heights))
        entries = _packets(panels[0], air, shown)
        entries += _acknowledgements(panels[1], air, shown)
        titled, entered = _radio(panels[-1], air, (start, end))
        entries += entered
        if signals:
            _signals(panels[2], air, shown, signals)
            titled += f", and {' and '.join(_SIGNAL_WORDS[kind] for kind in signals)}"
        panels[2].set_title(titled, loc="left")
        opened = air.time_s[shown & (air.kind == "open")]
        if len(opened) <= _MOST_LINES:
            for axes in panels:
                for at in opened:
                    axes.axvline(at, color=_OPEN, linewidth=0.6, alpha=0.5, zorder=0.5)
        panels[-1].set_xlim(start, end)
        panels[-1].set_xlabel("Time (s)")
        for axes in panels:
            axes.grid(visible=False, axis="x")
        drawn.align_ylabels([panels[0], panels[1], panels[-1]])
        drawn.suptitle(_title(air) if title is None else title, fontsize=8.5, x=0.01, ha="left")
        drawn.legend(handles=entries, loc="outside lower center", ncols=5, columnspacing=1.2, handletextpad=0.5)
    return drawn


def _span(air: Air, span_s: tuple[float | None, float | None], *, whole: bool, duration_s: float) -> Span:
    """The time span of the figure, in s."""
    usual = _download(air, duration_s)
    if not whole and span_s == (None, None):
        return _middle(air, usual)
    start, end = (given if given is not None else default for given, default in zip(span_s, usual, strict=True))
    if start >= duration_s:
        raise InputError(f"from {start:g} s to {end:g} s: is after the run, which ends at {duration_s:g} s")
    if not start < end:
        ends = f"the run ends at {duration_s:g} s"
        if span_s[1] is None:
            ends = f"without --to the figure ends with the download, at {end:g} s; {ends}"
        raise InputError(
            f"from {start:g} s to {end:g} s: is not a span of time; expected a start before the end; {ends}"
        )
    return start, min(end, duration_s)


def _download(air: Air, duration_s: float) -> Span:
    """The span from the first opening to the last byte; the whole run if the download is incomplete."""
    download = air.summary["download"]
    if download is None:
        return 0.0, duration_s
    start = float(download["start_s"])
    margin = 0.01 * float(download["seconds"])
    return max(0.0, start - margin), min(duration_s, start + float(download["seconds"]) + margin)


def _middle(air: Air, download: Span) -> Span:
    """Some bursts in the middle of the download's sleeps, from shortly before a wake-up."""
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
    """The median time between wake-ups, in s."""
    return float(np.median(np.diff(wakes)))


def _title(air: Air) -> str:
    summary = air.summary
    parts = [f"{summary['name']}: {summary['mechanism'].replace('_', ' ')}"]
    if air.poll is not None:
        parts[0] += f" (poll = {air.poll})"
    download = summary["download"]
    if download is None:
        what = "download not complete" if air.has_download else "no TCP download"
        parts.append(f"{what}, {summary['energy'][air.radio]['total_j']:.3g} J")
    else:
        joules = download["energy_j"][air.radio]
        parts.append(f"{download['seconds']:.3g} s x {joules:.3g} J = {joules * download['seconds']:.3g} Js")
        parts.append(f"asleep {100 * download['asleep_s'] / download['seconds']:.0f} %")
        missed = download["missed_packets"]
        parts.append(f"{missed or 'no'} packet{'' if missed <= 1 else 's'} missed")
    return ", ".join(parts) + f" ({air.radio})"


def _packets(axes: Axes, air: Air, shown: Mask) -> list[Artist]:
    """Draws the packets' positions in the download, or their sizes without one. The colour changes with the burst."""
    packets = shown & (air.kind == "data")
    missed = shown & (air.kind == "missed")
    places = air.offset_bytes / 1e3 if air.has_download else air.size_bytes
    for turn, colour in enumerate(_BURSTS):
        mine = _thinned(np.flatnonzero(packets & (air.burst % 2 == turn)))
        axes.plot(air.end_s[mine], places[mine], ".", color=colour, markersize=_size(len(mine)))
    axes.plot(
        air.end_s[missed], places[missed], "x", color=_MISSED, markersize=6, markeredgewidth=1.6, zorder=4,
    )  # fmt: skip
    axes.set_ylabel("Place in the\ndownload (kB)" if air.has_download else "Size of the\npacket (B)")
    what = "Packets at the station" if air.has_download else "Packets at the station by size: no TCP download"
    axes.set_title(f"(a) {what}; the colour changes from burst to burst", loc="left")
    if not np.any(packets | missed):
        _words(axes, "no packet for the station" if np.any(shown) else "nothing on the air for the station")
        return []
    if not air.has_download:
        axes.set_ylim(0, 1.1 * float(np.max(places[packets | missed])))
    entries: list[Artist] = [Line2D([], [], color=_BURSTS[0], marker=".", linestyle="", markersize=7, label="received")]
    if missed.any():
        cross: dict[str, Any] = {"color": _MISSED, "marker": "x", "markersize": 6, "markeredgewidth": 1.6}
        entries.append(Line2D([], [], linestyle="", label="missed", **cross))
    return entries


def _acknowledgements(axes: Axes, air: Air, shown: Mask) -> list[Artist]:
    """Draws the windows that acknowledgements advertise."""
    axes.set_ylabel("Window\n(kB)")
    axes.set_title("(b) Window that acknowledgements advertise", loc="left")
    acknowledges = np.isin(air.kind, _ACKNOWLEDGEMENTS)
    told = np.flatnonzero(shown & acknowledges)
    if not len(told):
        _words(axes, "no acknowledgement" if air.has_download else "no TCP download")
        return []
    # An earlier window holds from the left edge on.
    before = np.flatnonzero(acknowledges & (air.time_s < _first(air, shown)))
    steps = np.concatenate((before[-1:], told))
    axes.plot(
        air.time_s[steps], air.window_bytes[steps] / 1e3, color=_PLAIN, linewidth=0.6, alpha=0.6,
        drawstyle="steps-post",
    )  # fmt: skip
    opened = int(np.sum(shown & (air.kind == "open")))
    looks: dict[str, dict[str, Any]] = {
        "closed": {"marker": "o", "color": _PLAIN, "markerfacecolor": "white", "markersize": 3.2},
        "ack": {"marker": "o", "color": _PLAIN, "markersize": 2.0},
        "eager": {"marker": "^", "color": _PLAIN, "markersize": 4.0},
        "open": {"marker": "^", "color": _OPEN, "markersize": 6.5 if opened <= _MOST_LINES else 3.5},
    }
    other = "acknowledgement" if np.all(air.kind[told] == "ack") else "other acknowledgement"
    labels = {
        "closed": "closed acknowledgement",
        "ack": other,
        "eager": "eager acknowledgement",
        "open": "open acknowledgement",
    }
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
    # If all shown windows are closed, the axis covers those at other times.
    highest = float(np.nanmax(air.window_bytes[steps], initial=0.0)) or float(np.nanmax(air.window_bytes, initial=1e3))
    axes.set_ylim(-0.08e-3 * highest, 1.18e-3 * highest)
    return entries


def _words(axes: Axes, words: str) -> None:
    """Writes the reason into an empty panel, and removes its meaningless numbers."""
    axes.set_yticks([])
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=_PLAIN)


def _first(air: Air, shown: Mask) -> float:
    return float(air.time_s[shown][0]) if np.any(shown) else float("inf")


def _signals(axes: Axes, air: Air, shown: Mask, kinds: list[str]) -> None:
    """Draws the beacons and polls of a radio, one line each."""
    for line, kind in enumerate(kinds):
        at = air.time_s[_thinned(np.flatnonzero(shown & (air.kind == kind)))]
        axes.plot(
            at, np.full(len(at), line), marker=_SIGNALS[kind], markersize=4, color=_PLAIN, linestyle="",
            markeredgewidth=0.6, clip_on=False,
        )  # fmt: skip
    axes.set_yticks(range(len(kinds)), [f"{kind}s" for kind in kinds], fontsize=6)
    axes.set_ylim(len(kinds) - 0.4, -0.6)
    axes.tick_params(length=0)
    axes.grid(visible=False)


def _radio(axes: Axes, air: Air, span_s: Span) -> tuple[str, list[Artist]]:
    """Draws the power of the radio, coloured by its state; returns a title and the legend's entries."""
    changes = sum(_inside(one.from_s, one.to_s, span_s).sum() for one in air.stretches)
    if changes <= _MOST_STRETCHES:
        _exact(axes, air, span_s)
        title = "(c) Radio"
    else:
        width = _means(axes, air, span_s)
        title = f"(c) Radio (mean power over {1e3 * width:.3g} ms)"
    axes.set_ylabel("Power (W)")
    axes.set_ylim(0, 1.05 * max(air.powers_w.values()))
    entries: list[Artist] = [
        Patch(color=_STATE_COLOURS[one.state], label=one.state)
        for one in air.stretches
        if _inside(one.from_s, one.to_s, span_s).any()
    ]
    return title, entries


def _inside(from_s: Floats, to_s: Floats, span_s: Span) -> Mask:
    return np.asarray((to_s > span_s[0]) & (from_s < span_s[1]))


def _exact(axes: Axes, air: Air, span_s: Span) -> None:
    """Draws a bar per stretch of time in a state. Very short stretches are still as wide as a line."""
    for one in air.stretches:
        inside = _inside(one.from_s, one.to_s, span_s)
        begin, length = one.from_s[inside], one.to_s[inside] - one.from_s[inside]
        colour = _STATE_COLOURS[one.state]
        bars = list(zip(begin, length, strict=True))
        thin = 0.0 if one.state in {"asleep", "idle"} else 0.5
        axes.broken_barh(
            bars, (0, air.powers_w[one.state]), facecolors=colour, edgecolors=colour, linewidth=thin,
            # A transmission during receptions shows only its tip.
            zorder=2.05 if one.state == "transmitting" else 2 + 0.1 * STATES.index(one.state),
        )  # fmt: skip


def _means(axes: Axes, air: Air, span_s: Span) -> float:
    """Draws the mean power by state over bins, stacked; returns the bins' width in s."""
    edges = _edges(air, span_s)
    width = float(edges[1] - edges[0])
    below = np.zeros(len(edges) - 1)
    for one in air.stretches:
        # The state's total time before each edge.
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
    """Edges of the bins in s. If the radio sleeps regularly, bins are whole cycles, which avoids beats."""
    start, end = span_s
    wakes = air.wakes_s[(air.wakes_s >= start) & (air.wakes_s <= end)]
    width = (end - start) / _BINS
    if len(wakes) > _NAPS:
        every = _usual_nap(wakes)
        width = every * max(1, round(width / every))
    return np.asarray(start + width * np.arange(max(2, int((end - start) / width) + 1)), dtype=np.float64)


def _thinned(marks: Indices) -> Indices:
    """At most `_MOST_MARKS` of the marks, evenly thinned."""
    return marks[:: max(1, -(-len(marks) // _MOST_MARKS))]


def _size(packets: int) -> float:
    return 4.0 if packets <= 200 else 2.5 if packets <= 600 else 1.4
