"""`netlull map`: the contents of the picture, by the ids of its links, nodes and names."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import click
import numpy as np
import pytest
from click.testing import CliRunner

from netlull import InputError, Result, Scenario, ScenarioError
from netlull.cli import main, plan
from netlull.plot import svg_text
from netlull.plot.map import network_map
from netlull.topology import Line, Node, Topology
from netlull.topology.find import shipped
from netlull.topology.layout import layout
from netlull.topology.plan import PlanKind
from netlull.topology.state import LineState, Part, part_of, topology_of_scenario

RUN = """
name = "nap"
duration = "4 s"
[topology]
file = "abilene"
rate = "4 Mb/s"
[[flow]]
kind = "cbr"
name = "cbr"
from = "NYCMng"
to = "STTLng"
rate = "1 Mb/s"
[[phase]]
name = "before"
to = "2 s"
[[phase]]
name = "after"
from = "2.5 s"
[[sleep]]
at = "2 s"
links = ["CHINng-NYCMng"]
[probe]
interval = "500 ms"
[[power]]
model = "fs"
"""


@pytest.fixture(scope="module")
def abilene() -> Topology:
    return Topology.from_file(shipped()["abilene"])


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "nap"
    Scenario.from_toml(RUN).run().save(folder)
    return folder


def _ids(svg: str, kind: str) -> set[str]:
    """The ids that begin with a kind, without it."""
    found = (element.get("id", "") for element in ElementTree.fromstring(svg).iter())  # noqa: S314  # our own
    return {one.removeprefix(f"{kind}:") for one in found if one.startswith(f"{kind}:")}


def _link(svg: str, label: str) -> str:
    """The path of a link: its position and style."""
    found = re.search(rf'<g id="link:{label}(?::asleep)?">\s*<path ([^>]*)/>', svg)
    assert found is not None, label
    return found[1]


def test_every_node_link_and_name_is_there(abilene: Topology) -> None:
    svg = svg_text(network_map(abilene))
    assert _ids(svg, "link") == {line.label for line in abilene.lines}
    assert _ids(svg, "node") == set(abilene.index)
    assert _ids(svg, "name") == set(abilene.index)
    assert "abilene: 12 nodes, 15 links" in svg
    assert "throughput" not in svg  # not a run
    # The two capacities in the legend; the link of 2.48 Gb/s is the thinnest.
    assert "2.48 Gb/s" in svg
    assert "9.92 Gb/s" in svg
    widths = {
        line.label: float(re.findall(r"stroke-width: ([\d.]+)", _link(svg, line.label))[0]) for line in abilene.lines
    }
    assert min(widths, key=lambda label: widths[label]) == "ATLAng-IPLSng"
    assert len(set(widths.values())) == 2


def test_the_same_picture_every_time(abilene: Topology) -> None:
    assert svg_text(network_map(abilene)) == svg_text(network_map(abilene))


def test_loads_sleep_and_power(abilene: Topology) -> None:
    states = {line.ends: LineState(0.5, power_w=140.0) for line in abilene.lines}
    states[frozenset(("SNVAng", "STTLng"))] = LineState(0.0, asleep=True, power_w=7.5)
    states[frozenset(("HSTNng", "LOSAng"))] = LineState(1.0, power_w=140.0)
    svg = svg_text(network_map(abilene, Part("after", states, "ons-15600")))
    assert _ids(svg, "link") >= {"SNVAng-STTLng:asleep", "HSTNng-LOSAng"}
    assert "stroke-dasharray" in _link(svg, "SNVAng-STTLng")
    assert "#999999" in _link(svg, "SNVAng-STTLng")
    assert "stroke-dasharray" not in _link(svg, "HSTNng-LOSAng")
    assert "#440154" in _link(svg, "HSTNng-LOSAng")  # viridis' dark end: 100 %
    for text in ("after", "asleep", "utilisation", "7.5 W", "140 W"):
        assert text in svg, text
    assert "power: ons-15600, 1968 W in all" in svg  # 14 x 140 + 7.5 = 1967.5
    # In Atlanta 132 km leave no room for a number; a note counts it.
    assert "ATLAM5-ATLAng" not in _ids(svg, "power")
    assert "left out: 1 link's power" in svg


def test_the_legend_names_the_device_that_stands_for_a_link(run_folder: Path) -> None:
    topology = topology_of_scenario(Result.load(run_folder).scenario)
    ideal = svg_text(network_map(topology, part_of(Result.load(run_folder))))
    assert "(1 W per link and direction at full rate)" in ideal
    models = [{"model": name} for name in ("fs", "nexus-9336-fx2", "ons-15600")]
    result = Scenario.from_toml(RUN).with_values({"power": models}).run()
    svg = svg_text(network_map(topology, part_of(result, model="nexus-9336-fx2")))
    assert "(links of 4 Mb/s as 100 Gb/s ports)" in svg
    assert "(16 line cards per link of any rate)" in svg_text(network_map(topology, part_of(result)))


def test_the_total_is_that_of_the_drawn_links() -> None:
    access = {"rate": "8 Mb/s", "round_trip": {"from": "100 ms", "to": "200 ms"}}
    flow = {"kind": "tcp", "name": "f", "from": "NYCMng", "to": "STTLng", "count": 2, "access": access}
    result = Scenario.from_toml(RUN).with_values({"flow": [flow]}).run()
    assert len(result.summary["links"]) == 2 * (15 + 2)
    svg = svg_text(network_map(topology_of_scenario(result.scenario), part_of(result)))
    # 14 cables of 2 W, and one that is awake for half of the time.
    assert "power: fs, 29 W in all" in svg
    assert "2 access links of flows" in svg


def test_the_title_leaves_out_the_warm_up() -> None:
    scenario = Scenario.from_toml(RUN)
    assert part_of(scenario.run()).title == "the whole run"
    assert part_of(scenario.with_values({"warm_up": "1 s"}).run()).title == "1 s to 4 s"


def test_a_run_of_which_a_link_sleeps(
    run_folder: Path, tmp_path: Path, printed: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, arguments in {
        "before": ("--phase", "before"),
        "after": ("--phase", "after"),
        "early": ("--at", "1"),
        "late": ("--at", "3.2 s", "--title", "late"),
        "whole": (),
    }.items():
        assert printed("map", run_folder, "--out", f"{name}.svg", *arguments) == f"written to {name}.svg\n"
    svg = {path.stem: path.read_text(encoding="utf-8") for path in Path().glob("*.svg")}
    for name in ("after", "late", "whole"):
        assert "CHINng-NYCMng:asleep" in _ids(svg[name], "link"), name
    for name in ("before", "early"):
        assert "CHINng-NYCMng" in _ids(svg[name], "link"), name
    assert "nap: 12 nodes, 15 links, after, 2.5 s to 4 s" in svg["after"]
    assert "3 s to 3.5 s" not in svg["late"]
    assert "0.5 s to 1 s" in svg["early"]
    # The datagrams go by Chicago, then by Washington; the colour of a quarter of 4 Mb/s differs from that of none.
    free = re.findall(r"stroke: (#\w+)", _link(svg["before"], "HSTNng-LOSAng"))
    busy = {name: re.findall(r"stroke: (#\w+)", _link(svg[name], "NYCMng-WASHng")) for name in svg}
    assert busy["before"] == busy["early"] == free
    assert busy["after"] == busy["late"] != free


def test_what_the_links_of_a_run_do(run_folder: Path) -> None:
    from netlull import Result

    result = Result.load(run_folder)
    after = part_of(result, phase="after", model="fs")
    on_the_way = after.states[frozenset(("NYCMng", "WASHng"))]
    # 1 Mb/s on 4 Mb/s.
    assert on_the_way.load == pytest.approx(0.25, rel=0.01)
    # The busier direction: the reverse direction is idle.
    assert result.link("WASHng-NYCMng")["delivered_packets"] == 0
    assert after.states[frozenset(("HSTNng", "LOSAng"))].load == 0
    assert after.states[frozenset(("CHINng", "NYCMng"))].asleep
    # fs: 1 W for each direction at its full rate, with all links awake.
    assert on_the_way.power_w == pytest.approx(2)
    assert after.states[frozenset(("CHINng", "NYCMng"))].power_w == pytest.approx(0)
    assert part_of(result, at_s=1.0).states[frozenset(("CHINng", "NYCMng"))].load == pytest.approx(0.25, rel=0.05)


def test_bad_input(
    run_folder: Path, tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments, message in {
        (run_folder, "--phase", "x"): "--phase x: is not a phase of the run; expected one of before, after",
        (run_folder, "--at", "9"): "--at 9 s: is not in the run; expected 0 to 4 s",
        (run_folder, "--at", "x"): '--at "x": expected seconds',
        (run_folder, "--at", "1", "--phase", "after"): "--at: is given together with --phase",
        (run_folder, "--at", "1", "--model", "fs"): "--at: is given together with --model; expected one of them",
        (run_folder, "--model", "x"): "--model x: the run has no such power model; expected fs",
        (run_folder, "--set", "a=1"): "is a finished run; expected a scenario for --set",
        (run_folder, "--out", "map.txt"): "--out map.txt: expected a name that ends in .svg, .pdf, .png",
        ("abilene", "--phase", "x"): "--phase: abilene is not a run",
        ("abilene", "--set", "a=1"): "abilene: is a topology; expected a scenario for --set",
        ("nowhere",): "nowhere: there is no such file",
        (tmp_path,): "manifest.json: is missing",
    }.items():
        assert message in refused("map", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_scenario(tmp_path: Path, printed: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed("map", "dumbbell")
    assert _ids(Path("map.svg").read_text(encoding="utf-8"), "link") == {"sender-N1", "N1-N2", "N2-receiver"}
    Path("nap.toml").write_text(RUN)
    printed("map", "nap.toml", "--out", "nap.svg", "--set", "topology.rate=10 Mb/s")
    assert _ids(Path("nap.svg").read_text(encoding="utf-8"), "node") >= {"STTLng", "ATLAM5"}


def test_one_way_links_are_one_line() -> None:
    links = [{"from": a, "to": b, "rate": "1 Mb/s", "delay": "1 ms"} for a, b in (("a", "b"), ("b", "a"), ("b", "c"))]
    scenario = Scenario.from_dict(
        {"duration": "1 s", "nodes": ["a", "b", "c"], "link": links, "position": {"a": [1, 2], "b": [3, 4]}}
    )
    topology = topology_of_scenario(json.loads(scenario.canonical()))
    assert [line.label for line in topology.lines] == ["a-b", "b-c"]
    assert [node.position for node in topology.nodes] == [(1, 2), (3, 4), None]


def test_places_are_projected() -> None:
    # At 60 degrees north a degree of longitude is half as long as one of latitude: cos(60 degrees) = 1/2.
    nodes = (Node("a", 0, 59), Node("b", 2, 61), Node("c", 0, 61))
    points = layout(Topology("t", nodes, (Line("a", "b"), Line("b", "c"))))
    assert points[1][0] - points[2][0] == pytest.approx(1)
    assert points[2][1] - points[0][1] == pytest.approx(2)


def test_a_network_across_the_date_line_stays_together() -> None:
    nodes = (Node("Tokyo", 140, 0), Node("Seattle", -122, 0), Node("Honolulu", -158, 0))
    points = layout(Topology("t", nodes, (Line("Tokyo", "Honolulu"), Line("Honolulu", "Seattle"))))
    assert points[0][0] < points[2][0] < points[1][0]


def test_nodes_without_places() -> None:
    # A path of ten, laid out by hops: neighbours are closer than all other pairs.
    path = Topology("t", tuple(map(Node, "abcdefghij")), tuple(map(Line, "abcdefghi", "bcdefghij")))
    points = layout(path)
    gaps = [math.dist(points[index], points[index + 1]) for index in range(9)]
    assert max(gaps) < 1.2 * min(gaps)
    assert math.dist(points[0], points[9]) > 6 * max(gaps)
    # One node among others with positions: next to its neighbour, not on it.
    nodes = (Node("a", 0, 0), Node("b", 10, 0), Node("c", 10, 10), Node("host"))
    points = layout(Topology("t", nodes, (Line("a", "b"), Line("b", "c"), Line("host", "c"))))
    assert 0.1 < math.dist(points[3], points[2]) < 2
    assert np.isfinite(points).all()


def test_nodes_at_one_place_and_in_pieces_are_drawn_apart() -> None:
    nodes = (Node("a", 1, 1), Node("b", 1, 1), Node("c", 5, 5))
    points = layout(Topology("t", nodes, (Line("a", "b"),)))
    assert math.dist(points[0], points[1]) > 0.01
    alone = layout(Topology("t", tuple(map(Node, "abcd")), (Line("a", "b"),)))
    assert len({tuple(point) for point in alone.round(6)}) == 4
    assert np.isfinite(layout(Topology("t", (Node("a"),), ()))).all()


def test_names_never_cover_each_other() -> None:
    # Forty nodes without room for their names.
    nodes = tuple(Node(f"a node with a long name {index}", 10 + 0.001 * index, 50) for index in range(40))
    crowd = Topology("crowd", (*nodes, Node("far", 11, 51)), tuple(Line(one.name, "far") for one in nodes))
    svg = svg_text(network_map(crowd))
    named = _ids(svg, "name")
    assert "far" in named
    assert f"left out: {41 - len(named)} names" in svg
    assert len(named) < 41


def test_an_instant_needs_bins() -> None:
    result = Scenario.from_toml(RUN, values={"probe": None}).run()
    with pytest.raises(InputError, match="--at: the run recorded no bins"):
        part_of(result, at_s=1)


def test_the_plan_of_the_paper(tmp_path: Path, printed: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Table V of greened-network-2012 at 70 %: 9-10, 9-3, 2-8; the last one leaves .8405.
    told = json.loads(printed("plan", "abilene", "--estop", "0.7", "--json"))
    assert told["off"] == ["SNVAng-STTLng", "DNVRng-SNVAng", "CHINng-NYCMng"]
    assert told["initial_connectivity"] == pytest.approx(0.30899, abs=5e-6)
    last = next(step for step in told["step"] if step["link"] == "CHINng-NYCMng")
    assert (last["verdict"], last["ratio"]) == ("off", pytest.approx(0.8405, abs=5e-5))
    shown = printed("plan", "abilene", "--estop", "0.7", "--map", "plan.svg")
    assert "abilene: 3 of 15 links sleep (20.0 %), algebraic connectivity 0.30899 before" in shown
    assert "stays: the network would be disconnected" in shown
    asleep = {one for one in _ids(Path("plan.svg").read_text(encoding="utf-8"), "link") if one.endswith(":asleep")}
    assert asleep == {f"{label}:asleep" for label in told["off"]}


def test_a_plan_of_many_links_shows_those_that_sleep(printed: Callable[..., str], tmp_path: Path) -> None:
    # A ring of 40 with a chord from every node to the one opposite: 60 links; one more, and rows are counted.
    nodes = "".join(f"n{i} = []\n" for i in range(40))
    ends = [(i, (i + 1) % 40) for i in range(40)] + [(i, i + 20) for i in range(20)] + [(0, 2)]
    links = "".join(f'[[link]]\nfrom = "n{a}"\nto = "n{b}"\n' for a, b in ends)
    path = tmp_path / "ring.toml"
    path.write_text(f'name = "ring"\n[nodes]\n{nodes}{links}', encoding="utf-8")
    shown = printed("plan", str(path), "--estop", "0.9")
    off = json.loads(printed("plan", str(path), "--estop", "0.9", "--json"))["off"]
    assert f"{len(off)} of 61 links sleep" in shown
    assert shown.count(" sleeps ") == len(off)
    staying = [int(number) for number in re.findall(r"(\d+) stay: ", shown)]
    assert sum(staying) == 61 - len(off)
    assert "stay: connectivity below the threshold (--json has all)" in shown


def test_a_load_aware_plan_without_traffic_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def said(path: str) -> str:
        assert main(["plan", path, "--load-aware", "0.5"]) == 0
        return capsys.readouterr().err

    assert "warning: no demands, so every link counts as idle" in said("abilene")
    assert main(["plan", "abilene", "--load-aware", "0.5", "--map", str(tmp_path / "blind.svg")]) == 0
    assert "4 of 15 links sleep (26.7 %), without known traffic, algebraic" in capsys.readouterr().out
    assert "without known traffic" in (tmp_path / "blind.svg").read_text(encoding="utf-8")
    path = tmp_path / "two.toml"
    link = '[[link]]\nfrom = "A"\nto = "B"\ncapacity = "1 Gb/s"\n'
    demand = '[[demand]]\nfrom = "A"\nto = "B"\nrate = "1 Mb/s"\n'
    path.write_text(f"[nodes]\nA = []\nB = []\n{link}{demand}", encoding="utf-8")
    assert said(str(path)) == ""


def test_a_load_aware_plan_counts_the_flows_of_a_scenario_and_of_a_run(
    printed: Callable[..., str], refused: Callable[..., str], tmp_path: Path
) -> None:
    path = tmp_path / "flows.toml"
    greedy = '[[flow]]\nkind = "tcp"\nname = "greedy"\nfrom = "NYCMng"\nto = "WASHng"\n'
    written = greedy.replace("greedy", "written") + 'write_rate = "500 kb/s"\nstart = "1 s"\nstop = "3 s"\n'
    path.write_text(RUN.replace("[[phase]]", f"{greedy}{written}[[phase]]", 1), encoding="utf-8")
    shown = printed("plan", path, "--load-aware", "0.6")
    assert "traffic: 1.5 Mb/s between 2 pairs of nodes, offered by 2 flows\n" in shown
    assert "1 TCP flow counts as 0 b/s without a write_rate" in shown
    shown = printed("plan", path, "--load-aware", "0.6", "--at", "3 s")
    assert "traffic: 1 Mb/s between 1 pair of nodes, offered by 1 flow active at 3 s\n" in shown
    planned = json.loads(printed("plan", path, "--load-aware", "0.6", "--at", "1.5", "--json"))["off"]
    sleep = {"sleep": [{"at": "1.5 s", "wake": "2 s", "plan": {"kind": "load_aware", "bound": 0.6}}]}
    result = Scenario.from_file(path).with_values(sleep).run()
    assert planned == [nap["link"] for nap in result.summary["routing"]["sleep"]]
    result.save(tmp_path / "run")
    shown = printed("plan", tmp_path / "run", "--load-aware", "0.99", "--phase", "before")
    assert "measured goodput of before\n" in shown
    assert "write_rate" not in shown
    assert "--at: does not fit abilene; expected a scenario" in refused(
        "plan", "abilene", "--estop", "0.5", "--at", "1"
    )
    assert "--phase x: is not a phase" in refused("plan", tmp_path / "run", "--load-aware", "0.9", "--phase", "x")


TRIANGLE = """
name = "triangle"
duration = "4 s"
nodes = ["a", "b", "c"]
link = [
    { from = "a", to = "b", duplex = true, rate = "10 Mb/s", delay = "5 ms" },
    { from = "b", to = "c", duplex = true, rate = "10 Mb/s", delay = "5 ms" },
    { from = "a", to = "c", duplex = true, rate = "10 Mb/s", delay = "5 ms" },
]
"""


def test_connections_with_access_links_and_recorded_flows_count_from_their_nodes(
    printed: Callable[..., str], tmp_path: Path
) -> None:
    path = tmp_path / "triangle.toml"
    access = 'access = { rate = "100 Mb/s", round_trip = { from = "20 ms", to = "50 ms" } }'
    bulk = '[[flow]]\nkind = "tcp"\nname = "bulk"\nfrom = "a"\nto = "b"\ncount = 4\nwrite_rate = "1 Mb/s"\n'
    path.write_text(f"{TRIANGLE}{bulk}{access}\n")
    assert "traffic: 4 Mb/s between 1 pair of nodes, offered by 4 flows" in printed("plan", path, "--load-aware", "0.9")
    Scenario.from_file(path).run().save(tmp_path / "run")
    assert "Mb/s between 1 pair of nodes, measured goodput" in printed("plan", tmp_path / "run", "--load-aware", "0.9")
    cbr = '[[flow]]\nkind = "cbr"\nname = "data"\nfrom = "a"\nto = "b"\nrate = "2 Mb/s"\n'
    path.write_text(f'{TRIANGLE}{cbr}[recording]\nflows = ["data"]\nlink = "a-b"\n')
    assert "traffic: 2 Mb/s between 1 pair of nodes, offered by 1 flow" in printed("plan", path, "--load-aware", "0.9")


def test_a_plan_shows_the_loads_and_warns_of_overload(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # 3 Mb/s a-b and 6 Mb/s a-c, links of 10 Mb/s but b-c of 5 Mb/s. Without a-c its 6 Mb/s go over b.
    path = tmp_path / "net.toml"
    links = "".join(
        f'[[link]]\nfrom = "{a}"\nto = "{b}"\ncapacity = "{rate} Mb/s"\n'
        for a, b, rate in (("a", "b", 10), ("b", "c", 5), ("a", "c", 10))
    )
    demands = "".join(
        f'[[demand]]\nfrom = "a"\nto = "{to}"\nrate = "{rate} Mb/s"\n' for to, rate in (("b", 3), ("c", 6))
    )
    path.write_text(f"[nodes]\na = []\nb = []\nc = []\n{links}{demands}", encoding="utf-8")

    def planned(*options: str) -> tuple[dict[str, tuple[str, float, float]], str]:
        code = main(["plan", str(path), *options, "--json"])
        captured = capsys.readouterr()
        assert code == 0, captured.err
        steps = json.loads(captured.out)["step"]
        return {s["link"]: (s["verdict"], s["load_bps"], s["capacity_bps"]) for s in steps}, captured.err

    # ESTOP: all links are equal, and a-b is the first.
    steps, warned = planned("--estop", "0")
    assert steps == {
        "a-b": ("off", 0, 10e6),
        "a-c": ("disconnects", 9e6, 10e6),
        "b-c": ("disconnects", 3e6, 5e6),
    }
    assert warned == ""
    steps, warned = planned("--load-aware", "0.9")
    assert steps["b-c"] == ("off", 0, 5e6)
    assert warned == ""
    path.write_text(path.read_text(encoding="utf-8").replace('"6 Mb/s"', '"8 Mb/s"'), encoding="utf-8")
    steps, warned = planned("--estop", "0")
    assert steps["a-c"] == ("disconnects", 11e6, 10e6)
    assert "warning: the demands on 1 link exceed the capacity: a-c (110.0 %); --load-aware keeps" in warned
    assert main(["plan", str(path), "--estop", "0"]) == 0
    shown = capsys.readouterr().out
    assert "busiest link: a-c, 110.0 % of its capacity" in shown
    assert "the failure of any of these 2 links cuts the network in two: b-c, a-c" in shown
    assert "traffic: 11 Mb/s between 2 pairs of nodes, of the file" in shown
    assert "routes: shortest paths by hops; the routers must use the same" in shown
    # After any failure all links could carry the traffic of 3 and 6 Mb/s with 10 Mb/s, but not once one sleeps.
    n_1 = ("--load-aware", "1", "--failure-bound", "1")
    assert main(["plan", str(path), *n_1]) == 2
    refused = capsys.readouterr().err
    assert "failure_bound is 1, and link a-c carries 11 Mb/s after a failure of a-b" in refused
    assert refused.endswith('a scenario with topology.cost = "capacity" prefers large links\n')
    small = path.read_text(encoding="utf-8").replace('"8 Mb/s"', '"6 Mb/s"').replace('"5 Mb/s"', '"10 Mb/s"')
    path.write_text(small, encoding="utf-8")
    steps, _ = planned(*n_1)
    assert {verdict for verdict, *_ in steps.values()} == {"fragile"}
    # All links are awake. Without a-b or a-c, the other carries all 9 Mb/s.
    assert main(["plan", str(path), *n_1]) == 0
    shown = capsys.readouterr().out
    assert "busiest after the failure of one link: a-c, 90.0 %, without a-b" in shown
    assert "cuts the network" not in shown


def test_the_scenario_s_own_plan_does_not_count(printed: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "triangle.toml"
    cbr = '[[flow]]\nkind = "cbr"\nname = "data"\nfrom = "a"\nto = "b"\nrate = "7 Mb/s"\n'
    plan = '[[sleep]]\nat = "1 s"\nplan = { kind = "load_aware", bound = 0.6 }\n'
    path.write_text(f"{TRIANGLE}{cbr}{plan}")
    with pytest.raises(ScenarioError, match=r"plan\.bound: is 0\.6, and link a-b carries 7 Mb/s before anything"):
        Scenario.from_file(path)
    assert "1 of 3 links sleep" in printed("plan", path, "--load-aware", "0.8")


def test_flows_of_several_times_of_day_are_chosen_by_a_time(
    printed: Callable[..., str], refused: Callable[..., str], tmp_path: Path
) -> None:
    # 1 Mb/s all the time, and 1 Mb/s each before and after 2 s: at most 2 Mb/s of the bound of 2.4 Mb/s at a time.
    flow = '[[flow]]\nkind = "cbr"\nname = "NAME"\nfrom = "NYCMng"\nto = "STTLng"\nrate = "1 Mb/s"\nTIME = "2 s"\n'
    both = "".join(flow.replace("NAME", name).replace("TIME", name) for name in ("start", "stop"))
    path = tmp_path / "day.toml"
    path.write_text(RUN.replace("[[phase]]", f"{both}[[phase]]", 1), encoding="utf-8")
    assert "; --at TIME counts only the flows active then" in refused("plan", path, "--load-aware", "0.6")
    assert "traffic: 2 Mb/s between 1 pair" in printed("plan", path, "--load-aware", "0.6", "--at", "3")


def test_options_follow_from_the_plans_of_the_core(monkeypatch: pytest.MonkeyPatch) -> None:
    def kind(name: str, required: tuple[str, ...]) -> PlanKind:
        parameters = {"share": "The share that is left.", "most": "The most that sleep."}
        return PlanKind(name, "By name.", parameters, required, reads_traffic=False, rank="place", rank_unit=None)

    monkeypatch.setattr(plan, "KINDS", {"first": kind("first", ("share",)), "last_one": kind("last_one", ())})

    @click.command()
    @plan._plan_options
    def command(**options: float | bool | None) -> None:
        chosen, parameters = plan._chosen(options)
        click.echo(f"{chosen.name} {parameters}")

    def printed(*arguments: str) -> str:
        ran = CliRunner().invoke(command, arguments)
        return str(ran.exception) if ran.exception else ran.output.strip()

    assert printed("--first", "0", "--most", "3") == "first {'share': 0.0, 'most': 3.0}"
    assert printed("--last-one", "--share", "0.5") == "last_one {'share': 0.5}"
    assert (
        printed("--first", "1", "--share", "2") == "--share: is not an option of --first; expected it with --last-one"
    )
    assert printed() == "--first, --last-one: expected one of them"


def test_plans_that_cannot_be(tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("apart.toml").write_text("[nodes]\nA = []\nB = []\n")
    for arguments, message in {
        ("abilene",): "--estop, --esacon, --load-aware, --python: expected one of them",
        ("abilene", "--estop", "0.5", "--esacon", "0.5"): "expected one of them",
        ("abilene", "--estop", "0.5", "--threshold", "0.5"): "--threshold: is not an option of --estop",
        ("abilene", "--estop", "1.5"): "1.5",
        ("abilene", "--estop", "nan"): "threshold is nan",
        ("abilene", "--estop", "0.5", "--failure-bound", "1"): "--failure-bound: is not an option of --estop",
        ("apart.toml", "--estop", "0.5"): 'is in 2 pieces, of 1 and 1 nodes: no links lead to "B"',
        ("abilene", "--estop", "0.5", "--map", "x.txt"): "--map x.txt: expected a name that ends in .svg",
    }.items():
        assert message in refused("plan", *arguments)
