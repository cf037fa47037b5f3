"""Controllers, congestion controls, station policies and sleep plans that users write in Python.

A class derives from `RateController`, `CongestionControl`, `StationPolicy` or `SleepPlan`. Its annotations are its
parameters. An instance, or the table `{ kind = "python", class = "module:Class", ... }`, takes the place of netlull's
own mechanisms in a scenario. docs/how-to/own-controller.md shows how.
"""

from __future__ import annotations

import functools
import json
import math
import random
import sys
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from netlull.plugins.parameters import (
    Data,
    Duration,
    Parameter,
    ParameterDefault,
    Rate,
    RefusedError,
    param,
    parameters_of,
    shown,
)
from netlull.quantities import in_unit

__all__ = [
    "FAMILIES",
    "METHODS",
    "OPTIONS",
    "CongestionControl",
    "Connection",
    "ControlledLink",
    "Data",
    "Demand",
    "Duration",
    "Found",
    "Loads",
    "Network",
    "Parameter",
    "PlugIn",
    "PolicyStation",
    "Rate",
    "RateController",
    "RefusedError",
    "SleepPlan",
    "StationPolicy",
    "param",
]


@dataclass(frozen=True, slots=True)
class ControlledLink:
    """The link of a controller."""

    rate: float
    """The highest rate, in b/s."""
    mtu: int
    """The largest packet, in bytes."""
    buffer: int | None
    """The length of the buffer in bytes, for packets of one MTU; None if it is unlimited."""
    suspends: bool
    """True if a packet in service stops at a change of rate. Otherwise it finishes at the old rate."""


@dataclass(frozen=True, slots=True)
class PolicyStation:
    """The station of a policy."""

    air_rate: float
    """The rate of the air to the station, in b/s."""
    wake: float
    """The radio's wake time, in seconds."""
    mtu: int
    """The largest packet, in bytes."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The connection of a congestion control."""

    mss: int
    """The largest segment, in bytes of data."""


_TAKEN = frozenset({"kind", "class", "source", "link", "station", "connection"})
_FIXED = frozenset({"random", "read", "made", "reference", "parameters"})


class PlugIn(Mapping[str, object]):
    """A class with parameters. An instance with their values is a table of a scenario.

    netlull makes a new object of the class for each link, connection or station of each run. It sets the parameters and
    calls `start`. An object may keep any state. It must read no clock and no other random numbers than `self.random`.
    """

    _family: ClassVar[str] = ""
    _abstract: ClassVar[bool] = True
    _live: ClassVar[dict[str, type[PlugIn]]] = {}
    """The classes of this process by MODULE:CLASS, the newest of each name."""
    _module: ClassVar[ModuleType | None] = None
    _seed: str = "0"

    def __init_subclass__(cls, **more: Any) -> None:
        """Registers the class."""
        super().__init_subclass__(**more)
        cls._abstract = cls.__module__ == __name__
        if "__init__" in vars(cls) and not cls._abstract:
            raise TypeError(f"{cls.__qualname__}: defines __init__; expected start(self, ...), which begins each run")
        cls._module = sys.modules.get(cls.__module__)
        cls._refuse_taken_names()
        if not cls._abstract:
            PlugIn._live[cls.reference()] = cls

    @classmethod
    def _refuse_taken_names(cls) -> None:
        """Raises a TypeError if a parameter or an attribute has a reserved name."""
        base = next((each for each in cls.__mro__ if each is not PlugIn and vars(each)["_abstract"]), None)
        if cls._abstract or base is None:
            return
        own = {
            name for name in vars(base).get("__annotations__", {}) if isinstance(vars(base).get(name), ParameterDefault)
        }
        taken = {*dir(base), *METHODS[cls._family], *getattr(cls, "_EVENTS", ()), *_TAKEN} - own
        hints = vars(cls).get("__annotations__", {})
        parameters = [name for name, hint in hints.items() if not name.startswith("_") and "ClassVar" not in str(hint)]
        methods = [name for name in vars(cls) if name in _TAKEN or (name in vars(PlugIn) and name in _FIXED)]
        wrong = next((name for name in [*parameters, *methods] if name in taken), None)
        if wrong is not None:
            raise TypeError(f"{cls.__qualname__}.{wrong}: is a reserved name; expected another name")

    def __init__(self, **values: Any) -> None:
        if self._abstract:
            raise TypeError(f"{type(self).__name__}: is abstract; expected a class derived from it")
        self._given = values
        try:
            self._set(self.read(values))
        except RefusedError as error:
            raise TypeError(f"{type(self).__qualname__}: {error}") from None

    def _set(self, values: Mapping[str, object]) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    @classmethod
    def reference(cls) -> str:
        """MODULE:CLASS."""
        return f"{cls.__module__}:{cls.__qualname__}"

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """The parameters by name: the annotations of the class and of its bases."""
        return parameters_of(cls, PlugIn, OPTIONS[cls._family])

    @classmethod
    def read(cls, given: Mapping[str, object]) -> dict[str, Any]:
        """The values of all parameters.

        Raises:
            RefusedError: a value is missing, unknown, or not accepted.
        """
        parameters = cls.parameters()
        unknown = next((name for name in given if name not in parameters), None)
        if unknown is not None:
            names = ", ".join(parameters) or "no parameters"
            raise RefusedError(unknown, "unknown", f"one of {names}" if parameters else names)
        missing = next((each for each in parameters.values() if each.is_required and each.name not in given), None)
        if missing is not None:
            raise RefusedError(missing.name, "missing", missing.expected())
        return {name: each.read(given.get(name, each.default.value)) for name, each in parameters.items()}

    @classmethod
    def made(cls, values: Mapping[str, object], seed: str) -> typing.Self:
        """An object for a run. `seed` starts its random numbers."""
        made = cls.__new__(cls)
        made._begin(values, seed)  # noqa: SLF001  # its own
        return made

    def _begin(self, values: Mapping[str, object], seed: str) -> None:
        self._seed = seed
        self._given = {}
        self._set(values)

    @functools.cached_property
    def random(self) -> random.Random:
        """Random numbers that depend on the seed of the run only."""
        return random.Random(self._seed)  # noqa: S311  # reproducible numbers are the purpose

    def __getitem__(self, key: str) -> object:
        """A field of the table, as a document gives it."""
        if key in self._given:
            return self.parameters()[key].written(self._given[key])
        return {"kind": "python", "class": self.reference()}[key]

    def __iter__(self) -> Iterator[str]:
        """The fields of the table."""
        return iter(("kind", "class", *self._given))

    def __len__(self) -> int:
        """The number of fields of the table."""
        return 2 + len(self._given)

    def __repr__(self) -> str:
        """The call that makes an equal instance."""
        values = ", ".join(f"{name}={value!r}" for name, value in self._given.items())
        return f"{type(self).__qualname__}({values})"


OPTIONS: Mapping[str, frozenset[str]] = {
    "": frozenset(),
    "controllers": frozenset({"in_service", "transition_power", "acknowledgements"}),
    "congestion_controls": frozenset(),
    "station_policies": frozenset(),
    "sleep_plans": frozenset({"nodes", "tcp_rate"}),
}
"""Fields of a plug-in's table that belong to the scenario, by family."""


class RateController(PlugIn):
    """A controller of a link's rate.

    A class defines one or more of `tick(self, seen)`, `threshold(self, seen)` and `event(self, seen, event)`. Each
    returns a rate in b/s or as text, an action of the vocabulary, or None for no change. docs/models/vocabulary.md
    lists the attributes of `seen` and `event`, and the actions.

    `self.link` has the link's `rate`, `mtu`, `buffer` and `suspends`. With the class attribute `segments = True`, the
    controller reads TCP segments and gets estimates of the round-trip time and of the number of flows.
    """

    _family = "controllers"

    interval: Duration = param("10 ms", above="0 s", doc="The time between two ticks.")
    transition: Duration = param("0 s", least="0 s", doc="Nothing is sent for this long after a change of rate.")
    initial_rate: Rate | None = param(None, above="0 b/s", doc="The rate at the start; default the link's.")
    thresholds: list[str] = param((), doc='Backlogs whose crossing is observed: "5 packets" or "10 kB".')
    segments: ClassVar[bool] = False

    if TYPE_CHECKING:
        link: ControlledLink

    def start(self, link: ControlledLink) -> None:
        """Begins a run. It may be called more often than there are runs, since a scenario is checked first."""


class CongestionControl(PlugIn):
    """A congestion control. One object serves one end of a connection.

    A class defines `on_ack(self, ack)` and `on_loss(self, loss)`, and others of the methods in
    docs/models/vocabulary.md. They set `self.cwnd`, `self.ssthresh` (bytes) and `self.pacing_rate` (b/s or None).
    Before the first event, `cwnd` is the initial window, and `self.smss` the data of a full segment.

    With the class attribute `deliveries = True`, the connection is paced and `on_delivery` gets samples of the delivery
    rate. With `owns_window = True`, `cwnd` also holds in recovery, which otherwise reduces the window itself.

    `variables(self)` may return a dict of numbers and states (text) by name, for `probe.variables` and
    `netlull conformance`.
    """

    _family = "congestion_controls"

    deliveries: ClassVar[bool] = False
    owns_window: ClassVar[bool] = False

    if TYPE_CHECKING:
        connection: Connection
        pacing_rate: float | None
    else:
        pacing_rate = None

    cwnd = 1.0
    ssthresh = math.inf
    smss = 0

    _EVENTS: ClassVar[Sequence[str]] = (
        "on_established",
        "on_ack",
        "on_duplicate_ack",
        "on_loss",
        "on_segment_lost",
        "on_congestion_echo",
        "on_timeout",
        "on_recovered",
        "on_spurious",
        "on_idle_restart",
        "on_flight",
        "on_delivery",
        "on_marked_lost",
        "on_restart",
    )

    def start(self, connection: Connection) -> None:
        """Begins a connection."""

    def _methods(self) -> dict[str, Any]:
        """The bound methods of the events that the class handles."""
        return {name: getattr(self, name) for name in (*self._EVENTS, "variables") if hasattr(self, name)}


class StationPolicy(PlugIn):
    """A policy of a station's radio.

    A class defines `event(self, event)`, which returns an action such as "sleep" or "wake", a list of actions, or None.
    docs/models/vocabulary.md lists the events and actions. `self.timer` is the time of the next event "timeout" in
    seconds since the start of the run, or None. `self.station` has `air_rate`, `wake` and `mtu`.

    A policy that needs a buffering access point has its table in the class attribute `access_point`.
    """

    _family = "station_policies"

    access_point: ClassVar[Mapping[str, object] | None] = None

    if TYPE_CHECKING:
        station: PolicyStation
        timer: float | None
    else:
        timer = None

    def start(self, station: PolicyStation) -> None:
        """Begins a run. It may be called more often than there are runs, since a scenario is checked first."""


@dataclass(frozen=True)
class Network:
    """The graph of a sleep plan: nodes, and links between two of them that may sleep."""

    nodes: Sequence[str]
    """The names of the nodes."""
    links: Sequence[tuple[str, str]]
    """The ends of each link."""

    def is_connected(self, without: typing.Iterable[int] = ()) -> bool:
        """True if the links join all nodes when some sleep; `without` are their numbers."""
        asleep = set(without)
        near: dict[str, list[str]] = {node: [] for node in self.nodes}
        for number, (one, other) in enumerate(self.links):
            if number not in asleep:
                near[one].append(other)
                near[other].append(one)
        reached, ahead = {self.nodes[0]}, [self.nodes[0]]
        while ahead:
            new = [node for node in near[ahead.pop()] if node not in reached]
            reached.update(new)
            ahead.extend(new)
        return len(reached) == len(self.nodes)


@dataclass(frozen=True)
class Demand:
    """Traffic between two nodes, in b/s."""

    source: str
    target: str
    rate: float


@dataclass(frozen=True)
class Loads:
    """The traffic of a network."""

    capacities: Sequence[float]
    """The capacity of each link in each direction, in b/s."""
    costs: Sequence[int]
    """The routing cost of each link."""
    demands: Sequence[Demand]
    """The traffic between nodes."""


class SleepPlan(PlugIn):
    """A choice of the links that sleep.

    A class defines `plan(self, graph, loads)`, which returns the links that sleep: numbers in `graph.links`, or pairs
    of names. It is called once, before the run.
    """

    _family = "sleep_plans"


FAMILIES: Mapping[str, type[PlugIn]] = {
    "controllers": RateController,
    "congestion_controls": CongestionControl,
    "station_policies": StationPolicy,
    "sleep_plans": SleepPlan,
}
"""The base classes by family. The entry points of a family are in the group `netlull.FAMILY`."""

METHODS: Mapping[str, Sequence[str]] = {
    "controllers": ("tick", "threshold", "event"),
    "congestion_controls": ("on_ack",),
    "station_policies": ("event",),
    "sleep_plans": ("plan",),
}
"""The methods of which a class must define one, by family."""


@dataclass(frozen=True)
class Found:
    """A class with values for its parameters, as the core uses it."""

    cls: type[PlugIn]
    values: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name in results."""
        return self.cls.__name__

    @property
    def initial_rate(self) -> float | None:
        """The rate at the start of a controller."""
        rate: float | None = self.values["initial_rate"]
        return rate

    @property
    def segments(self) -> bool:
        """Returns True if a controller reads segments."""
        return bool(getattr(self.cls, "segments", False))

    @property
    def deliveries(self) -> bool:
        """Returns True if a congestion control wants deliveries."""
        return bool(getattr(self.cls, "deliveries", False))

    @property
    def owns_window(self) -> bool:
        """Returns True if the window of a congestion control also holds in recovery."""
        return bool(getattr(self.cls, "owns_window", False))

    @property
    def access_point(self) -> str | None:
        """The access point of a station's policy, as JSON."""
        table = getattr(self.cls, "access_point", None)
        return None if table is None else json.dumps(dict(table))

    def start(self, context: Any, seed: str) -> Any:
        """An object for a run, started with its link, connection, station or network."""
        made = self.cls.made(self.values, seed)
        if isinstance(made, RateController):
            made.link = ControlledLink(*context)
            made.start(made.link)
            return _plug(made, self.initial_rate), [getattr(made, name, None) for name in METHODS["controllers"]]
        if isinstance(made, StationPolicy):
            made.station = PolicyStation(*context)
            made.start(made.station)
        elif isinstance(made, CongestionControl):
            made.connection = Connection(*context)
            made.start(made.connection)
        elif isinstance(made, SleepPlan):
            return _links(made, *context)
        return made


_LONGEST = 9e9
"""The longest time of a link, in seconds."""


_MOST_THRESHOLDS = 10_000
"""More thresholds take seconds to read, for each link of each run."""


def _plug(made: RateController, initial_rate: float | None) -> str:
    """The subscription of a controller, as JSON. Its `start` may have set parameters, also as text."""
    parameters = type(made).parameters()
    for name in ("interval", "transition", "initial_rate", "thresholds"):
        setattr(made, name, parameters[name].read(getattr(made, name)))
    for name in ("interval", "transition"):
        if getattr(made, name) > _LONGEST:
            raise RefusedError(name, f"{getattr(made, name):g} s", f"at most {_LONGEST:g} s")
    if len(made.thresholds) > _MOST_THRESHOLDS:
        raise RefusedError("thresholds", f"a list of {len(made.thresholds)}", f"at most {_MOST_THRESHOLDS}")
    if round(made.interval * 1e9) == 0:
        raise RefusedError("interval", f"{made.interval:g} s", "at least 1 ns")
    if made.initial_rate != initial_rate:
        expected = "the parameter: the link has this rate before `start`; an answer changes it"
        raise RefusedError("initial_rate", f"{made.initial_rate} after `start`", f"{initial_rate}, {expected}")
    subscription = {
        "tick": _nanoseconds(made.interval) if hasattr(made, "tick") else None,
        "thresholds": [_backlog(each, made.link.mtu) for each in made.thresholds] if hasattr(made, "threshold") else [],
        "every_event": hasattr(made, "event"),
        "segments": bool(made.segments),
    }
    rate = None if made.initial_rate is None else f"{round(made.initial_rate)} b/s"
    return json.dumps({"subscription": subscription, "initial_rate": rate, "transition": _nanoseconds(made.transition)})


def _nanoseconds(seconds: float) -> str:
    return f"{round(seconds * 1e9)} ns"


def _backlog(length: str, mtu: int) -> str:
    packets = in_unit(length, "packets")
    size = in_unit(length, "B") if packets is None else packets * mtu
    if size is None or size < 1:
        raise RefusedError("thresholds", shown(length), 'packets or data, such as "5 packets" or "10 kB"')
    return f"{round(size)} B"


def _links(
    made: Any,
    nodes: Sequence[str],
    links: Sequence[tuple[int, int]],
    capacities: Sequence[float],
    costs: Sequence[int],
    demands: Sequence[tuple[int, int, float]],
) -> list[int]:
    """The numbers of the links that a sleep plan returns."""
    network = Network(tuple(nodes), tuple((nodes[one], nodes[other]) for one, other in links))
    traffic = tuple(Demand(nodes[one], nodes[other], rate) for one, other, rate in demands)
    loads = Loads(tuple(capacities), tuple(costs), traffic)
    number = {frozenset(ends): index for index, ends in enumerate(network.links)}
    chosen = []
    answer = made.plan(network, loads)
    if answer is not None and not isinstance(answer, list | tuple | set | frozenset | range):
        raise RefusedError("plan", shown(answer), "a list of links, or None")
    for link in answer or ():
        known = link if isinstance(link, int) and not isinstance(link, bool) else None
        if isinstance(link, tuple | list) and len(link) == 2:  # its ends
            known = number.get(frozenset(link))
        if known is None or not 0 <= known < len(links):
            expected = f"numbers from 0 to {len(links) - 1}, or pairs of nodes with a duplex link"
            raise RefusedError("plan", shown(link), expected)
        if known not in chosen:
            chosen.append(known)
    return chosen
