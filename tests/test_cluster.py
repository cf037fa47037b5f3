"""Sweeps on a cluster: the same bytes, whatever happens to workers, the client and the scheduler."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from conftest import SMALL, start
from netlull import Axis, Cluster, ClusterError, NetlullWarning, Progress, Scenario, ScenarioError, Sweep, open_cluster
from netlull.cluster import sites

distributed = pytest.importorskip("distributed")

Refused = Callable[..., str]
Printed = Callable[..., str]

METRICS = {"goodput_bps": "flow.tcp.goodput_bps"}
SEEDS = 40
SWEEP = f"""
scenario = "small.toml"
seeds = {SEEDS}
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[[axis]]
name = "d"
path = "duration"
values = ["0.5 s", "40 s"]
"""
"""Runs of a few to about 10 ms: together about a second."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler on a busy machine answers late."""
    monkeypatch.setattr(sites, "_CONNECT_S", 300)


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    """Two processes that run one task at a time, and an open scheduler."""
    quiet = {
        "logging.distributed": "critical",
        "distributed.worker.profile.enabled": False,
        "distributed.deploy.lost-worker-timeout": "365 days",  # processes are restarted after any number of deaths
    }
    import dask

    with (
        dask.config.set(quiet),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", memory_limit=None, silence_logs=60
        ) as made,
    ):
        yield made


@pytest.fixture
def address(workers: Any) -> str:
    return str(workers.scheduler_address)


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SMALL)
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture
def sweep(sweep_file: Path) -> Sweep:
    return Sweep.from_file(sweep_file)


@pytest.fixture
def expected(sweep: Sweep, tmp_path: Path) -> bytes:
    """The table of a single process."""
    sweep.run(tmp_path / "alone")
    return (tmp_path / "alone" / "results.parquet").read_bytes()


@pytest.fixture
def endless(small: Scenario) -> Sweep:
    """Two runs too long to finish."""
    return Sweep(small.with_values({"duration": "1000000 s"}), [], 2, METRICS)


class Sabotage(distributed.WorkerPlugin):  # type: ignore[misc]  # of a library without types
    """On every worker, now and later, a run with one seed kills the process or raises an exception."""

    name = "sabotage"

    def __init__(self, seed: int, error: str | None = None) -> None:
        self.seed, self.error = seed, error

    def setup(self, worker: object) -> None:
        from netlull.cluster import work

        self.sound = work._checked
        work._checked = self.checked  # type: ignore[assignment]  # a wrapper

    def teardown(self, worker: object) -> None:
        from netlull.cluster import work

        work._checked = self.sound

    def checked(self, text: str) -> Any:
        from types import SimpleNamespace

        def measure(seed: int, monitor: Any, memory: int | None = None) -> str:
            if seed == self.seed and self.error:
                raise ScenarioError(self.error)
            if seed == self.seed:
                os.kill(os.getpid(), signal.SIGKILL)
            return str(self.sound(text).measure(seed, monitor, memory))

        return SimpleNamespace(measure=measure)


@pytest.fixture
def sabotage(workers: Any) -> Iterator[Callable[..., None]]:
    with workers.get_client() as client:
        yield lambda *what: client.register_plugin(Sabotage(*what))
        client.unregister_worker_plugin("sabotage")


def lines(store: Path) -> list[bytes]:
    return (store / "journal.jsonl").read_bytes().splitlines()


def table(store: Path) -> bytes:
    return (store / "results.parquet").read_bytes()


def wait_until(holds: Callable[[], bool]) -> None:
    """Ten minutes allow for a busy machine."""
    end_s = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def test_the_table_is_the_one_that_one_process_makes(
    sweep: Sweep, expected: bytes, address: str, tmp_path: Path
) -> None:
    seen: list[Progress] = []
    result = sweep.run(tmp_path / "store", cluster=address, progress=seen.append)
    assert (result.executed, result.reused) == (2 * SEEDS, 0)
    assert result.cost.cpu_s > 0
    assert table(tmp_path / "store") == expected
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert (seen[-1].done, seen[-1].total, seen[-1].fraction) == (2 * SEEDS, 2 * SEEDS, 1.0)
    again = sweep.run(tmp_path / "store", cluster=address)
    assert (again.executed, again.reused) == (0, 2 * SEEDS)


def test_long_scenarios_go_as_tasks_of_their_own(
    sweep: Sweep, expected: bytes, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from netlull.cluster import team

    monkeypatch.setattr(team, "_LONG_TEXT", 100)
    monkeypatch.setattr(team, "_LONG_TEXTS", 1)
    sweep.run(tmp_path / "store", cluster=address)
    assert table(tmp_path / "store") == expected


def test_killed_workers_lose_nothing(sweep: Sweep, expected: bytes, workers: Any, address: str, tmp_path: Path) -> None:
    killed: list[int] = []

    def kill(progress: Progress) -> None:
        # A worker dies whenever a quarter of the runs has returned, and only live ones.
        if len(killed) < 3 and progress.done >= (len(killed) + 1) * SEEDS // 2:
            # On a busy machine none may be alive: the next one has not started.
            for worker in [worker.pid for worker in workers.workers.values() if worker.pid not in {*killed, None}][:1]:
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

    result = sweep.run(tmp_path / "store", cluster=address, progress=kill)
    assert killed
    assert len(set(killed)) == len(killed)
    assert result.executed == 2 * SEEDS
    assert table(tmp_path / "store") == expected
    # Every run counts once.
    assert len(lines(tmp_path / "store")) == 2 * SEEDS


def test_a_killed_client_resumes(sweep_file: Path, sweep: Sweep, expected: bytes, address: str, tmp_path: Path) -> None:
    store = tmp_path / "store"
    process = start("sweep", sweep_file, "--out", store, "--cluster", address, "--seeds", str(20 * SEEDS))
    wait_until(lambda: process.poll() is not None or ((store / "journal.jsonl").exists() and len(lines(store)) > 10))
    process.kill()
    assert process.communicate()[1] == ""
    assert process.returncode == -signal.SIGKILL
    kept = len(lines(store))
    assert 10 < kept < 40 * SEEDS
    with warnings.catch_warnings():
        # The last line may have been cut.
        warnings.filterwarnings("ignore", r".*journal\.jsonl line \d+ is truncated", NetlullWarning)
        result = sweep.run(store, cluster=address)
    assert result.executed + result.reused == 2 * SEEDS
    assert table(store) == expected


def test_a_run_that_ends_every_worker_is_named(
    sweep: Sweep, sabotage: Callable[..., None], address: str, tmp_path: Path
) -> None:
    sabotage(7)
    short = sweep.replaced(axes=[Axis("d", "duration", ["0.5 s"])])
    with pytest.raises(ClusterError, match=r"the run sweep at d=0\.5 s, seed 7 ended 4 workers one after another"):
        short.run(tmp_path / "store", cluster=address)
    # The finished runs are in the store: at least the first, which goes alone, but not the failed one.
    kept = lines(tmp_path / "store")
    assert 1 <= len(kept) < SEEDS
    assert not any(b'"seed":7,' in line for line in kept)


def test_an_error_in_a_run_names_the_run(
    sweep: Sweep, sabotage: Callable[..., None], address: str, tmp_path: Path
) -> None:
    sabotage(7, "flow.tcp: is broken")
    with pytest.raises(ScenarioError, match=r"^flow\.tcp: is broken") as caught:
        sweep.run(tmp_path / "store", cluster=address)
    assert caught.value.__notes__ in (
        ["in the run sweep at d=0.5 s, seed 7"],
        ["in the run sweep at d=40 s, seed 7"],
    )


def test_ctrl_c_keeps_what_ended_and_frees_the_workers(
    endless: Sweep, workers: Any, address: str, tmp_path: Path
) -> None:
    seen: list[Progress] = []

    def interrupt(progress: Progress) -> None:
        seen.append(progress)
        if progress.fraction > 0:
            raise KeyboardInterrupt

    # A run reports its progress before its end.
    with pytest.raises(KeyboardInterrupt):
        endless.run(tmp_path / "store", cluster=address, progress=interrupt)
    assert 0 < seen[-1].fraction < 0.5
    assert seen[-1].done == 0
    # Further simulation would take hours: the workers are free because they left the runs.
    with workers.get_client() as client:
        assert client.submit(sum, [1, 2], pure=False).result(timeout=600) == 3
        wait_until(lambda: not any(client.run(_executing).values()))


def _executing(dask_worker: Any) -> int:
    return int(dask_worker.state.executing_count)


def test_another_build_is_found_before_anything_runs(
    sweep: Sweep, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from netlull import scenario

    ours = scenario._engine.identity()
    monkeypatch.setattr(scenario._engine, "identity", lambda: "9.9.9+0123456789ab")
    expected = rf"worker tcp://\S+ has netlull {ours.replace('+', '.')}; expected 9\.9\.9\+0123456789ab, as here"
    with pytest.raises(ClusterError, match=expected):
        sweep.run(tmp_path / "store", cluster=address)
    assert not (tmp_path / "store").exists()
    # A worker that joins later checks this itself.
    monkeypatch.setattr(Cluster, "ready", lambda _: None)
    with pytest.raises(ClusterError, match=expected):
        sweep.run(tmp_path / "store", cluster=address)
    assert not (tmp_path / "store").exists()


def test_a_scheduler_that_is_lost_ends_the_sweep(endless: Sweep, tmp_path: Path) -> None:
    """Follows the commands of docs/how-to/cluster.md, and then kills the scheduler."""
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    command = [sys.executable, "-m", "dask"]
    with contextlib.ExitStack() as stack:

        def begin(*arguments: str) -> subprocess.Popen[bytes]:
            process: subprocess.Popen[bytes] = subprocess.Popen([*command, *arguments], **quiet)  # type: ignore[call-overload]
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        local = ["--host", "127.0.0.1", "--scheduler-file", str(file)]
        scheduler = begin("scheduler", *local, "--port", "0", "--no-dashboard")
        begin("worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny", "--no-dashboard")
        wait_until(lambda: file.exists() and bool(file.read_text()))

        cluster = stack.enter_context(open_cluster(json.loads(file.read_text())["address"]))

        def kill(progress: Progress) -> None:
            if progress.fraction > 0:
                cluster.client._timeout = 3  # the time for a reconnection
                scheduler.kill()
                # The requests of the ending sweep meet a client that has given up.
                wait_until(lambda: cluster.client.status == "closed")

        with pytest.raises(ClusterError, match="scheduler is no longer reachable"):
            endless.run(tmp_path / "store", cluster=cluster, progress=kill)


def test_a_cluster_without_workers_is_told(sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "_PATIENCE_S", 0.3)
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0", silence_logs=60
        ) as made,
        pytest.raises(ClusterError, match=r"has had no worker for 0\.3 s; expected at least one"),
    ):
        sweep.run(tmp_path / "store", cluster=made.scheduler_address)
    assert not (tmp_path / "store").exists()


def test_a_scheduler_that_does_not_answer_is_refused(
    refused: Refused, sweep_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sites, "_CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        for _ in range(2):  # a silent one, then none at all
            line = refused("sweep", sweep_file, "--out", tmp_path / "out", "--cluster", f"tcp://127.0.0.1:{port}")
            assert f"cluster tcp://127.0.0.1:{port}: cannot be reached within 1 s" in line
            silent.close()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--cluster", "mars"], '"mars" is unknown; expected local, tcp://HOST:PORT'),
        (["--cluster", "tcp://here"], '"tcp://here" is not an address; expected tcp://HOST:PORT'),
        (["--cluster", "tcp://here:x"], '"tcp://here:x" is not an address; expected tcp://HOST:PORT'),
        (["--cluster", "tcp://here:1", "--workers", "3"], "workers: 3 cannot be set for tcp://here:1"),
        (
            ["--cluster", "local", "--cluster-config", "f"],
            "f describes jobs, and local has none; expected slurm or pbs",
        ),
        (["--cluster-config", "f"], "f describes jobs; expected --cluster slurm or pbs with it"),
    ],
)
@pytest.mark.parametrize("command", ["sweep", "reproduce"])
def test_places_that_cannot_be_used(
    refused: Refused, sweep_file: Path, tmp_path: Path, command: str, options: list[str], expected: str
) -> None:
    what = [sweep_file] if command == "sweep" else ["lull-2026"]
    assert expected in refused(command, *what, "--out", tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()


def test_without_the_extra_it_is_named(
    refused: Refused, sweep_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sites.importlib.util, "find_spec", lambda _: None)
    line = refused("sweep", sweep_file, "--out", tmp_path / "out", "--cluster", "local")
    assert "distributed is not installed; expected the extra: pip install 'netlull[cluster]'" in line


def test_processes_of_this_machine(sweep_file: Path, expected: bytes, tmp_path: Path) -> None:
    """`--cluster local`, interrupted, then completed: no files are left, and only the result is printed."""
    store = tmp_path / "store"
    options = ["--out", store, "--cluster", "local", "--workers", "2"]
    process = start("sweep", sweep_file, *options, "--seeds", str(100 * SEEDS))
    wait_until(lambda: process.poll() is not None or ((store / "journal.jsonl").exists() and len(lines(store)) > 0))
    # A terminal interrupts the workers, too. Without a word of theirs, the sweep alone answers.
    for each in (*psutil.Process(process.pid).children(recursive=True), process):
        with contextlib.suppress(psutil.NoSuchProcess):
            each.send_signal(signal.SIGINT)
    assert [text.strip() for text in process.communicate(timeout=600)] == ["", "interrupted"]
    assert process.returncode == 130
    assert 0 < len(lines(store)) < 200 * SEEDS
    ended = start("sweep", sweep_file, *options)
    out, err = ended.communicate(timeout=600)
    assert (ended.returncode, err) == (0, "")
    assert f"written to {store}" in out
    assert table(store) == expected


def test_one_cluster_for_several_sweeps(sweep: Sweep, expected: bytes, address: str, tmp_path: Path) -> None:
    with open_cluster(address) as cluster:
        for name in ("a", "b"):
            sweep.run(tmp_path / name, cluster=cluster)
            assert table(tmp_path / name) == expected


def test_a_process_of_this_machine_is_started_again_however_late_dask_looks(
    sweep: Sweep, expected: bytes, tmp_path: Path
) -> None:
    """Dask ends the restarting process if a worker is missing at one instant, by default 15 s after its death."""
    import dask

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "50ms"}),
        open_cluster("local", workers=1) as cluster,
    ):
        cluster.ready()
        (pid,) = cluster.client.run(os.getpid).values()
        os.kill(pid, signal.SIGKILL)
        sweep.run(tmp_path / "store", cluster=cluster)
    assert table(tmp_path / "store") == expected


def test_certificates_of_ones_own(
    sweep: Sweep, expected: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tls://`: Dask's configuration names the certificates. Without them the scheduler is not reached."""
    import dask

    security = distributed.Security.temporary()
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        protocol="tls://",
        security=security,
        dashboard_address="127.0.0.1:0",
        memory_limit=None,
        silence_logs=60,
    ) as made:
        role = security.get_tls_config_for_role("client")
        keys = {"ca-file": role["ca_file"], "client.cert": role["cert"], "client.key": role["key"]}
        with dask.config.set({f"distributed.comm.tls.{name}": text for name, text in keys.items()}):
            sweep.run(tmp_path / "store", cluster=made.scheduler_address)
        assert table(tmp_path / "store") == expected
        monkeypatch.setattr(sites, "_CONNECT_S", 3)
        with pytest.raises(ClusterError, match=r"cluster tls://\S+: cannot be reached"):
            sweep.run(tmp_path / "other", cluster=made.scheduler_address)
        plain = made.scheduler_address.replace("tls", "tcp")
        with pytest.raises(ClusterError, match=r"cluster tcp://\S+: cannot be reached"):
            sweep.run(tmp_path / "other", cluster=plain)
        assert not (tmp_path / "other").exists()


def test_a_cluster_leaves_dasks_configuration_as_it_was() -> None:
    code = (
        "from netlull import ClusterError, open_cluster\n"
        "try:\n"
        "    with open_cluster('slurm'): pass\n"
        "except ClusterError as error: print(error)\n"
        "import dask, distributed\n"
        "print(dask.config.get('distributed.comm.tls.ciphers', 'lost'))\n"
        "print(dask.config.get('distributed.worker.profile.enabled', 'lost'))"
    )
    ended = subprocess.run([sys.executable, "-c", code], env={"PATH": ""}, capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == [
        "cluster slurm: there is no command sbatch here; expected a machine that submits jobs",
        "None",
        "True",
    ]
