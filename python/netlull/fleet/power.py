"""The watts of a fleet of devices by cause, from their models, ports and loads."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netlull import _engine
from netlull.documents.textfiles import read_text
from netlull.documents.tomltext import read_toml
from netlull.errors import InputError, near
from netlull.fleet.columns import BYTE
from netlull.quantities import in_unit

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from netlull.fleet.inventory import Inventory, Port, PortName
    from netlull.fleet.loads import Loads

__all__ = ["ASLEEP", "CAUSES", "CAUSE_WORDS", "DOWN", "UP", "Fleet", "FleetPower", "fleet_of"]

CAUSE_WORDS = {
    "base": "boxes without ports",
    "line_card": "line cards",
    "port": "ports",
    "transceiver_in": "transceivers, plugged in",
    "transceiver_up": "transceivers, in use",
    "per_bit": "traffic, by bits",
    "per_packet": "traffic, by packets",
    "supply_loss": "losses of power supplies",
}
"""The causes of a device's power, as the core names them, in words."""
CAUSES = tuple(CAUSE_WORDS)
DOWN, UP, ASLEEP = 0, 1, 2
"""The states of a port."""
_EMPTY = "none"
"""The transceiver of an empty port."""

Table = dict[str, Any]
"""The watts of a device, as a `[[power]]` table of a scenario."""


@dataclass(frozen=True)
class FleetPower:
    """The power of all devices over time, in watts."""

    causes: NDArray[np.float64]
    """By cause and interval: an array of shape (causes, intervals)."""
    devices: Mapping[str, NDArray[np.float64]]
    """The same of each device, as a mean over time: an array of causes."""
    ports: Mapping[PortName, NDArray[np.float64]]
    """That of each port with its transceiver and traffic, before the supplies' losses, by interval."""

    @property
    def total(self) -> NDArray[np.float64]:
        """The power of the fleet in each interval."""
        total: NDArray[np.float64] = self.causes.sum(axis=0)
        return total


@dataclass(frozen=True)
class Fleet:
    """The devices of an inventory with the tables of their watts."""

    inventory: Inventory
    tables: Mapping[str, Table]
    """The table of each model."""
    packet_bytes: float
    """The mean size of packets."""

    @functools.cached_property
    def described(self) -> Mapping[str, Table]:
        """The tables with the fields of the models that they start from."""
        known = _known()
        return {name: known.get(str(table.get("model")), {}) | table for name, table in self.tables.items()}

    def power(
        self, intervals: int, *, loads: Loads | None = None, states: Mapping[PortName, NDArray[np.uint8]] | None = None
    ) -> FleetPower:
        """The power over time. A port without a state in `states` is up or down as in the inventory.

        Unknown loads, and all without `loads`, count as no traffic.
        """
        causes = np.zeros((len(CAUSES), intervals))
        devices: dict[str, NDArray[np.float64]] = {}
        ports: dict[PortName, NDArray[np.float64]] = {}
        for device, own in self._ports.items():
            found, each = self._device(own, intervals, loads, states or {})
            causes += found
            devices[device] = found.mean(axis=1)
            ports |= {port.name: each[place] for place, port in enumerate(own)}
        return FleetPower(causes, devices, ports)

    def device_power(
        self, device: str, intervals: int, states: Mapping[PortName, NDArray[np.uint8]]
    ) -> NDArray[np.float64]:
        """The power of a device without traffic, by cause and interval."""
        return self._device(self._ports[device], intervals, None, states)[0]

    def without_transceivers(self, ports: Collection[PortName]) -> Fleet:
        """The same fleet with these ports empty."""
        known = self.inventory.ports
        changed = {name: replace(known[name], transceiver=_EMPTY) for name in ports}
        return replace(self, inventory=replace(self.inventory, ports={**known, **changed}))

    def speeds_bps(self, device: str) -> list[float]:
        """The speeds of a device's ports that its model describes, ascending."""
        rows = self.described[self.inventory.models[device]].get("port") or []
        speeds = (in_unit(str(row["speed"]), "b/s") for row in rows if row.get("speed"))
        return sorted({speed for speed in speeds if speed is not None})

    def _device(
        self, ports: Sequence[Port], intervals: int, loads: Loads | None,
        states: Mapping[PortName, NDArray[np.uint8]],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
        state = np.empty((len(ports), intervals), dtype=np.uint8)
        bits = np.zeros((len(ports), 2, intervals))
        for place, port in enumerate(ports):
            state[place] = states.get(port.name, UP if port.is_up else DOWN)
            if loads is not None and port.name in loads.rates:
                bits[place] = np.nan_to_num(loads.rates[port.name])
        return self._watts(ports, state, bits)

    def port_at(self, port: Port, speed_bps: float, loads: NDArray[np.float64]) -> NDArray[np.float64]:
        """The power of a port that ran at another speed, for loads of shape (2, intervals) in b/s."""
        state = np.full((1, loads.shape[1]), UP, dtype=np.uint8)
        watts: NDArray[np.float64] = self._watts([replace(port, speed_bps=speed_bps)], state, loads[None])[1][0]
        return watts

    @functools.cached_property
    def _ports(self) -> dict[str, list[Port]]:
        found: dict[str, list[Port]] = {device: [] for device in self.inventory.models}
        for port in self.inventory.ports.values():
            found[port.name[0]].append(port)
        return found

    def _watts(
        self, ports: Sequence[Port], states: NDArray[np.uint8], bits: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The power by cause, and of each port."""
        device = ports[0].name[0]
        uses = [{"speed": f"{port.speed_bps:.0f} b/s", "transceiver": port.transceiver} for port in ports]
        packets = bits / (BYTE * self.packet_bytes)
        table = self.tables[self.inventory.models[device]]
        try:
            causes, each = _engine.device_watts(table, uses, states, bits, packets)
        except _engine.ScenarioError as error:
            port = re.fullmatch(r"uses\.(\d+)\.(.*)", str(error))
            if port is None:
                raise InputError(f"{self.inventory.path}: device {device}: {error}") from None
            raise InputError(f"{self.inventory.path}, line {ports[int(port[1])].line}: {port[2]}") from None
        return np.stack([causes[cause] for cause in CAUSES]), each


def fleet_of(inventory: Inventory, devices: Path | None = None, packet_bytes: float = 1000.0) -> Fleet:
    """The fleet of an inventory, whose models are those of netlull or of a TOML file with `[[device]]` tables.

    A device's table has a `name`, and the fields of a `[[power]]` table.

    Raises:
        InputError: a model is unknown, or a table is wrong; the message names the file and the device.
    """
    own = {} if devices is None else _read(devices)
    known = [*own, *_known()]
    tables = {}
    for device, model in inventory.models.items():
        if model not in known:
            raise InputError(
                f'{inventory.path}: model "{model}" of {device} is unknown; {near(model, known)}; '
                "--devices FILE describes others (docs/how-to/energy.md)"
            )
        tables[model] = own.get(model, {"model": model})
    return Fleet(inventory, tables, packet_bytes)


def _known() -> dict[str, Table]:
    """The tables of netlull's devices."""
    return {model["name"]: model["device"] for model in _engine.catalogue()["power"] if model.get("device")}


def _read(path: Path) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    for place, table in enumerate(read_toml(read_text(path), str(path)).get("device", [])):
        name = table.get("name") if isinstance(table, dict) else None
        if not isinstance(name, str) or not name:
            raise InputError(f"{path}: device.{place}.name: is missing; expected the name of a model")
        if name in tables:
            raise InputError(f"{path}: device.{place}.name: {name} comes twice; expected it once")
        none = np.zeros((0, 2, 1))
        try:
            _engine.device_watts(table, [], np.zeros((0, 1), dtype=np.uint8), none, none)
        except _engine.ScenarioError as error:
            raise InputError(f"{path}: device.{place} ({name}): {error}") from None
        tables[name] = table
    if not tables:
        raise InputError(f"{path}: has no [[device]]; expected a table for each model")
    return tables
