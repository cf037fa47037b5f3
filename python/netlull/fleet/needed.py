"""The least power of the links that must stay awake, as it follows from link loads without a traffic matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.fleet.connected import blocks_of, forest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netlull.fleet.connected import Pair
    from netlull.fleet.inventory import Link

__all__ = ["MOST_LOADED", "needed"]

MOST_LOADED = 0.8
"""The largest load of a link that traffic goes around to, as a share of its capacity: Hypnos's margin."""
_CHUNK = 512
"""The intervals that are computed at once."""
_ROUNDING = 1 - 1e-9

Needed = tuple["NDArray[np.float64]", "NDArray[np.float64]"]
"""The power and the number of links that must stay awake, by interval."""


def needed(
    links: Sequence[Link], watts: Sequence[float], loads_bps: NDArray[np.float64], *, survives: bool = False
) -> Needed:
    """Lower bounds of the power and the number of the links that stay awake, in each interval.

    The awake links connect the same devices as all links, and no link carries more than 80 % of its capacity, or than
    today if that is more. Every device sends into the network and receives from it as much as today, and today's
    paths have no loops. Inside each block of the graph (`blocks_of`) follows:

    1. Two devices: the awake links have room for the load of the busier direction. There is no other way.
    2. More devices: the awake links connect them; with `survives` they are at least as many as the devices.
    3. The links awake at a device have room for the difference of the traffic that leaves it and that reaches it: no
       other path changes this difference. A link without which they would not stays awake.
    4. With weights, today's paths are shortest ones. Around a sleeping link they become no shorter, so that the sum of
       weight x load over all links does not fall, and the awake links have room for it.

    Args:
        links: the links.
        watts: the power of each link that sleep would save.
        loads_bps: the loads, of shape (links, 2 directions, intervals). An unknown one (NaN) is no traffic, and point 3
            leaves out its devices.
        survives: the network survives the failure of a link wherever it does with all links.
    """
    own_watts = np.asarray(watts, dtype=float)
    intervals = loads_bps.shape[2]
    power, number = np.zeros(intervals), np.zeros(intervals)
    pairs = [link.devices for link in links]
    for block in blocks_of(pairs):
        own = _Block([links[place] for place in block], own_watts[block], survives=survives)
        for start in range(0, intervals, _CHUNK):
            here = slice(start, start + _CHUNK)
            found = own.needed(loads_bps[block, :, here])
            power[here] += found[0]
            number[here] += found[1]
    return power, number


class _Block:
    """A part of the network that no single device cuts in two."""

    def __init__(self, links: Sequence[Link], watts: NDArray[np.float64], *, survives: bool) -> None:
        self.pairs: list[Pair] = [link.devices for link in links]
        self.devices = list(dict.fromkeys(device for link in links for device in link.devices))
        self.watts = watts
        self.room = np.array([MOST_LOADED * link.speed_bps for link in links])
        weights = [link.weight for link in links]
        self.weights = None if None in weights else np.array(weights, dtype=float)
        self.least = len(self.devices) if survives and len(links) > 1 else len(self.devices) - 1
        self._kept: dict[bytes, tuple[float, int]] = {}

    def needed(self, loads: NDArray[np.float64]) -> Needed:
        """The power and the number of links that must stay awake in each interval."""
        # A link that is fuller today may stay so: its excess needs no room.
        within = np.minimum(np.nan_to_num(loads), self.room[:, None, None])
        if len(self.devices) == 2:
            turned = np.array([pair != self.pairs[0] for pair in self.pairs])
            carried = np.where(turned[:, None, None], within[:, ::-1], within).sum(axis=0).max(axis=0)
            found = _cover(self.room, self.watts, carried)
            cheapest = float(np.sort(self.watts)[: self.least].sum())
            return np.maximum(found[0], cheapest), np.maximum(found[1], self.least)
        forced = self._forced(loads)
        kept = np.array([self._connected(column) for column in np.ascontiguousarray(forced.T)]).reshape(-1, 2).T
        if self.weights is None:
            return kept[0], kept[1]
        length = np.tensordot(self.weights, within.sum(axis=1), axes=1)
        found = _cover(2 * self.weights * self.room, self.watts, length)
        return np.maximum(found[0], kept[0]), np.maximum(found[1], kept[1])

    def _forced(self, loads: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The links without which an end could not send or receive its own traffic: shape (links, intervals)."""
        forced = np.zeros((len(self.pairs), loads.shape[2]), dtype=bool)
        excess = np.maximum(0.0, loads - self.room[:, None, None])
        for device in self.devices:
            own = np.flatnonzero([device in pair for pair in self.pairs])
            away = np.array([int(self.pairs[place][0] != device) for place in own])
            # Not a number if one of its loads is unknown: the comparison is false.
            net = (loads[own, away] - loads[own, 1 - away]).sum(axis=0)
            least = np.maximum(net - excess[own, away].sum(axis=0), -net - excess[own, 1 - away].sum(axis=0))
            others = self.room[own].sum() - self.room[own]
            forced[own] |= others[:, None] < least * _ROUNDING
        return forced

    def _connected(self, forced: NDArray[np.bool_]) -> tuple[float, int]:
        """The least power and number of links that connect the devices, with those that are forced."""
        key = forced.tobytes()
        if key not in self._kept:
            by_watts = np.argsort(self.watts, kind="stable")
            order = [*np.flatnonzero(forced).tolist(), *by_watts.tolist()]
            kept = {*np.flatnonzero(forced).tolist(), *forest_of(self.pairs, order)}
            more = (place for place in by_watts.tolist() if place not in kept)
            while len(kept) < self.least:
                kept.add(next(more))
            self._kept[key] = float(self.watts[list(kept)].sum()), len(kept)
        return self._kept[key]


def _cover(room: NDArray[np.float64], watts: NDArray[np.float64], needs: NDArray[np.float64]) -> Needed:
    """Lower bounds of the power and the number of links whose rooms add up to each of the needs."""
    needs = needs * _ROUNDING
    number = np.searchsorted(np.cumsum(np.sort(room)[::-1]), needs) + (needs > 0)
    number = np.minimum(number, room.size)
    cheapest = np.concatenate(([0.0], np.cumsum(np.sort(watts))))[number]
    # The best that parts of links could do.
    order = np.argsort(watts / room)
    rooms, powers = (np.concatenate(([0.0], np.cumsum(each[order]))) for each in (room, watts))
    return np.maximum(cheapest, np.interp(needs, rooms, powers)), number.astype(float)
