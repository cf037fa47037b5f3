"""Active Window Management as a fluid: g-router section 2.1 with N window-limited flows on a link of fixed rate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self, get_args

from netlull.errors import InputError
from netlull.fluid.checks import is_number
from netlull.fluid.loop import Crossing, Loop

if TYPE_CHECKING:
    from netlull.fluid.integrate import FluidRun

__all__ = ["Arrivals", "AwmFluid"]

Arrivals = Literal["ack_clock", "rate"]
"""How windows become arrivals: see `AwmFluid.arrivals`."""


@dataclass(frozen=True)
class AwmFluid:
    """N flows whose windows AWM sets, through a queue of fixed rate.

    The window that is written into acknowledgements, in bytes (g-router section 2.1, equations (1) and (2)):

        swnd' = (-q' + beta (T - q) / T) / N,   not below one MTU.

    Windows of nothing but data are meant: congestion windows, losses' effect on them and headers are left out.
    """

    rate_bps: float
    """C: the rate of the link, in b/s."""
    flows: float
    """N: how many flows, and how many AWM takes them for."""
    round_trip_s: float
    """R: propagation there and back, without any queue, in s."""
    target_bytes: float
    """T: the queue to keep, in bytes."""
    beta_bps: float
    """beta at C, in b/s."""
    buffer_bytes: float = math.inf
    """B: what the queue holds at most, in bytes."""
    mtu_bytes: float = 1000.0
    """One packet, and the floor of the window, in bytes."""
    sender_delay_s: float = 0.0
    """d: from the gateway to a sender and back to the queue, in s: a window written now acts there d later."""
    burst_packets: float | None = None
    """m: packets of one flow that arrive in a row. None: the whole window, as slow start leaves it."""
    segments_per_ack: float = 1.0
    """Segments that one acknowledgement stands for: 2 with delayed acknowledgements."""
    arrivals: Arrivals = "ack_clock"
    """How windows become arrivals.

    `ack_clock`: a sender may send up to acknowledgement + window, and learns both when an acknowledgement comes: what
    arrives is what has left the queue a round trip earlier and the change of the windows, d ago and older by up to the
    time between two acknowledgements of a flow.

    `rate`: N swnd(t - R_0) / (R + q / C), as in V. Misra, W. Gong, D. Towsley, Fluid-based analysis of a network of AQM
    routers, SIGCOMM 2000: every window in force one round trip R_0 later. Its bound is 1.707 T / R_0.
    """

    def __post_init__(self) -> None:
        """Checks every field."""
        for name in ("rate_bps", "flows", "round_trip_s", "target_bytes", "beta_bps", "mtu_bytes"):
            value = getattr(self, name)
            if not (is_number(value) and 0 < value < math.inf):
                raise InputError(f"{name}: is {value!r}; expected a number above zero")
        if not (is_number(self.buffer_bytes) and self.buffer_bytes > self.target_bytes):
            raise InputError(
                f"buffer_bytes: is {self.buffer_bytes!r}; expected more than target_bytes ({self.target_bytes:g})"
            )
        if not (is_number(self.sender_delay_s) and 0 <= self.sender_delay_s <= self.round_trip_s):
            raise InputError(
                f"sender_delay_s: is {self.sender_delay_s!r}; expected 0 to round_trip_s ({self.round_trip_s:g})"
            )
        if not (is_number(self.segments_per_ack) and 1 <= self.segments_per_ack < math.inf):
            raise InputError(f"segments_per_ack: is {self.segments_per_ack!r}; expected a number from 1")
        if self.burst_packets is not None and not (is_number(self.burst_packets) and self.burst_packets >= 1):
            raise InputError(f"burst_packets: is {self.burst_packets!r}; expected a number from 1, or None")
        if self.arrivals not in get_args(Arrivals):
            raise InputError(f"arrivals: is {self.arrivals!r}; expected {' or '.join(get_args(Arrivals))}")

    @property
    def rate(self) -> float:
        """C in bytes/s."""
        return self.rate_bps / 8

    @property
    def loaded_round_trip_s(self) -> float:
        """R_0 = R + T / C: the round trip with the queue at its target, in s."""
        return self.round_trip_s + self.target_bytes / self.rate

    @property
    def window_bytes(self) -> float:
        """The suggested window in equilibrium: (C R + T) / N, in bytes."""
        return self.rate * self.loaded_round_trip_s / self.flows

    @property
    def in_control(self) -> bool:
        """Whether the equilibrium window lies above the floor of one MTU: N MTU < C R + T."""
        return self.window_bytes > self.mtu_bytes

    @property
    def burst(self) -> float:
        """m: `burst_packets`, at most a window; a window if that is None."""
        window = max(self.window_bytes / self.mtu_bytes, 1.0)
        return window if self.burst_packets is None else min(self.burst_packets, window)

    @property
    def b_per_s(self) -> float:
        """Beta / T in 1/s, beta in bytes/s."""
        return self.beta_bps / 8 / self.target_bytes

    @property
    def ack_gaps_s(self) -> tuple[float, float, float]:
        """(delta, g, Delta) in s: between acknowledgements in a burst, to the next burst, and from burst to burst.

        A burst of m packets takes m MTU / C, and each of N flows sends one in turn: Delta = N m MTU / C. With k
        segments to an acknowledgement delta = k MTU / C, m / k acknowledgements come in a burst, and
        g = Delta - (m / k - 1) delta.
        """
        packet = self.mtu_bytes / self.rate
        every = self.flows * self.burst * packet
        inside = min(self.segments_per_ack, self.burst) * packet
        return inside, every - (self._acks - 1) * inside, every

    @property
    def _acks(self) -> float:
        """Acknowledgements in a burst."""
        return max(self.burst / self.segments_per_ack, 1.0)

    @property
    def window_age_s(self) -> float:
        """How long ago the windows in force were set, on average, at the sender: sum gap^2 / (2 Delta), in s."""
        inside, between, every = self.ack_gaps_s
        return ((self._acks - 1) * inside**2 + between**2) / (2 * every)

    @property
    def arrival_taps(self) -> tuple[tuple[float, float], ...]:
        """The taps (delay in s, gain in 1/s) of arrivals' dependence on N swnd.

        With `ack_clock` a flow's window is that of its last acknowledgement. The age of that is spread evenly over the
        gaps between them, so the sum of windows in force is a moving average, and its derivative a difference:

            sum_i gap_i / Delta (W(t - d) - W(t - d - gap_i)) / gap_i
              = ((m - 1) (W(t - d) - W(t - d - delta)) + W(t - d) - W(t - d - g)) / Delta.
        """
        if self.arrivals == "rate":
            return ((self.loaded_round_trip_s, 1 / self.loaded_round_trip_s),)
        inside, between, every = self.ack_gaps_s
        delay, acks = self.sender_delay_s, self._acks
        taps = ((delay, acks / every), (delay + inside, (1 - acks) / every), (delay + between, -1 / every))
        return tuple(tap for tap in taps if tap[1] != 0.0)

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
        from netlull.fluid.integrate import integrate

        return integrate(self, duration_s, from_bytes, step_s)


def rate_model_constant() -> float:
    """omega^2 where omega tan(omega / 2) = 1: 1.70705."""
    from scipy.optimize import brentq

    return float(brentq(lambda omega: omega * math.tan(omega / 2) - 1, 1.0, 2.0, xtol=1e-15)) ** 2
