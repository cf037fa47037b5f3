"""The links that may sleep: compared with networkx, and with a slow ESTOP written with it."""

from __future__ import annotations

import itertools
import random
import signal
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING

import networkx as nx
import pytest

from netlull.errors import InputError
from netlull.topology import Demand, Line, Node, SleepPlan, Topology, sleep_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    Links = list[tuple[int, int]]

# Cuomo et al. as greened-network-2012 numbers Abilene: alphabetical, from 0.
ABILENE = [(0, 1), (1, 4), (1, 5), (1, 11), (2, 5), (2, 8), (3, 6), (3, 9), (3, 10), (4, 6), (4, 7), (5, 6), (7, 9)]
ABILENE += [(8, 11), (9, 10)]


def _topology(nodes: int, links: Links, *, capacity: str | None = None, demands: tuple[Demand, ...] = ()) -> Topology:
    """Nodes "0", "1", ... and links of one capacity."""
    lines = tuple(Line(str(a), str(b), capacity=capacity) for a, b in links)
    return Topology("drawn", tuple(Node(str(node)) for node in range(nodes)), lines, demands)


def _random_links(nodes: int, links: int, seed: int) -> Links:
    """A random tree and random chords, in a random order."""
    rng = random.Random(seed)  # noqa: S311
    drawn = {(rng.randrange(node), node) for node in range(1, nodes)}
    while len(drawn) < links:
        a, b = sorted(rng.sample(range(nodes), 2))
        drawn.add((a, b))
    found = sorted(drawn)
    rng.shuffle(found)
    return found


def _graph(nodes: int, links: Links) -> nx.Graph[int]:
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(links)
    return graph


def _connectivity(graph: nx.Graph[int]) -> float:
    return float(nx.laplacian_spectrum(graph)[1])


def _ends(lines: tuple[Line, ...]) -> Links:
    return [(int(line.a), int(line.b)) for line in lines]


def _slow_estop(nodes: int, links: Links, threshold: float) -> Links:
    """ESTOP's rule of docs/models/estop.md, word by word."""
    graph = _graph(nodes, links)
    betweenness = nx.edge_betweenness_centrality(graph, normalized=False)
    initial = _connectivity(graph)
    off = []
    # Sums of fractions are equal if they differ only by rounding.
    for link in sorted(links, key=lambda link: (round(betweenness[link], 9), link)):
        graph.remove_edge(*link)
        if nx.is_connected(graph) and _connectivity(graph) >= threshold * initial * (1 - 1e-9):
            off.append(link)
        else:
            graph.add_edge(*link)
    return off


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [
        (0.9, [(9, 10), (3, 9)]),
        (0.8, [(9, 10), (3, 9), (2, 8)]),  # the paper has two links at 80 %, its one anomaly
        (0.7, [(9, 10), (3, 9), (2, 8)]),
        (0.6, [(9, 10), (3, 9), (2, 8)]),
        (0.5, [(9, 10), (3, 9), (2, 8), (1, 5)]),
    ],
)
def test_estop_on_abilene_is_table_v(threshold: float, expected: Links) -> None:
    plan = sleep_plan(_topology(12, ABILENE), "estop", threshold=threshold)
    assert _ends(plan.off) == expected
    assert plan.initial_connectivity == pytest.approx(0.30899, abs=5e-6)


@pytest.mark.parametrize("seed", range(30))
def test_estop_is_the_slow_estop_on_random_graphs(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311
    nodes = rng.randint(10, 30)
    links = _random_links(nodes, rng.randint(nodes, 3 * nodes), seed)
    threshold = rng.choice([0.0, 0.3, 0.5, 0.7, 0.9, 1.0])
    plan = sleep_plan(_topology(nodes, links), threshold=threshold)
    assert _ends(plan.off) == _slow_estop(nodes, links, threshold)
    betweenness = nx.edge_betweenness_centrality(_graph(nodes, links), normalized=False)
    ranks = {(int(step.line.a), int(step.line.b)): step.rank for step in plan.steps}
    assert ranks == pytest.approx(betweenness, rel=1e-12)


def _check_steps(nodes: int, links: Links, plan: SleepPlan, threshold: float) -> None:
    """Replays a plan with networkx: each verdict, and lambda_2 after each step."""
    graph = _graph(nodes, links)
    initial = _connectivity(graph)
    assert plan.initial_connectivity == pytest.approx(initial, rel=1e-9)
    for step in plan.steps:
        (link,) = _ends((step.line,))
        graph.remove_edge(*link)
        connected = nx.is_connected(graph)
        assert (step.verdict == "disconnects") == (not connected)
        if step.verdict in {"off", "too_loaded"}:
            assert _connectivity(graph) >= threshold * initial * (1 - 1e-8)
        if step.verdict == "too_weak":
            assert _connectivity(graph) < threshold * initial
        if step.verdict != "off":
            graph.add_edge(*link)
        assert step.connectivity == pytest.approx(_connectivity(graph), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_every_step_is_what_networkx_says(seed: int) -> None:
    nodes, links = 20, _random_links(20, 45, seed)
    for kind in ("estop", "esacon"):
        _check_steps(nodes, links, sleep_plan(_topology(nodes, links), kind, threshold=0.4), 0.4)
    demands = tuple(Demand(str(node), str((node + 7) % nodes), "1 Mb/s") for node in range(nodes))
    loaded = _topology(nodes, links, capacity="16 Mb/s", demands=demands)
    plan = sleep_plan(loaded, "load_aware", threshold=0.4, bound=0.5)
    _check_steps(nodes, links, plan, 0.4)
    assert max(step.rank for step in plan.steps) <= 8e6


def test_esacon_orders_by_what_is_left_without_each_link() -> None:
    links = _random_links(20, 45, 11)
    plan = sleep_plan(_topology(20, links), "esacon", threshold=0.6)
    kept = []
    for step in plan.steps:
        (link,) = _ends((step.line,))
        graph = _graph(20, [other for other in links if other != link])
        kept.append(_connectivity(graph))
        assert step.rank == pytest.approx(kept[-1], abs=1e-9)
    assert all(before >= after - 1e-8 for before, after in itertools.pairwise(kept))


@pytest.mark.parametrize(
    ("kind", "bound", "nodes"), [("estop", None, 1000), ("esacon", None, 300), ("load_aware", 0.5, 300)]
)
def test_large_networks_are_planned(kind: str, bound: float | None, nodes: int) -> None:
    links = _random_links(nodes, 5 * nodes, 1)
    demands = tuple(Demand(str(node), str((node + nodes // 2) % nodes), "1 Mb/s") for node in range(nodes))
    topology = _topology(nodes, links, capacity="1 Gb/s", demands=demands)
    _check_end(links, sleep_plan(topology, kind, threshold=0.99, bound=bound), 0.99)


def test_more_than_a_thousand_links_can_sleep() -> None:
    """After a thousand of them the guard computes its inverse anew."""
    links = _random_links(120, 1500, 1)
    plan = sleep_plan(_topology(120, links), threshold=0.05)
    assert len(plan.off) > 1000
    _check_end(links, plan, 0.05)


def _check_end(links: Links, plan: SleepPlan, threshold: float) -> None:
    """Every link has its step, and lambda_2 of those left is what networkx says."""
    off = set(_ends(plan.off))
    assert len(plan.steps) == len(links)
    assert off
    nodes = 1 + max(node for link in links for node in link)
    left = _connectivity(_graph(nodes, [link for link in links if link not in off]))
    assert plan.steps[-1].connectivity == pytest.approx(left, rel=1e-9)
    assert left >= threshold * plan.initial_connectivity * (1 - 1e-9)


PAIR: Links = [(0, 1)]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (lambda: sleep_plan(_topology(2, PAIR), "estoop"), 'kind: "estoop" is unknown; expected one of estop, esacon'),
        (lambda: sleep_plan(_topology(2, PAIR)), "threshold is None; expected the share of the algebraic connectivity"),
        (lambda: sleep_plan(_topology(2, PAIR), threshold=1.5), r"drawn: threshold is 1\.5; expected 0 to 1"),
        (lambda: sleep_plan(_topology(2, PAIR), threshold=float("nan")), "threshold is nan; expected the share of"),
        (lambda: sleep_plan(_topology(2, PAIR), threshold=0.5, bound=0.5), "bound: 0.5 is given for estop"),
        (lambda: sleep_plan(_topology(3, PAIR), threshold=0.5), "drawn: is in 2 pieces"),
        (
            lambda: sleep_plan(_topology(2, PAIR), "load_aware", bound=0.5),
            "drawn: link 0-1 has no capacity; expected a capacity of every link, in the file or as",
        ),
        (
            lambda: sleep_plan(_topology(2, PAIR, capacity="1 Mb/s"), "load_aware", bound=2),
            r"drawn: bound is 2; expected more than 0 and at most 1",
        ),
        (
            lambda: sleep_plan(
                _topology(2, PAIR, capacity="10 Mb/s", demands=(Demand("1", "0", "6 Mb/s"),)), "load_aware", bound=0.5
            ),
            r"bound is 0.5, and link 0-1 carries 6 Mb/s before .*; expected at most 5 Mb/s, bound x capacity",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(plan: Callable[[], SleepPlan], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan()


def test_a_plan_that_takes_long_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = threading.Event()

    def forever(_: str) -> str:
        stopped.wait(20)
        return "{}"

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("netlull._engine._core", SimpleNamespace(sleep_plan=forever))
    pair = Topology("pair", (Node("a"), Node("b")), (Line("a", "b"),))
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            sleep_plan(pair, "estop", threshold=0.5)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        stopped.set()
