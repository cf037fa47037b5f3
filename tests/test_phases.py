"""Phases of a run: completion times of the transfers that start in them, and power, wherever results are shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from netlull import FieldPathError, Link, NetlullWarning, Phase, Requests, Result, Scenario, Sweep, Tcp
from netlull.cli import tables
from netlull.compare import compare_runs, usual_metrics
from netlull.report.sweeps import sweep_report

Printed = Callable[..., str]

# At 8 Mb/s a byte takes 1 us, and the links are idle. SYN and SYN+ACK have 60 B, the data a header of 52 B, and the
# acknowledgement 52 B, each 10 ms on its way: a transfer of S bytes in one segment takes 40.224 ms + S us.
DAY = Scenario(
    name="day",
    duration="20 s",
    nodes=["a", "b"],
    links=[Link("a", "b", "8 Mb/s", "10 ms", duplex=True)],
    flows=[
        Tcp("small", "a", "b", size="500 B", start="1 s"),
        Tcp("large", "a", "b", size="1000 B", start="2 s"),
        Tcp("full", "a", "b", size="1448 B", start="10 s"),
        Tcp("late", "a", "b", size="1448 B", start="19.97 s"),
    ],
    phases=[Phase("night", to="10 s"), Phase("evening", from_="10 s")],
)


@pytest.fixture(scope="module")
def day() -> Result:
    return DAY.run()


def test_completion_times_are_those_of_the_transfers_that_start_in_a_phase(day: Result) -> None:
    night, evening = (day.phase(name)["transfers"] for name in ("night", "evening"))
    assert (night["started"], night["completed"], night["unfinished"]) == (2, 2, 0)
    # Half of two is the first, 95 % and 99 % are the second.
    times = [night[f"{name}_completion_s"] for name in ("p50", "p95", "p99")]
    assert times == pytest.approx([0.040724, 0.041224, 0.041224], abs=1e-9)
    # The one that starts with the evening belongs to it, and the one that the end cuts off has no time.
    assert (evening["started"], evening["completed"], evening["unfinished"]) == (2, 1, 1)
    assert evening["unfinished_flows"] == ["late"]
    assert day.metric("phase.evening.transfers.p95_completion_s") == pytest.approx(0.041672, abs=1e-9)
    assert day.metric("max(phase.*.transfers.p99_completion_s)") == pytest.approx(0.041672, abs=1e-9)
    with pytest.raises(FieldPathError, match='there is no phase "noon"; expected one of night, evening'):
        day.phase("noon")


def test_phases_are_a_table_also_of_a_stored_run(day: Result, tmp_path: Path) -> None:
    rows = day.phases.to_pylist()
    assert [(row["name"], row["from_s"], row["to_s"], row["transfers.started"]) for row in rows] == [
        ("night", 0.0, 10.0, 2),
        ("evening", 10.0, 20.0, 2),
    ]
    assert [row["transfers.unfinished_flows"] for row in rows] == ["", "late"]
    # Two directions of 1 W for 10 s.
    assert [(row["network.energy.fs.total_j"], row["network.energy.fs.mean_w"]) for row in rows] == [(20, 2)] * 2
    day.save(tmp_path / "day")
    assert pq.read_table(tmp_path / "day" / "phases.parquet").to_pylist() == rows
    again = Result.load(tmp_path / "day")
    assert (again.phases, again.phase("night")) == (day.phases, day.phase("night"))
    assert list(again.to_pandas("phases")["name"]) == ["night", "evening"]


def test_a_run_without_phases_has_none(small: Scenario, tmp_path: Path) -> None:
    result = small.run()
    result.save(tmp_path / "run")
    assert result.phases.num_rows == 0
    assert not (tmp_path / "run" / "phases.parquet").exists()


def test_run_shows_phases_and_names_unfinished_transfers(printed: Printed, tmp_path: Path) -> None:
    file = tmp_path / "day.toml"
    file.write_text(DAY.to_toml(), encoding="utf-8")
    lines = printed("run", file).splitlines()
    night, evening = (next(line for line in lines if line.startswith(f" {name} ")) for name in ("night", "evening"))
    assert night.split()[1:12] == ["0", "to", "10", "s", "2", "2", "40.7", "ms", "41.2", "ms", "41.2"]
    assert "2 W (0.0 %)" in night
    assert evening.split()[1:8] == ["10", "to", "20", "s", "2", "1", "41.7"]
    assert "evening: 1 transfer unfinished at the end of the run (late)." in lines
    assert json.loads(printed("run", file, "--json"))["phase"]["night"]["transfers"]["started"] == 2


def test_phases_fit_a_narrow_terminal(
    day: Result, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tables, "new_console", lambda: Console(width=80, force_terminal=True, color_system=None))
    tables.print_result(day)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith(" night ") for line in lines) == 1


def test_a_flow_of_requests_among_other_transfers_has_its_own_row(
    tmp_path: Path, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A request per 0.48 s on average, and a transfer in the night alone.
    web = Requests("web", "b", "a", "8 kb/s", {"kind": "fixed", "size": "480 B"})
    small = Tcp("small", "a", "b", size="500 B", start="1 s")
    mixed = Scenario.from_dict(DAY.to_dict() | {"flow": [small, web]})
    result = mixed.run()
    own = {name: result.phase(name)["flow"]["web"] for name in ("night", "evening")}
    assert own["night"]["requests_started"] + 1 == result.phase("night")["transfers"]["started"]
    assert own["evening"]["requests_started"] == result.phase("evening")["transfers"]["started"]
    assert sum(each["requests_started"] for each in own.values()) == result.flow("web")["requests_started"]
    assert own["night"]["p50_completion_s"] == pytest.approx(0.040704, abs=1e-4)
    file = tmp_path / "mixed.toml"
    file.write_text(mixed.to_toml(), encoding="utf-8")
    text = printed("run", file)
    phases = text[text.index("Phases (") :].splitlines()
    names = [line.split()[0] for line in phases if line.startswith((" night", " evening", "   web"))]
    assert names == ["night", "web", "evening"]
    # On a narrow terminal the rows become columns, each perhaps without the one of its phase.
    monkeypatch.setattr(tables, "new_console", lambda: Console(width=60, force_terminal=True, color_system=None))
    text = printed("run", file)
    heads = [line for line in text[text.index("Phases (") :].splitlines() if line.startswith(" phase ")]
    assert " ".join(heads).replace(" phase ", " ").split() == ["night", "night", "web", "evening"]


def test_compare_and_sweeps_take_the_times_of_a_phase(day: Result, tmp_path: Path) -> None:
    assert "phase.night.transfers.p95_completion_s" in usual_metrics(day)
    # Half the rate: 224 B of headers and 1000 B of data take 1 us more each.
    slow = DAY.with_values({"link.a-b.rate": "4 Mb/s"}).run()
    with pytest.warns(NetlullWarning, match="they differ in link"):
        found = compare_runs([day], [slow])
    row = next(row for row in found.rows if row.metric == "phase.night.transfers.p95_completion_s")
    assert row.difference.mean == pytest.approx(0.001224, abs=1e-9)
    assert found.unit_of(row.metric) == ("ms", 1e-3)
    metrics = {
        "night": "phase.night.transfers.p95_completion_s",
        "power": "phase.night.network.energy.fs.mean_w",
    }
    result = Sweep(DAY, seeds=1, metrics=metrics).run(tmp_path / "store")
    assert result.table["night"].to_pylist() == pytest.approx([0.041224], abs=1e-9)
    assert (result.unit_of("night"), result.unit_of("power")) == (("ms", 1e-3), ("W", 1.0))
    page = sweep_report(tmp_path / "store").read_text(encoding="utf-8")
    assert "night (ms)" in page
    assert "power (W)" in page
