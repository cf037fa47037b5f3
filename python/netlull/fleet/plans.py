"""Links asleep by a plan that needs no loads, or by the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.errors import InputError
from netlull.fleet.inventory import rows_of
from netlull.fleet.loads import times_of, zone_of
from netlull.topology import Line, Node, Topology, sleep_plan

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from netlull.fleet.inventory import Inventory
    from netlull.fleet.loads import Loads

__all__ = ["estop", "read_plan"]


def estop(inventory: Inventory, threshold: float, intervals: int) -> NDArray[np.bool_]:
    """The links that ESTOP puts to sleep, in all intervals: an array of shape (links, intervals).

    A bundle is one link for ESTOP, and sleeps as a whole (docs/models/estop.md).

    Raises:
        InputError: the links do not connect all devices at their ends, or the threshold is not in 0 to 1.
    """
    # Names of devices may have characters that those of a topology may not.
    numbers = {name: f"n{place}" for place, name in enumerate(inventory.models)}
    pairs = [frozenset(link.devices) for link in inventory.links]
    lines: dict[frozenset[str], Line] = {}
    for link, pair in zip(inventory.links, pairs, strict=True):
        one, other = (numbers[name] for name in link.devices)
        if one != other:
            lines.setdefault(pair, Line(one, other))
    nodes = dict.fromkeys(name for line in lines.values() for name in (line.a, line.b))
    plan = sleep_plan(
        Topology("the inventory", tuple(map(Node, nodes)), tuple(lines.values())), "estop", threshold=threshold
    )
    off = {line.ends for line in plan.off}
    asleep = np.array([frozenset(numbers[name] for name in pair) in off for pair in pairs], dtype=bool)
    return np.repeat(asleep[:, None], intervals, axis=1)


def read_plan(path: Path, inventory: Inventory, loads: Loads, zone: str | None = None) -> NDArray[np.bool_]:
    """The links that a CSV file puts to sleep: an array of shape (links, intervals).

    Columns: `device` and `interface`, an end of a link, and optionally `from` and `to`, times as in loads. An interval
    counts if it begins in between. A link may have several rows.

    Raises:
        InputError: a column or a value is wrong; the message names the file and the line.
    """
    places = {end: place for place, link in enumerate(inventory.links) for end in link.ends}
    starts = loads.start_s + loads.step_s * np.arange(loads.intervals)
    asleep = np.zeros((len(inventory.links), loads.intervals), dtype=bool)
    for line, row in rows_of(path, ("device", "interface"), ("from", "to")):
        end = (row["device"], row["interface"])
        if end not in places:
            raise InputError(f"{path}, line {line}: interface: {' '.join(end)} is no end of a link in {inventory.path}")
        limits = {"from": -np.inf, "to": np.inf}
        for name in filter(row.get, limits):
            try:
                limits[name] = times_of(row[name], zone_of(zone))[0]
            except InputError as error:
                raise InputError(f"{path}, line {line}: {name}: {error}") from None
        first, last = limits.values()
        if not first < last:
            raise InputError(
                f'{path}, line {line}: to: "{row["to"]}" is not after "{row["from"]}"; expected a later time'
            )
        asleep[places[end]] |= (first <= starts) & (starts < last)
    return asleep
