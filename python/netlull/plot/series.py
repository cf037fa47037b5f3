"""Quantities over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from netlull.plot.charts import Kind, Series, record
from netlull.plot.style import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


def column(table: pa.Table, name: str) -> Floats:
    """A column as floats."""
    return np.asarray(table[name].to_numpy(), dtype=np.float64)


def rows_of(table: pa.Table, key: str, name: str) -> pa.Table:
    """The rows of one link or flow."""
    return table.filter(pc.equal(pc.cast(table[key], pa.string()), name))


@dataclass(frozen=True)
class Trace:
    """A quantity over time. With `steps`, each value holds until the next time."""

    label: str
    time_s: Floats
    value: Floats
    colour: int = 0
    steps: bool = False
    width: float = 1.0
    dashed: bool = False


def draw_traces(
    axes: Axes, traces: Sequence[Trace], title: str, y_label: str, window_s: tuple[float, float] | None = None
) -> None:
    """Draws traces over the given time window in s, or over the whole time."""
    for trace in traces:
        artists = axes.plot(
            trace.time_s,
            trace.value,
            label=trace.label,
            color=COLOURS[trace.colour % len(COLOURS)],
            linewidth=trace.width,
            drawstyle="steps-post" if trace.steps else "default",
            linestyle="--" if trace.dashed else "-",
        )
        record(axes, _series(trace), artists)
    axes.set_title(title, loc="left")
    axes.set_xlabel("Time (s)")
    axes.set_ylabel(y_label)
    axes.set_ylim(bottom=0)
    if window_s is not None:
        axes.set_xlim(*window_s)
    elif traces:
        axes.set_xlim(0, max(float(trace.time_s[-1]) for trace in traces if len(trace.time_s)))


def _series(trace: Trace) -> Series:
    kind: Kind = "steps" if trace.steps else "line"
    return Series(
        trace.label,
        trace.time_s.tolist(),
        trace.value.tolist(),
        colour=trace.colour % len(COLOURS),
        kind=kind,
        dashed=trace.dashed,
    )


def shade(axes: Axes, from_s: float, to_s: float, label: str) -> None:
    """Shades a time span in s over the axes' whole height. The height must be final."""
    low, high = axes.get_ylim()
    area = axes.fill_between([from_s, to_s], low, high, color="#dddddd", alpha=0.6, linewidth=0, zorder=0, label=label)
    axes.set_ylim(low, high)
    record(axes, Series(label, [from_s, to_s], [], colour="#dddddd", kind="stretch"), [area])


def bin_rate(time_s: Floats, amount_bytes: Floats, width_s: float) -> tuple[Floats, Floats]:
    """Sums bytes counted at the end of short bins into wider bins.

    Returns each wide bin's middle (s) and its mean rate (bit/s). An incomplete last bin is left out.
    """
    if len(time_s) == 0:
        return np.empty(0), np.empty(0)
    short_s = float(np.median(np.diff(time_s))) if len(time_s) > 1 else float(time_s[0])
    index = np.floor((time_s - short_s / 2) / width_s).astype(np.int64)
    full = int(np.floor(float(time_s[-1]) / width_s + 1e-9))
    sums = np.bincount(index, weights=amount_bytes, minlength=full)[:full]
    return np.asarray((np.arange(full) + 0.5) * width_s, dtype=np.float64), sums * 8 / width_s
