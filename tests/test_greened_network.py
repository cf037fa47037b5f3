"""The paper greened-network-2012: judged claims, its scenario, effects of the switch-off, a small one end to end."""

from __future__ import annotations

import math
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from conftest import SHIPPED
from netlull import Scenario, papers
from netlull.papers import Evidence, Grid, PaperError, Verdict, load
from netlull.papers.measure import judged
from netlull.papers.source import module_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from netlull import Result

FOLDER = SHIPPED / "papers" / "greened-network-2012"
SEEDS = (1, 2, 3)
STATES = (50, 70, 90)
DATA_SHARE = 1000 / 1040
"""Share of data in a segment on the wire."""

claims, printed, series = (module_of(FOLDER, name) for name in ("claims", "printed", "series"))

Cells = dict[str, dict[str | int, float]]


# ---- Claims ----------------------------------------------------------------------------------------------------------


class Recording:
    """A run whose window is a sawtooth of one peak and period until 30 s, of another after, and `low` at 30 s."""

    def __init__(
        self, early: tuple[float, float], late: tuple[float, float], low: float, off: tuple[str, ...] = ()
    ) -> None:
        time = np.arange(1, 6001) / 100
        peak, period = (np.where(time <= 30, *pair) for pair in zip(early, late, strict=True))
        cwnd = peak * (0.5 + 0.5 * (time % period) / period)
        cwnd[(time > 30) & (time <= 30.1)] = low
        self.summary = {"routing": {"sleep": [{"link": link} for link in off]}}
        self._flow = pa.table({"time_s": time, "flow": ["tcp"] * len(time), "cwnd_bytes": 1000 * cwnd})

    def series(self, name: str) -> pa.Table:
        assert name == "flow"
        return self._flow


def recordings() -> dict[str, Any]:
    """As the paper describes them: peaks of 190 segments each 5 s, then 150 each 6 s."""
    found: dict[str, Any] = {}
    for version in claims.VERSIONS:
        low = 1.0 if version in claims.AIMD else 90.0
        name = version.lower().replace("newreno", "new-reno")
        found |= {f"{name}-{seed}": Recording((190, 5), (150, 6), low) for seed in SEEDS}
    return found | {f"plan-{at}": Recording((2, 5), (2, 5), 1, off) for at, off in printed.TABLE_V.items()}


def as_printed() -> Cells:
    """A copy of Table IV."""
    return {version: dict(row) for version, row in printed.TABLE_IV.items()}


def evidence_of(cells: Cells, recorded: dict[str, Any]) -> Evidence:
    """Runs whose mean throughput (Mb/s, with headers) is that of the cells. All runs of a seed have its noise."""
    noise = np.random.default_rng(7)
    rows: list[dict[str, Any]] = []
    for seed in SEEDS:
        wobble = 1 + 1e-4 * noise.standard_normal()
        for version, row in cells.items():
            start = {"version": version, "seed": seed, "before_bps": wobble * row["before"] * 1e6 * DATA_SHARE}
            for state in STATES:
                end = {"threshold": state, "after_bps": wobble * row[state] * 1e6 * DATA_SHARE}
                rows.append({"experiment": "asleep"} | start | end)
    for asked, off in printed.TABLE_V.items():
        # 15 links with 16 cards of 140 W at both ends. Links that are off use no power for 30 s.
        saving = len(off) / 15
        energy = {"cards_saving": saving, "cards_j": 2 * 15 * 16 * 140 * 30 * (1 - saving)}
        rows.append({"experiment": "plan", "asked": asked, "seed": 1} | energy)
    columns = sorted({name for row in rows for name in row})
    table = pa.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows])
    return Evidence(load(FOLDER), Grid(table, ["version", "threshold", "asked"]), recorded)


def verdicts(cells: Cells, recorded: dict[str, Any] | None = None) -> dict[str, Verdict]:
    return {claim.id: claim.verdict for claim in judged(evidence_of(cells, recorded or recordings()))}


def test_what_the_paper_prints_holds() -> None:
    assert set(verdicts(as_printed()).values()) == {Verdict.HOLDS}


# Changed cells (version, state, Mb/s), and the claims that must fail.
BROKEN: dict[str, tuple[list[tuple[str, str | int, float]], set[str]]] = {
    # 2 Mb/s more than 18.11 is 11 % more; the order stays.
    "a cell is off": ([("Tahoe", "before", 20.2)], {"N3"}),
    # 1 - 19.62 / 26.26 = 25.3 %, more than the 24.0 % at 50 %.
    "BIC and CUBIC change places": ([("BIC", 70, 20.19), ("CUBIC", 70, 19.62)], {"N3", "N4", "N7"}),
    # 1 - 5 / 26.72: 81 % lost, still most, no collapse; more than at 70 %.
    "Vegas survives": ([("Vegas", 50, 5.0), ("Vegas", 70, 4.9)], {"N3", "N5", "N7"}),
    # 1 - 18.5 / 26.26 = 29.6 %, against 23.1 +- 5; more than at 50 %, less than BIC's 19.62.
    "CUBIC loses more": ([("CUBIC", 70, 18.5)], {"N3", "N4", "N6", "N7"}),
    "Reno loses more at 90 %": ([("Reno", 90, 15.8)], {"N3", "N7"}),
}


@pytest.mark.parametrize("case", BROKEN)
def test_claims_notice_what_they_are_about(case: str) -> None:
    changes, expected = BROKEN[case]
    cells = as_printed()
    for version, state, value in changes:
        cells[version][state] = value
    assert {claim for claim, verdict in verdicts(cells).items() if verdict is not Verdict.HOLDS} == expected


def test_links_windows_and_peaks_are_noticed() -> None:
    recorded = recordings()
    recorded["plan-80"] = recorded["plan-70"]
    assert verdicts(as_printed(), recorded)["N1"] is Verdict.PARTLY
    recorded = recordings()
    recorded["cubic-2"] = Recording((190, 5), (150, 6), low=1.0)
    assert verdicts(as_printed(), recorded)["N8"] is Verdict.PARTLY
    recorded = recordings()
    recorded |= {f"bic-{seed}": Recording((190, 5), (150, 4), low=90.0) for seed in SEEDS}
    assert verdicts(as_printed(), recorded)["N9"] is Verdict.PARTLY


def test_every_reason_on_record_belongs_to_a_part() -> None:
    for claim, found in zip(load(FOLDER).claims, judged(evidence_of(as_printed(), recordings())), strict=True):
        unknown = set(claim.why) - {part.id for part in found.parts}
        assert not unknown, f"{claim.id}: why.{unknown} names no part"


def test_teeth_are_counted_once() -> None:
    # A peak each 5 s from 5 s (excluded) to 30 s (included): falls at 10, 15, 20, 25 and 30 s.
    found = series.teeth([Recording((190, 5), (150, 6), 1.0)], 5.0, 30.0, 0.1)
    assert len(found.peaks) == 5
    assert math.isclose(found.peak, 190, rel_tol=0.01)
    assert math.isclose(found.period_s, 5, rel_tol=1e-6)


# ---- The scenario ----------------------------------------------------------------------------------------------------


def scenario() -> Scenario:
    return Scenario.from_file(FOLDER / "scenario.toml")


def test_abilene_is_that_of_table_1() -> None:
    document = scenario().to_dict()
    degree = dict.fromkeys(document["nodes"], 0)
    for link in document["link"]:
        for end in (link["from"], link["to"]):
            degree[end] += 1
    assert (len(degree), len(document["link"])) == (12, 15)
    assert (min(degree.values()), sum(degree.values()) / 12, max(degree.values())) == (1, 2.5, 4)


def test_delays_are_distances() -> None:
    document = scenario().to_dict()
    for link in document["link"]:
        places = (document["position"][link[end]] for end in ("from", "to"))
        (lon_a, lat_a), (lon_b, lat_b) = (map(math.radians, place) for place in places)
        # Great circle on a sphere of 6371 km, at 200 km per ms; written in whole microseconds.
        cosine = math.sin(lat_a) * math.sin(lat_b) + math.cos(lat_a) * math.cos(lat_b) * math.cos(lon_a - lon_b)
        expected_us = 6371 * math.acos(cosine) / 200 * 1000
        assert abs(_microseconds(link["delay"]) - expected_us) <= 0.6, link


def _microseconds(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"us": 1.0, "ms": 1e3, "ns": 1e-3}[unit]


def test_every_link_has_a_quarter_of_background_from_its_higher_end() -> None:
    document = scenario().to_dict()
    flows = {(flow["to"], flow["from"]): flow for flow in document["flow"] if flow["kind"] == "cbr"}
    assert set(flows) == {(link["from"], link["to"]) for link in document["link"]}
    assert all(int(low) < int(high) for low, high in flows)
    rates = [_rate(flow["rate"]) for flow in flows.values()]
    assert all(abs(rate / 10e6 - 1) <= 1e-4 for rate in rates)
    assert len(set(rates)) == len(rates)


def _rate(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6}[unit]


# ---- Effects of the switch-off ---------------------------------------------------------------------------------------

EARLY: dict[str, Any] = {
    "sleep.0.at": "8 s",
    "duration": "14 s",
    "phase": [{"name": "before", "to": "8 s"}, {"name": "after", "from": "8 s"}],
}
"""The links sleep at 8 s of 14."""
VEGAS = {"tcp": {"preset": "ns2", "congestion_control": "vegas"}}


def quiet(changes: dict[str, Any]) -> Result:
    """A short run without background."""
    without = {f"flow.{flow['name']}": None for flow in scenario().to_dict()["flow"] if flow["kind"] == "cbr"}
    return scenario().with_values(EARLY | without | {"flow.tcp.size": "1 MB"} | changes).run(1)


def off(result: Result) -> tuple[str, ...]:
    return tuple(entry["link"] for entry in result.summary["routing"]["sleep"])


@pytest.mark.parametrize(("threshold", "links"), printed.TABLE_V.items())
def test_table_v_link_by_link(threshold: int, links: tuple[str, ...]) -> None:
    found = off(quiet({"sleep.0.plan.threshold": threshold / 100}))
    # lambda_2 without 2-8 is 0.8405 of the initial one: above 0.8, so the rule takes it at 80 %; the paper does not.
    assert found == ((*links, "2-8") if threshold == 80 else links)


def test_the_papers_links_at_80_are_those_of_90() -> None:
    given = scenario().with_values(EARLY | {"sleep": [{"at": "8 s", "links": list(printed.TABLE_V[80])}]})
    planned = scenario().with_values(EARLY | {"sleep.0.plan.threshold": 0.9})
    ours, rule = (run.run(1).metric("phase.after.flow.tcp.goodput_bps") for run in (given, planned))
    assert ours == rule


def test_tcp_takes_the_paths_that_fig_1_says() -> None:
    result = quiet({"flow.tcp.size": "1 GB"})
    links = result.summary["phase"]

    def carries(phase: str, link: str) -> bool:
        return bool(links[phase]["link"][link]["throughput_bps"] > 1e6)

    before, after = ("8-2", "2-5", "5-6", "6-3", "3-10"), ("8-11", "11-1", "1-4", "4-6", "6-3", "3-10")
    assert all(carries("before", link) for link in before)
    assert not any(carries("before", link) for link in set(after) - set(before))
    assert all(carries("after", link) for link in after)
    assert not any(carries("after", link) for link in set(before) - set(after))


def test_only_ns2s_vegas_collapses() -> None:
    probe = {"events": True, "flows": ["tcp"], "links": []}
    slept = scenario().with_values(EARLY | VEGAS).run(1, probe=probe)
    # Three segments of 8000 bit for each round trip of 58 ms: 0.41 Mb/s; somewhat more during the decrease.
    assert slept.metric("phase.after.flow.tcp.goodput_bps") < 1e6 < slept.metric("phase.before.flow.tcp.goodput_bps")
    assert "timeout" in slept.series("event")["event"].to_pylist()
    linux = {"preset": "ns2", "congestion_control": "vegas", "vegas_flavour": "linux", "loss_recovery": "sack"}
    other = scenario().with_values(EARLY | {"tcp": linux | {"sack_detection": "forward"}}).run(1)
    assert other.metric("phase.after.flow.tcp.goodput_bps") > 5e6


# At 50 % in both: either a jump of the acknowledgements became baseRTT for good, or baseRTT is still that of the
# old path, and correct again when the links wake.
@pytest.mark.parametrize(("seed", "recovers"), [(1, False), (3, True)])
def test_a_collapsed_vegas_recovers_if_its_base_rtt_is_that_of_the_old_path(seed: int, recovers: bool) -> None:
    phases = [{"name": "asleep", "from": "35 s", "to": "40 s"}, {"name": "woken", "from": "55 s"}]
    values = {"sleep.0.plan.threshold": 0.5, "sleep.0.wake": "40 s", "phase": phases}
    run = scenario().with_values(VEGAS | values).run(seed)
    asleep, woken = (run.metric(f"phase.{name}.flow.tcp.goodput_bps") for name in ("asleep", "woken"))
    # Three segments of 8000 bit for each round trip of 58 ms; then of 47 ms, or the rest of 40 Mb/s.
    assert asleep == pytest.approx(3 * 8000 / 58e-3, rel=0.03)
    assert woken == pytest.approx(30e6 * DATA_SHARE if recovers else 3 * 8000 / 47.3e-3, rel=0.03)


def test_a_timeout_alone_is_no_collapse() -> None:
    for seed, collapses in ((1, True), (4, False)):
        run = scenario().with_values(VEGAS | {"sleep.0.plan.threshold": 0.9}).run(seed)
        assert run.metric("flow.tcp.timeouts") == 1
        assert (run.metric("phase.later.flow.tcp.goodput_bps") < 1e6) is collapses


@pytest.mark.parametrize("alpha", [8, 18])
def test_a_collapsed_vegas_holds_alpha_segments(alpha: int) -> None:
    options = {**VEGAS["tcp"], "vegas": {"alpha": alpha, "beta": alpha + 2, "gamma": 1}}
    run = scenario().with_values(EARLY | {"tcp": options}).run(1, probe={"window": True, "flows": ["tcp"]})
    window = run.series("window")["cwnd_bytes"].to_pylist()[-1] / 1000
    # Diff = W (1 - baseRTT / RTT) rounds to alpha: W is alpha if baseRTT is negligible. With the old path's 47.3 ms of
    # 57.9 it would be about alpha / 0.183, 44 and 98.
    assert alpha - 0.5 <= window < alpha + 1


# ---- The folder ------------------------------------------------------------------------------------------------------


def a_tenth(tmp_path: Path) -> Path:
    """The paper with links of 4 Mb/s and background of 1000 B: equal results in a fiftieth of the time."""
    folder = tmp_path / "papers" / FOLDER.name
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / "scenario.toml").read_text(encoding="utf-8")
    for pattern, small in ((r'"40 Mb/s"', '"4 Mb/s"'), (r'"\d+ b/s"', '"1 Mb/s"'), (r'"210 B"', '"1000 B"')):
        text, found = re.subn(pattern, small, text)
        assert found == 15 if pattern != r'"\d+ b/s"' else found >= 14
    (folder / "scenario.toml").write_text(text, encoding="utf-8")
    # Its studies run by themselves (test_greened_studies.py).
    return folder


def test_a_small_network_is_reproduced_with_every_figure(tmp_path: Path) -> None:
    (found,) = papers.reproduce([str(a_tenth(tmp_path))], out=tmp_path / "out", seeds=2)
    assert [claim.id for claim in found.claims] == [f"N{number}" for number in range(1, 10)]
    drawn = {path.stem for path in found.figures}
    assert drawn == {"fig1", "fig1-after", "fig2", "fig3", "fig4", "table4", "vegas", "energy"}
    plans, energy = found.claims[:2]
    # All parts but that of 80 %.
    assert [part.id for claim in (plans, energy) for part in claim.parts if not part.holds] == ["at80", "at80"]
    report = found.report.read_text(encoding="utf-8")
    assert "Why Vegas collapses" in report
    assert "9-10, 3-9, 2-8, 1-5" in report


def _edited(tmp_path: Path, edit: Callable[[str], str]) -> Path:
    folder = a_tenth(tmp_path)
    path = folder / "paper.toml"
    path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def test_a_recorded_run_has_a_seed_and_a_probe_of_its_own(tmp_path: Path) -> None:
    runs = {run.name: run for run in load(FOLDER).series}
    assert (runs["vegas-1"].seed, runs["vegas-3"].seed, runs["plan-50"].seed) == (1, 3, 1)
    assert runs["vegas-1"].probe["segments"] is True
    assert "segments" not in runs["vegas-3"].probe
    wrong = _edited(tmp_path, lambda text: text.replace("seed = 3", 'seed = "three"', 1))
    with pytest.raises(PaperError, match=r"paper.toml: series.run.*seed.*three.*whole number"):
        load(wrong)
