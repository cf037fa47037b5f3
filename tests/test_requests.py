"""Requests from Python: their results in a run, and too many open requests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import netlull


def web(**fields: str | int) -> netlull.Scenario:
    """Requests of 20 kB on average at 4 of 10 Mb/s."""
    flow = {"kind": "requests", "name": "web", "from": "a", "to": "b", "offered": "4 Mb/s"} | fields
    return netlull.Scenario(
        duration="20 s",
        nodes=["a", "b"],
        links=[netlull.Link("a", "b", "10 Mb/s", "5 ms", duplex=True)],
        flows=[
            {**flow, "size": {"kind": "pareto", "mean": "20 kB", "shape": 1.35, "max": "2 MB"}},
            netlull.Tcp("bulk", "b", "a", "1 MB"),
        ],
        probe=netlull.Probe(requests=True),
    )


def test_the_builder_writes_what_a_file_says() -> None:
    size = netlull.ParetoSize("20 kB", 1.35, max="2 MB")
    built = netlull.Scenario(
        duration="20 s",
        nodes=["a", "b"],
        links=[netlull.Link("a", "b", "10 Mb/s", "5 ms", duplex=True)],
        flows=[netlull.Requests("web", "a", "b", "4 Mb/s", size), netlull.Tcp("bulk", "b", "a", "1 MB")],
        probe=netlull.Probe(requests=True),
    )
    assert built.to_dict() == web().to_dict()


def test_a_result_has_its_requests_and_keeps_them(tmp_path: Path) -> None:
    result = web().run()
    flow, table = result.flow("web"), result.series("request")
    assert table.num_rows == flow["requests_started"] > 300
    assert set(table["flow"].to_pylist()) == {"web"}
    # Incomplete requests come last, without a time.
    times = table["completion_s"].to_pylist()
    complete = flow["requests_completed"]
    assert all(times[:complete])
    assert times[complete:] == [None] * (table.num_rows - complete)
    assert sum(table["size_bytes"].to_pylist()) == flow["requested_bytes"]
    assert result.metric("flow.web.max_completion_s") == pytest.approx(max(times[:complete]))
    # A flow of another kind has none: null in the summary, NaN as a metric.
    assert result.flow("bulk")["requests_started"] is None
    assert result.flows["p95_completion_s"].to_pylist() == [None, flow["p95_completion_s"]]
    result.save(tmp_path / "run")
    assert netlull.Result.load(tmp_path / "run").series("request").equals(table)


def test_too_many_open_connections_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(netlull.ScenarioError, match=r"flow\.web\.most_open: 3 connections are open at .* larger limit"):
        web(most_open=3).run()


def test_the_command_prints_completion_times(printed: Callable[..., str]) -> None:
    out = printed("run", "web-load", "--set", "duration=30 s")
    assert "requests new_reno" in out
    assert "most open" in out


def test_unfinished_requests_are_told(printed: Callable[..., str], tmp_path: Path) -> None:
    # At 2 Mb/s, the run has room for 500 kB: none of the transfers of about 1 MB is complete.
    path = tmp_path / "slow.toml"
    path.write_text(
        'duration = "2 s"\nnodes = ["a", "b"]\n'
        '[[link]]\nfrom = "a"\nto = "b"\nduplex = true\nrate = "2 Mb/s"\ndelay = "1 ms"\n'
        '[[flow]]\nkind = "requests"\nname = "web"\nfrom = "a"\nto = "b"\noffered = "20 Mb/s"\n'
        'size = { kind = "pareto", mean = "1 MB", shape = 3.0 }\n',
        encoding="utf-8",
    )
    shown = printed("run", path)
    assert "web: 100.0 % of the requests are unfinished and count in no completion time." in shown
    shown = printed("run", path, "--set", "flow.web.size.mean='2 kB'", "--set", "flow.web.offered='200 kb/s'")
    assert "unfinished" not in shown
