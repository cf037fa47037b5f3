"""The parts of a scenario as Python values, one class for each table of the JSON Schema.

Quantities are text with a unit (`"10 Mb/s"`, `"40 ms"`, `"1500 B"`), as in a file. A field left at None takes the
schema's default. Nothing is checked here: `Scenario` has the core check the whole.

Generated from scenarios/scenario.schema.json by tools/generate.py. Edit neither; run `make generate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import ClassVar, Literal, Self

__all__ = [
    "AccessPoint",
    "Awm",
    "Bernoulli",
    "Bsd",
    "Bursts",
    "CEarth",
    "CampusSize",
    "Cbr",
    "ClientShaper",
    "Codel",
    "DropTail",
    "Eager",
    "Earth",
    "EmpiricalSize",
    "Esacon",
    "Estop",
    "ExponentialSize",
    "FixedSize",
    "Flooding",
    "GRouter",
    "GilbertElliott",
    "Link",
    "LoadAware",
    "LognormalComponent",
    "LognormalSize",
    "Noise",
    "ParetoSize",
    "Phase",
    "Poisson",
    "Power",
    "Practra",
    "Probe",
    "Psm",
    "Radio",
    "RateSteps",
    "Recording",
    "Red",
    "Replay",
    "Requests",
    "Routing",
    "Scripted",
    "ScriptedDrops",
    "Simultaneous",
    "Sleep",
    "Station",
    "Steps",
    "Tcp",
    "TcpOptions",
    "UniformRedraw",
    "VegasBounds",
    "WebSearchSize",
]


class _WithTable:
    """A class with a table of its own. Names the table where one of the table's fields is given to the class."""

    _table: ClassVar[tuple[str, type]]

    def __new__(cls, *_: object, **given: object) -> Self:
        """Runs before `__init__`, which only says that it does not know the field.

        Raises:
            TypeError: a field belongs to the table.
        """
        name, table = cls._table
        for field in fields(table):
            if field.name in given:
                wanted = f"{cls.__name__}({name}={table.__name__}({field.name}={given[field.name]!r}))"
                owner = name.replace("_", " ")
                raise TypeError(f"{cls.__name__}: {field.name} is a field of its {owner}; expected {wanted}")
        return super().__new__(cls)


@dataclass(frozen=True)
class AccessPoint:
    """The access point of a station."""

    _: KW_ONLY
    beacon_period: str | None = None
    """The time from one beacon to the next. A time, such as "40 ms". Default "100 ms"."""
    first_beacon: str | None = None
    """The time of the first beacon, from the start of the run; default one period. A time, such as "40 ms"."""
    beacon_time: str | None = None
    """The transmission time of a beacon; default 1 ms, at most a tenth of the period. A time, such as "40 ms"."""
    poll_time: str | None = None
    """The time from a poll to the packet that answers it. A time, such as "40 ms". Default "500 us"."""
    poll: Literal["all", "one"] | None = None
    """The answer to a poll. Default "all"."""
    patience: str | None = None
    """The longest time from a poll, or from a packet with the More Data bit, to the burst's next packet.

    A beacon within that time does not end the burst. Default 20 ms, at most half a period, and at least the time of a
    packet of one MTU behind a poll. A time, such as "40 ms".
    """
    buffer: int | None = None
    """The packets that the access point buffers for the station. Default 1000."""


@dataclass(frozen=True)
class Awm:
    """Writes smaller windows into acknowledgements, so that the queue of a link stays at its target."""

    kind: ClassVar[str] = "awm"
    target: str
    """T: the queue to keep, in data or packets of one MTU; C-EARTH's own target is gamma T.

    The length of a queue: "50 packets" or "50 kB".
    """
    _: KW_ONLY
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """What q counts. Default "waiting"."""
    beta: str | None = None
    """beta: how fast a queue off its target is corrected, at the link's rate at the start.

    A bit rate, such as "10 Mb/s". Default "10 kb/s".
    """
    floor: str | None = None
    """The least window; default the scenario's MTU. An amount of data, such as "1500 B"."""
    initial_window: str | None = None
    """The window suggested at the start. An amount of data, such as "1500 B". Default "65.535 kB"."""
    flows: Mapping[str, object] | None = None
    """Where N, the number of flows, comes from."""
    acknowledgements: str | None = None
    """The link that brings the acknowledgements; default the way back, from this link's end to its beginning."""


@dataclass(frozen=True)
class Bernoulli:
    """Each packet is lost with this probability, independently."""

    kind: ClassVar[str] = "bernoulli"
    probability: float
    """Probability of loss, in [0, 1)."""


@dataclass(frozen=True)
class Bursts:
    """Datagrams at a constant rate in bursts of exponential length, one per cycle."""

    kind: ClassVar[str] = "bursts"
    name: str
    """The flow's name."""
    from_: str
    """The node that sends."""
    to: str
    """The node that receives."""
    rate: str
    """Rate on the wire during a burst, headers included. A bit rate, such as "10 Mb/s"."""
    _: KW_ONLY
    packet: str | None = None
    """Size of each packet on the wire; default the MTU. An amount of data, such as "1500 B"."""
    cycle: str
    """A burst starts every cycle and is cut where the next one starts. A time, such as "40 ms"."""
    mean_on: str
    """Mean of a burst's exponential length. A time, such as "40 ms"."""
    start: str | None = None
    """When the first cycle starts. A time, such as "40 ms". Default "0 s"."""
    stop: str | None = None
    """When it stops; default never. A time, such as "40 ms"."""


@dataclass(frozen=True)
class CEarth:
    """Follows the queue with the rate of the link; windows pass as they are."""

    kind: ClassVar[str] = "c_earth"
    target: str
    """T: the queue to keep, in data or packets of one MTU; C-EARTH's own target is gamma T.

    The length of a queue: "50 packets" or "50 kB".
    """
    min_rate: str
    """C_min; C_max is the link's rate. A bit rate, such as "10 Mb/s"."""
    round_trip: Mapping[str, object]
    """Where RTT comes from; C-EARTH alone has no `printed`, which is computed from AWM's window."""
    _: KW_ONLY
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """What q counts. Default "waiting"."""
    initial_rate: str | None = None
    """C at the start; default the link's rate, which is C_max. A bit rate, such as "10 Mb/s"."""
    gamma: float | None = None
    """gamma: C-EARTH's target is gamma T. Default 0.95."""
    pace: Literal["round_trip", "event"] | None = None
    """How often the rate is computed. Default "round_trip"."""
    granularity: str | None = None
    """C is set in whole multiples of this. A bit rate, such as "10 Mb/s". Default "1 kb/s"."""
    transition: str | None = None
    """Nothing is sent for this long after a change. A time, such as "40 ms". Default "0 s"."""
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """The fate of the packet being sent when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """The rate whose power is charged while the link pauses for a change. Default "higher"."""
    acknowledgements: str | None = None
    """The link that brings the acknowledgements; default the way back, from this link's end to its beginning."""


@dataclass(frozen=True)
class CampusSize:
    """A campus's flows: a lognormal mixture, truncated so that it has the mean given."""

    kind: ClassVar[str] = "campus"
    mean: str
    """The mean: decides where the mixture is cut off.

    At least 100 B; docs/models/traffic.md says what can be reached. An amount of data, such as "1500 B".
    """


@dataclass(frozen=True)
class Cbr:
    """Datagrams at a constant rate."""

    kind: ClassVar[str] = "cbr"
    name: str
    """The flow's name."""
    from_: str
    """The node that sends."""
    to: str
    """The node that receives."""
    rate: str
    """Rate on the wire, headers included. A bit rate, such as "10 Mb/s"."""
    _: KW_ONLY
    packet: str | None = None
    """Size of each packet on the wire; default the MTU. An amount of data, such as "1500 B"."""
    start: str | None = None
    """When it starts. A time, such as "40 ms". Default "0 s"."""
    jitter: str | None = None
    """The start is put off by a time drawn uniformly below this. A time, such as "40 ms". Default "0 s"."""
    stop: str | None = None
    """When it stops; default never. A time, such as "40 ms"."""


@dataclass(frozen=True)
class ClientShaper:
    """The client's shaper (client-centered-2004; docs/models/client-shaper.md).

    It serves one TCP connection, which the station receives.
    """

    kind: ClassVar[str] = "client_shaper"
    _: KW_ONLY
    least_wait: str | None = None
    """The shortest silence that ends a burst. A time, such as "40 ms". Default "3 ms"."""
    margin: str | None = None
    """The radio wakes earlier than the least RTT requires by this time. A time, such as "40 ms". Default "0 s"."""
    growth: float | None = None
    """Slow start ends when a round has fewer packets than this factor times those of the round before; at least 1.

    Default 1.5.
    """
    patience: int | None = None
    """This number of consecutive bursts with a missing packet ends shaping. Default 3."""
    saturation: float | None = None
    """A burst of at least this share of air rate x RTT saturates the air; above 0.

    Far above 1, no burst does. Default 0.9.
    """
    saturated_bursts: int | None = None
    """This number of consecutive saturating bursts ends shaping. Default 3."""
    eager: bool | None = None
    """Eager acknowledgements while it does not shape. Default true."""
    rtt_from: Literal["any_echo", "open_ack"] | None = None
    """The data that gives the RTT. Default "any_echo"."""
    repair: Literal["closed", "as_they_are"] | None = None
    """The acknowledgements while a packet is missing. Default "closed"."""
    paced_share: float | None = None
    """Guard against senders that pace: a burst that takes longer than this share of the RTT is spread.

    The paper has no guard. Default: none: paced senders are not looked for.
    """
    paced_stretch: float | None = None
    """A spread burst also takes longer than this factor times the transmission time of its bytes on the air.

    Above 0.
    """
    paced_bursts: int | None = None
    """This number of consecutive spread bursts ends shaping. Default 3."""
    paced_from: Literal["bursts", "slow_start"] | None = None
    """The packets that show that a sender paces."""


@dataclass(frozen=True)
class Codel:
    """Controlled delay (RFC 8289).

    A fixed rate is then sent by scheduled departures, which takes an event more per packet.
    """

    kind: ClassVar[str] = "codel"
    target: str | None = None
    """TARGET: waiting that is acceptable when it lasts. A time, such as "40 ms". Default "5 ms"."""
    interval: str | None = None
    """INTERVAL: how long waiting must stay above TARGET before anything is dropped.

    A time, such as "40 ms". Default "100 ms".
    """
    _: KW_ONLY
    ecn: bool | None = None
    """Whether ECN-capable packets are marked instead of dropped. Default true."""


@dataclass(frozen=True)
class DropTail:
    """Only a full buffer drops."""

    kind: ClassVar[str] = "drop_tail"


@dataclass(frozen=True)
class Eager:
    """Eager acknowledgements without sleep: the 2004 paper's baseline."""

    kind: ClassVar[str] = "eager"
    _: KW_ONLY
    least_wait: str | None = None
    """The shortest silence after which data is acknowledged. A time, such as "40 ms". Default "3 ms"."""
    longest_wait: str | None = None
    """The longest such silence.

    A longer gap between two packets does not count as a gap within a burst. A time, such as "40 ms". Default "40 ms".
    """


@dataclass(frozen=True)
class Earth:
    """Steps a link's rate down when its queue empties, up when it is about to overflow."""

    kind: ClassVar[str] = "earth"
    rates: RateSteps | Mapping[str, object] | Sequence[str]
    """The rates to choose from, r_1 < ... < r_n; the highest is the link's."""
    threshold: str
    """The queue from which it is about to overflow, in data or packets of one MTU.

    The length of a queue: "50 packets" or "50 kB".
    """
    _: KW_ONLY
    min_interval: str | None = None
    """At least this long between two changes; above `transition`. A time, such as "40 ms". Default "100 ms"."""
    transition: str | None = None
    """Nothing is sent for this long after a change. A time, such as "40 ms". Default "0 s"."""
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """What the queue counts. Default "waiting"."""
    initial_rate: str | None = None
    """Rate at the start; default the maximum. A bit rate, such as "10 Mb/s"."""
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """The fate of the packet being sent when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """The rate whose power is charged while the link pauses for a change. Default "higher"."""


@dataclass(frozen=True)
class EmpiricalSize:
    """Points of a cumulative distribution."""

    kind: ClassVar[str] = "empirical"
    cdf: Sequence[tuple[int, float]] | None = None
    """The points: bytes, and the share of sizes that do not exceed them. Neither decreases, and the last share is 1."""
    file: str | None = None
    """A file with a point on each line, bytes and share, which becomes `cdf` when the scenario is read."""


@dataclass(frozen=True)
class Esacon:
    """ESACON: by the loss of algebraic connectivity, the smallest first."""

    kind: ClassVar[str] = "esacon"
    threshold: float
    """The share of the algebraic connectivity that must be left, in [0, 1]."""
    _: KW_ONLY
    nodes: Sequence[str] | None = None
    """The nodes that the plan knows, with the links between them; default all."""


@dataclass(frozen=True)
class Estop:
    """ESTOP: by betweenness, as long as the algebraic connectivity holds."""

    kind: ClassVar[str] = "estop"
    threshold: float
    """The share of the algebraic connectivity that must be left, in [0, 1]."""
    _: KW_ONLY
    nodes: Sequence[str] | None = None
    """The nodes that the plan knows, with the links between them; default all."""


@dataclass(frozen=True)
class ExponentialSize:
    """Exponential."""

    kind: ClassVar[str] = "exponential"
    mean: str
    """The mean, at least 100 B. An amount of data, such as "1500 B"."""


@dataclass(frozen=True)
class FixedSize:
    """All the same."""

    kind: ClassVar[str] = "fixed"
    size: str
    """The size. An amount of data, such as "1500 B"."""


@dataclass(frozen=True)
class Flooding:
    """Both ends of the link announce it; announcements travel link by link, over those that are up."""

    kind: ClassVar[str] = "flooding"
    _: KW_ONLY
    processing: str | None = None
    """What every router on the way adds to the propagation of the links. A time, such as "40 ms". Default "1 ms"."""
    computation: str | None = None
    """From the first news to a router's new table; what it hears meanwhile is in it.

    A time, such as "40 ms". Default "10 ms".
    """


@dataclass(frozen=True)
class GRouter:
    """AWM keeps the queue at its target; C-EARTH follows the queue with the rate of the link."""

    kind: ClassVar[str] = "g_router"
    target: str
    """T: the queue to keep, in data or packets of one MTU; C-EARTH's own target is gamma T.

    The length of a queue: "50 packets" or "50 kB".
    """
    min_rate: str
    """C_min; C_max is the link's rate. A bit rate, such as "10 Mb/s"."""
    round_trip: Mapping[str, object]
    """Where RTT comes from; C-EARTH alone has no `printed`, which is computed from AWM's window."""
    _: KW_ONLY
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """What q counts. Default "waiting"."""
    beta: str | None = None
    """beta: how fast a queue off its target is corrected, at the link's rate at the start.

    A bit rate, such as "10 Mb/s". Default "10 kb/s".
    """
    floor: str | None = None
    """The least window; default the scenario's MTU. An amount of data, such as "1500 B"."""
    initial_window: str | None = None
    """The window suggested at the start. An amount of data, such as "1500 B". Default "65.535 kB"."""
    flows: Mapping[str, object] | None = None
    """Where N, the number of flows, comes from."""
    initial_rate: str | None = None
    """C at the start; default the link's rate, which is C_max. A bit rate, such as "10 Mb/s"."""
    gamma: float | None = None
    """gamma: C-EARTH's target is gamma T. Default 0.95."""
    pace: Literal["round_trip", "event"] | None = None
    """How often the rate is computed. Default "round_trip"."""
    granularity: str | None = None
    """C is set in whole multiples of this. A bit rate, such as "10 Mb/s". Default "1 kb/s"."""
    transition: str | None = None
    """Nothing is sent for this long after a change. A time, such as "40 ms". Default "0 s"."""
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """The fate of the packet being sent when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """The rate whose power is charged while the link pauses for a change. Default "higher"."""
    acknowledgements: str | None = None
    """The link that brings the acknowledgements; default the way back, from this link's end to its beginning."""


@dataclass(frozen=True)
class GilbertElliott:
    """Losses in bursts: two states, each with its own probability of loss."""

    kind: ClassVar[str] = "gilbert_elliott"
    to_bad: float
    """p: probability of a step from the good to the bad state, in (0, 1]."""
    to_good: float
    """r: probability of a step from the bad to the good state, in (0, 1]."""
    loss_bad: float | None = None
    """1 - h: probability of loss in the bad state, in [0, 1]. Default 1.0."""
    loss_good: float | None = None
    """1 - k: probability of loss in the good state, in [0, 1). Default 0.0."""


@dataclass(frozen=True)
class Link:
    """One link, from one node to another; `duplex` adds the way back."""

    from_: str
    """The node that sends."""
    to: str
    """The node that receives."""
    rate: str
    """Rate; under a controller or a varying capacity, the maximum. A bit rate, such as "10 Mb/s"."""
    delay: str | None = None
    """Propagation delay, one way. A time, such as "40 ms". Default "0 s"."""
    buffer: str | None = None
    """Limit of the queue: packets that wait, not the one being sent.

    `BDP` is rate x two-way propagation delay of the longest route of any flow across the link, in packets of one MTU,
    rounded to the nearest. A buffer size: "BDP", "0.5 BDP", "42 packets", "64 kB" or "unlimited". Default "1 BDP".
    """
    _: KW_ONLY
    name: str | None = None
    """The link's name; default `FROM-TO`."""
    duplex: bool | None = None
    """Also make the link `TO-FROM` with the same rate, delay, buffer and queue (no controller, capacity.

    Loss or noise). Default false.
    """
    buffer_floor: int | None = None
    """A buffer given in BDP holds at least this many packets. Default 5."""
    queue: Queue | Mapping[str, object] | None = None
    """How the queue is managed within its limit; default drop-tail."""
    cost: int | None = None
    """Routing cost. Default 1."""
    controller: Controller | Mapping[str, object] | None = None
    """What scales the link's rate with its traffic."""
    capacity: Capacity | Mapping[str, object] | None = None
    """A capacity that varies by itself."""
    loss: Loss | Mapping[str, object] | None = None
    """Which packets the link loses, before its queue."""
    noise: Noise | Mapping[str, object] | None = None
    """Random times that packets need on top of the delay; none overtakes the one before it."""


@dataclass(frozen=True)
class LoadAware:
    """The least loaded first, as long as no link is loaded more than a bound allows."""

    kind: ClassVar[str] = "load_aware"
    bound: float
    """The largest load of a link, as a share of its rate, in (0, 1]."""
    _: KW_ONLY
    threshold: float | None = None
    """The share of the algebraic connectivity that must be left, in [0, 1].

    0, the default, asks for a connected network only.
    """
    tcp_rate: str | None = None
    """The rate that each TCP flow counts as; default none. A bit rate, such as "10 Mb/s"."""
    nodes: Sequence[str] | None = None
    """The nodes that the plan knows, with the links between them; default all."""


@dataclass(frozen=True)
class LognormalComponent:
    """A lognormal law of a mixture."""

    weight: float
    """Its share of the mixture before truncation; weights are divided by their sum."""
    median: str
    """The median. An amount of data, such as "1500 B"."""
    sigma: float
    """The standard deviation of the logarithm, above 0 and at most 10."""


@dataclass(frozen=True)
class LognormalSize:
    """A mixture of lognormal laws."""

    kind: ClassVar[str] = "lognormal"
    components: Sequence[LognormalComponent | Mapping[str, object]]
    """The laws that are mixed."""
    min: str | None = None
    """No size is smaller: what is below is left out, and the rest scaled up.

    Default: no bound. An amount of data, such as "1500 B".
    """
    max: str | None = None
    """No size is larger: what is above is left out, and the rest scaled up.

    Default: no bound. An amount of data, such as "1500 B".
    """


@dataclass(frozen=True)
class Noise:
    """Noise of round trips.

    Each packet takes a gamma-distributed time longer, independently, and none overtakes the one before it
    (docs/models/link.md).
    """

    mean: str
    """Mean of the times drawn; 0 s is no noise. A time, such as "40 ms"."""
    shape: float
    """Shape, 0.01 to 1,000,000: the standard deviation is mean / sqrt(shape), and 1 is exponential."""


@dataclass(frozen=True)
class ParetoSize:
    """Pareto: heavy-tailed."""

    kind: ClassVar[str] = "pareto"
    mean: str
    """The mean of what is drawn (with `max`: of the bounded law), at least 100 B.

    An amount of data, such as "1500 B".
    """
    shape: float
    """The tail's exponent, above 1; at 2 or less the variance is infinite without `max`."""
    max: str | None = None
    """No size is larger: the law is cut off here and scaled up to make up for it.

    Default: no bound. An amount of data, such as "1500 B".
    """


@dataclass(frozen=True)
class Phase:
    """A part of the run, measured on its own. Phases may overlap."""

    name: str
    """Its name, in metrics such as `phase.NAME.link.LINK.mean_rate_bps`."""
    _: KW_ONLY
    from_: str | None = None
    """When it begins; default the end of the warm-up. A time, such as "40 ms"."""
    to: str | None = None
    """When it ends; default the end of the run. A time, such as "40 ms"."""


@dataclass(frozen=True)
class Poisson:
    """Datagrams of one size whose arrivals are a Poisson process."""

    kind: ClassVar[str] = "poisson"
    name: str
    """The flow's name."""
    from_: str
    """The node that sends."""
    to: str
    """The node that receives."""
    rate: str
    """Rate on the wire, headers included. A bit rate, such as "10 Mb/s"."""
    _: KW_ONLY
    packet: str | None = None
    """Size of each packet on the wire; default the MTU. An amount of data, such as "1500 B"."""
    start: str | None = None
    """When it starts. A time, such as "40 ms". Default "0 s"."""
    jitter: str | None = None
    """The start is put off by a time drawn uniformly below this. A time, such as "40 ms". Default "0 s"."""
    stop: str | None = None
    """When it stops; default never. A time, such as "40 ms"."""


@dataclass(frozen=True)
class Power:
    """A power model and its parameters."""

    model: str
    """A model of `netlull list`, such as `fs`, `dvs` or `ncs-55a1-24h`."""
    _: KW_ONLY
    name: str | None = None
    """Name in results; default the model's, with P_s where it is not zero."""
    static_fraction: float | None = None
    """P_s as a fraction of the maximum power, in [0, 1); ideal models only."""
    phi: float | None = None
    """phi: voltage scales down to u_max/phi; voltage-scaling models only."""


@dataclass(frozen=True)
class Practra:
    """Steps a link's rate up when the queue would break a delay bound, down when an empty queue's forecast allows."""

    kind: ClassVar[str] = "practra"
    rates: RateSteps | Mapping[str, object] | Sequence[str]
    """The rates to choose from, r_1 < ... < r_n; the highest is the link's."""
    transition: str
    """delta: nothing is sent for this long after a change. A time, such as "40 ms"."""
    min_interval: str
    """mRCI: at least this long between two changes; above `transition`. A time, such as "40 ms"."""
    delay_bound: str
    """d: the bound on queueing delay. A time, such as "40 ms"."""
    _: KW_ONLY
    forecast_weight: float | None = None
    """w: weight of the newest sample in the forecast, in (0, 1]. Default 0.25."""
    forecast_interval: str | None = None
    """Interval over which arrivals are averaged into a sample; default `min_interval`. A time, such as "40 ms"."""
    forecast_start: Literal["first_sample", "zero"] | None = None
    """The forecast before the first sample. Default "first_sample"."""
    arrivals: Literal["offered", "accepted"] | None = None
    """Which arrivals the forecast counts. Default "offered"."""
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """What q counts. Default "waiting"."""
    tick: str | None = None
    """Test the rules on a tick of this length; default: at every arrival and departure. A time, such as "40 ms"."""
    steps: Literal["adjacent", "any"] | None = None
    """How far a change goes. Default "adjacent"."""
    initial_rate: str | None = None
    """Rate at the start; default the maximum. A bit rate, such as "10 Mb/s"."""
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """The fate of the packet being sent when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """The rate whose power is charged while the link pauses for a change. Default "higher"."""


@dataclass(frozen=True)
class Probe:
    """What to record over time."""

    interval: str | None = None
    """Width of the bins of the tables `link` and `flow`; none are recorded without it.

    A bin is written at its end; one that the end of the run cuts is not written. A time, such as "40 ms".
    """
    _: KW_ONLY
    window: bool | None = None
    """Record every change of a congestion window (table `window`). Default false."""
    drops: bool | None = None
    """Record every dropped packet (table `drop`). Default false."""
    segments: bool | None = None
    """Record every data segment that a TCP sender sends (table `segment`). Default false."""
    events: bool | None = None
    """Record what happens to TCP senders: timeouts, fast retransmits, the ends of recoveries (table `event`).

    Default false.
    """
    requests: bool | None = None
    """Record every request of the flows of that kind (table `request`). Default false."""
    stations: bool | None = None
    """Record what stations do.

    The states of their radios (table `radio`), what is on the air for them (table `air`) and the bursts that shapers
    see (table `burst`). Default false.
    """
    arrivals: Sequence[str] | None = None
    """Record every packet that is offered to these links (table `arrivals`)."""
    links: Sequence[str] | None = None
    """Links in the tables; default all."""
    flows: Sequence[str] | None = None
    """Flows in the tables; default all."""


@dataclass(frozen=True)
class Radio:
    """Powers of a radio."""

    name: str
    """Name in results."""
    asleep: str
    """Asleep. A power, such as "1319 mW"."""
    idle: str
    """Awake, with nothing on the air for it. A power, such as "1319 mW"."""
    receive: str
    """Receiving. A power, such as "1319 mW"."""
    transmit: str
    """Transmitting. A power, such as "1319 mW"."""
    wake_time: str
    """How long it takes to wake. A time, such as "40 ms"."""
    _: KW_ONLY
    waking: str | None = None
    """While it wakes; default as idle. A power, such as "1319 mW"."""


@dataclass(frozen=True)
class RateSteps:
    """Evenly spaced rates."""

    from_: str
    """Lowest rate. A bit rate, such as "10 Mb/s"."""
    to: str
    """Highest rate. A bit rate, such as "10 Mb/s"."""
    step: str
    """Difference between neighbours. A bit rate, such as "10 Mb/s"."""


@dataclass(frozen=True)
class Recording:
    """Runs the scenario first as it stands, without what `without` names.

    And records the packets that `flows` offer to `link`. Then runs it with one open-loop source in place of these
    flows, which sends these packets at these times.
    """

    link: str
    """The link to which the packets are offered; the source is at the node where it begins."""
    flows: Sequence[str]
    """The flows whose packets are recorded, and that are replaced."""
    _: KW_ONLY
    without: Sequence[str] | None = None
    """What the first run is without: paths, such as `link.N1-N2.controller`."""
    name: str | None = None
    """Name of the flow that replays. Default "replay"."""
    to: str | None = None
    """Where the packets go; default where these flows go."""


@dataclass(frozen=True)
class Red:
    """Random early detection (Floyd and Jacobson 1993)."""

    kind: ClassVar[str] = "red"
    min_threshold: str | None = None
    """min_th: with a lower average nothing is dropped early.

    A buffer size: "BDP", "0.5 BDP", "42 packets", "64 kB" or "unlimited". Default "5 packets".
    """
    max_threshold: str | None = None
    """max_th: from this average on all is dropped, or gently more and more; default three times min_th.

    A buffer size: "BDP", "0.5 BDP", "42 packets", "64 kB" or "unlimited".
    """
    _: KW_ONLY
    max_probability: float | None = None
    """max_p: the probability at max_th, in (0, 1]. Default 0.1."""
    weight: float | None = None
    """w_q: weight of the newest sample in the average, in (0, 1]. Default 0.002."""
    gentle: bool | None = None
    """Between max_th and twice max_th the probability goes from max_p to 1, instead of to 1 at once. Default true."""
    probability: Literal["per_packet", "per_byte"] | None = None
    """Whether large packets are more likely to be dropped. Default "per_packet"."""
    rules: Literal["paper", "ns2"] | None = None
    """Whether some packets are spared. Default "paper"."""
    mean_packet: str | None = None
    """Typical packet, in which idle time is counted; default the MTU. An amount of data, such as "1500 B"."""
    ecn: Literal["off", "early", "always"] | None = None
    """When ECN-capable packets are marked instead of dropped; others are dropped. Default "early"."""


@dataclass(frozen=True)
class Replay:
    """Datagrams as they were recorded."""

    kind: ClassVar[str] = "replay"
    name: str
    """The flow's name."""
    from_: str
    """The node that sends."""
    to: str
    """The node that receives."""
    _: KW_ONLY
    arrivals: Sequence[tuple[int, int]] | None = None
    """The packets: nanoseconds since the start, which do not decrease, and bytes on the wire."""
    file: str | None = None
    """A file with a packet on each line, its time and its bytes, which becomes `arrivals` when the scenario is read."""


@dataclass(frozen=True)
class Routing:
    """How packets find their way."""

    _: KW_ONLY
    metric: Literal["cost", "hops"] | None = None
    """The length of a path, of which routing takes the shortest. Default "cost"."""
    ttl: int | None = None
    """Hops that a packet may make.

    Without it 64 where links sleep, and no limit elsewhere: routes that never change have no loops.
    """
    update: Update | Mapping[str, object] | None = None
    """How routers learn of links that sleep and wake."""


@dataclass(frozen=True)
class Scripted:
    """Packets are lost by number."""

    kind: ClassVar[str] = "scripted"
    drops: Sequence[ScriptedDrops | Mapping[str, object]]
    """What to drop, flow by flow."""


@dataclass(frozen=True)
class ScriptedDrops:
    """Packets of one flow that a link drops."""

    flow: str
    """The flow; with `count` above one, `NAME-1`, `NAME-2`, ..."""
    packets: Sequence[int]
    """Numbers of the packets, ascending.

    All packets of the flow that are offered to the link count, from 1: TCP's SYN, acknowledgements, FIN and what it
    sends again.
    """


@dataclass(frozen=True)
class Simultaneous:
    """Every router has its new table at the same time."""

    kind: ClassVar[str] = "simultaneous"
    after: str
    """From the announcement to the new tables. A time, such as "40 ms"."""


@dataclass(frozen=True)
class Sleep:
    """Links that sleep, and when."""

    at: str
    """When it is decided and announced that the (first) link sleeps. A time, such as "40 ms"."""
    _: KW_ONLY
    links: Sequence[str] | None = None
    """The links, in the order in which they fall asleep. A duplex link sleeps in both directions."""
    plan: Plan | Mapping[str, object] | None = None
    """Or the plan that chooses them."""
    spacing: str | None = None
    """Each further link so much later. A time, such as "40 ms". Default "0 s"."""
    drain: str | None = None
    """A link carries packets on for so long after it has been announced that it sleeps: routes change first.

    A time, such as "40 ms". Default "0 s".
    """
    wake: str | None = None
    """When the (first) link is woken; default never. A time, such as "40 ms"."""
    wake_time: str | None = None
    """From then until it carries packets and is announced. A time, such as "40 ms". Default "0 s"."""


@dataclass(frozen=True)
class Station:
    """Wireless stations.

    Each is a node with one link to, and one from, its access point; what comes while its radio sleeps is lost to it.
    """

    nodes: Sequence[str]
    """The nodes; each is a station of its own."""
    _: KW_ONLY
    name: str | None = None
    """A name of these stations for `--set` and sweeps: `station.NAME.mechanism`."""
    radio: Sequence[str | Radio | Mapping[str, object]] | None = None
    """Power models of the radio, under each of which energy is reported.

    The first says how long the radio takes to wake.
    """
    wake_time: str | None = None
    """How long the radio takes to wake, instead of what the first model says. A time, such as "40 ms"."""
    mechanism: Doze | Mapping[str, object] | None = None
    """The machine that lets the radio sleep; default none: the radio is awake all the time."""


@dataclass(frozen=True)
class Steps:
    """Other rates at given times; the link starts at its `rate`."""

    kind: ClassVar[str] = "steps"
    steps: Sequence[Mapping[str, object]]
    """The steps in the order of their times."""


@dataclass(frozen=True)
class TcpOptions:
    """TCP options. What is left out comes from the scenario's `[tcp]`, then from the preset."""

    _: KW_ONLY
    preset: Literal["rfc", "ns2", "freebsd-4.5", "linux-6"] | None = None
    """Source of the options that are not given. Default: rfc."""
    congestion_control: str | None = None
    """A name of `netlull list tcp`, such as `new_reno` or `cubic`.

    Each comes with the loss recovery and the ECN that it is known with. Default: new_reno; linux-6: cubic.
    """
    loss_recovery: Literal["tahoe", "reno", "new_reno", "vegas", "sack", "rack"] | None = None
    """Detection and repair of losses; each congestion control brings its own. Default: new_reno; linux-6: rack."""
    sack_detection: Literal["rfc6675", "forward", "counting"] | None = None
    """Rule by which SACK blocks mean a loss; with `loss_recovery = "sack"`. Default: rfc6675."""
    window_reduction: Literal["immediate", "proportional", "rate_halving", "linux_6"] | None = None
    """Reduction of the window in recovery; with `loss_recovery = "sack"` or `"rack"`.

    Default: proportional; linux-6: linux_6.
    """
    ecn: Literal["off", "classic", "dctcp"] | None = None
    """Explicit congestion notification; `dctcp` brings its own. Default: off."""
    hystart: bool | None = None
    """HyStart++ (RFC 9406), with `congestion_control = "cubic"`; with `cwnd_unit = "segments"` HyStart as in Linux 6.

    Default: true.
    """
    cwnd_unit: Literal["bytes", "segments"] | None = None
    """Unit of the windows of RFC 5681 and of `cubic`, which also decides the rules of their growth.

    Default: bytes; linux-6: segments.
    """
    vegas: VegasBounds | Mapping[str, object] | None = None
    """Bounds of Vegas. Default: { alpha = 2, beta = 4, gamma = 1 }; ns2: { alpha = 1, beta = 3, gamma = 1 }."""
    vegas_flavour: Literal["linux", "ns2"] | None = None
    """Flavour of Vegas. Default: linux; ns2: ns2."""
    mss: str | None = None
    """Maximum segment size, options not counted: with timestamps a segment carries 12 B less.

    An amount of data, such as "1500 B". Default: the MTU less 40 B of headers.
    """
    initial_window: int | None = None
    """Initial window in segments. Default: as RFC 6928 says; ns2: 2; freebsd-4.5: 2; linux-6: 10."""
    initial_ssthresh: str | None = None
    """Initial slow-start threshold. An amount of data, such as "1500 B". Default: no limit; ns2: 14.6 MB."""
    delayed_ack: bool | None = None
    """Acknowledge every second segment instead of each (RFC 5681 section 4.2). Default: true; ns2: false."""
    delayed_ack_timeout: str | None = None
    """Longest delay of an acknowledgement.

    A time, such as "40 ms". Default: 200 ms; ns2: none; freebsd-4.5: 100 ms; linux-6: 40 ms.
    """
    quick_acks: int | None = None
    """The first acknowledgements of data that are not delayed.

    The preset `linux-6` counts 16 and those during the growth of the kernel's window, which depends on `receive_buffer`
    and `mss`. Default: 0; linux-6: 3274.
    """
    sack_compression: Literal["off", "linux_6"] | None = None
    """Compression of acknowledgements of segments ahead of a gap. Default: off; linux-6: linux_6."""
    timestamps: bool | None = None
    """RFC 7323 timestamps. Default: true; ns2: false."""
    window_scaling: bool | None = None
    """RFC 7323 window scaling. Default: true."""
    send_buffer: str | None = None
    """Send buffer, the most that may be in flight, rounded up to whole segments.

    An amount of data, such as "1500 B". Default: no limit; freebsd-4.5: 32.768 kB.
    """
    receive_buffer: str | None = None
    """Receive buffer, the largest window that is advertised.

    An amount of data, such as "1500 B". Default: 6.291456 MB; ns2: 14.6 MB; freebsd-4.5: 65.536 kB.
    """
    limited_transmit: bool | None = None
    """RFC 3042 limited transmit. Default: true; freebsd-4.5: false."""
    partial_ack_timer: Literal["impatient", "slow_but_steady"] | None = None
    """When a partial acknowledgement restarts the timer (RFC 6582 section 4).

    Default: impatient; freebsd-4.5: slow_but_steady.
    """
    initial_rto: str | None = None
    """Retransmission timeout before the first sample.

    A time, such as "40 ms". Default: 1 s; ns2: 3 s; freebsd-4.5: 3 s.
    """
    min_rto: str | None = None
    """Smallest retransmission timeout. A time, such as "40 ms". Default: 1 s; ns2: 200 ms; linux-6: 200 ms."""
    max_rto: str | None = None
    """Largest retransmission timeout (at least 60 s).

    A time, such as "40 ms". Default: 60 s; freebsd-4.5: 64 s; linux-6: 120 s.
    """
    rto_granularity: str | None = None
    """Granularity G of the retransmission clock.

    A time, such as "40 ms". Default: 1 ms; ns2: 10 ms; freebsd-4.5: 10 ms; linux-6: 200 ms.
    """
    ssthresh_from: Literal["flight", "window"] | None = None
    """Quantity that a loss halves. Default: flight; ns2: window; freebsd-4.5: window; linux-6: window."""
    growth: Literal["always", "when_limited"] | None = None
    """Growth of an unused congestion window; window of RFC 5681 only. Default: always; linux-6: when_limited."""
    shrunk_window: Literal["keep", "pull_back"] | None = None
    """Treatment of data in flight when the peer's window closes over it. Default: keep; freebsd-4.5: pull_back."""
    window_update: Literal["any", "larger", "larger_or_zero"] | None = None
    """Windows accepted from acknowledgements that repeat their number.

    Default: any; freebsd-4.5: larger; linux-6: larger_or_zero.
    """


@dataclass(frozen=True)
class UniformRedraw:
    """Redrawn uniformly on [min, max] after exponential intervals; the link starts at its `rate`."""

    kind: ClassVar[str] = "uniform_redraw"
    min: str
    """Lowest capacity. A bit rate, such as "10 Mb/s"."""
    max: str
    """Highest capacity. A bit rate, such as "10 Mb/s"."""
    mean_interval: str
    """Mean of the intervals between redraws. A time, such as "40 ms"."""


@dataclass(frozen=True)
class VegasBounds:
    """Bounds of Vegas, in segments queued in the network."""

    alpha: int
    """Fewer: the window grows."""
    beta: int
    """More: it shrinks."""
    gamma: int
    """More in slow start: it ends."""


@dataclass(frozen=True)
class WebSearchSize:
    """Flows of a cluster that serves web search: points of a cumulative distribution."""

    kind: ClassVar[str] = "web_search"
    mean: str | None = None
    """The mean, to which all sizes are scaled; default that of the distribution, 1712 kB.

    An amount of data, such as "1500 B".
    """


@dataclass(frozen=True)
class Bsd(_WithTable):
    """The bounded-slowdown protocol (docs/models/radio.md)."""

    kind: ClassVar[str] = "bsd"
    _table: ClassVar[tuple[str, type]] = ("access_point", AccessPoint)
    _: KW_ONLY
    access_point: AccessPoint | Mapping[str, object] | None = None
    """The parameters of the access point."""
    slowdown: float | None = None
    """p: the RTT grows by at most this share. Default 0.5."""
    longest_listen: str | None = None
    """The longest time from one beacon heard to the next. A time, such as "40 ms". Default "900 ms"."""
    request: Literal["every_packet", "data_only"] | None = None
    """The packets that count as requests. Default "every_packet"."""


@dataclass(frozen=True)
class Psm(_WithTable):
    """IEEE 802.11 power-saving mode, ideal or with a poll for each packet (docs/models/radio.md)."""

    kind: ClassVar[str] = "psm"
    _table: ClassVar[tuple[str, type]] = ("access_point", AccessPoint)
    _: KW_ONLY
    access_point: AccessPoint | Mapping[str, object] | None = None
    """The parameters of the access point."""
    listen_interval: int | None = None
    """The station listens to every n-th beacon, counted from the first. Default 1."""


@dataclass(frozen=True)
class Requests(_WithTable):
    """TCP connections that come as a Poisson process, with random sizes, and go."""

    kind: ClassVar[str] = "requests"
    _table: ClassVar[tuple[str, type]] = ("tcp", TcpOptions)
    name: str
    """The flow's name."""
    from_: str
    """The node that opens the connections and sends."""
    to: str
    """The node that receives."""
    offered: str
    """Mean rate at which data is asked for, without headers: requests come at this rate over the mean size.

    A bit rate, such as "10 Mb/s".
    """
    size: Size | Mapping[str, object]
    """How much each request asks for."""
    _: KW_ONLY
    start: str | None = None
    """Requests come from here on. A time, such as "40 ms". Default "0 s"."""
    stop: str | None = None
    """No request comes from here on; those that have come go on. Default never. A time, such as "40 ms"."""
    most_open: int | None = None
    """At most so many connections may be open at once; the run ends with an error if another request comes then.

    Default 10000.
    """
    tcp: TcpOptions | Mapping[str, object] | None = None
    """TCP options of this flow, over the scenario's."""


@dataclass(frozen=True)
class Tcp(_WithTable):
    """A TCP connection, or `count` of them."""

    kind: ClassVar[str] = "tcp"
    _table: ClassVar[tuple[str, type]] = ("tcp", TcpOptions)
    name: str
    """The flow's name; with `count` above one, `NAME-1`, `NAME-2`, ..."""
    from_: str
    """The node that opens the connection and sends."""
    to: str
    """The node that receives."""
    size: str | None = None
    """How much each sends. "endless" or an amount of data, such as "5 MB". Default "endless"."""
    _: KW_ONLY
    start: str | None = None
    """When the first connection opens. A time, such as "40 ms". Default "0 s"."""
    spacing: str | None = None
    """Each further connection opens this much later. A time, such as "40 ms". Default "0 s"."""
    jitter: str | None = None
    """Each start is put off by a time drawn uniformly below this. A time, such as "40 ms". Default "0 s"."""
    count: int | None = None
    """How many connections. Default 1."""
    stop: str | None = None
    """From then on the application of the first connection writes nothing more.

    And the connection closes when all is acknowledged that was written before; default never. Without `write_rate` that
    is what has been sent by then. A time, such as "40 ms".
    """
    stop_spacing: str | None = None
    """The application of each further connection stops this much later; default 0 s. A time, such as "40 ms"."""
    write_rate: str | None = None
    """The application writes at this constant rate, data without headers, from the opening on.

    Default as fast as TCP sends. A bit rate, such as "10 Mb/s".
    """
    write_size: str | None = None
    """How much it writes at once; default the data of a full segment. An amount of data, such as "1500 B"."""
    tcp: TcpOptions | Mapping[str, object] | None = None
    """TCP options of this flow, over the scenario's."""


Capacity = UniformRedraw | Steps
"""A capacity that varies by itself."""

Controller = Practra | Earth | Awm | CEarth | GRouter
"""A controller that scales a link's rate, steers the windows of the TCPs that cross it, or both."""

Doze = ClientShaper | Eager | Psm | Bsd
"""A machine that lets a station's radio sleep, or acknowledges eagerly."""

Flow = Tcp | Cbr | Poisson | Bursts | Requests | Replay
"""One source of traffic."""

Loss = Bernoulli | GilbertElliott | Scripted
"""Losses of a link."""

Plan = Estop | Esacon | LoadAware
"""A plan that chooses the links that sleep, among the scenario's duplex links (docs/models/estop.md)."""

Queue = DropTail | Red | Codel
"""Queue management."""

Size = FixedSize | ExponentialSize | ParetoSize | LognormalSize | CampusSize | EmpiricalSize | WebSearchSize
"""A law of sizes."""

Update = Flooding | Simultaneous
"""How the news of a link spreads."""
