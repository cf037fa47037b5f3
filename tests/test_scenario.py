"""Scenarios from files, text, mappings and builders; changed values; keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import SMALL
from netlull import (
    Bernoulli,
    Bursts,
    FieldPathError,
    InputError,
    Link,
    Poisson,
    Power,
    Practra,
    Probe,
    RateSteps,
    Scenario,
    ScenarioError,
    Tcp,
    TcpOptions,
    UniformRedraw,
)

RATES = RateSteps("1 Mb/s", "10 Mb/s", "1 Mb/s")


def test_every_way_in_leads_to_the_same_scenario(small: Scenario, small_file: Path) -> None:
    built = Scenario(
        name="small",
        duration="2 s",
        nodes=["a", "b", "c"],
        links=[
            Link("a", "b", "10 Mb/s", "5 ms", "20 packets", controller=Practra(RATES, "2 ms", "16 ms", "10 ms")),
            Link("b", "a", "10 Mb/s", "5 ms"),
            Link("b", "c", "10 Mb/s", "5 ms", duplex=True),
        ],
        flows=[Tcp("tcp", "a", "c"), Bursts("noise", "a", "c", "8 Mb/s", cycle="200 ms", mean_on="40 ms")],
    )
    for scenario in (Scenario.from_file(small_file), Scenario.from_dict(small.to_dict()), built):
        assert scenario == small
        assert hash(scenario) == hash(small)
        assert scenario.key == small.key
        assert scenario.run().summary == small.run().summary


def test_every_element_is_understood() -> None:
    scenario = Scenario(
        duration="1 s",
        warm_up="100 ms",
        mtu="1000 B",
        seed=3,
        verify="replay",
        nodes=["a", "b"],
        links=[
            Link("a", "b", "10 Mb/s", "1 ms", capacity=UniformRedraw("1 Mb/s", "10 Mb/s", "100 ms"), name="west"),
            Link("b", "a", "10 Mb/s", "1 ms", "64 kB", loss=Bernoulli(0.01), name="east"),
        ],
        flows=[
            Tcp("tcp", "a", "b", "100 kB", count=2, spacing="10 ms", tcp=TcpOptions(delayed_ack=False)),
            Poisson("web", "b", "a", "1 Mb/s", packet="500 B", stop="900 ms"),
        ],
        tcp=TcpOptions(preset="ns2", initial_window=2),
        power=[Power("fs", static_fraction=0.25), Power("dvs", phi=2, name="scaled")],
        probe=Probe("50 ms", links=["west"]),
    )
    summary = scenario.run().summary
    assert [link["name"] for link in summary["links"]] == ["west", "east"]
    assert [flow["name"] for flow in summary["flows"]] == ["tcp-1", "tcp-2", "web"]
    assert (summary["seed"], summary["verify"], summary["measured_s"]) == (3, "replay", pytest.approx(0.9))
    assert "scaled" in summary["links"][0]["energy"]


def test_canonical_fills_in_every_default(small: Scenario) -> None:
    complete = json.loads(small.canonical())
    assert complete["seed"] == 1
    assert complete["mtu"] == "1.5 kB"
    assert Scenario.from_dict(complete) == small


def test_values_change_and_go(small: Scenario) -> None:
    changed = small.with_values(
        {
            "duration": "500 ms",
            "tcp.delayed_ack": False,
            "link.a-b.rate": "8 Mb/s",
            "link.a-b.controller": None,
            "flow.tcp.size": "10 kB",
        }
    )
    document = changed.to_dict()
    assert document["duration"] == "500 ms"
    assert document["tcp"] == {"delayed_ack": False}
    assert "controller" not in document["link"][0]
    assert small.to_dict()["link"][0]["rate"] == "10 Mb/s"
    assert changed.run().link("a-b")["rate_changes"] == 0


def test_values_on_unknown_entries_list_the_known(small: Scenario) -> None:
    with pytest.raises(FieldPathError, match='"a-z" is not an entry of link; expected one of a-b, b-a, b-c'):
        small.with_values({"link.a-z.rate": "1 Mb/s"})


def test_a_documents_copy_is_the_callers(small: Scenario) -> None:
    small.to_dict()["link"].clear()
    assert len(small.to_dict()["link"]) == 3


def test_the_key_is_of_the_content(small: Scenario) -> None:
    assert small.with_values({"seed": 9}).key == small.key
    assert small.with_values({"description": "other words"}).key == small.key
    assert small.with_values({"mtu": "1500 B"}).key == small.key  # the default, written out
    assert small.with_values({"mtu": "1400 B"}).key != small.key
    assert small.with_values({"link.b-a.delay": "6 ms"}).key != small.key


def test_values_can_mend_a_file_before_it_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text(SMALL.replace('duration = "2 s"', 'duration = "2 furlongs"'))
    with pytest.raises(ScenarioError, match="furlongs"):
        Scenario.from_file(path)
    assert Scenario.from_file(path, values={"duration": "1 s"}).duration == "1 s"


def test_a_description_of_a_scenario_is_short(small: Scenario) -> None:
    assert repr(small) == "Scenario('small', 2 s, 3 links, 2 flows)"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no such file"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"duration = ", "is not TOML"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "x.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=says) as caught:
        Scenario.from_file(path)
    assert str(caught.value).startswith(str(path))


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        Scenario.from_file(tmp_path)


def test_dates_in_a_scenario_are_named() -> None:
    with pytest.raises(InputError, match=r"^<text>, line 1, column 12: duration: "):
        Scenario.from_toml("duration = 10:00:00\nnodes = []")


@pytest.mark.parametrize("seed", [-1, 2**63, 2**70, True, 1.5])
def test_seeds_out_of_range_are_refused(small: Scenario, seed: int) -> None:
    with pytest.raises(ScenarioError, match=r"seed: .* is out of range; expected a whole number from 0 to"):
        small.run(seed)


def test_a_missing_value_is_not_written_as_toml(small: Scenario) -> None:
    document = small.to_dict()
    document["link"] = [{**link, "loss": None} for link in document["link"]]
    scenario = Scenario.from_dict(document)
    assert Scenario.from_toml(scenario.to_toml()).canonical() == scenario.canonical()
