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
        bundles = self._members(nodes)
        for interval in range(loads_bps.shape[2]):
            places = np.flatnonzero(known[:, interval])
            own = nodes[places]
            members = bundles if len(places) == len(nodes) else self._members(own)
            off = self._step(own, capacities_bps[places], loads_bps[places, :, interval], members)
            found[places[off], interval] = True
        return found

    def _step(
        self, nodes: NDArray[np.int64], capacities: NDArray[np.float64], loads: NDArray[np.float64],
        members: list[list[int]],
    ) -> NDArray[np.int64]:  # fmt: skip
        """The places of the links that sleep in an interval."""
        total = capacities.sum()
        utilisation = loads.sum() / (2 * total) if total else 0.0
        # Without traffic nothing is rerouted.
        budget = np.inf
        if utilisation:
            budget = self.budget * total / _BUDGET_CAPACITY_BPS * _BUDGET_PER_UTILISATION / utilisation**2 * 1e9
        off: list[int] = []
        first = [bundle[0] for bundle in members]
        ends, room, both = nodes[first], capacities[first], loads[first]
        for place, bundle in enumerate(members):
            if len(bundle) > 1:
                both[place] = _directed(bundle, nodes, loads)
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
        # Deleting links in ascending order unless that disconnects the network leaves the forest that Kruskal's
        # algorithm finds in descending order: the greedy algorithms of a matroid and its dual.
        needed = forest_of(ends.tolist(), [*np.flatnonzero(~fits).tolist(), *candidates[::-1].tolist()]).links
        for place in candidates.tolist():
            if scores[place] > budget:
                break
            if place not in needed:
                budget -= scores[place]
                off += [member for member in members[place] if member not in asleep]
        return np.array(sorted(off), dtype=np.int64)

    def _members(self, nodes: NDArray[np.int64]) -> list[list[int]]:
        """The links of each bundle; a link alone is one."""
        if not self.bundles:
            return [[place] for place in range(len(nodes))]
        found: dict[tuple[int, int], list[int]] = {}
        for place, (one, other) in enumerate(nodes.tolist()):
            found.setdefault((min(one, other), max(one, other)), []).append(place)
        return list(found.values())


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


def _directed(bundle: list[int], nodes: NDArray[np.int64], loads: NDArray[np.float64]) -> NDArray[np.float64]:
    """The loads of a bundle in the two directions of its first member."""
    turned = nodes[bundle, 0] != nodes[bundle[0], 0]
    load: NDArray[np.float64] = np.where(turned[:, None], loads[bundle][:, ::-1], loads[bundle]).sum(axis=0)
    return load
