"""Points of the figures, and quantities that several claims read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Evidence, number
from netlull.stats import Interval, mean_interval

from . import series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netlull.papers import Recorded

MAXIMUM_BPS = 10e6
RTT = (1, 10, 50, 100)
MRCI = (10, 50, 100, 500, 1000)
BURSTS = {"bon": 100.0}
BOTH = {"bn": 50.0}
PANELS = {
    "a": "RTT 10, mRCI 10 ms",
    "b": "RTT 100, mRCI 10 ms",
    "c": "RTT 10, mRCI 1000 ms",
    "d": "RTT 100, mRCI 1000 ms",
}
"""The panels of Figs. 3, 5 and 7."""
FIGURES = {"Fig. 2": ("single", {}), "Fig. 4": ("background", BURSTS), "Fig. 6": ("both", BOTH)}


def cell(figure: str, rtt: float, mrci: float) -> Cell:
    """The point of a figure of the paper with power control."""
    experiment, point = FIGURES[figure]
    return Cell.of(experiment, rtt=rtt, mrci=mrci, **point)


def reference(figure: str, rtt: float) -> Cell:
    """The TCPonly point of a figure of the paper."""
    experiment, point = FIGURES[figure]
    return Cell.of(f"{experiment}-tcponly", rtt=rtt, **point)


def rate(evidence: Evidence, figure: str, rtt: float, mrci: float) -> float:
    """The mean service rate as a share of the maximum, averaged over seeds."""
    return evidence.grid.interval(cell(figure, rtt, mrci), "mean_rate_bps").mean / MAXIMUM_BPS


def reduction(evidence: Evidence, figure: str, rtt: float, mrci: float) -> Interval:
    """The reduction of TCP's goodput compared with TCPonly, as a fraction, paired by seed."""
    return evidence.grid.reduction(cell(figure, rtt, mrci), reference(figure, rtt), "goodput_bps")


def near_values(evidence: Evidence, metric: str, mrci: float) -> list[float]:
    """A metric with power control at each RTT near 100 ms."""
    near = evidence.grid.values("near", "near")
    return [evidence.grid.interval(Cell.of("near", near=rtt, mrci=mrci), metric).mean for rtt in near]


def near_tcponly(evidence: Evidence, metric: str) -> list[float]:
    """A metric of TCPonly at each RTT near 100 ms."""
    near = evidence.grid.values("near", "near")
    return [evidence.grid.interval(Cell.of("near-tcponly", near=rtt), metric).mean for rtt in near]


def recorded(evidence: Evidence, kind: str) -> list[Recorded]:
    """The recorded runs at RTTs near 100 ms: `mrci10`, `mrci1000` or `tcponly`."""
    names = [run.name for run in evidence.paper.series if run.name.startswith("near") and run.name.endswith(f"-{kind}")]
    return [evidence.series[name] for name in names]


def seeded(evidence: Evidence, name: str) -> list[Recorded]:
    """The recorded runs of a panel of Figs. 3, 5 and 7: one for each seed, the figure's own first."""
    numbered = [run.name for run in evidence.paper.series if run.name.rpartition("-")[0] == name]
    return [evidence.series[found] for found in (name, *numbered)]


def recovery(evidence: Evidence, kind: str, tolerance: Mapping[str, float]) -> series.Recovery:
    """The recovery of TCP at RTTs near 100 ms."""
    return series.recoveries(recorded(evidence, kind), tolerance["reached_bps"], tolerance["fallen_bps"])


def over_seeds(sample: Mapping[int, float]) -> Interval:
    """The mean and 95 % interval of a sample."""
    return mean_interval(list(sample.values()))


def mean_over(samples: Sequence[dict[int, float]]) -> Interval:
    """The confidence interval over seeds of the mean over several samples."""
    seeds = [seed for seed in samples[0] if all(seed in sample for sample in samples)]
    return mean_interval([float(np.mean([sample[seed] for sample in samples])) for seed in seeds])


def less_by_seed(a: Mapping[int, float], b: Mapping[int, float]) -> dict[int, float]:
    """The difference a - b by seed."""
    return {seed: a[seed] - b[seed] for seed in a if seed in b}


def more_lost(evidence: Evidence, figure: str, points: Sequence[tuple[float, float]]) -> list[bool]:
    """For each RTT and mRCI: True if the interval of the loss less TCPonly's is above zero."""
    return [
        evidence.grid.difference(cell(figure, rtt, mrci), reference(figure, rtt), "loss").low > 0
        for rtt, mrci in points
    ]


def percent(value: float, digits: int = 1) -> str:
    """A share in percent, as text."""
    return f"{value * 100:.{digits}f} %"


def signed(measured: Interval, digits: int = 1) -> str:
    """A number with its sign and interval."""
    return f"{'+' if measured.mean >= 0 else ''}{number(measured, digits=digits)}"
