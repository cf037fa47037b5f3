"""Bounds on the energy that a controller of a link can save. docs/how-to/bound.md states the assumptions."""

from __future__ import annotations

import dataclasses
import json
import math
import struct
import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netlull import _engine
from netlull.errors import InputError, NetlullWarning, some
from netlull.quantities import in_unit
from netlull.runs.memory import limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from netlull._engine import Monitor, RawResult
    from netlull.scenario import Scenario

__all__ = ["DEFAULT_LATE", "Bounds", "CausalBound", "ClairvoyantBound", "ControllerRun", "ModelBounds", "bound"]

DEFAULT_LATE = ("2 ms", "5 ms", "10 ms")
"""The bounds on lateness, unless others are given."""
_RATES = 10
_IN_SERVICE = ("finish_then_pause", "suspend")
_TRANSITION_POWER = ("higher", "new", "old")
_PACKET_BLOCK = 6
"""The type of a packet's block in pcapng."""

Document = dict[str, Any]


@dataclass(frozen=True)
class ClairvoyantBound:
    """The least energy with all arrivals known and no packet late by more than `late_s`."""

    late_s: float
    step_s: float
    """The step of the computation. A smaller step brings `saving` and `feasible_saving` closer together."""
    least_j: float
    """No schedule takes less."""
    feasible_j: float
    """A schedule takes this at most."""
    saving: float
    """The share of the always-on link's energy that no schedule exceeds."""
    feasible_saving: float
    """A share that a schedule saves."""


@dataclass(frozen=True)
class CausalBound:
    """The least mean energy of a controller that knows the past only, for memoryless arrivals with this load."""

    mean_late_s: float
    """The mean lateness of the packets is at most this."""
    least_j: float
    saving: float


@dataclass(frozen=True)
class ModelBounds:
    """The bounds under a power model."""

    always_on_j: float
    clairvoyant: tuple[ClairvoyantBound, ...]
    causal: tuple[CausalBound, ...] | None
    """None for a load of one or more, or if it was not asked for. With a controller, the last one has its mean
    lateness."""
    controller_saving: float | None
    """The saving of the scenario's controller in its own run; None without one."""


@dataclass(frozen=True)
class ControllerRun:
    """The lateness of the packets in the run of the scenario's own controller, with the arrivals of that run."""

    kind: str
    mean_late_s: float
    p95_late_s: float
    largest_late_s: float


@dataclass(frozen=True)
class Bounds:
    """The bounds for a link, by power model."""

    link: str
    rates_bps: tuple[int, ...]
    transition_s: float
    in_service: str
    transition_power: str
    seconds: float
    """The measured time, after the warm-up."""
    packets: int
    """The packets that the link accepted in the whole run."""
    controller: ControllerRun | None
    models: Mapping[str, ModelBounds]

    def to_dict(self) -> Document:
        """The same as plain values, for JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class _Link:
    """A link of a scenario, and its options."""

    name: str
    path: str
    """The path of its table in the scenario."""
    rate_bps: int
    delay_ns: int
    table: Document

    @property
    def controller(self) -> Document | None:
        found: Document | None = self.table.get("controller")
        return found


def bound(  # noqa: PLR0913  # the options of a link's controller
    scenario: Scenario,
    *,
    link: str | None = None,
    late: Sequence[str] = DEFAULT_LATE,
    rates: Sequence[str] | None = None,
    transition: str | None = None,
    in_service: str | None = None,
    transition_power: str | None = None,
    step: str | None = None,
    causal: bool = True,
    seed: int | None = None,
    monitor: Monitor | None = None,
    memory: str | None = None,
) -> Bounds:
    """Bounds the energy that any controller of a link can save, from the packets of an always-on link.

    The scenario runs without the link's controller, and the packets that the link accepts are recorded. The bounds
    assume these arrivals. A scenario with a controller on the link also runs as it is.

    Args:
        scenario: the scenario.
        link: a link, such as "N1-N2"; default the only controlled link, else the only slowest link.
        late: bounds on lateness, the departure minus the departure from the always-on link.
        rates: the rates of the link, up to its own; default the controller's, else ten equal steps.
        transition: the pause of a change of rate; default the controller's, else "2 ms".
        in_service: "finish_then_pause" or "suspend"; default the controller's.
        transition_power: "higher", "new" or "old"; default the controller's.
        step: the step of the computation; default about a hundredth of the lateness, and a part of the pause.
        causal: also bound the controllers that know only the past, for memoryless arrivals.
        seed: the seed of the runs; default the scenario's.
        monitor: shows the share of each run to other threads, and lets them cancel.
        memory: the most memory of a run, such as "2 GB".

    Raises:
        InputError: the link or an option is invalid, or the link has no fixed rate without its controller.
        ScenarioError: the seed is out of range.
    """
    complete: Document = json.loads(scenario.canonical())
    chosen = _chosen(complete, link)
    request = _request(complete, chosen, late, rates, transition, in_service, transition_power, step, causal=causal)
    always_on = scenario
    if chosen.controller is not None:
        always_on = scenario.with_values({f"{chosen.path}.controller": None})
    runs = _Runs(chosen.name, None if seed is None else _engine.check_seed(seed), monitor, limit(memory))
    times, sizes = runs.accepted(runs.run(always_on))
    controller: ControllerRun | None = None
    savings: dict[str, float] = {}
    if chosen.controller is not None:
        raw, departures = runs.traced(scenario, chosen)
        savings = {name: energy["saving"] for name, energy in runs.link(raw)["energy"].items()}
        late_s = _lateness(runs.accepted(raw), departures, chosen.rate_bps, request["from_ns"])
        controller = ControllerRun(chosen.controller["kind"], *late_s)
        if causal:
            request["mean_late_ns"].append(round(controller.mean_late_s * 1e9))
    found = always_on.checked
    models = json.loads(_engine.interruptible(lambda text: found.bound(text, times, sizes), json.dumps(request)))
    return Bounds(
        link=chosen.name,
        rates_bps=tuple(request["rates_bps"]),
        transition_s=request["transition_ns"] / 1e9,
        in_service=request["in_service"],
        transition_power=request["transition_power"],
        seconds=(request["until_ns"] - request["from_ns"]) / 1e9,
        packets=len(times),
        controller=controller,
        models={name: _model(model, savings.get(name)) for name, model in models.items()},
    )


def _model(found: Document, controller_saving: float | None) -> ModelBounds:
    reference = found["always_on_j"]

    def saving(joules: float) -> float:
        return 1 - joules / reference if reference > 0 else 0.0

    clairvoyant = tuple(
        ClairvoyantBound(**each, saving=saving(each["least_j"]), feasible_saving=saving(each["feasible_j"]))
        for each in found["clairvoyant"]
    )
    causal = None
    if found["causal"] is not None:
        causal = tuple(CausalBound(**each, saving=saving(each["least_j"])) for each in found["causal"])
    return ModelBounds(reference, clairvoyant, causal, controller_saving)


def _links(complete: Document) -> Iterator[_Link]:
    """The links of a scenario. A duplex link gives two."""
    for table in complete["link"]:
        ends = (table["from"], table["to"])
        path = f"link.{table.get('name') or '-'.join(ends)}"
        rate = round(in_unit(table["rate"], "b/s") or 0)
        delay = round(in_unit(table["delay"], "ns") or 0)
        yield _Link(path.removeprefix("link."), path, rate, delay, table)
        if table["duplex"]:
            yield _Link("-".join(reversed(ends)), path, rate, delay, table)


def _chosen(complete: Document, name: str | None) -> _Link:
    links = list(_links(complete))
    if name is not None:
        found = [each for each in links if each.name == name]
        if not found:
            raise InputError(f'link: "{name}" is unknown; expected one of {some(each.name for each in links)}')
    else:
        # Of a duplex link, the direction in which it is written.
        written = [each for each in links if each.path == f"link.{each.name}"]
        found = [each for each in written if each.controller is not None and "transition" in each.controller]
        if not found:
            slowest = min(each.rate_bps for each in written)
            found = [each for each in written if each.rate_bps == slowest]
        if len(found) > 1:
            raise InputError(f"link: is missing; expected one of {some(each.name for each in found)}")
    link = found[0]
    for field in ("capacity", "air", "noise", "late", "aggregation"):
        if link.table.get(field):
            expected = "expected a link of fixed rate without air, noise, late packets or batches"
            raise InputError(f"{link.path}.{field}: is given; {expected}")
    if link.controller is not None and link.controller["kind"] == "lpi":
        raise InputError(
            f'{link.path}.controller.kind: is "lpi", which sleeps between packets, but the bounds are for changes of '
            "the rate; expected another controller, or none"
        )
    return link


def _request(  # noqa: PLR0913  # the options of `bound`
    complete: Document,
    link: _Link,
    late: Sequence[str],
    rates: Sequence[str] | None,
    transition: str | None,
    in_service: str | None,
    transition_power: str | None,
    step: str | None,
    *,
    causal: bool,
) -> Document:
    controller = link.controller or {}
    service = in_service or controller.get("in_service", _IN_SERVICE[0])
    if service not in _IN_SERVICE:
        raise InputError(f"in_service: {service} has no bound; expected {' or '.join(_IN_SERVICE)}")
    power = transition_power or controller.get("transition_power", _TRANSITION_POWER[0])
    if power not in _TRANSITION_POWER:
        raise InputError(f"transition_power: {power} is unknown; expected one of {', '.join(_TRANSITION_POWER)}")
    if not late:
        raise InputError("late: is empty; expected a time, such as 5 ms")
    # Each once, in the given order.
    lateness = list(dict.fromkeys(_nanoseconds("late", each) for each in late))
    return {
        "link": link.name,
        "rates_bps": _rates(link, rates),
        "transition_ns": _nanoseconds(
            "transition", transition or controller.get("transition", "2 ms"), most=complete["duration"]
        ),
        "in_service": service,
        "transition_power": power,
        "late_ns": lateness,
        "step_ns": None if step is None else _nanoseconds("step", step, least="1 us"),
        "from_ns": _nanoseconds("warm_up", complete["warm_up"]),
        "until_ns": _nanoseconds("duration", complete["duration"]),
        "mean_late_ns": list(lateness) if causal else [],
    }


def _nanoseconds(field: str, given: str | float, least: str = "0 s", most: str | None = None) -> int:
    text = given if isinstance(given, str) else f"{given!r} s"  # a parameter of a class in Python
    found = in_unit(text, "ns")
    if found is None or not math.isfinite(found):
        raise InputError(f'{field}: "{text}" is no time; expected a number and a unit, such as 5 ms')
    if found < (in_unit(least, "ns") or 0):
        raise InputError(f"{field}: {text}; expected at least {least}")
    if most is not None and found > (in_unit(most, "ns") or 0):
        raise InputError(f"{field}: {text}; expected at most the run's {most}")
    return round(found)


def _rates(link: _Link, given: Sequence[str] | None) -> list[int]:
    """The rates in b/s, ascending to the link's."""
    controller = link.controller or {}
    of_controller = None if controller.get("kind") == "python" else controller.get("rates")
    if given is None and of_controller is None:
        return [round(link.rate_bps * step / _RATES) for step in range(1, _RATES + 1)]
    if given is None and isinstance(of_controller, dict):
        lowest, highest, step = (round(in_unit(of_controller[key], "b/s") or 0) for key in ("from", "to", "step"))
        return list(range(lowest, highest + 1, step))
    texts: list[str] = list(given or of_controller or ())
    for text in texts:
        if in_unit(text, "b/s") is None:
            raise InputError(f'rates: "{text}" is no rate; expected a number and a unit, such as 5 Mb/s')
    rates = [round(in_unit(text, "b/s") or 0) for text in texts]
    if not rates or sorted(set(rates)) != rates or rates[0] < 1 or rates[-1] != link.rate_bps:
        expected = f"ascending rates, the last one {link.table['rate']}, the link's"
        raise InputError(f"rates: {', '.join(texts)}; expected {expected}")
    return rates


@dataclass(frozen=True)
class _Runs:
    """Runs of a scenario that record a link's packets."""

    name: str
    seed: int | None
    monitor: Monitor | None
    memory: int | None

    @property
    def _probe(self) -> str:
        return json.dumps({"arrivals": [self.name], "drops": True, "links": [self.name]})

    def run(self, scenario: Scenario) -> RawResult:
        for warning in scenario.warnings:
            warnings.warn(warning, NetlullWarning, stacklevel=3)
        return scenario.checked.run(self.seed, self._probe, None, self.monitor, self.memory)

    def traced(self, scenario: Scenario, link: _Link) -> tuple[RawResult, list[int]]:
        """A run, and the departures from the link in ns."""
        checked = scenario.checked.with_options(self.seed, self._probe)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "link.pcapng"
            raw = checked.trace([self.name], str(path), self.monitor, self.memory)
            return raw, [time - link.delay_ns for time in _packet_times(path.read_bytes())]

    def link(self, raw: RawResult) -> Document:
        """The link in a run's summary."""
        links: list[Document] = json.loads(raw.summary())["links"]
        return next(each for each in links if each["name"] == self.name)

    def accepted(self, raw: RawResult) -> tuple[list[int], list[int]]:
        """The times in ns and sizes in bytes of the packets that the link accepted."""
        arrivals, drops = raw.table("arrivals"), raw.table("drop")
        names = [each["name"] for each in json.loads(raw.summary())["links"]]
        dropped = Counter(
            (round(float(time) * 1e9), int(flow))
            for time, number, flow in zip(drops["time_s"], drops["link"], drops["flow"], strict=True)
            if names[int(number)] == self.name
        )
        columns = zip(arrivals["time_ns"].tolist(), arrivals["flow"].tolist(), arrivals["bytes"].tolist(), strict=True)
        times, sizes = [], []
        # Of the packets of a flow that arrive at a time, the last ones are dropped.
        for time, flow, size in reversed(list(columns)):
            if dropped[time, flow] > 0:
                dropped[time, flow] -= 1
            else:
                times.append(int(time))
                sizes.append(int(size))
        if any(dropped.values()):
            raise InputError(f"link.{self.name}.queue: drops packets after they have waited; expected another queue")
        return times[::-1], sizes[::-1]


def _packet_times(capture: bytes) -> Iterator[int]:
    """The times of the packets in a pcapng file of the core, in ns."""
    place = 0
    while place < len(capture):
        kind, length = struct.unpack_from("<II", capture, place)
        if kind == _PACKET_BLOCK:
            high, low = struct.unpack_from("<II", capture, place + 12)
            yield (high << 32) | low
        place += length


def _lateness(
    accepted: tuple[Sequence[int], Sequence[int]], departures: Sequence[int], rate_bps: int, start_ns: int
) -> tuple[float, float, float]:
    """The mean, the 95th percentile and the largest lateness in s of the packets due after `start_ns`."""
    # The departure at the highest rate, exact: in ns times the rate.
    due = 0
    late = []
    for arrival, size, departure in zip(*accepted, departures, strict=False):
        due = max(due, arrival * rate_bps) + size * 8 * 10**9
        if due > start_ns * rate_bps:
            late.append(max(0.0, (departure * rate_bps - due) / rate_bps / 1e9))
    late.sort()
    if not late:
        return 0.0, 0.0, 0.0
    return math.fsum(late) / len(late), late[math.ceil(0.95 * len(late)) - 1], late[-1]
