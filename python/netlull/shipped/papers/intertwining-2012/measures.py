"""Quantities that several claims read, by seed and as means with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Evidence, above_zero, number
from netlull.stats import Interval, mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TCPONLY, TCP_PC, UDP_PC = "tcponly", "tcp-pc", "udp-pc"
TCP_LOSSLESS, UDP_LOSSLESS = "tcp-pc-lossless", "udp-pc-lossless"
PER_DOWNLOAD = "completed_bytes"
"""The metric that stands for the goodput under the reading “per download”."""
STATIC = {"0": "", "0.25": "_25", "0.5": "_50", "0.75": "_75"}
"""Static shares of the power, and the suffixes of the savings metrics under them."""
OUTER_DELAY_S = 0.002
"""The delay of the links of servers and clients, one way."""
PACKET_BITS, SEGMENT_BYTES = 12_000, 1_460
"""A full packet of 1500 B, and its data."""
BySeed = dict[int, float]


def loads(evidence: Evidence, low: float = 0.0, high: float = 1.0) -> list[float]:
    """The offered loads from `low` to `high`, including both."""
    return [load for load in evidence.grid.values(TCP_PC, "load") if low - 1e-9 <= load <= high + 1e-9]


def samples(evidence: Evidence, experiment: str, load: float, metric: str) -> BySeed:
    """The samples of a metric by seed."""
    return evidence.grid.samples(Cell.of(experiment, load=load), metric)


def mean(evidence: Evidence, experiment: str, load: float, metric: str, scale: float = 1.0) -> Interval:
    """The mean of a metric over seeds with its 95 % interval."""
    return evidence.grid.interval(Cell.of(experiment, load=load), metric, scale)


def together(a: BySeed, b: BySeed, combine: Callable[[float, float], float]) -> BySeed:
    """Two samples combined seed by seed."""
    return {seed: combine(a[seed], b[seed]) for seed in a if seed in b}


def over_seeds(sample: BySeed) -> Interval:
    """The mean and 95 % interval of a sample."""
    return mean_interval(list(sample.values()))


def over_loads(parts: Sequence[BySeed]) -> Interval:
    """The interval over seeds of the mean over loads: seeds are independent, but loads of the same seed are not."""
    seeds = [seed for seed in parts[0] if all(seed in part for part in parts)]
    return mean_interval([float(np.mean([part[seed] for part in parts])) for seed in seeds])


def difference(evidence: Evidence, load: float, first: str, second: str, metric: str) -> BySeed:
    """The difference of a metric between two scenarios, by seed."""
    return together(samples(evidence, first, load, metric), samples(evidence, second, load, metric), lambda a, b: a - b)


def inflation(evidence: Evidence, load: float, metric: str = "completion_s") -> BySeed:
    """The completion time of TCP+PC divided by that of TCPonly, by seed."""
    return together(
        samples(evidence, TCP_PC, load, metric), samples(evidence, TCPONLY, load, metric), lambda a, b: a / b
    )


def round_trip_at(evidence: Evidence, cell: Cell) -> BySeed:
    """The mean round trip of a full packet in s, by seed: propagation, mean waits, transmission at N1's mean rate."""
    one_way = evidence.grid.samples(cell, "one_way_s")
    ahead, back = evidence.grid.samples(cell, "wait_s"), evidence.grid.samples(cell, "back_wait_s")
    rate = evidence.grid.samples(cell, "mean_rate_bps")
    return {
        seed: 2 * (one_way[seed] + OUTER_DELAY_S) + ahead[seed] + back[seed] + PACKET_BITS / rate[seed] for seed in rate
    }


def goodput(evidence: Evidence, experiment: str, load: float) -> BySeed:
    """The goodput of all downloads, by seed; under the reading “per download” the data of a download's second.

    That is the completed data over the sum of the completion times.
    """
    found = samples(evidence, experiment, load, "goodput_bps")
    if evidence.grid.column("goodput_bps") != PER_DOWNLOAD:
        return found
    times = together(
        samples(evidence, experiment, load, "completed"),
        samples(evidence, experiment, load, "completion_s"),
        lambda number, mean_s: number * mean_s,
    )
    return together(found, times, lambda data, time: 8 * data / time)


def goodput_lost(evidence: Evidence, load: float) -> BySeed:
    """The reduction of goodput against TCPonly as a share, by seed."""
    return together(goodput(evidence, TCP_PC, load), goodput(evidence, TCPONLY, load), lambda a, b: 1 - a / b)


def es_qosd_goodput(evidence: Evidence, load: float, saving: str) -> BySeed:
    """The saving minus the reduction of goodput against TCPonly, in percentage points, by seed (section 3.3)."""
    saved = samples(evidence, TCP_PC, load, saving)
    return together(saved, goodput_lost(evidence, load), lambda a, b: 100 * (a - b))


def es_qosd_time(evidence: Evidence, load: float, saving: str, metric: str = "completion_s") -> BySeed:
    """The saving minus the growth of completion time against TCPonly, in percentage points, by seed (section 3.3)."""
    return together(
        samples(evidence, TCP_PC, load, saving),
        inflation(evidence, load, metric),
        lambda saved, ratio: 100 * (saved - (ratio - 1)),
    )


def window(evidence: Evidence, experiment: str, load: float) -> BySeed:
    """The mean data in flight of an open download in segments, by seed: its mean rate times the mean round trip."""
    cell = Cell.of(experiment, load=load)
    data = evidence.grid.samples(cell, "completed_bytes")
    times = together(
        evidence.grid.samples(cell, "completed"),
        evidence.grid.samples(cell, "completion_s"),
        lambda number, mean_s: number * mean_s,
    )
    rate = together(data, times, lambda byte, time: byte / time)
    return together(rate, round_trip_at(evidence, cell), lambda a, b: a * b / SEGMENT_BYTES)


def apart_from_zero(value: Interval) -> bool:
    """True if the interval does not include zero."""
    return value.low > 0 or value.high < 0


def share_holds(found: Sequence[bool | None], least: float) -> bool | None:
    """Does the share `least` hold? None if the undecided ones could tip it."""
    sure, possible = found.count(True), len(found) - found.count(False)
    if sure >= least * len(found):
        return True
    return False if possible < least * len(found) else None


def less_one(ratios: BySeed) -> BySeed:
    """Ratios less one, by seed."""
    return {seed: ratio - 1 for seed, ratio in ratios.items()}


def below_zero(value: Interval) -> bool | None:
    """True if the interval is below zero, False if it is above or the value is 0, None if it includes zero."""
    return above_zero(Interval(-value.mean, -value.high, -value.low, value.n))


def in_points(value: Interval) -> str:
    """A share in percentage points, as text."""
    return number(Interval(value.mean * 100, value.low * 100, value.high * 100, value.n), digits=2)


def mean_over(parts: Sequence[BySeed]) -> BySeed:
    """The mean over loads, by seed."""
    seeds = [seed for seed in parts[0] if all(seed in part for part in parts)]
    return {seed: float(np.mean([part[seed] for part in parts])) for seed in seeds}


def saving_gaps(evidence: Evidence, found: Sequence[float], saving: str = "saving_fs") -> list[BySeed]:
    """The saving of TCP+PC less that of UDP+PC at these loads, by seed."""
    return [difference(evidence, load, TCP_PC, UDP_PC, saving) for load in found]
