"""A traffic matrix estimated from link loads, and the loads of links while some sleep.

Gravity model and tomogravity: Zhang, Roughan, Duffield, Greenberg, "Fast accurate computation of large-scale IP traffic
matrices from link loads", SIGMETRICS 2003. Positive demands of least relative entropy: Zhang, Roughan, Lund, Donoho,
"An information-theoretic approach to traffic matrix estimation", SIGCOMM 2003.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netlull.fleet.inventory import Inventory, Link
    from netlull.fleet.loads import Loads

__all__ = ["MOST_DEVICES", "Graph", "OwnTraffic", "Routes", "graph_of", "gravity"]

MOST_DEVICES = 400
"""The largest network, in devices with links: time and memory grow with the square of their number."""
_ROUNDS = 20
_ENOUGH = 1e-4
"""The relative error of the loads at which the estimate ends."""
_DAMPING = 1e-6
"""The damping of the least squares, relative to the diagonal."""
_MOST_CHANGE = 2.0
"""The largest logarithm by which a demand changes in a round."""
_HALVINGS = 6
_SLOW = 0.99
"""The share of the error that a round must leave at most, or it is the last: measured loads contradict each other."""
_TRANSIT = 0.9
"""The assumed share of transit in the traffic of a device with several neighbours, if no load from outside is known."""


@dataclass(frozen=True)
class Graph:
    """The devices that have links, with their bundles: all links between the same two devices are one edge.

    Edge i has the directions 2 i (from the first of its ends) and 2 i + 1, as in the core's load-aware plan.
    """

    devices: Sequence[str]
    ends: NDArray[np.int64]
    """The places of the two devices of each edge: an array of shape (edges, 2)."""
    members: Sequence[Sequence[int]]
    """The links of each edge."""
    weights: NDArray[np.int64]
    """The smallest weight of each edge's links; 1 without weights."""
    turned: NDArray[np.bool_]
    """True for links that run against their edge."""
    edge_of: NDArray[np.int64]
    """The edge of each link; -1 for a link from a device to itself."""

    def loads(self, links_bps: NDArray[np.float64]) -> NDArray[np.float64]:
        """The loads of all directions of the edges, from those of the links in an interval, of shape (links, 2)."""
        along = np.where(self.turned[:, None], links_bps[:, ::-1], links_bps)
        found = np.zeros((len(self.members), 2))
        own = self.edge_of >= 0
        np.add.at(found, self.edge_of[own], along[own])
        return found.ravel()

    def capacities(self, speeds_bps: NDArray[np.float64], asleep: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The capacity of each edge whose links are partly asleep; 0 if all are."""
        own = (self.edge_of >= 0) & ~asleep
        return _sums(self.edge_of[own], speeds_bps[own], len(self.members))


def graph_of(links: Sequence[Link]) -> Graph:
    """The graph of an inventory's links.

    Raises:
        InputError: it has too many devices.
    """
    devices = list(dict.fromkeys(device for link in links for device in link.devices))
    if len(devices) > MOST_DEVICES:
        raise InputError(f"the traffic matrix: {len(devices)} devices have links; expected at most {MOST_DEVICES}")
    numbers = {device: place for place, device in enumerate(devices)}
    edges: dict[frozenset[str], int] = {}
    ends: list[tuple[int, int]] = []
    members: list[list[int]] = []
    turned, edge_of = np.zeros(len(links), dtype=bool), np.full(len(links), -1)
    for place, link in enumerate(links):
        one, other = (numbers[device] for device in link.devices)
        if one == other:
            continue
        edge = edges.setdefault(frozenset(link.devices), len(ends))
        if edge == len(ends):
            ends.append((one, other))
            members.append([])
        members[edge].append(place)
        edge_of[place], turned[place] = edge, ends[edge] != (one, other)
    weights = [min(links[place].weight or 1 for place in own) for own in members]
    return Graph(
        devices,
        np.array(ends, dtype=np.int64).reshape(-1, 2),
        members,
        np.array(weights, dtype=np.int64),
        turned,
        edge_of,
    )


class Routes:
    """The shortest paths between all devices over the awake edges.

    Among equal paths it is the one over the lowest-numbered direction, as in the core's load-aware plan.
    """

    def __init__(self, graph: Graph, awake: NDArray[np.bool_] | None = None) -> None:
        size = len(graph.devices)
        places = np.arange(len(graph.members)) if awake is None else np.flatnonzero(awake)
        far = np.full((size, size), np.inf)
        np.fill_diagonal(far, 0.0)
        for one, other in (graph.ends[places].T, graph.ends[places, ::-1].T):
            far[one, other] = graph.weights[places]
        # Floyd and Warshall.
        for middle in range(size):
            np.minimum(far, far[:, middle, None] + far[middle], out=far)
        heads = graph.ends[:, ::-1].ravel()
        ahead = np.full((size, size), -1)
        for place in places[::-1].tolist():
            weight = float(graph.weights[place])
            for side in (1, 0):
                tail, head = graph.ends[place, side], graph.ends[place, 1 - side]
                ahead[tail, np.isfinite(far[tail]) & (weight + far[head] == far[tail])] = 2 * place + side
        np.fill_diagonal(ahead, -1)
        self.directions = 2 * len(graph.members)
        self.size = size
        self.pairs = np.flatnonzero(ahead >= 0)
        """The pairs that have a path: source x devices + target."""
        at, target = np.divmod(self.pairs, size)
        going = np.arange(self.pairs.size)
        hops: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        while going.size:
            direction = ahead[at, target]
            hops.append((direction, going))
            at = heads[direction]
            on = at != target
            at, target, going = at[on], target[on], going[on]
        none = np.zeros(0, dtype=np.int64)
        self.hops = np.concatenate([hop[0] for hop in hops] or [none])
        """The directions of all paths."""
        self.hop_pairs = np.concatenate([hop[1] for hop in hops] or [none])
        """The place in `pairs` of the path that has each of `hops`."""

    def loads(self, demands: NDArray[np.float64]) -> NDArray[np.float64]:
        """The load of each direction, for demands of shape (devices, devices)."""
        return self._carried(demands.ravel()[self.pairs])

    @functools.cached_property
    def _both(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For any two hops of a path: their directions as one number, and the place of the path in `pairs`."""
        order = np.argsort(self.hop_pairs, kind="stable")
        hops, paths = self.hops[order], self.hop_pairs[order]
        lengths = np.bincount(paths, minlength=self.pairs.size)
        starts = np.cumsum(lengths) - lengths
        each = lengths[paths]
        one = np.repeat(np.arange(hops.size), each)
        # Counts up from the first hop of the same path.
        other = np.arange(one.size) - np.repeat(np.cumsum(each) - each, each) + starts[paths[one]]
        return hops[one] * self.directions + hops[other], paths[one]

    def _carried(self, demands: NDArray[np.float64]) -> NDArray[np.float64]:
        return _sums(self.hops, demands[self.hop_pairs], self.directions)

    def fitted(self, prior: NDArray[np.float64], loads: NDArray[np.float64]) -> NDArray[np.float64]:
        """The demands nearest to the prior's whose loads are `loads`; NaN is unknown. Shape (devices, devices).

        Each round is the least-squares step of tomogravity, which weights the changes of demands by the demands
        themselves. It multiplies them by its exponential, so that none falls below 0. The fixed point is the matrix of
        the least relative entropy to the prior.
        """
        demands = prior.ravel()[self.pairs]
        known = np.flatnonzero(~np.isnan(loads))
        enough = _ENOUGH * float(loads[known].sum())
        both, paths = self._both
        left = (loads - self._carried(demands))[known]
        for _ in range(_ROUNDS):
            if np.abs(left).sum() <= enough:
                break
            square = np.bincount(both, demands[paths], self.directions**2).reshape(self.directions, -1)
            square = square[np.ix_(known, known)]
            diagonal = np.diag(square)
            # Dependent equations have no other unique solution.
            square[np.diag_indices_from(square)] = diagonal * (1 + _DAMPING) + _DAMPING * max(diagonal.max(), 1.0)
            step = np.zeros(self.directions)
            step[known] = np.linalg.solve(square, left)
            change = np.clip(np.bincount(self.hop_pairs, step[self.hops], self.pairs.size), -_MOST_CHANGE, _MOST_CHANGE)
            for part in 0.5 ** np.arange(_HALVINGS):
                tried = demands * np.exp(part * change)
                now = (loads - self._carried(tried))[known]
                if np.abs(now).sum() < np.abs(left).sum():
                    break
            else:
                break
            slow = np.abs(now).sum() > _SLOW * np.abs(left).sum()
            demands, left = tried, now
            if slow:
                break
        found = np.zeros(self.size**2)
        found[self.pairs] = demands
        return found.reshape(self.size, -1)


def _sums(places: NDArray[np.int64], values: NDArray[np.float64], number: int) -> NDArray[np.float64]:
    """The sum of the values at each place."""
    return np.bincount(places, values, number).astype(np.float64)


def gravity(sent: NDArray[np.float64], received: NDArray[np.float64]) -> NDArray[np.float64]:
    """The gravity model: a demand is proportional to the traffic that its source sends and its target receives."""
    total = received.sum()
    demands = np.outer(sent, received) / (total or 1.0)
    np.fill_diagonal(demands, 0.0)
    return demands


class OwnTraffic:
    """The traffic that devices send into the network and receive from it, as far as loads tell."""

    def __init__(self, inventory: Inventory, loads: Loads, graph: Graph) -> None:
        numbers = {device: place for place, device in enumerate(graph.devices)}
        self._graph = graph
        self._outside = [
            (numbers[name[0]], rates)
            for name, rates in loads.rates.items()
            if inventory.ports[name].peer is None and name[0] in numbers
        ]
        neighbours = np.bincount(graph.ends.ravel(), minlength=len(numbers))
        self._share = np.where(neighbours > 1, 1 - _TRANSIT, 1.0)

    @property
    def is_measured(self) -> bool:
        """True if loads of interfaces to customers and other networks are known."""
        return bool(self._outside)

    def at(self, interval: int, loads: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Sent and received by each device in an interval, for the loads of the graph's directions.

        It is the traffic of the interfaces to the outside. If none is known, it is all traffic of the links of a device
        with one neighbour, and a tenth of it at others. It is never less than the difference of what leaves and reaches
        the device on links.
        """
        known = np.nan_to_num(loads)
        ends, devices = self._graph.ends, len(self._graph.devices)
        sent = _sums(ends.ravel(), known, devices)
        received = _sums(ends[:, ::-1].ravel(), known, devices)
        net = sent - received
        if self._outside:
            sent, received = np.zeros(devices), np.zeros(devices)
            for device, rates in self._outside:
                entering, leaving = np.nan_to_num(rates[:, interval])
                sent[device] += entering
                received[device] += leaving
        else:
            sent, received = sent * self._share, received * self._share
        return np.maximum(sent, net), np.maximum(received, -net)
