"""Comparisons: pairs, words, corrections, and notes on missing pairs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import scipy.stats

from netlull import Axis, InputError, Scenario, Sweep, SweepResult
from netlull.cli.compare import print_comparison
from netlull.compare import Comparison, Options, Verdict, compare, compare_points, compare_with, only
from netlull.report.compared import comparison_lines

Printed = Callable[..., str]
Refused = Callable[..., str]
METRICS = {"x": "flow.tcp.x"}
SEEDS = range(1, 9)
NOISE = np.array([0.3, -0.2, 0.5, -0.4, 0.1, 0.0, -0.3, 0.2])


def result(points: dict[tuple[str, ...], dict[int, float]], axes: Sequence[str] = (), **metrics: str) -> SweepResult:
    """A result with one metric, `x`: labels of the axes -> seed -> value."""
    rows = [(place, seed, value) for place, runs in points.items() for seed, value in runs.items()]
    columns: dict[str, list[object]] = {"experiment": ["sweep"] * len(rows)}
    for index, axis in enumerate(axes):
        columns[axis] = columns[f"{axis}_label"] = [place[index] for place, _, _ in rows]
    columns |= {"seed": [seed for _, seed, _ in rows], "x": [value for _, _, value in rows]}
    made = [Axis(axis, "p", sorted({place[index] for place in points})) for index, axis in enumerate(axes)]
    return SweepResult(pa.table(columns), made, metrics or METRICS)


def of(values: Sequence[float], seeds: Sequence[int] = SEEDS) -> SweepResult:
    return result({(): dict(zip(seeds, map(float, values), strict=True))})


def test_pairs_are_scipys() -> None:
    a, b = 10 + NOISE, 10.5 + NOISE + 0.1 * NOISE[::-1]
    (row,) = compare(of(a), of(b)).rows
    theirs = scipy.stats.ttest_rel(b, a)
    assert (row.difference.low, row.difference.high) == pytest.approx(theirs.confidence_interval(0.95))
    assert row.p_value == pytest.approx(theirs.pvalue)
    assert (row.a_mean, row.b_mean) == pytest.approx((a.mean(), b.mean()))
    assert row.relative.mean == pytest.approx(b.mean() / a.mean() - 1)
    assert (row.verdict, row.paired, row.difference.n) == (Verdict.HIGHER, True, 8)
    (back,) = compare(of(b), of(a)).rows
    assert back.verdict is Verdict.LOWER
    # The same numbers without their pairs: the noise hides the difference.
    (apart,) = compare(of(a), of(b, range(11, 19))).rows
    interval = scipy.stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert (apart.difference.low, apart.difference.high) == pytest.approx(interval)
    assert apart.difference.half_width > 5 * row.difference.half_width


def test_what_is_not_shown_may_be_hidden() -> None:
    (row,) = compare(of(NOISE), of(NOISE[::-1])).rows
    assert row.verdict is Verdict.NONE
    assert row.hidden == max(-row.difference.low, row.difference.high) > 0
    (same,) = compare(of(NOISE), of(NOISE)).rows
    assert (same.verdict, same.hidden) == (Verdict.NONE, 0)
    (alone,) = compare(of([1.0], [1]), of([2.0], [1])).rows
    assert (alone.verdict, alone.doubt) == (Verdict.UNKNOWN, "only 1 seed")
    assert math.isnan(alone.difference.low)


def test_lonely_seeds_points_and_metrics_are_named() -> None:
    a = result({("p",): {1: 1.0, 2: 2.0, 3: 2.5}, ("q",): {1: 1.0}}, ["k"])
    b = result({("p",): {1: 2.0, 2: 3.5, 4: 9.0}, ("r",): {1: 1.0}}, ["k"], x="flow.other.x")
    found = compare(a, b)
    (row,) = found.rows
    assert (dict(row.at), row.difference.n, row.difference.mean) == ({"k": "p"}, 2, 1.25)
    assert found.notes == (
        "x is not the same metric in both: flow.tcp.x in A, flow.other.x in B",
        "only in A: k=q",
        "only in B: k=r",
        "not paired at k=p: seed 3 only in A",
        "not paired at k=p: seed 4 only in B",
    )
    assert compare(of([1, 2], [1, 2]), of([1, 2], [3, 4])).notes == (
        "no seed is in both: compared as independent samples (Welch)",
    )


def test_pairs_without_a_value_are_left_out_and_counted() -> None:
    found = compare(of([1.0, 2.0, math.nan], [1, 2, 3]), of([2.0, 3.5, 4.0], [1, 2, 3]))
    assert found.rows[0].difference.n == 2
    assert found.notes == ("x has no value in 1 of 3 pairs",)


def test_metrics_without_any_value_are_named() -> None:
    without = of([math.nan] * 3, [1, 2, 3])
    says = "metric x: none and nap have no values to compare; expected a metric with values in both$"
    for a, b in ((of([1, 2, 3], [1, 2, 3]), without), (without, of([1, 2, 3], [4, 5, 6]))):
        with pytest.raises(InputError, match=says):
            compare(a, b, names=("none", "nap"))
    with pytest.raises(InputError, match="A and B have no point in common; expected the same axes and labels"):
        compare(result({("p",): {1: 1.0}}, ["k"]), result({("q",): {1: 1.0}}, ["k"]))


def test_all_points_of_an_axis_with_one_by_holms_verdicts() -> None:
    # The p-values of the pairs are those of the pairs alone; Holm multiplies the lowest by 3, the next by 2 and 1.
    runs = {
        (control,): {seed: base + slope * seed + NOISE[seed - 1] for seed in SEEDS}
        for control, base, slope in (("plain", 4.0, 0.0), ("PC", 5.0, 0.01), ("lull", 4.4, -0.02), ("same", 4.0, 0.2))
    }
    sweep = result(runs, ["control"])
    alone = {name: compare_points(sweep, "control", "plain", name).rows[0] for name in ("PC", "lull", "same")}
    found = compare_with(sweep, "control", "plain")
    assert found.options.correct == "holm"
    assert [row.at["control"] for row in found.rows] == ["PC", "lull", "same"]
    assert [row.difference for row in found.rows] == [row.difference for row in alone.values()]
    ordered = sorted(row.p_value for row in alone.values())
    expected, largest = {}, 0.0
    for factor, p_value in zip((3, 2, 1), ordered, strict=True):
        largest = max(largest, min(1.0, factor * p_value))
        expected[p_value] = largest
    assert [row.p_value for row in found.rows] == pytest.approx([expected[row.p_value] for row in alone.values()])
    with pytest.raises(InputError, match="no point"):
        compare_with(sweep, "control", "x")
    with pytest.raises(InputError, match='no other point than "plain"'):
        compare_with(result({("plain",): {1: 1.0}}, ["control"]), "control", "plain")


def test_two_points_of_an_axis() -> None:
    runs = {
        (control, load): {seed: base + seed for seed in SEEDS}
        for control, base in (("PC", 5.0), ("plain", 4.0))
        for load in ("low", "high")
    }
    sweep = result(runs, ["control", "load"])
    found = compare_points(sweep, "control", "plain", "PC")
    assert found.names == ("plain", "PC")
    assert [(dict(row.at), row.difference.mean, row.verdict) for row in found.rows] == [
        ({"load": "low"}, 1.0, Verdict.HIGHER),
        ({"load": "high"}, 1.0, Verdict.HIGHER),
    ]
    (row,) = compare_points(only(sweep, {"load": "low"}), "control", "plain", "PC").rows
    assert dict(row.at) == {}
    # A point must be chosen on an axis that only one of them has.
    with pytest.raises(InputError, match="B: several points of the axis load have the same labels; choose"):
        compare(of([1.0] * 8), only(sweep, {"control": "PC"}))


def test_a_reference_experiment_is_compared_with_each_point_of_another(
    tmp_path: Path, printed: Callable[..., str], refused: Callable[..., str]
) -> None:
    (tmp_path / "small.toml").write_text(
        'name = "small"\nduration = "1 s"\nnodes = ["a", "b"]\n'
        'link = [{ from = "a", to = "b", rate = "1 Mb/s", delay = "1 ms" }]\n'
        'flow = [{ kind = "cbr", name = "c", from = "a", to = "b", rate = "500 kb/s" }]\n'
    )
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'scenario = "small.toml"\nseeds = 2\n[metrics]\ngoodput_bps = "flow.c.goodput_bps"\n'
        '[[axis]]\nname = "rate"\nunit = "kb/s"\npath = "flow.c.rate"\nvalues = [120.00000000000001, 250]\n'
        '[[experiment]]\nname = "plain"\naxes = []\n[[experiment]]\nname = "scaled"\naxes = ["rate"]\n'
    )
    store = tmp_path / "store"
    # Numbers on an axis with a unit are quantities in that unit.
    assert "120 kb/s" in printed("sweep", sweep, "--out", store)
    rows = json.loads(printed("compare", store, "--by", "experiment=plain,scaled", "--json"))["rows"]
    assert [row["at"] for row in rows] == [{"rate": "120 kb/s"}, {"rate": "250 kb/s"}]
    assert rows[0]["a_mean"] == rows[1]["a_mean"] > rows[1]["b_mean"] > rows[0]["b_mean"]
    # The reference does not use the axis: a choice of its point leaves the reference as it is.
    (row,) = json.loads(
        printed("compare", store, "--by", "experiment=plain,scaled", "--where", "rate=250 kb/s", "--json")
    )["rows"]
    assert (row["at"], row["a_mean"], row["b_mean"]) == ({}, rows[1]["a_mean"], rows[1]["b_mean"])
    rows = json.loads(printed("compare", store, "--by", "rate=120 kb/s,250 kb/s", "--json"))["rows"]
    assert [row["at"] for row in rows] == [{}]
    assert 'has no experiment "scale"; did you mean scaled?' in refused(
        "compare", store, "--by", "experiment=plain,scale"
    )


def test_holm_takes_back_what_chance_would_give() -> None:
    rng = np.random.default_rng(5)
    first = {(str(place),): dict(enumerate(rng.normal(size=8))) for place in range(60)}
    second = {(str(place),): dict(enumerate(rng.normal(size=8))) for place in range(60)}
    a, b = result(first, ["k"]), result(second, ["k"])

    def shown(found: Comparison) -> int:
        return sum(row.verdict is not Verdict.NONE for row in found.rows)

    # No difference anywhere; of 60 intervals about three miss.
    plain = compare(a, b)
    assert plain.expected_misses == pytest.approx(3)
    assert 1 <= shown(plain) <= 8
    assert shown(compare(a, b, options=Options(correct="holm"))) == 0


def test_only_rows_with_an_interval_may_miss_by_chance(capsys: pytest.CaptureFixture[str]) -> None:
    several = {(place,): {1: 1.0, 2: 2.0} for place in "abc"}
    found = compare(*(result(several | {("d",): {1: value}}, ["k"]) for value in (1.0, 2.0)))
    assert (len(found.rows), found.intervals, found.expected_misses) == (4, 3, pytest.approx(3 * 0.05))
    print_comparison(found)
    assert "Of 3 intervals at 95 %" in capsys.readouterr().out
    single = {("d",): {1: 1.0}, ("e",): {1: 2.0}}
    print_comparison(compare(result(single, ["k"]), result(single, ["k"])))
    assert "by chance" not in capsys.readouterr().out


def test_options_that_do_not_go_together() -> None:
    for options, says in (
        ({"level": 95}, "level: 95 is not a confidence level"),
        ({"correct": "bonferroni"}, 'correct: "bonferroni" is unknown; expected one of holm'),
        ({"correct": "holm", "bootstrap": True}, "correct: a bootstrap gives no p-values"),
    ):
        with pytest.raises(InputError, match=says):
            Options(**options)  # type: ignore[arg-type]


def test_a_bootstrap_of_few_warns() -> None:
    (row,) = compare(of(NOISE), of(NOISE + np.arange(8)), options=Options(bootstrap=True)).rows
    assert row.doubt == "a bootstrap of 8 is too narrow, see docs/statistics.md"
    assert math.isnan(row.p_value)


def test_common_random_numbers_make_differences_narrow(small: Scenario) -> None:
    # The noise flow draws from its own stream: both have the same bursts, independent of the controller.
    def run(scenario: Scenario, seeds: Sequence[int]) -> SweepResult:
        return Sweep(
            scenario, seeds=seeds, metrics={"sent": "flow.noise.packets_sent", "x": "link.b-c.throughput_bps"}
        ).run()

    plain = small.with_values({"link.a-b.controller": None})
    scaled, same, other = run(small, range(1, 13)), run(plain, range(1, 13)), run(plain, range(101, 113))
    sent, paired = compare(same, scaled).rows
    assert (sent.verdict, sent.hidden) == (Verdict.NONE, 0)
    assert paired.paired
    assert paired.difference.half_width < compare(other, scaled, ["x"]).rows[0].difference.half_width


SWEEP = """
scenario = "small.toml"
seeds = 3
[metrics]
goodput_bps = "flow.tcp.goodput_bps"
[[axis]]
name = "control"
[[axis.point]]
value = "PC, slow"
set = { duration = "300 ms", warm_up = "100 ms" }
[[axis.point]]
value = "plain"
set = { duration = "300 ms", warm_up = "100 ms" }
unset = ["link.a-b.controller"]
"""


@pytest.fixture
def store(printed: Printed, small_file: Path, tmp_path: Path) -> Path:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    assert small_file.exists()
    out = printed("sweep", path, "--out", tmp_path / "store")
    assert "Measured from 100 ms to 300 ms of each run: the warm-up is left out." in out
    assert "these intervals may mislead: only 3 seeds" in out
    return tmp_path / "store"


def test_the_command(printed: Printed, store: Path) -> None:
    out = printed("compare", store, "--by", "control=PC, slow,plain")
    assert "plain minus PC, slow, with 95 % confidence intervals" in out
    assert "Measured from 100 ms to 300 ms" in out
    assert "same seed" in out
    found = json.loads(printed("compare", store, "--by", "control=PC, slow,plain", "--json"))
    assert found["measured"] == [{"from": "100 ms", "to": "300 ms"}]
    (row,) = found["rows"]
    assert (row["metric"], row["pairs"], row["doubt"]) == ("goodput_bps", 3, "only 3 seeds")
    again = printed("compare", store, store, "--where", "control=plain", "--correct", "holm")
    assert "the same in every pair" in again
    assert "(Holm)" in again


def test_energy_is_compared_with_the_run_without_sleep(printed: Printed, refused: Refused, tmp_path: Path) -> None:
    file = tmp_path / "nap.toml"
    file.write_text(
        """duration = "2 s"
nodes = ["a", "b", "c"]
power = [{ model = "nexus-9336-fx2" }]
link = [
    { from = "a", to = "b", duplex = true, rate = "1 Mb/s" },
    { from = "b", to = "c", duplex = true, rate = "1 Mb/s" },
    { from = "a", to = "c", duplex = true, rate = "1 Mb/s" },
]
flow = [{ kind = "poisson", name = "f", from = "a", to = "c", rate = "500 kb/s", packet = "500 B" }]
"""
    )
    path = tmp_path / "energy.toml"
    path.write_text(
        """scenario = "nap.toml"
seeds = 2
[metrics]
router_j = "network.energy.nexus-9336-fx2.total_j"
saving = "network.energy.nexus-9336-fx2.saving"
[[axis]]
name = "sleep"
[[axis.point]]
value = "none"
[[axis.point]]
value = "nap"
set = { sleep = [{ at = "1 s", links = ["a-c"] }] }
"""
    )
    hint = "where links slept, compare network.energy.nexus-9336-fx2.total_j with the runs without sleep"
    said = f"saving: no value in 2 of 4 runs, so no mean at their points; {hint} (netlull compare)."
    assert f"Note: {said}" in " ".join(printed("sweep", path, "--out", tmp_path / "store").split())
    assert said in (tmp_path / "store" / "report.html").read_text(encoding="utf-8")
    out = " ".join(printed("compare", tmp_path / "store", "--by", "sleep=none,nap").split())
    assert "router_j is energy: a relative difference of -5 % is a saving of 5 % compared with none" in out
    assert "compare network.energy.nexus-9336-fx2.total_j for the saving of nap compared with none" in out
    # The reference of the run with sleep would carry the detour: it has no saving of its own.
    assert "saving has no value in 2 of 2 pairs" in out
    out = refused("compare", tmp_path / "store", "--by", "sleep=none,nap", "--metric", "saving")
    assert "metric saving: none and nap have no values to compare; expected a metric with values in both (saving" in out
    assert "compare network.energy.nexus-9336-fx2.total_j for the saving of nap compared with none)" in out
    awake, asleep = tmp_path / "awake.toml", tmp_path / "asleep.toml"
    awake.write_text(file.read_text(), encoding="utf-8")
    asleep.write_text(f'sleep = [{{ at = "1 s", links = ["a-c"] }}]\n{file.read_text()}', encoding="utf-8")
    for name in (awake, asleep):
        printed("run", name, "--out", name.with_suffix(""))
    out = printed("compare", awake.with_suffix(""), asleep.with_suffix(""))
    assert "network.energy.nexus-9336-fx2.total_j" in out


def test_two_scenarios(printed: Printed, small_file: Path) -> None:
    other = small_file.with_name("other.toml")
    other.write_text(small_file.read_text().replace('rate = "8 Mb/s"', 'rate = "4 Mb/s"'))
    command = ["compare", small_file, other, "--metric", "flow.tcp.goodput_bps", "--seeds", "6", "--json"]
    (row,) = json.loads(printed(*command))["rows"]
    assert (row["pairs"], row["verdict"]) == (6, "higher")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["STORE"], "B: is missing; expected a second sweep or scenario, or --by"),
        (["STORE", "STORE", "--by", "control=a,b"], "compares points of one sweep"),
        (["STORE", "--by", "control"], '--by "control": expected axis=X,Y'),
        (["STORE", "--by", "control=PC"], 'the axis control has no point "PC"'),
        (["STORE", "--by", "contrl=plain,PC"], 'there is no axis "contrl" in the sweep; did you mean control?'),
        (["STORE", "--by", "control=plain,PC"], 'the axis control has no point "PC"'),
        (["STORE", "--by", "control=plain,plain"], 'are both "plain"'),
        (["STORE", "FILE"], "expected two folders or two scenarios"),
        (["STORE", "STORE", "--seeds", "3"], "--seeds: sweeps have their seeds already"),
        (["STORE", "STORE", "--where", "control"], '--where "control": expected axis=point'),
        (["STORE", "STORE", "--metric", "goodput"], 'no metric "goodput" in both; did you mean goodput_bps?'),
        (["STORE", "STORE", "--level", "95"], "level: 95.0 is not a confidence level"),
        (["STORE", "STORE", "--correct", "fdr"], 'correct: "fdr" is unknown'),
        (["FILE", "FILE"], "--metric: is missing; expected a path such as"),
        (["FILE", "FILE", "--where", "a=b"], "scenarios have no axes"),
        (
            ["FILE", "FILE", "--metric", "flow.tcp.goodput"],
            "did you mean flow.tcp.goodput_bps?",
        ),
        (["nowhere", "FILE", "--metric", "events"], "nowhere"),
    ],
)
def test_what_cannot_be_compared(
    refused: Refused, store: Path, small_file: Path, arguments: list[str], says: str
) -> None:
    places = {"STORE": str(store), "FILE": str(small_file)}
    assert says in refused("compare", *(places.get(part, part) for part in arguments))


def test_a_skewed_metric_is_named_with_its_point() -> None:
    # Differences 0, 0, 0, 0, 1 at load 2: m2 = 0.16, m3 = 0.096, so g1 = 1.5 and G1 = 1.5 sqrt(5 x 4) / 3 = 2.24. Its
    # standard error is 0.91, and 5 values are fewer than 25 x 5. Differences of load 1 are symmetric.
    points = {("1",): [1.0, 2, 3, 4, 5], ("2",): [0.0, 0, 0, 0, 1]}
    none = result({place: dict.fromkeys(range(1, 6), 0.0) for place in points}, ["load"])
    some = result({place: dict(enumerate(values, start=1)) for place, values in points.items()}, ["load"])
    (line,) = [line for line in comparison_lines(compare(none, some)) if line.startswith("Warning")]
    assert "may mislead (x at load=2: skewed (skewness 2.2, n 5));" in line
