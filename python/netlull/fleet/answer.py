"""The answer to "what would it save?": power by cause, energy by hour, bounds and plans, money and CO2."""

from __future__ import annotations

import datetime as dt
import functools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netlull.errors import InputError
from netlull.fleet.connected import bridges_of
from netlull.fleet.hypnos import Hypnos
from netlull.fleet.loads import TOLERANCE, link_loads, zone_of
from netlull.fleet.power import CAUSES, Fleet, FleetPower
from netlull.fleet.routed import AWAKE, LIMITS, STEP_S, Routed, routed
from netlull.fleet.savings import Bounds, bounds, saved_by_sleep
from netlull.numbers import count, counted, digits, percent, scaled
from netlull.quantities import in_unit, rate_text
from netlull.results.energy import CAUSE_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from netlull.fleet.inventory import Link
    from netlull.fleet.loads import Loads

__all__ = ["HOURS_OF_A_YEAR", "Answer", "LinkFacts", "Prices", "Scheme", "answer"]

HOURS_OF_A_YEAR = 8760.0
_JOULES_OF_A_KWH = 3.6e6


Rows = tuple[list[str], list[list[str]]]
"""A header and its rows."""


@dataclass(frozen=True)
class Prices:
    """The price of a kWh, in money and CO2. None is unknown: nothing is computed from it."""

    per_kwh: float | None = None
    currency: str = "EUR"
    gco2_per_kwh: float | None = None
    pue: float | None = None
    """Power usage effectiveness: the energy of the building for that of the devices."""

    @property
    def factor(self) -> float:
        """The kWh bought for a kWh of the devices."""
        return self.pue or 1.0


@dataclass(frozen=True)
class Names:
    """The names in a report."""

    devices: Mapping[str, str]
    models: Mapping[str, str]
    links: Sequence[str]


class LinkFacts(NamedTuple):
    """A link in a report."""

    link: Link
    utilisation: float
    """The mean utilisation of its busier direction."""
    asleep: float
    """The share of time that it sleeps under Hypnos."""
    is_bridge: bool
    """True if the network falls apart without it."""
    saved: tuple[float, float, float, float]
    """`Bounds.by_link`."""


@dataclass(frozen=True)
class Scheme:
    """A way to save energy, with the watts that it saves as a mean over time."""

    name: str
    watts: float
    is_bound: bool
    """True for an upper bound, which no scheme need reach."""
    links: float | None = None
    """The number of sleeping links, as a mean over time."""


@dataclass(frozen=True)
class Answer:
    """The power of a fleet over time, and what could be saved."""

    fleet: Fleet
    loads: Loads
    power: FleetPower
    bounds: Bounds
    prices: Prices
    zone: dt.tzinfo
    known: float
    """The share of the links' loads that is known from one end at least."""
    plans: Mapping[str, NDArray[np.bool_]]
    """The links asleep by plan, Hypnos first: arrays of shape (links, intervals)."""
    survives: bool
    routed: Routed | None
    """The plans on an estimated traffic matrix, if one was asked for."""
    link_loads: NDArray[np.float64] = field(repr=False)
    """In b/s, of shape (links, 2 directions, intervals)."""

    @property
    def hours(self) -> float:
        """The length of the loads in hours."""
        return self.loads.intervals * self.loads.step_s / 3600

    @property
    def mean_w(self) -> float:
        """The mean power of the fleet in W."""
        return float(self.power.total.mean())

    def kwh_of_a_year(self, watts: float) -> float:
        """The energy bought in a year of 8,760 hours, in kWh."""
        return watts * HOURS_OF_A_YEAR / 1000 * self.prices.factor

    def money(self, kwh: float) -> float | None:
        """The price of some kWh."""
        return None if self.prices.per_kwh is None else kwh * self.prices.per_kwh

    def kilograms(self, kwh: float) -> float | None:
        """The CO2 equivalent of some kWh, in kg."""
        return None if self.prices.gco2_per_kwh is None else kwh * self.prices.gco2_per_kwh / 1000

    @functools.cached_property
    def of_one_number(self) -> int:
        """The devices whose models do not say what a port draws."""
        return sum(model in self.fleet.of_one_number for model in self.fleet.inventory.models.values())

    @functools.cached_property
    def schemes(self) -> list[Scheme]:
        """The bounds, and the links that Hypnos chooses. Empty if no model says what a port draws."""
        if self.of_one_number == len(self.fleet.inventory.models):
            return []
        at_most = self.bounds.sleep_links
        return [
            Scheme("links asleep, loads within 80 %", self.bounds.sleep, is_bound=True, links=at_most),
            Scheme(
                "the same, idle transceivers unplugged",
                self.bounds.unplugged,
                is_bound=True,
                links=at_most,
            ),
            Scheme("ports at the lowest speed for their load, line cards on", self.bounds.adaptation, is_bound=True),
            Scheme("low-power idle between packets", self.bounds.idle, is_bound=True),
            *(
                Scheme(
                    f"links asleep by {name}",
                    _without_rounding(float(saved_by_sleep(self.fleet, asleep).mean()), self.mean_w),
                    is_bound=False,
                    links=float(asleep.sum(axis=0).mean()),
                )
                for name, asleep in self.plans.items()
            ),
        ]

    @property
    def asleep(self) -> NDArray[np.bool_]:
        """The links that Hypnos puts to sleep: an array of shape (links, intervals)."""
        return next(iter(self.plans.values()))

    @property
    def sentence(self) -> str:
        """The answer in a sentence or two."""
        draws = f"The fleet draws {scaled(self.mean_w, 'W', 3)}."
        if not self.schemes:
            return f"{draws} Savings are unknown: no model says what a port draws."
        sleep, unplugged, *_ = self.schemes
        kwh = self.kwh_of_a_year(unplugged.watts)
        worth = [f"{scaled(kwh * 1000, 'Wh', 3)} a year"]
        money, mass = self.money(kwh), self.kilograms(kwh)
        worth += [] if money is None else [f"{money:,.0f} {self.prices.currency}".replace(",", " ")]
        worth += [] if mass is None else [f"{digits(mass, 3)} kg CO2e"]
        share = percent(sleep.watts / self.mean_w)
        more = f"{percent(unplugged.watts / self.mean_w)} if their transceivers were unpowered"
        without = (
            f" This leaves out the ports of {counted(self.of_one_number, 'device')}: their models do not say what a "
            "port draws."
        )
        return (
            f"{draws} Sleeping links could save at most {share}, {more}: "
            f"{', '.join(worth[:-1])}{' and ' if worth[:-1] else ''}{worth[-1]}."
            f"{without if self.of_one_number else ''}"
        )

    def by_cause(self) -> list[tuple[str, float]]:
        """The mean watts of each cause that is not zero."""
        means = self.power.causes.mean(axis=1)
        return [(cause, float(watts)) for cause, watts in zip(CAUSES, means, strict=True) if watts]

    def by_hour(self) -> list[tuple[dt.datetime, NDArray[np.float64]]]:
        """The kWh of the devices by cause in each hour. A part of an interval counts in the hour in which it begins."""
        parts = max(1, math.ceil(self.loads.step_s / 3600))
        step = self.loads.step_s / parts
        starts = self.loads.start_s + step * np.arange(parts * self.loads.intervals)
        whole = np.floor(starts / 3600) * 3600
        hours, place = np.unique(whole, return_inverse=True)
        energy = np.zeros((len(hours), len(CAUSES)))
        np.add.at(energy, place, np.repeat(self.power.causes.T, parts, axis=0) * step / _JOULES_OF_A_KWH)
        return [
            (dt.datetime.fromtimestamp(hour, self.zone), kwh) for hour, kwh in zip(hours.tolist(), energy, strict=True)
        ]

    def by_class(self) -> list[tuple[str, int, int, float]]:
        """For each capacity: links, the most asleep at once, and the mean asleep under Hypnos."""
        found: dict[float, list[int]] = {}
        for place, link in enumerate(self.links):
            found.setdefault(link.speed_bps, []).append(place)
        return [
            (
                rate_text(speed),
                len(own),
                int(self.asleep[own].sum(axis=0).max()),
                float(self.asleep[own].sum(axis=0).mean()),
            )
            for speed, own in sorted(found.items())
        ]

    def by_link(self) -> list[LinkFacts]:
        """The facts of each link, in their order."""
        speeds = np.array([link.speed_bps for link in self.links])
        busy = np.nan_to_num(self.link_loads).mean(axis=2).max(axis=1, initial=0.0) / speeds
        bridges = bridges_of([link.devices for link in self.links])
        is_bridge = [place in bridges for place in range(len(self.links))]
        return list(
            map(LinkFacts, self.links, busy.tolist(), self.asleep.mean(axis=1).tolist(), is_bridge, self.bounds.by_link)
        )

    def changes_per_hour(self, asleep: NDArray[np.bool_]) -> float:
        """The mean number of links that fall asleep or wake in an hour."""
        changes = np.count_nonzero(asleep[:, 1:] != asleep[:, :-1])
        between = (self.loads.intervals - 1) * self.loads.step_s / 3600
        return changes / between if changes else 0.0

    @property
    def utilisation(self) -> float:
        """The sum of the links' loads in both directions as a share of their capacities."""
        room = 2 * sum(link.speed_bps for link in self.links)
        return float(np.nan_to_num(self.link_loads).mean(axis=2).sum() / room) if room else 0.0

    def compared(self) -> list[tuple[str, float, float]]:
        """Sums of numbers that models have for comparison: their name, their sum, and ours for the same devices."""
        found: list[tuple[str, float, float]] = []
        described, models = self.fleet.described, self.fleet.inventory.models
        for name, words in (("data_sheet", "by data sheets"), ("wall", "measured at the wall elsewhere")):
            watts = {model: in_unit(str(table[name]), "W") for model, table in described.items() if table.get(name)}
            own = [device for device, model in models.items() if model in watts]
            if own:
                stated = sum(watts[models[device]] or 0.0 for device in own)
                found.append((words, stated, float(sum(self.power.devices[device].sum() for device in own))))
        return found

    @functools.cached_property
    def links(self) -> list[Link]:
        """The links of the inventory."""
        return self.fleet.inventory.links

    def names(self, *, anonymise: bool = False) -> Names:
        """The names to show of devices and of models, and those of the links in their order; or numbers."""
        devices = list(self.fleet.inventory.models)
        shown = {name: f"device {place}" if anonymise else name for place, name in enumerate(devices, start=1)}
        own = [model for model, table in self.fleet.tables.items() if table.get("model") != model]
        models = {model: model for model in self.fleet.tables}
        models |= {model: f"model {place}" for place, model in enumerate(own, start=1)} if anonymise else {}
        links = [
            f"link {place}: {' - '.join(shown[device] for device in link.devices)}" if anonymise else link.label
            for place, link in enumerate(self.links, start=1)
        ]
        return Names(shown, models, links)

    def document(self, *, anonymise: bool = False) -> dict[str, Any]:
        """All numbers, for `--json`."""
        names = self.names(anonymise=anonymise).devices
        return {
            "answer": self.sentence,
            "hours": self.hours,
            "intervals": self.loads.intervals,
            "known_loads": self.known,
            "mean_w": self.mean_w,
            "kwh": self.mean_w * self.hours / 1000,
            "kwh_of_a_year": self.kwh_of_a_year(self.mean_w),
            "mean_w_by_cause": dict(zip(CAUSES, self.power.causes.mean(axis=1).tolist(), strict=True)),
            "mean_w_by_device": {names[name]: float(watts.sum()) for name, watts in self.power.devices.items()},
            "saving": [
                {
                    "scheme": scheme.name,
                    "is_upper_bound": scheme.is_bound,
                    "w": scheme.watts,
                    "share": scheme.watts / self.mean_w,
                    "kwh_of_a_year": self.kwh_of_a_year(scheme.watts),
                    "money_of_a_year": self.money(self.kwh_of_a_year(scheme.watts)),
                    "kg_co2e_of_a_year": self.kilograms(self.kwh_of_a_year(scheme.watts)),
                    "links_asleep": scheme.links,
                }
                for scheme in self.schemes
            ],
            "plans": [
                {
                    "plan": name,
                    "links_asleep": float(asleep.sum(axis=0).mean()),
                    "changes_per_hour": self.changes_per_hour(asleep),
                    **self._overloads(name),
                }
                for name, asleep in self._states()
            ],
            "matrix": None
            if self.routed is None
            else {
                "step_s": self.routed.step_s,
                "steps": self.routed.steps,
                "from_outside_interfaces": self.routed.from_outside,
                "mean_error": float(self.routed.errors.mean()),
                "largest_error": float(self.routed.errors.max()),
                "steps_above_the_bound": self.routed.full,
            },
        }

    def _states(self) -> list[tuple[str, NDArray[np.bool_]]]:
        """The plans with their links asleep; first the network without a plan, if loads are routed."""
        none = {} if self.routed is None else {AWAKE: np.zeros_like(self.asleep)}
        return list((none | dict(self.plans)).items())

    def _overloads(self, name: str) -> dict[str, int]:
        if self.routed is None:
            return {}
        counts = self.routed.overloads[name]
        return {
            f"steps_above_{limit:.0%}{when}".replace("%", "_percent"): number
            for when, numbers in (("", counts.now), ("_one_step_later", counts.later))
            for limit, number in zip(LIMITS, numbers, strict=True)
        }

    def plans_table(self) -> Rows:
        """The plans: links asleep, changes, and the steps with overloaded links if loads are routed."""
        header = ["plan", "mean links asleep", "changes per hour"]
        rows = [
            [name, digits(float(asleep.sum(axis=0).mean())), digits(self.changes_per_hour(asleep))]
            for name, asleep in self._states()
        ]
        if self.routed is not None:
            header += [f"{when} > {limit:.0%}".replace("%", " %") for when in ("steps", "next") for limit in LIMITS]
            rows = [[*row, *map(count, self._overloads(row[0]).values())] for row in rows]
        return header, rows

    def about_plans(self) -> list[str]:
        """The notes on the table of plans."""
        if self.routed is None:
            return ["Add --matrix '1 h' to see how many steps have overloaded links: it estimates a traffic matrix."]
        found = self.routed
        model = "loads of interfaces to the outside" if found.from_outside else "loads of links alone"
        notes = [
            f"{counted(found.steps, 'step')} of {digits(found.step_s)} s. Those count in which sleep lifts some link "
            "above 80 or 100 % of its capacity: with the traffic of the step's busiest interval, and of the next "
            "step's. The first row counts links that are above with all links awake; plans count them only if they "
            "are fuller.",
            f"The traffic matrix is an estimate, from a gravity model of {model}. Its loads differ from the measured "
            f"ones by {percent(float(found.errors.mean()))} in the mean, {percent(float(found.errors.max()))} at most.",
        ]
        if found.full:
            notes.append(
                f"{counted(found.full, 'step')} above the bound of the load-aware plan with all links awake: nothing "
                "sleeps there."
            )
        return notes

    def power_table(self) -> Rows:
        """Power and energy by cause."""
        rows = [(CAUSE_WORDS[cause], watts) for cause, watts in self.by_cause()]
        header = ["cause", "mean power", "share", f"energy in {digits(self.hours)} h", *self._year_header()]
        return header, [
            [
                name,
                scaled(watts, "W"),
                percent(watts / self.mean_w),
                scaled(watts * self.hours, "Wh"),
                *self._year(watts),
            ]
            for name, watts in [*rows, ("all", self.mean_w)]
        ]

    def savings_table(self) -> Rows:
        """The schemes with what they save."""
        rows = [
            [
                f"{'at most: ' if scheme.is_bound else ''}{scheme.name}",
                "-" if scheme.links is None else f"{digits(scheme.links)} of {len(self.links)}",
                scaled(scheme.watts, "W"), percent(scheme.watts / self.mean_w), *self._year(scheme.watts),
            ]
            for scheme in self.schemes
        ]  # fmt: skip
        return ["scheme", "links asleep", "saved power", "share", *self._year_header()], rows

    def _year_header(self) -> list[str]:
        money = [] if self.prices.per_kwh is None else [f"{self.prices.currency} a year"]
        return ["energy a year", *money, *([] if self.prices.gco2_per_kwh is None else ["CO2e a year"])]

    def _year(self, watts: float) -> list[str]:
        kwh = self.kwh_of_a_year(watts)
        money, mass = self.money(kwh), self.kilograms(kwh)
        return [
            scaled(kwh * 1000, "Wh"),
            *([] if money is None else [digits(money)]),
            *([] if mass is None else [f"{digits(mass)} kg"]),
        ]

    def _about_loads(self, names: Sequence[str]) -> list[str]:
        inventory, loads = self.fleet.inventory, self.loads
        silent = sum(port.is_up and name not in loads.rates for name, port in inventory.ports.items())
        speeds = {device: self.fleet.speeds_bps(device) for device in inventory.models}
        unlike = [
            port.name
            for port in inventory.ports.values()
            if speeds[port.name[0]] and port.speed_bps not in speeds[port.name[0]]
        ]
        notes = {
            f"{counted(silent, 'interface')} without loads: no traffic is counted there.": silent,
            f"{counted(loads.resets, 'step')} of counters that no port allows: unknown there.": loads.resets,
            f"{counted(loads.fast, 'rate')} above the speed of the port; is the unit right?": loads.fast,
            f"{counted(len(loads.missing), 'file')} of the inventory's loads not in the folder.": loads.missing,
            f"{counted(len(unlike), 'port')} of a speed that the model does not describe, counted as the next faster "
            "one, or as its fastest.": unlike,
        }
        found = [note for note, number in notes.items() if number]
        if loads.unequal:
            worst, difference = loads.unequal[0]
            found.append(
                f"{counted(len(loads.unequal), 'direction')} of links whose two ends differ by more than "
                f"{percent(TOLERANCE)} in the mean; the worst, by {percent(difference)}: {names[worst]}."
            )
        return found

    def notes(self, names: Names) -> list[str]:
        """The assumptions of the numbers, and doubtful loads."""
        notes = [
            f"Packets have {digits(self.fleet.packet_bytes)} bytes as a mean (--packet-size).",
            "A bound is the most that these loads allow. No scheme need reach it, and bounds do not add up.",
            "A plan that loads links above 80 % may save more than the bound of sleep.",
            "The energy of traffic is not saved: it goes another way.",
        ]
        if self.known < 1:
            notes.append(f"{percent(1 - self.known)} of the links' loads are unknown and count as no traffic.")
        if self.of_one_number:
            notes.append(
                f"{counted(self.of_one_number, 'device')} with one number for all their power, whatever the ports do. "
                "That of a data sheet is a maximum or a budget, not a measurement."
            )
        notes += self._about_loads(names.links)
        if self.survives:
            notes.append(
                "The bound of sleep leaves a network that survives the failure of a link, where it does today."
            )
        if self.prices.pue is not None:
            notes.append(f"kWh, money and CO2 of a year include the building (PUE {digits(self.prices.pue)}).")
        return notes


def _without_rounding(watts: float, of: float) -> float:
    return 0.0 if abs(watts) < 1e-12 * of else watts


def answer(  # noqa: PLR0913  # one per option of the command
    fleet: Fleet, loads: Loads, prices: Prices | None = None, *, zone: str | None = None, survives: bool = False,
    hypnos: Hypnos | None = None, plans: Mapping[str, NDArray[np.bool_]] | None = None,
    load_aware: float | None = None, matrix_s: float | None = None,
) -> Answer:  # fmt: skip
    """The answer for a fleet and its loads.

    Args:
        fleet: the devices.
        loads: the loads of their interfaces.
        prices: the price of a kWh, its CO2 and the PUE.
        zone: the time zone of the hours; default UTC.
        survives: the bounds of sleep leave a network that survives the failure of a link wherever it does today.
        hypnos: the rule that chooses links; default Hypnos's own parameters.
        plans: further links asleep by the name of the plan: arrays of shape (links, intervals).
        load_aware: the bound of the load-aware plan; default no such plan.
        matrix_s: the time in s between two estimates of the traffic matrix; default an hour with `load_aware`, else
            none.
    """
    links = fleet.inventory.links
    found = link_loads(fleet.inventory, loads)
    capacities = np.array([link.speed_bps for link in links])
    rule = hypnos or Hypnos()
    chosen = {"Hypnos": rule.asleep([link.devices for link in links], capacities, found)} | dict(plans or {})
    known = float(1 - np.isnan(found).mean()) if found.size else 1.0
    power = fleet.power(loads.intervals, loads=loads)
    if not np.isfinite(power.total).all() or not power.total.mean() > 0:
        raise InputError(
            f"{fleet.inventory.path}: the devices draw {power.total.mean():g} W; expected models with a power"
        )
    judged = None
    if load_aware is not None or matrix_s is not None:
        judged = routed(fleet.inventory, loads, found, chosen, step_s=matrix_s or STEP_S, bound=load_aware)
        chosen |= judged.load_aware
    return Answer(
        fleet, loads, power, bounds(fleet, loads, found, survives=survives),
        prices or Prices(), zone_of(zone) or dt.UTC, known, chosen, survives, judged, found,
    )  # fmt: skip
