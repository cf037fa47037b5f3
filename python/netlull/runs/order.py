"""The order of runs: the longest first, as a long run that begins last would leave the other cores idle."""

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
"""CPU time per packet-hop before the first run has ended, in s (docs/performance.md)."""


@dataclass(frozen=True, slots=True)
class Job:
    """A run: a checked scenario and a seed, the key of its result, and its place in the sweep."""

    key: str
    seed: int
    scenario: _engine.Checked
    place: str
    expected_hops: float
    """The expected number of packet-hops, at least 1."""

    @property
    def label(self) -> str:
        """The name of the run in messages."""
        return f"{self.place}, seed {self.seed}"


class _Group:
    """Runs that differ only in their seed: the time of one predicts the others."""

    def __init__(self, expected_hops: float) -> None:
        self.expected_hops = expected_hops
        self.waiting: list[Job] = []
        self.ended = 0
        self.cpu_s = 0.0

    @property
    def mean_s(self) -> float:
        return self.cpu_s / self.ended


class LongestFirst:
    """Hands out runs, the longest first. Safe to use from any thread.

    The very first run is the shortest: it soon reveals a mistake in the sweep, such as a misspelt metric.

    The length of a run is the mean CPU time of the ended runs of its scenario. Without any, it is the expected
    packet-hops times the mean time per packet-hop of all ended runs. Before the first has ended, only packet-hops
    count. Runs of equal length keep their given order. The order changes no result.
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
        # Heaps of (negative length, number of the group). An entry is stale if its group has changed since.
        self._guessed = [(-group.expected_hops, number) for number, group in enumerate(self._groups)]
        self._measured: list[tuple[float, int]] = []
        heapq.heapify(self._guessed)
        self._cpu_s = 0.0
        self._hops = 0.0

    def __len__(self) -> int:
        """The number of runs that have not been handed out."""
        return self._waiting

    @property
    def scenarios(self) -> list[_engine.Checked]:
        """The scenarios of the runs, each once."""
        return list(self._number)

    def next(self) -> Job | None:
        """The longest run that has not been handed out; None if all have."""
        with self._lock:
            return self._next()

    def batch(self, shares: int, least_s: float, most_s: float) -> list[Job]:
        """The next runs, for about one of `shares` equal shares of the remaining CPU time; empty if none remains.

        A batch is expected to take from `least_s` to `most_s` seconds, or is a single run. Batches get smaller towards
        the end (guided self-scheduling). The first is a single run.
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
        """Records the CPU time in seconds of an ended run, handed out or reused."""
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
        """CPU time per expected packet-hop in the ended runs, in s."""
        return self._cpu_s / self._hops if self._hops else _HOP_S

    def _guess_s(self, group: _Group) -> float:
        """The CPU time by the expected packet-hops, in s."""
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
