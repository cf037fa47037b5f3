"""An upper bound of the rate that practRA can reach, from its conditions for a step up and the size of the buffer.

A buffer counts packets, and this bound assumes 1500 B for every queued packet. With web load many packets are shorter
(SYNs, last segments). A full buffer then holds fewer bits, and the simulated rate may stay below the bound.
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
    """The largest backlog in bits of a buffer of `bdp` bandwidth-delay products: whole packets of 1500 B."""
    return max(math.floor(bdp * BDP_PACKETS + 0.5), FLOOR_PACKETS) * PACKET_BITS


def highest_rate(buffer: float, d: float, forecast: float, rates: Sequence[float] = RATES_BPS) -> float:
    """An upper bound in bit/s of the rate that practRA reaches from the lowest rate.

    A step from r_i to r_(i+1) needs q / r_i > d or (delta rf + q) / r_(i+1) > d - delta. The queue q is at most the
    buffer B. The step is therefore possible only while r_i < B / d or r_(i+1) < (B + delta rf) / (d - delta). Once
    the link has stepped down, it never returns above this bound.
    """
    reached = rates[0]
    for higher in rates[1:]:
        if buffer / reached > d or (TRANSITION_S * forecast + buffer) / higher > d - TRANSITION_S:
            reached = higher
        else:
            break
    return reached
