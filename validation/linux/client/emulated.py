"""Execution of a case in either world."""

from __future__ import annotations

import functools
import math
from argparse import Namespace
from dataclasses import dataclass
from typing import TYPE_CHECKING

import harness
from paths import LONGEST_S, SEED, SEEDS, Case

if TYPE_CHECKING:
    from netlull import Result

RADIO = "wavelan-dsss"
"""The paper's radio."""
SPARE_S, SPARE_SHARE = 5.0, 1.4
"""Additional time of an emulation over the simulated download, in s and as a factor. A second try takes the longest
time.
"""
SHORT_S = 80.0
"""The longest first emulation, in s."""


@dataclass(frozen=True)
class Download:
    """The measurements of one run. Times are NaN if the download did not end."""

    seconds: float
    """First packet to last."""
    product_js: float
    """Energy x delay."""
    energy_j: float
    missed: float
    """Packets missed while the radio slept."""
    received: float
    asleep_s: float
    early_s: float
    """Time awake before the first packets of bursts; 0 without a shaper."""
    detection_s: float
    """Time awake after the last packets of bursts; 0 without a shaper."""
    bursts: float
    retransmissions: float
    timeouts: float
    fallback: str
    """The shaper's reason for falling back to standard TCP; empty without a fallback."""
    seed: int
    late_s: float = 0.0
    """The lateness that 99 % of packets did not exceed."""
    kernel: str = ""
    """The kernel's release; empty in the simulator."""

    @property
    def asleep(self) -> float:
        """Share of the download."""
        return self.asleep_s / self.seconds


def download(result: Result, seed: int) -> Download:
    """The compared values of a run."""
    station = result.summary["stations"][0]
    part, flow, account = station["download"], result.flow("download"), result.emulation
    ended = part is not None and part["seconds"] is not None and flow["completion_time_s"] is not None
    own = part if ended else {}
    return Download(
        seconds=own.get("seconds", math.nan),
        product_js=own["energy_delay_js"][RADIO] if ended else math.nan,
        energy_j=own["energy_j"][RADIO] if ended else math.nan,
        missed=own.get("missed_packets", station["missed_packets"]),
        received=station["received_packets"],
        asleep_s=own.get("asleep_s", station["asleep_s"]),
        early_s=station["early_s"] or 0.0,
        detection_s=station["detection_s"] or 0.0,
        bursts=station["bursts"] or 0,
        retransmissions=flow["retransmissions"],
        timeouts=flow["timeouts"] or 0,
        fallback=station["fallback"] or "",
        seed=seed,
        late_s=account["lateness"]["p99_s"] if account else 0.0,
        kernel=account["system"]["kernel"] if account else "",
    )


@functools.cache
def simulated(case: Case) -> tuple[Download, ...]:
    """The simulator's runs: all seeds, the compared one first."""
    scenario = case.scenario()
    return tuple(download(scenario.run(seed), seed) for seed in SEEDS)


def emulate(case: Case, given: Namespace) -> list[Download]:
    """The kernel's run: for somewhat longer than the simulated download, or for the longest time."""
    expected = download(case.scenario().run(SEED), SEED).seconds
    first = SHORT_S if math.isnan(expected) else min(SHORT_S, SPARE_SHARE * expected + SPARE_S)
    found = _emulated(case, first, given.max_lateness)
    return [_emulated(case, LONGEST_S, given.max_lateness) if math.isnan(found.seconds) else found]


def _emulated(case: Case, duration_s: float, max_lateness: str | None) -> Download:
    emulation = functools.partial(case.scenario(duration_s).emulate, SEED, max_lateness=max_lateness)
    return download(harness.punctual(case.name, emulation), SEED)
