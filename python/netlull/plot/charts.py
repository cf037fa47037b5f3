"""Data of figures: the interactive figures of report pages use the same objects as the drawn ones.

A drawing function calls `record` with its series. `charts_of` reads the series back, with the final titles, labels,
scales and limits of the axes. Plain lines need no record. A figure with any other unrecorded element has no charts and
stays a picture: an interactive figure never shows less than the drawn one.
"""

from __future__ import annotations

import itertools
import math
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib.colors import to_hex

from netlull.plot.style import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

__all__ = ["Chart", "Series", "charts_of", "record"]

_MOST_POINTS = 4000
"""The most points of a series. Longer ones are thinned to the extremes of a quarter as many parts of the time."""
_DIGITS = 7
"""Significant digits of numbers in a page: more than a screen shows."""

Kind = Literal["line", "steps", "points", "bars", "stretch"]


@dataclass(frozen=True)
class Series:
    """A series: a value at each x.

    `bars` start at `low` and have the height `y`. A `stretch` is shaded between its two x, behind all others, and has
    no values. For other kinds, `low` to `high` is an interval.
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    n: Sequence[int] = ()
    colour: int | str = 0
    """An index into the palette, or a colour."""
    kind: Kind = "line"
    dashed: bool = False
    thinned: bool = False


@dataclass(frozen=True)
class Chart:
    """A set of axes with its series. `names` are the ticks of an axis of names."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    log_x: bool = False
    log_y: bool = False
    names: Sequence[str] = ()

    def document(self) -> dict[str, Any]:
        """The document for the page's script. Numbers that are not finite become null."""
        return {
            "title": self.title,
            "x": self.x_label,
            "y": self.y_label,
            "xr": _numbers(self.x_range),
            "yr": _numbers(self.y_range),
            "logX": self.log_x,
            "logY": self.log_y,
            "names": list(self.names),
            "series": [_document(series) for series in self.series],
        }


def _document(series: Series) -> dict[str, Any]:
    return {
        "label": series.label,
        "c": series.colour,
        "kind": series.kind,
        "dash": series.dashed,
        "thin": series.thinned,
        "px": _numbers(series.x),
        "py": _numbers(series.y),
        "lo": _numbers(series.low),
        "hi": _numbers(series.high),
        "n": [int(value) for value in series.n],
    }


def _numbers(values: Iterable[float]) -> list[float | int | None]:
    """Numbers with few digits, and whole numbers without a point: pages stay small."""
    rounded = [float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None for value in values]
    return [int(value) if value is not None and value.is_integer() else value for value in rounded]


_Told = list[tuple[Series, tuple["Artist", ...]]]
_TOLD: weakref.WeakKeyDictionary[Axes, _Told] = weakref.WeakKeyDictionary()
"""The recorded series of existing axes."""


def record(axes: Axes, series: Series, artists: Sequence[Artist]) -> None:
    """Records that these artists on the axes draw this series."""
    _TOLD.setdefault(axes, []).append((series, tuple(artists)))


def charts_of(drawn: Figure) -> list[Chart]:
    """The figure's charts, panel by panel; none if the figure has an unrecorded element."""
    charts = []
    for axes in drawn.axes:
        if not axes.axison:
            continue
        series = _series_on(axes)
        if series is None:
            return []
        if series:
            charts.append(_chart(axes, series))
    return charts


def _series_on(axes: Axes) -> list[Series] | None:
    told = _TOLD.get(axes, [])
    known = {id(artist) for _, artists in told for artist in artists}
    rest = [*axes.collections, *axes.patches, *axes.images, *axes.texts]
    if any(id(artist) not in known for artist in rest if artist.get_visible()):
        return None
    plain = [line for line in axes.lines if id(line) not in known]
    if any(line.get_transform() != axes.transData for line in plain):
        return None
    return [*(series for series, _ in told), *(_plain(line) for line in plain)]


def _plain(line: Line2D) -> Series:
    """The series of an unrecorded line."""
    label = str(line.get_label())
    colour = to_hex(line.get_color()).upper()
    palette = [known.upper() for known in COLOURS]
    kind: Kind = "steps" if line.get_drawstyle() == "steps-post" else "line"
    if line.get_linestyle() in {"None", "", " "}:
        kind = "points"
    return Series(
        "" if label.startswith("_") else label,
        np.asarray(line.get_xdata(), dtype=np.float64).tolist(),
        np.asarray(line.get_ydata(), dtype=np.float64).tolist(),
        colour=palette.index(colour) if colour in palette else colour,
        kind=kind,
        dashed=line.get_linestyle() not in {"-", "None", "", " "},
    )


def _chart(axes: Axes, series: Sequence[Series]) -> Chart:
    x_low, x_high = axes.get_xlim()
    y_low, y_high = axes.get_ylim()
    return Chart(
        _plain_text(axes.get_title(loc="left") or axes.get_title()),
        _plain_text(axes.get_xlabel() or _shared(axes, "x")),
        _plain_text(axes.get_ylabel() or _shared(axes, "y")),
        [_shown(one, x_low, x_high) for one in series],
        (float(x_low), float(x_high)),
        (float(y_low), float(y_high)),
        axes.get_xscale() == "log",
        axes.get_yscale() == "log",
        _names(axes),
    )


def _shared(axes: Axes, which: str) -> str:
    """The label of an axis without one, from axes that share it (panels with outer labels only)."""
    siblings = (axes.get_shared_x_axes() if which == "x" else axes.get_shared_y_axes()).get_siblings(axes)
    labels = [other.get_xlabel() if which == "x" else other.get_ylabel() for other in siblings]
    return next(filter(None, labels), "")


def _names(axes: Axes) -> list[str]:
    """The ticks of an axis of names: their own texts at 0, 1, 2, ..."""
    ticks = [float(tick) for tick in axes.get_xticks()]
    texts = [_plain_text(text.get_text()) for text in axes.get_xticklabels()]
    named = ticks == [float(place) for place in range(len(ticks))] and any(not _is_number(text) for text in texts)
    return texts if named else []


def _is_number(text: str) -> bool:
    try:
        float(text.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return not text
    return True


def _plain_text(text: str) -> str:
    """The text without mathematical markup and line breaks."""
    return text.replace("$", "").replace("\\,", " ").replace("\n", " ")


def _shown(series: Series, low: float, high: float) -> Series:
    """The part inside the axes, with one neighbour at each end. Very long series are thinned."""
    x, y = np.asarray(series.x, dtype=np.float64), np.asarray(series.y, dtype=np.float64)
    label = _plain_text(series.label)
    if series.kind not in {"line", "steps"} or not len(x) or series.low or np.any(np.diff(x) < 0):
        return _replaced(series, label, series.x, series.y, thinned=False)
    first = max(int(np.searchsorted(x, low, side="right")) - 1, 0)
    last = int(np.searchsorted(x, high, side="left")) + 1
    x, y = x[first:last], y[first:last]
    if len(x) <= _MOST_POINTS:
        return _replaced(series, label, x.tolist(), y.tolist(), thinned=False)
    kept = _extremes(y, _MOST_POINTS // 4)
    return _replaced(series, label, x[kept].tolist(), y[kept].tolist(), thinned=True)


def _replaced(series: Series, label: str, x: Sequence[float], y: Sequence[float], *, thinned: bool) -> Series:
    return Series(
        label, x, y, series.low, series.high, series.n, series.colour, series.kind, series.dashed, thinned=thinned
    )


def _extremes(values: np.ndarray, parts: int) -> np.ndarray:
    """The indices of the first, last, least and greatest value of each part."""
    edges = np.linspace(0, len(values), parts + 1).astype(np.int64)
    kept: set[int] = set()
    for start, end in itertools.pairwise(edges):
        part = values[start:end]
        kept |= {int(start), int(end - 1), int(start + np.nanargmin(part)), int(start + np.nanargmax(part))}
    return np.asarray(sorted(kept), dtype=np.int64)
