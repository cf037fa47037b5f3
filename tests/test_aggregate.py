"""Aggregates over entries of a summary."""

from __future__ import annotations

import math
from typing import Any

import pytest

from netlull import SweepError
from netlull.errors import FieldPathError
from netlull.results.entries import jain
from netlull.results.result import metric
from netlull.sweep.metrics import Metrics


def summary(*goodputs: float | None) -> dict[str, Any]:
    flows = [{"name": f"tcp-{index}", "goodput_bps": value} for index, value in enumerate(goodputs)]
    links = [{"name": name, "utilisation": value} for name, value in (("a-b", 0.25), ("b-a", 0.75))]
    phase = {"after": {"link": {"a-b": {"utilisation": 0.5}, "b-a": {"utilisation": 0.0}}}}
    return {"links": links, "flows": [*flows, {"name": "cbr", "goodput_bps": 99.0}], "phase": phase}


def test_jain_s_index_by_hand() -> None:
    # (1 + 2 + 3)^2 / (3 (1 + 4 + 9)) = 36 / 42.
    assert jain([1, 2, 3]) == pytest.approx(36 / 42)
    assert (jain([5, 5]), jain([7, 0, 0, 0])) == (1, 0.25)
    assert math.isnan(jain([0, 0]))


def test_entries_are_found_by_patterns_in_lists_and_tables() -> None:
    told = summary(1.0, 3.0)
    wanted = {
        "max(link.*.utilisation)": 0.75,
        "min(link.*.utilisation)": 0.25,
        "mean(phase.after.link.*.utilisation)": 0.25,
        "sum(flow.tcp-*.goodput_bps)": 4.0,
        # 16 / (2 x 10).
        "jain(flow.tcp-*.goodput_bps)": 0.8,
    }
    assert {path: metric(told, path) for path in wanted} == wanted


def test_a_sweep_reads_them_from_runs_with_different_entries() -> None:
    metrics = Metrics({"sum": "sum(flow.tcp-*.goodput_bps)"})
    assert [metrics.of(summary(*values))["sum"] for values in ((1.0,), (1.0, 2.0), (4.0, 5.0, 6.0))] == [1, 3, 15]
    assert math.isnan(metrics.of(summary(1.0, None))["sum"])


def test_what_matches_nothing_or_no_number_is_named() -> None:
    with pytest.raises(SweepError, match=r"metrics\.s: sum\(flow\.udp-\*\.goodput_bps\): nothing matches flow\.udp-"):
        Metrics({"s": "sum(flow.udp-*.goodput_bps)"}).of(summary(1.0))
    with pytest.raises(FieldPathError, match=r"max\(link\.\*\.name\): link\.a-b\.name is not a number"):
        metric(summary(1.0), "max(link.*.name)")


def test_routing_that_never_changes_has_no_numbers() -> None:
    metrics = Metrics({"lost": "routing.asleep_packets"})
    told = [metrics.of({**summary(1.0), "routing": value})["lost"] for value in ({"asleep_packets": 3}, None)]
    assert told[0] == 3
    assert math.isnan(told[1])
    with pytest.raises(SweepError, match="routing"):
        Metrics({"lost": "routing.losses"}).of({**summary(1.0), "routing": {"asleep_packets": 3}})
