"""Which run is next: the longest, so that no core waits at the end for a run that began last."""

from __future__ import annotations

import heapq
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from netlull import _engine

__all__ = ["Job", "LongestFirst"]

_HOP_S = 100e-9
"""CPU time per packet-hop before any run has ended (docs/performance.md)."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run: a checked scenario and a seed, the key of its result, and where in the sweep it is."""

    key: str
    seed: int
    scenario: _engine.Checked
    place: str
    expected_hops: float
    """The packet-hops that it is expected to take, at least 1."""

    @property
    def label(self) -> str:
        """What people call it."""
        return f"{self.place}, seed {self.seed}"


class _Group:
    """Runs that differ in their seed only: what one of them took, the others will take."""

    def __init__(self, expected_hops: float) -> None:
        self.expected_hops = expected_hops
        self.waiting: list[Job] = []
        self.ended = 0
        self.cpu_s = 0.0

    @property
    def mean_s(self) -> float:
        return self.cpu_s / self.ended


class LongestFirst:
    """Hands out runs, the longest first; may be used from any thread.

    The very first run is the shortest, so that what is wrong with the sweep, such as a misspelt metric, shows soon.

    A run's length is the mean CPU time of the runs of its scenario that have ended. Where none has, it is the expected
    packet-hops times what a packet-hop took in all runs that have ended; before there are any, packet-hops alone
    decide. Runs of equal length come in the order in which they were given. The order changes no result.
    """

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._lock = threading.Lock()
        self._waiting, self._waiting_hops = 0, 0.0
        self._number: dict[_engine.Checked, int] = {}
        self._groups: list[_Group] = []
        for job in jobs:
            number = self._number.setdefault(job.scenario, len(self._groups))
            if number == len(self._groups):
                self._groups.append(_Group(job.expected_hops))
            self._groups[number].waiting.append(job)
            self._waiting += 1
            self._waiting_hops += job.expected_hops
        for group in self._groups:
            group.waiting.reverse()
        self._shortest = min(self._groups, key=lambda group: group.expected_hops, default=None)
        # Heaps of (length, negative; number of the group). What has changed since an entry was made makes it stale.
        self._guessed = [(-group.expected_hops, number) for number, group in enumerate(self._groups)]
        self._measured: list[tuple[float, int]] = []
        heapq.heapify(self._guessed)
        self._cpu_s = 0.0
        self._hops = 0.0

    def __len__(self) -> int:
        """The runs that have not been handed out."""
        return self._waiting

    def next(self) -> Job | None:
        """The longest run that has not been handed out; None if all have."""
        with self._lock:
            return self._next()

    def batch(self, shares: int, least_s: float, most_s: float) -> list[Job]:
        """The next runs, as many as take about one of `shares` equal shares of the CPU time left; empty if none is.

        A batch is expected to take from `least_s` to `most_s`, or is a single run; batches get smaller towards the end
        (guided self-scheduling), and the first is a single run.
        """
        with self._lock:
            if self._shortest is not None:
                return [job for job in [self._next()] if job is not None]
            wanted_s = min(max(self._waiting_hops * self._hop_s / shares, least_s), most_s)
            jobs: list[Job] = []
            length_s = 0.0
            while length_s < wanted_s and (job := self._next()) is not None:
                jobs.append(job)
                length_s += self._length_s(job)
            return jobs

    def _next(self) -> Job | None:
        group = self._first()
        if group is None:
            return None
        job = group.waiting.pop()
        self._waiting -= 1
        self._waiting_hops -= job.expected_hops
        return job

    def _first(self) -> _Group | None:
        if self._shortest is not None:
            shortest, self._shortest = self._shortest, None
            return shortest
        guessed, measured = self._first_guessed(), self._first_measured()
        if guessed is None or (measured is not None and measured.mean_s >= self._guess_s(guessed)):
            return measured
        return guessed

    def took(self, job: Job, cpu_s: float) -> None:
        """Says that a run has ended, whether it was handed out or had ended before, and what CPU time it took."""
        with self._lock:
            self._cpu_s += cpu_s
            self._hops += job.expected_hops
            number = self._number.get(job.scenario)
            if number is None:
                return
            group = self._groups[number]
            group.ended += 1
            group.cpu_s += cpu_s
            if group.waiting:
                heapq.heappush(self._measured, (-group.mean_s, number))

    @property
    def _hop_s(self) -> float:
        """CPU time per packet-hop expected, in the runs that have ended."""
        return self._cpu_s / self._hops if self._hops else _HOP_S

    def _guess_s(self, group: _Group) -> float:
        """CPU time by the packet-hops expected."""
        return group.expected_hops * self._hop_s

    def _length_s(self, job: Job) -> float:
        group = self._groups[self._number[job.scenario]]
        return group.mean_s if group.ended else self._guess_s(group)

    def _first_guessed(self) -> _Group | None:
        while self._guessed:
            group = self._groups[self._guessed[0][1]]
            if group.waiting and not group.ended:
                return group
            heapq.heappop(self._guessed)
        return None

    def _first_measured(self) -> _Group | None:
        while self._measured:
            negative_s, number = self._measured[0]
            group = self._groups[number]
            if group.waiting and -negative_s == group.mean_s:
                return group
            heapq.heappop(self._measured)
        return None
