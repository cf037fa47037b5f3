"""A made-up provider of 150 routers and 260 links with the loads of a day, for trying `netlull energy`."""

from __future__ import annotations

import csv
import datetime as dt
import itertools
import math
import os
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from netlull.errors import InputError
from netlull.results.output import staged_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["write_example"]

INVENTORY, LOADS = "inventory.csv", "loads.csv"
_CORE, _METRO, _ACCESS, _TWICE = 10, 40, 100, 20
"""The numbers of routers, and of access routers with two links."""
_MODELS = {"core": "8201-32fh", "metro": "ncs-55a1-24h", "access": "n540x-8z16g"}
_OPTICS = {10: "sfp+-lr", 100: "qsfp28-lr4"}
"""The transceiver by the speed in Gb/s."""
_STEPS, _STEP_S = 288, 300
_START = dt.datetime(2026, 6, 9, tzinfo=dt.UTC)
_PEAK_SHARE = 0.5
"""The load of the busiest link in the busiest interval, as a share of its capacity."""
_SEED = 1


def write_example(folder: Path) -> tuple[Path, Path]:
    """Writes the inventory and the loads of the example; returns their files. Every call writes the same bytes.

    The core is a ring of ten routers with chords. Each metro router has two ways to it, and each access router one or
    two to its metro. The links of the ring are bundles of two. Traffic between access routers is that of a gravity
    model, and follows the hour of the day. Counts have an error of 1 %, and one in a hundred is missing.

    Raises:
        InputError: a file exists already.
        OutputError: they cannot be written.
    """
    files = (folder / INVENTORY, folder / LOADS)
    for file in files:
        if os.path.lexists(file):
            raise InputError(f"{file}: exists already; expected a new folder")
    random = np.random.default_rng(_SEED)
    names, links = _network(random)
    load = _loads(random, names, links)
    ports = _ports(names, links)
    header = ("device", "model", "interface", "speed", "transceiver", "peer_device", "peer_interface")
    times = [(_START + dt.timedelta(seconds=step * _STEP_S)).isoformat() for step in range(_STEPS)]
    counted = (
        (time, *name, one, other)
        for name, received, sent in _counted(random, ports, load)
        for time, one, other in zip(times, received, sent, strict=True)
    )
    with staged_file(files[0]) as inventory, staged_file(files[1]) as loads:
        _write(inventory, [header, *map(_row, ports)])
        _write(loads, itertools.chain([("time", "device", "interface", "in_bps", "out_bps")], counted))
    return files


def _write(path: Path, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def _row(port: PortRow) -> Sequence[object]:
    (device, interface), peer, gbps = port
    kind, _ = device.split("-")
    return device, _MODELS[kind], interface, f"{gbps} Gb/s", _OPTICS[gbps], *peer


Ends = tuple[int, int, int]
"""The places of two devices, and the speed of the link in Gb/s."""


def _network(random: np.random.Generator) -> tuple[list[str], list[Ends]]:
    names = [f"core-{place:02}" for place in range(_CORE)]
    names += [f"metro-{place % _CORE:02}{place // _CORE}" for place in range(_METRO)]
    homes = [place % _METRO for place in range(_ACCESS)]
    names += [f"access-{home % _CORE:02}{home // _CORE}{place // _METRO}" for place, home in enumerate(homes)]
    links = [(place, (place + step) % _CORE, 100) for step in (1, 3) for place in range(_CORE)]
    links += [(_CORE + place, (place + step) % _CORE, 100) for place in range(_METRO) for step in (0, 1)]
    links += [(_CORE + place, _CORE + place + _CORE, 100) for place in range(_METRO - _CORE)]
    access = _CORE + _METRO
    links += [(access + place, _CORE + home, 10) for place, home in enumerate(homes)]
    twice = sorted(random.choice(_ACCESS, _TWICE, replace=False).tolist())
    links += [(access + place, _CORE + (homes[place] + 1) % _METRO, 10) for place in twice]
    # The inner ring has two links each: bundles.
    return names, links + links[:_CORE]


def _demand(random: np.random.Generator, size: int) -> NDArray[np.float64]:
    """The traffic matrix, without a unit."""
    sizes = random.lognormal(0, 0.8, _ACCESS)
    first = size - _ACCESS
    demand = np.zeros((size, size))
    demand[first:, first:] = np.outer(sizes, sizes)
    # Half of the traffic comes from or goes to the core: other networks and caches.
    demand[first:, :_CORE] = sizes[:, None] * sizes.sum() / _CORE / 6
    demand[:_CORE, first:] = 2.5 * demand[first:, :_CORE].T
    np.fill_diagonal(demand, 0)
    return demand


def _loads(random: np.random.Generator, names: list[str], links: list[Ends]) -> NDArray[np.float64]:
    """The loads in b/s, of shape (links, 2 directions, intervals): shortest paths by hops, shared within bundles."""
    demand = _demand(random, len(names))
    beside: dict[int, dict[int, list[tuple[int, int]]]] = {place: {} for place in range(len(names))}
    for link, (one, other, _) in enumerate(links):
        beside[one].setdefault(other, []).append((link, 0))
        beside[other].setdefault(one, []).append((link, 1))
    mean = np.zeros((len(links), 2))
    for source in range(len(names)):
        before = _before(source, beside)
        for target in np.flatnonzero(demand[source]).tolist():
            node = target
            while node != source:
                for link, direction in beside[before[node]][node]:
                    mean[link, direction] += demand[source, target] / len(beside[before[node]][node])
                node = before[node]
    capacities = np.array([gbps * 1e9 for _, _, gbps in links])
    mean *= _PEAK_SHARE / (mean / capacities[:, None]).max()
    hours = np.arange(_STEPS) * _STEP_S / 3600
    # Least at 4 in the morning, most at 20.
    day = 0.55 - 0.35 * np.cos(2 * math.pi * (hours - 4) / 24) + 0.1 * np.sin(4 * math.pi * (hours - 7) / 24)
    noise = random.lognormal(0, 0.1, (len(links), 2, _STEPS))
    load: NDArray[np.float64] = mean[:, :, None] * (day / day.max()) * noise
    return load


def _before(source: int, beside: dict[int, dict[int, list[tuple[int, int]]]]) -> dict[int, int]:
    """The node before each node on a shortest path from the source."""
    before, waiting = {source: source}, deque([source])
    while waiting:
        node = waiting.popleft()
        for other in beside[node]:
            if other not in before:
                before[other] = node
                waiting.append(other)
    return before


PortRow = tuple[tuple[str, str], tuple[str, str], int]
"""An interface, the other end, and the speed in Gb/s."""


def _ports(names: list[str], links: list[Ends]) -> list[PortRow]:
    numbers = dict.fromkeys(names, 0)

    def next_port(name: str, gbps: int) -> tuple[str, str]:
        numbers[name] += 1
        return name, f"{'Hu' if gbps == 100 else 'Te'}0/0/{numbers[name]}"

    rows: list[PortRow] = []
    for one, other, gbps in links:
        ends = [next_port(names[place], gbps) for place in (one, other)]
        rows += [(ends[0], ends[1], gbps), (ends[1], ends[0], gbps)]
    return rows


def _counted(
    random: np.random.Generator, rows: list[PortRow], load: NDArray[np.float64]
) -> Iterator[tuple[tuple[str, str], list[str], list[str]]]:
    """In and out of each interface as text in b/s: an error of 1 %, and no value in one interval of a hundred."""
    for place, (name, _, _) in enumerate(rows):
        sent = load[place // 2, place % 2]
        received = load[place // 2, 1 - place % 2]
        both = np.stack([received, sent]) * random.normal(1, 0.01, (2, _STEPS))
        missing = random.random(_STEPS) < 0.01
        texts = [["" if gone else f"{value:.0f}" for value, gone in zip(each, missing, strict=True)] for each in both]
        yield name, texts[0], texts[1]
