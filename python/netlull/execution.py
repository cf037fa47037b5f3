"""Running many scenarios at a time: threads, because the core releases the GIL while it simulates.

Whoever runs them is a `Team`: `Threads` of this process, or the workers of a cluster (`netlull.cluster`).
"""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from netlull import _engine
from netlull.run_order import Job, LongestFirst

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Cost", "Finished", "Hire", "Progress", "Team", "Threads", "default_workers", "execute"]

_TICK_S = 0.2
"""Between two reports of progress while no run ends."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that has ended: its summary as JSON, without residencies, and the CPU time that it took."""

    job: Job
    summary: str
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What simulating runs cost: CPU time in the runs alone, and the packet-hops that it bought."""

    cpu_s: float = 0.0
    packet_hops: int = 0

    def __add__(self, other: Cost) -> Cost:
        """Of both."""
        return Cost(self.cpu_s + other.cpu_s, self.packet_hops + other.packet_hops)

    @property
    def ns_per_hop(self) -> float:
        """CPU nanoseconds per packet-hop; NaN if there was none."""
        return self.cpu_s * 1e9 / self.packet_hops if self.packet_hops else math.nan


@dataclass(frozen=True)
class Progress:
    """How far a sweep is: runs that are `done` (of which `reused` were found in the store) of `total`."""

    done: int
    total: int
    reused: int
    fraction: float
    """Share of the work that is done, by the packet-hops expected, unfinished runs by their simulated time; 0 to 1."""


def default_workers() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Team(Protocol):
    """Runs everything that an order hands out; one team runs once."""

    ended: queue.SimpleQueue[Finished | BaseException]
    """What was found, in any order; an exception is the last."""

    def start(self) -> None:
        """Begins; what is found comes from other threads."""

    def underway(self) -> float:
        """Packet-hops expected of the runs under way, as far as they are."""

    def stop(self) -> None:
        """Ends the runs under way; whatever was found is in `ended` when this returns."""

    def join(self) -> None:
        """Waits until all has ended."""


Hire = Callable[[LongestFirst], Team]
"""Makes the team that runs everything in an order."""


class Threads:
    """Threads that take the next run when they have ended one."""

    def __init__(self, order: LongestFirst, count: int) -> None:
        self.ended: queue.SimpleQueue[Finished | BaseException] = queue.SimpleQueue()
        self._order = order
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
            # In this order: `stop` either finds the monitor here, or is seen now.
            self._underway[index] = (monitor, job.expected_hops)
            if self._stopped:
                return
            began = time.thread_time()
            try:
                summary = job.scenario.measure(job.seed, monitor)
            except BaseException as error:  # handed over, whatever it is
                if not isinstance(error, _engine.Cancelled):
                    error.add_note(f"in the run {job.label}")
                self.ended.put(error)
                return
            cpu_s = time.thread_time() - began
            self._order.took(job, cpu_s)
            self._underway[index] = None
            self.ended.put(Finished(job, summary, cpu_s))

    def underway(self) -> float:
        """Of each run, by its simulated share."""
        return sum(monitor.fraction * hops for monitor, hops in filter(None, self._underway))

    def stop(self) -> None:
        """Cancels the runs under way and waits until they have ended."""
        self._stopped = True
        for monitor, _ in filter(None, self._underway):
            monitor.cancel()
        self.join()

    def join(self) -> None:
        """Waits for the threads."""
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()


def execute(
    jobs: Sequence[Job],
    hire: Hire,
    finished: Callable[[Finished], None],
    progress: Callable[[Progress], None] | None = None,
    *,
    reused: Sequence[tuple[Job, float | None]] = (),
) -> None:
    """Runs all jobs, by the team that is hired, the longest first; calls `finished` with each in this thread.

    The first failure, and Ctrl-C, stops the runs under way; runs that have ended by then still reach `finished`.
    `reused` are runs that ended before, with the CPU time that they took where it is known.
    """
    order = LongestFirst(jobs)
    for job, cpu_s in reused:
        if cpu_s is not None:
            order.took(job, cpu_s)
    total, done = len(reused) + len(jobs), len(reused)
    hops_done = sum(job.expected_hops for job, _ in reused)
    hops = hops_done + sum(job.expected_hops for job in jobs)
    team = hire(order)

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
            run = _run_of(outcome)
            finished(run)
            done += 1
            hops_done += run.job.expected_hops
            report()
        team.join()
    except BaseException:
        team.stop()
        _keep_finished(team.ended, finished)
        raise


def _run_of(outcome: Finished | BaseException) -> Finished:
    """The run that ended; what it raised is raised here."""
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _keep_finished(ended: queue.SimpleQueue[Finished | BaseException], finished: Callable[[Finished], None]) -> None:
    """Hands over runs that ended before the sweep was stopped, so that nothing is lost."""
    while not ended.empty():
        outcome = ended.get()
        if isinstance(outcome, Finished):
            finished(outcome)
