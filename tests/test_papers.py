"""Paper folders: refused files, judgement of claims, and one reproduction from end to end."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import netlull
from conftest import SHIPPED
from netlull import papers
from netlull.papers import Cell, Evidence, Grid, PaperError, Part, Verdict, decided, judge, load, run
from netlull.papers.documents import FILES
from netlull.papers.effects import Effect, Variations, with_effects
from netlull.papers.measure import judged, measure
from netlull.papers.plan import Plan, plan, plan_study
from netlull.papers.source import module_of
from netlull.stats import Interval
from netlull.sweep import Cost

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = SHIPPED / "papers" / "troubled-marriage-2016"
RTT = (1.0, 10.0, 50.0, 100.0)
MRCI = (10.0, 50.0, 100.0, 500.0, 1000.0)
SEEDS = (1, 2, 3, 4)


# ---- Refused files ---------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the paper's folder that a test may damage."""
    copy = tmp_path / "papers" / FOLDER.name
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("claims.toml", 'id = "T3"', 'id = "third"', 'claims.toml: claim.third.id: is "third"; expected a letter'),
        ("claims.toml", 'id = "T3"', 'id = "T2"', 'claims.toml: claim.T2: "T2" appears twice'),
        (
            "claims.toml",
            "rank_max = -0.8",
            'rank_max = "low"',
            'claim.T5.tolerance.rank_max: is "low"; expected a number',
        ),
        (
            "claims.toml",
            'title = "The time series"',
            "titel = 1",
            "claims.toml: claim.T9.titel: is unknown; did you mean title?",
        ),
        (
            "claims.toml",
            'title = "The time series"\n',
            "",
            "claims.toml: claim.T9.title: is missing; expected text",
        ),
        (
            "claims.toml",
            'id = "T1"',
            'id = "T1"\ncolour = "red"',
            "claims.toml: claim.T1.colour: is unknown; expected one of",
        ),
        ("claims.toml", "[[claim]]", "[[claim", "claims.toml: is not valid TOML"),
        ("paper.toml", "year = 2016", 'year = "then"', 'paper.toml: year: is "then"; expected a whole number'),
        ("paper.toml", 'key = "troubled', 'key = "un-troubled', "paper.toml: key: is "),
        (
            "paper.toml",
            "seeds = 4",
            "seeds = 0",
            "paper.toml: quick.seeds: is 0; expected a whole number of at least 1",
        ),
        (
            "readings.toml",
            'search_over = ["',
            'search_over = ["weather", "',
            '"weather" is not a reading; expected some of',
        ),
        ("readings.toml", 'choice = "', 'effects = "', "reading.buffer.effects: is unknown; did you mean effect?"),
    ],
)
def test_a_damaged_file_names_the_field(folder: Path, file: str, old: str, new: str, message: str) -> None:
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(PaperError, match=re.escape(message)):
        load(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "claims.toml").unlink()
    with pytest.raises(PaperError, match=re.escape("claims.toml: the file is missing")):
        load(folder)


def test_a_missing_tolerance_is_named_when_it_is_needed(folder: Path) -> None:
    path = folder / "claims.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("gap_min = 0.02, ", ""), encoding="utf-8")
    evidence = world_of_the_paper(load(folder))
    with pytest.raises(PaperError, match=re.escape("claim.T3.tolerance.gap_min: is missing; expected a number")):
        judged(evidence)


def test_an_unknown_paper_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PaperError, match=r'"happy-marriage" is not a paper; the papers are: .*troubled-marriage-2016'):
        papers.folder_of("happy-marriage")


def test_an_unknown_scope_and_no_seeds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PaperError, match='scope "slow" is unknown; expected one of: quick, full'):
        papers.reproduce([FOLDER.name], scope="slow", out=tmp_path)
    with pytest.raises(PaperError, match="seeds: 0 is too few"):
        papers.reproduce([FOLDER.name], seeds=0, out=tmp_path)


def test_papers_are_found() -> None:
    info = next(info for info in papers.find() if info.key == FOLDER.name)
    assert info.title.startswith("Network interface power management")
    assert info.folder.is_dir()


def test_papers_are_files_of_the_package_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    package = Path(netlull.__file__).parent
    assert FOLDER.resolve().is_relative_to(package.resolve())
    assert papers.folder_of(FOLDER.name).is_relative_to(package)
    assert not [path for path in (package / "shipped").rglob("*") if path.is_symlink()]


@pytest.mark.parametrize(
    "page", [Path(__file__).parents[1] / "CONTRIBUTING.md", FOLDER.parent / "README.md"], ids=["recipe", "papers"]
)
def test_the_recipe_names_every_file(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in (*FILES, "notes.toml") if f"| `{name}` |" not in text] == []


# ---- The plan --------------------------------------------------------------------------------------------------------


def test_quick_holds_exactly_the_points_of_the_papers_figures() -> None:
    paper = load(FOLDER)
    quick = plan(paper, paper.quick)
    axes = {axis["name"]: len(axis.get("point", axis.get("values"))) for axis in quick.sweep["axis"]}
    assert axes == {"rtt": 4, "near": 9, "mrci": 5, "bon": 1, "bn": 1}
    names = ("single", "near", "background", "both")
    assert quick.experiments == [found for name in names for found in (name, f"{name}-tcponly")]


def test_full_holds_all_of_table_1() -> None:
    full = plan(load(FOLDER), None)
    size = {axis["name"]: len(axis.get("point", axis.get("values"))) for axis in full.sweep["axis"]}
    runs = 0
    for experiment in full.sweep["experiment"]:
        runs += int(np.prod([size[axis] for axis in experiment["axes"]])) * experiment.get("seeds", full.sweep["seeds"])
    # 20 + 4, 45 + 9, 800 + 160, 800 + 160, 800 + 160, 720 + 144
    assert runs == 3822


def test_full_judges_an_equal_reading_on_the_experiments_that_claims_read(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = []

    def measured(paper: papers.Paper, plan: Plan, *_: object, **__: object) -> Evidence:
        planned.append(plan)
        return world_of_the_paper(paper)

    monkeypatch.setattr(run, "measure", measured)
    paper = load(FOLDER)
    job = run._Job("full", Path("unused"), None, 1, None, readings=False, progress=None)
    equal, _ = job._equal(paper, Path("unused"), paper.equals[0])
    words = {word for claim in equal.claims for word in re.findall(r"[\w-]+", claim.decided_by)}
    assert set(planned[0].experiments) == words & set(plan(paper, None).experiments)
    assert "bottleneck" not in planned[0].experiments


def test_every_alternative_is_a_valid_scenario(tmp_path: Path) -> None:
    from netlull import Sweep

    paper = load(FOLDER)
    for reading in paper.readings:
        for alternative in reading.alternatives:
            changed = plan(paper, paper.quick, changes=[alternative])
            points = Sweep.from_file(changed.write(tmp_path / reading.id / alternative.name)).points()
            assert len(points) == 126, reading.id


READINGS = """\
# A comment stays.
[[reading]]
id = "window"
effect = "a reading's own is kept"
[[reading.alternative]]
name = "16"
effect = "stale"
label = "16 KiB"
[[reading.alternative.axis]]
name = "64"
point = [
    { value = 1 },
]
[[reading.alternative]]
name = "64"
label = "64 KiB"

[[reading]]
id = "clock"
name = "16"
"""


def test_effects_are_written_once_however_often() -> None:
    def effect(changes: tuple[tuple[str, str], ...], number: float) -> Effect:
        return Effect("", changes, {"T1": Verdict.HOLDS}, {"energy": number})

    alternatives = [effect((("window", name),), number) for name, number in (("16", 5.0), ("64", 20.0))]
    found = Variations(effect((), 10.0), alternatives, [], Cost())
    once = with_effects(READINGS, found)
    halves = 'effect = "no verdict changes; energy 10.0 → 5.0."'
    # In place of an old one, and without one; not at an axis or at another reading with the same name.
    assert once == READINGS.replace('effect = "stale"', halves).replace(
        'name = "64"\nlabel', 'name = "64"\neffect = "no verdict changes; energy 10.0 → 20.0."\nlabel'
    )
    assert with_effects(once, found) == once


# ---- The grid --------------------------------------------------------------------------------------------------------


def test_reductions_are_paired_by_seed() -> None:
    # Seed by seed: 1 - 5/10 = 0.5 and 1 - 12/20 = 0.4; unpaired means would give 1 - 8.5/15 = 0.433.
    rows = [
        {"experiment": "pc", "rtt": 1.0, "seed": 1, "goodput": 5.0},
        {"experiment": "pc", "rtt": 1.0, "seed": 2, "goodput": 12.0},
        {"experiment": "tcponly", "rtt": 1.0, "seed": 1, "goodput": 10.0},
        {"experiment": "tcponly", "rtt": 1.0, "seed": 2, "goodput": 20.0},
    ]
    grid = Grid(pa.Table.from_pylist(rows), ["rtt"])
    found = grid.reduction(Cell.of("pc", rtt=1), Cell.of("tcponly", rtt=1), "goodput")
    assert found.mean == pytest.approx(0.45)
    assert found.n == 2
    with pytest.raises(PaperError, match="no point pc rtt=2"):
        grid.interval(Cell.of("pc", rtt=2), "goodput")
    with pytest.raises(PaperError, match="no metric badput"):
        grid.interval(Cell.of("pc", rtt=1), "badput")


def test_another_metric_is_judged_under_the_same_name() -> None:
    table = pa.table({"experiment": ["a"], "seed": [1], "loss": [0.1], "drop_n1": [0.3]})
    assert Grid(table, [], {"loss": "drop_n1"}).interval(Cell.of("a"), "loss").mean == pytest.approx(0.3)


# ---- Verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "verdict"),
    [
        ((True, True), Verdict.HOLDS),
        ((True, False), Verdict.PARTLY),
        ((False, False), Verdict.FAILS),
        ((True, None), Verdict.UNDECIDED),
        ((False, None), Verdict.UNDECIDED),
        ((True, False, None), Verdict.PARTLY),
    ],
)
def test_a_verdict_is_all_some_or_none_of_the_parts(held: tuple[bool | None, ...], verdict: Verdict) -> None:
    claim = load(FOLDER).claims[0]
    assert judge(claim, [Part(f"part{index}", part, "x") for index, part in enumerate(held)]).verdict is verdict


@pytest.mark.parametrize(
    ("interval", "bounds", "answer"),
    [
        (Interval(2.0, 1.5, 2.5, 4), {"at_least": 1.0}, True),
        (Interval(2.0, 0.5, 3.5, 4), {"at_least": 1.0}, None),
        (Interval(0.5, 0.2, 0.8, 4), {"at_least": 1.0}, False),
        (Interval(2.0, 1.5, 2.5, 4), {"at_least": 1.0, "at_most": 2.2}, None),
        (Interval(2.0, 1.5, 2.5, 4), {"at_least": 1.0, "at_most": 3.0}, True),
        (Interval(2.0, math.nan, math.nan, 1), {"at_most": 3.0}, True),
        (Interval(2.0, math.nan, math.nan, 1), {"at_least": 3.0}, False),
        (Interval(math.nan, math.nan, math.nan, 0), {"at_least": 3.0}, False),
    ],
)
def test_an_interval_that_includes_the_bound_decides_nothing(
    interval: Interval, bounds: dict[str, float], answer: bool | None
) -> None:
    assert decided(interval, **bounds) is answer


def test_a_judged_claim_names_the_experiments_seeds_and_recorded_runs_that_its_judge_read() -> None:
    found = {claim.id: claim.decided_by for claim in judged(world_of_the_paper(load(FOLDER)))}
    assert found["T1"] == "single, single-tcponly (seed 1)"
    assert found["T6"] == "background, background-tcponly (seeds 1 to 4)"
    assert found["T18"] == "recorded runs fig7b, fig7d"


def test_a_part_that_fails_without_a_reason_says_so() -> None:
    claim = load(FOLDER).claims[0]
    assert "undecided: the interval" in judge(claim, [Part("unheard-of", None, "x")]).explanation
    assert "no explanation is on record" in judge(claim, [Part("unheard-of", False, "x")]).explanation
    assert judge(claim, [Part("unheard-of", True, "x")]).explanation == ""


Quantity = "Callable[[str, float, float], float]"


NEAR = tuple(round(99.6 + 0.1 * step, 1) for step in range(9))
PLACES: tuple[tuple[str, dict[str, float]], ...] = (
    ("single", {}),
    *(("near", {"near": rtt}) for rtt in NEAR),
    *(("background", {"bon": bon}) for bon in (1.0, 10.0, 50.0, 100.0)),
    *(("both", {"bn": bn}) for bn in (5.0, 50.0, 500.0, 5000.0)),
)
"""The experiments, with the values on the axes beside RTT and mRCI."""


def table(
    rate: Callable[[str, float, float], float],
    reduction: Callable[[str, float, float], float],
    loss: Callable[[str, float, float], float],
    changes: Callable[[str, float, float], float],
    other: Callable[[str, float, float], float] | None = None,
) -> pa.Table:
    """The sweep's table from four functions of experiment, RTT and mRCI (0 in TCPonly), with a little noise.

    `other` replaces the reduction with bursts of other durations than 100 ms.
    """
    noise = np.random.default_rng(7)
    rows: list[dict[str, Any]] = []
    for experiment, at in PLACES:
        seeds = SEEDS[:1] if experiment in ("single", "near") else SEEDS
        cut = other if other and at.get("bon", 100) != 100 else reduction
        for rtt in (100.0,) if experiment == "near" else RTT:
            for seed in seeds:
                base = 8e6 * (1 + 0.01 * noise.standard_normal())
                for mrci in (0.0, *MRCI):
                    wobble = 1 + 0.001 * noise.standard_normal()
                    row = {
                        "experiment": experiment if mrci else f"{experiment}-tcponly",
                        "rtt": None if experiment == "near" else rtt,
                        "near": None,
                        "mrci": mrci or None,
                        "bon": None,
                        "bn": None,
                        "seed": seed,
                        **at,
                    }
                    name = "single" if experiment == "near" else experiment
                    row["goodput_bps"] = base * (1 - (cut(name, rtt, mrci) if mrci else 0)) * wobble
                    row["mean_rate_bps"] = 10e6 * (rate(name, rtt, mrci) if mrci else 1) * wobble
                    row["loss"] = loss(experiment, rtt, mrci) * wobble
                    row["rate_changes"] = changes(name, rtt, mrci) if mrci else 0.0
                    rows.append(row)
    return pa.Table.from_pylist(rows)


class Recording:
    """A run with time series from functions of time; bins of 50 ms."""

    def __init__(
        self,
        arrival: Callable[[np.ndarray], np.ndarray],
        service: Callable[[np.ndarray], np.ndarray] = lambda time: 0 * time + 10e6,
        drops: tuple[float, ...] = (),
    ) -> None:
        time = np.arange(1, 6001) * 0.05
        sent = arrival(time) * 0.05 / 8
        link, flow = ["N1-N2"] * len(time), ["tcp"] * len(time)
        self.summary: dict[str, Any] = {"duration_s": 300.0}
        self._series = {
            "link": pa.table({"time_s": time, "link": link, "arrived_bytes": sent}),
            "flow": pa.table({"time_s": time, "flow": flow, "sent_bytes": sent}),
            "rate": pa.table({"time_s": time - 0.05, "link": link, "rate_bps": service(time)}),
            "drop": pa.table(
                {"time_s": pa.array(drops, pa.float64()), "flow": pa.array(["tcp"] * len(drops), pa.string())}
            ),
        }

    def series(self, name: str) -> pa.Table:
        return self._series[name]


def constant(rate: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda time: 0 * time + rate


def sawtooth(recovery_s: float, top: float = 10e6) -> Callable[[np.ndarray], np.ndarray]:
    """The rate falls to 40 % of the top every 20 s and is back after `recovery_s`."""
    return lambda time: top * np.minimum(0.4 + 0.6 * (time % 20) / recovery_s, 1)


LOSSES = tuple(np.arange(20.0, 300.0, 20.0) - 0.01)


def late(rate: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The same, 1.2 s later."""
    return lambda time: rate(time - 1.2)


def climbing(recovery_s: float) -> Recording:
    """A run with losses, in which the service rate follows the arrivals and holds them back."""
    return Recording(sawtooth(recovery_s), late(sawtooth(recovery_s)), LOSSES)


def spiky(rate: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """The rate with a spike of 8 Mb/s for the first half of every second."""
    return lambda time: rate(time) + 8e6 * (time % 1 < 0.5)


def square(low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
    """10 s at the lower rate, 10 s at the higher."""
    return lambda time: np.where(time % 20 < 10, low, high)


def recordings(*, like_the_paper: bool) -> dict[str, Recording]:
    flat = Recording(constant(5e6), constant(5e6))
    names = [run.name for run in load(FOLDER).series]
    found = dict.fromkeys(names, flat)
    if like_the_paper:
        full = spiky(constant(5e6))
        found |= {
            "fig3a": Recording(constant(9.9e6), lambda time: 9.5e6 + 0.5e6 * np.sign(np.sin(time))),
            "fig3b": Recording(sawtooth(14), sawtooth(14), LOSSES),
            "fig3c": Recording(constant(9.9e6)),
            "fig3d": Recording(sawtooth(6)),
            "fig5a": Recording(full, full),
            "fig5b": Recording(spiky(sawtooth(6)), spiky(sawtooth(6))),
            "fig5c": Recording(spiky(square(4e6, 8e6)), constant(5e6)),
            "fig5d": Recording(spiky(sawtooth(6)), constant(2e6)),
            "fig7a": Recording(constant(3e6), constant(3e6)),
            "fig7b": Recording(sawtooth(6, top=5e6), sawtooth(6, top=5e6)),
            "fig7c": Recording(constant(3e6), constant(3e6)),
            "fig7d": Recording(square(1e6, 4e6), constant(2.5e6)),
        }
        kinds = {"mrci10": climbing(14), "mrci1000": climbing(14), "tcponly": Recording(sawtooth(6), drops=LOSSES)}
    else:
        wild = Recording(constant(5e6), lambda time: 5.5e6 + 4.5e6 * np.sign(np.sin(time)))
        found |= {"fig3a": flat, "fig3c": wild, "fig3b": Recording(constant(5e6)), "fig7b": Recording(constant(9e6))}
        kinds = {"mrci10": climbing(3), "mrci1000": climbing(12), "tcponly": Recording(sawtooth(6), drops=LOSSES)}
    near = [name for name in names if name.startswith("near")]
    return found | {name: kinds[name.rpartition("-")[2]] for name in near}


def grow(mrci: float) -> float:
    """A function that is 0 at mRCI 10 ms and 1 at 1000 ms."""
    return float(np.log10(mrci / 10) / 2)


AXES = ["rtt", "near", "mrci", "bon", "bn"]


def world_of_the_paper(paper: papers.Paper) -> Evidence:
    """Numbers that agree with the paper."""

    def rate(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "single":
            return {1.0: 0.99, 10.0: 0.98, 50.0: 0.85, 100.0: 0.7}[rtt] - (0.05 if mrci == 10 else 0)
        by_rtt = {"background": (0.8, 0.75, 0.6, 0.5), "both": (0.4, 0.4, 0.35, 0.3)}[experiment]
        return by_rtt[RTT.index(rtt)]

    def reduction(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "single":
            return float(0.13 / (1 + mrci / rtt) ** 0.7)
        by_rtt = {"background": (0.1, 0.2, 0.35, 0.4), "both": (0.09, 0.15, 0.2, 0.2)}[experiment]
        return by_rtt[RTT.index(rtt)] + 0.1 * grow(mrci)

    def loss(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "near":
            return 0.02 if mrci else 0.01
        return 0.01 if experiment == "single" or not mrci else 0.03 + 0.01 * RTT.index(rtt)

    changes = lambda experiment, rtt, mrci: 5000 / mrci  # noqa: E731
    return Evidence(
        paper,
        Grid(table(rate, reduction, loss, changes), AXES),
        recordings(like_the_paper=True),
    )


def opposite_world(paper: papers.Paper) -> Evidence:
    """Numbers that contradict the paper everywhere."""

    def rate(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "single":
            return 0.5 if rtt <= 10 else 1.0
        by_rtt = {"background": (0.7, 0.8, 0.9, 0.95), "both": (0.9, 0.92, 0.95, 0.97)}[experiment]
        return by_rtt[RTT.index(rtt)]

    def reduction(experiment: str, rtt: float, mrci: float) -> float:
        if experiment == "single":
            return (0.0 if mrci == 10 else 0.2) if rtt <= 10 else 0.05 * grow(mrci)
        by_rtt = {"background": (-0.1, -0.12, -0.14, -0.16), "both": (-0.05, -0.05, -0.04, -0.01)}[experiment]
        return by_rtt[RTT.index(rtt)] - 0.2 * grow(mrci)

    def loss(experiment: str, rtt: float, mrci: float) -> float:
        if not mrci:
            return 0.01
        return 0.06 if experiment == "single" else 0.005 - 0.001 * RTT.index(rtt)

    changes = lambda experiment, rtt, mrci: mrci  # noqa: E731
    short = lambda experiment, rtt, mrci: 0.6 + 0.1 * grow(mrci)  # noqa: E731
    return Evidence(
        paper,
        Grid(table(rate, reduction, loss, changes, short), AXES),
        recordings(like_the_paper=False),
    )


OWN = [claim.id for claim in load(FOLDER).claims if not claim.study]
"""The claims that the paper's own sweep decides."""


@pytest.mark.parametrize("claim", OWN)
def test_each_claim_holds_on_numbers_that_say_what_the_paper_says(claim: str) -> None:
    found = {known.id: known for known in judged(world_of_the_paper(load(FOLDER)))}[claim]
    assert found.verdict is Verdict.HOLDS, found.ours


@pytest.mark.parametrize("claim", OWN)
def test_each_claim_fails_on_numbers_that_contradict_it(claim: str) -> None:
    found = {known.id: known for known in judged(opposite_world(load(FOLDER)))}[claim]
    assert found.verdict is Verdict.FAILS, found.ours


def flows_world(paper: papers.Paper, costs: dict[float, float]) -> Evidence:
    """The study of many flows, in which practRA costs a share of the goodput that depends on mRCI."""
    noise = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    for traffic in ("alone", "bursts"):
        for count in (8.0, 50.0):
            for seed in SEEDS:
                at = {"rtt": "20 to 160 ms", "tcp": "NewReno", "flows": count, "seed": seed}
                rows.append({"experiment": f"{traffic}-tcponly", **at, "mrci": None, "goodput_bps": 9e6})
                for mrci, cost in costs.items():
                    got = 9e6 * (1 - cost) * (1 + 0.001 * noise.standard_normal())
                    rows.append({"experiment": traffic, **at, "mrci": mrci, "goodput_bps": got})
    return Evidence(paper, Grid(pa.Table.from_pylist(rows), ["rtt", "tcp", "flows", "mrci"]), {})


def test_the_trouble_of_many_flows_holds_and_fails() -> None:
    paper = load(FOLDER)
    (holds,) = judged(flows_world(paper, {10.0: 0.2, 1000.0: 0.4}), "flows")
    assert (holds.id, holds.verdict) == ("T21", Verdict.HOLDS)
    (fails,) = judged(flows_world(paper, {10.0: 0.05, 1000.0: 0.0}), "flows")
    assert fails.verdict is Verdict.FAILS, fails.ours


def test_points_that_only_the_full_scope_has_leave_their_claims_undecided() -> None:
    found = world_of_the_paper(load(FOLDER))
    kept = [
        row
        for row in table(lambda *_: 0.5, lambda *_: 0.3, lambda *_: 0.01, lambda *_: 1.0).to_pylist()
        if row["bon"] in (None, 100.0) and row["bn"] in (None, 50.0)
    ]
    quick = Evidence(found.paper, Grid(pa.Table.from_pylist(kept), AXES), found.series)
    verdicts = {claim.id: claim.verdict for claim in judged(quick)}
    assert verdicts["T13"] is verdicts["T16"] is Verdict.UNDECIDED


def test_fitted_parts_are_shown_and_do_not_count() -> None:
    parts = {claim.id: claim.parts for claim in judged(world_of_the_paper(load(FOLDER)))}
    assert [part.id for part in parts["T4"] if not part.counted] == ["tcponly"]
    assert [part.id for part in parts["T9"] if not part.counted] == ["unfilled-tcponly", "open-tcponly", "bottleneck"]


def test_a_recovery_that_is_mostly_cut_off_is_undecided() -> None:
    paper = load(FOLDER)
    found = world_of_the_paper(paper)
    slow = Recording(sawtooth(40), sawtooth(40), LOSSES)
    series = {name: slow if name.endswith("-mrci10") else run for name, run in found.series.items()}
    (claim,) = (known for known in judged(Evidence(paper, found.grid, series)) if known.id == "T4")
    assert claim.verdict is Verdict.UNDECIDED
    assert "has no median" in claim.ours


def test_every_part_that_can_fail_has_its_explanation() -> None:
    """In the opposite world every part fails, so every part needs a reason on record or an honest blank."""
    paper = load(FOLDER)
    by_study = judged(flows_world(paper, {10.0: 0.05, 1000.0: 0.0}), "flows")
    found = {claim.id: claim for claim in [*judged(opposite_world(paper)), *by_study]}
    assert set(found) == {claim.id for claim in paper.claims}
    for claim in paper.claims:
        unknown = set(claim.why) - {part.id for part in found[claim.id].parts}
        assert not unknown, f"{claim.id}: why.{unknown} names no part"


# ---- Recovery time of TCP --------------------------------------------------------------------------------------------


def test_recovery_is_timed_from_the_loss_to_the_full_rate() -> None:
    # After each loss the rate climbs from 4 to 10 Mb/s in 6 s: the second that ends at 6 s is the first above 9.4 Mb/s.
    series = module_of(FOLDER, "series")
    found = series.recoveries([Recording(sawtooth(6), drops=LOSSES)], 9.4e6, 9e6)
    assert 5 <= found.median_s <= 7
    assert found.unfinished == 0
    assert found.episodes == len(LOSSES)


def test_a_recovery_cut_off_by_the_next_loss_gives_no_median_but_a_lower_bound() -> None:
    series = module_of(FOLDER, "series")
    cut_off = Recording(sawtooth(40), drops=LOSSES)
    found = series.recoveries([cut_off], 9.5e6, 9e6)
    assert found.unfinished == len(found.times_s) > 0
    assert found.median_s == math.inf
    assert found.shortest_median_s == pytest.approx(20, abs=1)
    # With as many whole episodes of 6 s as cut-off ones there is still no median; with twice as many it is theirs.
    whole = Recording(sawtooth(6), drops=LOSSES)
    assert series.recoveries([cut_off, whole], 9.5e6, 9e6).median_s == math.inf
    assert 5 <= series.recoveries([cut_off, whole, whole], 9.5e6, 9e6).median_s <= 7


def test_a_flow_that_never_slows_down_needs_no_recovery() -> None:
    series = module_of(FOLDER, "series")
    found = series.recoveries([Recording(constant(10e6), drops=LOSSES)], 9.5e6, 9e6)
    assert found.median_s == 0
    assert not found.times_s


def test_a_climb_has_the_slopes_of_arrivals_and_service_rate() -> None:
    # From 4 to 10 Mb/s in 12 s: 0.5 Mb/s per second.
    series = module_of(FOLDER, "series")
    climbs = series.climbs(climbing(12), 9e6)
    assert len(climbs) >= 10
    for climb in climbs[1:]:
        assert climb.arrivals_bps2 == pytest.approx(0.5e6, rel=0.1)
        assert climb.service_bps2 == pytest.approx(0.5e6, rel=0.1)
    assert not series.climbs(Recording(sawtooth(40), late(sawtooth(40)), LOSSES), 9e6)


def test_a_service_rate_follows_the_arrivals_after_its_delay() -> None:
    series = module_of(FOLDER, "series")
    at_once = series.following(Recording(sawtooth(6), sawtooth(6)), 10.0)
    assert at_once.correlation > 0.95
    assert at_once.delay_s <= 0.2
    delayed = series.following(Recording(sawtooth(6), late(sawtooth(6))), 10.0)
    assert delayed.correlation < at_once.correlation
    assert delayed.delay_s == pytest.approx(1.2, abs=0.21)
    level = series.following(Recording(sawtooth(6)), 10.0)
    assert (level.correlation, level.delay_s) == (0.0, math.inf)


# ---- The study of buffers --------------------------------------------------------------------------------------------


def test_a_step_up_and_its_pause_fill_a_buffer() -> None:
    # 40 ms x 9 Mb/s = 360 kbit = 30 packets of 1500 B: the step needs 31. 2 ms x 9 Mb/s = 18 kbit = 1.5 packets.
    # 40 ms x 8 Mb/s = 26.7 packets, 2 ms x 8 Mb/s = 1.33: 27 + 1.33.
    buffer = module_of(FOLDER, "buffer")
    assert buffer.step_packets(9e6) == pytest.approx(30)
    assert buffer.edge_packets(9e6) == pytest.approx(32.5)
    assert buffer.edge_packets(8e6) == pytest.approx(28.33, abs=0.01)


@pytest.mark.filterwarnings("ignore:link.N1-N2.controller.delay_bound. needs a queue")  # the study's subject
def test_buffers_and_flows_are_drawn_from_their_sweeps(folder: Path, tmp_path: Path) -> None:
    for name in ("scenario.toml", "flows-scenario.toml"):
        scenario = folder / name
        text = scenario.read_text(encoding="utf-8")
        text = re.sub(r'^duration = "\d+ s"', 'duration = "12 s"', text, flags=re.MULTILINE)
        scenario.write_text(text, encoding="utf-8")
    paper = load(folder)
    for name, figures, tables in (("buffer", ["cliff"], 2), ("flows", ["mixed"], 2)):
        study = paper.study(name)
        evidence = measure(paper, plan_study(paper, study, study.quick, seeds=2), tmp_path / name)
        module = module_of(folder, name)
        drawn = list(module.figures(evidence))
        assert [figure.id for figure in drawn] == figures
        assert all(axes.get_lines() for figure in drawn for axes in figure.figure.axes)
        found = list(module.tables(evidence))
        assert len(found) == tables
        assert not any("none" in cell for table in found for row in table.rows for cell in row)


# ---- From end to end -------------------------------------------------------------------------------------------------


def test_a_tiny_reproduction_runs_from_end_to_end_and_resumes(folder: Path, tmp_path: Path) -> None:
    scenario = folder / "scenario.toml"
    scenario.write_text(scenario.read_text(encoding="utf-8").replace('"300 s"', '"15 s"'), encoding="utf-8")
    out = tmp_path / "out"
    outcome = papers.reproduce([str(folder)], out=out, seeds=2)[0]
    assert [claim.id for claim in outcome.claims] == OWN
    assert {path.name for path in outcome.figures} >= {"fig2.svg", "fig2.pdf", "fig7.svg", "energy.svg"}
    page = outcome.report.read_text(encoding="utf-8")
    assert "--quick" in page
    assert "T9" in outcome.table()
    # An equally supported reading has its own verdicts on every claim, in the table and on the page.
    assert [equal.label for equal in outcome.equals] == ["33 waiting packets: ns-2's queue-limit 34"]
    assert all(outcome.equals[0].verdict(claim.id) for claim in outcome.claims)
    assert "(1): 33 waiting packets" in outcome.table()
    assert "as well: 33 waiting packets" in page
    # Each has a table of its own, so that results.parquet in `store` is the table behind the first verdicts.
    own, equal = (outcome.report.parent / place / "results.parquet" for place in ("store", "equals/33/store"))
    assert own.read_bytes() != equal.read_bytes()
    before = {path: path.read_bytes() for path in outcome.figures if path.suffix == ".svg"}

    again = papers.reproduce([str(folder)], out=out, seeds=2, workers=1)[0]
    assert [claim.ours for claim in again.claims] == [claim.ours for claim in outcome.claims]
    assert {path: path.read_bytes() for path in before} == before


def test_a_ratio_is_taken_seed_by_seed_and_may_be_of_two_metrics() -> None:
    rows = [
        {"experiment": name, "seed": seed, "got": got, "asked": asked}
        for name, seed, got, asked in (("a", 1, 3.0, 0.0), ("a", 2, 8.0, 0.0), ("b", 1, 2.0, 6.0), ("b", 2, 2.0, 4.0))
    ]
    grid = Grid(pa.Table.from_pylist([*rows, {"experiment": "c", "seed": 3, "got": 1.0, "asked": 1.0}]), [])
    a, b = Cell.of("a"), Cell.of("b")
    # 3/2 and 8/2, in percent; 3/6 and 8/4.
    assert grid.ratio(a, b, "got", 100).mean == pytest.approx(275)
    assert grid.ratio(a, b, "got", to="asked").mean == pytest.approx(1.25)
    with pytest.raises(PaperError, match="share no seed"):
        grid.ratio(a, Cell.of("c"), "got")
