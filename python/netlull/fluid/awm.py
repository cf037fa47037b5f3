"""Active Window Management as a fluid: g-router section 2.1 with N window-limited flows on a link of fixed rate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from netlull.errors import InputError, needs
from netlull.fluid.checks import is_number
from netlull.fluid.integrate import FluidRun, integrate
from netlull.fluid.loop import Crossing, Loop
from netlull.fluid.parameters import Arrivals, AwmParameters

__all__ = ["Arrivals", "AwmFluid"]


@dataclass(frozen=True)
class AwmFluid(AwmParameters):
    """N flows whose windows AWM sets, through a queue of fixed rate.

    The window that is written into acknowledgements, in bytes (g-router section 2.1, equations (1) and (2)):

        swnd' = (-q' + beta (T - q) / T) / N,   not below one MTU.

    Windows of nothing but data are meant: congestion windows, losses' effect on them and headers are left out.
    """

    @cached_property
    def loop(self) -> Loop:
        """The linear loop about the target."""
        leak = 1 / self.loaded_round_trip_s if self.arrivals == "rate" else 0.0
        return Loop(leak, self.arrival_taps)

    @cached_property
    def crossing(self) -> Crossing:
        """Where stability is lost as beta grows."""
        return self.loop.crossing

    def critical_beta_bps(self) -> float:
        """The smallest beta at which the linear loop oscillates for ever, in b/s; stable below."""
        return self.crossing.b_per_s * self.target_bytes * 8

    def rate_bound_bps(self) -> float:
        """The closed form of the model `rate`: omega^2 T / R_0 with omega tan(omega / 2) = 1, that is 1.70705 T / R_0.

        In b/s. With z = s R_0 and k = b R_0 its characteristic equation is z^2 + z + (z + k) exp(-z) = 0; z = j omega
        gives k = omega cot(omega / 2) from the imaginary part and omega = cot(omega / 2) from the real one.
        """
        return rate_model_constant() * self.target_bytes / self.loaded_round_trip_s * 8

    @property
    def stable(self) -> bool:
        """Whether small disturbances die out: beta below `critical_beta_bps`."""
        return self.b_per_s < self.crossing.b_per_s

    def eigenvalue(self) -> complex:
        """The rightmost root of the characteristic equation, in 1/s: growth rate and angular frequency."""
        return self.loop.rightmost(self.b_per_s)

    def critical_period_s(self) -> float:
        """The period of the oscillation at the critical beta, in s."""
        return 2 * math.pi / self.crossing.omega_per_s

    def period_s(self) -> float:
        """The period of the slowest-dying (or fastest-growing) disturbance, in s; infinite if it does not oscillate."""
        omega = self.eigenvalue().imag
        return 2 * math.pi / omega if omega > 0 else math.inf

    def settling_time_s(self, remaining: float = 0.05) -> float:
        """When a small disturbance has fallen to `remaining` of itself, in s; infinite if it never does."""
        if not (is_number(remaining) and 0 < remaining < 1):
            raise InputError(f"remaining: is {remaining!r}; expected a number between 0 and 1")
        growth = self.eigenvalue().real
        return -math.log(remaining) / -growth if growth < 0 else math.inf

    def with_beta(self, beta_bps: float) -> Self:
        """The same with another beta, in b/s; what does not depend on beta is kept."""
        changed = replace(self, beta_bps=beta_bps)
        changed.__dict__["loop"] = self.loop
        return changed

    def solve(self, duration_s: float, *, from_bytes: float | None = None, step_s: float | None = None) -> FluidRun:
        """Integrates the nonlinear equations from a queue that had settled at `from_bytes` (default 0.9 T).

        The windows and the link are in equilibrium with that queue before 0 s. One value per `step_s` (default a
        fiftieth of R_0). Needs `netlull[fluid]`.
        """
        return integrate(self, duration_s, from_bytes, step_s)


def rate_model_constant() -> float:
    """omega^2 where omega tan(omega / 2) = 1: 1.70705."""
    with needs("statistics"):
        from scipy.optimize import brentq

    return float(brentq(lambda omega: omega * math.tan(omega / 2) - 1, 1.0, 2.0, xtol=1e-15)) ** 2
