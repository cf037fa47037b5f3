"""Fluid models: what delay-differential equations say of a mechanism, beside the packets.

`AwmFluid` is Active Window Management with window-limited flows (docs/models/g-router.md, "Fluid model").
The linear theory needs NumPy and SciPy alone; `AwmFluid.solve` needs the extra `netlull[fluid]`.
"""

from __future__ import annotations

from netlull.fluid.awm import AwmFluid
from netlull.fluid.integrate import FluidRun
from netlull.fluid.loop import Crossing, Loop
from netlull.fluid.maps import MAP_AXES, StabilityMap, stability_map

__all__ = ["MAP_AXES", "AwmFluid", "Crossing", "FluidRun", "Loop", "StabilityMap", "stability_map"]
