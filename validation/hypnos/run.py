#!/usr/bin/env python3
"""Compares netlull's Hypnos with a rewrite of its rule, link for link, on files in the format of its data set.

    python validation/hypnos/run.py [FOLDER] [--scale 1 2 5 10] [--skip FIRST LAST]

Without FOLDER the files are made: the day of `netlull energy --example`. FOLDER has `topology.csv` (two routers with
their interfaces, the speed in b/s, the IGP weight) and `interfaces/swiROUTER/INTERFACE.csv` (time, in and out in B/s),
as the data set has them. Loads are multiplied by a scale and then capped at 70 % of their link, as the authors do.
`--skip` leaves out steps, counted from 0. Prints the links asleep of both at each scale, and exits 1 if they differ.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import networkx as nx
import numpy as np

from netlull.fleet.example import write_example
from netlull.fleet.hypnos import Hypnos
from netlull.fleet.inventory import Inventory, read_inventory
from netlull.fleet.loads import link_loads, read_loads

MARGIN = 0.2
MOST_LOAD = 0.7
"""The share of a link's capacity at which the authors cap scaled loads."""
Row = tuple[str, str, str, str, float]


def converted(folder: Path, into: Path) -> tuple[Inventory, Path]:
    """The data set as an inventory and a folder of loads that netlull reads."""
    rows = [["device", "model", "interface", "speed", "peer_device", "peer_interface", "loads"]]
    loads = into / "loads"
    loads.mkdir()
    for one, port, other, peer, speed in topology(folder):
        for device, interface, *far in ((one, port, other, peer), (other, peer, one, port)):
            file = f"{device}_{interface}.csv"
            rows.append([device, "8201-32fh", interface, f"{speed:.0f} b/s", *far, file])
            with (folder / "interfaces" / f"swi{device}" / f"{interface}.csv").open(encoding="utf-8") as told:
                _, *lines = told.read().splitlines()
            (loads / file).write_text("\n".join(["time,in_bytes_per_s,out_bytes_per_s", *lines]), encoding="utf-8")
    with (into / "inventory.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return read_inventory(into / "inventory.csv"), loads


def made(into: Path) -> Path:
    """The example in the format of the data set."""
    inventory, loads = write_example(into / "example")
    told = read_inventory(inventory)
    folder = into / "data"
    rows: list[list[object]] = [["router1", "intf1", "router2", "intf2", "speed", "weight"]]
    for link in told.links:
        (one, port), (other, peer) = link.ends
        rows.append([f"swi{one}", port, f"swi{other}", peer, int(link.speed_bps), 1])
    folder.mkdir()
    with (folder / "topology.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    found = read_loads([loads], told)
    for (device, interface), rates in found.rates.items():
        path = folder / "interfaces" / f"swi{device}"
        path.mkdir(parents=True, exist_ok=True)
        with (path / f"{plain(interface)}.csv").open("w", encoding="utf-8", newline="") as file:
            times = (found.start_s + step * found.step_s for step in range(found.intervals))
            # Whole numbers, and empty cells where a counter was not read.
            told_rates = (["" if np.isnan(rate) else round(rate / 8) for rate in pair] for pair in rates.T)
            csv.writer(file).writerows(
                [["time", "in", "out"], *([int(at), *pair] for at, pair in zip(times, told_rates, strict=True))]
            )
    return folder


def plain(interface: str) -> str:
    """The name of an interface in a file's name."""
    return interface.replace("/", "_").lower()


def topology(folder: Path) -> list[Row]:
    """The links: routers with their interfaces, and the speed in b/s."""
    with (folder / "topology.csv").open(encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    return [
        (row[0].removeprefix("swi"), plain(row[1]), row[2].removeprefix("swi"), plain(row[3]), float(row[4]))
        for row in rows
        if float(row[4])
    ]


def rewritten(folder: Path, scale: float) -> list[set[tuple[str, str]]]:
    """The interfaces at the first ends of the links asleep, at each time."""
    links = topology(folder)
    counts: dict[tuple[str, str], dict[int, tuple[float, float]]] = defaultdict(dict)
    for one, port, other, peer, _ in links:
        for device, interface in ((one, port), (other, peer)):
            with (folder / "interfaces" / f"swi{device}" / f"{interface}.csv").open(encoding="utf-8") as file:
                _, *rows = csv.reader(file)
            for at, received, sent in rows:
                if received and sent:
                    counts[device, interface][int(at)] = float(received) * 8, float(sent) * 8
    times = sorted({at for own in counts.values() for at in own})
    return [asleep(links, {end: own[at] for end, own in counts.items() if at in own}, scale) for at in times]


def asleep(links: list[Row], counts: dict[tuple[str, str], tuple[float, float]], scale: float) -> set[tuple[str, str]]:
    """The rule at one time: bundles, candidates, ascending loads, connectivity, the reroute budget."""
    loads = {}
    for one, port, other, peer, speed in links:
        ends = [counts.get(end) for end in ((one, port), (other, peer))]
        told = [end for end in ends if end is not None]
        if told:
            near = ends[0] or (told[0][1], told[0][0])
            far = ends[1] or (told[0][1], told[0][0])
            both = ((near[1] + far[0]) / 2, (near[0] + far[1]) / 2)
            loads[one, port] = (one, other, speed, *(min(scale * load, MOST_LOAD * speed) for load in both))
    capacity = sum(speed for _, _, speed, _, _ in loads.values())
    usage = sum(there + back for *_, there, back in loads.values())
    budget = capacity / 1e9 / 250 * 1e-4 / (usage / (2 * capacity)) ** 2
    sleeping: set[tuple[str, str]] = set()
    bundles: dict[frozenset[str], list[tuple[str, str]]] = defaultdict(list)
    for link, (one, other, *_) in loads.items():
        bundles[frozenset((one, other))].append(link)
    network = nx.Graph()
    for members in bundles.values():
        one, other, *_ = loads[members[0]]
        there = sum(load[3] if load[0] == one else load[4] for load in map(loads.__getitem__, members))
        back = sum(load[4] if load[0] == one else load[3] for load in map(loads.__getitem__, members))
        awake: list[tuple[str, str]] = []
        for link in sorted(members, key=lambda link: -loads[link][2]):
            room = sum(loads[each][2] for each in awake)
            enough = bool(awake) and max(there, back) <= (1 - MARGIN) * room
            (sleeping.add if enough else awake.append)(link)
        room = sum(loads[each][2] for each in awake)
        network.add_edge(one, other, load={one: there, other: back}, room=room, links=awake)

    def spare(node: str) -> float:
        """The least spare capacity of a router's links."""
        edges = network.edges(node, data=True)
        return min(max(0.0, (1 - MARGIN) * edge["room"] - edge["load"][node]) for _, _, edge in edges)

    spares = {node: spare(node) for node in network}
    candidates = [
        (sum(edge["load"].values()), one, other)
        for one, other, edge in network.edges(data=True)
        if all(load < spares[node] and load <= (1 - MARGIN) * edge["room"] for node, load in edge["load"].items())
    ]
    pieces = nx.number_connected_components(network)
    for load, one, other in sorted(candidates):
        if load / 1e9 > budget:
            break
        edge = network.edges[one, other]
        network.remove_edge(one, other)
        if nx.number_connected_components(network) == pieces:
            sleeping.update(edge["links"])
            budget -= load / 1e9
        else:
            network.add_edge(one, other, **edge)
    return sleeping


def main() -> int:
    """Compares; returns 1 if a link differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", metavar="FOLDER")
    parser.add_argument("--scale", type=float, nargs="+", default=[1.0])
    parser.add_argument("--skip", type=int, nargs=2, default=(0, -1), metavar=("FIRST", "LAST"))
    options = parser.parse_args()
    differ = 0
    with tempfile.TemporaryDirectory() as place:
        into = Path(place)
        folder = options.folder or made(into)
        inventory, loads = converted(folder, into)
        links = inventory.links
        capacities = np.array([link.speed_bps for link in links])
        measured = link_loads(inventory, read_loads([loads], inventory))
        for scale in options.scale:
            scaled = np.minimum(scale * measured, MOST_LOAD * capacities[:, None, None])
            chosen = Hypnos().asleep([link.devices for link in links], capacities, scaled)
            ours = [{links[place].ends[0] for place in np.flatnonzero(column)} for column in chosen.T]
            theirs = rewritten(folder, scale)
            different = sum(len(one ^ other) for one, other in zip(ours, theirs, strict=True))
            differ += different
            first, last = options.skip
            kept = [step for step in range(len(ours)) if not first <= step <= last]
            means = [sum(len(found[step]) for step in kept) / len(kept) for found in (ours, theirs)]
            told = f"{means[0]:.1f} and {means[1]:.1f} asleep here and in the rewrite"
            share = f"{100 * means[0] / len(links):.2f} %"
            print(f"scale {scale:g}: {len(links)} links, {len(kept)} times: {told} ({share}), {different} differences")
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
