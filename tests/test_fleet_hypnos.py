"""Hypnos's choice of sleeping links, against the rule step by step on random networks."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from netlull.fleet.hypnos import Hypnos

Ends = list[tuple[str, str]]


def step_by_step(ends: Ends, capacities: np.ndarray, loads: np.ndarray, *, bundles: bool) -> set[int]:
    """The links asleep in one interval, each deletion tried on the whole graph."""
    asleep: set[int] = set()
    total = capacities.sum()
    utilisation = loads.sum() / (2 * total)
    budget = total / 1e9 / 250 * 1e-4 / utilisation**2
    groups: dict[object, list[int]] = {}
    for link, pair in enumerate(ends):
        groups.setdefault(frozenset(pair) if bundles else link, []).append(link)
    network = nx.MultiGraph()
    network.add_nodes_from(node for pair in ends for node in pair)
    for name, group in groups.items():
        one, other = ends[group[0]]
        there = sum(loads[link, 0 if ends[link][0] == one else 1] for link in group)
        back = sum(loads[link, 1 if ends[link][0] == one else 0] for link in group)
        awake: list[int] = []
        for link in sorted(group, key=lambda link: -capacities[link]):
            if awake and max(there, back) <= 0.8 * sum(capacities[each] for each in awake):
                asleep.add(link)
            else:
                awake.append(link)
        room = sum(capacities[link] for link in awake)
        network.add_edge(one, other, key=name, load={one: there, other: back}, room=room, links=awake)

    def spare(node: str) -> float:
        told = network.edges(node, data=True)
        return min(max(0.0, 0.8 * edge["room"] - edge["load"][node]) for _, _, edge in told)

    spares = {node: spare(node) for node in network}
    candidates = [
        (sum(edge["load"].values()), place, one, other, key)
        for place, (one, other, key, edge) in enumerate(network.edges(keys=True, data=True))
        if all(load < spares[node] and load <= 0.8 * edge["room"] for node, load in edge["load"].items())
    ]
    order = {key: place for place, key in enumerate(groups)}
    pieces = nx.number_connected_components(network)
    for score, _, one, other, key in sorted(candidates, key=lambda entry: (entry[0], order[entry[4]])):
        if score / 1e9 > budget:
            break
        edge = network.edges[one, other, key]
        network.remove_edge(one, other, key)
        if nx.number_connected_components(network) == pieces:
            asleep.update(edge["links"])
            budget -= score / 1e9
        else:
            network.add_edge(one, other, key, **edge)
    return asleep


@pytest.mark.parametrize("seed", range(60))
def test_the_choice_is_that_of_the_rule_step_by_step(seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes = [f"n{number}" for number in range(int(random.integers(3, 12)))]
    pairs = [tuple(random.choice(nodes, 2, replace=False).tolist()) for _ in range(int(random.integers(2, 40)))]
    capacities = random.choice([1e9, 1e10, 1e11], len(pairs))
    # From nearly idle networks, where the budget is large, to full ones.
    level = 10 ** random.uniform(-5, 0)
    loads = (random.uniform(0, level, (len(pairs), 2, 4))) * capacities[:, None, None]
    for bundles in (True, False):
        found = Hypnos(bundles=bundles).asleep(pairs, capacities, loads)
        for interval in range(4):
            expected = step_by_step(pairs, capacities, loads[:, :, interval], bundles=bundles)
            assert set(np.flatnonzero(found[:, interval]).tolist()) == expected


def test_a_triangle_by_hand() -> None:
    # 10 Gb/s each. Total capacity 30 Gb/s, loads 0.1, 0.2 and 0.3 Gb/s in one direction each: utilisation 0.6/60, 0.01.
    # Budget 30/250 x 1e-4/0.01^2 = 0.12 Gb/s: enough for the first link (0.1). A ring without a link is connected;
    # without two it is not.
    ends = [("a", "b"), ("b", "c"), ("c", "a")]
    loads = np.array([[0.1e9, 0], [0.2e9, 0], [0.3e9, 0]])[:, :, None]
    capacities = np.full(3, 10e9)
    assert Hypnos().asleep(ends, capacities, loads)[:, 0].tolist() == [True, False, False]
    assert not Hypnos(budget=0.5).asleep(ends, capacities, loads).any()


def test_a_bundle_keeps_the_members_that_carry_its_load() -> None:
    # 3 x 10 Gb/s with 9 Gb/s one way: 9/8 needs two members. One way round the links are listed in the other direction.
    ends = [("a", "b"), ("b", "a"), ("a", "b")]
    loads = np.array([[3e9, 0], [0, 3e9], [3e9, 0]])[:, :, None]
    assert Hypnos().asleep(ends, np.full(3, 10e9), loads)[:, 0].tolist() == [False, False, True]
    assert not Hypnos(margin=0.6).asleep(ends, np.full(3, 10e9), loads).any()


def test_unknown_loads_and_no_traffic() -> None:
    ends = [("a", "b"), ("b", "c"), ("c", "a")]
    loads = np.zeros((3, 2, 2))
    loads[0, 0, 0] = np.nan
    # Without the unknown link the other two must stay. Without traffic the first of equals sleeps.
    found = Hypnos().asleep(ends, np.full(3, 1e9), loads)
    assert found[:, 0].tolist() == [False, False, False]
    assert found[:, 1].tolist() == [True, False, False]
