"""The devices and interfaces of a network, from a CSV file."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netlull.documents.textfiles import read_text
from netlull.errors import InputError, near
from netlull.fleet.devices import speed_of
from netlull.quantities import rate_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from netlull.fleet.devices import Devices

__all__ = ["LARGEST_BYTES", "Inventory", "Link", "Port", "PortName", "columns_in", "read_inventory", "rows_of"]

LARGEST_BYTES = 64 * 2**20
"""The largest inventory, in bytes: about a million interfaces."""

REQUIRED = ("device", "model", "interface", "speed")
OPTIONAL = ("transceiver", "state", "peer_device", "peer_interface", "loads", "weight")
_MOST_WEIGHT = 2**32 - 1
_STATES = ("up", "down")
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}

PortName = tuple[str, str]
"""A device and its interface."""


@dataclass(frozen=True)
class Port:
    """An interface of a device."""

    name: PortName
    speed_bps: float
    transceiver: str | None
    """The transceiver that is plugged in; None for that of the model's port, "none" for an empty port."""
    is_up: bool
    peer: PortName | None
    """The interface at the other end; None outside the network."""
    loads: str | None = None
    """The file with its loads, in a folder of such files."""
    line: int = 0
    """Its line in the file."""
    weight: int | None = None
    """The weight of the link for the shortest paths of routing; None if the file has no weights."""


@dataclass(frozen=True)
class Link:
    """A link between two interfaces of the inventory. The first end is the one that the inventory has first."""

    ends: tuple[PortName, PortName]
    speed_bps: float
    weight: int | None = None
    """Its weight for the shortest paths of routing; None if the file has no weights."""

    @property
    def devices(self) -> tuple[str, str]:
        """The devices at its ends."""
        return self.ends[0][0], self.ends[1][0]

    @property
    def label(self) -> str:
        """The link in words."""
        return " - ".join(" ".join(end) for end in self.ends)


@dataclass(frozen=True)
class Inventory:
    """The devices of a network with their models, and their interfaces."""

    path: Path
    models: Mapping[str, str]
    """The model of each device, in the order of the file."""
    ports: Mapping[PortName, Port]

    @property
    def links(self) -> list[Link]:
        """The links whose ends are both in the inventory and up, in the order of their first ends."""
        found: dict[frozenset[PortName], Link] = {}
        for port in self.ports.values():
            if port.peer is not None and port.is_up and self.ports[port.peer].is_up:
                link = Link((port.name, port.peer), port.speed_bps, port.weight)
                found.setdefault(frozenset(link.ends), link)
        return list(found.values())


def read_inventory(path: Path, devices: Devices | None = None) -> Inventory:
    """Reads the interfaces of a network, a row for each.

    Columns: `device`, `model`, `interface` and `speed`. Optional ones are `transceiver`, `state` (up or down),
    `peer_device` and `peer_interface` for links inside the network, `weight`, that of the link for routing, and
    `loads`, the file of the interface in a folder of loads. A speed has its unit ("10 Gb/s"), or is an interface type
    of NetBox ("10gbase-x-sfpp"). The model may be left empty after a device's first row, and the speed where the model
    is a NetBox device type of `devices` with that interface.

    Raises:
        InputError: a column is missing or unknown, or a value is wrong; the message names the file and the line.
    """
    models: dict[str, str] = {}
    ports: dict[PortName, Port] = {}
    files: dict[str, int] = {}
    required = tuple(name for name in REQUIRED if name != "speed" or devices is None or not devices.types)
    for line, row in rows_of(path, required, (*OPTIONAL, *set(REQUIRED).difference(required))):
        where = f"{path}, line {line}"
        device, interface = row["device"], row["interface"]
        if not device or not interface:
            raise InputError(f"{where}: {'device' if not device else 'interface'}: is empty; expected a name")
        name = (device, interface)
        if name in ports:
            raise InputError(
                f"{where}: interface: {device} {interface} is also in line {ports[name].line}; expected it once"
            )
        model = row["model"]
        if model and models.setdefault(device, model) != model:
            raise InputError(f'{where}: model: is "{model}", but {device} has {models[device]}; expected one model')
        speed = _speed(where, row, models.get(device), devices)
        ports[name] = _port(where, line, name, row, speed)
        if row["loads"] and files.setdefault(row["loads"], line) != line:
            raise InputError(
                f"{where}: loads: {row['loads']} is that of line {files[row['loads']]}; expected another file"
            )
    for (device, _), port in ports.items():
        if device not in models:
            raise InputError(f"{path}, line {port.line}: model: is empty; expected the model of {device}")
    if not ports:
        raise InputError(f"{path}: has no interface; expected a row for each")
    return Inventory(path, models, _paired(path, ports))


def _speed(where: str, row: Mapping[str, str], model: str | None, devices: Devices | None) -> float:
    """The speed of a row, or that of the interface in the device type."""
    try:
        kind = None if devices is None or model is None or row["speed"] else devices.type_of(model)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    if kind is not None:
        if row["interface"] not in kind.speeds:
            hint = near(row["interface"], kind.speeds) if kind.speeds else "the file has no interfaces"
            raise InputError(f"{where}: speed: is empty, and {kind.path} has no such interface; {hint}")
        speed = kind.speeds[row["interface"]]
        if speed is None:
            raise InputError(
                f"{where}: speed: is empty, and the type of the interface in {kind.path} is no Ethernet; "
                'expected a rate such as "10 Gb/s"'
            )
        return speed
    speed = speed_of(row["speed"])
    if speed is None or not speed > 0:
        raise InputError(f'{where}: speed: is "{row["speed"]}"; expected a rate such as "10 Gb/s"')
    return speed


def _port(where: str, line: int, name: PortName, row: Mapping[str, str], speed: float) -> Port:
    state = row["state"] or "up"
    if state not in _STATES:
        raise InputError(f'{where}: state: is "{state}"; expected up or down')
    peer = (row["peer_device"], row["peer_interface"])
    if any(peer) and not all(peer):
        raise InputError(f"{where}: peer_device and peer_interface: one is empty; expected both or none")
    if peer == name:
        raise InputError(f"{where}: peer_interface: is the interface itself; expected the other end")
    known = peer if all(peer) else None
    weight = row["weight"]
    if weight and not (weight.isascii() and weight.isdigit() and 1 <= int(weight[:11]) <= _MOST_WEIGHT):
        raise InputError(f'{where}: weight: is "{weight}"; expected a whole number from 1 to {_MOST_WEIGHT}')
    number = int(weight) if weight else None
    return Port(name, speed, row["transceiver"] or None, state == "up", known, row["loads"] or None, line, number)


def rows_of(path: Path, required: Sequence[str], optional: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file with their lines. Missing optional columns are empty.

    Raises:
        InputError: it is no such file; the message names the line.
    """
    reader = csv.reader(read_text(path, LARGEST_BYTES).splitlines(keepends=True), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        for name in required:
            if name not in header:
                found = f"expected {', '.join(required)}; {columns_in(header)}"
                raise InputError(f"{path}, line 1: column {name} is missing; {found}")
        for place, name in enumerate(header):
            if name not in (*required, *optional):
                raise InputError(f'{path}, line 1: column "{name}" is unknown; {near(name, (*required, *optional))}')
            if name in header[:place]:
                raise InputError(f'{path}, line 1: column "{name}" comes twice; expected it once')
        empty = dict.fromkeys(optional, "")
        for cells in reader:
            if not any(cells):
                continue
            if len(cells) != len(header):
                found = f"has {len(cells)} cells; expected {len(header)}, as in the first line"
                raise InputError(f"{path}, line {reader.line_num}: {found}")
            yield reader.line_num, empty | {name: cell.strip() for name, cell in zip(header, cells, strict=True)}
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: is not CSV: {error}") from None


def columns_in(header: Sequence[str]) -> str:
    """The columns of a table, for an error: that there are none, or that other characters than commas separate them."""
    if not any(header):
        return "the file is empty"
    other = next((name for character, name in _SEPARATORS.items() if character in "".join(header)), None)
    if len(header) == 1 and other is not None:
        return f"the columns are separated by {other}, not by commas"
    return f"the columns are {', '.join(header)}"


def _paired(path: Path, ports: Mapping[PortName, Port]) -> dict[PortName, Port]:
    """The ports with the peers of both ends: it is enough that one end names the other."""
    peers: dict[PortName, PortName] = {}
    for port in ports.values():
        if port.peer is None:
            continue
        where = f"{path}, line {port.line}: peer_interface"
        if port.peer not in ports:
            device = port.peer[0]
            known = [name for owner, name in ports if owner == device]
            hint = near(port.peer[1], known) if known else f"the file has no device {device}"
            raise InputError(f"{where}: {' '.join(port.peer)} is not in the file; {hint}")
        for one, other in ((port.name, port.peer), (port.peer, port.name)):
            if peers.setdefault(one, other) != other:
                found = f"{' '.join(one)} is also the end of a link to {' '.join(peers[one])}"
                raise InputError(f"{where}: {found}; expected one link at an interface")
        slower, faster = sorted((port.speed_bps, ports[port.peer].speed_bps))
        if slower != faster:
            raise InputError(
                f"{where}: the ends have {rate_text(slower)} and {rate_text(faster)}; expected the same speed"
            )
    weights = _weights(path, ports, peers)
    return {name: replace(port, peer=peers.get(name), weight=weights.get(name)) for name, port in ports.items()}


def _weights(path: Path, ports: Mapping[PortName, Port], peers: Mapping[PortName, PortName]) -> dict[PortName, int]:
    """The weights of both ends of all links: it is enough that one end has it."""
    found: dict[PortName, int] = {}
    for one, other in peers.items():
        known = {weight for name in (one, other) if (weight := ports[name].weight) is not None}
        if len(known) > 1:
            low, high = sorted(known)
            where = f"{path}, line {ports[one].line}: weight"
            raise InputError(f"{where}: the ends of the link have {low} and {high}; expected the same weight")
        if known:
            found[one] = known.pop()
    without = next((ports[name] for name in peers if name not in found), None)
    if found and without is not None:
        where = f"{path}, line {without.line}: weight"
        raise InputError(f"{where}: is empty, and other links have one; expected a weight of every link, or of none")
    return found
