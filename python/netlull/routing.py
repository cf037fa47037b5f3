"""How packets find their way and which links sleep, as Python values. The core checks them, as `netlull.elements`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

__all__ = ["Esacon", "Estop", "Flooding", "LoadAware", "Plan", "Routing", "Simultaneous", "Sleep"]


@dataclass(frozen=True)
class Flooding:
    """Announcements that travel link by link. Times: `processing` at each router, `computation` of its table."""

    kind: ClassVar[str] = "flooding"
    _: KW_ONLY
    processing: str | None = None
    computation: str | None = None


@dataclass(frozen=True)
class Simultaneous:
    """Every router has its new table at the same time, `after` (a time) what changed was announced."""

    kind: ClassVar[str] = "simultaneous"
    after: str


@dataclass(frozen=True)
class Routing:
    """Shortest paths by `metric` (cost, hops); the most hops that a packet may make; how routers learn of changes."""

    _: KW_ONLY
    metric: str | None = None
    ttl: int | None = None
    update: Flooding | Simultaneous | None = None


@dataclass(frozen=True)
class _Threshold:
    """`threshold`, the share of the algebraic connectivity that must be left (0 to 1), among `nodes`, default all."""

    threshold: float
    _: KW_ONLY
    nodes: Sequence[str] | None = None


@dataclass(frozen=True)
class Estop(_Threshold):
    """ESTOP: links sleep by betweenness while `threshold` (0 to 1) of the algebraic connectivity is left."""

    kind: ClassVar[str] = "estop"


@dataclass(frozen=True)
class Esacon(_Threshold):
    """ESACON: links sleep by what the algebraic connectivity loses, while `threshold` of it is left."""

    kind: ClassVar[str] = "esacon"


@dataclass(frozen=True)
class LoadAware:
    """The least loaded links sleep while no load is above `bound` of its rate; a TCP flow counts as `tcp_rate`."""

    kind: ClassVar[str] = "load_aware"
    bound: float
    _: KW_ONLY
    threshold: float | None = None
    tcp_rate: str | None = None
    nodes: Sequence[str] | None = None


Plan = Estop | Esacon | LoadAware
"""What chooses the links that sleep."""


@dataclass(frozen=True)
class Sleep:
    """Links that sleep from `at` on: `links` by name, or those that a `plan` chooses; the other fields are times.

    Each further link is `spacing` later. A link carries packets on for `drain` after it is announced; it is woken at
    `wake`, if that is given, and carries packets again `wake_time` later.
    """

    at: str
    _: KW_ONLY
    links: Sequence[str] | None = None
    plan: Plan | None = None
    spacing: str | None = None
    drain: str | None = None
    wake: str | None = None
    wake_time: str | None = None
