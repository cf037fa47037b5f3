"""Metrics of one summary after another: known positions give the same values as names."""

from __future__ import annotations

import math
from typing import Any

import pytest

from netlull import Axis, Scenario, Sweep, SweepError
from netlull.sweep.metrics import Metrics


def summary(**links: float | None) -> dict[str, Any]:
    entries = [{"name": name, "loss": value, "energy": {"fs": {"total_j": 2}}} for name, value in links.items()]
    return {"links": entries, "flows": [], "events": 7, "verify": "ledger"}


def test_an_entry_is_found_by_its_name_wherever_it_stands() -> None:
    metrics = Metrics({"a": "link.a.loss", "b": "link.b.loss", "j": "link.b.energy.fs.total_j", "events": "events"})
    assert metrics.of(summary(a=0.1, b=0.2)) == {"a": 0.1, "b": 0.2, "j": 2.0, "events": 7.0}
    assert metrics.of(summary(c=0.9, b=0.4, a=0.3)) == {"a": 0.3, "b": 0.4, "j": 2.0, "events": 7.0}
    assert metrics.of(summary(b=0.6, a=0.5)) == {"a": 0.5, "b": 0.6, "j": 2.0, "events": 7.0}


def test_null_is_nan_and_what_is_missing_is_named() -> None:
    metrics = Metrics({"a": "link.a.loss"})
    metrics.of(summary(a=0.1))
    assert math.isnan(metrics.of(summary(a=None))["a"])
    assert metrics.of(summary(a=0.5)) == {"a": 0.5}
    with pytest.raises(SweepError, match=r'metrics\.a: link\.a\.loss: "a" is not an entry of link; expected one of b'):
        metrics.of(summary(b=0.1))


def test_a_number_outside_the_lists_is_found_in_each_summary() -> None:
    def phase(value: float | None) -> dict[str, Any]:
        found = {"link": {"a": {"rates": [{"bps": 4}, {"bps": value}]}}}
        return {**summary(a=0.1), "phase": {"late": found}}

    metrics = Metrics({"r": "phase.late.link.a.rates.1.bps", "events": "events"})
    assert metrics.of(phase(7.0)) == {"r": 7.0, "events": 7.0}
    assert math.isnan(metrics.of(phase(None))["r"])
    assert metrics.of(phase(9)) == {"r": 9.0, "events": 7.0}
    with pytest.raises(SweepError, match=r'metrics\.r: phase\.late\.link\.a\.rates\.1\.bps: "phase" is not a field'):
        metrics.of(summary(a=0.1))


def test_points_without_a_gateway_have_none_of_its_numbers() -> None:
    def under(gateway: dict[str, float] | None) -> dict[str, Any]:
        return {"links": [{"name": "a", "gateway": gateway}], "flows": []}

    metrics = Metrics({"n": "link.a.gateway.mean_flows"})
    assert math.isnan(metrics.of(under(None))["n"])
    assert metrics.of(under({"mean_flows": 7.0})) == {"n": 7.0}
    assert math.isnan(metrics.of(under(None))["n"])
    with pytest.raises(SweepError, match=r'"flows" is not a field of link\.a\.gateway; it has mean_flows'):
        Metrics({"n": "link.a.gateway.flows"}).of(under({"mean_flows": 7.0}))


def test_points_without_low_power_idle_have_none_of_its_numbers() -> None:
    asleep: dict[str, Any] = {"links": [{"name": "a", "low_power": {"sleeps": 7.0}}], "flows": []}
    metrics = Metrics({"n": "link.a.low_power.sleeps"})
    assert math.isnan(metrics.of({"links": [{"name": "a"}], "flows": []})["n"])
    assert metrics.of(asleep) == {"n": 7.0}
    with pytest.raises(SweepError, match=r'"naps" is not a field of link\.a\.low_power; it has sleeps'):
        Metrics({"n": "link.a.low_power.naps"}).of(asleep)


def test_a_word_and_a_table_are_no_numbers() -> None:
    with pytest.raises(SweepError, match=r"metrics\.v: verify: is not a number: it is 'ledger'"):
        Metrics({"v": "verify"}).of(summary(a=0.1))
    with pytest.raises(SweepError, match=r"metrics\.l: link\.a: is not a number: it has the fields name, loss, energy"):
        Metrics({"l": "link.a"}).of(summary(a=0.1))


def test_a_misspelt_metric_shows_after_the_shortest_run(small: Scenario) -> None:
    # The other run would take a day of simulated time.
    sweep = Sweep(small, [Axis("length", "duration", ["86400 s", "100 ms"])], 1, {"x": "flow.tcp.goodput"})
    ended: list[int] = []
    with pytest.raises(SweepError, match=r'metrics\.x: flow\.tcp\.goodput: "goodput" is not a field'):
        sweep.run(workers=1, progress=lambda progress: ended.append(progress.done))
    assert set(ended) == {0}
