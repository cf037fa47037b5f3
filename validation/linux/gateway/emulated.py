"""Execution of a case in either world."""

from __future__ import annotations

import functools
import statistics
from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING

import harness
from bottlenecks import SEED, Case

if TYPE_CHECKING:
    from netlull import Result

PACKET_KB = 1.5


@dataclass(frozen=True)
class Measured:
    """The measurements of one settled run."""

    queue_kb: float
    """Mean of samples every 10 ms."""
    queue_sd_kb: float
    drops: float
    goodput_bps: float
    rate_bps: float
    """Mean rate of the link, pauses included."""
    changes: float
    """Number of rate changes."""
    saving: float
    """Share of the link's energy saved, ideal frequency scaling."""
    retransmissions: float
    window_bytes: float
    """Mean window that the gateway suggests; 0 without a suggestion."""
    final_rate_bps: float
    """The rate at the end."""
    seed: int
    late_s: float = 0.0
    """The lateness that 99 % of packets did not exceed."""
    kernel: str = ""
    """The kernel's release; empty in the simulator."""


def measured(result: Result, seed: int) -> Measured:
    """The compared values of a run."""
    link, account = result.link("router-clients"), result.emulation
    table = result.series("link")
    pairs = zip(table["time_s"].to_pylist(), table["queue_packets"].to_pylist(), strict=True)
    queue = [PACKET_KB * packets for time, packets in pairs if time >= result.summary["warm_up_s"]]
    gateway = link["gateway"] or {}
    return Measured(
        queue_kb=statistics.mean(queue),
        queue_sd_kb=statistics.pstdev(queue),
        drops=link["dropped_packets"],
        goodput_bps=result.summary["goodput_bps"],
        rate_bps=link["mean_rate_bps"],
        changes=link["rate_changes"],
        saving=link["energy"]["fs"]["saving"],
        retransmissions=sum(flow["retransmissions"] or 0 for flow in result.summary["flows"]),
        window_bytes=gateway.get("mean_window_bytes") or 0.0,
        final_rate_bps=table["rate_bps"].to_pylist()[-1],
        seed=seed,
        late_s=account["lateness"]["p99_s"] if account else 0.0,
        kernel=account["system"]["kernel"] if account else "",
    )


@functools.cache
def simulated(case: Case) -> Measured:
    """The simulator's runs."""
    return measured(case.scenario().run(SEED), SEED)


def emulate(case: Case, given: Namespace) -> list[Measured]:
    """The kernel's runs."""
    emulation = functools.partial(case.scenario().emulate, SEED, max_lateness=given.max_lateness)
    return [measured(harness.punctual(case.name, emulation), SEED)]
