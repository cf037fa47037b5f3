"""The watts of a fleet of devices by cause, from their models, ports and loads."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netlull import _engine
from netlull.errors import InputError, near
from netlull.fleet.columns import BYTE
from netlull.fleet.devices import Devices, known_devices
from netlull.quantities import in_unit
from netlull.results.energy import CAUSE_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from netlull.fleet.devices import Table
    from netlull.fleet.inventory import Inventory, Port, PortName
    from netlull.fleet.loads import Loads

__all__ = ["ASLEEP", "CAUSES", "DOWN", "UP", "Fleet", "FleetPower", "fleet_of"]

CAUSES = tuple(CAUSE_WORDS)
DOWN, UP, ASLEEP = 0, 1, 2
"""The states of a port."""
_EMPTY = "none"
"""The transceiver of an empty port."""


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
    def of_one_number(self) -> list[str]:
        """The models that do not say what a port draws: nothing is known of the savings there."""
        fields = ("port", "idle", "busy", "line_card")
        return [name for name, table in self.described.items() if not any(table.get(field) for field in fields)]

    @functools.cached_property
    def described(self) -> Mapping[str, Table]:
        """The tables with the fields of the models that they start from."""
        known = known_devices()
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


def fleet_of(inventory: Inventory, devices: Devices | None = None, packet_bytes: float = 1000.0) -> Fleet:
    """The fleet of an inventory, whose models are those of netlull, or of `devices` first.

    Raises:
        InputError: a model is unknown, or has no watts; the message names the file and the device.
    """
    own = devices or Devices()
    known = known_devices()
    tables: dict[str, Table] = {}
    for device, model in inventory.models.items():
        if model in tables:
            continue
        if model in own.tables:
            tables[model] = own.tables[model]
            continue
        line = next(port.line for port in inventory.ports.values() if port.name[0] == device)
        where = f"{inventory.path}, line {line}"
        try:
            kind = own.type_of(model)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        if kind is not None:
            tables[model] = kind.table()
        elif model in known:
            tables[model] = {"model": model}
        else:
            raise InputError(
                f'{where}: model: "{model}" of {device} is unknown; {near(model, [*own.names, *known])}; '
                "--devices FILE describes others (docs/how-to/energy.md)"
            )
    return Fleet(inventory, tables, packet_bytes)
