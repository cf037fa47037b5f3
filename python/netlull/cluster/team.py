"""The team that runs a sweep on a cluster: batches out, summaries back, tolerant of lost workers."""

from __future__ import annotations

import contextlib
import itertools
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.cluster.work import Failure, Outcome, WrongBuildError, as_is, work
from netlull.errors import ClusterError
from netlull.plugins.loading import pass_on
from netlull.runs.team import Finished

if TYPE_CHECKING:
    from distributed import Future
    from distributed.scheduler import KilledWorker

    from netlull.cluster.cluster import Cluster
    from netlull.runs.order import Job, LongestFirst

__all__ = ["ClusterTeam"]

_TICK_S = 0.2
_LOOK_EVERY_S = 1.0
"""Time between two counts of the workers."""

_PER_SLOT = 2
"""Batches per worker thread: one that runs and one in reserve, which avoids idle time."""

_LEAST_S = 0.05
_MOST_S = 1.0
"""CPU time of a batch: Dask spends milliseconds on each, in three processes."""

_CLIENT_S = 0.01
"""Time per batch for the sweep's process. With many workers, batches get longer than `_MOST_S` to keep it."""

_LONG_TEXT = 64 * 1024
"""A scenario with more characters goes to each worker once, as its own task. Shorter ones travel in the batch."""

_LONG_TEXTS = 64
"""Long texts that the cluster keeps for later batches."""

_END_S = 5.0
"""The longest time that a stopping team waits for finished batches."""


@dataclass(slots=True)
class _Batch:
    jobs: list[Job]
    future: Future
    is_alone: bool
    """No other batch runs at the same time."""

    hops: float
    share: float = 0.0


class ClusterTeam:
    """Workers of a cluster.

    A worker that dies loses its batches. Dask gives them to others, a few times. Then the batch is set aside as a
    possible cause. After all other batches, its runs go one at a time, alone. A run that still ends every worker is
    named and ends the sweep.
    """

    def __init__(self, order: LongestFirst, cluster: Cluster, memory: int | None = None) -> None:
        self.ended: queue.SimpleQueue[Finished | BaseException] = queue.SimpleQueue()
        self._order = order
        self._cluster = cluster
        self._memory = memory
        self._client = cluster.client
        self._name = f"netlull-{uuid.uuid4().hex[:12]}"
        self._numbers = itertools.count()
        self._done: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._batches: dict[str, _Batch] = {}
        self._texts: dict[_engine.Checked, str | Future] = {}
        self._suspects: deque[Job] = deque()
        self._slots = 0
        self._looked_s = self._had_workers_s = 0.0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._lead, name="netlull-cluster", daemon=True)

    def start(self) -> None:
        """Waits until the cluster is usable, and begins.

        Raises:
            ClusterError: the cluster is not usable.
        """
        self._cluster.ready()
        with self._cluster.reached():
            self._client.subscribe_topic(self._name, self._told)
        self._had_workers_s = time.monotonic()
        self._thread.start()

    def underway(self) -> float:
        """Packet-hops done of the batches under way, from the shares that their workers report."""
        return sum(batch.share * batch.hops for batch in list(self._batches.values()))

    def stop(self) -> None:
        """Takes the finished batches and cancels the rest. Workers leave cancelled runs within a second or two."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join(_END_S)
        # Without its scheduler, the runs are lost anyway.
        with contextlib.suppress(ClusterError), self._cluster.reached():
            self._client.cancel([batch.future for batch in list(self._batches.values())])

    def join(self) -> None:
        """Waits for the last batch."""
        if self._thread.ident is not None:
            self._thread.join()
            with contextlib.suppress(ClusterError), self._cluster.reached():
                self._client.unsubscribe_topic(self._name)

    def _told(self, event: tuple[float, Any]) -> None:
        key, share = event[1]
        batch = self._batches.get(key)
        if batch is not None:
            batch.share = share

    def _lead(self) -> None:
        try:
            while not self._stopped.is_set():
                self._look_around()
                self._hand_out()
                if not self._batches:
                    return
                self._collect(self._arrived())
            self._collect([batch.future for batch in self._batches.values() if batch.future.status == "finished"])
        except BaseException as error:  # forwarded
            self.ended.put(error)

    def _look_around(self) -> None:
        """Counts the workers, at most once per `_LOOK_EVERY_S`."""
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_EVERY_S:
            return
        self._looked_s = now_s
        self._slots = self._cluster.slots()
        if self._slots:
            self._had_workers_s = now_s
        else:
            self._cluster.lacks_workers(now_s - self._had_workers_s)

    def _hand_out(self) -> None:
        slots = max(self._slots, self._cluster.wanted_slots, 1)
        most_s = max(_MOST_S, slots * _CLIENT_S)
        while len(self._batches) < _PER_SLOT * slots and (jobs := self._order.batch(2 * slots, _LEAST_S, most_s)):
            self._submit(jobs)
        if not self._batches and self._suspects:
            self._submit([self._suspects.popleft()], is_alone=True)

    def _submit(self, jobs: list[Job], *, is_alone: bool = False) -> None:
        numbers: dict[_engine.Checked, int] = {}
        runs = [(numbers.setdefault(job.scenario, len(numbers)), job.seed) for job in jobs]
        key = f"{self._name}-{next(self._numbers)}"
        texts = [self._text(scenario) for scenario in numbers]
        work_of = (_engine.identity(), self._name, self._memory, pass_on(), runs, *texts)
        with self._cluster.reached():
            future = self._client.submit(work, *work_of, key=key, pure=False)
        self._batches[key] = _Batch(jobs, future, is_alone, sum(job.expected_hops for job in jobs))
        future.add_done_callback(self._done.put)

    def _text(self, scenario: _engine.Checked) -> str | Future:
        known = self._texts.get(scenario)
        if known is not None:
            return known
        text: str | Future = scenario.canonical()
        if len(text) > _LONG_TEXT:
            if len(self._texts) == _LONG_TEXTS:
                del self._texts[next(iter(self._texts))]
            with self._cluster.reached():
                text = self._client.submit(as_is, text, key=f"{self._name}-{next(self._numbers)}")
            self._texts[scenario] = text
        return text

    def _arrived(self) -> list[Future]:
        """Finished batches, after a short wait for the first."""
        arrived: list[Future] = []
        try:
            arrived.append(self._done.get(timeout=_TICK_S))
            while True:
                arrived.append(self._done.get_nowait())
        except queue.Empty:
            return arrived

    def _collect(self, futures: Sequence[Future]) -> None:
        """Hands over the results of batches."""
        from distributed.scheduler import KilledWorker

        sound = [future for future in futures if future.status == "finished"]
        try:
            outcomes: dict[str, Outcome] = dict(
                zip([future.key for future in sound], self._client.gather(sound), strict=True)
            )
        except Exception:  # single requests show the failed one
            outcomes = {}
        failures: list[Exception] = []
        for future in futures:
            batch = self._batches.pop(future.key, None)
            if batch is None:
                continue
            try:
                self._hand_over(batch.jobs, outcomes.get(future.key) or future.result())
            except KilledWorker as error:
                if batch.is_alone:
                    failures.append(_culprit(batch.jobs[0], error))
                else:
                    self._suspects.extend(batch.jobs)
            except Exception as error:
                failures.append(self._unusable(future, error))
        # Raised after the sound results were handed over.
        if failures:
            raise failures[0]

    def _hand_over(self, jobs: Sequence[Job], outcome: Outcome) -> None:
        for job, run in zip(jobs, outcome.runs, strict=False):
            if isinstance(run, Failure):
                self.ended.put(self._raised(job, run))
                continue
            summary, cpu_s = run
            self._order.took(job, cpu_s)
            self.ended.put(Finished(job, summary, cpu_s))
        if outcome.failure is not None:
            raise self._raised(jobs[len(outcome.runs)], outcome.failure)

    def _unusable(self, future: Future, error: Exception) -> Exception:
        """The exception of a batch that failed because of the cluster."""
        if future.status in ("cancelled", "lost"):
            return self._cluster.lost("")
        if isinstance(error, ModuleNotFoundError):
            return ClusterError(f"cluster {self._cluster.name}: a worker has no netlull ({error})")
        return error

    def _raised(self, job: Job, failure: Failure) -> Exception:
        """A run's exception, as a local run would raise it."""
        if failure.kind == WrongBuildError.__name__:
            return self._cluster.wrong_build(*failure.message.split())
        kinds: tuple[type[Exception], ...] = (
            _engine.ScenarioError,
            _engine.MemoryLimitError,
            _engine.VerificationError,
        )
        kind = next((kind for kind in kinds if kind.__name__ == failure.kind), None)
        error = kind(failure.message) if kind else RuntimeError(f"on a worker: {failure.message}\n{failure.trace}")
        error.add_note(f"in the run {job.label}")
        return error


def _culprit(job: Job, error: KilledWorker) -> ClusterError:
    return ClusterError(
        f"the run {job.label} ended {error.allowed_failures + 1} workers one after another, with nothing else "
        f"under way (the last: {error.last_worker.address}); expected it to end by itself: check its memory and log"
    )
