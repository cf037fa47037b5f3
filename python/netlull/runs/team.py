"""Simultaneous runs of many scenarios: in threads, because the core releases the GIL while it simulates.

Runs that call Python classes share the GIL, so they get a process each.

A `Team` runs them: `Threads` of this process, or the workers of a cluster (`netlull.cluster`).
"""

from __future__ import annotations

import math
import os
import queue
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from netlull import _engine
from netlull.plugins.loading import pass_on
from netlull.runs.order import Job, LongestFirst
from netlull.runs.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Cost",
    "Finished",
    "Hire",
    "Processes",
    "Progress",
    "Team",
    "Threads",
    "default_workers",
    "execute",
    "local_team",
]

_TICK_S = 0.2
"""Time between two reports of progress while no run ends."""

_OWN = r'"class":\s*"(__main__:|[^"]*<locals>)'
"""A class that only this process has: of the script or notebook itself, or of a function."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run: its summary as JSON without residencies, and its CPU time in seconds."""

    job: Job
    summary: str
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of simulating runs: CPU time inside the runs in seconds, and their packet-hops."""

    cpu_s: float = 0.0
    packet_hops: int = 0

    def __add__(self, other: Cost) -> Cost:
        """The sum of both."""
        return Cost(self.cpu_s + other.cpu_s, self.packet_hops + other.packet_hops)

    @property
    def ns_per_hop(self) -> float:
        """CPU nanoseconds per packet-hop; NaN without packet-hops."""
        return self.cpu_s * 1e9 / self.packet_hops if self.packet_hops else math.nan


@dataclass(frozen=True)
class Progress:
    """The progress of a sweep: runs `done` (of which `reused` were in the store) of `total`."""

    done: int
    total: int
    reused: int
    fraction: float
    """The finished share of the expected packet-hops, 0 to 1. Unfinished runs count by simulated time."""


def default_workers() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Team(Protocol):
    """Runs all jobs of an order. A team is used once."""

    ended: queue.SimpleQueue[Finished | BaseException]
    """Results in any order. An exception is the last, unless a run only exceeded its memory limit."""

    def start(self) -> None:
        """Begins. Other threads deliver the results."""

    def underway(self) -> float:
        """Finished part of the expected packet-hops of the runs under way."""

    def stop(self) -> None:
        """Ends the runs under way. All results are in `ended` when this returns."""

    def join(self) -> None:
        """Waits for the last run."""


Hire = Callable[[LongestFirst], Team]
"""Makes the team that runs all jobs of an order."""


class Threads:
    """Threads that each take the next run at the end of the last. `memory` is the limit of each run, in bytes."""

    def __init__(self, order: LongestFirst, count: int, memory: int | None = None) -> None:
        self.ended: queue.SimpleQueue[Finished | BaseException] = queue.SimpleQueue()
        self._order = order
        self._memory = memory
        self._stopped = False
        self._underway: list[tuple[_engine.Monitor, float] | None] = [None] * (count := min(count, len(order)))
        self._threads = [
            threading.Thread(target=self._work, args=(index,), name=f"netlull-{index}") for index in range(count)
        ]

    def start(self) -> None:
        """Starts the threads."""
        for thread in self._threads:
            thread.start()

    def _work(self, index: int) -> None:
        while (job := self._order.next()) is not None:
            monitor = _engine.Monitor()
            # The order matters: `stop` either finds the monitor here, or is seen below.
            self._underway[index] = (monitor, job.expected_hops)
            if self._stopped:
                return
            try:
                summary, cpu_s = self._measure(index, job, monitor)
            except _engine.MemoryLimitError as error:
                error.add_note(f"in the run {job.label}")
                self.ended.put(error)
                continue
            except BaseException as error:  # forwarded
                if not isinstance(error, _engine.Cancelled):
                    error.add_note(f"in the run {job.label}")
                self.ended.put(error)
                return
            self._order.took(job, cpu_s)
            self._underway[index] = None
            self.ended.put(Finished(job, summary, cpu_s))

    def _measure(self, index: int, job: Job, monitor: _engine.Monitor) -> tuple[str, float]:
        """The summary of a run and its CPU time in seconds."""
        began = time.thread_time()
        summary = job.scenario.measure(job.seed, monitor, self._memory)
        return summary, time.thread_time() - began

    def underway(self) -> float:
        """Finished packet-hops of the runs under way, by their simulated share."""
        return sum(monitor.fraction * hops for monitor, hops in filter(None, self._underway))

    def stop(self) -> None:
        """Cancels the runs under way and waits for their end."""
        self._stopped = True
        for monitor, _ in filter(None, self._underway):
            monitor.cancel()
        self.join()

    def join(self) -> None:
        """Waits for the threads."""
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()


class Processes(Threads):
    """Threads that each let a process of their own simulate, for runs that call Python classes."""

    def __init__(self, order: LongestFirst, count: int, memory: int | None = None) -> None:
        super().__init__(order, count, memory)
        self._workers: dict[int, Worker] = {}

    def _measure(self, index: int, job: Job, monitor: _engine.Monitor) -> tuple[str, float]:
        if index not in self._workers:
            self._workers[index] = Worker(pass_on())
        return self._workers[index].measure(job.scenario.canonical(), job.seed, self._memory)

    def _work(self, index: int) -> None:
        super()._work(index)
        if (worker := self._workers.pop(index, None)) is not None:
            worker.close()

    def stop(self) -> None:
        """Ends the processes: a run under way then raises `Cancelled` here."""
        self._stopped = True
        for worker in list(self._workers.values()):
            worker.cancel()
        super().stop()


def local_team(order: LongestFirst, count: int, memory: int | None = None) -> Team:
    """The team of this machine: processes if runs call classes that a process can load, else threads."""
    callers = [scenario for scenario in order.scenarios if scenario.calls_python]
    texts = [scenario.canonical() for scenario in callers] if count > 1 else []
    can_load = bool(texts) and not any(re.search(_OWN, text) for text in texts)
    return Processes(order, count, memory) if can_load else Threads(order, count, memory)


def execute(
    jobs: Sequence[Job],
    hire: Hire,
    finished: Callable[[Finished], None],
    progress: Callable[[Progress], None] | None = None,
    *,
    reused: Sequence[tuple[Job, float | None]] = (),
) -> None:
    """Runs all jobs with the hired team, the longest first; calls `finished` with each in this thread.

    The first failure, and Ctrl-C, stops the runs under way. Runs that have ended by then still reach `finished`. A run
    above its memory limit stops no other run; its error is raised after the last run.

    Args:
        jobs: the runs.
        hire: makes the team.
        finished: called with each finished run.
        progress: called about five times a second.
        reused: earlier runs, each with its CPU time in seconds where known.
    """
    order = LongestFirst(jobs)
    for job, cpu_s in reused:
        if cpu_s is not None:
            order.took(job, cpu_s)
    total, done = len(reused) + len(jobs), len(reused)
    hops_done = sum(job.expected_hops for job, _ in reused)
    hops = hops_done + sum(job.expected_hops for job in jobs)
    team = hire(order)
    too_large: list[_engine.MemoryLimitError] = []

    def report() -> None:
        if progress is not None:
            fraction = 1.0 if done == total else min(1.0, (hops_done + team.underway()) / hops)
            progress(Progress(done, total, len(reused), fraction))

    report()
    try:
        if jobs:
            team.start()
        while done < total:
            try:
                outcome = team.ended.get(timeout=_TICK_S)
            except queue.Empty:
                report()
                continue
            done += 1
            if isinstance(outcome, _engine.MemoryLimitError):
                too_large.append(outcome)
            else:
                run = _run_of(outcome)
                finished(run)
                hops_done += run.job.expected_hops
            report()
        team.join()
    except BaseException:
        team.stop()
        _keep_finished(team.ended, finished)
        raise
    if too_large:
        too_large[0].add_note(
            f"{len(too_large)} of {total} runs exceed their memory limit, and the others are finished"
        )
        raise too_large[0]


def _run_of(outcome: Finished | BaseException) -> Finished:
    """The finished run. Raises the exception of a failed one."""
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _keep_finished(ended: queue.SimpleQueue[Finished | BaseException], finished: Callable[[Finished], None]) -> None:
    """Hands over the runs that ended before the sweep stopped: none is lost."""
    while not ended.empty():
        outcome = ended.get()
        if isinstance(outcome, Finished):
            finished(outcome)
