"""Traffic matrices estimated from link loads, the load-aware plan on them, and the bound of sleep under loads."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from netlull import InputError
from netlull.fleet import example
from netlull.fleet.connected import blocks_of, bridges_of
from netlull.fleet.inventory import Inventory, Link, read_inventory
from netlull.fleet.loads import Loads, link_loads, read_loads
from netlull.fleet.matrix import OwnTraffic, Routes, graph_of, gravity
from netlull.fleet.needed import needed
from netlull.fleet.routed import routed
from netlull.topology import Demand, Line, Node, Topology, sleep_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

START = 1_700_000_000
Pairs = list[tuple[str, str]]


def links_of(
    pairs: Sequence[tuple[str, str]], gbps: Sequence[float], weights: Sequence[int] | None = None
) -> list[Link]:
    return [
        Link(((one, f"e{place}"), (other, f"e{place}")), speed * 1e9, None if weights is None else weights[place])
        for place, ((one, other), speed) in enumerate(zip(pairs, gbps, strict=True))
    ]


def network(
    folder: Path, pairs: Pairs, loads: np.ndarray, outside: dict[str, tuple[float, float]] | None = None,
    weights: Sequence[int] | None = None,
) -> tuple[Inventory, Loads, np.ndarray]:  # fmt: skip
    """Links of 10 Gb/s with loads of shape (links, 2, intervals) in Gb/s; `outside` has in and out by device."""
    rows = ["device,model,interface,speed,peer_device,peer_interface,weight"]
    table = ["time,device,interface,in_bps,out_bps"]
    for place, (one, other) in enumerate(pairs):
        weight = "" if weights is None else weights[place]
        rows += [
            f"{one},8201-32fh,e{place},10 Gb/s,{other},e{place},{weight}",
            f"{other},8201-32fh,e{place},10 Gb/s,,,",
        ]
        for step, (there, back) in enumerate(loads[place].T * 1e9):
            table += [f"{START + 300 * step},{one},e{place},{back},{there}"]
    for device, (entering, leaving) in (outside or {}).items():
        rows.append(f"{device},8201-32fh,out,100 Gb/s,,,")
        table += [
            f"{START + 300 * step},{device},out,{entering * 1e9},{leaving * 1e9}" for step in range(loads.shape[2])
        ]
    (folder / "inventory.csv").write_text("\n".join(rows), encoding="utf-8")
    (folder / "loads.csv").write_text("\n".join(table), encoding="utf-8")
    inventory = read_inventory(folder / "inventory.csv")
    found = read_loads([folder / "loads.csv"], inventory)
    return inventory, found, link_loads(inventory, found)


def test_a_line_of_three_by_hand(tmp_path: Path) -> None:
    # a - b - c, 1 Gb/s enters at a, 3 at c; a sends x to b and 1 - x to c. Loads: a>b 1, b>c 0.6, c>b 3, b>a 2.
    # b sends nothing itself (0 enters), so b>c is a>c: 0.6, a>b 0.4, b>a is c>a: 2, c>b 1. Every demand is determined.
    pairs = [("a", "b"), ("b", "c")]
    loads = np.array([[[1.0], [2.0]], [[0.6], [3.0]]])
    outside = {"a": (1.0, 2.0), "b": (0.0, 1.4), "c": (3.0, 0.6)}
    inventory, _, links = network(tmp_path, pairs, loads, outside)
    graph = graph_of(inventory.links)
    own = np.array([outside[device] for device in graph.devices]) * 1e9
    prior = gravity(own[:, 0], own[:, 1])
    # Gravity: a>b is 1 x 1.4/4.0 of all that is received.
    assert prior[0, 1] == pytest.approx(1e9 * 1.4 / 4)
    found = Routes(graph).fitted(prior, graph.loads(links[:, :, 0])) / 1e9
    np.testing.assert_allclose(found, [[0, 0.4, 0.6], [0, 0, 0], [2, 1, 0]], atol=1e-3)


def test_a_square_by_hand(tmp_path: Path) -> None:
    # A ring a b c d, only a and b send: a>b 4 Gb/s over the direct link. Any one link may sleep; without a-b the
    # 4 Gb/s go a d c b. At a bound of 0.3 (3 Gb/s) a-b has to stay and is too full from the start: nothing sleeps.
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    loads = np.zeros((4, 2, 2))
    loads[0, 0] = 4, 9
    inventory, told, links = network(tmp_path, pairs, loads)
    own = np.zeros((4, 2), dtype=bool)
    own[0] = True
    cut = own.copy()
    cut[1] = True
    found = routed(inventory, told, links, {"own": own, "cut": cut}, step_s=300, bound=0.8)
    # The plan tries idle links first, by their ends (b-c, c-d, d-a are all idle): one of them sleeps.
    # In the second interval 9 Gb/s exceed 8 with all links awake.
    asleep = found.load_aware["load-aware at 0.8"]
    assert asleep.sum(axis=0).tolist() == [1, 0]
    assert not asleep[0].any()
    assert (found.full, found.steps, found.from_outside) == (1, 2, False)
    assert found.errors.max() < 1e-3
    counts = {name: (each.now, each.later) for name, each in found.overloads.items()}
    # Steps above 80 and 100 % now; with the traffic of the second step after the choice of the first.
    assert counts["all links awake"] == ([1, 0], [1, 0])
    assert counts["own"] == ([1, 0], [1, 0])
    # a has no link to b left but d, c: b is cut off with both of its links asleep.
    assert counts["cut"] == ([2, 2], [1, 1])
    # a-b is above 80 % with all links awake, and no fuller without the link that sleeps.
    assert counts["load-aware at 0.8"] == ([0, 0], [0, 0])
    whole = routed(inventory, told, links, {}, step_s=600, bound=0.8)
    # The busiest interval stands for the step.
    assert (whole.steps, whole.full) == (1, 1)
    for options, message in (({"bound": 1.5}, "--load-aware 1.5"), ({"step_s": 60}, "--matrix 60 s")):
        with pytest.raises(InputError, match=message):
            routed(inventory, told, links, {}, **options)
    apart = [("a", "b"), ("c", "d")]
    two, loads_of_two, links_of_two = network(tmp_path, apart, np.ones((2, 2, 1)))
    with pytest.raises(InputError, match="the links do not connect all devices"):
        routed(two, loads_of_two, links_of_two, {}, step_s=300, bound=0.8)
    none = replace(two, ports={name: replace(port, peer=None) for name, port in two.ports.items()})
    with pytest.raises(InputError, match="no link joins two devices; a traffic matrix needs links"):
        routed(none, loads_of_two, links_of_two[:0], {}, step_s=300)


def random_pairs(random: np.random.Generator, size: int, more: int) -> Pairs:
    nodes = [f"n{place}" for place in range(size)]
    tree = [(nodes[place], nodes[int(random.integers(place))]) for place in range(1, size)]
    others = [tuple(random.choice(nodes, 2, replace=False).tolist()) for _ in range(more)]
    return tree + others


@pytest.mark.parametrize("seed", range(10))
def test_routes_and_loads_are_those_of_the_topology_package(seed: int) -> None:
    random = np.random.default_rng(seed)
    pairs = random_pairs(random, 8, 6)
    weights = random.integers(1, 4, len(pairs)).tolist()
    graph = graph_of(links_of(pairs, [10] * len(pairs), weights))
    demands = np.rint(random.exponential(1e6, (len(graph.devices),) * 2))
    np.fill_diagonal(demands, 0)
    lines = [
        Line(graph.devices[one], graph.devices[other], capacity="1000 Gb/s", cost=int(weight))
        for (one, other), weight in zip(graph.ends.tolist(), graph.weights, strict=True)
    ]
    asked = [
        Demand(graph.devices[one], graph.devices[other], f"{demands[one, other]:.0f} b/s")
        for one, other in itertools.permutations(range(len(graph.devices)), 2)
        if demands[one, other]
    ]
    nodes = tuple(map(Node, graph.devices))
    plan = sleep_plan(Topology("t", nodes, tuple(lines), tuple(asked)), "load_aware", bound=0.5)
    awake = np.array([line not in plan.off for line in lines])
    loads = Routes(graph, awake).loads(demands).reshape(-1, 2).max(axis=1)
    assert plan.loads_bps is not None
    assert dict(zip((line.label for line in lines), loads, strict=True)) == plan.loads_bps


@pytest.mark.parametrize("seed", range(6))
def test_a_known_matrix_is_found_again(seed: int) -> None:
    # A gravity matrix with a random factor for each demand; the totals of devices are known.
    random = np.random.default_rng(seed)
    pairs = random_pairs(random, 20, 20)
    graph = graph_of(links_of(pairs, [10] * len(pairs)))
    sizes = random.lognormal(0, 1, (2, 20))
    true = 1e9 * np.outer(*sizes) * random.lognormal(0, 0.3, (20, 20))
    np.fill_diagonal(true, 0)
    routes = Routes(graph)
    loads = routes.loads(true)
    prior = gravity(true.sum(axis=1), true.sum(axis=0))
    found = routes.fitted(prior, loads)
    assert np.all(found >= 0)
    assert np.abs(routes.loads(found) - loads).sum() < 1e-4 * loads.sum()
    errors = [np.abs(each - true).sum() / true.sum() for each in (prior, found)]
    assert errors[1] < 0.25
    assert errors[1] < errors[0]
    # Unknown loads leave the others exact, and noise of 1 % leaves an error of about 1 %.
    loads[:5] = np.nan
    assert np.nansum(np.abs(routes.loads(routes.fitted(prior, loads)) - loads)) < 1e-4 * np.nansum(loads)
    noisy = routes.loads(true) * random.normal(1, 0.01, loads.size)
    assert np.abs(routes.loads(routes.fitted(prior, noisy)) - noisy).sum() < 0.012 * noisy.sum()


def test_the_matrix_of_the_example(tmp_path: Path) -> None:
    # The errors that docs/how-to/energy.md states.
    random = np.random.default_rng(example._SEED)
    names, _ = example._network(random)
    by_name = example._demand(random, len(names))
    inventory = read_inventory(example.write_example(tmp_path)[0])
    graph = graph_of(inventory.links)
    order = [names.index(device) for device in graph.devices]
    true = by_name[np.ix_(order, order)] * 1e9
    routes = Routes(graph)
    loads = routes.loads(true)
    from_links = gravity(*OwnTraffic(inventory, Loads(0.0, 300.0, {}), graph).at(0, loads))
    for prior, error in ((gravity(true.sum(axis=1), true.sum(axis=0)), 0.11), (from_links, 0.37)):
        found = routes.fitted(prior, loads)
        assert np.abs(routes.loads(found) - loads).sum() < 1e-4 * loads.sum()
        assert np.abs(found - true).sum() / true.sum() == pytest.approx(error, abs=0.005)


def least_awake(links: list[Link], loads: np.ndarray, demands: np.ndarray, watts: np.ndarray) -> tuple[float, int]:
    """The least power and number of awake links that carry the demands anyhow, by all subsets and linear programs."""
    graph = graph_of(links)
    size = len(graph.devices)
    numbers = {device: place for place, device in enumerate(graph.devices)}
    ends = [tuple(numbers[device] for device in link.devices) for link in links]
    limits = np.maximum([[0.8 * link.speed_bps] for link in links], loads)
    least = (np.inf, len(links))
    for asleep in itertools.product([False, True], repeat=len(links)):
        awake = [place for place in range(len(links)) if not asleep[place]]
        power = float(watts[awake].sum())
        if power >= least[0] and len(awake) >= least[1]:
            continue
        arcs = [(*ends[place][:: 1 if side == 0 else -1], limits[place, side]) for place in awake for side in (0, 1)]
        joined = nx.Graph(arc[:2] for arc in arcs)
        joined.add_nodes_from(range(size))
        if not nx.is_connected(joined):
            continue
        # A flow for each target, in Gb/s.
        balance = np.zeros((size, len(arcs)))
        for column, (tail, head, _) in enumerate(arcs):
            balance[tail, column], balance[head, column] = 1, -1
        equal = np.kron(np.eye(size), balance)
        keep = [target * size + node for target in range(size) for node in range(size) if node != target]
        wanted = np.array([demands[node, target] for target in range(size) for node in range(size) if node != target])
        room = np.array([limit for *_, limit in arcs])
        done = linprog(
            np.zeros(size * len(arcs)), np.tile(np.eye(len(arcs)), size), room / 1e9 * (1 + 1e-9),
            equal[keep], wanted / 1e9,
        )  # fmt: skip
        if done.status == 0:
            least = (min(least[0], power), min(least[1], len(awake)))
    return least


@pytest.mark.parametrize("seed", range(24))
def test_no_rerouted_traffic_needs_less_than_the_bound(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 6))
    pairs = random_pairs(random, size, int(random.integers(1, 5)))
    weights = random.integers(1, 4, len(pairs)).tolist()
    links = links_of(pairs, random.choice([10, 25], len(pairs)).tolist(), weights)
    graph = graph_of(links)
    demands = random.exponential(1, (size, size)) * (random.random((size, size)) < 0.5)
    np.fill_diagonal(demands, 0)
    loads = Routes(graph).loads(demands).reshape(-1, 2)
    # A bundle shares its load by capacity. The fullest link has 30 to 110 %.
    links_bps = np.zeros((len(links), 2))
    for edge, own in enumerate(graph.members):
        whole = sum(links[place].speed_bps for place in own if links[place].weight == graph.weights[edge])
        for place in own:
            if links[place].weight == graph.weights[edge]:
                part = loads[edge] * links[place].speed_bps / whole
                links_bps[place] = part[::-1] if graph.turned[place] else part
    speeds = np.array([link.speed_bps for link in links])
    scale = random.uniform(0.3, 1.1) / max((links_bps / speeds[:, None]).max(), 1e-12)
    watts = random.uniform(1, 5, len(links))
    least = least_awake(links, links_bps * scale, demands * scale, watts)
    (power,), (number,) = needed(links, watts.tolist(), links_bps[:, :, None] * scale)
    assert power <= least[0] * (1 + 1e-9)
    assert number <= least[1]
    # Not less than what connects the devices.
    assert number >= size - 1


def test_the_bound_by_hand() -> None:
    # A bundle of three with 9 + 9 Gb/s one way needs 18/8 members, so all three.
    bundle = links_of([("a", "b")] * 3, [10, 10, 10])
    loads = np.zeros((3, 2, 2))
    loads[:2, 0, 0] = 8e9
    power, number = needed(bundle, [1, 2, 3], loads)
    # 16/8 is two members, the cheapest ones; without traffic one.
    assert (power.tolist(), number.tolist()) == ([3, 1], [2, 1])
    # A triangle: a sends 5 Gb/s to b and 5 to c, and receives nothing. One link has room for 8, so both stay.
    triangle = links_of([("a", "b"), ("a", "c"), ("b", "c")], [10] * 3)
    loads = np.zeros((3, 2, 2))
    loads[:2, 0, 0] = 5e9
    power, number = needed(triangle, [4, 4, 1], loads)
    assert (power.tolist(), number.tolist()) == ([8, 5], [2, 2])
    # With weights: 6 Gb/s both ways on all links are 36 in sum, and two links have room for 32.
    weighted = links_of([("a", "b"), ("a", "c"), ("b", "c")], [10] * 3, [1, 1, 1])
    full = np.full((3, 2, 1), 6e9)
    assert needed(weighted, [1, 1, 1], full)[1].tolist() == [3]
    assert needed(triangle, [1, 1, 1], full)[1].tolist() == [2]
    # A network that survives a failure keeps the ring, and two members of a bundle.
    assert needed(triangle, [4, 4, 1], np.zeros((3, 2, 1)), survives=True)[0].tolist() == [9]
    assert needed(bundle, [1, 2, 3], np.zeros((3, 2, 1)), survives=True)[0].tolist() == [3]


@pytest.mark.parametrize("seed", range(40))
def test_blocks_and_bridges_are_those_of_networkx(seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes = int(random.integers(1, 9))
    pairs = random.integers(0, nodes, (int(random.integers(1, 16)), 2)).tolist()
    blocks = blocks_of(pairs)
    assert sorted(itertools.chain(*blocks)) == [link for link, (one, other) in enumerate(pairs) if one != other]
    graph = nx.Graph([pair for pair in pairs if pair[0] != pair[1]])
    expected = {frozenset(map(frozenset, block)) for block in nx.biconnected_component_edges(graph)}
    assert {frozenset(frozenset(pairs[link]) for link in block) for block in blocks} == expected
    single = [link for link, pair in enumerate(pairs) if sum(set(pair) == set(other) for other in pairs) == 1]
    bridges = {frozenset(pair) for pair in nx.bridges(graph)}
    assert {link for link in single if frozenset(pairs[link]) in bridges} == bridges_of(pairs)


def test_the_command_estimates_and_counts(
    tmp_path: Path, printed: Callable[..., str], refused: Callable[..., str]
) -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
    network(tmp_path, pairs, np.full((4, 2, 12), 1.0), weights=[1, 1, 1, 5])
    files = [str(tmp_path / "loads.csv"), "--inventory", str(tmp_path / "inventory.csv")]
    facts: dict[str, Any] = json.loads(printed("energy", *files, "--load-aware", "0.5", "--matrix", "10 min", "--json"))
    assert facts["matrix"]["steps"] == 6
    assert facts["matrix"]["largest_error"] < 1e-4
    names = [plan["plan"] for plan in facts["plans"]]
    assert names == ["all links awake", "Hypnos", "load-aware at 0.5"]
    assert facts["plans"][2]["links_asleep"] == 1
    assert facts["plans"][2]["steps_above_80_percent"] == 0
    plain = json.loads(printed("energy", *files, "--json"))
    assert plain["matrix"] is None
    assert [plan["plan"] for plan in plain["plans"]] == ["Hypnos"]
    assert 'expected a time such as "1 h"' in refused("energy", *files, "--matrix", "often")
    printed("energy", *files, "--out", str(tmp_path / "out"))
    table = (tmp_path / "out" / "links.csv").read_text(encoding="utf-8").splitlines()
    assert [row.split(",")[2] for row in table] == ["bridge", "no", "no", "no", "yes"]
