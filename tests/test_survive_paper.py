"""The study survive-2026: claims on numbers that satisfy and contradict them, words, figures, the table."""

from __future__ import annotations

import importlib.util
import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from conftest import ROOT, SHIPPED
from netlull import Scenario, Sweep
from netlull.papers import Cell, Evidence, Grid, PaperError, Verdict, load
from netlull.papers.measure import judged
from netlull.papers.plan import plan, plan_study
from netlull.papers.source import module_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeAlias

    from netlull.papers.plan import Plan
    from netlull.sweep.points import Point

    Sweeps: TypeAlias = Mapping[str, tuple[Plan, Sequence[Point]]]
    Numbers: TypeAlias = dict[str, float]

FOLDER = SHIPPED / "papers" / "survive-2026"
PAPER = load(FOLDER)
MEASURES, CLAIMS, FIGURES = (module_of(FOLDER, name) for name in ("measures", "claims", "figures"))
STUDIES = ("idle", "sleep", "client")
QUEUED = ("EARTH", "C-EARTH", "G-Router")


def planned(study: str) -> Plan:
    return plan_study(PAPER, PAPER.study(study), None) if study else plan(PAPER, None)


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> Sweeps:
    """The plans of the study (its name is empty) and of its parts, with their points."""
    found = {}
    for name in ("", *STUDIES, "checks"):
        plan_of = planned(name)
        sweep = Sweep.from_file(plan_of.write(tmp_path_factory.mktemp(name or "main")), allow_code=True)
        found[name] = (plan_of, sweep.points())
    return found


def evidence(sweeps: Sweeps, study: str, numbers: Callable[..., Numbers]) -> Evidence:
    """A table over the sweep's points, with a little noise that is common to the cells."""
    plan_of, points = sweeps[study]
    rows = []
    for point in points:
        at = {
            axis.removesuffix("_1g").removesuffix("_10g").removeprefix("idle_"): value
            for axis, value in point.values.items()
        }
        found = {"energy_j": 1.0, "total_j": 1.0, "p50_s": 1.0, "p95_s": 1.0, "goodput_bps": 1.0}
        if at.get("way") != "always on":
            queue = str(at.get("queue", "drop-tail"))
            found |= numbers(point.experiment, str(at["sender"]), queue, str(at.get("way")))
        if point.experiment in {"behind", "one", "endless", "abilene-endless", "client-web"}:
            found |= dict.fromkeys(("p50_s", "p95_s"), float("nan"))
        if point.experiment == "client-web":
            found |= {"energy_j": float("nan"), "web_p50_s": 1.0, "web_p95_s": 1.0}
        found |= {"mean_rate_bps": 1e6, "queue_packets": 4.0}
        rows += [
            {"experiment": point.experiment, "seed": seed}
            | dict(point.values)
            | {name: value * (1 + 1e-5 * seed) for name, value in found.items()}
            for seed in point.seeds
        ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.Table.from_pylist([dict.fromkeys(names) | row for row in rows])
    return Evidence(PAPER, Grid(table, plan_of.axes), {})


def good(experiment: str, sender: str, queue: str, way: str) -> Numbers:
    """Numbers on the right side of every bound."""
    found = {"energy_j": 0.5, "total_j": 0.5}
    bbr = sender == "BBRv3"
    if way in QUEUED and experiment in {"one", "endless", "behind"}:
        found["goodput_bps"] = 0.5 if bbr or queue == "CoDel" else 0.95
    if (experiment, way) == ("files", "Lull") and bbr:
        found["energy_j"] = 0.7
    if (experiment, queue, way) == ("web-0.5", "CoDel", "practRA, d 40 ms"):
        found["p95_s"] = 1.1
    if experiment == "1g-10ms" and bbr:
        found["energy_j"] = 0.8 if way == "LPI" else 0.6
    if way.startswith("client's shaper"):
        found["energy_j"] = 1.2
    if experiment.startswith("download") and way == "BSD":
        found["energy_j"] = 1.0
    return found


def bad(experiment: str, sender: str, queue: str, way: str) -> Numbers:
    """Numbers on the wrong side of every bound."""
    bbr = sender == "BBRv3"
    found = {"energy_j": 0.5 if sender == "NewReno" else 0.3, "total_j": 0.5 if sender == "NewReno" else 0.3}
    found["p95_s"] = 1.2 if bbr else 1.0
    if way in QUEUED and experiment in {"one", "endless", "behind"}:
        found["goodput_bps"] = 0.95 if bbr or queue == "CoDel" else 0.5
    if experiment == "behind" and way not in QUEUED:
        found["goodput_bps"] = 0.5
    if experiment.startswith("web") and way == "Lull" and bbr:
        found["energy_j"] = 0.7
    if experiment == "abilene-endless" and bbr:
        found["goodput_bps"] = 0.5
    if (experiment, way) == ("web-0.5", "practRA, d 40 ms"):
        found["p95_s"] += 0.1 if queue == "drop-tail" else 0.0
    if (experiment, way) == ("web-0.5", "practRA, d 5 ms"):
        found["p95_s"] += 0.1 if queue == "CoDel" else 0.0
    if way == "LPI":
        found["energy_j"] = {"1g-10ms": 0.5, "1g-1ms": 0.8}.get(experiment, 0.8) if bbr else 0.5
        found["energy_j"] += 0.05 if queue == "CoDel" else 0.0
    if way == "client's shaper":
        found["energy_j"] = 0.8
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


# ---- The words of the table ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours", "word"),
    [
        ((0.5, 1.0), (0.5, 1.0), "survives"),
        ((0.5, 1.0), (0.59, 1.09), "survives"),
        ((0.5, 1.0), (0.61, 1.0), "saves less"),
        ((0.5, 1.0), (0.5, 1.11), "costs more"),
        ((0.5, 1.0), (0.61, 1.11), "fails"),
        ((0.99, 1.0), (0.5, 1.0), "nothing saved before"),
        ((0.99, 1.0), (0.5, 1.11), "costs more"),
        ((0.5, 2.0), (0.5, 2.0), "survives, dear before"),
        ((0.5, 2.0), (0.5, 2.21), "costs more, dear before"),
    ],
)
def test_a_word_follows_from_saving_and_price(
    theirs: tuple[float, float], ours: tuple[float, float], word: str
) -> None:
    """80 % of a saving of 0.5 are an energy of 0.6; 1.1 times a completion of 2.0 are 2.2."""
    rows = []
    for sender, (energy, time) in (("NewReno", theirs), ("BBRv3", ours)):
        for way, values in (("always on", (1.0, 1.0)), ("Lull", (energy, time))):
            rows += [
                {"experiment": "web-0.2", "seed": seed, "sender": sender, "queue": "drop-tail", "way": way}
                | {
                    "energy_j": values[0] * (1 + 1e-5 * seed),
                    "p95_s": values[1] * (1 + 1e-5 * seed),
                    "goodput_bps": 1.0,
                }
                for seed in (1, 2, 3)
            ]
    found = Evidence(PAPER, Grid(pa.Table.from_pylist(rows), ["sender", "queue", "way"]), {})
    (place,) = MEASURES.places(found, sender="BBRv3")
    assert MEASURES.survival(found, place, "Lull") == word


def test_an_open_answer_is_named() -> None:
    rows = [
        {"experiment": "web-0.2", "seed": seed, "sender": sender, "queue": "drop-tail", "way": way}
        | {"energy_j": 1.0 if way == "always on" else 0.5, "goodput_bps": 1.0}
        | {"p95_s": 1.0 if way == "always on" or sender == "NewReno" else 0.9 + 0.1 * seed}
        for seed in (1, 2, 3)
        for sender in ("NewReno", "BBRv3")
        for way in ("always on", "Lull")
    ]
    found = Evidence(PAPER, Grid(pa.Table.from_pylist(rows), ["sender", "queue", "way"]), {})
    (place,) = MEASURES.places(found, sender="BBRv3")
    assert MEASURES.survival(found, place, "Lull") == "saves, price open"


# ---- The grid --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("study", ["", *STUDIES, "checks"])
def test_seeds_begin_at_101_and_only_the_congestion_control_differs(sweeps: Sweeps, study: str) -> None:
    """Seeds up to 100 belong to the design."""
    options: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for point in sweeps[study][1]:
        assert min(point.seeds) == 101
        tcp = point.scenario.to_dict()["tcp"]
        assert tcp["preset"] == "linux-6"
        others_ = tuple(f"{axis}={value}" for axis, value in point.values.items() if axis != "sender")
        options.setdefault((point.experiment, *others_), []).append({**tcp, "congestion_control": ""})
    for found in options.values():
        assert len(found) > 1
        assert all(tcp == found[0] for tcp in found)


def test_quick_holds_the_claims_of_the_main_sweep() -> None:
    quick = plan(PAPER, PAPER.quick)
    assert set(quick.experiments) == {"web-0.2", "files", "behind", "one", "endless"}


# ---- Figures and tables ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("study", ["", *STUDIES])
def test_figures_and_tables_show_every_cell(sweeps: Sweeps, study: str) -> None:
    found = evidence(sweeps, study, good)
    assert [drawn.id for drawn in FIGURES.figures(found)]
    records = MEASURES.records(found)
    tables = list(FIGURES.tables(found))
    assert sum(len(table.rows) for table in tables) * len(MEASURES.SENDERS) == len(records)
    for table in tables:
        assert all(len(row) == len(table.header) for row in table.rows), table.caption


def test_the_checks_are_drawn(sweeps: Sweeps) -> None:
    checks = module_of(FOLDER, "checks")
    found = evidence(sweeps, "checks", good)
    assert [drawn.id for drawn in checks.figures(found)] == ["checks"]
    for table in checks.tables(found):
        assert table.rows
        assert all(len(row) == len(table.header) for row in table.rows), table.caption


def test_the_table_of_the_page_follows_from_the_stored_numbers() -> None:
    spec = importlib.util.spec_from_file_location("survive_table", ROOT / "studies" / "survive-2026" / "table.py")
    assert spec is not None
    assert spec.loader is not None
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    assert table.PAGE.read_text(encoding="utf-8") == table.page()
    assert table.markdown().count("\n| Lull |") == 2 * 6


# ---- A scenario of another paper -------------------------------------------------------------------------------------


def test_the_study_runs_the_scenarios_of_other_papers(tmp_path: Path) -> None:
    assert PAPER.file(PAPER.scenario) == SHIPPED / "papers" / "lull-2026" / "scenario.toml"
    path = planned("idle").write(tmp_path)
    theirs = Scenario.from_file(SHIPPED / "papers" / "eee-2026" / "scenario.toml")
    assert Scenario.from_file(path.parent / "scenario.toml").to_toml() == theirs.to_toml()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lull-2027/scenario.toml", "survive-2026/lull-2027/scenario.toml: the file is missing"),
        ("scenario.toml", "survive-2026/scenario.toml: the file is missing"),
    ],
)
def test_a_missing_scenario_is_named(tmp_path: Path, name: str, message: str) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / FOLDER.name)
    sheet = folder / "paper.toml"
    text = sheet.read_text(encoding="utf-8")
    sheet.write_text(text.replace('scenario = "lull-2026/scenario.toml"', f'scenario = "{name}"', 1), encoding="utf-8")
    with pytest.raises(PaperError, match=message):
        load(folder)


def test_a_study_names_a_file_of_a_paper_and_no_path(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / FOLDER.name)
    sheet = folder / "paper.toml"
    text = sheet.read_text(encoding="utf-8")
    sheet.write_text(text.replace("eee-2026/scenario", "../eee-2026/scenario"), encoding="utf-8")
    with pytest.raises(PaperError, match=r'study.idle.scenario: is "../eee-2026/scenario.toml"; expected a .toml file'):
        load(folder)


def test_a_cell_has_a_place(sweeps: Sweeps) -> None:
    found = evidence(sweeps, "", good)
    place = MEASURES.places(found, "endless", sender="BBRv3")[0]
    assert place.cell("Lull") == Cell.of("endless", sender="BBRv3", queue="drop-tail", way="Lull")
    assert str(place) == "four endless transfers, BBRv3, drop-tail"
