"""Power, energy and possible savings of an operator's devices, from an inventory and loads (docs/how-to/energy.md)."""

from netlull.fleet.answer import Answer, Prices, Scheme, answer
from netlull.fleet.devices import Devices, DeviceType, read_devices
from netlull.fleet.example import write_example
from netlull.fleet.hypnos import Hypnos
from netlull.fleet.inventory import Inventory, Link, Port, read_inventory
from netlull.fleet.loads import Loads, link_loads, read_loads
from netlull.fleet.plans import estop, read_plan
from netlull.fleet.power import Fleet, FleetPower, fleet_of
from netlull.fleet.routed import Routed, routed
from netlull.fleet.savings import Bounds, bounds, saved_by_sleep

__all__ = [
    "Answer",
    "Bounds",
    "DeviceType",
    "Devices",
    "Fleet",
    "FleetPower",
    "Hypnos",
    "Inventory",
    "Link",
    "Loads",
    "Port",
    "Prices",
    "Routed",
    "Scheme",
    "answer",
    "bounds",
    "estop",
    "fleet_of",
    "link_loads",
    "read_devices",
    "read_inventory",
    "read_loads",
    "read_plan",
    "routed",
    "saved_by_sleep",
    "write_example",
]
