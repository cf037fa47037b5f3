"""The comparisons with Linux's TCP: effects of explanations, and the stored runs next to the simulator."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import ROOT
from netlull import EmulationLate

LINUX = ROOT / "validation" / "linux"
sys.path.insert(0, str(LINUX))

import harness  # noqa: E402  # it is not installed
from harness import Comparison, Deviation  # noqa: E402

UNITS = {"time": "%", "drops": "packets"}
EXPLAINED = """
[[case]]
name = "slow-*"
up_to = { time = "20 %" }
why = "it is slow"

[[case]]
name = "lossy-*"
open = true
up_to = { time = "5 %", drops = "12 packets" }
why = "nobody knows"
"""


@dataclass(frozen=True)
class Named:
    """A case."""

    name: str
    made_from: str = "as it was"


@dataclass(frozen=True)
class Run:
    """A stored run with this distance from the simulator."""

    time: float
    drops: float
    late_s: float = 0.001
    kernel: str = "6.0"


@dataclass(frozen=True)
class Row:
    """A row with tolerances of 3 % and 10 packets."""

    case: Named
    real: Run

    @property
    def deviations(self) -> list[Deviation]:
        return [Deviation("time", self.real.time, 3), Deviation("drops", self.real.drops, 10)]

    def cells(self) -> list[str]:
        return [self.case.name, f"{self.real.time:g}"]


@pytest.fixture
def compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The command's result on stored runs: its exit code, and its output."""

    def compare(runs: dict[str, Run], *arguments: str, explained: str = EXPLAINED) -> tuple[int, str]:
        (tmp_path / "explained.toml").write_text(explained)
        comparison = of(tmp_path, [Named(name) for name in runs])
        harness.write(comparison, {name: [run] for name, run in runs.items()})
        code = harness.main(comparison, arguments)
        return code, capsys.readouterr().out

    return compare


def of(folder: Path, cases: list[Named]) -> Comparison[Named, Row]:
    """A comparison of these cases."""
    return Comparison(
        folder=folder,
        description=None,
        cases=cases,
        quick=cases[:1],
        quick_is="one",
        example="slow-*",
        jobs=None,
        writes="and results.md",
        units=UNITS,
        columns=("case", "off"),
        words=1,
        needs=lambda case: (case,),
        simulate=lambda _case: None,
        emulate=lambda _case, _given: [],
        stored_as=Run,
        row=lambda case, stored: Row(case, stored[case.name][0]),
        summary=lambda judged, _stored: [f"{len(judged)} compared"],
    )


Compared = Callable[..., tuple[int, str]]
IN_BOUNDS = {"good": Run(2.9, 10), "slow-1": Run(18, 0), "slow-2": Run(1, 0), "lossy-1": Run(4, 11)}


def test_what_is_explained_is_as_far_off_as_its_entry_says(compared: Compared) -> None:
    code, said = compared(IN_BOUNDS)
    assert code == 0
    assert "| good | 2.9 | ok |" in said
    assert "| slow-1 | 18 | time: explained, `slow-*` |" in said
    assert "| slow-2 | 1 | ok |" in said
    assert "| lossy-1 | 4 | time, drops: open, `lossy-*` |" in said


def test_quick_and_names_choose_cases(compared: Compared) -> None:
    assert "\n1 compared\n" in compared(IN_BOUNDS, "--quick")[1]
    assert "\n3 compared\n" in compared(IN_BOUNDS, "slow-*", "good")[1]


def test_what_is_open_is_listed_apart(compared: Compared) -> None:
    _, said = compared(IN_BOUNDS)
    explained, still_open = said.split("## Out of tolerance, explained")[1].split("## Out of tolerance, open")
    assert "| `slow-*` | 1 of 2 | time 18 of 20 % | it is slow |" in explained
    assert "| `lossy-*` | 1 of 1 | time 4 of 5 %, drops 11 of 12 packets | nobody knows |" in still_open
    assert "Stale" not in said


@pytest.mark.parametrize(
    ("run", "beyond"),
    [
        (Run(21, 0), "time 21 %"),  # of 20 %
        (Run(18, 11), "drops 11 packets"),  # not in the entry
        (Run(math.nan, 0), "time nan %"),  # it did not complete
    ],
)
def test_what_gets_worse_than_its_explanation_fails(compared: Compared, run: Run, beyond: str) -> None:
    code, said = compared({"slow-1": run})
    assert code == 1
    assert f"NOT EXPLAINED, beyond `slow-*`: {beyond}" in said


def test_no_bound_covers_what_did_not_complete(compared: Compared) -> None:
    anything = '[[case]]\nname = "*"\nup_to = { time = "inf %" }\nwhy = "any time"\n'
    assert compared({"far": Run(1e6, 0)}, explained=anything)[0] == 0
    assert compared({"never": Run(math.nan, 0)}, explained=anything)[0] == 1


def test_what_nobody_explains_fails(compared: Compared) -> None:
    code, said = compared({"good": Run(3.1, 0)})
    assert code == 1
    assert "| good | 3.1 | time: NOT EXPLAINED |" in said


def test_an_entry_that_explains_nothing_any_more_is_stale(compared: Compared) -> None:
    runs = {"slow-1": Run(1, 0), "slow-2": Run(2, 0), "lossy-1": Run(4, 11)}
    code, said = compared(runs)
    assert code == 0
    assert said.split("## Stale")[1].split("\n")[2] == "- `slow-*`"
    # An entry without any case is stale, too. An entry with uncompared cases may be needed.
    assert "- `lossy-*`" in compared({"slow-1": Run(1, 0)})[1]
    assert "Stale" not in compared(runs, "slow-1")[1]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('up_to = { time = "3" }', 'up_to.time is "3"; expected time = "... %"'),
        ('up_to = { losses = "3 packets" }', 'up_to.losses is "3 packets"; expected'),
        ("", "has no bounds; expected up_to"),
    ],
)
def test_entries_without_bounds_that_mean_something_are_refused(compared: Compared, entry: str, message: str) -> None:
    with pytest.raises(harness.ExplanationError, match=r"^x: ") as refused:
        compared({"good": Run(0, 0)}, explained=f'[[case]]\nname = "x"\nwhy = "y"\n{entry}\n')
    assert message in str(refused.value)


def test_stored_runs_are_read_as_they_were_written(tmp_path: Path) -> None:
    runs = {"b": [Run(1.25, 2)], "a": [Run(math.nan, 3), Run(4, 5)]}
    comparison = of(tmp_path, [Named("a"), Named("b")])
    harness.write(comparison, runs)
    found, outdated = harness.read(comparison)
    assert outdated == set()
    assert list(found) == ["a", "b"]
    assert found["b"] == runs["b"]
    assert found["a"][1:] == runs["a"][1:]
    assert math.isnan(found["a"][0].time)


def test_what_is_stored_of_a_case_that_has_changed_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "explained.toml").write_text("")
    harness.write(of(tmp_path, [Named("a"), Named("b")]), {"a": [Run(0, 0)], "b": [Run(0, 0)]})
    changed = of(tmp_path, [Named("a", "another way"), Named("b")])
    assert harness.main(changed, []) == 1
    assert capsys.readouterr().err == "a: what is stored was made from other values; expected --emulate --store\n"
    assert harness.main(changed, ["b"]) == 0


def test_a_late_run_is_tried_again_a_few_times() -> None:
    tried: list[int] = []

    def late() -> None:
        tried.append(1)
        raise EmulationLate("late", p99_s=2e-3, limit_s=1e-3)

    with pytest.raises(EmulationLate):
        harness.punctual("case", late)
    assert len(tried) == harness.ATTEMPTS > 1


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a comparison and keeps its output."""
    command = [sys.executable, str(LINUX / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def grid() -> subprocess.CompletedProcess[str]:
    """The output of the comparison of the whole grid."""
    return run("run.py")


def test_the_grid_is_as_the_kernel_has_it_or_explained(grid: subprocess.CompletedProcess[str]) -> None:
    assert grid.returncode == 0, grid.stdout[-6000:] + grid.stderr
    assert "NOT EXPLAINED" not in grid.stdout
    # 46 judged cases, of which 30 are to be within 3 % in completion time and 10 % in retransmissions.
    line = next(line for line in grid.stdout.splitlines() if line.startswith("Within 3 %"))
    assert int(line.rstrip(".").split(": ")[-1]) >= 30


def test_the_table_of_the_grid_is_what_the_command_prints(grid: subprocess.CompletedProcess[str]) -> None:
    assert grid.stdout == (LINUX / "results.md").read_text(), "run validation/linux/run.py --store"


@pytest.fixture(scope="module")
def gateways() -> subprocess.CompletedProcess[str]:
    """The output of the comparison of gateways with real senders."""
    return run("gateway/run.py")


def test_gateways_before_real_senders_are_as_simulated_or_explained(
    gateways: subprocess.CompletedProcess[str],
) -> None:
    assert gateways.returncode == 0, gateways.stdout[-6000:] + gateways.stderr
    assert "NOT EXPLAINED" not in gateways.stdout
    assert gateways.stdout == (LINUX / "gateway" / "results.md").read_text(), "run gateway/run.py --store"


def test_awm_steadies_the_queue_of_real_senders_as_expected(gateways: subprocess.CompletedProcess[str]) -> None:
    lines = [line for line in gateways.stdout.splitlines() if line.startswith(("- reno", "- cubic"))]
    assert len(lines) == 4, gateways.stdout + gateways.stderr
    # Twenty CUBIC flows fill a queue that is also steady without control: three times steadier at most (README.md).
    others = [line for line in lines if not line.endswith(": expected.")]
    assert len(others) == 1, lines
    assert others[0].startswith("- cubic, 20 flows"), lines


@pytest.fixture(scope="module")
def switched() -> subprocess.CompletedProcess[str]:
    """The output of the comparison of sleeping links with real senders."""
    return run("greened/run.py")


def test_links_that_fall_asleep_under_real_senders_are_as_simulated_or_explained(
    switched: subprocess.CompletedProcess[str],
) -> None:
    assert switched.returncode == 0, switched.stdout[-6000:] + switched.stderr
    assert "NOT EXPLAINED" not in switched.stdout
    assert switched.stdout == (LINUX / "greened" / "results.md").read_text(), "run greened/run.py --store"


def test_lull_with_real_senders_is_as_simulated_or_explained() -> None:
    lull = run("lull/run.py")
    assert lull.returncode == 0, lull.stdout[-6000:] + lull.stderr
    assert "NOT EXPLAINED" not in lull.stdout
    assert lull.stdout == (LINUX / "lull" / "results.md").read_text(), "run lull/run.py --store"


@pytest.fixture(scope="module")
def clients() -> subprocess.CompletedProcess[str]:
    """The output of the comparison of the client with real senders: sites and paths of each kind of explanation."""
    return run("client/run.py", "jriver/*", "stanford/*", "120ms-0%/*", "60ms-1%/*", "*-clean/*")


def test_the_client_with_real_senders_is_as_simulated_or_explained(clients: subprocess.CompletedProcess[str]) -> None:
    assert clients.returncode == 0, clients.stdout[-6000:] + clients.stderr
    assert "NOT EXPLAINED" not in clients.stdout
    # The rows are also in the table of all cases.
    stored = set((LINUX / "client" / "results.md").read_text().splitlines())
    rows = [line for line in clients.stdout.splitlines() if re.match(r"\| [^`| ]+/[^`| ]+/[^`| ]+ \|", line)]
    assert len(rows) == 9 + 9 + 20 + 8 + 24 + 1  # with the head
    assert [row for row in rows if row not in stored] == [], "run client/run.py --store"


def test_no_packet_is_missed_on_a_clean_path_with_real_senders(clients: subprocess.CompletedProcess[str]) -> None:
    lines = [line for line in clients.stdout.splitlines() if "without noise and loss" in line]
    assert [line.partition(",")[0] for line in lines] == ["- reno", "- cubic"], clients.stdout + clients.stderr
    assert all(line.endswith("30ms 0, 60ms 0, 90ms 0, 120ms 0.") for line in lines), lines


SCRIPTS = LINUX / "scripts"


def in_scripts(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python code with the modules of the packet scripts' folder."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=SCRIPTS, capture_output=True, text=True, check=False)


def test_the_kernel_has_played_every_script_as_it_is() -> None:
    lines = (SCRIPTS / "stored" / "kernel.txt").read_text().splitlines()
    paths = sorted(SCRIPTS.glob("*.script"), key=lambda path: path.stem)
    assert len(paths) > 5
    code = "import run, sys; print(*(run.digest(run.HERE / name) for name in sys.argv[1:]))"
    digests = in_scripts(code, *(path.name for path in paths))
    assert digests.returncode == 0, digests.stderr
    for line, path, digest in zip(lines, paths, digests.stdout.split(), strict=True):
        verdict = rf"{path.stem}: pass, [1-9]\d* checks; Linux \S+; {digest}"
        assert re.fullmatch(verdict, line), f"{path.stem}: run scripts/run.py --kernel --store"


FIRST_WINDOW = """# The first window
preset linux-6
option timestamps off
0 connect rtt 0.05
0.1 send 20000
0.1 out 0:10000 by 1000
0.2 in ack 2000
0.2 out 10000:14000 by 1000
0.2 expect cwnd_segments 12
"""
PLAY = """
import os, sys, kernel, pathlib
try:
    kernel.in_new_namespace()
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    outcome = kernel.play(pathlib.Path(sys.argv[1]))
except (PermissionError, FileNotFoundError) as error:
    sys.exit(f"no kernel: {error}")
print(outcome.checks, *outcome.differences, sep="\\n")
"""


@pytest.mark.parametrize(
    ("right", "wrong", "difference"),
    [
        ("", "", None),
        ("cwnd_segments 12", "cwnd_segments 13", "line 9: expected cwnd_segments 13, found 12"),
        ("10000:14000", "10000:15000", "line 8: nothing was sent, expected 14000:15000"),
        ("10000:14000", "10000:13000", "line 9: before this, unexpected at 0.2"),
        ("by 1000\n0.2 expect", "by 1000 retransmission\n0.2 expect", "line 8: sent 10000:11000, expected"),
    ],
)
def test_a_kernel_plays_a_script_and_differs_from_a_wrong_one(
    tmp_path: Path, right: str, wrong: str, difference: str | None
) -> None:
    script = tmp_path / "a.script"
    script.write_text(FIRST_WINDOW.replace(right, wrong) if right else FIRST_WINDOW)
    played = in_scripts(PLAY, str(script))
    if "no kernel" in played.stderr:
        pytest.skip(played.stderr.strip())
    assert played.returncode == 0, played.stderr
    checks, *found = played.stdout.splitlines()
    # Segments may be late on a busy machine.
    found = [line for line in found if "sent at" not in line]
    assert int(checks) >= 14
    if difference is None:
        assert found == []
    else:
        assert found[0].startswith(difference), found


def test_a_kernel_refuses_statements_that_it_cannot_carry_out(tmp_path: Path) -> None:
    script = tmp_path / "a.script"
    script.write_text("# A title\npreset linux-6\noption delayed_ack 0.2\n")
    refused = in_scripts("import kernel, pathlib, sys; kernel.play(pathlib.Path(sys.argv[1]))", str(script))
    assert "a.script: line 3: option delayed_ack 0.2: " in refused.stderr
