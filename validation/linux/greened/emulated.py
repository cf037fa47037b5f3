"""Runs a case in either world."""

from __future__ import annotations

import functools
from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING

import harness
from switching import SEEDS, Case

if TYPE_CHECKING:
    from netlull import Result


@dataclass(frozen=True)
class Measured:
    """What one run measured."""

    seed: int
    settled_bps: float
    """Goodput from 5 s until links fall asleep at 30 s."""
    later_bps: float
    """From 32 s on."""
    after_bps: float
    """From 30 s on."""
    retransmissions: float
    timeouts: float
    lost_to_switching: float
    """The download's packets that were lost as links fell asleep, before routers had new tables."""
    asleep_packets: float
    """All flows', lost on links that fell asleep or slept."""
    expired_packets: float
    """All flows', lost in loops."""
    late_s: float = 0.0
    """99 % of packets were at most so late."""
    kernel: str = ""
    """Empty in the simulator."""


def measured(result: Result, seed: int) -> Measured:
    """What is compared of a run."""
    account = result.emulation

    def of(path: str) -> float:
        return result.metric(path) or 0.0

    return Measured(
        seed=seed,
        settled_bps=of("phase.settled.flow.tcp.goodput_bps"),
        later_bps=of("phase.later.flow.tcp.goodput_bps"),
        after_bps=of("phase.after.flow.tcp.goodput_bps"),
        retransmissions=of("flow.tcp.retransmissions"),
        timeouts=of("flow.tcp.timeouts"),
        lost_to_switching=of("phase.switching.flow.tcp.packets_dropped"),
        asleep_packets=of("routing.asleep_packets"),
        expired_packets=of("routing.expired_packets"),
        late_s=account["lateness"]["p99_s"] if account else 0.0,
        kernel=account["system"]["kernel"] if account else "",
    )


@functools.cache
def simulated(case: Case) -> list[Measured]:
    """By the simulator, a run a seed."""
    scenario = case.scenario()
    return [measured(scenario.run(seed), seed) for seed in SEEDS]


def emulate(case: Case, given: Namespace) -> list[Measured]:
    """By the kernel."""

    def run(seed: int) -> Result:
        return harness.punctual(
            f"{case.name}, seed {seed}", lambda: case.scenario().emulate(seed, max_lateness=given.max_lateness)
        )

    return [measured(run(seed), seed) for seed in SEEDS]
