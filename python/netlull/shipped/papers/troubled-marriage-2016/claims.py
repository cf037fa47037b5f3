"""The judges of the claims in claims.toml, and the numbers that show the effect of a reading."""

from __future__ import annotations

import numpy as np

from netlull.papers import Evidence, Headline

from . import disturbances, one_flow, over_time
from .measures import near_values, rate, recovery, reduction

JUDGES = {
    "T1": one_flow.nothing_happens,
    "T2": one_flow.large_rtt_rate,
    "T3": one_flow.small_mrci_costs,
    "T4": one_flow.recovery_times,
    "T5": one_flow.fewer_changes,
    "T6": disturbances.bursts_hurt,
    "T7": disturbances.large_mrci_is_worse,
    "T8": disturbances.bottleneck_milder,
    "T9": over_time.time_series,
    "T10": one_flow.relative_values,
    "T11": one_flow.more_loss,
    "T12": one_flow.equal_slopes,
    "T13": disturbances.other_bursts,
    "T14": over_time.arrivals_vary_more,
    "T15": disturbances.small_mrci_is_bad,
    "T16": disturbances.one_case_is_representative,
    "T17": over_time.smaller_gap,
    "T18": over_time.late_both_ways,
    "T19": over_time.fast_follows,
    "T20": disturbances.still_a_loss,
    "T21": disturbances.survives_in_numbers,
}
"""The judge of each claim."""


def _rate_headline(figure: str, rtt: float, mrci: float) -> Headline:
    label = f"{figure} mean rate, RTT {rtt:g}, mRCI {mrci:g}"
    return Headline(label, "Mb/s", lambda evidence: rate(evidence, figure, rtt, mrci) * 10)


def _reduction_headline(figure: str, rtt: float, mrci: float) -> Headline:
    label = f"{figure} reduction, RTT {rtt:g}, mRCI {mrci:g}"
    return Headline(label, "%", lambda evidence: reduction(evidence, figure, rtt, mrci).mean * 100)


def _recovery_headline(label: str, kind: str) -> Headline:
    def measure(evidence: Evidence) -> float:
        claim = next(claim for claim in evidence.paper.claims if claim.id == "T4")
        return recovery(evidence, kind, claim.tolerance).shortest_median_s

    return Headline(label, "s", measure)


def _near_headline(mrci: float) -> Headline:
    def measure(evidence: Evidence) -> float:
        return float(np.mean(near_values(evidence, "mean_rate_bps", mrci))) / 1e6

    return Headline(f"RTT near 100, mean rate, mRCI {mrci:g}", "Mb/s", measure)


HEADLINES = (
    _rate_headline("Fig. 2", 1, 1000),
    _rate_headline("Fig. 2", 10, 1000),
    _near_headline(10),
    _near_headline(1000),
    _reduction_headline("Fig. 2", 100, 10),
    _reduction_headline("Fig. 2", 100, 1000),
    _recovery_headline("T4 TCP+PC, at least", "mrci10"),
    _recovery_headline("T4 TCPonly, at least", "tcponly"),
    _rate_headline("Fig. 4", 100, 10),
    _reduction_headline("Fig. 4", 100, 10),
    _reduction_headline("Fig. 4", 100, 1000),
    _reduction_headline("Fig. 6", 100, 10),
    _reduction_headline("Fig. 6", 100, 1000),
)
"""The numbers that show the effect of a reading."""
