"""Points of scenarios times seeds: described once, run on all cores, resumed where they stopped."""

from netlull.sweep.axes import Axis, AxisPoint, Experiment
from netlull.sweep.design import Column, Design, Range
from netlull.sweep.execution import Progress, default_workers
from netlull.sweep.plan import Point, Sweep
from netlull.sweep.table import Cost, SweepResult, Window, window_words
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
    "window_words",
]
