"""How high practRA can climb at most: what its conditions for a step up ask of a queue that the buffer bounds.

An upper bound: a buffer counts packets, and every waiting packet is taken to be 1500 B here. With web load many are
shorter (SYNs, last segments): a full buffer holds fewer bits, and the simulator may stay below.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

RATES_BPS = tuple(float(rate) * 1e6 for rate in range(1, 11))
TRANSITION_S = 0.002
PACKET_BITS = 12_000
BDP_PACKETS = 10e6 * 0.050 / PACKET_BITS
FLOOR_PACKETS = 5


def buffer_bits(bdp: float) -> float:
    """The most that may wait in a buffer of so many bandwidth-delay products: its whole packets, each of 1500 B."""
    return max(math.floor(bdp * BDP_PACKETS + 0.5), FLOOR_PACKETS) * PACKET_BITS


def highest_rate(buffer: float, d: float, forecast: float, rates: Sequence[float] = RATES_BPS) -> float:
    """The rate above which practRA cannot climb from the lowest, in bit/s: an upper bound of what it reaches.

    A step from r_i to r_(i+1) needs q / r_i > d or (delta rf + q) / r_(i+1) > d - delta, and q is at most the buffer:
    it can be taken only while r_i < B / d or r_(i+1) < (B + delta rf) / (d - delta). Once the link has stepped down, it
    never comes back above this.
    """
    reached = rates[0]
    for higher in rates[1:]:
        if buffer / reached > d or (TRANSITION_S * forecast + buffer) / higher > d - TRANSITION_S:
            reached = higher
        else:
            break
    return reached
