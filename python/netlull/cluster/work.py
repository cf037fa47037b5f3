"""The work of a cluster worker: a batch of runs, whose scenarios arrive as text."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from netlull import _engine
from netlull.plugins.loading import Passed, take
from netlull.runs.memory import limit

__all__ = ["Failure", "Outcome", "WrongBuildError", "as_is", "identity", "work"]

_TOLD_EVERY_S = 1.0
"""Time between two checks of a running batch: its progress, and if the result is still wanted."""

_MOST_SCENARIOS = 1000
"""Number of checked scenarios that a worker keeps."""

_OVER = {"closing", "closed", "failed", "stopping", "stopped"}
"""The states of a worker that only waits for its threads."""


class WrongBuildError(Exception):
    """The worker has another build of the simulator. The message has the worker's address and build."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception of a run, as text: the core's exceptions cannot be unpickled on another machine."""

    kind: str
    message: str
    trace: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The finished runs of a batch, in order, as summary and CPU time in s; then the next run's failure, if any.

    A run above its memory limit is finished by its failure.
    """

    runs: list[tuple[str, float] | Failure]
    failure: Failure | None


def identity() -> str:
    """The build of this process's simulator."""
    return _engine.identity()


def as_is(text: str) -> str:
    """Returns a long scenario as the result of its own task: Dask brings it to each worker once."""
    return text


def work(
    build: str, topic: str, memory: int | None, code: Passed, runs: Sequence[tuple[int, int]], *texts: str
) -> Outcome:
    """Simulates `runs`, each a pair of the scenario's index in `texts` and a seed. It may load `code`.

    `memory` is the limit of each run in bytes; the default is a share of the worker's memory. Meanwhile
    the progress is reported as an event of `topic`. A cancelled batch, or one on a closing worker, is left.
    """
    ended: list[tuple[str, float] | Failure] = []
    try:
        _compare(build)
        take(code)
        most = _memory() if memory is None else memory
        underway = _Underway(len(runs))
        with _told(underway, topic):
            for number, (scenario, seed) in enumerate(runs):
                monitor = underway.begin(number)
                checked = _checked(texts[scenario])
                began_s = time.thread_time()
                try:
                    summary = checked.measure(seed, monitor, most)
                except _engine.MemoryLimitError as error:
                    ended.append(_failure(error))
                else:
                    ended.append((summary, time.thread_time() - began_s))
    except _engine.Cancelled:
        from distributed import Reschedule

        # Only if this worker is closing does the result still matter: another worker repeats the batch.
        raise Reschedule from None
    except Exception as error:
        return Outcome(ended, _failure(error))
    return Outcome(ended, None)


def _failure(error: Exception) -> Failure:
    return Failure(type(error).__name__, str(error), "".join(traceback.format_exception(error)))


def _memory() -> int:
    """The memory limit of a run, in bytes: the worker's threads share its memory."""
    from distributed import get_worker

    worker = get_worker()
    free, most = limit(None, worker.state.nthreads), worker.memory_manager.memory_limit
    return min(free, most // worker.state.nthreads) if most else free


def _compare(build: str) -> None:
    if identity() != build:
        from distributed import get_worker

        raise WrongBuildError(f"{get_worker().address} {identity()}")


@functools.lru_cache(_MOST_SCENARIOS)
def _checked(text: str) -> _engine.Checked:
    """A checked scenario. A process checks each text once, for all batches and threads."""
    return _engine.Checked(text)


@dataclass(slots=True)
class _Underway:
    """The run of a batch that is simulated now."""

    total: int
    number: int = 0
    monitor: _engine.Monitor = field(default_factory=_engine.Monitor)
    cancelled: bool = False

    def begin(self, number: int) -> _engine.Monitor:
        """Starts the next run."""
        self.number, self.monitor = number, _engine.Monitor()
        # The order matters: a cancellation either finds this monitor, or is seen here.
        if self.cancelled:
            self.monitor.cancel()
        return self.monitor

    def cancel(self) -> None:
        """Ends this run and the following ones."""
        self.cancelled = True
        self.monitor.cancel()

    @property
    def share(self) -> float:
        """The finished share of the batch, 0 to 1."""
        return (self.number + self.monitor.fraction) / self.total


@contextlib.contextmanager
def _told(underway: _Underway, topic: str) -> Iterator[None]:
    """Watches a batch from another thread while the block runs it."""
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
