"""The paper g-router: its judged claims, the closed form of the window's decay, one run of its scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from conftest import SHIPPED
from netlull import Scenario
from netlull.papers import Evidence, Grid, Verdict, load
from netlull.papers.measure import judged
from netlull.papers.source import module_of

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = SHIPPED / "papers" / "g-router"
SEEDS = (1, 2, 3, 4)
DEMAND = {"low": 10e6, "rise": 15e6, "middle": 15e6, "jump": 25e6, "high": 25e6, "squeezed": 24e6, "after": 21e6}

long = module_of(FOLDER, "long")

FROZEN_S = 20 * 65_535 * 8 / 10e6
"""RTT_0, which the printed estimators never change."""


class Steady:
    """A recorded run whose queue alternates about its target; bins of a second."""

    def __init__(self, swing: float) -> None:
        time = np.arange(1.0, 751.0)
        names = pa.array(["access-internet"] * len(time))
        queue = 50 + swing * (-1.0) ** np.arange(len(time))
        self.summary: dict[str, Any] = {}
        self._link = pa.table({"time_s": time, "link": names, "queue_packets": queue})

    def series(self, name: str) -> pa.Table:
        assert name == "link"
        return self._link


def over() -> dict[str, float]:
    """The over-provisioned run: 100 Mb/s all the time; the demand is the carried traffic."""
    found = {"goodput_bps": 20e6, "throughput_bps": 21e6, "utilisation": 0.21}
    found |= {f"{phase}_throughput_bps": rate for phase, rate in DEMAND.items()}
    return found


def controlled(study_number: int) -> dict[str, float]:
    """A run as the paper describes it: 99.2 % of the goodput, the rate on demand or bottleneck, the queue at its
    target.
    """
    found = {"goodput_bps": 0.992 * 20e6, "throughput_bps": 0.992 * 21e6, "utilisation": 0.99, "drop_fraction": 0.0}
    found |= {f"{phase}_rate_bps": 1.01 * rate for phase, rate in DEMAND.items()}
    found |= {f"{phase}_queue_packets": 49.0 for phase in DEMAND}
    if study_number == 2:
        found |= {"squeezed_rate_bps": 15.2e6, "node_drops": 300.0, "node_queue_packets": 10.0}
    return found


def as_the_paper_says() -> dict[str, dict[str, float]]:
    """Every experiment's metrics."""
    none = over() | {"node_drops": 10_000.0, "node_queue_packets": 95.0, "node_after_queue_packets": 0.0}
    steered = {f"case{study}-{way}": controlled(study) for study in (1, 2) for way in ("printed", "working")}
    return {"case1-over": over(), "case2-none": none, **steered}


def _columns(metrics: Mapping[str, Mapping[str, float]]) -> list[str]:
    return sorted({name for values in metrics.values() for name in values})


def verdicts(metrics: Mapping[str, Mapping[str, float]], swing: float = 3.0) -> dict[str, Verdict]:
    """The claims' verdicts, with noise of one in a thousand that a seed's runs share."""
    noise = np.random.default_rng(7)
    columns = _columns(metrics)
    rows: list[dict[str, Any]] = []
    for seed in SEEDS:
        wobble = 1 + 1e-3 * noise.standard_normal()
        for experiment, values in metrics.items():
            row = {"experiment": experiment, "seed": seed}
            rows.append(row | {name: values.get(name, 0.0) * wobble for name in columns})
    runs = dict.fromkeys(("case1-printed", "case1-working"), Steady(swing))
    evidence = Evidence(load(FOLDER), Grid(pa.Table.from_pylist(rows), []), runs)
    return {claim.id: claim.verdict for claim in judged(evidence)}


def test_what_the_paper_describes_holds() -> None:
    assert set(verdicts(as_the_paper_says()).values()) == {Verdict.HOLDS}


# Changes in every controlled run of both case studies (G7: without control), and the only claim that fails.
BROKEN: dict[str, tuple[dict[str, float], str]] = {
    "G1": ({"utilisation": 0.97}, "case"),
    "G2": ({"goodput_bps": 0.97 * 20e6}, "case"),
    "G5": ({"after_rate_bps": 10e6, "squeezed_rate_bps": 10e6, "high_rate_bps": 25e6}, "case2"),
    "G6": ({"node_drops": 4000.0, "node_queue_packets": 90.0}, "case2"),
}


@pytest.mark.parametrize("claim", BROKEN)
def test_a_claim_notices_what_it_is_about(claim: str) -> None:
    change, studies = BROKEN[claim]
    metrics = as_the_paper_says()
    for experiment in metrics:
        if experiment.startswith(studies) and experiment.endswith(("printed", "working")):
            metrics[experiment] = metrics[experiment] | change
    found = verdicts(metrics)
    assert found.pop(claim) is not Verdict.HOLDS
    assert set(found.values()) == {Verdict.HOLDS}


def test_every_reason_on_record_belongs_to_a_part() -> None:
    noise = {name: values | {"drop_fraction": 0.5} for name, values in as_the_paper_says().items()}
    runs = dict.fromkeys(("case1-printed", "case1-working"), Steady(20.0))
    rows = [
        {"experiment": name, "seed": seed} | {column: values.get(column, 1.0) for column in _columns(noise)}
        for name, values in noise.items()
        for seed in SEEDS
    ]
    paper = load(FOLDER)
    found = judged(Evidence(paper, Grid(pa.Table.from_pylist(rows), []), runs))
    for claim, outcome in zip(paper.claims, found, strict=True):
        unknown = set(claim.why) - {part.id for part in outcome.parts}
        assert not unknown, f"{claim.id}: why.{unknown} names no part"


def test_a_rate_that_lags_behind_the_demand_is_noticed() -> None:
    metrics = as_the_paper_says()
    for way in ("printed", "working"):
        metrics[f"case1-{way}"] |= {"rise_rate_bps": 11e6, "jump_rate_bps": 17e6, "low_rate_bps": 12e6}
    assert verdicts(metrics)["G3"] is Verdict.FAILS


def test_a_queue_that_swings_or_overflows_is_noticed() -> None:
    assert verdicts(as_the_paper_says(), swing=20.0)["G4"] is Verdict.PARTLY
    metrics = as_the_paper_says()
    for way in ("printed", "working"):
        metrics[f"case1-{way}"] |= {"drop_fraction": 1e-3, "high_queue_packets": 80.0}
    assert verdicts(metrics, swing=20.0)["G4"] is Verdict.FAILS


def test_without_control_the_node_must_be_full_and_empty_again() -> None:
    metrics = as_the_paper_says()
    metrics["case2-none"] |= {"node_queue_packets": 60.0, "node_after_queue_packets": 20.0}
    assert verdicts(metrics)["G7"] is Verdict.FAILS


def test_printed_estimators_wear_the_window_down_as_their_closed_form_says() -> None:
    # 25 homes fill 25 Mb/s; RTT_0 = 20 x 65,535 B / 10 Mb/s = 1.0486 s. With N_k = RTT_0 C_k / swnd_k an arrival and
    # the next departure leave 1 - e^2 of swnd, e = 8000 b / (RTT_0 C) = 3.05e-4: at 3125 packets a second
    # swnd falls by 2.91e-4 a second. Slow swings of the queue, q' = A - C, add <q'^2> / (RTT_0 C^2): windows
    # shrink where C is low and grow where it is high. beta restores 1e-3 (T - q) / T a second, a negligible amount.
    document = Scenario.from_file(FOLDER / "scenario.toml").to_dict()
    document["flow"] = [flow for flow in document["flow"] if flow["kind"] == "tcp"]
    for flow in document["flow"]:
        flow.pop("stop", None)
        flow.pop("start", None)
    document |= {"duration": "200 s", "phase": [], "probe": {"interval": "100 ms", "links": ["access-internet"]}}
    run = Scenario.from_dict(document).run(seed=1)
    window = run.series("gateway")["window_bytes"].to_numpy()
    arrived, delivered = (
        run.series("link")[name].to_numpy().astype(float) for name in ("arrived_bytes", "delivered_bytes")
    )
    for first, last in ((800, 1400), (1400, 1990)):
        rate = 80 * delivered[first:last].mean()
        assert rate == pytest.approx(25e6, rel=2e-3)
        swings = 80 * (arrived - delivered)[first:last]
        packets = 8000 / (FROZEN_S**2 * rate)
        assert packets == pytest.approx(2.91e-4, rel=5e-3)
        fall = np.log(window[first] / window[last]) / (0.1 * (last - first))
        assert fall > packets
        assert fall == pytest.approx(packets + np.mean(swings**2) / (FROZEN_S * rate**2), rel=0.25)


def test_the_decay_that_is_drawn_is_that_of_the_packets() -> None:
    # From 10 kB at 100 s, 10 Mb/s: 8000 / (1.0486^2 x 10e6) = 7.276e-4 a second; after 900 s exp(-0.6548) = 0.5195.
    time = np.arange(10.0, 1001.0, 10.0)
    left = long.decay(time, np.full(len(time), 10e6), np.full(len(time), 10_000.0), 100.0)
    assert np.isnan(left[:9]).all()
    assert left[-1] == pytest.approx(5195, rel=0.01)
