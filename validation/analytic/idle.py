"""The law of low-power idle: Poisson arrivals, sleep until N frames wait."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from law import PACKET_BYTES, Law, Row

import netlull

SEEDS = range(1, 21)
FRAMES = 10_000
"""Frames of a run, on average."""
LEAST_SLEEPS = 1000
PHYS = {
    "100base-tx": (100e6, 200e-6, 30.5e-6),
    "1000base-t": (1e9, 182e-6, 16.5e-6),
    "10gbase-t": (10e9, 2.88e-6, 4.48e-6),
    "802.3bj-deep": (40e9, 0.9e-6, 5.5e-6),
}
"""Rate in b/s, T_s and T_w in s."""


@dataclass(frozen=True)
class Cell:
    """A setting of the law."""

    phy: str
    load: float
    wakes_at: int

    def closed_form(self) -> tuple[float, float]:
        """The share of time asleep, and the mean wait in s.

        K ~ Poisson(lambda T_s) frames arrive while the link goes to sleep. A busy period starts with
        Q = max(N, K) + Poisson(lambda T_w) frames.
        """
        rate, sleep, wake = PHYS[self.phy]
        frame = 8 * PACKET_BYTES / rate
        arrivals = self.load / frame
        during_sleep = poisson(arrivals * sleep)
        asleep = sum(p * max(self.wakes_at - k, 0) for k, p in enumerate(during_sleep)) / arrivals
        share = (1 - self.load) * asleep / (asleep + sleep + wake)
        first = sum(p * max(self.wakes_at, k) for k, p in enumerate(during_sleep))
        pairs = sum(p * max(self.wakes_at, k) * (max(self.wakes_at, k) - 1) for k, p in enumerate(during_sleep))
        late = arrivals * wake
        held = first + late
        held_pairs = pairs + 2 * first * late + late * late
        return share, self.load * frame / (2 * (1 - self.load)) + held_pairs / (2 * arrivals * held)

    def measured(self) -> tuple[list[float], list[float], int]:
        """The same from one run per seed, and the number of sleeps in all of them."""
        rate = PHYS[self.phy][0]
        # Without a threshold the first frame wakes the link.
        threshold = {"coalesce_frames": self.wakes_at} if self.wakes_at > 1 else {}
        controller = {"kind": "lpi", "phy": self.phy, "hysteresis": "0 s"} | threshold
        ends = [("a", "b"), ("b", "a")]
        links = [
            {"from": a, "to": b, "rate": f"{rate:.0f} b/s", "buffer": "unlimited", "controller": controller}
            for a, b in ends
        ]
        duration_ns = FRAMES * 8 * PACKET_BYTES / rate / self.load * 1e9
        flow = {"kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": f"{self.load * rate:.0f} b/s"}
        scenario = netlull.Scenario.from_dict(
            {
                "name": "analytic",
                "duration": f"{duration_ns:.0f} ns",
                "warm_up": f"{duration_ns / 10:.0f} ns",
                "nodes": ["a", "b"],
                "link": links,
                "flow": [flow],
            }
        )
        found = [scenario.run(seed=seed).link("a-b") for seed in SEEDS]
        shares = [link["low_power"]["low_share"] for link in found]
        return shares, [link["mean_wait_s"] for link in found], sum(link["low_power"]["sleeps"] for link in found)


def poisson(mean: float) -> list[float]:
    """The probabilities of 0, 1, ... up to a negligible rest."""
    terms = [math.exp(-mean)]
    for k in range(1, int(mean + 12 * math.sqrt(mean)) + 40):
        terms.append(terms[-1] * mean / k)
    return terms


def low_power_idle(
    loads: Sequence[float] = (0.05, 0.1, 0.3, 0.5, 0.7, 0.9), wakes_at: Sequence[int] = (1, 2, 5, 10, 20, 50)
) -> Law:
    """The share of time asleep within 0.002, the mean wait within 1 %, or four standard errors over the seeds."""
    rows, notes = [], []
    for phy, load, frames in itertools.product(PHYS, loads, wakes_at):
        cell = Cell(phy, load, frames)
        name = f"{phy}, load {load}, N = {frames}"
        shares, waits, sleeps = cell.measured()
        if sleeps < LEAST_SLEEPS:
            notes.append(f"{name}: not judged, {sleeps} sleeps")
            continue
        for what, values, theory, least in zip(
            ("off", "wait"), (shares, waits), cell.closed_form(), (0.002, None), strict=True
        ):
            allowed = max(4 * statistics.stdev(values) / math.sqrt(len(values)), least or 0.01 * theory)
            scale = 1 if what == "off" else 1e6
            mean = statistics.fmean(values)
            rows.append(Row(f"{name}: {what}", mean * scale, theory * scale, allowed / theory))
    reason = "0.002 of the share, 1 % of the wait, or four standard errors of 20 seeds"
    return Law("Low-power idle: share of time asleep, mean wait", "1, us", rows, reason, notes)
