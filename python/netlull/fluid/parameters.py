"""The parameters of AWM as a fluid, and their equilibrium: g-router section 2.1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from netlull.errors import InputError
from netlull.fluid.checks import is_number

__all__ = ["Arrivals", "AwmParameters"]

Arrivals = Literal["ack_clock", "rate"]
"""The model of arrivals from windows: see `AwmParameters.arrivals`."""


@dataclass(frozen=True)
class AwmParameters:
    """The fields of `AwmFluid`, checked."""

    rate_bps: float
    """C: the rate of the link, in b/s."""
    flows: float
    """N: the number of flows, and AWM's count of them."""
    round_trip_s: float
    """R: the round-trip propagation delay, without queues, in s."""
    target_bytes: float
    """T: the target queue, in bytes."""
    beta_bps: float
    """beta at C, in b/s."""
    buffer_bytes: float = math.inf
    """B: the capacity of the queue, in bytes."""
    mtu_bytes: float = 1000.0
    """The packet size, and the floor of the window, in bytes."""
    sender_delay_s: float = 0.0
    """d: the delay from the gateway to a sender and back to the queue, in s. A window acts there d after its change."""
    burst_packets: float | None = None
    """m: packets of one flow that arrive in a row. None: the whole window, as slow start leaves it."""
    segments_per_ack: float = 1.0
    """Segments per acknowledgement: 2 with delayed acknowledgements."""
    arrivals: Arrivals = "ack_clock"
    """The model of arrivals from windows.

    `ack_clock`: a sender may send up to acknowledgement + window, and learns both from an acknowledgement. Arrivals are
    the departures of a round trip earlier plus the change of the windows. That change is older than d by up to the time
    between two acknowledgements of a flow.

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
        """True if the equilibrium window is above the floor of one MTU: N MTU < C R + T."""
        return self.window_bytes > self.mtu_bytes

    @property
    def burst(self) -> float:
        """m: `burst_packets`, at most a window; a whole window if that is None."""
        window = max(self.window_bytes / self.mtu_bytes, 1.0)
        return window if self.burst_packets is None else min(self.burst_packets, window)

    @property
    def b_per_s(self) -> float:
        """Beta / T in 1/s, with beta in bytes/s."""
        return self.beta_bps / 8 / self.target_bytes

    @property
    def ack_gaps_s(self) -> tuple[float, float, float]:
        """(delta, g, Delta) in s: the gaps between acknowledgements in a burst, to the next burst, and between bursts.

        A burst of m packets takes m MTU / C, and each of N flows sends one in turn: Delta = N m MTU / C. With k
        segments per acknowledgement, delta = k MTU / C, a burst has m / k acknowledgements, and g = Delta - (m / k - 1)
        delta.
        """
        packet = self.mtu_bytes / self.rate
        every = self.flows * self.burst * packet
        inside = min(self.segments_per_ack, self.burst) * packet
        return inside, every - (self._acks - 1) * inside, every

    @property
    def _acks(self) -> float:
        """Acknowledgements per burst."""
        return max(self.burst / self.segments_per_ack, 1.0)

    @property
    def window_age_s(self) -> float:
        """The mean age of the windows in force, at the sender: sum gap^2 / (2 Delta), in s."""
        inside, between, every = self.ack_gaps_s
        return ((self._acks - 1) * inside**2 + between**2) / (2 * every)

    @property
    def arrival_taps(self) -> tuple[tuple[float, float], ...]:
        """The taps (delay in s, gain in 1/s) of the arrivals' dependence on N swnd.

        With `ack_clock` a flow's window is that of its last acknowledgement. Its age is uniform over the gaps between
        acknowledgements. So the sum of windows in force is a moving average, and its derivative a difference:

            sum_i gap_i / Delta (W(t - d) - W(t - d - gap_i)) / gap_i
              = ((m - 1) (W(t - d) - W(t - d - delta)) + W(t - d) - W(t - d - g)) / Delta.
        """
        if self.arrivals == "rate":
            return ((self.loaded_round_trip_s, 1 / self.loaded_round_trip_s),)
        inside, between, every = self.ack_gaps_s
        delay, acks = self.sender_delay_s, self._acks
        taps = ((delay, acks / every), (delay + inside, (1 - acks) / every), (delay + between, -1 / every))
        return tuple(tap for tap in taps if tap[1] != 0.0)
