"""The studies of greened-network-2012: their arithmetic by hand, their points, and some of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import SHIPPED
from netlull import Sweep
from netlull.papers import load
from netlull.papers.documents import Scope
from netlull.papers.measure import measure
from netlull.papers.plan import plan_study
from netlull.papers.source import module_of
from netlull.plot import charts_of

if TYPE_CHECKING:
    from netlull.papers import Evidence
    from netlull.papers.outcome import Tabled

FOLDER = SHIPPED / "papers" / "greened-network-2012"
CUBIC, VEGAS = "CUBIC 2.6.22", "Vegas"
MIXED = "NewReno and CUBIC 2.6.22"
MANNERS = ("at once", "drain 50 ms", "at once, wakes at 40 s")
BACKGROUNDS = ("constant, one way", "every pair of nodes")
PLANS = ("awake", "ESTOP 50 %", "load-aware 60 %")
SCOPES = {
    "load": Scope(
        "", ("small", "bdp"), {"load": (25,), "few_loads": (25,), "version": (CUBIC, VEGAS), "sleep": (0, 70)}, 2
    ),
    "pairs": Scope("", ("pairs",), {"pair": ("0-8", "8-10"), "version": (CUBIC, VEGAS), "sleep": (0, 70)}, 1),
    "sharing": Scope(
        "",
        ("same", "crossing"),
        {"flows": (2,), "versions": (VEGAS, MIXED), "one_version": ("SACK CUBIC",), "sleep": (0, 70)},
        2,
    ),
    "sleep-order": Scope("", ("awake", "sleep-order"), {"manner": MANNERS, "threshold": (70,), "version": (VEGAS,)}, 2),
    "directions": Scope(
        "",
        ("early", "fitting", "any"),
        {"early": (32767, 32719), "fitting": (32767,), "any": (7761,), "version": ("NewReno", "CUBIC")},
        1,
    ),
    "background": Scope(
        "", ("background",), {"background": BACKGROUNDS, "sleep": (0, 90, 70), "version": (CUBIC, VEGAS)}, 2
    ),
    "larger-networks": Scope("", ("tcp", "datagrams"), {"network": ("geant",), "load": (10,), "plan": PLANS}, 2),
}

studies, load_study, pairs, sleep_order = (
    module_of(FOLDER, name) for name in ("studies", "load", "pairs", "sleep_order")
)


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Evidence]:
    """A small part of every study."""
    paper = load(FOLDER)
    found = {}
    for name, scope in SCOPES.items():
        planned = plan_study(paper, paper.study(name), scope)
        found[name] = measure(paper, planned, tmp_path_factory.mktemp(name))
    return found


def column(table: Tabled, title: str) -> list[str]:
    place = list(table.header).index(title)
    return [row[place] for row in table.rows]


def test_what_background_leaves_of_a_link() -> None:
    # 25 % of 40 Mb/s are 10. One flow gets the other 30 Mb/s, two flows 20; 1000 of 1040 B are goodput.
    assert load_study.left(25, 1) == pytest.approx(30 / 1.04)
    assert load_study.left(25, 2) == pytest.approx(20 / 1.04)
    assert load_study.left(40, 3) == 0


def test_from_where_on_something_holds_and_quantiles() -> None:
    assert studies.first_from([0, 5, 10, 15], lambda x: x in {0, 10, 15}) == 10
    assert studies.first_from([0, 5], lambda x: x == 0) is None
    assert [studies.quantile([4, 1, 3, 2], share) for share in (0, 0.5, 1)] == [1, 2.5, 4]


def test_paths_over_the_links_that_remain() -> None:
    # 8-2-5-6-3-10 while 8-2 is on; by 11 and 1 one hop more without it.
    assert pairs.hops()[pairs.PAPERS] == 5
    assert pairs.asleep(90) == ("SNVAng-STTLng", "DNVRng-SNVAng")
    assert pairs.asleep(70) == (*pairs.asleep(90), "CHINng-NYCMng")
    assert pairs.asleep(50) == (*pairs.asleep(70), "ATLAng-IPLSng")
    assert (pairs.stretch(90)[pairs.PAPERS], pairs.stretch(70)[pairs.PAPERS]) == (0, 1)
    # 9 to 10, neighbours, go by 7, 4, 6 and 3.
    assert pairs.stretch(90)["9-10"] == 4


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("load", {"small": 9 * 4 * 8, "bdp": 4 * 4 * 8}),
        ("sharing", {"same": 10 * 3 * 4, "crossing": 5 * 3 * 4}),
        ("sleep-order", {"awake": 6, "sleep-order": 12 * 2 * 6}),
    ],
)
def test_every_point_is_a_scenario(name: str, points: dict[str, int]) -> None:
    found = [point.experiment for point in Sweep.from_file(load(FOLDER).file(f"{name}-sweep.toml")).points()]
    assert {experiment: found.count(experiment) for experiment in points} == points
    assert len(found) == sum(points.values())


def test_cubic_gets_what_two_flows_of_the_background_leave(evidence: dict[str, Evidence]) -> None:
    grid = evidence["load"].grid
    for experiment in ("small", "bdp"):
        for sleep, flows in ((0, 1), (70, 2)):
            found = grid.interval(load_study.cell(experiment, 25, sleep, CUBIC), "after_bps", 1e-6)
            assert found.mean == pytest.approx(load_study.left(25, flows), rel=0.02)
    # Three of fifteen cables sleep. A sleeping port keeps its share of the box and its transceiver:
    # 15 x 2 x 1.84 W for switched ports of 15 x 2 x 12.6 W, a fifth of which is under 3 %.
    cell = load_study.cell("small", 25, 70, CUBIC)
    awake = load_study.cell("small", 25, 0, CUBIC)
    ideal, cards, measured = (
        studies.saved(evidence["load"], cell, awake, f"energy_{model}_j").mean
        for model in ("ideal", "cards", "measured")
    )
    assert (ideal, cards) == (pytest.approx(100 * 3 / 15), pytest.approx(100 * 3 / 15))
    # Detours carry datagrams over more ports, which costs some of it: less than against the same traffic awake.
    assert 1 < measured < 3


def test_vegas_has_two_windows_at_which_it_stays(evidence: dict[str, Evidence]) -> None:
    grid = evidence["sleep-order"].grid

    def end(manner: str) -> float:
        return grid.interval(sleep_order.cell(manner, 70, VEGAS), "last_bps", 1e-6).mean

    # The base round trip is that of the old path, the new one is 9.6 ms longer. From above, without a loss, the window
    # comes down to beta = 3 segments of 8000 b in those 9.6 ms: 2.5 Mb/s. After a timeout it stops growing at 3
    # segments a round trip of 57 ms: 0.42 Mb/s.
    assert end("drain 50 ms") == pytest.approx(3 * 8e-3 / 9.6e-3, rel=0.1)
    assert end("at once") == pytest.approx(3 * 8e-3 / 57e-3, rel=0.1)
    # Back on the old path it recovers.
    assert end("at once, wakes at 40 s") > 15
    lost = {manner: grid.interval(sleep_order.cell(manner, 70, VEGAS), "asleep_packets").mean for manner in MANNERS[:2]}
    assert lost["at once"] > 20
    assert lost["drain 50 ms"] == 0
    assert (
        studies.collapsed(evidence["sleep-order"], sleep_order.cell("at once", 70, VEGAS)),
        len(grid.seeds("sleep-order")),
    ) == (
        2,
        2,
    )


def test_the_paper_s_pair_has_its_place_among_the_others(evidence: dict[str, Evidence]) -> None:
    found = pairs.changes(evidence["pairs"], 70, VEGAS)
    assert set(found) == {"0-8", pairs.PAPERS}
    # From 0 to 8 the path is by 1 and 11, and does not change; Vegas from 8 to 10 collapses.
    assert pairs.rank(evidence["pairs"], 70, VEGAS) == 1
    assert found[pairs.PAPERS] < -80


def test_fairness_of_two_versions(evidence: dict[str, Evidence]) -> None:
    sharing = module_of(FOLDER, "sharing")
    grid = evidence["sharing"].grid
    mixed = sharing.cell("same", MIXED, 2, 0)
    # CUBIC gets more than twice NewReno's goodput: Jain's index of 1 and x is (1 + x)^2 / (2 (1 + x^2)), 0.9 for 2.
    assert grid.interval(mixed, "jain_after").mean < 0.9
    assert grid.ratio(mixed, mixed, "b_after_bps", to="a_after_bps").mean > 2
    # Awake, flows on separate paths have 30 and 40 Mb/s; then they share 20.
    apart, together = (sharing.cell("crossing", "SACK CUBIC", 2, sleep) for sleep in (0, 70))
    assert grid.interval(apart, "sum_after_bps", 1e-6).mean > 60
    assert grid.interval(together, "sum_after_bps", 1e-6).mean < 20


def test_background_on_the_first_link_fits_table_iv_better(evidence: dict[str, Evidence]) -> None:
    directions = module_of(FOLDER, "directions")
    # Set 32719 has no flow on 8-2 before the switch-off.
    assert (directions.loads(32767, "before")[0][0], directions.loads(32719, "before")[0][0]) == (1, 0)
    fits = directions.fits(evidence["directions"])
    assert fits[32767] < fits[32719] - 2


def test_traffic_between_all_pairs_spares_the_old_path(evidence: dict[str, Evidence]) -> None:
    background = module_of(FOLDER, "background")

    def change(name: str, sleep: int, version: str) -> float:
        cells = (background.cell(name, state, version) for state in (sleep, 0))
        return float(studies.changed(evidence["background"], *cells).mean)

    constant, pairwise = BACKGROUNDS
    # Constant flows: the rerouted one of 9-3 takes a third of TCP's 30 Mb/s at any threshold.
    assert change(constant, 90, CUBIC) == pytest.approx(-100 / 3, abs=3)
    # Traffic of all pairs: 9-10 and 3-9 carry little of it that TCP's path has to take.
    assert change(pairwise, 90, CUBIC) > -5
    assert change(pairwise, 70, CUBIC) < -10
    assert change(pairwise, 90, VEGAS) > -10 > -80 > change(pairwise, 70, VEGAS)


def test_load_aware_plans_keep_their_bound(evidence: dict[str, Evidence]) -> None:
    larger = module_of(FOLDER, "larger_networks")
    grid = evidence["larger-networks"].grid
    estop, aware = (larger.cell("datagrams", "geant", plan, 10) for plan in PLANS[1:])
    awake = larger.cell("datagrams", "geant", PLANS[0], 10)
    saved = {
        cell: studies.saved(evidence["larger-networks"], cell, awake, "energy_ideal_j").mean for cell in (estop, aware)
    }
    assert saved[aware] >= saved[estop] > 30
    # Poisson arrivals of 11 s add little to the plan's 60 %.
    assert grid.interval(aware, "fullest").mean < 0.62
    assert grid.interval(estop, "fullest").mean > 0.62
    assert larger.stretch(evidence["larger-networks"], "geant", "awake", 10).mean == pytest.approx(100)


@pytest.mark.parametrize("name", SCOPES)
def test_figures_and_tables_are_drawn(name: str, evidence: dict[str, Evidence]) -> None:
    module = module_of(FOLDER, load(FOLDER).study(name).module)
    drawn = list(module.figures(evidence[name]))
    assert len({figure.id for figure in drawn}) == len(drawn) >= 2
    assert all(charts_of(figure.figure) for figure in drawn)
    sections = set(getattr(module, "SECTIONS", {"figures": ""}))
    assert {figure.section for figure in drawn} <= sections
    for table in module.tables(evidence[name]):
        assert table.section in sections
        assert all(len(row) == len(table.header) for row in table.rows)
        assert "nan" not in " ".join(map(" ".join, table.rows))
    assert set(load(FOLDER).notes.study[name]) <= sections


def test_the_tables_say_who_collapsed(evidence: dict[str, Evidence]) -> None:
    table = next(iter(sleep_order.tables(evidence["sleep-order"])))
    assert column(table, "links sleep") == ["at once", "drain 50 ms", "at once, wakes at 40 s"]
    assert column(table, "seeds below 2 Mb/s then") == ["2 of 2", "0 of 2", "0 of 2"]


@pytest.mark.parametrize("name", ["load", "pairs", "sharing", "sleep-order", "directions", "background"])
def test_quick_is_a_part_of_the_whole(name: str) -> None:
    paper = load(FOLDER)
    study = paper.study(name)
    axes = {axis["name"]: axis for axis in plan_study(paper, study, study.quick).sweep["axis"]}
    whole = {axis["name"]: axis for axis in plan_study(paper, study, None).sweep["axis"]}
    assert any(len(axes[axis]["point"]) < len(whole[axis]["point"]) for axis in axes)
