"""The most that sleep, rate adaptation, low-power idle and unplugged transceivers could save, from loads alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netlull.fleet.needed import needed
from netlull.fleet.power import ASLEEP, CAUSES, DOWN, UP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from netlull.fleet.inventory import Port, PortName
    from netlull.fleet.loads import Loads
    from netlull.fleet.power import Fleet

__all__ = ["IDLE_SHARE", "Bounds", "bounds", "saved_by_sleep"]

IDLE_SHARE = 0.1
"""The power of a port in low-power idle as a share of its power: Christensen et al., The road to EEE, 2010."""


@dataclass(frozen=True)
class Bounds:
    """The most that could be saved, in watts as a mean over time. No scheme reaches several of them at once.

    The energy of traffic is not part of it: traffic goes another way.
    """

    sleep: float
    """Links asleep while every device stays connected, and no link carries more than 80 % or than today."""
    sleep_links: float
    """The most links asleep, as a mean over time."""
    unplugged: float
    """The same without the transceivers of sleeping links, and of ports that are down."""
    adaptation: float
    """Every port at the slowest speed of its device that carries the load of each interval; line cards stay on."""
    idle: float
    """Every port in low-power idle whenever it does not send."""
    by_link: Sequence[tuple[float, float, float, float]]
    """The powers that each link would save by itself: asleep, asleep without transceivers, at lower speeds, idle."""


def bounds(fleet: Fleet, loads: Loads, found: NDArray[np.float64], *, survives: bool = False) -> Bounds:
    """The most that could be saved.

    Sleep leaves at least the links of `needed` awake. Line cards sleep with their ports.

    Args:
        fleet: the devices.
        loads: the loads of their interfaces.
        found: those of the links (`link_loads`).
        survives: after sleep the network survives the failure of a link wherever it does without.
    """
    links = fleet.inventory.links
    ends = [end for link in links for end in link.ends]
    ports = _port_watts(fleet)
    wall = {device: _wall(fleet, device) for device in fleet.inventory.models}
    asleep = {end: ports[end].up - ports[end].asleep for end in ends}
    dark = {end: ports[end].up for end in ends}

    def most(saved: Mapping[PortName, float], *, unplugged: bool) -> tuple[float, float]:
        """The power that all links save at once without those that must stay awake, and the number of the others."""
        # A watt in the box is at least `least` watts at the wall.
        kept = [sum(max(0.0, saved[end]) * wall[end[0]].least for end in link.ends) for link in links]
        power, number = needed(links, kept, found, survives=survives)
        off = {end: ASLEEP for end in ends if saved[end] > 0}
        watts = np.maximum(0.0, _saved(fleet, off, unplugged=unplugged) - power)
        return float(watts.mean()), float(len(links) - number.mean())

    slower, idle = {}, {}
    for name, port in fleet.inventory.ports.items():
        load = np.nan_to_num(loads.rates.get(name, np.zeros((2, 1))))
        slower[name] = _adaptation(fleet, port, load) if port.is_up else 0.0
        free = float(np.clip(1 - load[1] / port.speed_bps, 0, 1).mean())
        idle[name] = (1 - IDLE_SHARE) * free * max(0.0, ports[name].up - ports[name].down) if port.is_up else 0.0
    sleep, number = most(asleep, unplugged=False)
    by_link = [
        tuple(sum(saved[end] * wall[end[0]].mean for end in link.ends) for saved in (asleep, dark, slower, idle))
        for link in links
    ]
    return Bounds(
        sleep=sleep,
        sleep_links=number,
        unplugged=most(dark, unplugged=True)[0],
        adaptation=sum(watts * wall[name[0]].most for name, watts in slower.items()),
        idle=sum(watts * wall[name[0]].most for name, watts in idle.items()),
        by_link=by_link,  # type: ignore[arg-type]  # four sums each
    )


def saved_by_sleep(fleet: Fleet, asleep: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The watts that sleeping links save in each interval, for `asleep` of shape (links, intervals).

    The energy of their traffic is spent elsewhere.
    """
    intervals = asleep.shape[1]
    states = {
        end: np.where(asleep[place], ASLEEP, UP).astype(np.uint8)
        for place, link in enumerate(fleet.inventory.links)
        for end in link.ends
    }
    return fleet.power(intervals).total - fleet.power(intervals, states=states).total


@dataclass(frozen=True)
class _PortWatts:
    """The powers of a port without traffic."""

    up: float
    down: float
    asleep: float


@dataclass(frozen=True)
class _Wall:
    """Watts at the wall for a watt in the box: the supplies' losses follow the power."""

    least: float
    mean: float
    most: float


def _port_watts(fleet: Fleet) -> dict[PortName, _PortWatts]:
    """The powers of all ports without traffic: up, down and asleep."""
    states = {name: np.array([UP, DOWN, ASLEEP], dtype=np.uint8) for name in fleet.inventory.ports}
    return {name: _PortWatts(*watts.tolist()) for name, watts in fleet.power(3, states=states).ports.items()}


def _saved(fleet: Fleet, states: Mapping[PortName, int], *, unplugged: bool) -> float:
    """The power that ports with these states save; `unplugged` empties all ports that are not up."""
    all_states = {name: np.full(1, state, dtype=np.uint8) for name, state in states.items()}
    empty = [name for name, port in fleet.inventory.ports.items() if name in states or not port.is_up]
    changed = fleet.without_transceivers(empty) if unplugged else fleet
    return float((fleet.power(1).total - changed.power(1, states=all_states).total)[0])


def _wall(fleet: Fleet, device: str) -> _Wall:
    """The slopes of the power at the wall, while the ports of a device go down one after the other."""
    own = [port.name for port in fleet.inventory.ports.values() if port.name[0] == device]
    steps = len(own) + 1
    # In column k the first k ports are down.
    down = np.arange(steps) > np.arange(len(own))[:, None]
    states = {name: np.where(down[place], DOWN, UP).astype(np.uint8) for place, name in enumerate(own)}
    causes = fleet.device_power(device, steps, states)
    wall = causes.sum(axis=0)
    inside = wall - causes[CAUSES.index("supply_loss")]
    fell = np.diff(inside) != 0
    slopes = np.diff(wall)[fell] / np.diff(inside)[fell]
    if not slopes.size:
        return _Wall(1.0, 1.0, 1.0)
    return _Wall(max(0.0, float(slopes.min())), float(slopes.mean()), float(slopes.max()))


def _adaptation(fleet: Fleet, port: Port, load: NDArray[np.float64]) -> float:
    """The mean watts that a port saves at the slowest of its device's speeds that carries its load."""
    best = own = fleet.port_at(port, port.speed_bps, load)
    needed = load.max(axis=0)
    for speed in fleet.speeds_bps(port.name[0]):
        if speed < port.speed_bps:
            best = np.where(needed <= speed, np.minimum(best, fleet.port_at(port, speed, load)), best)
    return float((own - best).mean())
