"""Fluid models: delay-differential equations of a mechanism, to compare with packet simulations.

`AwmFluid` is Active Window Management with window-limited flows (docs/models/g-router.md, "Fluid model"). The linear
theory needs only NumPy and SciPy; `AwmFluid.solve` needs the extra `netlull[fluid]`.
"""

from __future__ import annotations

from netlull.fluid.awm import AwmFluid
from netlull.fluid.integrate import FluidRun
from netlull.fluid.loop import Crossing, Loop
from netlull.fluid.maps import MAP_AXES, StabilityMap, stability_map

__all__ = ["MAP_AXES", "AwmFluid", "Crossing", "FluidRun", "Loop", "StabilityMap", "stability_map"]
