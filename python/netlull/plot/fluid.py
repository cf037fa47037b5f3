"""Figures of the fluid model: the stable region of AWM, and its queues and those of packets around the bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull.errors import InputError
from netlull.plot.charts import Series, record
from netlull.plot.lines import log_x, log_y
from netlull.plot.style import COLOURS, DOUBLE_COLUMN, MARKERS, figure, legend_above, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from netlull.fluid import StabilityMap

__all__ = ["QueuePanel", "Swing", "both_sides_figure", "stability_figure", "swing_figure"]

_GROWTH_SHOWN = 1.0
"""Growth per round trip at which the colours saturate."""
_AXES = {
    "target_bytes": ("target T (kB)", 1e3),
    "round_trip_s": ("propagation round trip R (ms)", 1e-3),
    "flows": ("flows N", 1.0),
    "sender_delay_s": ("gateway to sender and back d (ms)", 1e-3),
    "burst_packets": ("packets of a flow in a row m", 1.0),
    "rate_bps": ("rate C (Mb/s)", 1e6),
    "mtu_bytes": ("MTU (B)", 1.0),
}


def stability_figure(maps: Sequence[StabilityMap], columns: int = 2) -> Figure:
    """A panel per map: growth per round trip in colour; the model's own bound and 1.707 T / R_0 as lines.

    Raises:
        InputError: there is no map.
    """
    if not maps:
        raise InputError("maps: is empty; expected at least one")
    rows = -(-len(maps) // columns)
    with styled():
        drawn = figure(DOUBLE_COLUMN, 2.5 * rows + 0.4)
        grid = drawn.subplots(rows, columns, squeeze=False)
        used = [axes for row in grid for axes in row]
        meshes = [_draw_map(axes, found) for axes, found in zip(used, maps, strict=False)]
        for axes in used[len(maps) :]:
            axes.set_axis_off()
        bar = drawn.colorbar(meshes[0], ax=used[: len(maps)], shrink=0.8, pad=0.01, extend="both")
        bar.set_label("growth per R₀ (below 0: dies out)")
        legend_above(drawn, used[: len(maps)])
    return drawn


def _draw_map(axes: Axes, found: StabilityMap) -> Any:
    label, unit = _AXES[found.axis]
    x, beta = found.x / unit, found.beta_bps / 1e6
    growth = found.growth_per_s * found.loaded_round_trip_s[None, :]
    mesh = axes.pcolormesh(
        x, beta, growth, cmap="PuOr_r", vmin=-_GROWTH_SHOWN, vmax=_GROWTH_SHOWN, shading="nearest", rasterized=True
    )
    lines = (
        ("bound, ACK-clocked senders", found.critical_bps, "-"),
        ("1.707 T / R₀", found.rate_bound_bps, (0, (4, 2))),
    )
    for name, values, style in lines:
        drawn = axes.plot(x, values / 1e6, color="black", linestyle=style, label=name)
        record(axes, Series(name, list(x), list(values / 1e6), colour=6, dashed=style != "-"), list(drawn))
    log_y(axes)
    if x[0] > 0 and x[-1] > 9 * x[0]:
        log_x(axes)
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(beta[0], beta[-1])
    axes.set_xlabel(label)
    axes.set_ylabel("β (Mb/s)")
    axes.grid(visible=False)
    return mesh


@dataclass(frozen=True)
class QueuePanel:
    """A side of the bound: the queue in packets over time in s, from packets and (if given) from the fluid model."""

    title: str
    packets: tuple[npt.NDArray[Any], npt.NDArray[Any]]
    fluid: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None
    target_packets: float
    buffer_packets: float


def both_sides_figure(panels: Sequence[QueuePanel], columns: int = 2) -> Figure:
    """A panel per beta: the queue in packets over time in s, the fluid's queue over it, target and buffer as lines."""
    rows = -(-len(panels) // columns)
    with styled():
        drawn = figure(DOUBLE_COLUMN, 1.9 * rows + 0.4)
        grid = drawn.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        used = [axes for row in grid for axes in row]
        for axes, panel in zip(used, panels, strict=False):
            _draw_queue(axes, panel)
        for axes in used[len(panels) :]:
            axes.set_axis_off()
        for axes in grid[-1]:
            axes.set_xlabel("time (s)")
        for row in grid:
            row[0].set_ylabel("queue (packets)")
        legend_above(drawn, used[: len(panels)])
    return drawn


def _draw_queue(axes: Axes, panel: QueuePanel) -> None:
    curves = [("packets", panel.packets, 0, 0.8)]
    if panel.fluid is not None:
        curves.append(("fluid model", panel.fluid, 1, 1.1))
    for name, (time, queue), colour, width in curves:
        drawn = axes.plot(time, queue, color=COLOURS[colour], linewidth=width, label=name)
        record(axes, Series(name, [float(t) for t in time], [float(q) for q in queue], colour=colour), list(drawn))
    axes.axhline(panel.target_packets, color=COLOURS[6], linewidth=0.8, linestyle=(0, (4, 2)), label="target T")
    axes.axhline(panel.buffer_packets, color=COLOURS[6], linewidth=0.8, linestyle=(0, (1, 1)), label="buffer")
    axes.set_title(panel.title, loc="left")
    axes.set_ylim(-0.03 * panel.buffer_packets, 1.1 * panel.buffer_packets)


@dataclass(frozen=True)
class Swing:
    """A case: the variation of its queue, as a fraction of the target, over multiples of a bound on beta."""

    label: str
    multiples: Sequence[float]
    swing: Sequence[float]
    colour: int = 0


def swing_figure(groups: Sequence[tuple[str, Sequence[Swing]]]) -> Figure:
    """A panel per bound: standard deviation of the queue over T against beta in multiples of the bound."""
    with styled():
        drawn = figure(DOUBLE_COLUMN, 3.0)
        grid = drawn.subplots(1, len(groups), squeeze=False, sharey=True)[0]
        for axes, (title, curves) in zip(grid, groups, strict=True):
            axes.axvline(1.0, color="black", linewidth=1.0)
            for curve in curves:
                lines = axes.plot(
                    curve.multiples,
                    curve.swing,
                    color=COLOURS[curve.colour % len(COLOURS)],
                    marker=MARKERS[curve.colour % len(MARKERS)],
                    linewidth=0.8,
                    alpha=0.8,
                    label=curve.label,
                )
                series = Series(curve.label, list(curve.multiples), list(curve.swing), colour=curve.colour)
                record(axes, series, list(lines))
            log_x(axes)
            axes.set_xlabel("β / bound")
            axes.set_title(title, loc="left")
        grid[0].set_ylabel("standard deviation of the queue / T")
        legend_above(drawn, grid, columns=4)
    return drawn
