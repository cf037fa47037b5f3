"""Stability over a plane: beta and one other parameter of `AwmFluid`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netlull.errors import InputError
from netlull.fluid.checks import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from netlull.fluid.awm import AwmFluid

__all__ = ["MAP_AXES", "StabilityMap", "stability_map"]

MAP_AXES = ("target_bytes", "round_trip_s", "flows", "sender_delay_s", "burst_packets", "rate_bps", "mtu_bytes")
"""The parameters that can vary together with beta."""


@dataclass(frozen=True)
class StabilityMap:
    """Growth of small disturbances over beta and another parameter. Arrays: x has n values, beta_bps has m."""

    axis: str
    """The other parameter, one of `MAP_AXES`."""
    x: npt.NDArray[np.float64]
    """Its values, in the unit of the field."""
    beta_bps: npt.NDArray[np.float64]
    growth_per_s: npt.NDArray[np.float64]
    """The real part of the rightmost root, in 1/s: a row per beta, a column per x."""
    loaded_round_trip_s: npt.NDArray[np.float64]
    """R_0 at each x, in s."""
    critical_bps: npt.NDArray[np.float64]
    """The critical beta at each x, in b/s."""
    rate_bound_bps: npt.NDArray[np.float64]
    """1.707 T / R_0 at each x, in b/s."""


def stability_map(model: AwmFluid, axis: str, x: Sequence[float], beta_bps: Sequence[float]) -> StabilityMap:
    """The map of a model over `axis` and beta.

    Args:
        model: the other parameters.
        axis: one of `MAP_AXES`.
        x: the values of `axis`, in the unit of its field.
        beta_bps: the values of beta, in b/s.

    Raises:
        InputError: the axis is unknown, or a value is out of range for its field.
    """
    if axis not in MAP_AXES:
        raise InputError(f"axis: is {axis!r}; expected one of {', '.join(MAP_AXES)}")
    along, betas = numbers("x", x), numbers("beta_bps", beta_bps)
    changes: list[dict[str, Any]] = [{"buffer_bytes": math.inf, axis: value} for value in along]
    columns = [replace(model, **change) for change in changes]
    growth = [[column.with_beta(beta).eigenvalue().real for column in columns] for beta in betas]
    return StabilityMap(
        axis,
        np.array(along),
        np.array(betas),
        np.array(growth),
        np.array([column.loaded_round_trip_s for column in columns]),
        np.array([column.critical_beta_bps() for column in columns]),
        np.array([column.rate_bound_bps() for column in columns]),
    )
