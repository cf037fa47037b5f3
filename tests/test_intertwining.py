"""The paper intertwining-2012: its claims judged, the closed form of its headline, its fronts, one run end to end."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from conftest import SHIPPED
from netlull import Sweep, papers
from netlull.papers import Evidence, Grid, Verdict, load
from netlull.papers.measure import judged
from netlull.papers.plan import plan
from netlull.papers.source import module_of
from netlull.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = SHIPPED / "papers" / "intertwining-2012"
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SEEDS = (1, 2, 3, 4)
SCENARIOS = ("tcponly", "tcp-pc", "udp-pc")
SAVINGS = [f"saving_{model}{ending}" for model in ("fs", "dvs") for ending in ("", "_25", "_50", "_75")]

climb = module_of(FOLDER, "climb")
study = module_of(FOLDER, "study")

Quantity = "Callable[[str, float], float]"


# ---- Claims ----------------------------------------------------------------------------------------------------------


def evidence_of(metrics: dict[str, Callable[[str, float], float]]) -> Evidence:
    """The sweep's table from functions of scenario and load, with a little noise, common to the scenarios of a seed."""
    noise = np.random.default_rng(7)
    rows: list[dict[str, Any]] = []
    for at in LOADS:
        for seed in SEEDS:
            wobble = 1 + 1e-3 * noise.standard_normal()
            for experiment in SCENARIOS:
                row: dict[str, Any] = {"experiment": experiment, "load": at, "seed": seed}
                row |= {name: value(experiment, at) * wobble for name, value in metrics.items()}
                rows.append(row)
    return Evidence(load(FOLDER), Grid(pa.Table.from_pylist(rows), ["load"]), {})


def savings(fs: Callable[[str, float], float], dvs: Callable[[str, float], float]) -> dict[str, Any]:
    """Static power P_s leaves 1 - P_s of the saving."""
    share = {"": 1.0, "_25": 0.75, "_50": 0.5, "_75": 0.25}
    found: dict[str, Any] = {}
    for model, value in (("fs", fs), ("dvs", dvs)):
        for ending, left in share.items():
            found[f"saving_{model}{ending}"] = lambda experiment, at, value=value, left=left: (
                left * value(experiment, at) if experiment != "tcponly" else 0.0
            )
    return found


def as_the_paper_says() -> Evidence:
    """At load 0.8: 0.2 s without and 7.4 s with power control; saving 90 % at low load, 2 % at high."""

    def completion(experiment: str, at: float) -> float:
        plain = 0.1 + 0.125 * at
        return plain if experiment == "tcponly" else plain * (2.05 if at < 0.5 else 3 if at < 0.75 else 37 + at)

    def saving(experiment: str, at: float) -> float:
        base = 0.9 if at < 0.5 else 0.02
        return base if experiment == "tcp-pc" else base + (-0.05 if at < 0.5 else 0.02)

    return evidence_of(
        {
            "completion_s": completion,
            "goodput_bps": lambda experiment, at: at * 1e7 * (0.95 if experiment == "tcp-pc" and at > 0.7 else 1),
            "rate_changes": lambda experiment, at: 1000 * (1 + at) * (1.3 if experiment == "udp-pc" else 1),
            "loss": lambda experiment, at: 0.005 * at + (0.05 * at**2 if experiment == "tcp-pc" else 0),
            **savings(saving, lambda experiment, at: 1.05 * saving(experiment, at)),
        }
    )


def as_it_does_not() -> Evidence:
    """The opposite of every statement."""

    def completion(experiment: str, at: float) -> float:
        plain = 0.9 - 0.5 * at
        return plain if experiment == "tcponly" else plain * (1.9 if at < 0.5 else 1.2)

    def saving(experiment: str, at: float) -> float:
        base = 0.1 if at < 0.5 else 0.3
        return base if experiment == "tcp-pc" else base + (0.05 if at < 0.5 else -0.05)

    def dvs(experiment: str, at: float) -> float:
        base = 1.5 if at < 0.5 else -0.1
        return base if experiment == "tcp-pc" else base + (-0.05 if at < 0.5 else 0.05)

    return evidence_of(
        {
            "completion_s": completion,
            "goodput_bps": lambda experiment, at: at * 1e7 * (0.7 if experiment == "tcp-pc" and at < 0.5 else 1),
            "rate_changes": lambda _, at: 1000 * (1 + at),
            "loss": lambda experiment, at: 0.05 - (0.02 * at if experiment == "tcp-pc" else 0),
            **savings(saving, dvs),
        }
    )


CLAIMS = [f"I{number}" for number in range(1, 10)]


@pytest.mark.parametrize("claim", CLAIMS)
def test_each_claim_holds_on_numbers_that_say_what_the_paper_says(claim: str) -> None:
    found = {known.id: known for known in judged(as_the_paper_says())}[claim]
    assert found.verdict is Verdict.HOLDS, found.ours


@pytest.mark.parametrize("claim", CLAIMS)
def test_each_claim_fails_on_numbers_that_contradict_it(claim: str) -> None:
    found = {known.id: known for known in judged(as_it_does_not())}[claim]
    assert found.verdict is Verdict.FAILS, found.ours


def test_every_reason_on_record_belongs_to_a_part() -> None:
    paper = load(FOLDER)
    for claim, found in zip(paper.claims, judged(as_it_does_not()), strict=True):
        unknown = set(claim.why) - {part.id for part in found.parts}
        assert not unknown, f"{claim.id}: why.{unknown} names no part"


# ---- The plan --------------------------------------------------------------------------------------------------------


def test_full_holds_the_papers_figures_at_nineteen_loads_or_more() -> None:
    full = plan(load(FOLDER), None)
    loads = next(axis for axis in full.sweep["axis"] if axis["name"] == "load")["point"]
    values = [point["value"] for point in loads]
    assert len(values) >= 19
    assert (values[0], values[-1]) == (0.1, 0.95)
    assert full.sweep["seeds"] == 10
    assert set(SCENARIOS) <= set(full.experiments)


def test_a_scope_bounds_the_seeds_of_every_experiment() -> None:
    paper = load(FOLDER)
    # The study asks for 5 seeds, the paper's figures for 10: quick has 3 of either.
    seeds = [experiment.get("seeds", 3) for experiment in plan(paper, paper.quick).sweep["experiment"]]
    assert len(seeds) > 3
    assert set(seeds) == {3}


@pytest.mark.parametrize("scope", ["quick", "full"])
def test_a_number_of_seeds_reaches_every_experiment_that_has_several(scope: str) -> None:
    paper = load(FOLDER)
    # The study asks for 5 seeds, the figures for 10, quick for 3 of either.
    found = plan(paper, paper.quick if scope == "quick" else None, seeds=7).sweep
    assert {experiment.get("seeds", found["seeds"]) for experiment in found["experiment"]} == {7}


def test_an_experiment_in_which_nothing_is_random_keeps_its_one_seed() -> None:
    found = plan(load(FOLDER.parent / "troubled-marriage-2016"), None, seeds=7).sweep
    seeds = {experiment["name"]: experiment.get("seeds", found["seeds"]) for experiment in found["experiment"]}
    assert {name for name, number in seeds.items() if number == 1} == {
        "single",
        "single-tcponly",
        "near",
        "near-tcponly",
    }
    assert set(seeds.values()) == {1, 7}


def test_one_seed_is_refused_before_anything_runs(tmp_path: Path) -> None:
    # With one seed there is no interval: every claim that needs an interval would fail.
    with pytest.raises(papers.PaperError, match=r"intertwining-2012: seeds: 1 is too few: .*; expected at least 2"):
        papers.reproduce([str(FOLDER)], out=tmp_path / "out", seeds=1)
    assert not (tmp_path / "out").exists()


def test_readings_run_the_three_scenarios_without_the_study() -> None:
    paper = load(FOLDER)
    assert set(plan(paper, paper.vary).experiments) == set(SCENARIOS)
    # A paper without `[vary]` runs the `--quick` scope.
    other = load(FOLDER.parent / "troubled-marriage-2016")
    assert other.vary == other.quick


def test_every_alternative_is_a_valid_scenario(tmp_path: Path) -> None:
    paper = load(FOLDER)
    for reading in paper.readings:
        for alternative in reading.alternatives:
            changed = plan(paper, paper.vary, changes=[alternative])
            points = Sweep.from_file(changed.write(tmp_path / reading.id / alternative.name)).points()
            # Three scenarios at nine loads.
            assert len(points) == 27, (reading.id, alternative.name)


# ---- The highest rate of practRA if all packets have 1500 B ----------------------------------------------------------


def test_a_buffer_of_half_a_bdp_lets_the_rate_climb_no_higher_than_seven() -> None:
    # 0.5 BDP: 0.5 x 10 Mb/s x 50 ms / 12,000 b = 20.8, 21 packets, 252 kb. From 6 Mb/s: 252 / 6 = 42 ms > 40 ms, so 7.
    # From 7 Mb/s: 252 / 7 = 36 ms, and (2 ms x 8.2 Mb/s + 252) / 8 = 33.6 ms < 38 ms: no further.
    assert climb.buffer_bits(0.5) == 252_000
    assert climb.highest_rate(252_000, 0.040, 8.2e6) == 7e6


def test_a_buffer_of_one_bdp_does_not_bound_it_below_the_top() -> None:
    # 42 packets, 504 kb: from 9 Mb/s 504 / 9 = 56 ms > 40 ms.
    assert climb.highest_rate(climb.buffer_bits(1.0), 0.040, 0.0) == 10e6
    # With d = 80 ms: from 6 Mb/s 504 / 6 = 84 ms > 80 ms; from 7 Mb/s 72 ms, and 504 / 8 = 63 ms < 78 ms.
    assert climb.highest_rate(climb.buffer_bits(1.0), 0.080, 0.0) == 7e6


def test_a_link_that_has_slowed_down_is_never_above_the_bound_again() -> None:
    """The simulator itself: 20 s at load 0.8, half a BDP; from the first second at the ceiling or below to the end."""
    from netlull import Scenario

    scenario = Scenario.from_file(FOLDER / "scenario.toml").with_values(
        {"link.N1-N2.buffer": "0.5 BDP", "duration": "20 s", "warm_up": "0 s", "flow.web.offered": "8 Mb/s"}
    )
    table = scenario.run(seed=1, probe={"interval": "1 s"}).series("rate").to_pandas()
    rates = table[table["link"].astype(str) == "N1-N2"]["rate_bps"].to_numpy()
    slowed = np.flatnonzero(rates <= 7e6)
    assert len(slowed)
    assert rates[slowed[0] :].max() == 7e6


def test_the_simulator_may_stay_below_the_bound() -> None:
    """One BDP, d = 80 ms, load 0.8: the bound is 7 Mb/s, but short packets fill the buffer's slots with fewer bits."""
    from netlull import Scenario

    controller = {"link.N1-N2.controller.delay_bound": "80 ms", "link.N1-N2.controller.initial_rate": "1 Mb/s"}
    scenario = Scenario.from_file(FOLDER / "scenario.toml").with_values(
        {"duration": "60 s", "warm_up": "0 s", "flow.web.offered": "8 Mb/s", **controller}
    )
    link = scenario.run(seed=1).link("N1-N2")
    # 6 to 7 Mb/s needs 6 Mb/s x 80 ms = 480 kb; 42 packets of the mean offered size hold 42 x 895 B = 301 kb.
    assert 42 * 8 * link["offered_bytes"] / link["offered_packets"] < 0.080 * 6e6
    assert max(state["rate_bps"] for state in link["residency"] if state["seconds"] > 0) < 7e6


# ---- Fronts ----------------------------------------------------------------------------------------------------------


def test_a_front_keeps_what_nothing_beats_in_both() -> None:
    def point(name: str, saving: float, inflation: float) -> Any:
        single = [Interval(value, np.nan, np.nan, 1) for value in (saving, inflation)]
        return study.Priced(name, *single)

    # b saves less than a and takes longer; c saves less and is quicker; d is c, but slower.
    points = [point("a", 30, 2.0), point("b", 20, 2.5), point("c", 10, 1.1), point("d", 10, 1.2)]
    assert [found.name for found in study.front(points)] == ["a", "c"]


# ---- From end to end -------------------------------------------------------------------------------------------------


def test_a_tiny_reproduction_runs_from_end_to_end(tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "papers" / FOLDER.name
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("scenario.toml", "sweep.toml"):
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(re.sub(r'duration = "\d+ s"', 'duration = "12 s"', text), encoding="utf-8")
    outcome = papers.reproduce([str(folder)], out=tmp_path / "out", seeds=2)[0]
    assert [claim.id for claim in outcome.claims] == CLAIMS
    names = {path.name for path in outcome.figures}
    assert names >= {f"fig{number}.svg" for number in range(2, 8)}
    assert names >= {"fig5-distribution.svg", "climb.svg", "study-d.svg", "study-jumps.svg"}
    page = outcome.report.read_text(encoding="utf-8")
    assert "The study that the paper asks for" in page
