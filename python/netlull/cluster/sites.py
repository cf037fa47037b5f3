"""Access to a cluster: processes of this machine, a running scheduler, or jobs of a batch system."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import importlib.util
import logging
import math
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from netlull.cluster.cluster import Cluster
from netlull.cluster.settings import Settings, read_settings
from netlull.errors import ClusterError
from netlull.runs.team import default_workers

if TYPE_CHECKING:
    from distributed import Client
    from distributed.security import Security


__all__ = ["WHERE", "open_cluster"]

WHERE = "local, tcp://HOST:PORT, tls://HOST:PORT, slurm or pbs"

_CONNECT_S = 10
"""The longest time for a scheduler to answer, in seconds."""

_PATIENCE_S = 60.0
"""The longest time without a worker where no job waits in a queue, in seconds."""

_FOR_GOOD = "365 days"
"""Dask checks a process once, this long after its death. If another death is under repair at that time, Dask takes the
process for lost and stops its replacement."""

_NO_DASHBOARD = "127.0.0.1:0"
"""Any port, on this machine only: Dask always serves its pages."""

_QUEUES = {"slurm": ("SLURMCluster", "sbatch"), "pbs": ("PBSCluster", "qsub")}


@contextlib.contextmanager
def open_cluster(where: str, *, workers: int | None = None, config: str | Path | None = None) -> Iterator[Cluster]:
    """Opens a cluster for the duration of the block. Its jobs and processes end with the block.

    Args:
        where: `local` (processes of this machine), `tcp://HOST:PORT` or `tls://...` (a Dask scheduler), `slurm`, `pbs`.
        workers: number of simultaneous runs; default one per core (`local`), or as in `config` (`slurm`, `pbs`).
        config: a TOML file that describes the jobs (`slurm`, `pbs`; docs/how-to/cluster.md).

    Raises:
        ClusterError: no answer within 10 s, `where` is unknown, or the extra `cluster` is not installed.
    """
    kind = where if where in {"local", *_QUEUES} else where.partition("://")[0]
    if kind not in {"local", "tcp", "tls", *_QUEUES}:
        raise ClusterError(f'cluster: "{where}" is unknown; expected {WHERE}')
    if config is not None and kind not in _QUEUES:
        raise ClusterError(f"cluster-config: {config} describes jobs, and {where} has none; expected slurm or pbs")
    if workers is not None and kind in {"tcp", "tls"}:
        raise ClusterError(
            f"workers: {workers} cannot be set for {where}, which has its own workers; expected no number"
        )
    _check_installed()
    with _quiet():
        if kind == "local":
            opened = _local(workers or default_workers())
        elif kind in _QUEUES:
            opened = _queue(kind, workers, None if config is None else Path(config))
        else:
            opened = _scheduler(where, kind)
        with opened as cluster:
            yield cluster


def _check_installed() -> None:
    for module in ("distributed", "dask_jobqueue", "cryptography"):
        if importlib.util.find_spec(module) is None:
            raise ClusterError(
                f"cluster: {module} is not installed; expected the extra: pip install 'netlull[cluster]'"
            )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences Dask's logs. netlull's messages name the effect on the sweep instead."""
    import dask

    # Import before any setting: a setting in a table that does not exist yet removes the whole table at its end.
    import distributed  # noqa: F401

    with contextlib.ExitStack() as stack:
        for name in ("distributed", "dask_jobqueue", "tornado.application", "asyncio"):
            logger = logging.getLogger(name)
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        # For child processes.
        stack.enter_context(
            dask.config.set({"logging.distributed": "critical", "distributed.worker.profile.enabled": False})
        )
        yield


@contextlib.contextmanager
def _local(workers: int) -> Iterator[Cluster]:
    """Opens a process per simultaneous run: its death affects no other run. Dask replaces it."""
    import dask
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": _FOR_GOOD}),
        tempfile.TemporaryDirectory(prefix="netlull-") as scratch,
    ):
        with _deaf_to_interrupts():
            made = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                protocol="tls://",
                security=_own_security(),
                dashboard_address=_NO_DASHBOARD,
                memory_limit=None,
                local_directory=scratch,
                silence_logs=logging.CRITICAL,
            )
        with made, _client(made) as client:
            yield Cluster("local", client, _PATIENCE_S, wanted_slots=workers)


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Keeps the terminal's Ctrl-C from processes and threads that begin in the block, and from their processes.

    The sweep answers it. A worker would print a traceback.
    """
    if sys.platform == "win32":
        yield
    else:
        # Its start would let the signal through again.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _scheduler(address: str, kind: str) -> Iterator[Cluster]:
    from distributed.security import Security

    _check_address(address)
    security = Security() if kind == "tls" else None
    _check_answers(address, {} if security is None else security.get_connection_args("client"))
    with _client(address, security) as client:
        cluster = Cluster(address, client, _PATIENCE_S)
        cluster.ready()
        yield cluster


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname and parts.port)
    except ValueError:
        is_whole = False
    if not is_whole:
        raise ClusterError(
            f'cluster: "{address}" is not an address; expected {address.partition("://")[0]}://HOST:PORT'
        )


def _check_answers(address: str, connection: dict[str, Any]) -> None:
    """Asks the scheduler with a time limit: Dask's client would wait for ever on a silent connection."""
    from distributed.comm import connect

    async def ask() -> None:
        comm = await asyncio.wait_for(connect(address, timeout=_CONNECT_S, **connection), _CONNECT_S)
        await comm.close()

    try:
        # In a thread: a notebook has its own event loop in this one.
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: asyncio.run(ask())).result()
    except (OSError, RuntimeError, ValueError, TypeError, TimeoutError) as error:
        why = f": {error}" if str(error) else ""
        raise ClusterError(
            f"cluster {address}: cannot be reached within {_CONNECT_S} s{why}; expected a Dask scheduler there"
        ) from None


@contextlib.contextmanager
def _client(target: Any, security: Security | None = None) -> Iterator[Client]:
    from distributed import Client

    with Client(target, timeout=_CONNECT_S, set_as_default=False, security=security) as client:
        yield client


def _own_security() -> Security:
    """Keys of this cluster alone. Without them, anyone on the machine or its network could run code as the user."""
    from distributed.security import Security

    security: Security = Security.temporary()
    return security


def import_jobqueue() -> Any:
    """The package dask_jobqueue. Its import sets a handler for Ctrl-C that ends the process without a word."""
    before = signal.getsignal(signal.SIGINT)
    import dask_jobqueue

    # In other threads the handler cannot be set, nor does it change after the first import.
    if signal.getsignal(signal.SIGINT) is not before:
        signal.signal(signal.SIGINT, before)
    return dask_jobqueue


@contextlib.contextmanager
def _queue(kind: str, workers: int | None, config: Path | None) -> Iterator[Cluster]:
    dask_jobqueue = import_jobqueue()
    name, command = _QUEUES[kind]
    made_by = getattr(dask_jobqueue, name)
    settings = read_settings(config, (made_by, made_by.job_cls))
    if shutil.which(command) is None:
        raise ClusterError(f"cluster {kind}: there is no command {command} here; expected a machine that submits jobs")
    refused: list[str] = []
    with contextlib.ExitStack() as stack:
        made = stack.enter_context(_made(kind, made_by, settings, refused, stack.enter_context(_shared_keys(kind))))
        client = stack.enter_context(_client(made))
        slots = made._dummy_job.worker_cores  # noqa: SLF001  # as in scale()
        jobs = settings.jobs or settings.maximum_jobs or (None if workers is None else math.ceil(workers / slots))
        if jobs is None:
            raise ClusterError(
                f"cluster {kind}: the number of jobs is missing; expected --workers, or `jobs` in --cluster-config"
            )
        if workers is not None:
            jobs = math.ceil(workers / slots)

        def grow() -> None:
            if settings.is_adaptive and workers is None:
                made.adapt(minimum_jobs=settings.minimum_jobs, maximum_jobs=settings.maximum_jobs, target_duration="1s")
            else:
                made.scale(jobs=jobs)

        yield Cluster(
            kind, client, settings.wait_s, grow, lambda: refused[0] if refused else None, wanted_slots=jobs * slots
        )


@contextlib.contextmanager
def _shared_keys(kind: str) -> Iterator[Security]:
    """Keys of this cluster alone, in files that only the user's jobs can read."""
    import dask
    from distributed.security import Security

    folder = dask.config.get(f"jobqueue.{kind}.shared-temp-directory", None) or Path.cwd()
    try:
        with tempfile.TemporaryDirectory(prefix=".netlull-keys-", dir=folder) as keys:
            paths = {}
            for part, text in _own_security().get_tls_config_for_role("worker").items():
                if part in {"ca_file", "cert", "key"}:
                    paths[part] = str(Path(keys) / f"{part}.pem")
                    Path(paths[part]).write_text(text, encoding="ascii")
            roles = ("scheduler", "worker", "client")
            pairs = {f"tls_{role}_{part}": paths[part] for role in roles for part in ("cert", "key")}
            yield Security(tls_ca_file=paths["ca_file"], require_encryption=True, **pairs)
    except OSError as error:
        raise ClusterError(f"cluster {kind}: {folder} cannot hold the keys: {error.strerror or error}") from None


def _made(kind: str, made_by: Any, settings: Settings, refused: list[str], security: Security) -> Any:
    """The scheduler in this process. Its jobs record the reason of a failed submission."""
    import dask
    from distributed import Status

    class Job(made_by.job_cls):  # type: ignore[misc]  # a class of dask-jobqueue, which has no types
        async def start(self) -> None:
            try:
                await super().start()
            except Exception as error:
                refused.append(f"{self.submit_command} failed: {_last_line(error)}")
                # Otherwise closing the cluster would fail on a job that never started.
                self.status = Status.failed
                raise

    configured = dask.config.get(f"jobqueue.{kind}", {})
    defaults = {
        # One process per job: the core releases the GIL, so threads share scenarios and a connection at no cost.
        "processes": configured.get("processes") or 1,
        "security": security,
        "scheduler_options": {"dashboard_address": _NO_DASHBOARD, **(configured.get("scheduler-options") or {})},
    }
    for size in ("cores", "memory"):
        if settings.job.get(size, configured.get(size)) is None:
            raise ClusterError(f"cluster {kind}: {size}: is missing; expected a job's, in the file of --cluster-config")
    try:
        return made_by(job_cls=Job, silence_logs=logging.CRITICAL, **{**defaults, **settings.job})
    except (ValueError, TypeError, OSError) as error:
        raise ClusterError(f"cluster {kind}: {error}") from None


def _last_line(error: Exception) -> str:
    """The last line of the command's output."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
