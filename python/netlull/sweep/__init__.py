"""Grids of scenarios times seeds: described once, run on all cores, resumed where they stopped."""

from netlull.sweep.axes import Axis, AxisPoint, Experiment
from netlull.sweep.execution import Progress
from netlull.sweep.plan import Point, Sweep
from netlull.sweep.table import SweepResult

__all__ = ["Axis", "AxisPoint", "Experiment", "Point", "Progress", "Sweep", "SweepResult"]
