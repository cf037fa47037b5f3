"""Points without a grid: lists, random and Latin-hypercube samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from netlull import Axis, Experiment, Scenario, Sweep, SweepError, SweepResult
from netlull.sweep import Column, Design, Range, design

METRICS = {"goodput_bps": "flow.tcp.goodput_bps"}
RATE = Range("rate", "link.a-b.rate", "1 Mb/s", "9 Mb/s", unit="Mb/s")
DELAY = Range("delay", ["link.a-b.delay", "link.b-a.delay"], "1 ms", "100 ms", unit="ms", scale="log")

SAMPLE = """
scenario = "small.toml"
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[sample]
kind = "latin_hypercube"
points = 4
seed = 3
[[sample.axis]]
name = "noise"
path = "flow.noise.rate"
from = "1 Mb/s"
to = "5 Mb/s"
unit = "Mb/s"
[[axis]]
name = "control"
[[axis.point]]
value = "practra"
set = { "duration" = "200 ms" }
[[axis.point]]
value = "none"
set = { "duration" = "200 ms" }
unset = ["link.a-b.controller"]
"""

LIST = """
scenario = "small.toml"
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[list]
axis = [
  { name = "noise", path = "flow.noise.rate", unit = "Mb/s" },
  { name = "length", path = "duration", unit = "ms" },
]
rows = [["1 Mb/s", "100 ms"], ["2 Mb/s", "0.2 s"], ["1 Mb/s", "0.2 s"]]
"""


def numbers(made: Design, axis: str) -> list[float]:
    return [float(place[axis].value) for place in made.places]


def test_a_latin_hypercube_has_a_point_in_each_slice() -> None:
    cube = Design.sampled("latin_hypercube", 20, [RATE, DELAY], seed=7)
    # 20 slices of 0.4 Mb/s, and of a twentieth of two decades.
    rates, delays = numbers(cube, "rate"), numbers(cube, "delay")
    assert sorted(int((rate - 1) / 0.4) for rate in rates) == list(range(20))
    assert sorted(int(10 * np.log10(delay)) for delay in delays) == list(range(20))
    # The two axes are shuffled independently.
    assert np.argsort(rates).tolist() != np.argsort(delays).tolist()


def test_shares_are_uniform_and_fill_space_as_scipys_do() -> None:
    random, cube = design._shares("random", 400, 2, 1), design._shares("latin_hypercube", 400, 2, 1)
    for column in random.T:
        assert scipy.stats.kstest(column, "uniform").pvalue > 0.01
    theirs = scipy.stats.qmc.LatinHypercube(2, rng=np.random.default_rng(1)).random(400)
    ours, scipys, plain = (scipy.stats.qmc.discrepancy(sample) for sample in (cube, theirs, random))
    assert ours == pytest.approx(scipys, rel=2)
    assert ours < plain / 2


def test_the_same_arguments_give_the_same_points_for_ever() -> None:
    # Made with 0.1.0 from the raw bits of PCG64: no version of any package may change them.
    cube = Design.sampled("latin_hypercube", 4, [RATE, DELAY], seed=1)
    assert [(place["rate"].text, place["delay"].text) for place in cube.places] == GOLDEN_CUBE
    random = Design.sampled("random", 2, [RATE], seed=1)
    assert [place["rate"].text for place in random.places] == GOLDEN_RANDOM
    other = Design.sampled("random", 2, [RATE], seed=2)
    assert [place["rate"].text for place in other.places] != GOLDEN_RANDOM


GOLDEN_CUBE = [
    ("2.02364 Mb/s", "18.8277 ms"),
    ("8.90093 Mb/s", "1.03224 ms"),
    ("3.28832 Mb/s", "75.2933 ms"),
    ("6.8973 Mb/s", "5.87586 ms"),
]
GOLDEN_RANDOM = ["5.09457 Mb/s", "8.60371 Mb/s"]


def test_values_are_short_stay_in_range_and_may_be_whole() -> None:
    tight = Range("x", "x", 1.00000049, 1.00000051)
    assert {tight.at(share) for share in (0.0, 0.5, 1.0)} == {1.00000049}
    assert RATE.at(1 / 3) == "3.66667 Mb/s"
    assert DELAY.at(0.5) == "10 ms"
    assert Range("n", "n", 1, 10, whole=True).at(0.5) in {5, 6}
    assert Range("big", "x", "1 B", "9000000 B", unit="B", whole=True).at(1.0) == "9000000 B"


def test_a_sample_crosses_the_axes(small_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(SAMPLE)
    sweep = Sweep.from_file(path)
    table = sweep.run(tmp_path / "store").table
    assert table.column_names[1:5] == ["noise", "noise_label", "control", "control_label"]
    assert table["control"].to_pylist() == ["practra", "none"] * 4
    noise = table["noise"].to_pylist()
    assert noise[::2] == noise[1::2]
    assert sorted(int(rate) for rate in noise[::2]) == [1, 2, 3, 4]
    point = sweep.points()[0]
    assert point.scenario.to_dict()["flow"][1]["rate"] == point.at["noise"].text == table["noise_label"][0].as_py()
    loaded = SweepResult.load(tmp_path / "store")
    assert (loaded.axes, loaded.units["noise"]) == (("noise", "control"), "Mb/s")
    assert Sweep.from_file(path).points()[0].scenario == point.scenario
    assert small_file.exists()


def test_a_list_has_its_rows(small_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(LIST)
    points = Sweep.from_file(path).points()
    assert [point.values for point in points] == [
        {"noise": 1.0, "length": 100.0},
        {"noise": 2.0, "length": 200.0},
        {"noise": 1.0, "length": 200.0},
    ]
    assert points[1].scenario.duration == "200 ms"
    assert small_file.exists()


def test_experiments_use_a_design_whole_or_not_at_all(small: Scenario) -> None:
    rows = Design.listed([Column("d", "duration"), Column("m", "mtu")], [["1 s", "1000 B"], ["2 s", "1500 B"]])
    control = Axis("control", "link.a-b.controller.delay_bound", ["10 ms", "20 ms"])
    experiments = [Experiment("plain", ["control"]), Experiment("rows", ["d", "m"]), Experiment("all")]
    sweep = Sweep(small, [control], 2, METRICS, experiments, rows)
    assert [len([p for p in sweep.points() if p.experiment == e.name]) for e in experiments] == [2, 2, 4]
    with pytest.raises(SweepError, match=r'experiment\.part\.axes: lacks "m"; expected all axes of the list or sample'):
        Sweep(small, [control], 2, METRICS, [Experiment("part", ["d"])], rows)
    with pytest.raises(SweepError, match='"d" names two columns'):
        Sweep(small, [Axis("d", "duration", ["1 s"])], 2, METRICS, design=rows)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Design.sampled("sobol", 4, [RATE]), 'sample.kind: "sobol" is unknown; expected one of latin_hyper'),
        (lambda: Design.sampled("random", 0, [RATE]), "sample.points: is 0; expected a whole number from 1 to"),
        (lambda: Design.sampled("random", 4, [RATE], seed=-1), "sample.seed: is -1"),
        (lambda: Design.sampled("random", 4, []), "sample.axis: is missing"),
        (lambda: Design.sampled("random", 50, [Range("n", "n", 1, 3, whole=True)]), "are the same when rounded"),
        (lambda: Range("x", "x", 2, 1), "sample.axis.x: from 2 to 1 is not a range"),
        (lambda: Range("x", "x", 0, 1, scale="log"), "sample.axis.x.from: 0 has no logarithm"),
        (lambda: Range("x", "x", 0, 1, scale="cubic"), 'sample.axis.x.scale: "cubic" is unknown'),
        (lambda: Range("x", "x", "1 ms", "2 ms"), "sample.axis.x.from: is '1 ms'; expected a number, or a unit"),
        (
            lambda: Range("x", "x", "1 ms", "2 B", unit="ms"),
            "sample.axis.x.to: is '2 B'; expected a number or a quantity",
        ),
        (lambda: Range("x", "x", 0, float("inf")), "sample.axis.x.to: is inf"),
        (lambda: Design.listed([], [[1]]), "list.axis: is missing"),
        (lambda: Design.listed([Column("d", "duration")], []), "list.rows: is empty"),
        (lambda: Design.listed([Column("d", "duration")], [["1 s", "2 s"]]), "list.rows.0: is .* value each for d"),
        (lambda: Design.listed([Column("d", "duration")], ["1 s"]), "list.rows.0: is '1 s'"),
        (
            lambda: Design.listed([Column("d", "duration")], [["1 s"], ["1 s"]]),
            "list.rows.1: is the same as list.rows.0",
        ),
        (lambda: Design.listed([Column("d", [])], [["1 s"]]), "list.axis.d.path: is .*expected a path"),
    ],
)
def test_what_is_no_design_is_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(SweepError, match=says):
        make()


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("points = 4", "", "sample.points: is missing"),
        ('kind = "latin_hypercube"', "", "sample.kind: is missing"),
        ("seed = 3", "seeds = 3", "sample.seeds: is unknown"),
        ('from = "1 Mb/s"', "", "sample.axis.noise.from: is missing"),
        ('path = "flow.noise.rate"', "", "sample.axis.noise.path: is missing"),
        ('path = "flow.noise.rate"', 'path = "flow.nose.rate"', "flow.nose.rate"),
        ("[sample]", "[list]\nrows = []\n[sample]", "list: is given together with sample"),
        ("points = 4", 'points = "4"', 'sample.points: is "4"; expected a whole number'),
    ],
)
def test_a_file_that_is_wrong_is_refused(
    refused: Callable[..., str], small_file: Path, tmp_path: Path, old: str, new: str, says: str
) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(SAMPLE.replace(old, new, 1))
    assert says in refused("sweep", path, "--out", tmp_path / "store")
    assert small_file.exists()
    assert not (tmp_path / "store").exists()
