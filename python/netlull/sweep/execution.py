"""Running many scenarios at a time: threads, because the core releases the GIL while it simulates."""

from __future__ import annotations

import json
import os
import queue
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull import _engine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Job", "Progress", "default_workers", "execute"]

_TICK_S = 0.2
"""Between two reports of progress while no run ends."""


@dataclass(frozen=True)
class Job:
    """One run: a canonical scenario and a seed, the key of its result, and what to call it."""

    key: str
    seed: int
    scenario_json: str
    label: str


@dataclass(frozen=True)
class Progress:
    """How far a sweep is: runs that are `done` (of which `reused` were found in the store) of `total`."""

    done: int
    total: int
    reused: int
    fraction: float
    """Share of the work that is done, unfinished runs counted by their simulated time; 0 to 1."""


def _numbers(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary without its lists of residencies: a link with a random capacity has thousands, and metrics none."""
    return summary | {"links": [{**link, "residency": None} for link in summary["links"]]}


def default_workers() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Runs:
    """The runs under way, so that all of them can be watched and cancelled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._monitors: set[_engine.Monitor] = set()
        self._stopped = False

    def run(self, job: Job) -> tuple[Job, dict[str, Any]]:
        monitor = _engine.Monitor()
        with self._lock:
            if self._stopped:
                raise _engine.Cancelled
            self._monitors.add(monitor)
        try:
            summary = _numbers(json.loads(_engine.run(job.scenario_json, job.seed, monitor).summary()))
        except _engine.Cancelled:
            raise
        except Exception as error:
            error.add_note(f"in the run {job.label}")
            raise
        finally:
            with self._lock:
                self._monitors.discard(monitor)
        return job, summary

    def underway(self) -> float:
        """Runs' worth of work done in runs that have not ended."""
        with self._lock:
            return sum(monitor.fraction for monitor in self._monitors)

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            for monitor in self._monitors:
                monitor.cancel()


def execute(
    jobs: Sequence[Job],
    workers: int,
    finished: Callable[[Job, dict[str, Any]], None],
    progress: Callable[[Progress], None] | None = None,
    *,
    reused: int = 0,
) -> None:
    """Runs all jobs, `workers` at a time; calls `finished` with each summary, in this thread, in any order.

    The first failure, and Ctrl-C, stops the runs under way; runs that have ended by then still reach `finished`.
    """
    runs = _Runs()
    ended: queue.SimpleQueue[Future[tuple[Job, dict[str, Any]]]] = queue.SimpleQueue()
    total, done = reused + len(jobs), reused

    def report() -> None:
        if progress is not None:
            fraction = min(1.0, (done + runs.underway()) / total) if total else 1.0
            progress(Progress(done, total, reused, fraction))

    report()
    with ThreadPoolExecutor(max_workers=min(workers, max(len(jobs), 1)), thread_name_prefix="netlull") as pool:
        try:
            for job in jobs:
                pool.submit(runs.run, job).add_done_callback(ended.put)
            while done < total:
                try:
                    future = ended.get(timeout=_TICK_S)
                except queue.Empty:
                    report()
                    continue
                finished(*future.result())
                done += 1
                report()
        except BaseException:
            runs.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            _keep_finished(ended, finished)
            raise


def _keep_finished(
    ended: queue.SimpleQueue[Future[tuple[Job, dict[str, Any]]]], finished: Callable[[Job, dict[str, Any]], None]
) -> None:
    """Hands over runs that ended before the sweep was stopped, so that nothing is lost."""
    while not ended.empty():
        future = ended.get()
        if not future.cancelled() and future.exception() is None:
            finished(*future.result())
