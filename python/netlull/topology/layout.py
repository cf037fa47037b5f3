"""Positions of nodes in a picture: on Earth, or without coordinates by distances in hops."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from netlull.topology.model import Network, hops_between

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["layout"]

Points = npt.NDArray[np.float64]
_ROUNDS = 200
_MOST_BY_STRESS = 1500
"""The largest network, in nodes, that is laid out by hops. Larger ones become a circle."""
_APART = 0.012
"""Distance of nodes at the same position, as a share of the picture."""


def layout(topology: Network) -> Points:
    """X and y of each node, as an array of shape (nodes, 2). Equal topologies give equal positions.

    Both axes have the same unit. With coordinates it is an equirectangular projection, true to scale at the middle
    latitude. Nodes without coordinates are drawn next to their neighbours. If fewer than half have coordinates, it is
    stress majorization of the distances in hops (Gansner et al., Graph Drawing 2004), with Kamada and Kawai's energy.
    """
    places = [node.position for node in topology.nodes]
    known = [place for place in places if place is not None]
    if 2 * len(known) < len(places) or len(set(known)) < 2:
        return _apart(_by_hops(topology))
    return _apart(_beside(topology, _projected(places)))


def _projected(places: Sequence[tuple[float, float] | None]) -> list[tuple[float, float] | None]:
    known = [place for place in places if place is not None]
    cut = _cut(sorted(east for east, _ in known))
    middle = (min(north for _, north in known) + max(north for _, north in known)) / 2
    scale = math.cos(math.radians(middle))
    return [None if place is None else ((place[0] + 360 * (place[0] < cut)) * scale, place[1]) for place in places]


def _cut(east: Sequence[float]) -> float:
    """The westernmost longitude of the map: after the widest gap, if that is wider than half the Earth."""
    gaps = [(after - before, after) for before, after in itertools.pairwise(east)]
    widest, after = max(gaps, default=(0.0, -180.0))
    return after if widest > 180 else -math.inf


def _beside(topology: Network, places: list[tuple[float, float] | None]) -> Points:
    """All nodes. Those without coordinates are placed a little outside their neighbours."""
    known = np.array([place for place in places if place is not None])
    middle, step = known.mean(axis=0), 0.08 * float(np.ptp(known, axis=0).max())
    points = np.array([(math.nan, math.nan) if place is None else place for place in places])
    neighbours = topology.neighbours
    for _ in places:
        left = [node for node in range(len(places)) if math.isnan(points[node][0])]
        ready = [node for node in left if any(not math.isnan(points[other][0]) for other in neighbours[node])]
        for count, node in enumerate(ready or left):
            near = [points[other] for other in neighbours[node] if not math.isnan(points[other][0])]
            at = np.mean(near, axis=0) if near else middle
            outwards = math.atan2(at[1] - middle[1], at[0] - middle[0]) + 0.7 * ((count + 1) // 2) * (-1) ** count
            points[node] = at + step * np.array([math.cos(outwards), math.sin(outwards)])
        if len(ready or left) == len(left):
            break
    return points


def _by_hops(topology: Network) -> Points:
    count = len(topology.nodes)
    angles = 2 * math.pi * np.arange(count) / count
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    if not 3 <= count <= _MOST_BY_STRESS:
        return circle
    hops = np.array(hops_between(topology), dtype=np.float64)
    far = float(hops[np.isfinite(hops)].max()) + 2
    hops[~np.isfinite(hops)] = far
    points = _start(hops)
    np.fill_diagonal(hops, 1)
    weights = hops**-2.0
    np.fill_diagonal(weights, 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_ROUNDS if count <= 300 else _ROUNDS // 10):
        gaps = points[:, None, :] - points[None, :, :]
        lengths = np.sqrt((gaps**2).sum(axis=2))
        np.fill_diagonal(lengths, 1)
        pull = weights * hops / np.maximum(lengths, 1e-9)
        np.fill_diagonal(pull, 0)
        points = inverse @ (pull.sum(axis=1)[:, None] * points - pull @ points)
    return points


def _start(hops: Points) -> Points:
    """Classical multidimensional scaling plus a small circle: no two nodes start at the same position."""
    count = len(hops)
    centred = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-centred @ (hops**2) @ centred / 2)
    found = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0))
    found *= np.where(found[np.abs(found).argmax(axis=0), [0, 1]] < 0, -1, 1)  # a vector's sign is arbitrary
    angles = 2 * math.pi * np.arange(count) / count
    return np.asarray(found + 0.1 * np.column_stack([np.cos(angles), np.sin(angles)]))


def _apart(points: Points) -> Points:
    """Spreads nodes at (nearly) the same position over a small circle around it."""
    extent = float(np.ptp(points, axis=0).max()) or 1.0
    cells: dict[tuple[int, int], list[int]] = {}
    for node, (x, y) in enumerate(points):
        cells.setdefault((round(x / extent / _APART), round(y / extent / _APART)), []).append(node)
    moved = points.copy()
    for together in cells.values():
        for count, node in enumerate(together if len(together) > 1 else ()):
            angle = 2 * math.pi * count / len(together)
            moved[node] += _APART * extent * np.array([math.cos(angle), math.sin(angle)])
    return moved
