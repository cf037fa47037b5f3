"""The parts of a scenario as Python values. They follow the JSON Schema field by field (a test compares them).

Quantities are text with a unit (`"10 Mb/s"`, `"40 ms"`, `"1500 B"`), as in a file. A field left at None takes the
schema's default. Nothing is checked here: `Scenario` has the core check the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

__all__ = [
    "Awm",
    "Bernoulli",
    "Bursts",
    "CEarth",
    "CampusSize",
    "Cbr",
    "Codel",
    "DropTail",
    "Earth",
    "EmpiricalSize",
    "ExponentialSize",
    "FixedSize",
    "Flow",
    "GRouter",
    "GilbertElliott",
    "Link",
    "LognormalComponent",
    "LognormalSize",
    "Noise",
    "ParetoSize",
    "Phase",
    "Poisson",
    "Power",
    "Practra",
    "Probe",
    "RateSteps",
    "Recording",
    "Red",
    "Replay",
    "Requests",
    "Scripted",
    "ScriptedDrops",
    "Size",
    "Steps",
    "Tcp",
    "TcpOptions",
    "UniformRedraw",
    "VegasBounds",
    "WebSearchSize",
]


@dataclass(frozen=True)
class RateSteps:
    """Evenly spaced rates: `from_`, `from_` + `step`, ..., `to` (bit rates)."""

    from_: str
    to: str
    step: str


@dataclass(frozen=True)
class Practra:
    """The practRA rate controller; `rates` is a list of bit rates or `RateSteps`, the other quantities are times.

    See docs/models/practra.md for the rules and the readings.
    """

    kind: ClassVar[str] = "practra"
    rates: Sequence[str] | RateSteps
    transition: str
    min_interval: str
    delay_bound: str
    _: KW_ONLY
    forecast_weight: float | None = None
    forecast_interval: str | None = None
    forecast_start: str | None = None
    arrivals: str | None = None
    queue: str | None = None
    steps: str | None = None
    tick: str | None = None
    initial_rate: str | None = None
    in_service: str | None = None
    transition_power: str | None = None


@dataclass(frozen=True)
class Earth:
    """The EARTH rate controller; `rates` is a list of bit rates or `RateSteps`, `threshold` packets or data.

    See docs/models/g-router.md.
    """

    kind: ClassVar[str] = "earth"
    rates: Sequence[str] | RateSteps
    threshold: str
    _: KW_ONLY
    min_interval: str | None = None
    transition: str | None = None
    queue: str | None = None
    initial_rate: str | None = None
    in_service: str | None = None
    transition_power: str | None = None


@dataclass(frozen=True)
class Awm:
    """AWM alone: windows in acknowledgements keep the link's queue at `target` (packets or data).

    `flows` is a table such as `{"kind": "fixed", "count": 20}`. See docs/models/g-router.md.
    """

    kind: ClassVar[str] = "awm"
    target: str
    _: KW_ONLY
    beta: str | None = None
    floor: str | None = None
    initial_window: str | None = None
    flows: Mapping[str, Any] | None = None
    acknowledgements: str | None = None
    queue: str | None = None


@dataclass(frozen=True)
class _Following:
    """What controllers with C-EARTH have in common."""

    target: str
    min_rate: str
    round_trip: Mapping[str, Any]
    _: KW_ONLY
    initial_rate: str | None = None
    gamma: float | None = None
    pace: str | None = None
    granularity: str | None = None
    transition: str | None = None
    acknowledgements: str | None = None
    queue: str | None = None
    in_service: str | None = None
    transition_power: str | None = None


@dataclass(frozen=True)
class CEarth(_Following):
    """C-EARTH without AWM: the rate, from `min_rate` to the link's, follows the queue; its target is gamma `target`.

    `round_trip` is a table such as `{"kind": "timestamps", "initial": "200 ms"}`. See docs/models/g-router.md.
    """

    kind: ClassVar[str] = "c_earth"


@dataclass(frozen=True)
class GRouter(_Following):
    """The G-Router: AWM keeps the queue at `target` (packets or data), C-EARTH sets the rate, `min_rate` to the link's.

    `flows` and `round_trip` are tables such as `{"kind": "timestamps", "initial": "200 ms"}`.
    See docs/models/g-router.md.
    """

    kind: ClassVar[str] = "g_router"
    _: KW_ONLY
    beta: str | None = None
    floor: str | None = None
    initial_window: str | None = None
    flows: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class UniformRedraw:
    """A capacity redrawn uniformly on [`min`, `max`] (bit rates) after exponential intervals."""

    kind: ClassVar[str] = "uniform_redraw"
    min: str
    max: str
    mean_interval: str


@dataclass(frozen=True)
class Steps:
    """A capacity with other rates at given times, each step a table with `at` (a time) and `rate` (a bit rate)."""

    kind: ClassVar[str] = "steps"
    steps: Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Bernoulli:
    """Each packet is lost with this probability, in [0, 1), independently."""

    kind: ClassVar[str] = "bernoulli"
    probability: float


@dataclass(frozen=True)
class GilbertElliott:
    """Loss in bursts: a chain of two states, one step per packet; probabilities of a step and of loss in each state."""

    kind: ClassVar[str] = "gilbert_elliott"
    to_bad: float
    to_good: float
    loss_bad: float | None = None
    loss_good: float | None = None


@dataclass(frozen=True)
class ScriptedDrops:
    """Packets of one flow that a link drops: their numbers, ascending, as they are offered to the link, from 1."""

    flow: str
    packets: Sequence[int]


@dataclass(frozen=True)
class Scripted:
    """Packets are lost by number, flow by flow."""

    kind: ClassVar[str] = "scripted"
    drops: Sequence[ScriptedDrops]


@dataclass(frozen=True)
class Noise:
    """Each packet of a link takes a gamma-distributed time longer (mean, shape); none overtakes the one before it."""

    mean: str
    shape: float


@dataclass(frozen=True)
class DropTail:
    """Only a full buffer drops."""

    kind: ClassVar[str] = "drop_tail"


@dataclass(frozen=True)
class Red:
    """Random early detection; thresholds are sizes as of `buffer`, all in packets (or BDP) or all in bytes.

    See docs/models/queues.md for the equations and the readings.
    """

    kind: ClassVar[str] = "red"
    min_threshold: str | None = None
    max_threshold: str | None = None
    _: KW_ONLY
    max_probability: float | None = None
    weight: float | None = None
    gentle: bool | None = None
    probability: str | None = None
    rules: str | None = None
    mean_packet: str | None = None
    ecn: str | None = None


@dataclass(frozen=True)
class Codel:
    """Controlled delay: waiting above `target` for `interval` (times) begins to drop packets that leave the queue."""

    kind: ClassVar[str] = "codel"
    target: str | None = None
    interval: str | None = None
    _: KW_ONLY
    ecn: bool | None = None


@dataclass(frozen=True)
class Link:
    """A link from one node to another: bit rate, one-way propagation delay, limit of its queue."""

    from_: str
    to: str
    rate: str
    delay: str | None = None
    buffer: str | None = None
    _: KW_ONLY
    name: str | None = None
    duplex: bool | None = None
    buffer_floor: int | None = None
    queue: DropTail | Red | Codel | None = None
    cost: int | None = None
    controller: Practra | Earth | Awm | CEarth | GRouter | None = None
    capacity: UniformRedraw | Steps | None = None
    loss: Bernoulli | GilbertElliott | Scripted | None = None
    noise: Noise | None = None


@dataclass(frozen=True)
class VegasBounds:
    """Bounds of Vegas, in segments queued in the network: below `alpha` the window grows, above `beta` it shrinks.

    More than `gamma` end slow start.
    """

    alpha: int
    beta: int
    gamma: int


@dataclass(frozen=True)
class TcpOptions:
    """TCP options; what is left out comes from the scenario's `tcp`, then from the preset.

    Presets are `rfc`, `ns2`, `freebsd-4.5` and `linux-6`.
    """

    _: KW_ONLY
    preset: str | None = None
    congestion_control: str | None = None
    loss_recovery: str | None = None
    sack_detection: str | None = None
    window_reduction: str | None = None
    ecn: str | None = None
    hystart: bool | None = None
    cwnd_unit: str | None = None
    vegas: VegasBounds | None = None
    vegas_flavour: str | None = None
    mss: str | None = None
    initial_window: int | None = None
    initial_ssthresh: str | None = None
    delayed_ack: bool | None = None
    delayed_ack_timeout: str | None = None
    quick_acks: int | None = None
    sack_compression: str | None = None
    timestamps: bool | None = None
    window_scaling: bool | None = None
    send_buffer: str | None = None
    receive_buffer: str | None = None
    limited_transmit: bool | None = None
    partial_ack_timer: str | None = None
    initial_rto: str | None = None
    min_rto: str | None = None
    max_rto: str | None = None
    rto_granularity: str | None = None
    ssthresh_from: str | None = None
    growth: str | None = None
    shrunk_window: str | None = None
    window_update: str | None = None


@dataclass(frozen=True)
class Tcp:
    """One TCP connection, or `count` of them, `spacing` apart; `size` is `"endless"` or an amount of data.

    If they are given, the application stops at `stop`, `stop_spacing` later each, and writes `write_size` at a time at
    the bit rate `write_rate`.
    """

    kind: ClassVar[str] = "tcp"
    name: str
    from_: str
    to: str
    size: str | None = None
    _: KW_ONLY
    start: str | None = None
    spacing: str | None = None
    jitter: str | None = None
    count: int | None = None
    stop: str | None = None
    stop_spacing: str | None = None
    write_rate: str | None = None
    write_size: str | None = None
    tcp: TcpOptions | None = None


@dataclass(frozen=True)
class Cbr:
    """Datagrams at a constant bit rate on the wire."""

    kind: ClassVar[str] = "cbr"
    name: str
    from_: str
    to: str
    rate: str
    _: KW_ONLY
    packet: str | None = None
    start: str | None = None
    jitter: str | None = None
    stop: str | None = None


@dataclass(frozen=True)
class Poisson:
    """Datagrams of one size whose arrivals are a Poisson process of this mean bit rate."""

    kind: ClassVar[str] = "poisson"
    name: str
    from_: str
    to: str
    rate: str
    _: KW_ONLY
    packet: str | None = None
    start: str | None = None
    jitter: str | None = None
    stop: str | None = None


@dataclass(frozen=True)
class Bursts:
    """Datagrams at a constant bit rate in bursts of exponential length of mean `mean_on`, one per `cycle`."""

    kind: ClassVar[str] = "bursts"
    name: str
    from_: str
    to: str
    rate: str
    _: KW_ONLY
    cycle: str
    mean_on: str
    packet: str | None = None
    start: str | None = None
    stop: str | None = None


@dataclass(frozen=True)
class FixedSize:
    """Requests all of the same `size`, an amount of data."""

    kind: ClassVar[str] = "fixed"
    size: str


@dataclass(frozen=True)
class ExponentialSize:
    """Requests of exponential size with this `mean`, an amount of data."""

    kind: ClassVar[str] = "exponential"
    mean: str


@dataclass(frozen=True)
class ParetoSize:
    """Requests of Pareto's sizes: `mean` of what is drawn, `shape` above 1, none larger than `max` if that is given."""

    kind: ClassVar[str] = "pareto"
    mean: str
    shape: float
    max: str | None = None


@dataclass(frozen=True)
class LognormalComponent:
    """A lognormal law of a mixture: its share, its median (an amount of data), the standard deviation of ln X."""

    weight: float
    median: str
    sigma: float


@dataclass(frozen=True)
class LognormalSize:
    """Requests of sizes after a mixture of lognormal laws, truncated to [`min`, `max`] (amounts of data)."""

    kind: ClassVar[str] = "lognormal"
    components: Sequence[LognormalComponent | Mapping[str, object]]
    min: str | None = None
    max: str | None = None


@dataclass(frozen=True)
class CampusSize:
    """Requests of the sizes of a campus's flows, truncated so that they have this `mean`, an amount of data."""

    kind: ClassVar[str] = "campus"
    mean: str


@dataclass(frozen=True)
class EmpiricalSize:
    """Requests of sizes after points (bytes, cumulative share), in `cdf` or in a `file` of two columns."""

    kind: ClassVar[str] = "empirical"
    cdf: Sequence[tuple[int, float]] | None = None
    file: str | None = None


@dataclass(frozen=True)
class WebSearchSize:
    """Requests of the sizes of web search, scaled to `mean`, an amount of data, if that is given."""

    kind: ClassVar[str] = "web_search"
    mean: str | None = None


Size = FixedSize | ExponentialSize | ParetoSize | LognormalSize | CampusSize | EmpiricalSize | WebSearchSize
"""Any law of sizes."""


@dataclass(frozen=True)
class Requests:
    """Requests that arrive as a Poisson process and ask for data at the mean bit rate `offered`.

    Each is a TCP connection of its own, from SYN to FIN. At most `most_open` may be open at once.
    """

    kind: ClassVar[str] = "requests"
    name: str
    from_: str
    to: str
    offered: str
    size: Size
    _: KW_ONLY
    start: str | None = None
    stop: str | None = None
    most_open: int | None = None
    tcp: TcpOptions | None = None


@dataclass(frozen=True)
class Replay:
    """Datagrams as recorded: `arrivals` (nanoseconds, bytes), or a `file` of two columns with a heading."""

    kind: ClassVar[str] = "replay"
    name: str
    from_: str
    to: str
    _: KW_ONLY
    arrivals: Sequence[tuple[int, int]] | None = None
    file: str | None = None


@dataclass(frozen=True)
class Recording:
    """A first run, `without` these fields, that records what `flows` offer to `link`; then one source replays it."""

    link: str
    flows: Sequence[str]
    _: KW_ONLY
    without: Sequence[str] | None = None
    name: str | None = None
    to: str | None = None


@dataclass(frozen=True)
class Power:
    """A power model of `netlull list power`, with the ideal models' P_s (`static_fraction`) and phi."""

    model: str
    _: KW_ONLY
    name: str | None = None
    static_fraction: float | None = None
    phi: float | None = None


@dataclass(frozen=True)
class Probe:
    """What to record: bins of `interval` (a time), congestion windows, drops, TCP's segments and events, requests.

    `stations` records radios, what is on the air for them, and bursts; `arrivals` names links of which every packet
    that is offered is recorded. Default all links and flows.
    """

    interval: str | None = None
    _: KW_ONLY
    window: bool | None = None
    drops: bool | None = None
    segments: bool | None = None
    events: bool | None = None
    requests: bool | None = None
    stations: bool | None = None
    arrivals: Sequence[str] | None = None
    links: Sequence[str] | None = None
    flows: Sequence[str] | None = None


@dataclass(frozen=True)
class Phase:
    """A part of the run that is measured on its own, from a time to a time; default from the warm-up, to the end."""

    name: str
    _: KW_ONLY
    from_: str | None = None
    to: str | None = None


Flow = Tcp | Cbr | Poisson | Bursts | Requests | Replay
"""Any source of traffic."""
