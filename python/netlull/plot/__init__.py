"""Figures in one style: colour-blind-safe, units in every label, the same bytes for the same input.

No function here opens a window or needs a display.
"""

from netlull.errors import needs

with needs("plot"):
    import matplotlib  # noqa: F401  # every module below needs it

from netlull.plot.air import Air, Stretch, air_of
from netlull.plot.charts import Chart, Series, charts_of, record
from netlull.plot.cwnd import Windows, cwnd_figure, windows_of
from netlull.plot.doze import doze_figure
from netlull.plot.lines import Curve, Panel, draw_curves, log_x, log_y, panel_grid
from netlull.plot.link import link_figure
from netlull.plot.map import network_map
from netlull.plot.overlay import overlay_figure
from netlull.plot.run import run_figures
from netlull.plot.saving import save_all
from netlull.plot.series import Trace, bin_rate, draw_traces, shade
from netlull.plot.style import (
    COLOURS,
    DOUBLE_COLUMN,
    SINGLE_COLUMN,
    figure,
    legend_above,
    save,
    save_as,
    styled,
    svg_text,
)
from netlull.plot.sweep import mark_points, sweep_figure

__all__ = [
    "COLOURS",
    "DOUBLE_COLUMN",
    "SINGLE_COLUMN",
    "Air",
    "Chart",
    "Curve",
    "Panel",
    "Series",
    "Stretch",
    "Trace",
    "Windows",
    "air_of",
    "bin_rate",
    "charts_of",
    "cwnd_figure",
    "doze_figure",
    "draw_curves",
    "draw_traces",
    "figure",
    "legend_above",
    "link_figure",
    "log_x",
    "log_y",
    "mark_points",
    "network_map",
    "overlay_figure",
    "panel_grid",
    "record",
    "run_figures",
    "save",
    "save_all",
    "save_as",
    "shade",
    "styled",
    "svg_text",
    "sweep_figure",
    "windows_of",
]
