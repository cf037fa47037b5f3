"""Execution of a case in either world."""

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
    """The measurements of one run."""

    seed: int
    settled_bps: float
    """Goodput from 5 s until links fall asleep at 30 s."""
    later_bps: float
    """Goodput from 32 s on."""
    after_bps: float
    """Goodput from 30 s on."""
    retransmissions: float
    timeouts: float
    lost_to_switching: float
    """The download's packets lost between the sleep of links and the new routing tables."""
    asleep_packets: float
    """Packets of all flows lost on sleeping links."""
    expired_packets: float
    """Packets of all flows lost in loops."""
    late_s: float = 0.0
    """The lateness that 99 % of packets did not exceed."""
    kernel: str = ""
    """The kernel's release; empty in the simulator."""


def measured(result: Result, seed: int) -> Measured:
    """The compared values of a run."""
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
    """The simulator's runs, one per seed."""
    scenario = case.scenario()
    return [measured(scenario.run(seed), seed) for seed in SEEDS]


def emulate(case: Case, given: Namespace) -> list[Measured]:
    """The kernel's runs."""

    def run(seed: int) -> Result:
        return harness.punctual(
            f"{case.name}, seed {seed}", lambda: case.scenario().emulate(seed, max_lateness=given.max_lateness)
        )

    return [measured(run(seed), seed) for seed in SEEDS]
