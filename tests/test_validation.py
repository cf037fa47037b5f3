"""The commands of validation/ run as users run them. Their own tolerances judge their numbers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a script of validation/ and keeps its output. Skips the test if another simulator is missing."""
    command = [sys.executable, str(ROOT / "validation" / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "is not installed" in done.stderr:
        pytest.skip(done.stderr.strip())
    return done


@pytest.fixture(scope="module")
def closed_forms() -> subprocess.CompletedProcess[str]:
    """The output of the comparison with closed forms."""
    return run("analytic/run.py", "--quick")


def test_simulations_agree_with_closed_forms(closed_forms: subprocess.CompletedProcess[str]) -> None:
    assert closed_forms.returncode == 0, closed_forms.stdout + closed_forms.stderr
    assert "NOT MET" not in closed_forms.stdout
    assert "new_reno, window at p = 0.001" in closed_forms.stdout


def test_the_stored_tables_are_what_the_command_prints(closed_forms: subprocess.CompletedProcess[str]) -> None:
    stored = (ROOT / "validation" / "analytic" / "stored" / "tables.txt").read_text()
    printed = [line for line in closed_forms.stdout.splitlines() if line]
    lines = [line for line in stored.splitlines() if line]
    assert [line for line in printed if line not in lines] == [], "run analytic/run.py --store"
    # The three slowest rows are left out, and most cells of low-power idle.
    cells = [[line for line in each if ", load " in line] for each in (printed, lines)]
    assert 30 <= len(cells[0]) < len(cells[1])
    assert (len(lines) - len(cells[1])) - (len(printed) - len(cells[0])) == 3


def test_packets_and_the_fluid_model_are_compared_on_both_sides_of_the_bound() -> None:
    done = run("fluid/run.py", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    edges, ages = done.stdout.split("The mean age")
    far, near = (next(line for line in edges.splitlines() if f"d {delay} ms" in line) for delay in ("80", " 2"))
    # Case, quiet, then three edges "a .. b": in multiples of the model's bound the queue moves and fills about 1.
    below, above = (float(far.split(" .. ")[index].split()[place]) for index, place in ((1, -1), (2, 0)))
    assert 0.5 <= below < above <= 1.25
    assert near.split(" .. ")[3].startswith("inf"), "beside its senders it stands four times 1.707 T / R_0"
    # Both ages are within 5 % of those of whole windows in bursts.
    errors = [float(line.split("%")[0].split()[-1]) for line in ages.splitlines() if "%" in line]
    assert len(errors) == 2
    assert all(abs(error) <= 5 for error in errors)


def test_netlull_agrees_with_the_stored_results_of_ns2() -> None:
    done = run("ns2/run.py")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert "single-rtt50:" in done.stdout


def test_every_tcp_sends_what_the_stored_runs_of_ns2_send() -> None:
    done = run("ns2/traces.py")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("queue ")]
    # Ten agents. Where the queue drops as it fills, all send the same: ns-2's sends, netlull's, the same in order.
    assert len(rows) == 10
    assert all(row[1] == row[2] == row[3] and row[-1] == "ok" for row in rows)


def test_every_tcp_brings_across_what_the_stored_runs_of_ns2_do() -> None:
    done = run("ns2/goodput.py", "--quick")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    # Ten agents, three numbers of flows, three buffers; none needs a reason.
    assert sum(line.endswith("  ok") for line in done.stdout.splitlines()) == 90


def test_red_agrees_with_the_stored_results_of_ns2() -> None:
    done = run("ns2/red.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "twenty NewReno flows" in done.stdout


def test_web_load_under_practra_agrees_with_the_stored_results_of_ns2() -> None:
    done = run("ns2/web.py")
    assert done.returncode == 0, done.stdout + done.stderr
    # Two loads, two buffers, with and without practRA: six and four measures each. Then the joint reading:
    # without practRA, and with two ways of testing its rules.
    assert sum(" +- " in line for line in done.stdout.splitlines()) == 4 * (6 + 4) + (4 + 2 * 6)


def test_homes_behind_a_router_agree_with_the_stored_results_of_ns2() -> None:
    done = run("ns2/homes.py", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    # 11 measures in two comparisons of one experiment; 13, two of them of the Internet node, in three of the other.
    assert sum(" +- " in line for line in done.stdout.splitlines()) == 2 * 11 + 3 * 13


def test_links_that_sleep_on_abilene_agree_with_the_stored_results_of_ns2() -> None:
    done = run("ns2/abilene.py", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
    # Six versions of TCP, before and at 70 %.
    assert sum(" +- " in line for line in done.stdout.splitlines()) == 6 * 2


def test_netlull_agrees_with_the_stored_results_of_ns3() -> None:
    done = run("ns3/run.py")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert "vegas, three drops:" in done.stdout


def test_ns3_still_gives_what_is_stored() -> None:
    # One family of five: program, library and format are the same for all.
    done = run("ns3/run.py", "--check-stored", "vegas")
    assert done.returncode == 0, done.stdout + done.stderr


def test_shapers_on_a_shared_air_are_compared_with_eager_clients() -> None:
    done = run("shared-air/table.py", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == ["1", "2", "4", "8"]
    eager = [float(row[1].split(" s,")[0]) for row in rows]
    products = [float(row[4].split(" ±")[0]) for row in rows]
    missed = [float(row[5]) for row in rows]
    # A window of 32 KiB in 60 ms and more is at most 4.4 Mb/s: 4.5 MB take 8.2 s. 36 MB on 20 Mb/s take 14.4 s.
    assert 8.2 < eager[0] < 9.5
    assert 14.4 < eager[3] < 16.5
    # Alone a shaper saves energy without a missed packet; among eight the air has no room for its pauses.
    assert products[0] < 0.8
    assert missed[0] < 1
    assert products[0] < products[1] < products[2] < products[3]
    assert products[3] > 2


def test_low_power_idle_is_compared_with_a_measured_link() -> None:
    done = run("eee/run.py")
    assert done.returncode == 0, done.stdout + done.stderr
    page = (ROOT / "docs" / "models" / "eee.md").read_text(encoding="utf-8").splitlines()
    printed = [line for line in done.stdout.splitlines() if line]
    assert [line for line in printed if line not in page] == []
    pings = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed if " us |" in line]
    # T_w = 16.5 us, once for each direction that sleeps. With coupled directions and 5 us, the answer comes in T_s: the
    # ping of 122 B leaves after 17.476 us, T_s = 182 us ends at 204.476 us, and the answer would leave at 103.476 us:
    # 16.5 + (204.476 + 16.5 - 103.476) = 134.
    assert [row[4:] for row in pings] == [
        ["+0.0 us", "+0.0 us"], ["+16.5 us", "+0.0 us"], ["+33.0 us", "+134.0 us"],
        ["+33.0 us", "+16.5 us"], ["+33.0 us", "+16.5 us"], ["+33.0 us", "+134.0 us"],
    ]  # fmt: skip
