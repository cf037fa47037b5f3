"""Bounds on the energy of a link, against runs of its controllers and by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import netlull
from netlull import Earth, InputError, Link, Lpi, Poisson, Power, Practra, Scenario, ScenarioError

Printed = Callable[..., str]
Refused = Callable[..., str]

RATES = {"from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s"}


def open_loop(controller: Any, rate: str = "3 Mb/s", **fields: Any) -> Scenario:
    """Datagrams that do not react to the link: every controller meets the same arrivals."""
    fields = {"duration": "3 s", "warm_up": "0 s", "power": [{"model": "fs"}, {"model": "dvs"}]} | fields
    link = Link("a", "b", "10 Mb/s", "5 ms", buffer="unlimited", controller=controller)
    return Scenario(nodes=["a", "b"], links=[link], flows=[Poisson("data", "a", "b", rate, packet="1000 B")], **fields)


def practra(**fields: Any) -> Practra:
    return Practra(**{"rates": RATES, "transition": "2 ms", "min_interval": "16 ms", "delay_bound": "10 ms"} | fields)


@pytest.mark.parametrize("in_service", ["finish_then_pause", "suspend"])
@pytest.mark.parametrize("rate", ["1.5 Mb/s", "5 Mb/s", "8 Mb/s"])
@pytest.mark.parametrize(
    "controller",
    [
        practra(),
        practra(min_interval="5 ms", transition="500 us", delay_bound="4 ms"),
        Earth(RATES, "5 packets", min_interval="20 ms", transition="1 ms"),
    ],
    ids=["practra", "hasty practra", "earth"],
)
def test_no_controller_beats_the_bound_at_its_own_largest_lateness(controller: Any, rate: str, in_service: str) -> None:
    scenario = open_loop(controller, rate).with_values({"link.a-b.controller.in_service": in_service})
    own = netlull.bound(scenario, late=["1 ms"], causal=False).controller
    assert own is not None
    assert own.kind == controller.kind
    assert 0 < own.mean_late_s < own.p95_late_s <= own.largest_late_s
    # To the next nanosecond, for the link's departures are whole.
    bounds = netlull.bound(scenario, late=[f"{math.ceil(own.largest_late_s * 1e9) + 1} ns"], causal=False)
    for model in bounds.models.values():
        (best,) = model.clairvoyant
        assert model.controller_saving is not None
        assert 0 < model.controller_saving <= best.saving < 1
        assert best.feasible_saving <= best.saving


def test_the_bounds_of_a_controlled_link_take_its_options() -> None:
    bounds = netlull.bound(
        open_loop(practra(transition="3 ms", min_interval="20 ms")), late=["4 ms", "8 ms", "0.004 s"]
    )
    assert bounds.link == "a-b"
    assert bounds.rates_bps == tuple(range(1_000_000, 10_000_001, 1_000_000))
    assert (bounds.transition_s, bounds.in_service, bounds.transition_power) == (0.003, "finish_then_pause", "higher")
    assert bounds.seconds == 3
    fs = bounds.models["fs"]
    assert fs.always_on_j == pytest.approx(3)
    assert [each.late_s for each in fs.clairvoyant] == [0.004, 0.008]
    assert fs.clairvoyant[0].saving <= fs.clairvoyant[1].saving
    assert fs.causal is not None
    # A load of 0.3 takes 0.3 of the power under frequency scaling, at least.
    assert all(each.saving <= 0.72 for each in fs.clairvoyant)
    assert all(each.saving <= 0.72 for each in fs.causal)
    assert bounds.controller is not None
    mean_late_s = [each.mean_late_s for each in fs.causal]
    assert mean_late_s == [0.004, 0.008, pytest.approx(bounds.controller.mean_late_s, abs=1e-9)]


def test_the_packets_are_those_that_the_always_on_link_accepts(small: Scenario) -> None:
    scenario = small.with_values({"link.a-b.buffer": "3 packets", "flow.noise.rate": "30 Mb/s"})
    always_on = scenario.with_values({"link.a-b.controller": None}).run().link("a-b")
    assert always_on["dropped_packets"] > 0
    bounds = netlull.bound(scenario, late=["5 ms"], causal=False)
    assert bounds.packets == always_on["offered_packets"] - always_on["dropped_packets"]


def test_the_warm_up_is_no_part_of_the_bounds() -> None:
    scenario = open_loop(None, warm_up="1 s")
    bounds = netlull.bound(scenario, late=["5 ms"], causal=False)
    assert bounds.seconds == 2
    assert bounds.models["fs"].always_on_j == pytest.approx(2)
    assert bounds.controller is None
    assert bounds.models["fs"].controller_saving is None


def test_a_link_without_traffic_saves_all_but_its_lowest_rate() -> None:
    scenario = open_loop(None).with_values({"flow.data.start": "3.999999 s", "duration": "4 s"})
    bounds = netlull.bound(scenario, late=["0 ms"], rates=["2 Mb/s", "10 Mb/s"])
    (best,) = bounds.models["fs"].clairvoyant
    assert best.saving == pytest.approx(0.8)
    assert best.feasible_saving == pytest.approx(0.8)
    assert bounds.models["fs"].causal is None


def test_the_traffic_of_a_measured_device_is_part_of_its_energy() -> None:
    scenario = open_loop(practra(), power=[{"model": "ncs-55a1-24h"}])
    bounds = netlull.bound(scenario, late=["5 ms"], causal=False)
    energy = scenario.run().link("a-b")["energy"]["ncs-55a1-24h"]
    model = bounds.models["ncs-55a1-24h"]
    # The packets in the link at the end are in the bounds only.
    assert model.always_on_j == pytest.approx(energy["reference_j"], rel=1e-3)


def test_a_power_that_falls_with_the_rate_has_no_bound() -> None:
    ports = [{"speed": "5 Mb/s", "power": "2 W"}, {"speed": "10 Mb/s", "power": "1 W"}]
    scenario = open_loop(None, power=[Power(name="odd", port=ports)])
    with pytest.raises(ScenarioError, match=r"^power.odd: is lower at 10 Mb/s than at 2 Mb/s; expected a power that"):
        netlull.bound(scenario, late=["5 ms"], rates=["2 Mb/s", "10 Mb/s"])


def test_lateness_by_hand() -> None:
    # A link that stays at 5 of 10 Mb/s: a packet of 1000 B that comes alone takes 1.6 ms instead of 0.8 ms.
    packets = [[at * 1_000_000, 1000] for at in range(500, 1000, 10)]
    flow = {"kind": "replay", "name": "data", "from": "a", "to": "b", "arrivals": packets}
    document = open_loop(Earth(["5 Mb/s", "10 Mb/s"], "50 packets", transition="1 ms", initial_rate="5 Mb/s")).to_dict()
    bounds = netlull.bound(Scenario.from_dict(document | {"flow": [flow]}), late=["5 ms"], causal=False)
    assert bounds.controller is not None
    for late_s in (bounds.controller.mean_late_s, bounds.controller.largest_late_s):
        assert late_s == pytest.approx(0.0008, abs=1e-9)


def test_the_command_prints_a_table_and_writes_json(printed: Printed, small_file: Path, tmp_path: Path) -> None:
    text = printed("bound", small_file, "--late", "20 ms")
    for words in ("a-b: 10 rates from 1 Mb/s to 10 Mb/s, pause 2 ms", "practra saves", "20 ms", "causal controller"):
        assert words in text, words
    out = tmp_path / "bounds.json"
    options = ("bound", small_file, "--late", "5 ms", "--late", "20 ms", "--no-causal")
    text = printed(*options, "--out", out)
    assert f"written to {out}" in text
    assert "causal controller" not in text
    found = json.loads(out.read_text())
    assert found == json.loads(printed(*options, "--json"))
    assert [each["late_s"] for each in found["models"]["dvs"]["clairvoyant"]] == [0.005, 0.02]


def test_long_lateness_is_printed_in_seconds(printed: Printed, small_file: Path) -> None:
    text = printed("bound", small_file, "--late", "1 h", "--no-causal")
    assert "3600 s" in text
    assert "ks" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--link", "a-z"], ["link", "a-z", "a-b, b-a, b-c, c-b"]),
        (["--late", "soon"], ['late: "soon" is no time; expected a number and a unit, such as 5 ms']),
        (["--late=-1ms"], ["late: -1ms; expected at least 0 s"]),
        (["--transition", "-2 ms"], ["transition: -2 ms; expected at least 0 s"]),
        (["--in-service", "finish_while_pausing"], ["in_service", "finish_then_pause or suspend"]),
        (["--transition-power", "both"], ["transition_power", "both", "higher, new, old"]),
        (["--rates", "1 Mb/s, 5 Mb/s"], ["rates", "the last one 10 Mb/s"]),
        (["--rates", "5 Mb/s, 1 Mb/s, 10 Mb/s"], ["rates", "ascending"]),
        (["--rates", "foo"], ['rates: "foo" is no rate; expected a number and a unit, such as 5 Mb/s']),
        (["--rates", "1 Mb/s, 5 ms, 10 Mb/s"], ['rates: "5 ms" is no rate']),
        (["--step", "0ms"], ["step: 0ms; expected at least 1 us"]),
        (["--step", "999 ns"], ["step: 999 ns; expected at least 1 us"]),
        (
            ["--set", "link.a-b.noise={mean='1 ms',shape=2}"],
            ["link.a-b.noise", "without air, noise, late packets or batches"],
        ),
    ],
)
def test_wrong_options_are_named(refused: Refused, small_file: Path, options: list[str], words: list[str]) -> None:
    line = refused("bound", small_file, *options)
    for word in words:
        assert word in line, word


def test_low_power_idle_has_no_bound() -> None:
    link = Link("a", "b", "10 Gb/s", controller=Lpi(phy="10gbase-t", hysteresis="0 s"))
    scenario = Scenario(nodes=["a", "b"], links=[link], flows=[Poisson("f", "a", "b", "1 Gb/s")], duration="1 ms")
    expected = r'^link\.a-b\.controller\.kind: is "lpi", which sleeps between packets, .* expected another controller'
    with pytest.raises(InputError, match=expected):
        netlull.bound(scenario)


def test_several_possible_links_are_listed() -> None:
    scenario = Scenario(
        duration="1 s",
        nodes=["a", "b", "c"],
        links=[Link("a", "b", "10 Mb/s", "5 ms"), Link("b", "c", "10 Mb/s", "5 ms")],
        flows=[Poisson("data", "a", "c", "1 Mb/s")],
    )
    with pytest.raises(InputError, match="link: is missing; expected one of a-b, b-c"):
        netlull.bound(scenario)
    assert netlull.bound(scenario, link="b-c", late=["5 ms"], causal=False).link == "b-c"
