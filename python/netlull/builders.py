"""The parts of a scenario as Python values, one class for each table of the JSON Schema.

Quantities are text with a unit (`"10 Mb/s"`, `"40 ms"`, `"1500 B"`), as in a file. A field left at None takes the
schema's default. These classes check nothing: the core checks the whole scenario.
"""

# Generated from shipped/scenarios/scenario.schema.json by tools/generate.py. Do not edit; run `make generate`.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import ClassVar, Literal, Self

__all__ = [
    "Access",
    "AccessPoint",
    "Aggregation",
    "Air",
    "Awm",
    "AwmEarth",
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
    "Late",
    "LineCard",
    "Link",
    "LoadAware",
    "LognormalComponent",
    "LognormalSize",
    "Lpi",
    "Lull",
    "Noise",
    "ParetoSize",
    "Phase",
    "Poisson",
    "Policer",
    "Port",
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
    "Supply",
    "Tcp",
    "TcpOptions",
    "Trace",
    "UniformRedraw",
    "VegasBounds",
    "WebSearchSize",
    "WriteSteps",
]


class _WithTable:
    """A class with its own table. Its error for a field of the table names the table."""

    _table: ClassVar[tuple[str, type]]

    def __new__(cls, *_: object, **given: object) -> Self:
        """Runs before `__init__`, whose error would only call the field unknown.

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
class Access:
    """The access links of a flow's connections."""

    rate: str
    """Rate of each access link. A bit rate, such as "10 Mb/s"."""
    round_trip: Mapping[str, object] | Sequence[str]
    """Round trips of the connections: evenly spaced, or a list with one for each."""


@dataclass(frozen=True)
class AccessPoint:
    """The access point of a station."""

    _: KW_ONLY
    beacon_period: str | None = None
    """The time from one beacon to the next. A time, such as "40 ms". Default "100 ms"."""
    first_beacon: str | None = None
    """The time of the first beacon, from the start of the run; default one period. A time, such as "40 ms"."""
    beacon_time: str | None = None
    """The transmission time of a beacon. The default is at most a tenth of the period. A time, such as "40 ms"."""
    poll_time: str | None = None
    """The time from a poll to the packet that answers it. A time, such as "40 ms". Default "500 us"."""
    poll: Literal["all", "one"] | None = None
    """The answer to a poll. Default "all"."""
    patience: str | None = None
    """The longest time from a poll or a packet with the More Data bit to the burst's next packet.

    A beacon within that time does not end the burst. The default is at most half a period, and at least the time of a
    packet of one MTU after a poll. A time, such as "40 ms".
    """
    buffer: int | None = None
    """The packets that the access point buffers for the station. Default 1000."""


@dataclass(frozen=True)
class Aggregation:
    """Delivery in batches, as by link layers that collect frames: cellular networks, Wi-Fi."""

    period: str
    """Time between two batches. A time, such as "40 ms"."""
    _: KW_ONLY
    start: str | None = None
    """Time of the first batch. Earlier packets arrive one by one. A time, such as "40 ms". Default "0 s"."""


@dataclass(frozen=True)
class Air:
    """An air that several links share. It carries one packet at a time, in the order of their arrivals at the links."""

    name: str
    """Name for the field `air` of links."""
    _: KW_ONLY
    overhead: str | None = None
    """Time on the air that each packet takes in addition to its bits; at most 1 s.

    A time, such as "40 ms". Default "0 s".
    """


@dataclass(frozen=True)
class Awm:
    """Keeps the queue of a link at its target by writing smaller windows into acknowledgements."""

    kind: ClassVar[str] = "awm"
    target: str
    """T: the target queue, in data or packets of one MTU; C-EARTH's own target is gamma T.

    The length of a queue: "50 packets" or "50 kB".
    """
    _: KW_ONLY
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """The packets that q counts. Default "waiting"."""
    beta: str | None = None
    """beta: the gain that corrects the queue's distance from its target, at the link's initial rate.

    A bit rate, such as "10 Mb/s". Default "10 kb/s".
    """
    floor: str | None = None
    """The smallest suggested window; default the scenario's MTU. An amount of data, such as "1500 B"."""
    initial_window: str | None = None
    """The suggested window at the start. An amount of data, such as "1500 B". Default "65.535 kB"."""
    flows: Mapping[str, object] | None = None
    """The source of N, the number of flows."""
    acknowledgements: str | None = None
    """Link that carries the acknowledgements; default the reverse link."""


@dataclass(frozen=True)
class AwmEarth:
    """Combines AWM and EARTH: windows keep the queue at its target, and the link's rate steps with the queue."""

    kind: ClassVar[str] = "awm_earth"
    target: str
    """T: AWM's target queue, in data or packets of one MTU. The length of a queue: "50 packets" or "50 kB"."""
    rates: RateSteps | Mapping[str, object] | Sequence[str]
    """The possible rates, r_1 < ... < r_n; the highest is the link's."""
    threshold: str
    """The queue length at which an overflow is near, in data or packets of one MTU.

    The length of a queue: "50 packets" or "50 kB".
    """
    _: KW_ONLY
    beta: str | None = None
    """beta: the gain that corrects the queue's distance from its target, at the link's initial rate.

    A bit rate, such as "10 Mb/s". Default "10 kb/s".
    """
    floor: str | None = None
    """The smallest suggested window; default the scenario's MTU. An amount of data, such as "1500 B"."""
    initial_window: str | None = None
    """The suggested window at the start. An amount of data, such as "1500 B". Default "65.535 kB"."""
    flows: Mapping[str, object] | None = None
    """The source of N, the number of flows."""
    min_interval: str | None = None
    """The shortest time between two changes; above `transition`. A time, such as "40 ms". Default "100 ms"."""
    transition: str | None = None
    """The time without transmission after a change. A time, such as "40 ms". Default "0 s"."""
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """The packets that the queue counts. Default "waiting"."""
    initial_rate: str | None = None
    """The rate at the start; default the highest. A bit rate, such as "10 Mb/s"."""
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """Treatment of the packet in service when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """Rate that determines the power while the link pauses for a change. Default "higher"."""
    acknowledgements: str | None = None
    """Link that carries the acknowledgements; default the reverse link."""


@dataclass(frozen=True)
class Bernoulli:
    """Each packet is lost with this probability, independently."""

    kind: ClassVar[str] = "bernoulli"
    probability: float
    """Probability of loss."""


@dataclass(frozen=True)
class Bursts:
    """Datagrams at a constant rate in bursts of exponential length, one burst per cycle."""

    kind: ClassVar[str] = "bursts"
    name: str
    """Name."""
    from_: str
    """Sending node."""
    to: str
    """Receiving node."""
    rate: str
    """Rate on the wire during a burst, headers included. A bit rate, such as "10 Mb/s"."""
    _: KW_ONLY
    packet: str | None = None
    """Size of each packet on the wire; default the MTU. An amount of data, such as "1500 B"."""
    cycle: str
    """Time between the starts of two bursts.

    The next burst ends a burst that is still active. A time, such as "40 ms".
    """
    mean_on: str
    """Mean of a burst's exponential length. A time, such as "40 ms"."""
    start: str | None = None
    """Start time of the first cycle. A time, such as "40 ms". Default "0 s"."""
    stop: str | None = None
    """Stop time; default never. A time, such as "40 ms"."""


@dataclass(frozen=True)
class CEarth:
    """Adapts the link's rate to the queue and leaves windows unchanged."""

    kind: ClassVar[str] = "c_earth"
    target: str
    """T: the target queue, in data or packets of one MTU; C-EARTH's own target is gamma T.

    The length of a queue: "50 packets" or "50 kB".
    """
    min_rate: str
    """C_min, the lowest rate; C_max is the link's rate. A bit rate, such as "10 Mb/s"."""
    round_trip: Mapping[str, object]
    """The source of RTT; C-EARTH without AWM has no `printed`, which needs AWM's window."""
    _: KW_ONLY
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """The packets that q counts. Default "waiting"."""
    initial_rate: str | None = None
    """C at the start; default the link's rate, which is C_max. A bit rate, such as "10 Mb/s"."""
    gamma: float | None = None
    """gamma: C-EARTH's target is gamma T. Default 0.95."""
    pace: Literal["round_trip", "event", "sliding"] | None = None
    """The interval at which the rate is computed. Default "round_trip"."""
    granularity: str | None = None
    """The rounding step of C. A bit rate, such as "10 Mb/s". Default "1 kb/s"."""
    transition: str | None = None
    """The time without transmission after a rate change. A time, such as "40 ms". Default "0 s"."""
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """Treatment of the packet in service when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """Rate that determines the power while the link pauses for a change. Default "higher"."""
    acknowledgements: str | None = None
    """Link that carries the acknowledgements; default the reverse link."""


@dataclass(frozen=True)
class CampusSize:
    """Flows of a campus: a lognormal mixture, truncated to give the mean."""

    kind: ClassVar[str] = "campus"
    mean: str
    """Mean, at least 100 B.

    It determines the truncation; docs/models/traffic.md gives the possible range. An amount of data, such as "1500 B".
    """


@dataclass(frozen=True)
class Cbr:
    """Datagrams at a constant rate."""

    kind: ClassVar[str] = "cbr"
    name: str
    """Name."""
    from_: str
    """Sending node."""
    to: str
    """Receiving node."""
    rate: str
    """Rate on the wire, headers included. A bit rate, such as "10 Mb/s"."""
    _: KW_ONLY
    packet: str | None = None
    """Size of each packet on the wire; default the MTU. An amount of data, such as "1500 B"."""
    start: str | None = None
    """Start time. A time, such as "40 ms". Default "0 s"."""
    jitter: str | None = None
    """Upper limit of the random delay of the start, drawn uniformly. A time, such as "40 ms". Default "0 s"."""
    stop: str | None = None
    """Stop time; default never. A time, such as "40 ms"."""


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
    """The time by which the radio wakes earlier than the least RTT requires. A time, such as "40 ms". Default "0 s"."""
    growth: float | None = None
    """Slow start ends when a round has fewer packets than this factor times the previous round's. Default 1.5."""
    patience: int | None = None
    """The number of consecutive bursts with a missing packet that ends shaping. Default 3."""
    saturation: float | None = None
    """The share of air rate x RTT at which a burst saturates the air.

    No burst reaches a value far above 1. Default 0.9.
    """
    saturated_bursts: int | None = None
    """The number of consecutive saturating bursts that ends shaping. Default 3."""
    eager: bool | None = None
    """Eager acknowledgements while the machine does not shape. Default true."""
    rtt_from: Literal["any_echo", "open_ack", "handshake", "answers"] | None = None
    """The data that gives the RTT. Default "any_echo"."""
    repair: Literal["closed", "as_they_are"] | None = None
    """The acknowledgements while a packet is missing. Default "closed"."""
    burst_acks: Literal["closed", "withheld"] | None = None
    """The acknowledgements during a burst. Default "closed"."""
    open_window: str | None = None
    """The largest window that an open acknowledgement advertises; at least the MTU.

    An amount of data, such as "1500 B". Default: none: the host's window.
    """
    resume: float | None = None
    """A saturated shaper starts again after `saturated_bursts` rounds in a row below this share of air rate x RTT.

    At most `saturation`. Default: none: it never starts again.
    """
    most_slowdown: float | None = None
    """The predicted slowdown of the download, as a share, that ends shaping. Default: none: without bound."""
    paced_share: float | None = None
    """Guard against pacing senders: a burst that takes longer than this share of the RTT is spread.

    The paper has no guard. Default: none: paced senders are not looked for.
    """
    paced_stretch: float | None = None
    """A spread burst also takes longer than this factor times the air time of its bytes."""
    paced_bursts: int | None = None
    """The number of consecutive spread bursts that ends shaping. Default 3."""
    paced_from: Literal["bursts", "slow_start"] | None = None
    """The packets that reveal a pacing sender."""


@dataclass(frozen=True)
class Codel:
    """Controlled delay: drops or marks departing packets while the queueing delay stays too long.

    A link of fixed rate then schedules its departures, with an extra event per packet.
    """

    kind: ClassVar[str] = "codel"
    target: str | None = None
    """TARGET: acceptable standing queueing delay. A time, such as "40 ms". Default "5 ms"."""
    interval: str | None = None
    """INTERVAL: time for which the queueing delay must exceed TARGET before the first drop.

    A time, such as "40 ms". Default "100 ms".
    """
    _: KW_ONLY
    ecn: bool | None = None
    """Marks ECN-capable packets instead of dropping them. Default true."""


@dataclass(frozen=True)
class DropTail:
    """Drops packets only if the buffer is full; the default."""

    kind: ClassVar[str] = "drop_tail"


@dataclass(frozen=True)
class Eager:
    """Eager acknowledgements without sleep: the 2004 paper's baseline."""

    kind: ClassVar[str] = "eager"
    _: KW_ONLY
    least_wait: str | None = None
    """The shortest silence before data is acknowledged. A time, such as "40 ms". Default "3 ms"."""
    longest_wait: str | None = None
    """The longest silence before data is acknowledged.

    A longer gap does not count as a gap within a burst. A time, such as "40 ms". Default "40 ms".
    """


@dataclass(frozen=True)
class Earth:
    """Steps a link's rate down when its queue empties, and up when the queue is about to overflow."""

    kind: ClassVar[str] = "earth"
    rates: RateSteps | Mapping[str, object] | Sequence[str]
    """The possible rates, r_1 < ... < r_n; the highest is the link's."""
    threshold: str
    """The queue length at which an overflow is near, in data or packets of one MTU.

    The length of a queue: "50 packets" or "50 kB".
    """
    _: KW_ONLY
    min_interval: str | None = None
    """The shortest time between two changes; above `transition`. A time, such as "40 ms". Default "100 ms"."""
    transition: str | None = None
    """The time without transmission after a change. A time, such as "40 ms". Default "0 s"."""
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """The packets that the queue counts. Default "waiting"."""
    initial_rate: str | None = None
    """The rate at the start; default the highest. A bit rate, such as "10 Mb/s"."""
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """Treatment of the packet in service when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """Rate that determines the power while the link pauses for a change. Default "higher"."""


@dataclass(frozen=True)
class EmpiricalSize:
    """Points of a cumulative distribution."""

    kind: ClassVar[str] = "empirical"
    cdf: Sequence[tuple[int, float]] | None = None
    """Points: bytes, and the share of sizes up to that number.

    Both are in ascending order, and the last share is 1, or 100 in percent. A first point of 0 B with a share of 0 is
    one of 1 B.
    """
    file: str | None = None
    """File with the bytes and share of a point on each line. It becomes `cdf` when the scenario is read."""


@dataclass(frozen=True)
class Esacon:
    """ESACON: sleep in the order of the loss of algebraic connectivity, the smallest first."""

    kind: ClassVar[str] = "esacon"
    threshold: float
    """The share of the algebraic connectivity that must remain."""
    _: KW_ONLY
    nodes: Sequence[str] | None = None
    """Nodes known to the plan, together with the links between them; default all."""


@dataclass(frozen=True)
class Estop:
    """ESTOP: sleep in the order of betweenness, as long as the algebraic connectivity stays above a threshold."""

    kind: ClassVar[str] = "estop"
    threshold: float
    """The share of the algebraic connectivity that must remain."""
    _: KW_ONLY
    nodes: Sequence[str] | None = None
    """Nodes known to the plan, together with the links between them; default all."""


@dataclass(frozen=True)
class ExponentialSize:
    """Exponential."""

    kind: ClassVar[str] = "exponential"
    mean: str
    """Mean, at least 100 B. An amount of data, such as "1500 B"."""


@dataclass(frozen=True)
class FixedSize:
    """Constant."""

    kind: ClassVar[str] = "fixed"
    size: str
    """Size. An amount of data, such as "1500 B"."""


@dataclass(frozen=True)
class Flooding:
    """Both ends of the link announce its state. Announcements travel hop by hop over links that are up."""

    kind: ClassVar[str] = "flooding"
    _: KW_ONLY
    processing: str | None = None
    """Processing time that every router on the way adds to the propagation delay.

    A time, such as "40 ms". Default "1 ms".
    """
    computation: str | None = None
    """Time from the first announcement to a router's new table.

    The table includes announcements received in between. A time, such as "40 ms". Default "10 ms".
    """


@dataclass(frozen=True)
class GRouter:
    """Combines AWM and C-EARTH: windows keep the queue at its target, and the link's rate follows the queue."""

    kind: ClassVar[str] = "g_router"
    target: str
    """T: the target queue, in data or packets of one MTU; C-EARTH's own target is gamma T.

    The length of a queue: "50 packets" or "50 kB".
    """
    min_rate: str
    """C_min, the lowest rate; C_max is the link's rate. A bit rate, such as "10 Mb/s"."""
    round_trip: Mapping[str, object]
    """The source of RTT; C-EARTH without AWM has no `printed`, which needs AWM's window."""
    _: KW_ONLY
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """The packets that q counts. Default "waiting"."""
    beta: str | None = None
    """beta: the gain that corrects the queue's distance from its target, at the link's initial rate.

    A bit rate, such as "10 Mb/s". Default "10 kb/s".
    """
    floor: str | None = None
    """The smallest suggested window; default the scenario's MTU. An amount of data, such as "1500 B"."""
    initial_window: str | None = None
    """The suggested window at the start. An amount of data, such as "1500 B". Default "65.535 kB"."""
    flows: Mapping[str, object] | None = None
    """The source of N, the number of flows."""
    initial_rate: str | None = None
    """C at the start; default the link's rate, which is C_max. A bit rate, such as "10 Mb/s"."""
    gamma: float | None = None
    """gamma: C-EARTH's target is gamma T. Default 0.95."""
    pace: Literal["round_trip", "event", "sliding"] | None = None
    """The interval at which the rate is computed. Default "round_trip"."""
    granularity: str | None = None
    """The rounding step of C. A bit rate, such as "10 Mb/s". Default "1 kb/s"."""
    transition: str | None = None
    """The time without transmission after a rate change. A time, such as "40 ms". Default "0 s"."""
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """Treatment of the packet in service when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """Rate that determines the power while the link pauses for a change. Default "higher"."""
    acknowledgements: str | None = None
    """Link that carries the acknowledgements; default the reverse link."""


@dataclass(frozen=True)
class GilbertElliott:
    """Losses in bursts: two states with different loss probabilities."""

    kind: ClassVar[str] = "gilbert_elliott"
    to_bad: float
    """p: probability of a step from the good to the bad state."""
    to_good: float
    """r: probability of a step from the bad to the good state."""
    loss_bad: float | None = None
    """1 - h: probability of loss in the bad state. Default 1.0."""
    loss_good: float | None = None
    """1 - k: probability of loss in the good state. Default 0.0."""


@dataclass(frozen=True)
class Late:
    """Packets of one flow that arrive later than they would. Others overtake them."""

    flow: str
    """Flow; with `count` above one, `NAME-1`, `NAME-2`, ..."""
    packets: Sequence[int]
    """Numbers of the packets, in ascending order.

    All packets of the flow that the link sends count, from 1. These include TCP's SYN, acknowledgements, FIN and
    retransmissions, but no lost or dropped packets.
    """
    by: str
    """Extra delay of each of these packets. A time, such as "40 ms"."""


@dataclass(frozen=True)
class LineCard:
    """Line cards."""

    power: str
    """Power of a card. A power, such as "1319 mW"."""
    capacity: str
    """Sum of the speeds of the ports on a card.

    A port that is faster has several cards, of which its rate decides the number that are on. A bit rate, such as "10
    Mb/s".
    """
    _: KW_ONLY
    asleep: str | None = None
    """Power of a card whose ports all sleep. A power, such as "1319 mW". Default: `power`."""


@dataclass(frozen=True)
class Link:
    """A link from one node to another; `duplex` adds the reverse link."""

    from_: str
    """Sending node."""
    to: str
    """Receiving node."""
    rate: str
    """Rate; the maximum if a controller or a varying capacity changes it. A bit rate, such as "10 Mb/s"."""
    delay: str | None = None
    """Propagation delay, one way. A time, such as "40 ms". Default "0 s"."""
    buffer: str | None = None
    """Maximum backlog, without the packet in service.

    `BDP` is rate x two-way propagation delay of the longest route of any flow across the link. It is counted in packets
    of one MTU and rounded to the nearest. A buffer size: "BDP", "0.5 BDP", "42 packets", "64 kB" or "unlimited".
    Default "1 BDP".
    """
    _: KW_ONLY
    name: str | None = None
    """Name; default `FROM-TO`."""
    duplex: bool | None = None
    """Adds the link `TO-FROM` with the same rate, overhead, delay, buffer and queue (no controller, capacity, loss.

    Noise, late packets or aggregation). Default false.
    """
    port_speed: str | None = None
    """Speed of the port whose power the link is charged, if `rate` is that of a smaller network.

    A bit rate, such as "10 Mb/s". Default: `rate`.
    """
    overhead: str | None = None
    """Layer-2 bytes of each packet on the wire.

    20 B for Ethernet's preamble and gap, 38 B with its header and FCS; at most 1 kB. Counters of bytes exclude them. An
    amount of data, such as "1500 B". Default: 0 B.
    """
    buffer_floor: int | None = None
    """Minimum number of packets in a buffer given in BDP. Default 5."""
    queue: Queue | Mapping[str, object] | None = None
    """Queue management within the buffer; default drop-tail."""
    cost: int | None = None
    """Routing cost. Default 1."""
    controller: Controller | Mapping[str, object] | None = None
    """Controller that scales the link's rate with its traffic."""
    capacity: Capacity | Mapping[str, object] | None = None
    """Capacity that varies independently of the traffic."""
    loss: Loss | Mapping[str, object] | None = None
    """Packet losses before the queue."""
    noise: Noise | Mapping[str, object] | None = None
    """Random extra delay of each packet."""
    late: Sequence[Late | Mapping[str, object]] | None = None
    """Packets that arrive later than they would. Others overtake them."""
    aggregation: Aggregation | Mapping[str, object] | None = None
    """Delivery in batches: all packets since the last batch arrive together, in order."""
    air: str | None = None
    """Name of the air that the link, and with `duplex` also its reverse link, shares with other links."""


@dataclass(frozen=True)
class LoadAware:
    """The link with the smallest load sleeps first, as long as no load exceeds a bound."""

    kind: ClassVar[str] = "load_aware"
    bound: float
    """The upper bound of a link's load, as a share of its rate."""
    _: KW_ONLY
    failure_bound: float | None = None
    """The upper bound of a load after the failure of any single link, as a share of the rate; default none."""
    threshold: float | None = None
    """The share of the algebraic connectivity that must remain; default 0: connected."""
    tcp_rate: str | None = None
    """Rate assumed for each TCP flow without a `write_rate`; default none. A bit rate, such as "10 Mb/s"."""
    nodes: Sequence[str] | None = None
    """Nodes known to the plan, together with the links between them; default all."""


@dataclass(frozen=True)
class LognormalComponent:
    """A lognormal distribution of a mixture."""

    weight: float
    """Share of the mixture before truncation. Weights are divided by their sum."""
    median: str
    """Median. An amount of data, such as "1500 B"."""
    sigma: float
    """Standard deviation of the logarithm, above 0 and at most 10."""


@dataclass(frozen=True)
class LognormalSize:
    """Mixture of lognormal distributions."""

    kind: ClassVar[str] = "lognormal"
    components: Sequence[LognormalComponent | Mapping[str, object]]
    """Distributions of the mixture."""
    min: str | None = None
    """Minimum size; default no bound.

    The part below is omitted, and the rest is scaled up. An amount of data, such as "1500 B".
    """
    max: str | None = None
    """Maximum size; default no bound.

    The part above is omitted, and the rest is scaled up. An amount of data, such as "1500 B".
    """


@dataclass(frozen=True)
class Lpi:
    """Low-power idle of Energy Efficient Ethernet.

    The link sleeps when it is idle, and holds packets until it is awake.
    """

    kind: ClassVar[str] = "lpi"
    _: KW_ONLY
    phy: Literal["100base-tx", "1000base-t", "10gbase-t", "802.3bj-fast", "802.3bj-deep", "802.3bj-dual"] | None = None
    """Physical layer whose times apply where no field says otherwise. Default: none."""
    device: Literal["raspberry-pi-3b+", "raspberry-pi-5", "mt7621", "rtl8372", "niveo-ngsme48t4h"] | None = None
    """Device whose timers apply where no field says otherwise. Default: none."""
    sleep: str | None = None
    """T_s: the time to go to sleep.

    Packets that arrive then wait for its end. A time, such as "40 ms". Default: that of phy.
    """
    wake: str | None = None
    """T_w: the time to wake. A time, such as "40 ms". Default: that of phy or device."""
    hysteresis: str | None = None
    """The idle time before the link goes to sleep (Linux: `tx-timer`); less than the run.

    A time, such as "40 ms". Default: that of device; required without one.
    """
    coalesce_time: str | None = None
    """The longest time that the first held packet waits before the link wakes.

    A time, such as "40 ms". Default: that of device, or none.
    """
    coalesce_frames: int | None = None
    """The number of held packets that wakes the link. Default: none."""
    coalesce_bytes: str | None = None
    """The held data that wakes the link.

    Without any of the three thresholds, the first packet wakes it. An amount of data, such as "1500 B". Default: that
    of device, or none.
    """
    target_delay: str | None = None
    """The target of the mean wait.

    For each sleep the link sets the threshold that `adapts` names; at least half of T_w. A time, such as "40 ms".
    Default: none.
    """
    adapts: Literal["time", "frames"] | None = None
    """The threshold that `target_delay` sets; leave its field out. Default: time."""
    power: float | None = None
    """The power asleep as a share of the active power.

    Transitions take the full power. Default: that of phy, or 0.1.
    """
    quiet: str | None = None
    """The time asleep between two refreshes, which take the full power.

    A time, such as "40 ms". Default: no refreshes.
    """
    refresh: str | None = None
    """The length of a refresh; required with `quiet`. A time, such as "40 ms". Default: none."""
    fast_sleep: str | None = None
    """T_s of fast wake, which then precedes sleep; part of `sleep`.

    A time, such as "40 ms". Default: that of phy, or no fast wake.
    """
    fast_wake: str | None = None
    """T_w of fast wake. A time, such as "40 ms". Default: that of phy."""
    fast_power: float | None = None
    """The power in fast wake as a share of the active power; default 0.7."""
    deep_after: str | None = None
    """The time in fast wake before sleep. A time, such as "40 ms". Default: that of phy."""
    coupled: bool | None = None
    """True if both directions sleep and wake together.

    The reverse link then needs the same times. Default: that of phy, or false.
    """


@dataclass(frozen=True)
class Lull:
    """The parameters of Lull.

    `rates` and `transition` describe the link, and `slowdown` is the one choice of its user.
    """

    kind: ClassVar[str] = "lull"
    rates: RateSteps | Mapping[str, object] | Sequence[str]
    """The possible rates, r_1 < ... < r_n; the highest is the link's."""
    transition: str
    """delta: the time without transmission after a change. A time, such as "40 ms"."""
    _: KW_ONLY
    slowdown: float | None = None
    """s: the growth of completion times that users accept, as a fraction. Default 0.05."""
    lateness: str | None = None
    """x: the longest lateness before the link goes up; default 7 delta, at least 2 packets at r_n.

    A time, such as "40 ms".
    """
    hold: str | None = None
    """H: a violated rate stays forbidden for this time if no echo is forecast; default 30 delta.

    A time, such as "40 ms".
    """
    headroom: float | None = None
    """h: the share of each rate that the counterfactual queues do not use. Default 0.1."""
    forecast: bool | None = None
    """Forecasts from the round-trip times of connections.

    Without them, Lull is counterfactual queues with a hold. Default true.
    """
    power: str | None = None
    """The link's power model (`netlull list power`): rates that save no power are left out.

    Default: each lower rate takes less.
    """
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """Treatment of the packet in service when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """Rate that determines the power while the link pauses for a change. Default "higher"."""


@dataclass(frozen=True)
class Noise:
    """Noise of round-trip times.

    Each packet has an independent, gamma-distributed extra delay (docs/models/link.md).
    """

    mean: str
    """Mean extra delay; 0 s turns the noise off. A time, such as "40 ms"."""
    shape: float
    """Shape. The standard deviation is mean / sqrt(shape); 1 is exponential."""
    _: KW_ONLY
    reorder: bool | None = None
    """Lets packets overtake others.

    Without it they stay in order: a packet with a small delay arrives together with its predecessor. Default: false.
    """


@dataclass(frozen=True)
class ParetoSize:
    """Pareto: heavy-tailed."""

    kind: ClassVar[str] = "pareto"
    mean: str
    """Mean of the sizes (with `max`, of the bounded distribution), at least 100 B.

    An amount of data, such as "1500 B".
    """
    shape: float
    """Tail exponent, above 1. At 2 or less the variance is infinite without `max`."""
    max: str | None = None
    """Maximum size; default no bound.

    The distribution is truncated here and scaled up to keep the mean. An amount of data, such as "1500 B".
    """


@dataclass(frozen=True)
class Phase:
    """A part of the run with separate measurements. Phases may overlap. A transfer counts where it starts."""

    name: str
    """Name in metrics such as `phase.NAME.link.LINK.mean_rate_bps`."""
    _: KW_ONLY
    from_: str | None = None
    """Start time; default the end of the warm-up. A time, such as "40 ms"."""
    to: str | None = None
    """End time; default the end of the run. A time, such as "40 ms"."""


@dataclass(frozen=True)
class Poisson:
    """Datagrams of constant size whose arrivals are a Poisson process."""

    kind: ClassVar[str] = "poisson"
    name: str
    """Name."""
    from_: str
    """Sending node."""
    to: str
    """Receiving node."""
    rate: str
    """Rate on the wire, headers included. A bit rate, such as "10 Mb/s"."""
    _: KW_ONLY
    packet: str | None = None
    """Size of each packet on the wire; default the MTU. An amount of data, such as "1500 B"."""
    start: str | None = None
    """Start time. A time, such as "40 ms". Default "0 s"."""
    jitter: str | None = None
    """Upper limit of the random delay of the start, drawn uniformly. A time, such as "40 ms". Default "0 s"."""
    stop: str | None = None
    """Stop time; default never. A time, such as "40 ms"."""


@dataclass(frozen=True)
class Policer:
    """Losses of packets beyond a rate and a burst: a token bucket without a buffer."""

    kind: ClassVar[str] = "policer"
    rate: str
    """CIR: rate of the tokens. A bit rate, such as "10 Mb/s"."""
    burst: str
    """CBS: size of the bucket. A packet larger than it is always lost. An amount of data, such as "1500 B"."""
    _: KW_ONLY
    start: str | None = None
    """Time from which it polices. The bucket is full then. A time, such as "40 ms". Default "0 s"."""


@dataclass(frozen=True)
class Port:
    """A port of a device at one speed."""

    speed: str | None = None
    """Speed of the port. A bit rate, such as "10 Mb/s". Default: any."""
    _: KW_ONLY
    power: str | None = None
    """P_PORT: power of the port while it is up, without its transceiver. A power, such as "1319 mW". Default: 0 W."""
    busy: str | None = None
    """Power of the port under full load, without its transceiver, instead of `per_bit`.

    A power, such as "1319 mW". Default: `power`.
    """
    transceiver: str | None = None
    """Name of the transceiver with these powers. Default: none."""
    transceiver_in: str | None = None
    """P_TRX_IN: power of the transceiver when plugged in.

    A power, such as "1319 mW". Default: that of the named transceiver, or 0 W.
    """
    transceiver_up: str | None = None
    """P_TRX_UP: additional power of the transceiver while the port is up.

    Measured values may be slightly negative. A power with a sign and a unit (uW, mW, W, kW), such as "-63 mW". Default:
    that of the named transceiver, or 0 W.
    """
    per_bit: str | None = None
    """E_BIT: energy of a forwarded bit. An energy, such as "14 pJ". Default: 0 J."""
    per_packet: str | None = None
    """E_PKT: energy of a forwarded packet. An energy, such as "14 pJ". Default: 0 J."""
    source: str | None = None
    """Sources of the numbers, if not those of the device."""


@dataclass(frozen=True)
class Power:
    """The power of links: a built-in model, or the watts of a device."""

    model: str | None = None
    """Model from `netlull list power`, such as `fs`, `dvs` or `ncs-55a1-24h`.

    Other fields of the table replace its own. Without it, the table is a device. Default: a device of the table's own
    fields.
    """
    _: KW_ONLY
    name: str | None = None
    """Name in results; default the model's name, with P_s if it is not zero.

    Entries of one name are one model: a link takes the entry that names it, else the one that names its sending node,
    else the one without `links` and `nodes`.
    """
    nodes: Sequence[str] | None = None
    """Nodes that are such a device. Links from a node are its ports, and share its box. Default: all."""
    links: Sequence[str] | None = None
    """Links with this power. Default: all."""
    static_fraction: float | None = None
    """P_s as a fraction of the maximum power; ideal models only. Default: 0."""
    phi: float | None = None
    """phi: the voltage scales down to u_max/phi; voltage-scaling models only. Default: 2."""
    max_power: str | None = None
    """P_max: power of a link at its maximum rate; ideal models only. A power, such as "1319 mW". Default: 1 W."""
    max_power_at: str | None = None
    """Speed of the link with `max_power`: P_max of other links follows their speed; ideal models only.

    A bit rate, such as "10 Mb/s". Default: P_max is the same for every speed.
    """
    base: str | None = None
    """P_BASE: the powered box, with every port down and empty. A power, such as "1319 mW". Default: 0 W."""
    ports: int | None = None
    """Ports that share the box. Default: 1; with `nodes`, the links from the node."""
    line_card: LineCard | Mapping[str, object] | None = None
    """Line cards, shared by ports that are slower than a card, and several for a port that is faster. Default: none."""
    port: Sequence[Port | Mapping[str, object]] | None = None
    """Ports, one table for each speed and transceiver. Default: a port of any speed without power."""
    idle: str | None = None
    """Power of a port of any speed without traffic, instead of `port`. A power, such as "1319 mW". Default: 0 W."""
    busy: str | None = None
    """Power of a port of any speed under full load, instead of `port`.

    In between, it is linear in the load. A power, such as "1319 mW". Default: `idle`.
    """
    asleep: str | None = None
    """Power of a port asleep, without its transceiver. A power, such as "1319 mW". Default: 0 W."""
    transceiver_asleep: bool | None = None
    """True if a port asleep feeds its transceiver. Default: true."""
    transceiver: str | None = None
    """Transceiver in every port, from `netlull list transceivers` or a port's table.

    Default: that of the port's table.
    """
    supply: Supply | Mapping[str, object] | None = None
    """Power supplies; without them the powers are those at the wall. Default: none."""
    data_sheet: str | None = None
    """Power by the data sheet, for comparison; no model uses it. A power, such as "1319 mW"."""
    wall: str | None = None
    """Power measured at the wall in use, for comparison; no model uses it. A power, such as "1319 mW"."""
    description: str | None = None
    """Description in one line."""
    source: str | None = None
    """Sources of the numbers."""


@dataclass(frozen=True)
class Practra:
    """Steps a link's rate up to hold a delay bound, and down when its queue is empty and its forecast low."""

    kind: ClassVar[str] = "practra"
    rates: RateSteps | Mapping[str, object] | Sequence[str]
    """The possible rates, r_1 < ... < r_n; the highest is the link's."""
    transition: str
    """delta: the time without transmission after a change. A time, such as "40 ms"."""
    min_interval: str
    """mRCI: the shortest time between two changes; above `transition`. A time, such as "40 ms"."""
    delay_bound: str
    """d: the bound on the queueing delay. A time, such as "40 ms"."""
    _: KW_ONLY
    forecast_weight: float | None = None
    """w: the weight of the newest sample in the forecast. Default 0.25."""
    forecast_interval: str | None = None
    """The interval over which arrivals are averaged into a sample; default `min_interval`. A time, such as "40 ms"."""
    forecast_start: Literal["first_sample", "zero"] | None = None
    """The forecast before the first sample. Default "first_sample"."""
    arrivals: Literal["offered", "accepted"] | None = None
    """The arrivals that the forecast counts. Default "offered"."""
    queue: Literal["waiting", "waiting_and_in_service"] | None = None
    """The packets that q counts. Default "waiting"."""
    tick: str | None = None
    """The tick on which the rules are tested; default at every arrival and departure. A time, such as "40 ms"."""
    steps: Literal["adjacent", "any"] | None = None
    """The distance of a change. Default "adjacent"."""
    initial_rate: str | None = None
    """The rate at the start; default the highest. A bit rate, such as "10 Mb/s"."""
    in_service: Literal["finish_then_pause", "finish_while_pausing", "suspend"] | None = None
    """Treatment of the packet in service when the rate changes. Default "finish_then_pause"."""
    transition_power: Literal["higher", "new", "old"] | None = None
    """Rate that determines the power while the link pauses for a change. Default "higher"."""


@dataclass(frozen=True)
class Probe:
    """The time series to record."""

    interval: str | None = None
    """Width of the bins of the tables `link` and `flow`.

    Without it, these tables are not recorded. A bin is written at its end. An incomplete last bin is not written. A
    time, such as "40 ms".
    """
    _: KW_ONLY
    window: bool | None = None
    """Records every change of a congestion window (table `window`). Default false."""
    drops: bool | None = None
    """Records every dropped packet (table `drop`). Default false."""
    segments: bool | None = None
    """Records every data segment of TCP senders (table `segment`). Default false."""
    events: bool | None = None
    """Records events of TCP senders: timeouts, fast retransmits, ends of recoveries (table `event`). Default false."""
    variables: bool | None = None
    """Records every change of a variable of a TCP sender's congestion control (table `variable`). Default: false."""
    requests: bool | None = None
    """Records every request (table `request`). Default false."""
    stations: bool | None = None
    """Records the activity of stations.

    The tables are `radio` (radio states), `air` (transmissions to and from the stations) and `burst` (bursts detected
    by shapers). Default false.
    """
    arrivals: Sequence[str] | None = None
    """Records every packet offered to these links (table `arrivals`)."""
    links: Sequence[str] | None = None
    """Links in the tables; default all."""
    flows: Sequence[str] | None = None
    """Flows in the tables; default all."""


@dataclass(frozen=True)
class Radio:
    """The power of each radio state."""

    name: str
    """Name in results."""
    asleep: str
    """Power while asleep. A power, such as "1319 mW"."""
    idle: str
    """Power while awake without a transmission to or from the station. A power, such as "1319 mW"."""
    receive: str
    """Power while receiving. A power, such as "1319 mW"."""
    transmit: str
    """Power while transmitting. A power, such as "1319 mW"."""
    wake_time: str
    """Wake-up time. A time, such as "40 ms"."""
    _: KW_ONLY
    waking: str | None = None
    """Power while waking up; default the idle power. A power, such as "1319 mW"."""


@dataclass(frozen=True)
class RateSteps:
    """Evenly spaced rates."""

    from_: str
    """The lowest rate. A bit rate, such as "10 Mb/s"."""
    to: str
    """The highest rate. A bit rate, such as "10 Mb/s"."""
    step: str
    """The difference between neighbours. A bit rate, such as "10 Mb/s"."""


@dataclass(frozen=True)
class Recording:
    """A first run that records packets for a replay in the second run.

    The first run is the scenario without the components in `without`. It records the packets that `flows` offer to
    `link`. In the second run, an open-loop source replaces these flows. It sends the recorded packets at the recorded
    times.
    """

    link: str
    """Link of the recorded packets. The source is at the link's first node."""
    flows: Sequence[str]
    """Flows to record and to replace."""
    _: KW_ONLY
    without: Sequence[str] | None = None
    """Components to omit in the first run, as paths such as `link.N1-N2.controller`."""
    name: str | None = None
    """Name of the replay flow. Default "replay"."""
    to: str | None = None
    """Destination of the packets; default the destination of the recorded flows."""


@dataclass(frozen=True)
class Red:
    """Random early detection: drops or marks arriving packets with a probability that grows with the average queue."""

    kind: ClassVar[str] = "red"
    min_threshold: str | None = None
    """min_th: no early drops while the average queue is below it.

    A buffer size: "BDP", "0.5 BDP", "42 packets", "64 kB" or "unlimited". Default "5 packets".
    """
    max_threshold: str | None = None
    """max_th: average queue above which RED drops all packets, or gently more and more; default three times min_th.

    A buffer size: "BDP", "0.5 BDP", "42 packets", "64 kB" or "unlimited".
    """
    _: KW_ONLY
    max_probability: float | None = None
    """max_p: drop probability at max_th. Default 0.1."""
    weight: float | None = None
    """w_q: weight of the newest sample in the average. Default 0.002."""
    gentle: bool | None = None
    """Raises the drop probability from max_p to 1 between max_th and twice max_th, instead of at once. Default true."""
    probability: Literal["per_packet", "per_byte"] | None = None
    """Effect of the packet size on the drop probability. Default "per_packet"."""
    rules: Literal["paper", "ns2"] | None = None
    """Rules that exempt packets from early drops. Default "paper"."""
    mean_packet: str | None = None
    """Typical packet size, the unit for idle time; default the MTU. An amount of data, such as "1500 B"."""
    ecn: Literal["off", "early", "always"] | None = None
    """Marking of ECN-capable packets instead of drops. Other packets are dropped. Default "early"."""


@dataclass(frozen=True)
class Replay:
    """Recorded datagrams."""

    kind: ClassVar[str] = "replay"
    name: str
    """Name."""
    from_: str
    """Sending node."""
    to: str
    """Receiving node."""
    _: KW_ONLY
    arrivals: Sequence[tuple[int, int]] | None = None
    """Packets: times in nanoseconds since the start, in ascending order, and bytes on the wire."""
    file: str | None = None
    """File with the time and bytes of a packet on each line. It becomes `arrivals` when the scenario is read."""


@dataclass(frozen=True)
class Routing:
    """Routing of packets."""

    _: KW_ONLY
    metric: Literal["cost", "hops"] | None = None
    """Path length that routing minimises. Default "cost"."""
    ttl: int | None = None
    """Maximum number of hops of a packet; default 64 if links sleep, otherwise unlimited.

    Routes that never change have no loops.
    """
    update: Update | Mapping[str, object] | None = None
    """Announcement of sleeping and waking links to routers."""


@dataclass(frozen=True)
class Scripted:
    """Losses of packets with given numbers."""

    kind: ClassVar[str] = "scripted"
    drops: Sequence[ScriptedDrops | Mapping[str, object]]
    """Packets to drop, flow by flow."""


@dataclass(frozen=True)
class ScriptedDrops:
    """Packets of one flow that a link drops."""

    flow: str
    """Flow; with `count` above one, `NAME-1`, `NAME-2`, ..."""
    packets: Sequence[int]
    """Numbers of the packets, in ascending order.

    All packets that the flow offers to the link count, from 1. These include TCP's SYN, acknowledgements, FIN and
    retransmissions.
    """


@dataclass(frozen=True)
class Simultaneous:
    """All routers install their new tables at the same time."""

    kind: ClassVar[str] = "simultaneous"
    after: str
    """Time from the announcement to the new tables. A time, such as "40 ms"."""


@dataclass(frozen=True)
class Sleep:
    """Sleeping links, and their sleep times."""

    at: str
    """Time of the decision and announcement that the (first) link sleeps. A time, such as "40 ms"."""
    _: KW_ONLY
    links: Sequence[str] | None = None
    """Links, in the order in which they fall asleep. A duplex link sleeps in both directions."""
    plan: Plan | Mapping[str, object] | None = None
    """Plan that chooses the links, instead of `links`."""
    spacing: str | None = None
    """Time between the decisions for successive links. A time, such as "40 ms". Default "0 s"."""
    drain: str | None = None
    """Time for which a link still carries packets after its announcement.

    Routes change in this time. A time, such as "40 ms". Default "0 s".
    """
    wake: str | None = None
    """Time at which the (first) link starts to wake; default never. A time, such as "40 ms"."""
    wake_time: str | None = None
    """Time from the start of waking until the link carries packets and is announced.

    A time, such as "40 ms". Default "0 s".
    """
    while_asleep: Literal["refuse", "hold"] | None = None
    """Treatment of packets for a sleeping link; default `refuse`."""
    wake_on: Literal["schedule", "arrival"] | None = None
    """Event that begins to wake a link that holds packets; default `schedule`."""


@dataclass(frozen=True)
class Station:
    """Wireless stations.

    Each is a node with a link to its access point and a link from it. Packets that arrive while the radio sleeps are
    lost.
    """

    nodes: Sequence[str]
    """Nodes. Each is a separate station."""
    _: KW_ONLY
    name: str | None = None
    """Name of these stations for `--set` and sweeps: `station.NAME.mechanism`."""
    radio: Sequence[str | Radio | Mapping[str, object]] | None = None
    """Power models for the radio's reported energy. The first also gives the wake-up time."""
    wake_time: str | None = None
    """Wake-up time of the radio; default the wake-up time of the first model. A time, such as "40 ms"."""
    mechanism: Doze | Mapping[str, object] | None = None
    """Machine that lets the radio sleep; default none, with the radio always awake."""


@dataclass(frozen=True)
class Steps:
    """New rates at given times. The link starts at its `rate`, or with a step at 0 s."""

    kind: ClassVar[str] = "steps"
    steps: Sequence[Mapping[str, object]]
    """Steps, sorted by time."""


@dataclass(frozen=True)
class Supply:
    """Power supplies. They share the load equally."""

    efficiency: str | Sequence[tuple[str, float]]
    """Efficiency of a supply by its output, in ascending order.

    Such as `[["75 W", 0.88], ["600 W", 0.929]]`; or the name of a supply, `pfe600`.
    """
    _: KW_ONLY
    count: int | None = None
    """Number of supplies. Default 1."""


@dataclass(frozen=True)
class TcpOptions:
    """TCP options. Missing ones come from the scenario's `[tcp]`, then from the preset."""

    _: KW_ONLY
    preset: Literal["rfc", "ns2", "freebsd-4.5", "linux-6"] | None = None
    """Source of the options that are not given. Default: rfc."""
    congestion_control: str | Mapping[str, object] | None = None
    """A name of `netlull list tcp`, such as `new_reno` or `cubic`.

    Each brings its usual loss recovery and ECN. Default: new_reno; linux-6: cubic.
    """
    loss_recovery: Literal["tahoe", "reno", "new_reno", "vegas", "sack", "rack"] | None = None
    """Detection and repair of losses; each congestion control brings its own. Default: new_reno; linux-6: rack."""
    sack_detection: Literal["rfc6675", "forward", "counting"] | None = None
    """Rule by which SACK blocks mean a loss; with `loss_recovery = "sack"`. Default: rfc6675."""
    window_reduction: Literal["immediate", "proportional", "rate_halving", "linux_6"] | None = None
    """Reduction of the window in recovery; with `loss_recovery = "sack"` or `"rack"`.

    Default: proportional; linux-6: linux_6.
    """
    undo: Literal["off", "rfc", "linux_6"] | None = None
    """Detection and undo of needless recoveries; with `loss_recovery = "reno"`, `"new_reno"`, `"sack"` or `"rack"`.

    Default: off; linux-6: linux_6.
    """
    ecn: Literal["off", "classic", "dctcp"] | None = None
    """Explicit congestion notification; `dctcp` brings its own. Default: off."""
    hystart: bool | None = None
    """HyStart++ (RFC 9406), with `congestion_control = "cubic"`; with `cwnd_unit = "segments"` HyStart as in Linux 6.

    Default: true.
    """
    cwnd_unit: Literal["bytes", "segments"] | None = None
    """Unit of the windows of RFC 5681 and of `cubic`; it also selects the rules of their growth.

    Default: bytes; linux-6: segments.
    """
    vegas: VegasBounds | Mapping[str, object] | None = None
    """Bounds of Vegas. Default: { alpha = 2, beta = 4, gamma = 1 }; ns2: { alpha = 1, beta = 3, gamma = 1 }."""
    vegas_flavour: Literal["linux", "ns2"] | None = None
    """Flavour of Vegas. Default: linux; ns2: ns2."""
    mss: str | None = None
    """Maximum segment size with options: with timestamps a segment has 12 B less of data.

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
    """Number of acknowledgements of data, from the first on, without delay.

    The preset `linux-6` has 16, plus those during the growth of the kernel's window, which depends on `receive_buffer`
    and `mss`. Default: 0; linux-6: 3274.
    """
    sack_compression: Literal["off", "linux_6"] | None = None
    """Compression of acknowledgements of segments ahead of a gap. Default: off; linux-6: linux_6."""
    timestamps: bool | None = None
    """RFC 7323 timestamps. Default: true; ns2: false."""
    window_scaling: bool | None = None
    """RFC 7323 window scaling. Default: true."""
    send_buffer: str | None = None
    """Send buffer, the limit of data in flight, rounded up to whole segments.

    An amount of data, such as "1500 B". Default: no limit; freebsd-4.5: 32.768 kB.
    """
    receive_buffer: str | None = None
    """Receive buffer, the largest window advertised.

    An amount of data, such as "1500 B". Default: 6.291456 MB; ns2: 14.6 MB; freebsd-4.5: 65.536 kB.
    """
    limited_transmit: bool | None = None
    """RFC 3042 limited transmit. Default: true; freebsd-4.5: false."""
    partial_ack_timer: Literal["impatient", "slow_but_steady"] | None = None
    """Partial acknowledgements that restart the timer (RFC 6582 section 4).

    Default: impatient; freebsd-4.5: slow_but_steady.
    """
    initial_rto: str | None = None
    """Retransmission timeout before the first sample.

    A time, such as "40 ms". Default: 1 s; ns2: 3 s; freebsd-4.5: 3 s.
    """
    min_rto: str | None = None
    """Smallest retransmission timeout. A time, such as "40 ms". Default: 1 s; ns2: 200 ms; linux-6: 200 ms."""
    max_rto: str | None = None
    """Largest retransmission timeout. A time, such as "40 ms". Default: 60 s; freebsd-4.5: 64 s; linux-6: 120 s."""
    rto_granularity: str | None = None
    """Granularity G of the retransmission clock.

    A time, such as "40 ms". Default: 1 ms; ns2: 10 ms; freebsd-4.5: 10 ms; linux-6: 4 ms.
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
class Trace:
    """Delivery opportunities of a trace of Mahimahi: at each, the link delivers up to 1504 B of waiting packets."""

    kind: ClassVar[str] = "trace"
    _: KW_ONLY
    opportunities: Sequence[int] | None = None
    """Times of the opportunities in milliseconds, ascending, with repetitions.

    After the last one the trace begins again.
    """
    file: str | None = None
    """File of Mahimahi's mm-link, with a time on each line. It becomes `opportunities` when the scenario is read."""


@dataclass(frozen=True)
class UniformRedraw:
    """Uniform redraws on [min, max] after exponential intervals. The link starts at its `rate`."""

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
    """The window grows below this number."""
    beta: int
    """The window shrinks above this number."""
    gamma: int
    """Slow start ends above this number."""


@dataclass(frozen=True)
class WebSearchSize:
    """Flows of a web-search cluster: points of a cumulative distribution."""

    kind: ClassVar[str] = "web_search"
    mean: str | None = None
    """Mean to which all sizes are scaled; default the mean of the distribution, 1712 kB.

    An amount of data, such as "1500 B".
    """


@dataclass(frozen=True)
class WriteSteps:
    """A change of an application's rate."""

    at: str
    """Time of the change, after the opening of the connection. A time, such as "40 ms"."""
    _: KW_ONLY
    rate: str | None = None
    """Rate from then on; 0 b/s for a pause.

    Default unlimited: TCP always has data to send. A bit rate, such as "10 Mb/s".
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
    """p: the largest relative increase of the RTT. Default 0.5."""
    longest_listen: str | None = None
    """The longest time from one heard beacon to the next. A time, such as "40 ms". Default "900 ms"."""
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
    """Short-lived TCP connections with Poisson arrivals and random sizes."""

    kind: ClassVar[str] = "requests"
    _table: ClassVar[tuple[str, type]] = ("tcp", TcpOptions)
    name: str
    """Name."""
    from_: str
    """Node that opens the connections and sends data."""
    to: str
    """Receiving node."""
    offered: str
    """Mean offered data rate, without headers.

    The arrival rate is this rate divided by the mean size. A bit rate, such as "10 Mb/s".
    """
    size: Size | Mapping[str, object]
    """Amount of data per request."""
    _: KW_ONLY
    start: str | None = None
    """Time of the first possible arrival. A time, such as "40 ms". Default "0 s"."""
    stop: str | None = None
    """Time from which no requests arrive; default never. Open connections continue. A time, such as "40 ms"."""
    most_open: int | None = None
    """Maximum number of open connections. The run ends with an error if another request arrives. Default 10000."""
    tcp: TcpOptions | Mapping[str, object] | None = None
    """TCP options of this flow. They take precedence over those of the scenario."""


@dataclass(frozen=True)
class Tcp(_WithTable):
    """A TCP connection, or `count` of them."""

    kind: ClassVar[str] = "tcp"
    _table: ClassVar[tuple[str, type]] = ("tcp", TcpOptions)
    name: str
    """Name; with `count` above one, `NAME-1`, `NAME-2`, ..."""
    from_: str
    """Node that opens the connection and sends data."""
    to: str
    """Receiving node."""
    size: str | None = None
    """Amount of data per connection, at most 2^50 B.

    "endless" or an amount of data, such as "5 MB". Default "endless".
    """
    _: KW_ONLY
    start: str | None = None
    """Opening time of the first connection. A time, such as "40 ms". Default "0 s"."""
    spacing: str | None = None
    """Time between the openings of successive connections. A time, such as "40 ms". Default "0 s"."""
    jitter: str | None = None
    """Upper limit of the random delay of each start, drawn uniformly. A time, such as "40 ms". Default "0 s"."""
    count: int | None = None
    """Number of connections. Default 1."""
    stop: str | None = None
    """Time from which the application of the first connection writes no more data; default never.

    The connection closes when all earlier data is acknowledged. Without `write_rate`, that is the data sent before the
    stop. A time, such as "40 ms".
    """
    stop_spacing: str | None = None
    """Time between the stops of successive connections; default 0 s. A time, such as "40 ms"."""
    write_rate: str | None = None
    """Constant rate at which the application writes, data without headers; default unlimited.

    Writing starts when the connection opens. Without a rate, TCP always has data to send. A bit rate, such as "10
    Mb/s".
    """
    write_size: str | None = None
    """Size of each write; default the data of a full segment. An amount of data, such as "1500 B"."""
    write_steps: Sequence[WriteSteps | Mapping[str, object]] | None = None
    """Changes of the application's rate, sorted by time; default none. They need endless data."""
    access: Access | Mapping[str, object] | None = None
    """A sender of its own for each connection, behind an access link to `from`; default none.

    Nodes have the names of the connections. The access link is duplex and has an unlimited buffer.
    """
    tcp: TcpOptions | Mapping[str, object] | None = None
    """TCP options of this flow. They take precedence over those of the scenario."""


Capacity = UniformRedraw | Steps | Trace
"""A capacity that varies independently of the traffic."""

Controller = Practra | Lull | Earth | Lpi | Awm | AwmEarth | CEarth | GRouter
"""A controller that changes a link's rate, the windows of the TCP flows that cross it, or both."""

Doze = ClientShaper | Eager | Psm | Bsd
"""A machine that lets a station's radio sleep, or acknowledges eagerly."""

Flow = Tcp | Cbr | Poisson | Bursts | Requests | Replay
"""A source of traffic."""

Loss = Bernoulli | GilbertElliott | Scripted | Policer
"""Packet losses of a link."""

Plan = Estop | Esacon | LoadAware
"""A plan that chooses the sleeping links among the scenario's duplex links (docs/models/estop.md)."""

Queue = DropTail | Red | Codel
"""Queue management."""

Size = FixedSize | ExponentialSize | ParetoSize | LognormalSize | CampusSize | EmpiricalSize | WebSearchSize
"""A distribution of sizes."""

Update = Flooding | Simultaneous
"""The propagation of routing updates."""
