"""Runs a case in either world, and keeps what the kernel did: stored/emulated.json."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

from bottlenecks import SETTLED_S, Case

from netlull import EmulationLate, Result

STORED = Path(__file__).parent / "stored" / "emulated.json"
PACKET_KB = 1.5
ATTEMPTS = 3
"""A run that was late on a busy machine is tried again."""


@dataclass(frozen=True)
class Measured:
    """What one run measured after it had settled."""

    queue_kb: float
    """Mean of samples every 10 ms."""
    queue_sd_kb: float
    drops: float
    goodput_bps: float
    rate_bps: float
    """Mean rate of the link, pauses included."""
    changes: float
    """Of the rate."""
    saving: float
    """Share of the link's energy saved, ideal frequency scaling."""
    retransmissions: float
    window_bytes: float
    """Mean window that the gateway suggests; 0 without one."""
    final_rate_bps: float
    """The rate at the end."""
    seed: int
    late_s: float = 0.0
    """99 % of packets were at most so late."""
    kernel: str = ""
    """Empty in the simulator."""


def measured(result: Result, seed: int) -> Measured:
    """What is compared of a run."""
    link, account = result.link("router-clients"), result.emulation
    table = result.series("link")
    pairs = zip(table["time_s"].to_pylist(), table["queue_packets"].to_pylist(), strict=True)
    queue = [PACKET_KB * packets for time, packets in pairs if time >= SETTLED_S]
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


def simulate(case: Case, seeds: Iterable[int]) -> list[Measured]:
    """In the simulator."""
    scenario = case.scenario()
    return [measured(scenario.run(seed), seed) for seed in seeds]


def emulate(case: Case, seed: int, max_lateness: str | None) -> Measured:
    """By the kernel."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return measured(case.scenario().emulate(seed, max_lateness=max_lateness), seed)
        except EmulationLate as late:
            if attempt == ATTEMPTS:
                raise
            print(f"{case.name}: {late}; again", file=sys.stderr)
    raise AssertionError


def emulate_all(
    chosen: Sequence[Case],
    seeds: Sequence[int],
    jobs: int,
    max_lateness: str | None,
    stored: dict[str, list[Measured]],
    *,
    write_each: bool,
) -> None:
    """All of them, some at a time; `stored` is kept but for what is emulated again, and may be written after each."""
    lock, left = Lock(), [(case, seed) for seed in seeds for case in chosen]

    def one(at: tuple[int, tuple[Case, int]]) -> None:
        number, (case, seed) = at
        found = emulate(case, seed, max_lateness)
        with lock:
            others = [run for run in stored.get(case.name, []) if run.seed != seed]
            stored[case.name] = sorted([*others, found], key=lambda run: run.seed)
            print(f"{number}/{len(left)} {case.name} seed {seed}", file=sys.stderr)
            if write_each:
                write(stored)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, enumerate(left, start=1)))


def read() -> dict[str, list[Measured]]:
    """What is stored, by the names of cases."""
    if not STORED.exists():
        return {}
    document = json.loads(STORED.read_text(encoding="utf-8"))
    return {name: [Measured(**run) for run in runs] for name, runs in document.items()}


def write(stored: Mapping[str, Sequence[Measured]]) -> None:
    """With as many digits as mean something."""
    STORED.parent.mkdir(exist_ok=True)
    documents = {
        name: [{key: _digits(value) for key, value in asdict(run).items()} for run in runs]
        for name, runs in stored.items()
    }
    lines = (f"{json.dumps(name)}: {json.dumps(runs)}" for name, runs in sorted(documents.items()))
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _digits(value: float | str) -> float | str:
    return float(f"{value:.6g}") if isinstance(value, float) else value
