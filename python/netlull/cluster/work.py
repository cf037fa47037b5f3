"""What runs on a worker: a batch of runs, of scenarios that come as text."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from netlull import _engine

__all__ = ["Failure", "Outcome", "WrongBuildError", "as_is", "identity", "work"]

_TOLD_EVERY_S = 1.0
"""Between two looks at a batch under way: how far it is, and whether anybody still waits for it."""

_MOST_SCENARIOS = 1000
"""Checked scenarios that a worker keeps."""

_OVER = {"closing", "closed", "failed", "stopping", "stopped"}
"""The states of a worker that only waits for its threads."""


class WrongBuildError(Exception):
    """The worker's simulator is another than the one that asks; says the worker's address and build."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What a run raised. Exceptions of the core's name their module as no worker could find it, so they go as text."""

    kind: str
    message: str
    trace: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The runs of a batch that ended, in its order: summary and CPU time; then what the next one raised, if it did."""

    runs: list[tuple[str, float]]
    failure: Failure | None


def identity() -> str:
    """The build of this process's simulator."""
    return _engine.identity()


def as_is(text: str) -> str:
    """A long scenario as a task of its own: Dask brings its result to each worker once."""
    return text


def work(build: str, topic: str, runs: Sequence[tuple[int, int]], *texts: str) -> Outcome:
    """Simulates `runs`, each the number of its scenario in `texts` and a seed.

    While it lasts, its share is told as an event of `topic`; if it was cancelled, or the worker closes, it is left.
    """
    ended: list[tuple[str, float]] = []
    try:
        _compare(build)
        underway = _Underway(len(runs))
        with _told(underway, topic):
            for number, (scenario, seed) in enumerate(runs):
                monitor = underway.begin(number)
                checked = _checked(texts[scenario])
                began_s = time.thread_time()
                summary = checked.measure(seed, monitor)
                ended.append((summary, time.thread_time() - began_s))
    except _engine.Cancelled:
        from distributed import Reschedule

        # If anybody still waits, this worker is closing, and another one will do it.
        raise Reschedule from None
    except Exception as error:
        return Outcome(ended, Failure(type(error).__name__, str(error), traceback.format_exc()))
    return Outcome(ended, None)


def _compare(build: str) -> None:
    if identity() != build:
        from distributed import get_worker

        raise WrongBuildError(f"{get_worker().address} {identity()}")


@functools.lru_cache(_MOST_SCENARIOS)
def _checked(text: str) -> _engine.Checked:
    """A scenario is checked once in a process, whatever the batches and threads that run it."""
    return _engine.Checked(text)


@dataclass(slots=True)
class _Underway:
    """The run of a batch that is simulated now."""

    total: int
    number: int = 0
    monitor: _engine.Monitor = field(default_factory=_engine.Monitor)
    cancelled: bool = False

    def begin(self, number: int) -> _engine.Monitor:
        """The next run."""
        self.number, self.monitor = number, _engine.Monitor()
        # In this order: whoever cancels the batch either finds this monitor, or is seen now.
        if self.cancelled:
            self.monitor.cancel()
        return self.monitor

    def cancel(self) -> None:
        """Ends the run, and those after it."""
        self.cancelled = True
        self.monitor.cancel()

    @property
    def share(self) -> float:
        """Of the batch."""
        return (self.number + self.monitor.fraction) / self.total


@contextlib.contextmanager
def _told(underway: _Underway, topic: str) -> Iterator[None]:
    """Looks after a batch from another thread while the block runs it."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()
    over = threading.Event()

    def look() -> None:
        while not over.wait(_TOLD_EVERY_S):
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled" or worker.status.name in _OVER:
                underway.cancel()
                return
            worker.log_event(topic, [key, underway.share])

    watcher = threading.Thread(target=look, name="netlull-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
