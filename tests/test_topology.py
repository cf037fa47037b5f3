"""A topology and its properties: Abilene's numbers, lengths, pieces, TOML, and its use in a scenario."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlull import Axis, InputError, Scenario, Sweep, schema
from netlull.quantities import in_unit, rate_text, time_text
from netlull.topology import Demand, Line, Node, Topology
from netlull.topology.find import shipped
from netlull.topology.model import great_circle_km, hops_between
from netlull.topology.options import CHOICES, ReadOptions


@pytest.fixture(scope="module")
def abilene() -> Topology:
    return Topology.from_file(shipped()["abilene"])


def test_abilene_is_the_papers(abilene: Topology) -> None:
    # Table I of greened-network-2012; 2 x 15 / 12 = 2.5.
    assert (len(abilene.nodes), len(abilene.lines)) == (12, 15)
    assert (min(abilene.degrees), sum(abilene.degrees) / 12, max(abilene.degrees)) == (1, 2.5, 4)
    # Numbered alphabetically from 0, its links, lambda_2.
    assert list(abilene.index) == sorted(abilene.index)
    numbered = {tuple(sorted(edge)) for edge in abilene.edges}
    text = "0-1 1-4 1-5 1-11 2-5 2-8 3-6 3-9 3-10 4-6 4-7 5-6 7-9 8-11 9-10"
    assert numbered == {tuple(map(int, pair.split("-"))) for pair in text.split()}
    assert abilene.algebraic_connectivity == pytest.approx(0.30899, abs=5e-6)
    # OC-192 and, from Atlanta to Indianapolis, OC-48 without their overhead.
    assert {line.capacity for line in abilene.lines if line.label != "ATLAng-IPLSng"} == {"9.92 Gb/s"}
    assert abilene.line("ATLAng-IPLSng").capacity == "2.48 Gb/s"


def test_abilenes_delays_are_the_papers(abilene: Topology) -> None:
    delays = {line.label: (abilene.delay_ns(line) or 0) / 1e6 for line in abilene.lines}
    # "Distances between the cities": 1 ms to 11 ms in the paper, 0.7 ms for the two nodes in Atlanta.
    assert min(delays.values()) == delays["ATLAM5-ATLAng"] == pytest.approx(0.7, abs=0.05)
    assert max(delays.values()) == delays["HSTNng-LOSAng"] == pytest.approx(11, abs=0.05)
    # 8 to 10 by 2, 5, 6, 3: five hops, and also the shortest time.
    before = _quickest(abilene, set())
    assert [abilene.index[name] for name in before] == [8, 2, 5, 6, 3, 10]
    # Without 2-8 the path leads by 11 and 1, six hops.
    assert [abilene.index[name] for name in _quickest(abilene, {"CHINng-NYCMng"})] == [8, 11, 1, 5, 6, 3, 10]


def _quickest(topology: Topology, off: set[str]) -> list[str]:
    """The path of least delay from New York to Seattle, by relaxing every line as often as there are nodes."""
    best: dict[str, tuple[int, list[str]]] = {"NYCMng": (0, ["NYCMng"])}
    for _ in topology.nodes:
        for line in topology.lines:
            for a, b in ((line.a, line.b), (line.b, line.a)):
                if line.label not in off and a in best:
                    found = best[a][0] + (topology.delay_ns(line) or 0)
                    if b not in best or found < best[b][0]:
                        best[b] = (found, [*best[a][1], b])
    return best["STTLng"][1]


def test_great_circles() -> None:
    # A quarter of the way round the Earth: 6371 km x pi / 2.
    assert great_circle_km((0, 0), (90, 0)) == pytest.approx(6371 * math.pi / 2)
    assert great_circle_km((10, 0), (-170, 90)) == pytest.approx(6371 * math.pi / 2)
    # Across the date line: 2 degrees on the equator.
    assert great_circle_km((179, 0), (-179, 0)) == pytest.approx(6371 * math.radians(2))
    assert great_circle_km((5, 5), (5, 5)) == 0


def test_lengths_and_delays() -> None:
    nodes = (Node("a", 0, 0), Node("b", 0, 1), Node("c"))
    given_both = Line("a", "c", distance_km=100, delay="3 ms")
    given_length = Line("b", "c", distance_km=100)
    neither = Line("a", "b")
    topology = Topology("t", nodes, (given_both, given_length, neither))
    assert topology.delay_ns(given_both, 2) == 3_000_000  # a given delay is not lengthened
    assert topology.delay_ns(given_length) == 500_000  # 100 km / 200 km per ms
    assert topology.delay_ns(given_length, 1.5) == 750_000
    degree_km = 6371 * math.pi / 180
    assert topology.length_km(neither) == pytest.approx(degree_km)
    assert topology.delay_ns(neither) == round(degree_km / 200 * 1e6)
    assert topology.length_km(Line("a", "c")) is None


def test_pieces() -> None:
    nodes = tuple(map(Node, "abcde"))
    topology = Topology("t", nodes, (Line("d", "e"), Line("a", "b"), Line("b", "c")), (Demand("d", "e", "1 Mb/s"),))
    assert topology.pieces == (frozenset("abc"), frozenset("de"))
    assert topology.diameter is None
    assert topology.algebraic_connectivity == 0
    with pytest.raises(InputError, match='2 pieces, of 3 and 2 nodes: no links lead to "d"'):
        topology.check_connected()
    largest = topology.largest()
    assert (len(largest.nodes), len(largest.lines), largest.demands) == (3, 2, ())
    assert largest.diameter == 2
    assert hops_between(largest) == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Line("a", "a"), 'leads from "a" back to itself'),
        (lambda: Line("a", "b", capacity="10"), 'capacity "10" is not a rate'),
        (lambda: Line("a", "b", capacity="0 b/s"), 'capacity "0 b/s" is not a rate'),
        (lambda: Line("a", "b", distance_km=-1), "distance -1 km is out of range"),
        (lambda: Line("a", "b", delay="1 km"), 'delay "1 km" is not a time'),
        (lambda: Line("a", "b", cost=0), "cost 0 is out of range"),
        (lambda: Node("a.b"), "'a.b': is not a valid name"),
        (lambda: Node(""), "'': is not a valid name"),
        (lambda: Node("a", 181, 0), "longitude 181 is out of range"),
        (lambda: Node("a", math.nan, 0), "longitude nan is out of range"),
        (lambda: Node("a", 0, 90.5), "latitude 90.5 is out of range"),
        (lambda: Node("a", 1), "has one coordinate"),
        (lambda: Topology("t", (), ()), "nodes: there are none"),
        (lambda: Topology("t", (Node("a"), Node("a")), ()), 'node "a": is given twice'),
        (lambda: Topology("t", (Node("a"), Node("b")), (Line("a", "c"),)), '"c" is not a node; expected one of a, b'),
        (
            lambda: Topology("t", (Node("a"), Node("b")), (Line("a", "b"), Line("b", "a"))),
            "link b-a: is the reverse of link a-b; expected one link between two nodes",
        ),
        (lambda: Demand("a", "b", "-1 Mb/s"), 'rate "-1 Mb/s" is not a rate'),
    ],
)
def test_what_no_network_is(make: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert message in str(caught.value)


names = st.text(
    st.characters(exclude_categories=("C", "Z"), exclude_characters='.="') | st.just(" "), min_size=1, max_size=8
).filter(lambda text: text == text.strip() and text.isprintable())
rates = st.integers(1, 10**13).map(rate_text)
degrees = st.tuples(st.floats(-180, 180), st.floats(-90, 90))


@st.composite
def topologies(draw: st.DrawFn) -> Topology:
    """Networks of all kinds; not always connected."""
    named = draw(st.lists(names, min_size=1, max_size=8, unique=True))
    nodes = tuple(Node(name, *(draw(st.none() | degrees) or (None, None))) for name in named)
    pairs = [(a, b) for index, a in enumerate(named) for b in named[index + 1 :]]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    lines = tuple(
        Line(
            *draw(st.permutations(pair)),
            name=draw(st.none() | names),
            capacity=draw(st.none() | rates),
            distance_km=draw(st.none() | st.floats(0, 1e5)),
            delay=draw(st.none() | st.integers(0, 10**12).map(time_text)),
            cost=draw(st.integers(1, 2**32 - 1)),
        )
        for pair in chosen
    )
    demands = tuple(Demand(*pair, rate=draw(rates)) for pair in chosen[:2])
    return Topology(draw(names), nodes, lines, demands, draw(st.none() | st.text(max_size=20)))


@given(topology=topologies())
def test_toml_there_and_back(topology: Topology, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("toml") / "t.toml"
    path.write_text(topology.to_toml(), encoding="utf-8", newline="")
    assert Topology.from_file(path) == topology


@given(whole=st.integers(0, 10**14))
def test_rates_and_times_are_written_exactly(whole: int) -> None:
    assert in_unit(rate_text(whole), "b/s") == whole
    assert in_unit(time_text(whole), "ns") == whole


SCENARIO = """
name = "abilene"
duration = "1 s"
nodes = ["host"]
[topology]
file = "abilene"
rate_scale = 0.001
buffer = "100 packets"
[[link]]
from = "host"
to = "NYCMng"
duplex = true
rate = "1 Gb/s"
delay = "1 ms"
[[flow]]
kind = "tcp"
name = "tcp"
from = "host"
to = "STTLng"
"""


def _links(scenario: Scenario) -> dict[str, dict[str, Any]]:
    return {f"{link['from']}-{link['to']}": link for link in json.loads(scenario.canonical())["link"]}


def test_a_scenario_on_a_topology() -> None:
    scenario = Scenario.from_toml(SCENARIO)
    document = json.loads(scenario.canonical())
    assert (len(document["nodes"]), document["nodes"][0], document["nodes"][-1]) == (13, "ATLAM5", "host")
    links = _links(scenario)
    assert len(links) == 16
    # 2.48 Gb/s / 1000; 590.07 km / 200 km per ms.
    assert links["ATLAng-IPLSng"]["rate"] == "2.48 Mb/s"
    assert links["ATLAng-IPLSng"]["delay"] == "2.950379 ms"
    assert (links["ATLAng-IPLSng"]["duplex"], links["ATLAng-IPLSng"]["buffer"]) == (True, "100 packets")
    carried = {link["name"] for link in scenario.run().summary["links"] if link["delivered_packets"]}
    assert {"host-NYCMng", "KSCYng-DNVRng", "STTLng-DNVRng"} <= carried


def test_values_of_the_topology_and_of_its_links() -> None:
    scenario = Scenario.from_toml(SCENARIO, values={"topology.rate": "40 Mb/s", "link.SNVAng-STTLng.rate": "3 Mb/s"})
    links = _links(scenario)
    assert {link["rate"] for name, link in links.items() if name not in {"SNVAng-STTLng", "host-NYCMng"}} == {"40 Mb/s"}
    assert links["SNVAng-STTLng"]["rate"] == "3 Mb/s"
    assert links["SNVAng-STTLng"]["delay"] == "5.679968 ms"  # its other fields stay
    again = _links(scenario.with_values({"topology.rate": None, "topology.route_factor": 2}))
    assert again["ATLAng-IPLSng"]["rate"] == "2.48 Mb/s"
    assert again["ATLAng-IPLSng"]["delay"] == "5.900759 ms"
    assert again["SNVAng-STTLng"]["rate"] == "3 Mb/s"


def _names_in(part: Any, definitions: Any) -> set[str]:
    """The values that a part of a schema accepts."""
    if "$ref" in part:
        part = definitions[part["$ref"].rpartition("/")[2]]
    inner = [_names_in(each, definitions) for each in (*part.get("anyOf", ()), *part.get("oneOf", ()))]
    return {*part.get("enum", ()), *([part["const"]] if "const" in part else ())}.union(*inner)


def test_the_schema_has_the_table() -> None:
    table = schema()["$defs"]["TopologyDocument"]
    assert {"file", "hub", "network", "traffic", *(each.name for each in fields(ReadOptions))} <= set(
        table["properties"]
    )
    for option, choices in CHOICES.items():
        assert set(choices) - {None} == _names_in(table["properties"][option], schema()["$defs"]), option
    jsonschema.validate(tomllib.loads(SCENARIO), schema())
    for wrong in (
        {"topology": {}},
        {"topology": {"file": "a", "hub": "b"}},
        {"topology": {"file": "a", "colour": 1}},
        {},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"duration": "1 s", **wrong}, schema())


def test_a_scenario_from_python(abilene: Topology) -> None:
    made = Scenario(duration="1 s", topology=abilene)
    assert made == Scenario(duration="1 s", topology={"file": "abilene"})
    assert json.loads(made.canonical())["position"]["STTLng"] == [-122.3, 47.6]
    slow = made.with_values({"topology.rate": "1 Mb/s"})
    assert {link["rate"] for link in _links(slow).values()} == {"1 Mb/s"}


def test_an_axis_of_a_sweep() -> None:
    base = Scenario.from_toml(SCENARIO)
    axis = Axis("rate", path="topology.rate", values=["1 Mb/s", "2 Mb/s"], unit="Mb/s")
    delay = Axis("delay", path="link.NYCMng-WASHng.delay", values=["1 ms"], unit="ms")
    result = Sweep(base, [axis, delay], seeds=1, metrics={"mean_bps": "link.NYCMng-WASHng.mean_rate_bps"}).run()
    assert result.table["mean_bps"].to_pylist() == [1e6, 2e6]


def test_costs() -> None:
    costs = {
        way: {
            name: link["cost"]
            for name, link in _links(Scenario.from_toml(SCENARIO, values={"topology.cost": way})).items()
        }
        for way in ("hops", "distance", "capacity")
    }
    assert set(costs["hops"].values()) == {1}
    assert costs["distance"]["ATLAM5-ATLAng"] == 132  # km
    assert costs["capacity"]["ATLAng-IPLSng"] == 4  # 9.92 / 2.48
    assert costs["capacity"]["ATLAM5-ATLAng"] == 1


def test_a_scenario_holds_what_it_has_read(tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(
        '[nodes]\nA = []\nB = []\n[[link]]\nfrom = "A"\nto = "B"\ncapacity = "1 Mb/s"\ndelay = "1 ms"\n'
    )
    (tmp_path / "s.toml").write_text('duration = "1 s"\n[topology]\nfile = "net.toml"\n')
    scenario = Scenario.from_file(tmp_path / "s.toml")
    (tmp_path / "net.toml").unlink()
    assert Scenario.from_dict(scenario.to_dict()) == scenario
    assert Scenario.from_dict(scenario.to_dict()).key == scenario.key
    assert scenario.with_values({"topology.rate": "2 Mb/s"}).key != scenario.key
    other = scenario.with_values({"topology.file": "abilene", "topology.modules": "never"})
    assert len(_links(other)) == 15


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"topology.rate": "40"}, 'topology.rate: "40" has no unit'),
        ({"topology.default_delay": "1 km"}, 'topology.default_delay: "1 km" has the unit "km"'),
        ({"topology.rate_scale": 0}, "topology.rate_scale: is 0; expected more than 0"),
        ({"topology.route_factor": True}, "topology.route_factor: is true; expected a number"),
        (
            {"topology.cost": "x"},
            'topology.cost: "x" is unknown; expected one of given, hops, distance, capacity',
        ),
        ({"topology.speed": 1}, "topology.speed: is not a field of topology"),
        ({"topology": 3}, "topology: 3 is not a table"),
        ({"topology": {}}, "topology: names no network"),
        ({"topology": {"file": "abilene", "hub": "sndlib/polska"}}, "topology: has file and hub"),
        ({"topology.file": "nowhere.toml"}, "topology.file: nowhere.toml: there is no such file"),
        ({"topology.file": 3}, "topology.file: 3 is not text"),
        ({"topology.file": "abilene", "topology.pieces": "some"}, 'topology.pieces: "some" is unknown'),
        ({"topology.rate_scale": 1e-12}, "times the capacity of link ATLAM5-ATLAng is below 1 b/s"),
    ],
)
def test_what_no_scenario_can_use(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Scenario.from_toml(SCENARIO, values=values)
    assert message in str(caught.value)


def test_paths_that_lead_nowhere() -> None:
    scenario = Scenario.from_toml(SCENARIO)
    with pytest.raises(InputError, match=r"topology\.pieces: the topology has been read"):
        scenario.with_values({"topology.pieces": "largest"})
    with pytest.raises(InputError, match=r"link\.A-B\.rate: leads to no link; expected one of ATLAM5-ATLAng, "):
        scenario.with_values({"link.A-B.rate": "1 Mb/s"})


def test_a_scenario_needs_capacities_lengths_and_one_piece(tmp_path: Path) -> None:
    path = tmp_path / "net.toml"
    path.write_text('[nodes]\nA = []\nB = []\nC = []\n[[link]]\nfrom = "A"\nto = "B"\n')
    values: dict[str, object] = {"file": str(path)}
    for message, more in (
        ('is in 2 pieces, of 2 and 1 nodes: no links lead to "C"', {"pieces": "largest"}),
        ("link A-B has no capacity; expected topology.default_rate", {"default_rate": "1 Mb/s"}),
        (
            "link A-B has no length, and its ends have no positions; expected topology.default_delay",
            {"default_delay": "1 ms"},
        ),
    ):
        with pytest.raises(InputError) as caught:
            Scenario.from_dict({"duration": "1 s", "topology": dict(values)})
        assert message in str(caught.value)
        values |= more
    assert len(_links(Scenario.from_dict({"duration": "1 s", "topology": values}))) == 1


def test_a_large_network_has_no_diameter_but_a_scenario(tmp_path: Path, printed: Callable[..., str]) -> None:
    # A line of 3,001 nodes, one above the limit for its properties.
    nodes = "".join(f"n{i} = []\n" for i in range(3001))
    links = "".join(f'[[link]]\nfrom = "n{i}"\nto = "n{i + 1}"\n' for i in range(3000))
    path = tmp_path / "line.toml"
    path.write_text(f'name = "line"\n[nodes]\n{nodes}{links}', encoding="utf-8")
    shown = printed("topology", str(path), "--scenario", str(tmp_path / "run.toml"))
    assert "connected; too many nodes for diameter and algebraic connectivity" in shown
    flow = tomllib.loads((tmp_path / "run.toml").read_text(encoding="utf-8"))["flow"][0]
    assert {flow["from"], flow["to"]} == {"n0", "n3000"}
