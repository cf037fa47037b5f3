"""An open cluster: its client, its number of simultaneous runs, and the check of its workers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from netlull import _engine
from netlull.cluster.work import identity
from netlull.errors import ClusterError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Cluster"]

_LOOK_S = 0.1


def _nothing() -> None:
    pass


def _no_word() -> str | None:
    return None


@dataclass
class Cluster:
    """A cluster that `open_cluster` reached. Several sweeps may use it, one after the other."""

    name: str
    """The user's name for it, such as `tcp://10.1.2.3:8786`."""

    client: Client
    patience_s: float
    """The longest time without a worker, in seconds: at the start, or after the loss of all workers."""

    grow: Callable[[], None] = _nothing
    """Requests the workers, if they are created for this cluster."""

    refusal: Callable[[], str | None] = _no_word
    """The reason of a failed request for workers; None if it did not fail."""

    wanted_slots: int = 0
    """The number of simultaneous runs requested; 0 if the cluster has its own workers."""

    _is_ready: bool = field(default=False, init=False)

    def ready(self) -> None:
        """Requests workers, waits for the first, and compares builds. Does nothing the second time.

        Raises:
            ClusterError: no worker joins in time, or a worker has another build of netlull or none.
        """
        if self._is_ready:
            return
        self.grow()
        began_s = time.monotonic()
        while self.slots() == 0:
            self.lacks_workers(time.monotonic() - began_s)
            time.sleep(_LOOK_S)
        self._compare_builds()
        self._is_ready = True

    def lacks_workers(self, lasting_s: float) -> None:
        """Checks the time without a worker, `lasting_s` in seconds.

        Raises:
            ClusterError: the time is over `patience_s`, or the request for workers failed.
        """
        refused = self.refusal()
        if refused is not None:
            raise ClusterError(f"cluster {self.name}: {refused}")
        if lasting_s > self.patience_s:
            raise ClusterError(
                f"cluster {self.name}: has had no worker for {self.patience_s:g} s; expected at least one "
                "(docs/how-to/cluster.md, Find the cause of an error)"
            )

    def slots(self) -> int:
        """The number of runs that its workers can do at the same time now.

        Raises:
            ClusterError: the scheduler is no longer reachable.
        """
        with self.reached():
            return sum(self.client.nthreads().values())

    @contextlib.contextmanager
    def reached(self) -> Iterator[None]:
        """Requests to the scheduler belong in it. A client that has given up a lost scheduler is closed.

        Raises:
            ClusterError: the scheduler is no longer reachable.
        """
        from distributed.client import ClosedClientError

        try:
            yield
        except (OSError, RuntimeError, TimeoutError, ClosedClientError) as error:
            raise self.lost(error) from None

    def lost(self, error: BaseException | str) -> ClusterError:
        """The error for a lost scheduler."""
        said = f" ({error})" if str(error) else ""
        return ClusterError(f"cluster {self.name}: its scheduler is no longer reachable{said}; run again to resume")

    def _compare_builds(self) -> None:
        with self.reached():
            found = self.client.run(identity, on_error="return")
        for address, build in found.items():
            if isinstance(build, ModuleNotFoundError):
                raise ClusterError(f"cluster {self.name}: worker {address} has no netlull ({build}); {_expected()}")
            if isinstance(build, BaseException):
                raise ClusterError(f"cluster {self.name}: worker {address} cannot be used: {build}")
            if build != _engine.identity():
                raise self.wrong_build(address, build)

    def wrong_build(self, worker: str, build: str) -> ClusterError:
        """The error for a worker with another build of the simulator."""
        return ClusterError(f"cluster {self.name}: worker {worker} has netlull {build}; {_expected()}")


def _expected() -> str:
    return f"expected {_engine.identity()}, as here: install the same wheel on every machine"
