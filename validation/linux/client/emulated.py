"""Runs a case in either world, and keeps what the kernel did: stored/emulated.json."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

from paths import LONGEST_S, Case

from netlull import EmulationLate, Result

STORED = Path(__file__).parent / "stored" / "emulated.json"
RADIO = "wavelan-dsss"
"""The paper's."""
ATTEMPTS = 3
"""A run that was late on a busy machine is tried again."""
SPARE_S, SPARE_SHARE = 5.0, 1.4
"""An emulation lasts so much longer than the simulated download, and a second one as long as may be."""
SHORT_S = 80.0
"""An emulation lasts this long at most, at first."""


@dataclass(frozen=True)
class Download:
    """What one run measured. Times are NaN if the download did not end."""

    seconds: float
    """First packet to last."""
    product_js: float
    """Energy x delay."""
    energy_j: float
    missed: float
    """Packets that came while the radio slept."""
    received: float
    asleep_s: float
    early_s: float
    """Awake too early, before the first packets of bursts; 0 without a shaper."""
    detection_s: float
    """Awake after the last packets of bursts; 0 without a shaper."""
    bursts: float
    retransmissions: float
    timeouts: float
    fallback: str
    """Why the shaper went back to standard TCP; empty if it did not."""
    seed: int
    late_s: float = 0.0
    """99 % of packets were at most so late."""
    kernel: str = ""
    """Empty in the simulator."""

    @property
    def asleep(self) -> float:
        """Share of the download."""
        return self.asleep_s / self.seconds


def download(result: Result, seed: int) -> Download:
    """What is compared of a run."""
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


def simulate(case: Case, seeds: Iterable[int]) -> list[Download]:
    """In the simulator."""
    scenario = case.scenario()
    return [download(scenario.run(seed), seed) for seed in seeds]


def emulate(case: Case, seed: int, max_lateness: str | None) -> Download:
    """By the kernel: for somewhat longer than the simulator takes, and as long as may be if that is not enough."""
    expected = simulate(case, [seed])[0].seconds
    first = SHORT_S if math.isnan(expected) else min(SHORT_S, SPARE_SHARE * expected + SPARE_S)
    found = _punctual(case, first, seed, max_lateness)
    return _punctual(case, LONGEST_S, seed, max_lateness) if math.isnan(found.seconds) else found


def _punctual(case: Case, duration_s: float, seed: int, max_lateness: str | None) -> Download:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return download(case.scenario(duration_s).emulate(seed, max_lateness=max_lateness), seed)
        except EmulationLate as late:
            if attempt == ATTEMPTS:
                raise
            print(f"{case.name}: {late}; again", file=sys.stderr)
    raise AssertionError


def emulate_all(  # a batch
    chosen: Sequence[Case],
    seeds: Sequence[int],
    jobs: int,
    max_lateness: str | None,
    stored: dict[str, list[Download]],
    *,
    write_each: bool,
) -> None:
    """All of them, some at a time; `stored` is kept but for what is emulated again, and may be written after each."""
    lock, left = Lock(), [(case, seed) for seed in seeds for case in chosen]
    total = len(left)

    def one(at: tuple[int, tuple[Case, int]]) -> None:
        number, (case, seed) = at
        found = emulate(case, seed, max_lateness)
        with lock:
            others = [run for run in stored.get(case.name, []) if run.seed != seed]
            stored[case.name] = sorted([*others, found], key=lambda run: run.seed)
            print(f"{number}/{total} {case.name} seed {seed}: {found.seconds:.2f} s", file=sys.stderr)
            if write_each:
                write(stored)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, enumerate(left, start=1)))


def read() -> dict[str, list[Download]]:
    """What is stored, by the names of cases; null is NaN."""
    if not STORED.exists():
        return {}
    document = json.loads(STORED.read_text(encoding="utf-8"))
    return {name: [_from(run) for run in runs] for name, runs in document.items()}


def _from(document: Mapping[str, object]) -> Download:
    return Download(**{key: math.nan if value is None else value for key, value in document.items()})  # type: ignore[arg-type]


def write(stored: Mapping[str, Sequence[Download]]) -> None:
    """With as many digits as mean something."""
    STORED.parent.mkdir(exist_ok=True)
    documents = {
        name: [{key: _digits(value) for key, value in asdict(run).items()} for run in runs]
        for name, runs in stored.items()
    }
    lines = (f"{json.dumps(name)}: {json.dumps(runs)}" for name, runs in sorted(documents.items()))
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def _digits(value: float | str) -> float | str | None:
    if isinstance(value, float):
        return None if math.isnan(value) else float(f"{value:.6g}")
    return value
