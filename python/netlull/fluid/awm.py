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

    Windows consist of data alone. The model has no congestion windows, no effect of losses on them, and no headers.

    Example:
        >>> awm = AwmFluid(
        ...     rate_bps=10e6,
        ...     flows=20,
        ...     round_trip_s=0.1,
        ...     target_bytes=50e3,
        ...     beta_bps=1e6,
        ...     buffer_bytes=100e3,
        ...     mtu_bytes=1000,
        ...     sender_delay_s=0.002,
        ... )
        >>> awm.stable, round(awm.critical_beta_bps() / 1e6, 1)
        (True, 27.3)
    """

    @cached_property
    def loop(self) -> Loop:
        """The linear loop about the target."""
        leak = 1 / self.loaded_round_trip_s if self.arrivals == "rate" else 0.0
        return Loop(leak, self.arrival_taps)

    @cached_property
    def crossing(self) -> Crossing:
        """The loss of stability as beta grows."""
        return self.loop.crossing

    def critical_beta_bps(self) -> float:
        """The smallest beta, in b/s, at which the linear loop oscillates for ever. It is stable below."""
        return self.crossing.b_per_s * self.target_bytes * 8

    def rate_bound_bps(self) -> float:
        """The closed form of the model `rate`, in b/s: 1.70705 T / R_0.

        It is omega^2 T / R_0 with omega tan(omega / 2) = 1.

        With z = s R_0 and k = b R_0 its characteristic equation is z^2 + z + (z + k) exp(-z) = 0. z = j omega gives k =
        omega cot(omega / 2) from the imaginary part and omega = cot(omega / 2) from the real one.
        """
        return rate_model_constant() * self.target_bytes / self.loaded_round_trip_s * 8

    @property
    def stable(self) -> bool:
        """True if small disturbances decay: below `critical_beta_bps`, or above it with no root on the right."""
        return self.b_per_s < self.crossing.b_per_s or self.eigenvalue().real < 0

    def eigenvalue(self) -> complex:
        """The rightmost root of the characteristic equation, in 1/s: growth rate and angular frequency."""
        return self.loop.rightmost(self.b_per_s)

    def critical_period_s(self) -> float:
        """The period of the oscillation at the critical beta, in s."""
        return 2 * math.pi / self.crossing.omega_per_s

    def period_s(self) -> float:
        """The period of the slowest-decaying (or fastest-growing) disturbance, in s; infinite without oscillation."""
        omega = self.eigenvalue().imag
        return 2 * math.pi / omega if omega > 0 else math.inf

    def settling_time_s(self, remaining: float = 0.05) -> float:
        """The time until a small disturbance falls to the fraction `remaining`, in s; infinite if it never does.

        Raises:
            InputError: `remaining` is not between 0 and 1.
        """
        if not (is_number(remaining) and 0 < remaining < 1):
            raise InputError(f"remaining: is {remaining!r}; expected a number between 0 and 1")
        growth = self.eigenvalue().real
        return -math.log(remaining) / -growth if growth < 0 else math.inf

    def with_beta(self, beta_bps: float) -> Self:
        """The same model with another beta, in b/s. Results that do not depend on beta are kept.

        Raises:
            InputError: beta is not above zero.
        """
        changed = replace(self, beta_bps=beta_bps)
        changed.__dict__["loop"] = self.loop
        return changed

    def solve(self, duration_s: float, *, from_bytes: float | None = None, step_s: float | None = None) -> FluidRun:
        """Integrates the nonlinear equations from a queue settled at `from_bytes` (default 0.9 T).

        The windows and the link are in equilibrium with that queue before 0 s. Needs `netlull[fluid]`.

        Args:
            duration_s: the integrated time, in s.
            from_bytes: the queue at 0 s, in bytes.
            step_s: the time between two values of the result, in s; default R_0 / 50.

        Raises:
            InputError: an argument is out of range, or the extra is not installed.
        """
        return integrate(self, duration_s, from_bytes, step_s)


def rate_model_constant() -> float:
    """omega^2 where omega tan(omega / 2) = 1: 1.70705."""
    with needs("statistics"):
        from scipy.optimize import brentq

    return float(brentq(lambda omega: omega * math.tan(omega / 2) - 1, 1.0, 2.0, xtol=1e-15)) ** 2
