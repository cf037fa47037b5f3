"""Power as tables: a device's watts by cause, devices of one's own in scenarios, and the words for them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from netlull import Link, Power, Scenario, ScenarioError, catalogue, device_watts
from netlull.results.energy import costed_as, model_words

if TYPE_CHECKING:
    from collections.abc import Callable

PAIR = """
name = "pair"
duration = "10 s"
nodes = ["a", "b"]
[[link]]
from = "a"
to = "b"
duplex = true
rate = "1 Gb/s"
delay = "1 ms"
[[flow]]
kind = "cbr"
name = "load"
from = "a"
to = "b"
rate = "400 Mb/s"
"""
OWN = """
[[power]]
name = "my-switch-port"
idle = "0.2 W"
busy = "0.7 W"
"""


def _array(*values: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Loads of one port at some times: the same in and out."""
    return np.array([[values, values]], dtype=np.float64)


def test_ones_own_port_has_the_joules_of_the_linear_model() -> None:
    # 10 s x (0.2 + 0.5 x 0.4) W = 4 J from a to b and 2 J back: SimGrid's plug-in link_energy, ECOFEN. Packets of the
    # last milliseconds are on their way at the end.
    result = Scenario.from_toml(PAIR + OWN).run()
    assert result.link("a-b")["energy"]["my-switch-port"]["total_j"] == pytest.approx(4, abs=1e-3)
    assert result.link("b-a")["energy"]["my-switch-port"]["total_j"] == pytest.approx(2, abs=1e-12)


@pytest.mark.parametrize(
    "name", [entry["name"] for entry in catalogue()["power"] if "device" in entry and entry["name"]]
)
def test_a_built_in_device_written_as_a_table_gives_the_same_joules(name: str) -> None:
    [entry] = [entry for entry in catalogue()["power"] if entry["name"] == name]
    table = {**entry["device"], "name": "own"}
    scenario = Scenario.from_toml(PAIR).with_values({"power": [{"model": name}, table]})
    energy = scenario.run().link("a-b")["energy"]
    assert energy["own"] == energy[name]
    assert energy["own"]["total_j"] > 0


def test_the_watts_of_a_device_by_cause() -> None:
    # NCS-55A1-24H: 100G at 40 Gb/s and 5 Mpps, then down, then asleep.
    # 21.5 pJ x 40e9 = 0.86 W, 58.3 nJ x 5e6 = 0.2915 W.
    states = np.array([[1, 0, 2]], dtype=np.uint8)
    causes, ports = device_watts(
        {"model": "ncs-55a1-24h"}, [{"speed": "100 Gb/s"}], states, _array(40e9, 0, 0), _array(5e6, 0, 0)
    )
    expected = {
        "base": [319.82] * 3,
        "line_card": [0, 0, 0],
        "port": [0.316, 0, 0],
        "transceiver_in": [0.019] * 3,
        "transceiver_up": [0.194, 0, 0],
        "per_bit": [0.86, 0, 0],
        "per_packet": [0.2915, 0, 0],
        "supply_loss": [0, 0, 0],
    }
    assert list(causes) == list(expected)
    for cause, watts in expected.items():
        assert causes[cause] == pytest.approx(watts, abs=1e-9), cause
    assert ports == pytest.approx(sum(causes.values())[None, :] - 319.82, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "speeds"),
    [
        ("ncs-55a1-24h", {"100 Gb/s": 24}),
        ("8201-32fh", {"100 Gb/s": 32}),
        ("n540x-8z16g", {"10 Gb/s": 8, "1 Gb/s": 16}),
    ],
)
def test_the_page_shows_the_model_next_to_the_wall(name: str, speeds: dict[str, int]) -> None:
    uses = [{"speed": speed} for speed, ports in speeds.items() for _ in range(ports)]
    states = np.ones((len(uses), 1), dtype=np.uint8)
    causes, _ = device_watts({"model": name}, uses, states, np.zeros((len(uses), 2, 1)))
    all_up = sum(float(watts[0]) for watts in causes.values())
    page = (Path(__file__).parents[1] / "docs" / "models" / "power.md").read_text(encoding="utf-8")
    [row] = re.findall(rf"\| `{name}` \| [^|]* \| ([0-9.]+ W \| [0-9.]+ W) \|", page)
    assert row == f"{causes['base'][0]:.2f} W | {all_up:.2f} W"


def test_a_port_is_charged_half_of_its_bits_in_and_half_of_those_out() -> None:
    states = np.array([[1]], dtype=np.uint8)
    table = {"port": [{"speed": "1 Gb/s", "per_bit": "10 nJ"}]}
    bits = np.array([[[3e8], [1e8]]])
    causes, _ = device_watts(table, [{"speed": "1 Gb/s"}], states, bits)
    assert causes["per_bit"] == pytest.approx([2.0])


@pytest.mark.parametrize(
    ("table", "use", "state", "told"),
    [
        ({"model": "fs"}, {"speed": "1 Gb/s"}, 1, 'model is "fs", an ideal model; expected a device'),
        ({"model": "cisco"}, {"speed": "1 Gb/s"}, 1, 'model is "cisco", which is unknown; expected one of fs'),
        ({"bass": "1 W"}, {"speed": "1 Gb/s"}, 1, "bass: is unknown; did you mean base?"),
        ({"base": "1 V"}, {"speed": "1 Gb/s"}, 1, 'base: "1 V" has an unknown unit'),
        ({"base": "1 W"}, {"speed": "1 m/s"}, 1, 'uses.0.speed: "1 m/s" has the unit'),
        (
            {"base": "1 W"},
            {"speed": "1 Gb/s", "transceiver": "gold"},
            1,
            'uses.0.transceiver is "gold"; expected one of',
        ),
        ({"base": "1 W"}, {"speed": "1 Gb/s"}, 7, "states is 7; expected 0 (down), 1 (up) or 2 (asleep)"),
    ],
)
def test_wrong_devices_name_their_fields(table: dict[str, str], use: dict[str, str], state: int, told: str) -> None:
    with pytest.raises(ScenarioError) as error:
        device_watts(table, [use], np.array([[state]], dtype=np.uint8), _array(0))
    assert str(error.value).startswith(told)


def test_arrays_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"bits is of shape \[1, 2, 2\]; expected ports x 2"):
        device_watts({"base": "1 W"}, [{"speed": "1 Gb/s"}], np.array([[1]], dtype=np.uint8), _array(0, 0))


def test_a_device_in_python_and_its_words() -> None:
    own = Power(
        name="own", base="48 W", ports=24, port=[{"speed": "1 Gb/s", "power": "1 W"}], description="our access box"
    )
    scenario = Scenario(
        duration="1 s",
        nodes=["a", "b"],
        links=[
            Link("a", "b", "1 Gb/s", "1 ms", "1 BDP"),
            Link("b", "a", "10 Mb/s", "1 ms", "1 BDP", port_speed="1 Gb/s"),
        ],
        power=[own, Power("wedge-tofino"), Power("fs", max_power="5 W", max_power_at="10 Gb/s")],
    )
    result = scenario.run()
    assert result.link("a-b")["energy"]["own"]["total_j"] == pytest.approx(3)
    assert result.link("b-a")["energy"]["fs"]["total_j"] == pytest.approx(0.5)
    canonical = json.loads(scenario.canonical())
    words = dict(line.split(": ", 1) for line in model_words(result.summary, canonical))
    assert words["own"] == "our access box; links of 10 Mb/s as 1 Gb/s ports at the same utilisation."
    assert words["wedge-tofino"].endswith("links of 10 Mb/s to 1 Gb/s as 100 Gb/s ports at the same utilisation.")
    of_speed = "5 W per link and direction of 10 Gb/s, and in proportion to the speed at full rate"
    assert costed_as(result.summary, canonical, "fs") == of_speed


def test_several_devices_in_one_network_have_one_sentence() -> None:
    parts = [
        {"name": "as built", "model": "8201-32fh", "nodes": ["a"]},
        {"name": "as built", "idle": "2 W", "description": "a box of ours"},
    ]
    scenario = Scenario.from_toml(PAIR).with_values({"power": parts})
    result = scenario.run()
    energy = {name: result.link(name)["energy"]["as built"]["total_j"] for name in ("a-b", "b-a")}
    assert energy["b-a"] == pytest.approx(20)
    assert energy["a-b"] > 2538.5
    assert result.summary["network"]["energy"]["as built"]["total_j"] == pytest.approx(sum(energy.values()))
    [words] = model_words(result.summary, json.loads(scenario.canonical()))
    assert words.startswith("as built: each link with the power of its own device: ")


def test_a_scaled_topology_keeps_the_speeds_of_its_file() -> None:
    toml = 'name = "t"\nduration = "1 s"\n[topology]\nfile = "abilene"\nrate_scale = 0.001\nbuffer = "10 packets"\n'
    scaled = json.loads(Scenario.from_toml(toml).canonical())["link"]
    whole = json.loads(Scenario.from_toml(toml.replace("0.001", "1")).canonical())["link"]
    assert [link["port_speed"] for link in scaled] == [link["rate"] for link in whole]
    assert not any("port_speed" in link for link in whole)


def test_the_nodes_of_a_topology_have_their_devices() -> None:
    toml = 'name = "t"\nduration = "1 s"\n[topology]\nfile = "abilene"\nrate_scale = 0.001\nbuffer = "10 packets"\n'
    network = {"name": "net", "model": "wedge-tofino"}
    core = {"name": "net", "model": "7280cr3k-32d4", "nodes": ["NYCMng"]}
    result = Scenario.from_toml(toml).with_values({"power": [network, core]}).run()
    found = {name: result.link(name)["energy"]["net"]["static_j"] for name in ("NYCMng-CHINng", "CHINng-NYCMng")}
    # Two cables lead to New York, so each has half of its box, and the transceiver of the fastest port, 400G.
    assert found == {"NYCMng-CHINng": pytest.approx(266.75 / 2 + 5.428), "CHINng-NYCMng": pytest.approx(108 / 32)}


def test_listed_devices_and_transceivers_show_their_numbers(printed: Callable[..., str]) -> None:
    assert "per_packet 13.4 nJ" in printed("list", "power", "8201-32fh")
    assert "plugged in 4 W" in printed("list", "transceivers", "qsfp28-lr4")
