"""Clusters with a batch system: the submitted job script, and a full run with stand-ins for its commands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SMALL
from netlull import ClusterError, Sweep, open_cluster
from netlull.cluster import sites
from netlull.cluster.settings import read_settings
from netlull.cluster.sites import import_jobqueue

pytest.importorskip("distributed")
dask_jobqueue = import_jobqueue()

Refused = Callable[..., str]

SWEEP = """
scenario = "small.toml"
seeds = 20
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[[axis]]
name = "d"
path = "duration"
values = ["0.5 s", "5 s"]
"""

JOBS = """
jobs = 2
cores = 2
memory = "1 GB"
queue = "short"
account = "lab42"
walltime = "00:10:00"
wait = "2 min"
interface = "lo"
job_script_prologue = ["source venv/bin/activate"]
"""

# Starts the script as a separate process group, logs the request, and answers as Slurm does.
SBATCH = """#!{python}
import os, pathlib, subprocess, sys
here = pathlib.Path({folder!r})
text = pathlib.Path(sys.argv[1]).read_text()
log = open(here / "log", "ab")
job = subprocess.Popen(["bash", "-c", text.replace("source venv/bin/activate", "")], start_new_session=True, stdout=log,
                       stderr=log, stdin=subprocess.DEVNULL, cwd=here)
(here / f"{{job.pid}}.sh").write_text(text)
print(f"Submitted batch job {{job.pid}}")
"""
SCANCEL = """#!{python}
import os, pathlib, signal, sys
(pathlib.Path({folder!r}) / f"{{sys.argv[1]}}.cancelled").touch()
os.killpg(int(sys.argv[1]), signal.SIGTERM)
"""


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "jobs.toml").write_text(JOBS)
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with `sbatch`, `scancel`, and the logs of submitted and cancelled jobs."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, text in {"sbatch": SBATCH, "scancel": SCANCEL}.items():
        (folder / name).write_text(text.format(python=sys.executable, folder=str(folder)))
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_sweep_on_a_site(sweep_file: Path, slurm: Path, tmp_path: Path) -> None:
    sweep = Sweep.from_file(sweep_file)
    sweep.run(tmp_path / "alone")
    with open_cluster("slurm", config=tmp_path / "jobs.toml") as cluster:
        # No job is requested before there is a run.
        assert list(slurm.glob("*.sh")) == []
        assert cluster.wanted_slots == 4
        result = sweep.run(tmp_path / "store", cluster=cluster)
    assert (result.executed, result.reused) == (40, 0)
    tables = [(tmp_path / name / "results.parquet").read_bytes() for name in ("alone", "store")]
    assert tables[0] == tables[1]
    scripts = [path.read_text() for path in slurm.glob("*.sh")]
    assert len(scripts) == 2
    for line in (
        "#SBATCH -p short",
        "#SBATCH -A lab42",
        "#SBATCH -n 1",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --mem=954M",  # 10^9 / 2^20 = 953.7 MiB, which Slurm calls M
        "#SBATCH -t 00:10:00",
        "source venv/bin/activate",
    ):
        assert f"\n{line}\n" in scripts[0]
    # One process with a thread per core, over TLS.
    assert f"{sys.executable} -m distributed.cli.dask_worker tls://127.0.0.1:" in scripts[0]
    assert "--nthreads 2 " in scripts[0]
    assert "--nworkers" not in scripts[0]
    assert "--tls-key " in scripts[0]
    # The jobs were released, and their keys are gone.
    assert {path.stem for path in slurm.glob("*.cancelled")} == {path.stem for path in slurm.glob("*.sh")}
    assert [path.name for path in tmp_path.glob(".netlull*")] == []


def test_runs_at_a_time_are_rounded_up_to_jobs(sweep_file: Path, slurm: Path) -> None:
    with open_cluster("slurm", workers=5, config=sweep_file.with_name("jobs.toml")) as cluster:
        # 5 runs at a time need 3 jobs of 2 cores.
        assert cluster.wanted_slots == 6
    assert list(slurm.glob("*.sh")) == []


def test_a_refused_job_is_told(sweep_file: Path, slurm: Path, tmp_path: Path, refused: Refused) -> None:
    (slurm / "sbatch").write_text("#!/bin/sh\necho 'sbatch: error: invalid partition specified: short' >&2\nexit 1\n")
    line = refused(
        "sweep", sweep_file, "--out", tmp_path / "out", "--cluster", "slurm", "--cluster-config", tmp_path / "jobs.toml"
    )
    assert "cluster slurm: sbatch failed: sbatch: error: invalid partition specified: short" in line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jobs = 0", "jobs: is 0; expected a whole number of at least 1"),
        ("jobs = true", "jobs: is true; expected a whole number of at least 1"),
        ("jobz = 1", "jobz: is unknown; expected one of jobs, minimum_jobs, maximum_jobs, wait, account, cores"),
        ("maximum_jobs = 3", "jobs: expected either `jobs`, or both `minimum_jobs` and `maximum_jobs`"),
        ("minimum_jobs = 3\nmaximum_jobs = 2", "maximum_jobs: 2 is less than minimum_jobs"),
        ('wait = "soon"', 'wait: is "soon"; expected a time such as "30 min"'),
        ("wait = 0", "wait: is 0; expected a time"),
        ("jobs = 1", "cluster slurm: cores: is missing; expected a job's"),
        ('cores = 1\nmemory = "1 GB"', "the number of jobs is missing; expected --workers, or `jobs`"),
        ("= 1", "jobs.toml"),
    ],
)
@pytest.mark.usefixtures("slurm")
def test_settings_that_cannot_be_used(
    sweep_file: Path, tmp_path: Path, refused: Refused, text: str, expected: str
) -> None:
    (tmp_path / "jobs.toml").write_text(text)
    options = ["--cluster", "slurm", "--cluster-config", tmp_path / "jobs.toml"]
    assert expected in refused("sweep", sweep_file, "--out", tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()


def test_jobs_that_come_and_go(tmp_path: Path) -> None:
    (tmp_path / "jobs.toml").write_text('minimum_jobs = 0\nmaximum_jobs = 8\nwait = "30 min"\nqueue = "long"\n')
    kinds = (dask_jobqueue.SLURMCluster, dask_jobqueue.SLURMCluster.job_cls)
    settings = read_settings(tmp_path / "jobs.toml", kinds)
    assert (settings.is_adaptive, settings.minimum_jobs, settings.maximum_jobs) == (True, 0, 8)
    assert settings.wait_s == 1800.0
    assert settings.job == {"queue": "long"}


@pytest.mark.parametrize(("kind", "command"), [("slurm", "sbatch"), ("pbs", "qsub")])
def test_a_machine_that_cannot_submit(monkeypatch: pytest.MonkeyPatch, kind: str, command: str) -> None:
    monkeypatch.setattr(sites.shutil, "which", lambda _: None)
    with (
        pytest.raises(ClusterError, match=f"cluster {kind}: there is no command {command} here"),
        open_cluster(kind, workers=1),
    ):
        pass


def test_the_import_leaves_control_c_as_it_was() -> None:
    code = (
        "import signal; from netlull.cluster.sites import import_jobqueue\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler); import_jobqueue()\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
