"""Pictures of episodes, with the package's panels of quantities over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netlull.errors import needs

with needs("plot"):
    from netlull.plot.series import Trace, draw_traces
    from netlull.plot.style import figure, legend_above, styled

if TYPE_CHECKING:
    from netlull.gym.panels import Panel

__all__ = ["picture"]

_HEIGHT = 1.75


def picture(panels: list[Panel]) -> npt.NDArray[np.uint8]:
    """The panels as an array of pixels: height, width, and red, green and blue."""
    with styled():
        drawn = figure(height=0.6 + _HEIGHT * len(panels))
        grid = list(drawn.subplots(len(panels), 1, squeeze=False, sharex=True)[:, 0])
        for axes, panel in zip(grid, panels, strict=True):
            traces = [Trace(*line) for line in panel.lines]
            end = max(float(trace.time_s[-1]) for trace in traces)
            draw_traces(axes, traces, panel.title, panel.label, (0.0, max(end, 1e-9)))
            axes.label_outer()
        legend_above(drawn, grid)
        drawn.canvas.draw()
        pixels = np.asarray(drawn.canvas.buffer_rgba())  # type: ignore[attr-defined]
    return np.ascontiguousarray(pixels[:, :, :3])
