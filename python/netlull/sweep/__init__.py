"""Grids of scenarios times seeds: described once, run on all cores, resumed where they stopped."""

from netlull.sweep.axes import Axis, AxisPoint, Experiment
from netlull.sweep.execution import Progress, default_workers
from netlull.sweep.plan import Point, Sweep
from netlull.sweep.table import Cost, SweepResult

__all__ = ["Axis", "AxisPoint", "Cost", "Experiment", "Point", "Progress", "Sweep", "SweepResult", "default_workers"]
