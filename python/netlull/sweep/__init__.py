"""Points of scenarios times seeds: described once, run on all cores, resumed after an interruption."""

from netlull.runs.team import Cost, Progress, default_workers
from netlull.sweep.axes import Axis, AxisPoint, Experiment
from netlull.sweep.design import Column, Design, Range
from netlull.sweep.plan import Sweep
from netlull.sweep.points import Point
from netlull.sweep.table import SweepResult, Window, measured_seconds, window_words
from netlull.sweep.until import Condition, Until

__all__ = [
    "Axis",
    "AxisPoint",
    "Column",
    "Condition",
    "Cost",
    "Design",
    "Experiment",
    "Point",
    "Progress",
    "Range",
    "Sweep",
    "SweepResult",
    "Until",
    "Window",
    "default_workers",
    "measured_seconds",
    "window_words",
]
