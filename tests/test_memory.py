"""The memory limit: a run above it ends with an error that names the queue or table, and a sweep goes on."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from netlull import Axis, InputError, MemoryLimitError, NetlullWarning, Scenario, ScenarioError, Sweep
from netlull.__main__ import main
from netlull.cluster.work import Failure
from netlull.runs import memory as memory_module

FLOOD = """
duration = "10 s"
nodes = ["a", "b"]
[[link]]
from = "a"
to = "b"
rate = "1 kb/s"
buffer = "unlimited"
[[flow]]
kind = "cbr"
name = "flood"
from = "a"
to = "b"
rate = "1 Gb/s"
"""
"""833,333 packets that wait: about 80 MB."""


@pytest.fixture
def flood() -> Scenario:
    return Scenario.from_toml(FLOOD)


def ended(scenario: Scenario, memory: str) -> str:
    with pytest.warns(NetlullWarning, match="^memory"), pytest.raises(MemoryLimitError) as caught:
        scenario.run(memory=memory)
    return str(caught.value)


def test_a_backlog_above_the_limit_ends_the_run_and_names_the_link(flood: Scenario) -> None:
    assert issubclass(MemoryLimitError, ScenarioError)
    with (
        pytest.warns(NetlullWarning, match=r"expected to need \d+ MB, more than its limit of 20 MB"),
        pytest.raises(MemoryLimitError) as caught,
    ):
        flood.run(memory="20 MB")
    first = str(caught.value)
    assert first.startswith("link.a-b.buffer: unlimited; after 1.")
    assert "memory limit of 20 MB" in first
    # The end depends on the limit alone.
    assert ended(flood, "20 MB") == first
    assert ended(flood, "40 MB") != first


def test_a_run_below_its_limit_is_the_same_run(flood: Scenario) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert flood.run(memory="500 MB").summary == flood.run().summary


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"probe": {"interval": "1 us"}}, 'probe: table "link"'),
        ({"probe": {"arrivals": ["a-b"]}, "link.a-b.rate": "10 Gb/s"}, 'probe: table "arrivals"'),
    ],
)
def test_tables_count_as_well(flood: Scenario, change: dict[str, Any], named: str) -> None:
    quiet = flood if "link.a-b.rate" in change else flood.with_values({"flow.flood.rate": "1 kb/s"})
    assert ended(quiet.with_values(change), "10 MB").startswith(named)


def test_open_connections_count_as_well(flood: Scenario) -> None:
    web = {
        "kind": "requests",
        "name": "web",
        "from": "a",
        "to": "b",
        "offered": "10 Mb/s",
        "most_open": 100_000,
        "size": {"kind": "fixed", "size": "1 kB"},
    }
    document = flood.to_dict() | {"flow": [web]}
    document["link"] = [document["link"][0], {"from": "b", "to": "a", "rate": "1 kb/s"}]
    with pytest.warns(NetlullWarning, match="open connections grow"), pytest.raises(MemoryLimitError) as caught:
        Scenario.from_dict(document).run(memory="10 MB")
    assert str(caught.value).startswith("flow.web.most_open: 100000; ")


def test_a_sweep_goes_on_and_keeps_the_other_runs(flood: Scenario, tmp_path: Path) -> None:
    axis = Axis("rate", "flow.flood.rate", ["1 kb/s", "1 Gb/s", "2 kb/s"], unit="kb/s")
    sweep = Sweep(flood, [axis], seeds=2, metrics={"offered": "link.a-b.offered_packets"})
    with (
        pytest.warns(NetlullWarning, match=r"^memory: .*1 of 3 points"),
        pytest.raises(MemoryLimitError, match=r"^link\.a-b\.buffer: unlimited") as caught,
    ):
        sweep.run(tmp_path / "store", memory="20 MB", workers=1)
    notes = " ".join(caught.value.__notes__)
    assert "rate=1 Gb/s" in notes
    assert "2 of 6 runs exceed their memory limit" in notes
    result = sweep.run(tmp_path / "store")
    assert (result.executed, result.reused) == (2, 4)


def test_a_worker_of_a_cluster_goes_on_with_its_batch(flood: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    from netlull.cluster import work

    monkeypatch.setattr(work, "_told", lambda *_: warnings.catch_warnings())
    small = flood.with_values({"flow.flood.rate": "1 kb/s"})
    texts = [flood.canonical(), small.canonical()]
    outcome = work.work(work.identity(), "topic", 20_000_000, ([], []), [(0, 1), (1, 1)], *texts)
    assert outcome.failure is None
    large, fine = outcome.runs
    assert isinstance(large, Failure)
    assert large.kind == "MemoryLimitError"
    assert isinstance(fine, tuple)


def test_the_default_is_a_third_of_the_free_memory_per_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory_module, "_available", lambda: 12_000_000_000)
    monkeypatch.setattr(memory_module, "_GROUP", tmp_path)
    assert memory_module.limit(None) == 4_000_000_000
    assert memory_module.limit(None, runs=4) == 1_000_000_000
    (tmp_path / "memory.current").write_text("1000000000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory_module.limit(None) == 4_000_000_000
    (tmp_path / "memory.max").write_text("4000000000\n")
    assert memory_module.limit(None) == 1_000_000_000
    assert memory_module.limit("2 GB", runs=4) == 2_000_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="other systems ask psutil")
def test_the_available_memory_is_that_of_psutil(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert memory_module._available() == pytest.approx(psutil.virtual_memory().available, rel=0.2)
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemFree: 1 kB\nMemAvailable:       5 kB\nBuffers: 2 kB\n")
    monkeypatch.setattr(memory_module, "_KERNEL", tmp_path)
    assert memory_module._available() == 5 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of Linux")
def test_a_limit_of_the_process_bounds_the_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory_module, "_available", lambda: 12_000_000_000)
    monkeypatch.setattr(memory_module, "_GROUP", tmp_path)
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "status").write_text("Name:\tpython\nVmPeak:\t 1200000 kB\nVmSize:\t 1000000 kB\n")
    monkeypatch.setattr(memory_module, "_KERNEL", tmp_path)
    limits = tmp_path / "self" / "limits"
    limits.write_text("Limit  Soft  Hard  Units\nMax address space         unlimited  unlimited  bytes\n")
    assert memory_module.limit(None) == 4_000_000_000
    limits.write_text("Limit  Soft  Hard  Units\nMax address space         4024000000  unlimited  bytes\n")
    assert memory_module.limit(None) == 1_000_000_000


@pytest.mark.parametrize("size", ["2", "0 B", "-1 GB", "many", "2 s", "1e300 GB", 10**9])
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(
        InputError, match=rf"^memory: {re.escape(repr(size))} is not a size; expected a size of at least 1 B"
    ):
        memory_module.limit(size)


def test_the_command_refuses_and_warns_in_single_lines(
    tmp_path: Path, refused: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "flood.toml"
    file.write_text(FLOOD)
    assert refused("run", file, "--memory", "lots").startswith("netlull: memory: 'lots' is not a size")
    assert main(["run", str(file), "--memory", "20MB"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["warning", "netlull"]
