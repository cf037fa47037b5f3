"""The paper's printed numbers: Tables IV and V."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netlull.papers import Evidence

WIRE_MBPS = 1.04e-6
"""The factor from bit/s of data to Mb/s with headers, 1040 B for every 1000 B: readings.toml, `throughput`."""

State = str | int
"""The string `before`, or ESTOP's threshold in percent."""

TABLE_IV: dict[str, dict[State, float]] = {
    "Tahoe": {"before": 18.11, 50: 12.42, 70: 12.81, 90: 13.19},
    "Reno": {"before": 20.82, 50: 15.62, 70: 15.91, 90: 16.27},
    "NewReno": {"before": 21.51, 50: 15.30, 70: 15.51, 90: 15.96},
    "BIC": {"before": 27.23, 50: 19.07, 70: 19.62, 90: 20.16},
    "CUBIC": {"before": 26.26, 50: 19.96, 70: 20.19, 90: 20.49},
    "Vegas": {"before": 26.72, 50: 0.1, 70: 0.32, 90: 19.02},
}
"""Table IV: the average throughput in Mb/s."""

NS2: dict[str, dict[State, tuple[float, float, float]]] = {
    "Tahoe": {
        "before": (18.84, 18.79, 18.89),
        50: (12.69, 12.26, 13.28),
        70: (12.85, 12.47, 13.74),
        90: (11.78, 11.10, 12.27),
    },
    "Reno": {
        "before": (20.20, 18.21, 22.23),
        50: (14.48, 13.29, 15.59),
        70: (14.22, 13.03, 15.28),
        90: (12.93, 11.99, 14.12),
    },
    "NewReno": {
        "before": (22.45, 21.30, 22.69),
        50: (15.22, 14.63, 15.72),
        70: (14.94, 14.45, 15.22),
        90: (15.29, 14.77, 15.76),
    },
    "BIC": {
        "before": (28.84, 28.61, 29.00),
        50: (19.58, 19.29, 19.87),
        70: (19.73, 19.20, 19.93),
        90: (19.13, 18.48, 19.59),
    },
    "CUBIC": {
        "before": (27.06, 26.36, 27.52),
        50: (19.65, 19.49, 19.80),
        70: (19.69, 19.13, 20.02),
        90: (18.87, 17.67, 19.43),
    },
    "Vegas": {"before": (26.97, 26.94, 27.00), 50: (0.57, 0.47, 1.38), 70: (0.57, 0.35, 1.42), 90: (2.24, 0.45, 17.18)},
}
"""Table IV in ns-2.35 over 10 seeds: mean, minimum and maximum in Mb/s, with headers.

The source is validation/ns2/stored/abilene.txt, reading `default`.
"""

TABLE_V = {
    90: ("9-10", "3-9"),
    80: ("9-10", "3-9"),
    70: ("9-10", "3-9", "2-8"),
    60: ("9-10", "3-9", "2-8"),
    50: ("9-10", "3-9", "2-8", "1-5"),
}
"""Table V: the links that ESTOP switches off, in order."""
LIKE = {50: 50, 60: 70, 70: 70, 80: 90, 90: 90}
"""For each threshold of Table V, the simulated state in which its links sleep."""
COPIES = tuple(threshold for threshold, state in LIKE.items() if threshold != state)
"""The thresholds whose links sleep at another threshold too."""


def threshold_names(thresholds: Iterable[int]) -> list[str]:
    """The thresholds in percent, as labels of an axis. A copy names its original below."""
    return [f"{at}\n(as {LIKE[at]})" if at in COPIES else str(at) for at in thresholds]


ENERGY_PERCENT = {90: 13.3, 80: 13.3, 70: 20.0, 60: 20.0, 50: 26.7}
WATTS = {90: 4368.0, 50: 9072.0}


def off(evidence: Evidence, threshold: int) -> tuple[str, ...]:
    """The links that netlull's plan puts to sleep, in order."""
    slept = evidence.series[f"plan-{threshold}"].summary["routing"]["sleep"]
    return tuple(entry["link"] for entry in slept)


def loss_percent(version: str, threshold: int) -> float:
    """The loss of throughput in Table IV, in percent."""
    row = TABLE_IV[version]
    return 100 * (1 - row[threshold] / row["before"])
