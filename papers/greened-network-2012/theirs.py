"""What the paper prints: Tables IV and V."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netlull.papers import Evidence

WIRE_MBPS = 1.04e-6
"""From bit/s of data to Mb/s with headers, 1040 B for every 1000 B: Table IV has cells above the 19.23 Mb/s of data that 20 Mb/s can carry."""

State = str | int
"""`before`, or the threshold (%)."""

TABLE_IV: dict[str, dict[State, float]] = {
    "Tahoe": {"before": 18.11, 50: 12.42, 70: 12.81, 90: 13.19},
    "Reno": {"before": 20.82, 50: 15.62, 70: 15.91, 90: 16.27},
    "NewReno": {"before": 21.51, 50: 15.30, 70: 15.51, 90: 15.96},
    "BIC": {"before": 27.23, 50: 19.07, 70: 19.62, 90: 20.16},
    "CUBIC": {"before": 26.26, 50: 19.96, 70: 20.19, 90: 20.49},
    "Vegas": {"before": 26.72, 50: 0.1, 70: 0.32, 90: 19.02},
}
"""Average throughput (Mb/s)."""

TABLE_V = {
    90: ("9-10", "3-9"),
    80: ("9-10", "3-9"),
    70: ("9-10", "3-9", "2-8"),
    60: ("9-10", "3-9", "2-8"),
    50: ("9-10", "3-9", "2-8", "1-5"),
}
"""The links that are switched off, in order."""
ENERGY_PERCENT = {90: 13.3, 80: 13.3, 70: 20.0, 60: 20.0, 50: 26.7}
WATTS = {90: 4368.0, 50: 9072.0}


def off(evidence: Evidence, threshold: int) -> tuple[str, ...]:
    """The links that our plan puts to sleep, in order."""
    slept = evidence.series[f"plan-{threshold}"].summary["routing"]["sleep"]
    return tuple(entry["link"] for entry in slept)
