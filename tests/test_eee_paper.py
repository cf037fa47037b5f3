"""The study eee-2026: each claim on numbers that satisfy and contradict it, its figures, its rules and its table."""

from __future__ import annotations

import importlib.util
import math
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from conftest import ROOT, SHIPPED
from netlull import Sweep
from netlull.papers import Evidence, Grid, Verdict, load
from netlull.papers.measure import judged
from netlull.papers.plan import plan, plan_study
from netlull.papers.source import module_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from netlull.papers.plan import Plan
    from netlull.sweep.points import Point

    Sweeps: TypeAlias = Mapping[str, tuple[Plan, Sequence[Point]]]

FOLDER = SHIPPED / "papers" / "eee-2026"
PAPER = load(FOLDER)
MEASURES, CLAIMS = (module_of(FOLDER, name) for name in ("measures", "claims"))
STUDIES = ("endless", "incast", "settings", "hops", "control")
Numbers = dict[str, float]


def planned(study: str) -> Plan:
    return plan_study(PAPER, PAPER.study(study), None) if study else plan(PAPER, None)


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> Sweeps:
    """The plans of the paper (its name is empty) and of its studies, with their points."""
    found = {}
    for name in ("", *STUDIES, "ports"):
        plan_of = planned(name)
        sweep = Sweep.from_file(plan_of.write(tmp_path_factory.mktemp(name or "main")))
        found[name] = (plan_of, sweep.points())
    return found


def some(points: Sequence[Point]) -> list[Point]:
    """A few points of each experiment, the first and the last among them."""
    by_experiment: dict[str, list[Point]] = {}
    for point in points:
        by_experiment.setdefault(point.experiment, []).append(point)
    return [
        each[at] for each in by_experiment.values() for at in {0, len(each) // 3, 2 * len(each) // 3, len(each) - 1}
    ]


def setting_of(values: Mapping[str, float | str]) -> tuple[str, dict[str, float | str]]:
    """The setting of a point, and its other axes without their rate."""
    at = {axis.partition("_")[0]: value for axis, value in values.items()}
    setting = next(str(at.pop(axis)) for axis in ("setting", "hold", "timer", "wait") if axis in at)
    return setting, at


def evidence(sweeps: Sweeps, study: str, numbers: Callable[..., Numbers]) -> Evidence:
    """A table over the sweep's points, with a little noise that is common to the settings."""
    plan_of, points = sweeps[study]
    rows = []
    for point in points:
        setting, at = setting_of(point.values)
        kind, rate, *_ = point.experiment.split("-")
        for seed in point.seeds:
            found = plain(setting) | numbers(kind, rate, setting, at)
            wobble = 1 + 1e-5 * seed
            rows.append(
                {"experiment": point.experiment, "seed": seed}
                | dict(point.values)
                | {name: value * wobble for name, value in found.items()}
            )
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.Table.from_pylist([dict.fromkeys(names) | row for row in rows])
    return Evidence(PAPER, Grid(table, plan_of.axes), {})


def plain(setting: str) -> Numbers:
    """The numbers that no claim of the test varies."""
    asleep = {f"asleep_{link}_s": 0.5 for link in range(1, 6)}
    watts = {f"watts_{device}": 2.0 for device in ("n540x_8z16g", "wedge_tofino")}
    watts |= {f"watts_{device}": 9.0 for device in ("ncs_55a1_24h", "8201_32fh", "nexus_9336_fx2", "7280cr3k_32d4")}
    return (
        asleep
        | watts
        | {
            "asleep_s": 0.0 if setting == "off" else 0.5,
            "low_share": 0.0 if setting == "off" else 0.5,
            "back_asleep_s": 0.0,
            "sleeps": 1000.0,
            "back_sleeps": 1000.0,
            "packets": 1000.0,
            "bytes": 1.5e6,
            "back_packets": 5000.0,
            "saving_fs": 0.0,
            "drops": 0.0,
            "marks": 0.0,
            "wait_s": 0.0,
            "measured_s": 1.0,
            "transfers": 2000.0,
            "completion_s": 1.0,
            "p50_s": 1.0,
            "p95_s": 1.0,
            "p99_s": 1.0,
            "ping_p50_s": 0.1,
            "ping_p99_s": 0.1,
            "goodput_bps": 1e9,
            "timeouts": 0.0,
            "retransmissions": 0.0,
            "cwnd_bytes": 1e6,
            "loss": 0.0,
            "next_drops": 0.01,
            "next_queue": 10.0,
            "packet_hops": 1.0,
        }
    )


WAKE = {"1g": 16.5e-6, "10g": 4.48e-6}


def good(kind: str, rate: str, setting: str, at: Mapping[str, Any]) -> Numbers:
    """Numbers on the right side of every bound."""
    if setting == "off":
        return {}
    busy = at.get("load", 0.0)
    found = {"saving_fs": {0.05: 0.7, 0.1: 0.6, 0.3: 0.4, 0.5: 0.2}.get(busy, 0.02), "asleep_s": 0.99}
    found |= {"ping_p50_s": 0.1 + 4 * WAKE[rate], "p50_s": 1 + 2e-6, "p99_s": 1.01}
    if setting == "coalescing" and kind == "web":
        found |= {
            "saving_fs": found["saving_fs"] + 0.2,
            "back_packets": 12000.0,
            "p50_s": 2.0 if at["rtt"] < 1 else 1.01,
        }
    if kind == "marks":
        found["goodput_bps"] = 1e9 if at["k"] >= 200 else 5e8
    if kind == "next":
        found["next_drops"] = 0.02 if setting == "coalescing" else 0.01
    if kind == "timers" and setting.startswith("250 ms"):
        found["saving_fs"] = 0.0
    if kind == "rto" and setting == "up to 10 ms" and at["rto"] == 1:
        found["timeouts"] = 400.0
    if kind == "path":
        hold = {"LPI": 4 * WAKE[rate] * at["hops"], "coalescing": 4e-4 * at["hops"], "coalescing first": 4e-4}[setting]
        found |= {"ping_p50_s": 0.1 + hold, "asleep_5_s": 0.6 if setting == "coalescing first" else 0.5}
    if kind == "control" and setting != "LPI":
        found |= {"saving_fs": 0.5 if rate == "1g" else 0.1, "p95_s": 2.0}
    if kind == "web":
        found |= {"watts_n540x_8z16g": 1.8, "watts_wedge_tofino": 1.8}
    return found


def bad(kind: str, rate: str, setting: str, at: Mapping[str, Any]) -> Numbers:
    """Numbers on the wrong side of every bound."""
    if setting == "off":
        return {}
    busy = at.get("load", 0.0)
    found = {"saving_fs": 0.3 if busy != 0.9 else 0.2, "asleep_s": 0.001, "ping_p50_s": 0.1 + 40 * WAKE[rate]}
    found |= {"p50_s": 1.3, "p99_s": 1.3, "goodput_bps": 9e8, "cwnd_bytes": 2e6, "back_packets": 5000.0}
    if kind == "marks":
        found["goodput_bps"] = 9e8 if at["k"] >= 200 else 1e9
    if kind == "coalescing":
        found["saving_fs"] = 0.3 if setting == "10 frames or 100 us" else 0.6
    if kind == "rto":
        found["timeouts"] = 0.0 if setting == "up to 10 ms" and at["rto"] == 1 else 400.0
    if kind == "path":
        found |= {"ping_p50_s": 0.1 + 1e-4, "asleep_5_s": 0.2 if setting == "coalescing first" else 0.8}
    if kind == "control":
        found |= {"saving_fs": 0.3, "p95_s": 2.0} if setting == "LPI" else {"saving_fs": 0.2, "p95_s": 1.0}
        if rate == "10g" and setting == "Lull":
            found["saving_fs"] = 0.5
    if kind == "web":
        found |= {"watts_n540x_8z16g": 1.0, "watts_wedge_tofino": 1.0}
    return found


def others(sweeps: Sweeps, numbers: Callable[..., Numbers], expected: Verdict) -> dict[str, str]:
    """The claims with another verdict than the expected one. Every claim has a judge and numbers."""
    claims = [claim for study in ("", *STUDIES) for claim in judged(evidence(sweeps, study, numbers), study)]
    assert {claim.id for claim in claims} == {claim.id for claim in PAPER.claims}
    return {claim.id: claim.ours for claim in claims if claim.verdict is not expected}


def test_each_claim_holds_on_numbers_within_its_bounds(sweeps: Sweeps) -> None:
    assert others(sweeps, good, Verdict.HOLDS) == {}


def test_each_claim_fails_on_numbers_beyond_its_bounds(sweeps: Sweeps) -> None:
    assert others(sweeps, bad, Verdict.FAILS) == {}


def test_the_closed_form_is_that_of_the_validation() -> None:
    """10GBASE-T, frames of 1500 B, load 0.3: 0.1464 of the time asleep (docs/models/eee.md, Monte Carlo)."""
    frame_s = 1500 * 8 / 1e10
    assert MEASURES.closed_form("10g", 0.3 / frame_s, 0.3) == pytest.approx(0.1464, abs=5e-5)
    assert MEASURES.closed_form("10g", 0.05 / frame_s, 0.05) == pytest.approx(0.7059, abs=5e-5)


# ---- The grid --------------------------------------------------------------------------------------------------------


def seconds(value: object) -> float:
    number, unit = str(value).split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[unit]


@pytest.mark.parametrize("study", ["", *STUDIES, "ports"])
def test_every_run_measures_200_round_trips_with_seeds_from_101_on(sweeps: Sweeps, study: str) -> None:
    for point in some(sweeps[study][1]):
        document = point.scenario.to_dict()
        measured = seconds(document["duration"]) - seconds(document["warm_up"])
        path = [link for link in document["link"] if str(link.get("delay", "0 s")) != "0 s"]
        assert measured >= 200 * sum(seconds(link["delay"]) for link in path) - 1e-9, point
        assert min(point.seeds) == 101


@pytest.mark.parametrize("study", ["", "settings", "hops", "control", "ports"])
def test_every_run_expects_2000_transfers_after_its_warm_up(sweeps: Sweeps, study: str) -> None:
    for point in some(sweeps[study][1]):
        document = point.scenario.to_dict()
        web = next(flow for flow in document["flow"] if flow["name"] == "web")
        number, unit = web["offered"].split()
        offered = float(number) * {"kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}[unit]
        size = web["size"].get("mean", web["size"].get("size"))
        mean = float(size.split()[0]) * 8e3
        measured = seconds(document["duration"]) - seconds(document["warm_up"])
        # Two standard deviations of a Poisson count above 2,000.
        assert offered * measured / mean >= 2000 + 2 * math.sqrt(2000), (point.experiment, point.values)


def test_the_whole_study_has_at_least_1000_runs(sweeps: Sweeps) -> None:
    assert sum(len(point.seeds) for _, points in sweeps.values() for point in points) >= 1000


def test_the_cells_of_the_administrators_table_are_runs_of_the_main_sweep(sweeps: Sweeps) -> None:
    main = {tuple(point.values.items()): point for point in sweeps[""][1]}
    ports = [point for point in some(sweeps["ports"][1]) if point.experiment in {"web-1g", "web-10g"}]
    assert ports
    for point in ports:
        _, rate = point.experiment.split("-")
        values = {f"sender_{rate}": 0, f"rtt_{rate}": 1.0, f"load_{rate}": 0, f"setting_{rate}": 0} | dict(point.values)
        assert point.scenario.to_toml() == main[tuple(values.items())].scenario.to_toml()


# ---- Figures and tables ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("study", ["", *STUDIES, "ports"])
def test_figures_and_tables_show_every_cell(sweeps: Sweeps, study: str) -> None:
    module = module_of(FOLDER, PAPER.study(study).module if study else "figures")
    found = evidence(sweeps, study, good if study != "ports" else lambda *_: {})
    assert [drawn.id for drawn in module.figures(found)]
    for table in module.tables(found):
        assert table.rows
        assert all(len(row) == len(table.header) for row in table.rows), table.caption


def test_the_administrators_table_follows_from_the_stored_numbers() -> None:
    spec = importlib.util.spec_from_file_location("eee_table", ROOT / "studies" / "eee-2026" / "table.py")
    assert spec is not None
    assert spec.loader is not None
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    assert table.TABLE.read_text(encoding="utf-8") == table.markdown()
    assert table.PAGE.read_text(encoding="utf-8") == table.page()
    rows = [line for line in table.markdown("LPI").splitlines() if line.startswith("| 10GBASE-T |")]
    assert len(rows) == 2 * 5
