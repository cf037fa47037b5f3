"""Background traffic of a scenario's topology: gravity and the file's demands, scaled to a load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from netlull import Scenario
from netlull.errors import InputError
from netlull.quantities import in_unit
from netlull.results.result import metric

# A chain a - b - c of 10 and 30 Mb/s.
CHAIN = """
[nodes]
a = []
b = []
c = []

[[link]]
from = "a"
to = "b"
capacity = "10 Mb/s"

[[link]]
from = "b"
to = "c"
capacity = "30 Mb/s"
"""
DEMANDS = """
[[demand]]
from = "a"
to = "c"
rate = "2 Mb/s"

[[demand]]
from = "c"
to = "b"
rate = "1 Mb/s"
"""


def flows(folder: Path, traffic: object, network: str = CHAIN) -> dict[str, Any]:
    (folder / "chain.toml").write_text(network, encoding="utf-8")
    document = {
        "name": "chain",
        "duration": "10 s",
        "nodes": [],
        "topology": {"file": "chain.toml", "default_delay": "1 ms", "buffer": "100 packets", "traffic": traffic},
    }
    scenario = Scenario.from_dict(document, folder=folder)
    return scenario.run(1).summary


def rates(summary: dict[str, Any]) -> dict[str, float]:
    return {flow["name"]: flow["goodput_bps"] / 1e6 for flow in summary["flows"]}


def test_gravity_shares_by_capacity_and_meets_the_load(tmp_path: Path) -> None:
    # Weights: a 10, b 40, c 30. a-b 400, a-c 300, b-c 1200, each both ways; hops 1, 2, 1: 2 x (400 + 600 + 1200).
    # The links carry 0.22 x 2 x 40 = 17.6 Mb/s: a factor of 0.004: 1.6, 1.2, 4.8 Mb/s.
    summary = flows(tmp_path, {"kind": "gravity", "load": 0.22, "process": "cbr"})
    both = {("a", "b"): 1.6, ("a", "c"): 1.2, ("b", "c"): 4.8}
    expected = {f"traffic-{x}-{y}": rate for ends, rate in both.items() for x, y in (ends, ends[::-1])}
    assert rates(summary) == pytest.approx(expected, rel=0.01)
    assert metric(summary, "sum(link.*.throughput_bps)") == pytest.approx(17.6e6, rel=0.01)


def test_demands_as_they_are_and_scaled(tmp_path: Path) -> None:
    given = rates(flows(tmp_path, {"kind": "demands", "process": "cbr"}, CHAIN + DEMANDS))
    assert given == pytest.approx({"traffic-a-c": 2.0, "traffic-c-b": 1.0}, rel=0.01)
    # 2 x 2 + 1 = 5 Mb/s are carried; 0.125 x 80 = 10.
    scaled = rates(flows(tmp_path, {"kind": "demands", "load": 0.125, "process": "cbr"}, CHAIN + DEMANDS))
    assert scaled == pytest.approx({"traffic-a-c": 4.0, "traffic-c-b": 2.0}, rel=0.01)


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ("gravity", r'topology\.traffic: "gravity" is not a table; expected one such as'),
        ({"kind": "star", "load": 0.2}, r'topology\.traffic\.kind: "star" is unknown; expected one of gravity, dem'),
        ({"load": 0.2}, r"topology\.traffic\.kind: is missing"),
        ({"kind": "gravity"}, r"topology\.traffic\.load: is missing; expected the mean load"),
        ({"kind": "gravity", "load": 1.5}, r"topology\.traffic\.load: is 1\.5; expected more than 0 and at most 1"),
        (
            {"kind": "gravity", "load": True},
            r"topology\.traffic\.load: is true; expected a number",
        ),
        ({"kind": "gravity", "load": 1e-12}, r"topology\.traffic\.load: leaves less than 1 b/s to every pair"),
        (
            {"kind": "gravity", "lead": 0.2},
            r"topology\.traffic\.lead: is unknown; did you mean load",
        ),
        (
            {"kind": "gravity", "load": 0.2, "packet": 5},
            r"topology\.traffic\.packet: is 5; expected an amount",
        ),
        ({"kind": "gravity", "load": 0.2, "packet": "-5 B"}, r'topology\.traffic\.packet: "-5 B" is negative'),
        ({"kind": "demands"}, r'topology\.traffic\.kind: chain has no demands; expected "gravity"'),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, traffic: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        flows(tmp_path, traffic)


def test_rates_follow_the_rate_of_the_links(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(CHAIN, encoding="utf-8")
    topology = {"file": "chain.toml", "default_delay": "1 ms", "traffic": {"kind": "gravity", "load": 0.5}}
    scenario = Scenario.from_dict({"name": "c", "duration": "1 s", "nodes": [], "topology": topology}, folder=tmp_path)
    faster = scenario.with_values({"topology.rate_scale": 2.0})
    total = [
        sum(in_unit(flow["rate"], "b/s") or 0 for flow in json.loads(one.canonical())["flow"])
        for one in (scenario, faster)
    ]
    assert total[1] == pytest.approx(2 * total[0])


def test_a_list_of_traffic_follows_the_time_of_day(tmp_path: Path) -> None:
    night = {"kind": "demands", "name": "night", "process": "cbr", "stop": "5 s"}
    day = {"kind": "gravity", "name": "day", "load": 0.2, "start": "5 s"}
    found = flows(tmp_path, [night, day], CHAIN + DEMANDS)
    sent = rates(found)
    assert sent["night-a-c"] == pytest.approx(2 * 5 / 10, rel=0.01)
    # The mean load of .2 of 4 directions with 80 Mb/s in all, for half of the time.
    carried = sum(link["throughput_bps"] for link in found["links"]) / 1e6 - sent["night-a-c"] * 2 - sent["night-c-b"]
    assert carried == pytest.approx(0.2 * 80 / 2, rel=0.05)


def test_demands_have_a_scale_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "chain.toml").write_text(CHAIN + DEMANDS, encoding="utf-8")
    topology = {"file": "chain.toml", "default_delay": "1 ms", "rate_scale": 0.5, "demand_scale": 0.25}
    document = {"duration": "10 s", "topology": {**topology, "traffic": {"kind": "demands"}}}
    made = json.loads(Scenario.from_dict(document, folder=tmp_path).canonical())
    assert [flow["rate"] for flow in made["flow"]] == ["500 kb/s", "250 kb/s"]
    assert [link["rate"] for link in made["link"]] == ["5 Mb/s", "15 Mb/s"]


@pytest.mark.parametrize(
    ("traffic", "says"),
    [
        ([{"kind": "gravity", "load": 0.1}, {"kind": "gravity", "load": 0.1}], r'traffic\.1\.name: "traffic" is given'),
        ([{"kind": "gravity", "load": 2}], r"traffic\.0\.load: is 2; expected more than 0"),
        ({"kind": "gravity", "load": 0.1, "start": 3}, r"traffic\.start: is 3; expected a time"),
        ({"kind": "gravity", "load": 0.1, "start": "3 s", "stop": "2 s"}, r"traffic\.stop: is 2 s; .* the start, 3 s"),
        ({"kind": "gravity", "load": 0.1, "stop": "0 s"}, r"traffic\.stop: is 0 s; .* the start, 0 s"),
        ({"kind": "gravity", "load": 0.1, "name": 3}, r"traffic\.name: is 3; expected text"),
    ],
)
def test_lists_that_cannot_be(tmp_path: Path, traffic: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        flows(tmp_path, traffic)
