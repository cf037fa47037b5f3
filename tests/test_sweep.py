"""Sweeps: grids, experiments, the table, and its independence of the execution."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from netlull import (
    Axis,
    AxisPoint,
    Experiment,
    NetlullWarning,
    Progress,
    ResultError,
    Scenario,
    Sweep,
    SweepError,
    SweepResult,
)
from netlull.sweep import running
from netlull.sweep.journal import read

METRICS = {"goodput_bps": "flow.tcp.goodput_bps", "saving": "link.a-b.energy.fs.saving"}
MRCI = Axis("mrci", "link.a-b.controller.min_interval", ["10 ms", "0.05 s"], unit="ms")
RTT = Axis(
    "rtt",
    points=[
        AxisPoint(10, "10 ms", {"link.a-b.delay": "2.5 ms", "link.b-a.delay": "2.5 ms", "link.b-c.delay": "2.5 ms"}),
        AxisPoint(20, "20 ms"),
    ],
    unit="ms",
)


@pytest.fixture
def base(small: Scenario) -> Scenario:
    return small.with_values({"duration": "300 ms"})


@pytest.fixture
def sweep(base: Scenario) -> Sweep:
    return Sweep(base, [RTT, MRCI], seeds=3, metrics=METRICS)


def test_points_are_the_product_the_first_axis_slowest(sweep: Sweep) -> None:
    points = sweep.points()
    assert [point.values for point in points] == [
        {"rtt": 10.0, "mrci": 10.0},
        {"rtt": 10.0, "mrci": 50.0},
        {"rtt": 20.0, "mrci": 10.0},
        {"rtt": 20.0, "mrci": 50.0},
    ]
    assert points[1].label == "sweep at rtt=10 ms, mrci=0.05 s"
    assert points[1].seeds == (1, 2, 3)
    document = points[1].scenario.to_dict()
    assert document["link"][0]["delay"] == "2.5 ms"
    assert document["link"][0]["controller"]["min_interval"] == "0.05 s"


def test_the_table_has_a_row_per_point_and_seed(sweep: Sweep) -> None:
    result = sweep.run()
    table = result.table
    assert table.column_names == [
        "experiment",
        "rtt",
        "rtt_label",
        "mrci",
        "mrci_label",
        "seed",
        "goodput_bps",
        "saving",
    ]
    assert table["rtt"].to_pylist() == [10.0] * 6 + [20.0] * 6
    assert table["mrci_label"].to_pylist() == (["10 ms"] * 3 + ["0.05 s"] * 3) * 2
    assert table["seed"].to_pylist() == [1, 2, 3] * 4
    assert table.schema.field("goodput_bps").type == pa.float64()
    # Every row equals the result of a separate run.
    point = sweep.points()[3]
    alone = point.scenario.run(2)
    row = table.to_pylist()[10]
    assert row["goodput_bps"] == alone.metric("flow.tcp.goodput_bps")
    assert row["saving"] == alone.metric("link.a-b.energy.fs.saving")
    assert (result.executed, result.reused) == (12, 0)


def test_experiments_use_the_axes_they_name(base: Scenario) -> None:
    control = Axis("control", points=[AxisPoint("practra"), AxisPoint("none", unset=["link.a-b.controller"])])
    sweep = Sweep(
        base,
        [control, MRCI],
        seeds=2,
        metrics=METRICS,
        experiments=[
            Experiment("reference", ["control"], seeds=[7], set={"flow.noise.mean_on": "10 ms"}),
            Experiment("grid", ["mrci"], unset=["flow.noise"]),
        ],
    )
    table = sweep.run().table
    assert table["experiment"].to_pylist() == ["reference"] * 2 + ["grid"] * 4
    assert table["control"].to_pylist() == ["practra", "none", None, None, None, None]
    assert table["mrci"].to_pylist() == [None, None, 10.0, 10.0, 50.0, 50.0]
    assert table["seed"].to_pylist() == [7, 7, 1, 2, 1, 2]
    assert table["saving"].to_pylist()[1] == 0.0


def test_equal_runs_are_done_once(base: Scenario) -> None:
    sweep = Sweep(base, [MRCI], 2, METRICS, [Experiment("one"), Experiment("two")])
    result = sweep.run()
    assert result.table.num_rows == 8
    assert result.executed == 4
    half = result.table.num_rows // 2
    assert result.table.slice(0, half)["saving"].equals(result.table.slice(half)["saving"])


def test_labels_with_the_same_scenarios_are_told(base: Scenario) -> None:
    # The link back has no controller, so nothing is taken away.
    control = Axis("control", points=[AxisPoint("practRA"), AxisPoint("always on", unset=["link.b-a.controller"])])
    sweep = Sweep(base, [MRCI, control], seeds=1, metrics=METRICS)
    with pytest.warns(NetlullWarning) as warned:
        result = sweep.run()
    said = "axis.control: practRA and always on are the same scenarios; expected points that differ"
    assert [str(each.message) for each in warned] == [said]
    assert said in result.warnings
    # Points of the other axis that a control ignores are no mistake.
    control = Axis("control", points=[AxisPoint("practRA"), AxisPoint("always on", unset=["link.a-b.controller"])])
    assert Sweep(base, [RTT, control], seeds=1, metrics=METRICS).run().warnings == ()


def test_numbers_stay_numbers_and_text_stays_text(base: Scenario) -> None:
    weight = Axis("weight", "link.a-b.controller.forecast_weight", [0.125, 1])
    delayed = Axis("delayed", "tcp.delayed_ack", [True, False])
    table = Sweep(base, [weight, delayed], metrics=METRICS).run().table
    assert table["weight"].to_pylist() == [0.125, 0.125, 1.0, 1.0]
    assert table["weight_label"].to_pylist() == ["0.125", "0.125", "1", "1"]
    assert table["delayed"].to_pylist() == ["true", "false", "true", "false"]


def test_a_measurement_that_does_not_exist_is_null(base: Scenario) -> None:
    size = Axis("size", "flow.tcp.size", ["10 kB", "endless"])
    table = Sweep(base, [size], metrics={"time_s": "flow.tcp.completion_time_s"}).run().table
    done, never = table["time_s"].to_pylist()
    assert done > 0
    assert never is None


def test_seeds_of_63_bits_have_their_own_energy(base: Scenario, tmp_path: Path) -> None:
    # As floats, the two seeds would be one.
    seeds = [2**63 - 2, 2**63 - 1]
    found = Sweep(base, [MRCI], seeds=seeds, metrics=METRICS).run(tmp_path / "large")
    assert found.energy is not None
    assert set(found.energy["runs"].to_pylist()) == {2}
    single = Sweep(base, [MRCI], seeds=seeds[:1], metrics=METRICS).run(tmp_path / "large")
    assert single.energy is not None
    assert set(single.energy["runs"].to_pylist()) == {1}


def test_means_and_intervals_over_seeds(sweep: Sweep) -> None:
    result = sweep.run()
    summary = result.summarise()
    assert summary.num_rows == 4
    assert summary["runs"].to_pylist() == [3] * 4
    first = summary.to_pylist()[0]
    values = result.table["goodput_bps"].to_pylist()[:3]
    assert first["goodput_bps"] == pytest.approx(sum(values) / 3)
    assert first["goodput_bps_low"] <= first["goodput_bps"] <= first["goodput_bps_high"]
    alone = sweep.replaced(seeds=1).run().summarise().to_pylist()[0]
    assert math.isnan(alone["goodput_bps_low"])


def test_data_frames(sweep: Sweep) -> None:
    result = sweep.replaced(seeds=1).run()
    assert list(result.to_pandas()["mrci"]) == [10.0, 50.0, 10.0, 50.0]
    assert result.to_polars()["mrci"].to_list() == [10.0, 50.0, 10.0, 50.0]


def test_the_table_is_the_same_whatever_the_workers(sweep: Sweep, tmp_path: Path) -> None:
    for workers in (1, 2, 5):
        sweep.run(tmp_path / str(workers), workers=workers)
    tables = [(tmp_path / str(workers) / "results.parquet").read_bytes() for workers in (1, 2, 5)]
    assert tables[0] == tables[1] == tables[2]


def test_what_the_store_has_is_not_run_again(sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = sweep.run(tmp_path / "store")

    def nothing_to_run(jobs: list[Any], *_: object, **__: object) -> None:
        assert jobs == []

    monkeypatch.setattr(running, "execute", nothing_to_run)
    again = sweep.run(tmp_path / "store")
    assert (again.executed, again.reused) == (0, 12)
    assert again.table.equals(first.table)
    loaded = SweepResult.load(tmp_path / "store")
    assert loaded.table.equals(first.table)
    assert loaded.summarise().equals(first.summarise())
    assert loaded.units == {"rtt": "ms", "mrci": "ms"}


def test_a_changed_sweep_runs_what_changed(sweep: Sweep, base: Scenario, tmp_path: Path) -> None:
    sweep.run(tmp_path / "store")
    more_seeds = sweep.replaced(seeds=4).run(tmp_path / "store")
    assert (more_seeds.executed, more_seeds.reused) == (4, 12)
    more_metrics = sweep.replaced(metrics={**METRICS, "events": "events"}).run(tmp_path / "store")
    assert (more_metrics.executed, more_metrics.reused) == (0, 12)
    other = Sweep(base.with_values({"mtu": "1000 B"}), [RTT, MRCI], 3, METRICS).run(tmp_path / "store")
    assert (other.executed, other.reused) == (12, 0)


def test_probes_do_not_matter_to_a_sweep(sweep: Sweep, base: Scenario, tmp_path: Path) -> None:
    first = sweep.run(tmp_path / "store")
    probed = Sweep(base.with_values({"probe": {"interval": "1 ms"}}), [RTT, MRCI], 3, METRICS).run(tmp_path / "store")
    assert (probed.executed, probed.table.equals(first.table)) == (0, True)


def test_an_interrupted_sweep_resumes_to_the_same_table(sweep: Sweep, tmp_path: Path) -> None:
    whole = sweep.run(tmp_path / "whole")

    def interrupt(progress: Progress) -> None:
        if progress.done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep.run(tmp_path / "store", workers=2, progress=interrupt)
    assert not (tmp_path / "store" / "results.parquet").exists()
    with pytest.raises(ResultError, match=r"results\.parquet: is missing: the sweep has not ended"):
        SweepResult.load(tmp_path / "store")
    kept = len(read(tmp_path / "store" / "journal.jsonl").lines)
    assert kept >= 5
    resumed = sweep.run(tmp_path / "store")
    assert (resumed.executed, resumed.reused) == (12 - kept, kept)
    assert resumed.table.equals(whole.table)
    whole_bytes, resumed_bytes = ((tmp_path / name / "results.parquet").read_bytes() for name in ("whole", "store"))
    assert whole_bytes == resumed_bytes


@pytest.mark.filterwarnings("ignore::netlull.NetlullWarning")
def test_a_damaged_line_is_named_and_its_run_repeated(sweep: Sweep, tmp_path: Path) -> None:
    whole = sweep.run(tmp_path / "store")
    journal = tmp_path / "store" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"events":', b'"events":1')
    journal.write_bytes(b"".join(lines)[:-7])
    again = sweep.run(tmp_path / "store")
    assert again.damaged == (
        "journal.jsonl line 4 is damaged: its checksum is wrong",
        "journal.jsonl line 12 is truncated",
    )
    assert (again.executed, again.reused) == (2, 10)
    assert again.table.equals(whole.table)
    assert sweep.run(tmp_path / "store").damaged == ()


@pytest.mark.filterwarnings("ignore::netlull.NetlullWarning")
def test_a_truncated_table_is_named_and_rebuilt(sweep: Sweep, tmp_path: Path) -> None:
    whole = sweep.run(tmp_path / "store")
    table = tmp_path / "store" / "results.parquet"
    table.write_bytes(table.read_bytes()[:100])
    with pytest.raises(ResultError, match=r"results\.parquet: is truncated or damaged"):
        SweepResult.load(tmp_path / "store")
    assert sweep.run(tmp_path / "store").executed == 0
    assert SweepResult.load(tmp_path / "store").table.equals(whole.table)


def test_two_sweeps_cannot_write_to_one_store(sweep: Sweep, tmp_path: Path) -> None:
    def another(_: Progress) -> None:
        with pytest.raises(SweepError, match="another sweep is writing to it"):
            sweep.run(tmp_path / "store")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep.run(tmp_path / "store", progress=another)


def test_progress_counts_to_the_end(sweep: Sweep, tmp_path: Path) -> None:
    seen: list[Progress] = []
    sweep.replaced(seeds=1).run(tmp_path / "store")
    sweep.run(tmp_path / "store", workers=2, progress=seen.append)
    assert seen[0].reused == 4
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert (seen[-1].done, seen[-1].total, seen[-1].fraction) == (12, 12, 1.0)
    assert all(0 <= progress.fraction <= 1 for progress in seen)


def test_a_failure_in_a_run_names_the_run(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        calls_python = False

        def expected_hops(self) -> float:
            return 1.0

        def expected_memory(self) -> float:
            return 1.0

        def measure(self, *_: object) -> str:
            raise RuntimeError("broken")

    broken = Broken()
    monkeypatch.setattr(Scenario, "checked", property(lambda _: broken))
    with pytest.raises(RuntimeError, match="broken") as caught:
        sweep.run(workers=1)
    assert caught.value.__notes__ == ["in the run sweep at rtt=10 ms, mrci=10 ms, seed 1"]


@pytest.mark.parametrize("workers", [0, -1])
def test_workers_must_be_some(sweep: Sweep, workers: int) -> None:
    with pytest.raises(SweepError, match="workers"):
        sweep.run(workers=workers)


def test_a_label_moves_no_cursor(base: Scenario) -> None:
    for point in (AxisPoint("v\x1b[2J"), AxisPoint(1, label="v\u202e")):
        with pytest.raises(SweepError, match="expected text without control characters and marks of direction"):
            Sweep(base, [Axis("d", points=[point])], metrics={"hops": "packet_hops"})


@pytest.mark.parametrize("is_lossy", [False, True])
def test_seeds_that_change_nothing_are_told(is_lossy: bool, tmp_path: Path, printed: Callable[..., str]) -> None:
    loss = 'loss = { kind = "bernoulli", probability = 0.01 }' if is_lossy else ""
    (tmp_path / "line.toml").write_text(f"""
        duration = "1 s"
        nodes = ["a", "b"]
        [[link]]
        from = "a"
        to = "b"
        rate = "10 Mb/s"
        {loss}
        [[link]]
        from = "b"
        to = "a"
        rate = "10 Mb/s"
        [[flow]]
        kind = "tcp"
        name = "bulk"
        from = "a"
        to = "b"
    """)
    (tmp_path / "sweep.toml").write_text("""
        scenario = "line.toml"
        seeds = 3
        metrics = { goodput = "flow.bulk.goodput_bps" }
        axis = [{ name = "d", path = "link.a-b.delay", values = ["5 ms", "10 ms"] }]
    """)
    store = tmp_path / "store"
    for _ in ("simulated", "taken from the store"):
        text = printed("sweep", tmp_path / "sweep.toml", "--out", store, "--no-report")
        assert ("All seeds gave the same bytes at each point" in text) is not is_lossy
        assert ("±" in text) is is_lossy
    assert SweepResult.load(store).constant == (() if is_lossy else ("sweep at d=5 ms", "sweep at d=10 ms"))
