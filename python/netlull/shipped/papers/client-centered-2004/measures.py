"""Measurements of the sweep in the paper's terms: cases, means over seeds, parts of a download's time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, decided
from netlull.stats import mean_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.papers import Evidence, Recorded
    from netlull.stats import Interval

BASELINE, SHAPER, IDEAL_PSM = "baseline TCP", "shaper", "PSM, ideal"
REAL_PSM, BSD, REGULAR = "PSM, 802.11", "BSD", "regular TCP"
WAYS = (BASELINE, SHAPER, IDEAL_PSM, REAL_PSM, BSD, REGULAR)
"""The values of the axis `way`; the axis `client` has the first two."""
SITES = ("uiuc", "sun", "freebsd", "stanford", "washington", "jriver", "intel")
"""The values of the axis `site`, in the order of Fig. 4."""
ROUND_TRIPS = (30, 60, 90, 120)
"""The round-trip times in ms."""
LOSSES = (0, 0.1, 0.25, 0.5, 1)
"""The loss rates in percent."""
WINDOWS = (8, 16, 32, 64)
"""The windows in KiB."""
NOISES = (0, 0.6, 1.2, 1.8, 2.4, 3, 4.5, 6)
"""The means of the noise in ms."""
SHAPES = (0.5, 1, 2, 8)
AIR, FAST_AIR = 20, 108
"""The rates of the air in Mb/s."""


MARGIN = 1e-9
"""The margin of strict comparisons: equal values are neither above nor below each other."""


def above(value: Interval, bound: float) -> bool | None:
    """True if the interval is above the bound, None if it includes the bound."""
    return decided(value, at_least=bound + MARGIN)


def below(value: Interval, bound: float) -> bool | None:
    """True if the interval is below the bound, None if it includes the bound."""
    return decided(value, at_most=bound - MARGIN)


@dataclass(frozen=True)
class Case:
    """A bar of a figure: a point of the sweep, and the baseline point that normalises it."""

    cell: Cell
    baseline: Cell


def emulated(rtt: float, loss: float) -> Case:
    """A case of Fig. 6, by round-trip time in ms and loss in percent."""
    cells = (Cell.of("emulated", rtt=rtt, loss=loss, client=client) for client in (SHAPER, BASELINE))
    return Case(*cells)


def site(name: str, air: float = AIR) -> Case:
    """A case of Fig. 5, by site and rate of the air in Mb/s (by default the paper's)."""
    cells = (Cell.of("sites", site=name, air=air, client=client) for client in (SHAPER, BASELINE))
    return Case(*cells)


def way(rtt: float, name: str, experiment: str = "psm") -> Case:
    """A case of Fig. 7, by round-trip time in ms and value of the axis `way`."""
    return Case(*(Cell.of(experiment, rtt=rtt, way=value) for value in (name, BASELINE)))


def window(rtt: float, kib: float) -> Case:
    """A case of the window study beyond the paper, by round-trip time in ms and window in KiB."""
    cells = (Cell.of("windows", rtt=rtt, window=kib, client=client) for client in (SHAPER, BASELINE))
    return Case(*cells)


def other_sender(rtt: float) -> Case:
    """A case with the RFCs' NewReno at 1 % of loss, by round-trip time in ms."""
    return Case(*(Cell.of("rfc", rtt=rtt, client=client) for client in (SHAPER, BASELINE)))


def going_on() -> Case:
    """The saturated site with a shaper that ignores saturation."""
    return Case(*(Cell.of("saturated", saturated=name) for name in ("goes on", BASELINE)))


def noisy(mean: float, shape: float) -> Case:
    """A case of the noise study beyond the paper, by mean in ms and shape."""
    cells = (Cell.of("noise", noise=mean, shape=shape, client=client) for client in (SHAPER, BASELINE))
    return Case(*cells)


def product(evidence: Evidence, case: Case) -> Interval:
    """Energy x delay divided by that of baseline TCP, as a mean over seeds."""
    return evidence.grid.ratio(case.cell, case.baseline, "product_js")


def ratios(evidence: Evidence, case: Case, metric: str) -> dict[int, float]:
    """A metric divided by that of baseline TCP, by seed."""
    ours, theirs = (evidence.grid.samples(cell, metric) for cell in (case.cell, case.baseline))
    return {seed: value / theirs[seed] for seed, value in ours.items() if theirs.get(seed)}


def difference(evidence: Evidence, one: Case, other: Case) -> Interval:
    """The difference of the products of two cases, paired by seed."""
    left, right = (ratios(evidence, case, "product_js") for case in (one, other))
    return mean_interval([value - right[seed] for seed, value in left.items() if seed in right])


def slowdown(evidence: Evidence, case: Case) -> Interval:
    """The transfer time divided by that of baseline TCP, as a mean over seeds."""
    return evidence.grid.ratio(case.cell, case.baseline, "seconds")


def energy(evidence: Evidence, case: Case) -> Interval:
    """The energy divided by that of baseline TCP, as a mean over seeds."""
    return evidence.grid.ratio(case.cell, case.baseline, "energy_j")


def mean(values: Sequence[float]) -> float:
    """The mean of the bars of a figure."""
    return float(np.mean(values))


POWER_W = {"asleep": 0.177, "receiving": 1.425, "transmitting": 1.675}
"""The power of the paper's card (section IV-A)."""
IDLE_W = 1.319
"""The power of the other parts, waking included."""
PARTS = (
    "asleep",
    "waking",
    "idle, early",
    "idle, recovery",
    "idle, end of burst",
    "idle, else",
    "receiving",
    "transmitting",
)
"""The parts of a download.

`idle, else` is idle time between the packets of bursts, at the start and after the shaper gave up.
"""


def breakdown(evidence: Evidence, cell: Cell) -> dict[str, float]:
    """The energy in each of `PARTS` in J, as means over seeds."""
    return {part: POWER_W.get(part, IDLE_W) * seconds for part, seconds in spent(evidence, cell).items()}


def spent(evidence: Evidence, cell: Cell) -> dict[str, float]:
    """The time in each of `PARTS` in seconds, as means over seeds."""
    grid = evidence.grid

    def seconds(metric: str) -> float:
        return float(np.nan_to_num(grid.interval(cell, metric).mean))

    wakes, each = grid.samples(cell, "wakes"), grid.samples(cell, "wake_time_s")
    found = {
        "asleep": seconds("asleep_s"),
        "waking": mean([wakes[seed] * each[seed] for seed in wakes]),
        "idle, early": seconds("early_s"),
        "idle, recovery": seconds("recovery_s"),
        "idle, end of burst": seconds("detection_s"),
        "receiving": seconds("receiving_s"),
        "transmitting": seconds("transmitting_s"),
    }
    found["idle, else"] = seconds("seconds") - sum(found.values())
    return {part: found[part] for part in PARTS}


def in_bursts(run: Recorded) -> float:
    """The time from first to last packet of all bursts, in seconds: the delay by closed acknowledgements."""
    table = run.series("burst")
    return float(np.sum(table["last_s"].to_numpy() - table["first_s"].to_numpy()))


def packets_of_a_burst(run: Recorded) -> float:
    """The received packets for each burst, copies included; NaN if the download gave up."""
    station = run.summary["stations"][0]
    if station["fallback"] is not None or not station["bursts"]:
        return math.nan
    return float(station["received_packets"] / station["bursts"])


def saturated(run: Recorded) -> bool:
    """True if the download reverted to standard TCP in its first half because its bursts filled the air."""
    station = run.summary["stations"][0]
    if station["fallback"] != "saturated":
        return False
    download, ended = station["download"], run.series("burst")["ended_s"].to_pylist()
    return bool(ended[-1] < download["start_s"] + download["seconds"] / 2)


def over(evidence: Evidence, cases: Sequence[Case]) -> Interval:
    """The mean product of several cases, as a mean and interval over seeds."""
    by_seed: dict[int, list[float]] = {}
    for case in cases:
        for seed, ratio in ratios(evidence, case, "product_js").items():
            by_seed.setdefault(seed, []).append(ratio)
    return mean_interval([mean(values) for values in by_seed.values() if len(values) == len(cases)])
