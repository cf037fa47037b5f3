"""Seeds until intervals are narrow: the chosen seeds, points that give up, and the coverage of the intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from netlull import Axis, Progress, Scenario, Sweep, SweepError, SweepResult
from netlull.stats import mean_interval
from netlull.sweep import Condition, Until

METRICS = {"goodput_bps": "flow.tcp.goodput_bps", "loss": "flow.tcp.loss_fraction"}
NOISE = Axis("noise", "flow.noise.rate", ["2 Mb/s", "8 Mb/s"], unit="Mb/s")


@pytest.fixture
def sweep(small: Scenario) -> Sweep:
    return Sweep(small.with_values({"duration": "1 s"}), [NOISE], 2, METRICS)


def seeds_of(result: SweepResult) -> dict[float, list[int]]:
    rows = result.table.to_pylist()
    return {noise: [row["seed"] for row in rows if row["noise"] == noise] for noise in (2.0, 8.0)}


def test_conditions_are_read() -> None:
    assert Condition.parse(" goodput_bps < 5% ") == Condition("goodput_bps", 0.05, relative=True)
    assert Condition.parse("x<1e-3") == Condition("x", 0.001, relative=False)
    assert str(Condition.parse("x<5.0%")) == "x<5%"
    for text in ("x", "x>5%", "x<", "<5%", "x<-1", "x<five", "x<5%%", "x<0", "x<0%", "x<1e999"):
        with pytest.raises(SweepError, match=r"until .* expected"):
            Condition.parse(text)


def test_every_point_has_the_seeds_that_it_needs(sweep: Sweep) -> None:
    result = sweep.run(until="goodput_bps<15%")
    found = seeds_of(result)
    assert found[2.0] == list(range(1, len(found[2.0]) + 1))
    assert len(found[8.0]) > len(found[2.0]) >= 5
    for row in result.summarise().to_pylist():
        assert (row["goodput_bps_high"] - row["goodput_bps_low"]) / 2 < 0.15 * row["goodput_bps"]
    assert result.unmet == ()
    assert result.executed == result.table.num_rows
    # Equal to the same seeds without a condition.
    plain = sweep.replaced(seeds=len(found[8.0])).run().table.to_pylist()
    assert [row for row in plain if row["noise"] == 8.0] == [r for r in result.table.to_pylist() if r["noise"] == 8.0]


def test_seeds_go_on_from_those_given(sweep: Sweep) -> None:
    found = seeds_of(sweep.replaced(seeds=[9, 2]).run(until="goodput_bps<90%"))
    assert found[2.0] == [1, 2, 3, 4, 9]


def test_several_conditions_hold_together_and_the_ceiling_is_reported(sweep: Sweep, tmp_path: Path) -> None:
    result = sweep.run(tmp_path / "store", until=["goodput_bps<90%", "loss<0.0000001"], most_seeds=7)
    assert {noise: len(seeds) for noise, seeds in seeds_of(result).items()} == {2.0: 7, 8.0: 7}
    assert len(result.unmet) == 2
    assert result.unmet[0].startswith("sweep at noise=2 Mb/s: loss<1e-07: ± ")
    assert result.unmet[0].endswith("after 7 seeds")
    assert SweepResult.load(tmp_path / "store").unmet == result.unmet


def test_a_seed_without_a_value_ends_the_search(small: Scenario) -> None:
    size = small.with_values({"duration": "300 ms", "flow.tcp.size": "endless"})
    result = Sweep(size, seeds=2, metrics={"time_s": "flow.tcp.completion_time_s"}).run(until="time_s<5%")
    assert result.table.num_rows == 5
    assert result.unmet == ("sweep: time_s<5%: a seed has no value of it after 5 seeds",)


def test_the_seeds_depend_on_no_worker_and_no_interruption(sweep: Sweep, tmp_path: Path) -> None:
    wanted = "goodput_bps<15%"
    whole = sweep.run(tmp_path / "whole", until=wanted, workers=1)

    def interrupt(progress: Progress) -> None:
        if progress.done >= 13:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep.run(tmp_path / "store", until=wanted, workers=3, progress=interrupt)
    resumed = sweep.run(tmp_path / "store", until=wanted, workers=2)
    assert resumed.reused >= 13
    assert resumed.executed + resumed.reused == whole.executed
    tables = [(tmp_path / name / "results.parquet").read_bytes() for name in ("whole", "store")]
    assert tables[0] == tables[1]
    # More runs in the store than needed do not change the result, either.
    sweep.replaced(seeds=80).run(tmp_path / "store")
    assert sweep.run(tmp_path / "store", until=wanted).table.equals(whole.table)


def test_rounds_grow_by_a_tenth_at_least_and_double_at_most() -> None:
    until = Until.of("x<10%")
    # n = 5, mean 10, s = 2.915: t(0.975, 4) = 2.776, half width 3.62 = 36 %; (36/10)^2 x 5 = 66 seeds: twice as many.
    assert len(until.more((1, 2), {"x": [6.0, 8.5, 10.0, 11.5, 14.0]})) == 10
    # Half width 1.24 = 12.4 %: (1.24)^2 x 5 = 7.7.
    assert len(until.more((1, 2), {"x": [9.0, 9.0, 10.0, 11.0, 11.0]})) == 8
    # Narrow enough; and a mean of zero, which no interval is narrow compared with.
    assert len(until.more((1, 2), {"x": [10.0, 10.1, 9.9, 10.0, 10.0]})) == 5
    assert len(until.more((1, 2), {"x": [-1.0, 1.0, 0.0, -1.0, 1.0]})) == 10
    assert len(until.more((1, 2), {"x": [0.0] * 5})) == 5
    assert until.more((7,), {"x": [1.0, 9.0, 1.0, 9.0, 5.0]})[:4] == (7, 1, 2, 3)


def test_intervals_that_end_a_search_cover_a_little_less() -> None:
    # Normal values, mean 1, s = 0.1, until 5 %: docs/statistics.md has more of this.
    until = Until.of("x<5%")
    right, repetitions = 0, 1000
    for repetition in range(repetitions):
        values = np.random.default_rng(repetition).normal(1, 0.1, 400).tolist()
        count, wanted = 0, 5
        while wanted > count:
            count = wanted
            wanted = len(until.more((1,), {"x": values[:count]}))
        right += not mean_interval(values[:count]).excludes(1)
    # 95 % of 1000 with a standard error of 0.7 %: 4000 repetitions gave 93.8 %.
    assert 0.915 < right / repetitions < 0.955


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--until", "goodput<5%"],
            'until "goodput<5%": "goodput" is not a metric of the sweep; did you mean goodput_bps?',
        ),
        (["--until", "goodput_bps"], 'until "goodput_bps": expected metric<5% (relative) or metric<0.1 (absolute)'),
        (["--until", "goodput_bps<5%", "--most-seeds", "4"], "most_seeds: 4 is not a number of seeds"),
        (["--until", "goodput_bps<5%", "--most-seeds", "1000001"], "most_seeds: 1000001 is not a number of seeds"),
        (["--most-seeds", "10"], "most_seeds: 10 limits `until`"),
    ],
)
def test_what_cannot_be_asked_for(
    refused: Callable[..., str], small_file: Path, tmp_path: Path, arguments: list[str], says: str
) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(
        f'scenario = "{small_file.name}"\n[metrics]\ngoodput_bps = "flow.tcp.goodput_bps"\n'
        '[[axis]]\nname = "d"\npath = "duration"\nvalues = ["100 ms"]\n'
    )
    assert says in refused("sweep", path, "--out", tmp_path / "store", *arguments)
    assert not (tmp_path / "store").exists()


def test_the_width_of_nothing_is_no_number() -> None:
    assert math.isnan(Condition.parse("x<5%").width(mean_interval([1.0])))
