"""Pictures of episodes, with the package's panels of quantities over time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netlull.errors import needs

with needs("plot"):
    from netlull.plot.series import Trace, draw_traces
    from netlull.plot.style import figure, legend_above, styled

__all__ = ["Panel", "Trace", "held", "picture"]

_HEIGHT = 1.75


class Panel(NamedTuple):
    """A panel: its title, the label of its axis, and its traces."""

    title: str
    label: str
    traces: list[Trace]


def picture(panels: list[Panel]) -> npt.NDArray[np.uint8]:
    """The panels as an array of pixels: height, width, and red, green and blue."""
    with styled():
        drawn = figure(height=0.6 + _HEIGHT * len(panels))
        grid = list(drawn.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0])
        for axes, panel in zip(grid, panels, strict=True):
            end = max(float(trace.time_s[-1]) for trace in panel.traces)
            draw_traces(axes, panel.traces, panel.title, panel.label, (0.0, max(end, 1e-9)))
            axes.label_outer()
        legend_above(drawn, grid)
        drawn.canvas.draw()
        pixels = np.asarray(drawn.canvas.buffer_rgba())  # type: ignore[attr-defined]
    return np.ascontiguousarray(pixels[:, :, :3])


def held(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The decisions of steps, from the values at their ends: a decision holds from the tick before."""
    return np.append(values[1:], values[-1])
