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
ROUTER, NODE = "access-internet", "internet-servers"

long = module_of(FOLDER, "long")
series = module_of(FOLDER, "series")

FROZEN_S = 20 * 65_535 * 8 / 10e6
"""RTT_0, which the printed estimators never change."""


PHASES = ("low", "rise", "middle", "jump", "high", "fall", "late", "squeezed", "after")
DEMAND = dict(zip(PHASES, (10e6, 15e6, 15e6, 25e6, 25e6, 24e6, 21e6, 24e6, 21e6), strict=True))
WAYS = ("printed", "working")
SENDERS = ("NewReno (ns-2)", "NewReno (RFC 6582)", "SACK", "CUBIC", "Vegas", "BBR")
SLUGS = ("ns2", "newreno", "sack", "cubic", "vegas", "bbr")


class Recording:
    """A recorded run in bins of a second: the router's queue alternates about its target."""

    def __init__(
        self, swing: float = 3.0, node: float = 10.0, every_s: float = 1.0, error: float = 0.05, cwnd: float = 30e3
    ) -> None:
        time = np.arange(1.0, 751.0)
        self.summary: dict[str, Any] = {}
        queue = 50 + swing * (-1.0) ** np.arange(len(time))
        links = [(ROUTER, queue), (NODE, np.full(len(time), node))]
        flows = [("ftp-1", cwnd), ("web-1", 1e3)]
        drops = np.arange(300.2, 600.0, every_s)
        self._series = {
            "link": pa.table(
                {
                    "time_s": np.concatenate([time] * len(links)),
                    "link": [name for name, _ in links for _ in time],
                    "queue_packets": np.concatenate([packets for _, packets in links]),
                }
            ),
            "gateway": pa.table(
                {
                    "time_s": time,
                    "link": [ROUTER] * len(time),
                    "window_bytes": np.full(len(time), 20e3),
                    "flows": np.full(len(time), 60.0 * (1 + error)),
                    "active_flows": np.full(len(time), 60.0),
                    "round_trip_s": np.full(len(time), 0.4 * (1 + error)),
                    "true_round_trip_s": np.where(time % 2 == 0, 0.4, np.nan),
                }
            ),
            "drop": pa.table({"time_s": drops, "link": [NODE] * len(drops)}),
            "flow": pa.table(
                {
                    "time_s": np.concatenate([time] * len(flows)),
                    "flow": [name for name, _ in flows for _ in time],
                    "cwnd_bytes": np.concatenate([np.full(len(time), bytes_) for _, bytes_ in flows]),
                }
            ),
        }

    def series(self, name: str) -> pa.Table:
        return self._series[name]


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
        found |= {"squeezed_rate_bps": 15.2e6, "whole_goodput_bps": 18.5e6, "bottleneck_drop_fraction": 0.0}
        found |= {"drops": 0.0, "node_drops": 300.0, "node_adapting_drops": 290.0, "node_adapted_drops": 10.0}
    return found


def as_the_paper_says() -> dict[str, dict[str, float]]:
    """Every experiment's metrics."""
    none = over() | {"node_drops": 10_000.0, "node_queue_packets": 95.0, "node_after_queue_packets": 0.0}
    none |= {"whole_goodput_bps": 18e6, "node_adapting_drops": 300.0, "node_adapted_drops": 9700.0}
    steered = {f"case{study}-{way}": controlled(study) for study in (1, 2) for way in WAYS}
    return {"case1-over": over(), "case2-none": none, **steered}


def recordings(**changed: Recording) -> dict[str, Recording]:
    """The recorded runs of the paper's own sweep; hyphens of changed runs are underscores."""
    found = {f"case{study}-{way}": Recording() for study in (1, 2) for way in WAYS} | {"case2-none": Recording()}
    return found | {name.replace("_", "-"): run for name, run in changed.items()}


def _columns(metrics: Mapping[str, Mapping[str, float]]) -> list[str]:
    return sorted({name for values in metrics.values() for name in values})


def evidence_of(metrics: Mapping[str, Mapping[str, float]], runs: Mapping[str, Recording], axis: str = "") -> Evidence:
    """Runs of four seeds, with noise of one in a thousand that a seed's runs share.

    With an axis, a name is an experiment and a label, such as `case1-over:SACK`.
    """
    noise = np.random.default_rng(7)
    columns = _columns(metrics)
    rows: list[dict[str, Any]] = []
    for seed in SEEDS:
        wobble = 1 + 1e-3 * noise.standard_normal()
        for name, values in metrics.items():
            experiment, _, label = name.partition(":")
            row: dict[str, Any] = {"experiment": experiment, "seed": seed} | ({axis: label} if axis else {})
            rows.append(row | {column: values.get(column, 0.0) * wobble for column in columns})
    return Evidence(load(FOLDER), Grid(pa.Table.from_pylist(rows), [axis] if axis else []), runs)


def verdicts(metrics: Mapping[str, Mapping[str, float]], **changed: Recording) -> dict[str, Verdict]:
    """The verdicts of the claims that the paper's own sweep decides."""
    return {claim.id: claim.verdict for claim in judged(evidence_of(metrics, recordings(**changed)))}


def test_what_the_paper_describes_holds() -> None:
    found = verdicts(as_the_paper_says())
    assert set(found) == {f"G{number}" for number in range(1, 15)} - {"G9", "G11"}
    assert set(found.values()) == {Verdict.HOLDS}


# Changes in every controlled run of both case studies (G7: without control), and the only claim that fails.
BROKEN: dict[str, tuple[dict[str, float], str]] = {
    "G1": ({"utilisation": 0.97}, "case"),
    "G2": ({"goodput_bps": 0.97 * 20e6}, "case"),
    "G5": ({"squeezed_rate_bps": 10e6, "high_rate_bps": 28e6}, "case2"),
    "G6": ({"node_drops": 4000.0, "node_adapted_drops": 3000.0}, "case2"),
    "G8": ({"whole_goodput_bps": 17.5e6}, "case2"),
    "G12": ({"squeezed_queue_packets": 30.0, "bottleneck_drop_fraction": 1e-3}, "case2"),
    "G14": ({"after_rate_bps": 10e6}, "case2"),
}


def _broken(change: Mapping[str, float], studies: str) -> dict[str, dict[str, float]]:
    metrics = as_the_paper_says()
    for experiment in metrics:
        if experiment.startswith(studies) and experiment.endswith(WAYS):
            metrics[experiment] |= change
    return metrics


@pytest.mark.parametrize("claim", BROKEN)
def test_a_claim_notices_what_it_is_about(claim: str) -> None:
    found = verdicts(_broken(*BROKEN[claim]))
    assert found.pop(claim) is not Verdict.HOLDS
    assert set(found.values()) == {Verdict.HOLDS}


def test_a_link_fuller_than_the_papers_is_another_number() -> None:
    found = verdicts(_broken({"utilisation": 1.0, "goodput_bps": 1.01 * 20e6}, "case1"))
    assert (found["G1"], found["G2"]) == (Verdict.PARTLY, Verdict.PARTLY)


def test_drops_of_the_gateway_count_as_lost() -> None:
    found = verdicts(_broken({"drops": 2000.0}, "case2"))
    assert (found["G6"], found["G8"]) == (Verdict.PARTLY, Verdict.HOLDS)
    assert verdicts(_broken({"drops": 11_000.0}, "case2"))["G8"] is Verdict.PARTLY


def test_a_part_whose_interval_includes_its_bound_is_undecided() -> None:
    # Half a point below 98.97 %, with noise of a tenth of a point over the seeds.
    assert verdicts(_broken({"utilisation": 0.9847}, "case1"))["G1"] is Verdict.UNDECIDED


def test_estimates_that_are_off_are_noticed() -> None:
    assert verdicts(as_the_paper_says(), case1_printed=Recording(error=0.5))["G10"] is Verdict.FAILS


def test_losses_that_pause_or_begin_late_are_noticed() -> None:
    # One drop every 25 s leaves two of five intervals of 10 s with one; every 10 s one in each.
    assert verdicts(as_the_paper_says(), case2_none=Recording(every_s=25.0))["G13"] is Verdict.PARTLY
    assert verdicts(as_the_paper_says(), case2_none=Recording(every_s=10.0))["G13"] is Verdict.HOLDS


def test_a_node_that_stays_full_is_noticed() -> None:
    full = {f"case2_{way}": Recording(node=95.0) for way in WAYS}
    assert verdicts(as_the_paper_says(), **full)["G6"] is Verdict.PARTLY


def test_every_reason_on_record_belongs_to_a_part() -> None:
    paper = load(FOLDER)
    found = [
        *judged(evidence_of(as_the_paper_says(), recordings())),
        *judged(earth_evidence(), "earth"),
        *judged(senders_evidence(), "senders"),
    ]
    assert len(found) == len(paper.claims)
    for outcome in found:
        unknown = set(outcome.claim.why) - {part.id for part in outcome.parts}
        assert not unknown, f"{outcome.claim.id}: why.{unknown} names no part"


def test_a_rate_that_lags_behind_the_demand_is_noticed() -> None:
    metrics = as_the_paper_says()
    for way in WAYS:
        metrics[f"case1-{way}"] |= {"rise_rate_bps": 11e6, "jump_rate_bps": 17e6, "low_rate_bps": 12e6}
    assert verdicts(metrics)["G3"] is Verdict.FAILS


def test_a_queue_that_swings_or_overflows_is_noticed() -> None:
    swings = {f"case1_{way}": Recording(swing=20.0) for way in WAYS}
    assert verdicts(as_the_paper_says(), **swings)["G4"] is Verdict.PARTLY
    metrics = as_the_paper_says()
    for way in WAYS:
        metrics[f"case1-{way}"] |= {"drop_fraction": 1e-3, "high_queue_packets": 80.0}
    assert verdicts(metrics, **swings)["G4"] is Verdict.FAILS
    behind = {f"case2_{way}": Recording(swing=20.0) for way in WAYS}
    assert verdicts(as_the_paper_says(), **behind)["G12"] is Verdict.PARTLY


def test_without_control_the_node_must_be_full_and_empty_again() -> None:
    metrics = as_the_paper_says()
    metrics["case2-none"] |= {"node_queue_packets": 60.0, "node_after_queue_packets": 20.0}
    assert verdicts(metrics)["G7"] is Verdict.FAILS


# ---- Claims of studies -----------------------------------------------------------------------------------------------


def earth_evidence(goodput: float = 0.98, off: float = 0.05) -> Evidence:
    """The study of EARTH: the G-Router as the paper describes it, EARTH with this goodput, this far off."""
    stepped = controlled(1) | {"goodput_bps": goodput * 20e6}
    stepped |= {f"{phase}_rate_bps": (1 + off) * rate for phase, rate in DEMAND.items()}
    names = ("case1-earth", "case1-awm-earth-printed", "case1-awm-earth-working")
    metrics = {"case1-over": over(), **{f"case1-{way}": controlled(1) for way in WAYS}, **dict.fromkeys(names, stepped)}
    return evidence_of(metrics, {})


def test_c_earth_improves_on_an_earth_that_is_less_precise_and_loses_throughput() -> None:
    (claim,) = judged(earth_evidence(), "earth")
    assert (claim.claim.id, claim.verdict) == ("G9", Verdict.HOLDS)
    assert [part.id for part in claim.parts if not part.counted] == ["alone-precise", "alone-kept"]
    (claim,) = judged(earth_evidence(goodput=1.0, off=0.001), "earth")
    assert claim.verdict is Verdict.FAILS


def senders_evidence(vegas: float = 0.992, cwnd: float = 30e3) -> Evidence:
    """The study of senders: all as the paper describes them, Vegas with this goodput, windows with this cwnd."""
    metrics: dict[str, dict[str, float]] = {}
    for sender in SENDERS:
        metrics[f"case1-over:{sender}"] = over()
        share = vegas if sender == "Vegas" else 0.992
        ways = (*WAYS, "counted")
        metrics |= {f"case1-{way}:{sender}": controlled(1) | {"goodput_bps": share * 20e6} for way in ways}
    runs = {f"{way}-{slug}": Recording(cwnd=cwnd) for way in WAYS for slug in SLUGS}
    return evidence_of(metrics, runs, "sender")


def test_every_sender_must_do_as_well_because_of_the_window() -> None:
    (claim,) = judged(senders_evidence(), "senders")
    assert (claim.claim.id, claim.verdict) == ("G11", Verdict.HOLDS)
    (claim,) = judged(senders_evidence(vegas=0.8, cwnd=10e3), "senders")
    assert claim.verdict is Verdict.PARTLY
    failed = {part.id for part in claim.parts if not part.holds}
    assert failed == {f"{way}-{what}" for way in WAYS for what in ("vegas", "cause")}
    assert [part.id for part in claim.parts if not part.counted] == ["counted-sack", "counted-cubic", "counted-bbr"]


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


def test_recorded_seeds_are_pooled_in_bins() -> None:
    # Bins end at whole multiples of the width: the sample at 5 s belongs to the first one.
    time = np.arange(1.0, 11.0)
    middles, values = series.pooled([(time, time), (time, time + 10)], 5.0)
    assert middles.tolist() == [2.5, 7.5]
    assert [value.n for value in values] == [10, 10]
    # 1 to 5 and 11 to 15: the median is 8, a tenth lies below 1.9 and a tenth above 14.1.
    assert (values[0].mean, values[0].low, values[0].high) == pytest.approx((8.0, 1.9, 14.1))
