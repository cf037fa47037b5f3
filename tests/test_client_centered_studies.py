"""The studies of client-centered-2004: their arithmetic by hand, their points, and some of their results."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from conftest import SHIPPED
from netlull import Sweep
from netlull.papers import Evidence, Grid, load
from netlull.papers.documents import Scope
from netlull.papers.measure import measure
from netlull.papers.plan import plan_study
from netlull.papers.source import module_of
from netlull.plot import charts_of
from netlull.stats import Interval

if TYPE_CHECKING:
    from netlull.papers import Part

FOLDER = SHIPPED / "papers" / "client-centered-2004"
SCOPES = {
    "senders": Scope("", ("senders", "calm"), {"rtt": (60, 120), "loss": (0,), "noise": (0,)}, 2),
    "tradeoff": Scope("", ("tradeoff",), {"rtt": (60, 90), "air": (20,), "radio": ("wavelan-dsss", "esp32-c3")}, 2),
}

crowd, senders, studies, tradeoff = (module_of(FOLDER, name) for name in ("crowd", "senders", "studies", "tradeoff"))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Evidence]:
    """A small part of the studies of one download."""
    paper = load(FOLDER)
    found = {}
    for name, scope in SCOPES.items():
        planned = plan_study(paper, paper.study(name), scope)
        found[name] = measure(paper, planned, tmp_path_factory.mktemp(name))
    return found


class Bursts:
    """A run with bursts of this many packets."""

    def __init__(self, packets: int) -> None:
        self.summary: dict[str, Any] = {"stations": [], "flows": []}
        self._packets = packets

    def series(self, name: str) -> pa.Table:
        assert name == "burst"
        return pa.table({"packets": [self._packets] * 3, "station": ["c01-1"] * 3, "ended_s": [1.0] * 3})


def crowd_of(
    lost: dict[int, float],
    standard: float,
    apart: float = 0.0,
    *,
    queue: float = 90.0,
    packets: int = 10,
    saving: float = 0.5,
    experiments: tuple[str, ...] = ("crowd", "stubborn", "limited"),
) -> Evidence:
    """Three experiments of two seeds: packets lost, by number of energy-saving flows; gains of standard flows.

    `apart`: the difference of the two seeds in the standard flows' gain. `queue`: its mean with energy-saving flows,
    over 100 without. `packets`: of a burst. `saving`: the goodput of energy-saving flows over their own without saving.
    """
    rows = []
    for experiment in experiments:
        for savers in crowd.SAVERS:
            for buffer in crowd.BUFFERS:
                for udp, seed in itertools.product(("without UDP", "transient UDP"), (1, 2)):
                    at = {"savers": float(savers), "buffer": buffer, "udp": udp, "seed": seed}
                    row: dict[str, Any] = {"experiment": experiment} | at
                    row |= {"lost": lost[savers], "offered": 1e5, "jain": 1.0}
                    row["queue_packets"] = queue if savers else 100.0
                    for group in range(1, 21):
                        saves = group <= savers // 5
                        gain = saving if saves else standard + apart * (seed - 1.5) if savers else 1.0
                        row |= {f"goodput_{group:02}": 5e6 * gain, f"asleep_{group:02}": 30.0 if saves else 0.0}
                        row[f"energy_{group:02}"] = 50.0 if saves else 100.0
                    rows.append(row)
    effect = [
        row | {"experiment": "effect", "few": row["savers"]}
        for row in rows
        if row["experiment"] == "crowd" and row["savers"] in (0, 50, 90) and row["udp"] == "without UDP"
    ]
    rows = [{"few": None} | row for row in rows] + [row | {"savers": None, "udp": None} for row in effect]
    table = pa.Table.from_pylist(rows)
    recorded = {f"100 of 100, {buffer:g} BDP": Bursts(packets) for buffer in crowd.BUFFERS}
    return Evidence(load(FOLDER), Grid(table, ("savers", "buffer", "udp", "few")), recorded)


def found_parts(evidence: Evidence, claim: str = "C9") -> list[Part]:
    tolerance = next(one for one in evidence.paper.claims if one.id == claim).tolerance
    judges = {"C9": crowd.crowd_claim, "C26": crowd.queue_claim, "C27": crowd.aggression_claim}
    parts: list[Part] = judges[claim](evidence, tolerance)
    return parts


def held(evidence: Evidence, claim: str = "C9") -> dict[str, bool | None]:
    return {part.id: part.holds for part in found_parts(evidence, claim)}


def counted(evidence: Evidence, claim: str) -> set[bool | None]:
    return {part.holds for part in found_parts(evidence, claim) if part.counted}


def test_every_reason_of_the_crowd_s_claims_belongs_to_a_part() -> None:
    evidence = crowd_of(dict.fromkeys(crowd.SAVERS, 100.0), standard=1.0)
    for claim in (one for one in load(FOLDER).claims if one.study == "crowd"):
        assert not set(claim.why) - set(held(evidence, claim.id)), claim.id


FALLING = {savers: 1000.0 - savers for savers in crowd.SAVERS}


def test_c9_holds_where_losses_fall_and_standard_flows_gain() -> None:
    assert set(held(crowd_of(FALLING, standard=1.1)).values()) == {True}


def test_c9_fails_where_losses_rise_and_standard_flows_lose() -> None:
    rising = {savers: 1000.0 + 10 * savers for savers in crowd.SAVERS}
    assert set(held(crowd_of(rising, standard=0.9)).values()) == {False}


def test_a_gain_whose_interval_includes_one_is_undecided() -> None:
    # Two seeds, 0.05 below and above 1.1: the interval is 1.1 -+ 12.7 x 0.05, the mean alone would be a gain.
    found = held(crowd_of(FALLING, standard=1.1, apart=0.1))
    undecided = {part for part, holds in found.items() if holds is None}
    gains = {f"{name}-{buffer:g}" for name in ("gain", "udp") for buffer in crowd.BUFFERS}
    assert undecided == gains | {"stubborn", "limited"}


def test_other_readings_of_c9_do_not_count() -> None:
    parts = found_parts(crowd_of(FALLING, standard=1.1))
    assert [part.id for part in parts if not part.counted] == ["stubborn", "limited"]
    assert "10 of 10 parts hold" in parts[-1].ours
    # Without their runs they are left out.
    assert set(held(crowd_of(FALLING, standard=1.1, experiments=("crowd",)))) == {part.id for part in parts[:-2]}


def test_c26_is_about_the_queue() -> None:
    assert counted(crowd_of(FALLING, standard=1.1, queue=90.0), "C26") == {True}
    assert counted(crowd_of(FALLING, standard=1.1, queue=110.0), "C26") == {False}


def test_an_interval_that_is_narrow_around_one_shows_no_effect() -> None:
    allowed = {"no_effect": 0.02}
    assert crowd.less_than_one(Interval(1.0, 0.99, 1.01, 20), allowed) == (False, "1.00 ± 0.01, no effect")
    assert crowd.less_than_one(Interval(1.0, 0.95, 1.05, 20), allowed)[0] is None
    assert crowd.less_than_one(Interval(0.99, 0.985, 0.995, 20), allowed)[0] is True
    assert crowd.less_than_one(Interval(1.05, 1.03, 1.07, 20), allowed)[0] is False


def test_c27_is_about_bursts_and_shares() -> None:
    assert counted(crowd_of(FALLING, standard=1.1), "C27") == {True}
    aggressive = held(crowd_of(FALLING, standard=1.1, saving=1.1), "C27")
    assert {part for part, holds in aggressive.items() if not holds and part.startswith("share")} == {
        f"share-{buffer:g}" for buffer in crowd.BUFFERS
    }
    # 23 packets are more than half of 45.
    large = held(crowd_of(FALLING, standard=1.1, packets=23), "C27")
    assert {part for part, holds in large.items() if not holds} == {f"burst-{buffer:g}" for buffer in crowd.BUFFERS}


def test_goodput_is_that_of_the_same_flows_and_energy_is_per_byte() -> None:
    evidence = crowd_of(dict.fromkeys(crowd.SAVERS, 100.0), standard=1.2)
    some, none = crowd.cell("without UDP", 50, 1.0), crowd.cell("without UDP", 0, 1.0)
    # Half of the groups save. Standard flows get 1.2 of their earlier share, the others half of it for half of the
    # energy.
    assert (list(crowd.saving(50)), list(crowd.standard(50))) == (list(range(10)), list(range(10, 20)))
    assert crowd.gain(evidence, some, none, crowd.standard(50)).mean == pytest.approx(1.2)
    assert crowd.as_printed(evidence, some, none, crowd.standard(50)).mean == pytest.approx(1.2)
    assert crowd.gain(evidence, some, none, crowd.saving(50)).mean == pytest.approx(0.5)
    assert crowd.energy(evidence, some, none, 50).mean == pytest.approx(1.0)
    # Ten groups of 30 s, of 50 clients' 15 s each: 40 %.
    assert crowd.asleep(evidence, some, 50).mean == pytest.approx(40.0)


def test_the_crowd_s_figures_have_a_line_for_each_buffer() -> None:
    drawn = {one.id: one.figure for one in crowd.figures(crowd_of(dict.fromkeys(crowd.SAVERS, 100.0), standard=1.1))}
    assert list(drawn) == ["fig8", "fig9", "savers"]
    assert [len(chart.series) for chart in charts_of(drawn["fig9"])] == [3, 3, 3, 3]


def test_the_crowd_has_a_hundred_clients_and_the_first_so_many_save() -> None:
    points = {
        (point.experiment, point.values["savers"]): point
        for point in Sweep.from_file(FOLDER / "crowd-sweep.toml").points()
        if "savers" in point.values
    }
    for savers in crowd.SAVERS:
        document = points["crowd", savers].scenario.to_dict()
        kinds = [len(station["nodes"]) for station in document["station"]]
        assert sum(kinds) == 100
        assert [len(station["nodes"]) for station in document["station"] if station.get("mechanism")] == (
            [savers] if savers else []
        )


def test_a_spread_is_the_median_with_both_ends() -> None:
    assert studies.spread(studies.middle([3.0, 1.0, 2.0])) == "2.00 (1.00 to 3.00)"
    assert studies.spread(studies.middle([])) == "none"


def test_the_sender_of_2003_is_shaped_with_profit_and_bbr_is_not(measured: dict[str, Evidence]) -> None:
    def products(sender: str, client: str) -> list[float]:
        return studies.ratios(measured["senders"], *senders.cells(sender, client, rtt=60), "product_js")

    assert max(products("FreeBSD 4.5, 32 KiB", senders.SHAPER)) < 0.8
    # BBR spreads its window over the round trip; the guard gives up on it.
    assert min(products("BBRv3, 64 KiB", senders.SHAPER)) > 2
    assert max(products("BBRv3, 64 KiB", "open repair and guard")) < 1.5
    # A window of 1 MiB saturates the air: three bursts, then standard TCP.
    assert max(products("CUBIC, 1 MiB", senders.SHAPER)) < 1.3


def test_recorded_downloads_say_why_they_stopped(measured: dict[str, Evidence]) -> None:
    table = next(one for one in senders.tables(measured["senders"]) if "Recorded" in one.caption)
    ends = {row[0]: row[-1] for row in table.rows}
    assert ends["freebsd"] == "goes on to the end"
    assert ends["cubic-large"] == "standard: saturated"
    span = {row[0]: float(row[4]) for row in table.rows}
    # 23 packets take 13.2 ms of 60 on the air; BBR's take almost all of it.
    assert span["freebsd"] < 40
    assert span["bbr-calm"] > 90
    assert [one.id for one in senders.figures(measured["senders"])] == [
        "senders-product",
        "senders-noise",
        "senders-bursts",
        "senders-hole",
    ]


def test_stretches_awake() -> None:
    # Awake from 0, asleep from 1 to 3, then until the end.
    assert senders.awake([0.0, 1.0, 2.5, 3.0], ["awake", "asleep", "waking", "awake"], 4.0) == [(0.0, 1.0), (2.5, 4.0)]


def test_the_way_within_a_bound(measured: dict[str, Evidence]) -> None:
    evidence = measured["tradeoff"]
    # At 60 ms the shaper saves most among mechanisms at most a quarter slower. The ideal PSM would save more, at a
    # higher price, but no radio offers it.
    assert tradeoff.within(evidence, "wavelan-dsss", 20, 60, 25) == "shaper"
    assert tradeoff.within(evidence, "wavelan-dsss", 20, 60, 100) != tradeoff.IDEAL
    assert tradeoff.within(evidence, "wavelan-dsss", 20, 60, 0) is None
    assert [one.id for one in tradeoff.figures(evidence)] == ["tradeoff-20"]
    captions = [table.caption for table in tradeoff.tables(evidence)]
    assert len(captions) == 2


@pytest.mark.parametrize("name", ["crowd", "senders", "tradeoff"])
def test_the_quick_part_is_part_of_the_whole(name: str) -> None:
    paper = load(FOLDER)
    study = paper.study(name)
    axes = {axis["name"]: axis for axis in plan_study(paper, study, study.quick).sweep["axis"]}
    whole = {axis["name"]: axis for axis in plan_study(paper, study, None).sweep["axis"]}
    for axis, part in axes.items():
        field = "point" if "point" in part else "values"
        assert all(entry in whole[axis][field] for entry in part[field])
