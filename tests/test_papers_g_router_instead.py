"""Gateways in practRA's place: the settings of the studies, the tables' arithmetic and the drawings."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from conftest import SHIPPED, copy_of_paper
from netlull import Sweep
from netlull.papers import Evidence, Grid, load
from netlull.papers.measure import measure
from netlull.papers.plan import Plan, plan_study
from netlull.papers.source import module_of
from netlull.plot import Curve
from netlull.stats import mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAPERS = SHIPPED / "papers"
TROUBLED, INTERTWINING = PAPERS / "troubled-marriage-2016", PAPERS / "intertwining-2012"
SEEDS = (1, 2)


# ---- Settings of the sweeps ------------------------------------------------------------------------------------------


def planned(folder: Path) -> Plan:
    """The whole study of a paper."""
    paper = load(folder)
    return plan_study(paper, paper.study("g-router-instead"), None)


def controllers(folder: Path, tmp_path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Label and link of each gateway in the paper's whole sweep."""
    for point in Sweep.from_file(planned(folder).write(tmp_path)).points():
        if "scheme" in point.values:
            links = point.scenario.to_dict()["link"]
            yield point.label, next(link for link in links if (link["from"], link["to"]) == ("N1", "N2"))


# Packets in the buffer, target in bytes, RTT without queue in s. T: half of the buffer in packets of 1500 B.
@pytest.mark.parametrize(("folder", "packets", "rtt_s"), [(TROUBLED, 32, 0.1), (INTERTWINING, 42, 0.05)])
def test_every_gateway_has_half_of_the_buffer_and_a_stable_beta(
    folder: Path, packets: int, rtt_s: float, tmp_path: Path
) -> None:
    half = packets * 1500 / 2
    found = list(controllers(folder, tmp_path))
    assert len({label for label, _ in found}) == len(found) >= 30
    for label, link in found:
        controller = link["controller"]
        target = re.fullmatch(r"([0-9.]+) (B|kB)", controller["target"])
        assert target, label
        assert float(target[1]) * {"B": 1, "kB": 1000}[target[2]] == half, label
        # g-router, the fluid model: beta < 1.707 T / R_0, with R_0 the round trip at 10 Mb/s and T in the queue.
        bound = 1.707 * 8 * half / (rtt_s + 8 * half / 10e6)
        value, unit = controller["beta"].split()
        assert float(value) * {"kb/s": 1e3, "Mb/s": 1e6}[unit] < bound / 2, label


@pytest.mark.parametrize("folder", [TROUBLED, INTERTWINING])
def test_the_lines_are_named_as_the_points_of_the_sweep(folder: Path) -> None:
    study = module_of(folder, "g_router_instead")
    axis = next(axis for axis in planned(folder).sweep["axis"] if axis["name"] == "scheme")
    assert [scheme.label for scheme in study.ALL if scheme.gateway] == [point["value"] for point in axis["point"]]
    lines = [(scheme.colour, scheme.dashed) for scheme in study.ALL]
    assert len(set(lines)) == len(lines)


# ---- Tables and drawings ---------------------------------------------------------------------------------------------


class Recording:
    """A run whose link always has a rate of 4 Mb/s and 16 packets in its queue."""

    def __init__(self) -> None:
        self.summary: dict[str, Any] = {"duration_s": 300.0}
        time = [0.05 * (at + 1) for at in range(6000)]
        named = {"time_s": time, "link": ["N1-N2"] * len(time)}
        level: Callable[[float], list[float]] = lambda value: [value] * len(time)  # noqa: E731
        self._series = {
            "link": {**named, "arrived_bytes": level(25e3), "queue_packets": level(16.0), "rate_bps": level(4e6)},
            "rate": {**named, "rate_bps": level(4e6)},
            "gateway": {**named, "window_bytes": level(30e3), "flows": level(1.0), "round_trip_s": level(0.1)},
            "flow": {"time_s": time, "flow": ["tcp"] * len(time), "cwnd_bytes": level(30e3)},
        }

    def series(self, name: str) -> pa.Table:
        return pa.table(self._series[name])


def evidence_of(folder: Path, *, gateways: bool) -> Evidence:
    """Goodput of 8 (seed 1) and 4 Mb/s (seed 2) without control, half of it with practRA, a quarter with gateways."""
    share = {"tcponly": 1.0, "practra": 0.5, "gateway": 0.25}
    rows = []
    for point in Sweep.from_file(planned(folder).write(folder.parent / "planned")).points():
        kind = _kind(point.experiment)
        if kind == "gateway" and not gateways:
            continue
        for seed in SEEDS:
            row: dict[str, Any] = {"experiment": point.experiment, "seed": seed, **point.values}
            row |= {"goodput_bps": 8e6 / seed * share[kind], "mean_rate_bps": 4e6, "rate_changes": 3.0}
            row |= {"completion_s": 0.2 / share[kind], "p99_s": 0.4 / share[kind]}
            row |= {"loss": 0.01 / share[kind], "saving_fs": 0.0 if kind == "tcponly" else 0.6}
            rows.append(row)
    names = sorted({name for row in rows for name in row})
    table = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows])
    recorded = {run.name: Recording() for run in load(folder).study("g-router-instead").series}
    return Evidence(load(folder), Grid(table, ["rtt", "mrci", "scheme", "load"]), recorded)


def _kind(experiment: str) -> str:
    return "tcponly" if "tcponly" in experiment else "gateway" if "gateway" in experiment else "practra"


@pytest.fixture
def copy(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of a paper's folder."""
    return copy_of_paper(request.param, tmp_path)


@pytest.mark.parametrize("copy", [TROUBLED], indirect=True)
def test_a_row_compares_a_gateway_with_no_control_and_with_practra(copy: Path) -> None:
    study = module_of(copy, "g_router_instead")
    found = evidence_of(copy, gateways=True)
    tables = list(study.tables(found))
    assert [len(table.rows) for table in tables] == [4 * 8] * 3
    row = next(row for row in tables[1].rows if row[0] == "10 ms, G-Router")
    # A quarter of TCPonly's goodput with either seed: 75 % lost. Less practRA's half: 2 - 4 = -2 and 1 - 2 = -1
    # Mb/s, -1.5 on average, and +- t(0.975, 1) 0.5 = 12.706 x 0.5. Loss: 4 % less 1 %.
    assert row[1:] == ["4.00 ± 0.00", "60.0 ± 0.0", "75.0 ± 0.0", "-1.50 ± 6.35", "3.00 ± 0.00", "3 ± 0"]


@pytest.mark.parametrize("copy", [INTERTWINING], indirect=True)
def test_a_row_has_completion_times_over_those_without_control(copy: Path) -> None:
    study = module_of(copy, "g_router_instead")
    found = evidence_of(copy, gateways=True)
    tables = list(study.tables(found))
    # Six loads; practRA, AWM and four G-Routers.
    assert [len(table.rows) for table in tables] == [6 * 6] * 2
    row = next(row for row in tables[0].rows if row[0] == "0.8, G-Router")
    # Downloads take 0.8 s instead of 0.2 s.
    assert row[2:6] == ["60.0 ± 0.0", "4.00 ± 0.00", "4.00 ± 0.00", "75.0 ± 0.0"]
    scheme = next(scheme for scheme in study.ALL if scheme.label == "G-Router")
    # 60 % saved, and 300 % longer; 60 % saved, and 75 % lost.
    assert study.es_qosd_time(found, study.PACKETS, scheme, 0.8) == pytest.approx({1: -240, 2: -240})
    assert study.es_qosd_goodput(found, study.PACKETS, scheme, 0.8) == pytest.approx({1: -15, 2: -15})


def test_a_curve_that_leaves_its_panel_comes_back_as_a_piece_of_its_own() -> None:
    study = module_of(INTERTWINING, "g_router_instead")
    values = [mean_interval([value]) for value in (50.0, -400.0, -501.0, -9000.0, -375.0, -600.0)]
    pieces = study._drawn(Curve("G-Router", [1, 2, 3, 4, 5, 6], values))
    assert [piece.x for piece in pieces] == [[1, 2], [5]]
    assert [[value.mean for value in piece.y] for piece in pieces] == [[50, -400], [-375]]


@pytest.mark.parametrize(
    ("copy", "names"),
    [
        (TROUBLED, ["single", "background", "both", "mrci", "time", "why"]),
        (INTERTWINING, ["gateway", "bytes-gateway", "why"]),
    ],
    indirect=["copy"],
)
def test_gateways_are_drawn_where_they_ran(copy: Path, names: list[str]) -> None:
    study = module_of(copy, "g_router_instead")
    drawn = list(study.figures(evidence_of(copy, gateways=True)))
    assert [figure.id for figure in drawn] == names
    assert {figure.section for figure in drawn} == {"figures"}
    for figure in drawn:
        assert all(axes.get_lines() for axes in figure.figure.axes), figure.id
    without = evidence_of(copy, gateways=False)
    assert not list(study.figures(without))
    assert not list(study.tables(without))


@pytest.mark.parametrize("copy", [TROUBLED], indirect=True)
def test_simulated_runs_have_all_that_is_drawn(copy: Path, tmp_path: Path) -> None:
    scenario = (copy / "scenario.toml").read_text(encoding="utf-8")
    (copy / "scenario.toml").write_text(scenario.replace('"300 s"', '"12 s"'), encoding="utf-8")
    paper = load(copy)
    planned_study = paper.study("g-router-instead")
    evidence = measure(paper, plan_study(paper, planned_study, planned_study.quick, seeds=2), tmp_path / "out")
    study = module_of(copy, "g_router_instead")
    assert len(list(study.figures(evidence))) == 6
    rows = [row for table in study.tables(evidence) for row in table.rows]
    # If only windows are controlled, no rate changes.
    assert next(row for row in rows if row[0] == "10 ms, AWM alone")[6] == "0"
    assert not any("nan" in cell or cell == "none" for row in rows for cell in row)
