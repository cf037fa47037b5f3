"""Without the optional packages netlull runs, sweeps and prints; the rest names the extra that it needs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from netlull.library import lab_page

HIDING = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("matplotlib", "scipy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name.partition(".")[0])

sys.meta_path.insert(0, Hidden())
from netlull.cli import main
sys.exit(main(sys.argv[1:]))
"""
SWEEP = """
scenario = "small.toml"
seeds = 3
[metrics]
goodput = "flow.tcp.goodput_bps"
[[axis]]
name = "d"
path = "duration"
values = ["200 ms"]
"""


def netlull(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDING, *map(str, arguments)]
    # Words of an error are in one line, those of a table too.
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"})


def test_a_run_is_written_without_figures(small_file: Path, tmp_path: Path) -> None:
    done = netlull("run", small_file, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "warning: no figures are drawn: needs matplotlib: pip install 'netlull[plot]'" in done.stderr
    assert not (tmp_path / "out" / "figures").exists()
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["name"] == "small"


def test_a_sweep_prints_means_without_intervals(small_file: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    done = netlull("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "store")
    assert done.returncode == 0, done.stderr
    assert "3 runs simulated" in done.stdout
    assert "±" not in done.stdout
    assert done.stderr.count("confidence intervals are left out: needs scipy: pip install 'netlull[statistics]'") == 1
    assert "no report is written: needs matplotlib" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        (["map", "abilene", "--out", "map.svg"], "matplotlib", "plot"),
        (["plot", "cwnd", "tcp-duel", "--out", "duel.svg"], "matplotlib", "plot"),
        (["reproduce", "g-router", "--quick"], "matplotlib", "plot"),
    ],
)
def test_what_draws_names_its_extra(arguments: list[str], package: str, extra: str) -> None:
    done = netlull(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"netlull: needs {package}: pip install 'netlull[{extra}]'\n"


def test_the_lab_is_written_without_the_packages_of_reports(tmp_path: Path) -> None:
    done = netlull("lab", "--out", tmp_path / "lab.html")
    if lab_page() is None:
        told = "`make lab` in the sources builds it, and released wheels have it"
        assert done.stderr == f"netlull: the lab was not built; {told}\n"
    else:
        assert (done.returncode, done.stdout.strip()) == (0, (tmp_path / "lab.html").as_uri())
