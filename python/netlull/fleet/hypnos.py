"""Hypnos: links that may sleep, chosen from link loads alone.

Source: nsg-ethz/hypnos (ETH Zurich) at 087acb3. docs/models/hypnos.md has the differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.fleet.connected import forest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Hypnos", "spared"]

_BUDGET_CAPACITY_BPS = 250e9
_BUDGET_PER_UTILISATION = 1e-4


@dataclass(frozen=True)
class _Bundles:
    """Links by bundle."""

    members: list[list[int]]
    """The links of each bundle."""
    order: NDArray[np.int64]
    """All links, bundle by bundle."""
    starts: NDArray[np.int64]
    """The place in `order` of the first link of each bundle."""
    turned: NDArray[np.bool_]
    """True in `order` for links that run against the first link of their bundle."""
    several: list[int]
    """The bundles of two links or more."""

    def loads(self, links: NDArray[np.float64]) -> NDArray[np.float64]:
        """The load of each bundle in the two directions of its first link, from those of the links."""
        along = links[self.order]
        along[self.turned] = along[self.turned, ::-1]
        sums: NDArray[np.float64] = np.add.reduceat(along, self.starts, axis=0)
        return sums


@dataclass(frozen=True)
class Hypnos:
    """The rule and its parameters."""

    margin: float = 0.2
    """The share of a link's capacity that stays free."""
    budget: float = 1.0
    """The factor of the reroute budget."""
    bundles: bool = True
    """True if members of a bundle may sleep: links between the same two devices."""

    def asleep(
        self, ends: Sequence[tuple[str, str]], capacities_bps: NDArray[np.float64], loads_bps: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """The links asleep in each interval.

        A link whose load is unknown in an interval neither sleeps nor carries rerouted traffic then.

        Args:
            ends: the two devices of each link.
            capacities_bps: the capacity of each link in b/s.
            loads_bps: the loads in b/s, of shape (links, 2 directions, intervals), the first direction from the first
                device; NaN is unknown.

        Returns:
            an array of shape (links, intervals).
        """
        names = {name: place for place, name in enumerate(dict.fromkeys(name for pair in ends for name in pair))}
        nodes = np.array([[names[name] for name in pair] for pair in ends], dtype=np.int64).reshape(len(ends), 2)
        found = np.zeros((len(ends), loads_bps.shape[2]), dtype=bool)
        known = np.logical_not(np.isnan(loads_bps).any(axis=1))
        # In most intervals all links are known.
        bundles = self._bundles_of(nodes)
        for interval in range(loads_bps.shape[2]):
            places = np.flatnonzero(known[:, interval])
            own = nodes[places]
            here = bundles if len(places) == len(nodes) else self._bundles_of(own)
            off = self._step(own, capacities_bps[places], loads_bps[places, :, interval], here)
            found[places[off], interval] = True
        return found

    def _step(
        self, nodes: NDArray[np.int64], capacities: NDArray[np.float64], loads: NDArray[np.float64],
        bundles: _Bundles,
    ) -> NDArray[np.int64]:  # fmt: skip
        """The places of the links that sleep in an interval."""
        total = capacities.sum()
        utilisation = loads.sum() / (2 * total) if total else 0.0
        # Without traffic nothing is rerouted.
        budget = np.inf
        if utilisation:
            budget = self.budget * total / _BUDGET_CAPACITY_BPS * _BUDGET_PER_UTILISATION / utilisation**2 * 1e9
        off: list[int] = []
        first = bundles.order[bundles.starts]
        ends, room, both = nodes[first], capacities[first], bundles.loads(loads)
        for place in bundles.several:
            bundle = bundles.members[place]
            replaced = spared(bundle, capacities, float(both[place].max()), 1 - self.margin)
            room[place] = capacities[[member for member in bundle if member not in replaced]].sum()
            off += replaced
        asleep = set(off)
        spare = np.maximum(0.0, room[:, None] * (1 - self.margin) - both)
        least = np.full(int(nodes.max(initial=-1)) + 1, np.inf)
        for side in (0, 1):
            np.minimum.at(least, ends[:, side], spare[:, side])
        fits = (both < least[ends]).all(axis=1) & (both <= (1 - self.margin) * room[:, None]).all(axis=1)
        scores = both.sum(axis=1)
        candidates = np.flatnonzero(fits)
        candidates = candidates[np.argsort(scores[candidates], kind="stable")]
        ascending = candidates.tolist()
        # Deleting links in ascending order unless that disconnects the network leaves the forest that Kruskal's
        # algorithm finds in descending order: the greedy algorithms of a matroid and its dual.
        needed = forest_of(ends.tolist(), [*np.flatnonzero(~fits).tolist(), *reversed(ascending)])
        for place, score in zip(ascending, scores[candidates].tolist(), strict=True):
            if score > budget:
                break
            if place not in needed:
                budget -= score
                off += [member for member in bundles.members[place] if member not in asleep]
        return np.array(sorted(off), dtype=np.int64)

    def _bundles_of(self, nodes: NDArray[np.int64]) -> _Bundles:
        """The links by bundle; a link alone is one."""
        found: dict[tuple[int, ...], list[int]] = {}
        for place, (one, other) in enumerate(nodes.tolist()):
            key = (min(one, other), max(one, other)) if self.bundles else (place,)
            found.setdefault(key, []).append(place)
        members = list(found.values())
        sizes = np.array([len(bundle) for bundle in members], dtype=np.int64)
        order = np.array([place for bundle in members for place in bundle], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        turned = nodes[order, 0] != np.repeat(nodes[order[starts], 0], sizes)
        return _Bundles(members, order, starts, turned, np.flatnonzero(sizes > 1).tolist())


def spared(
    bundle: Sequence[int], capacities_bps: NDArray[np.float64], load_bps: float, most_loaded: float
) -> list[int]:
    """The members of a bundle that the others can replace: the smallest, and of equal ones the last.

    The others carry the load at `most_loaded` of their capacities.
    """
    kept, room = 0, 0.0
    largest = sorted(bundle, key=lambda place: -capacities_bps[place])
    for place in largest:
        if kept and load_bps <= most_loaded * room:
            break
        kept, room = kept + 1, room + float(capacities_bps[place])
    return largest[kept:]
