"""The study lull-2026: each claim on numbers that satisfy and contradict it, its seeds, and its cells."""

from __future__ import annotations

import itertools
import tomllib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from conftest import SHIPPED
from netlull import Sweep
from netlull.papers import Evidence, Grid, Verdict, load
from netlull.papers.measure import judged
from netlull.papers.plan import plan, plan_study
from netlull.papers.source import module_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOLDER = SHIPPED / "papers" / "lull-2026"
SEEDS = (1001, 1002, 1003, 1004)
ALWAYS, LULL, RIVAL = "always on", "Lull", "practRA, best setting"
LAWS = ("pareto", "campus", "web search")
MEASURES, CLAIMS = (module_of(FOLDER, name) for name in ("measures", "claims"))

AXES: dict[str, dict[str, tuple[float | str, ...]]] = {
    "web": {"law": LAWS, "load": (0.1, 0.3, 0.5, 0.8), "web_rtt": (20.0, 50.0)},
    "buffers": {"buffer": ("5 packets", "0.5 BDP"), "some_load": (0.3, 0.8)},
    "senders": {"web_sender": ("CUBIC", "BBR"), "some_load": (0.3, 0.8)},
    "bulk": {"sender": ("NewReno", "CUBIC"), "flows": (1.0, 20.0), "bulk_rtt": (10.0, 100.0)},
    "bursts": {"rival": ("NewReno", "BBR"), "few": (1.0, 4.0), "burst": (10.0,), "rtt": (50.0,)},
    "bottleneck": {"kind": ("4 Mb/s", "redrawn, 50 ms"), "rival": ("NewReno", "BBR"), "rtt": (50.0,)},
    "writer": {"rival": ("NewReno", "BBR"), "web_rtt": (20.0, 50.0)},
}


def grid(rows: list[dict[str, Any]], axes: list[str]) -> Grid:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Grid(pa.Table.from_pylist([dict.fromkeys(names) | row for row in rows]), axes)


def rows_of(experiment: str, axes: Mapping[str, tuple[float | str, ...]], numbers: Any, **names: str) -> list[Any]:
    """Rows for each point and seed, with a little noise that is common to the controllers."""
    random = np.random.default_rng(3)
    rows = []
    for point in itertools.product(*axes.values()):
        at = dict(zip(axes, point, strict=True))
        for seed in SEEDS:
            wobble = 1 + 1e-4 * random.standard_normal()
            for control, (where, axis) in names.items():
                found = {name: value * wobble for name, value in numbers(control, at).items()}
                rows.append({"experiment": where, axis: control, "seed": seed} | at | found)
    return rows


def main(numbers: Any) -> Evidence:
    """The main sweep's table."""
    rows = []
    for experiment, axes in AXES.items():
        if experiment in MEASURES.WEB:
            names = dict.fromkeys((ALWAYS, LULL), (experiment, "pair"))
            names[RIVAL] = (f"{experiment}-practra", "setting")
        else:
            names = dict.fromkeys((ALWAYS, LULL, RIVAL), (experiment, "control"))
        rows += rows_of(experiment, axes, numbers, **names)
    known = {axis for axes in AXES.values() for axis in axes} | {"pair", "setting", "control"}
    return Evidence(load(FOLDER), grid(rows, sorted(known)), {})


def good(control: str, at: Mapping[str, Any]) -> dict[str, float]:
    busy = at.get("load", at.get("some_load", 0.1))
    fs, dvs = {0.1: (0.7, 0.9), 0.3: (0.5, 0.8), 0.5: (0.3, 0.6), 0.8: (0.1, 0.2)}[busy]
    small = at.get("buffer") == "5 packets"
    return {
        ALWAYS: {"p95_s": 1.0, "tcp_bps": 9e6, "saving_fs": 0.0, "saving_dvs": 0.0},
        LULL: {"p95_s": 3.0 if small else 1.03, "tcp_bps": 8.98e6, "saving_fs": fs, "saving_dvs": dvs},
        RIVAL: {"p95_s": 4.0, "tcp_bps": 6e6, "saving_fs": 0.9, "saving_dvs": 0.95},
    }[control]


def bad(control: str, at: Mapping[str, Any]) -> dict[str, float]:
    del at
    return {
        ALWAYS: {"p95_s": 1.0, "tcp_bps": 9e6, "saving_fs": 0.0, "saving_dvs": 0.0},
        LULL: {"p95_s": 1.2, "tcp_bps": 8.5e6, "saving_fs": 0.2, "saving_dvs": 0.3},
        RIVAL: {"p95_s": 1.1, "tcp_bps": 8.8e6, "saving_fs": 0.3, "saving_dvs": 0.4},
    }[control]


MAIN = ["L1", "L2", "L3", "L4", *(f"L{number}" for number in range(6, 14)), "L16"]


@pytest.mark.parametrize("claim", MAIN)
def test_each_claim_holds_on_numbers_within_its_bounds(claim: str) -> None:
    found = {known.id: known for known in judged(main(good))}[claim]
    assert found.verdict is Verdict.HOLDS, found.ours


@pytest.mark.parametrize("claim", MAIN)
def test_each_claim_fails_on_numbers_beyond_its_bounds(claim: str) -> None:
    found = {known.id: known for known in judged(main(bad))}[claim]
    assert found.verdict is Verdict.FAILS, found.ours


def test_a_cell_that_practra_wins_is_named_and_one_that_seeds_do_not_decide_is_told_apart() -> None:
    def one(control: str, at: Mapping[str, Any]) -> dict[str, float]:
        beaten = at.get("kind") == "4 Mb/s" and at["rival"] == "BBR"
        return bad(control, at) if beaten else good(control, at)

    (found,) = [known for known in judged(main(one)) if known.id == "L16"]
    assert "Sure: bottleneck (4 Mb/s, BBR, 50 ms): best setting." in found.ours


def series(growth: float, share: float) -> Evidence:
    def numbers(control: str, at: Mapping[str, Any]) -> dict[str, float]:
        del at
        return {"p95_s": growth if control == LULL else 1.0}

    names = dict.fromkeys((ALWAYS, LULL), ("three", "pair"))
    rows = rows_of("three", {"law": LAWS, "some_load": (0.3, 0.8)}, numbers, **names)

    def path(control: str, at: Mapping[str, Any]) -> dict[str, float]:
        saved = 0.4 if at["links_30"] == 1 else 0.4 * share
        return {"p95_s": growth if control == LULL else 1.0} | {f"saving_{name}": saved for name in CLAIMS.ORDINALS}

    names = dict.fromkeys((ALWAYS, LULL), ("cubic", "pair"))
    rows += rows_of("cubic", {"links_30": (1.0, 2.0, 5.0), "buffer": ("1 BDP", "100 packets")}, path, **names)
    return Evidence(load(FOLDER), grid(rows, ["law", "some_load", "pair", "links_30", "buffer"]), {})


def test_links_in_series_are_judged_by_their_study() -> None:
    for growth, share, verdicts in (
        (1.08, 0.7, [Verdict.HOLDS, Verdict.HOLDS]),
        (1.2, 0.5, [Verdict.FAILS, Verdict.FAILS]),
        (1.08, 0.5, [Verdict.HOLDS, Verdict.PARTLY]),
        (1.2, 0.7, [Verdict.FAILS, Verdict.PARTLY]),
    ):
        found = {known.id: known.verdict for known in judged(series(growth, share), "series")}
        assert [found[claim] for claim in ("L5", "L19")] == verdicts


def test_the_saving_of_a_path_counts_its_links_only() -> None:
    evidence = series(1.0, 0.7)
    table = evidence.grid.table.to_pylist()
    beyond = [row | {"saving_third": 0.99} if row["links_30"] == 2 else row for row in table]
    other = Evidence(evidence.paper, grid(beyond, ["law", "some_load", "pair", "links_30", "buffer"]), {})
    assert CLAIMS.share_of_one(other, 2.0, "1 BDP") == CLAIMS.share_of_one(evidence, 2.0, "1 BDP")


FAST = {"100 Mb/s, load 0.2": 0.55, "100 Mb/s, load 0.4": 0.33, "155 Mb/s, load 0.3": 0.47, "1 Gb/s, load 0.5": 0.31}


def links(share: float, growth: float = 1.0) -> Evidence:
    """The table of the study of other links: shares of the possible, and fast links with the same share of targets."""
    rows = [
        {
            "experiment": "possible",
            "some_load": at,
            "control": LULL,
            "seed": seed,
            "saving_fs": share * known["fs"],
            "saving_dvs": share * known["dvs"],
        }
        for (at, seed), known in CLAIMS.bounds().items()
    ]

    def numbers(control: str, at: Mapping[str, Any]) -> dict[str, float]:
        wanted = 1.02 * share * FAST.get(at["fast"], 0.2)
        return {"p95_s": growth if control == LULL else 1.0, "saving_fs": wanted if control == LULL else 0.0}

    names = dict.fromkeys((ALWAYS, LULL), ("fast", "fast_control"))
    rows += rows_of("fast", {"fast": (*FAST, "622 Mb/s, load 0.4")}, numbers, **names)
    return Evidence(load(FOLDER), grid(rows, ["some_load", "control", "fast", "fast_control"]), {})


def test_the_share_of_the_possible_is_judged_with_the_clairvoyant_bounds() -> None:
    for share, verdicts in {
        0.99: [Verdict.HOLDS, Verdict.HOLDS],
        0.95: [Verdict.FAILS, Verdict.HOLDS],
        0.5: [Verdict.FAILS, Verdict.FAILS],
    }.items():
        found = {known.id: known.verdict for known in judged(links(share), "links")}
        assert [found[claim] for claim in ("L14", "L15")] == verdicts


def test_fast_links_are_judged_by_their_savings_and_their_completion_times() -> None:
    for share, growth, verdicts in (
        (1.0, 1.04, [Verdict.HOLDS, Verdict.HOLDS]),
        (0.9, 1.04, [Verdict.FAILS, Verdict.HOLDS]),
        (1.0, 1.06, [Verdict.HOLDS, Verdict.FAILS]),
    ):
        found = {known.id: known.verdict for known in judged(links(share, growth), "links")}
        assert [found[claim] for claim in ("L17", "L18")] == verdicts


def test_the_possible_covers_the_loads_of_the_claim() -> None:
    assert {at for at, _ in CLAIMS.bounds()} == {0.1, 0.3, 0.5, 0.8}


# ---- Seeds -----------------------------------------------------------------------------------------------------------


def seeds_of(sweep: Sweep) -> set[int]:
    return {seed for point in sweep.points() for seed in point.seeds}


@pytest.mark.parametrize("seeds", [None, 2])
@pytest.mark.parametrize("scope", ["quick", "full"])
def test_no_seed_of_the_design_judges_a_claim(tmp_path: Path, scope: str, seeds: int | None) -> None:
    paper = load(FOLDER)
    planned = plan(paper, paper.quick if scope == "quick" else None, seeds)
    assert min(seeds_of(Sweep.from_file(planned.write(tmp_path)))) == 1001
    for name in ("series", "links"):
        study = Sweep.from_file(plan_study(paper, paper.study(name), None, seeds).write(tmp_path / name))
        for point in study.points():
            # The bounds of `possible` are known for these seeds.
            assert set(point.seeds) <= {101, 102, 103} if point.experiment == "possible" else min(point.seeds) == 1001


def test_a_list_of_seeds_is_cut_and_continued_from_its_first(tmp_path: Path) -> None:
    paper = load(FOLDER)
    sweep = Sweep.from_file(plan(paper, paper.quick, 4).write(tmp_path))
    by_experiment = {point.experiment: point.seeds for point in sweep.points()}
    assert by_experiment["web"] == (1001, 1002, 1003, 1004)
    assert by_experiment["writer"] == (1001,)


def test_the_studies_best_setting_of_practra_is_the_one_that_the_sweeps_use() -> None:
    paper = load(FOLDER)
    sweep = tomllib.loads(paper.file("sweep.toml").read_text(encoding="utf-8"))
    (axis,) = [axis for axis in sweep["axis"] if axis["name"] == "setting"]
    chosen = axis["point"][-1]["set"]["link.N1-N2.controller"]
    assert axis["point"][-1]["value"] == RIVAL
    for name in ("series", "paths", "abilene", "others"):
        text = paper.file(f"{name}-sweep.toml").read_text(encoding="utf-8")
        wanted = (f'{field} = "{chosen[field]}"' for field in ("min_interval", "delay_bound", "steps"))
        assert ", ".join(wanted) in text
