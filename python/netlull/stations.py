"""Wireless stations whose radios may sleep, as Python values. The core checks them, as `netlull.elements`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import ClassVar, Self

__all__ = ["AccessPoint", "Bsd", "ClientShaper", "Doze", "Eager", "Psm", "Radio", "Station"]


@dataclass(frozen=True)
class ClientShaper:
    """The client's shaper of client-centered-2004: it closes the window of all but the last packet of a burst.

    `least_wait` and `margin` are times, `growth`, `saturation`, `paced_share` and `paced_stretch` are ratios, the rest
    counts and readings by name.
    """

    kind: ClassVar[str] = "client_shaper"
    _: KW_ONLY
    least_wait: str | None = None
    margin: str | None = None
    growth: float | None = None
    patience: int | None = None
    saturation: float | None = None
    saturated_bursts: int | None = None
    eager: bool | None = None
    rtt_from: str | None = None
    repair: str | None = None
    paced_share: float | None = None
    paced_stretch: float | None = None
    paced_bursts: int | None = None
    paced_from: str | None = None


@dataclass(frozen=True)
class Eager:
    """Eager acknowledgements alone, with a radio that is awake: the baseline of client-centered-2004.

    A silence of `least_wait` to `longest_wait` (times) after data is taken for the end of a burst, and answered.
    """

    kind: ClassVar[str] = "eager"
    _: KW_ONLY
    least_wait: str | None = None
    longest_wait: str | None = None


@dataclass(frozen=True)
class AccessPoint:
    """What an access point does for a station that sleeps; `poll` is "one" (IEEE 802.11) or "all" (the ideal).

    `buffer` is in packets, the other fields are times. It is a field of the mechanism that needs it:
    `Psm(access_point=AccessPoint(poll="one", beacon_period="50 ms"))`.
    """

    _: KW_ONLY
    beacon_period: str | None = None
    first_beacon: str | None = None
    beacon_time: str | None = None
    poll_time: str | None = None
    poll: str | None = None
    patience: str | None = None
    buffer: int | None = None


class _Polling:
    """A mechanism whose access point holds packets. Says where that one's fields belong."""

    def __new__(cls, **given: object) -> Self:
        """Before `__init__`, which would only say that it does not know the field.

        Raises:
            TypeError: a field is the access point's.
        """
        for field in fields(AccessPoint):
            if field.name in given:
                wanted = f"{cls.__name__}(access_point=AccessPoint({field.name}={given[field.name]!r}))"
                raise TypeError(f"{cls.__name__}: {field.name} is a field of its access point; expected {wanted}")
        return super().__new__(cls)


@dataclass(frozen=True)
class Psm(_Polling):
    """IEEE 802.11 power-saving mode: the station listens to each `listen_interval`-th beacon and polls.

    What the access point does is told apart: `Psm(access_point=AccessPoint(poll="one"), listen_interval=2)`, and by
    paths `station.NAME.mechanism.access_point.poll`.
    """

    kind: ClassVar[str] = "psm"
    _: KW_ONLY
    access_point: AccessPoint | Mapping[str, object] | None = None
    listen_interval: int | None = None


@dataclass(frozen=True)
class Bsd(_Polling):
    """The bounded-slowdown protocol: round trips grow by the share `slowdown` at most.

    The station listens at least each `longest_listen` (a time); `request` is "every_packet" or "data_only".
    The access point is told apart: `Bsd(slowdown=0.2, access_point=AccessPoint(beacon_period="50 ms"))`.
    """

    kind: ClassVar[str] = "bsd"
    _: KW_ONLY
    access_point: AccessPoint | Mapping[str, object] | None = None
    slowdown: float | None = None
    longest_listen: str | None = None
    request: str | None = None


Doze = ClientShaper | Eager | Psm | Bsd
"""What a station does to sleep, or about its acknowledgements."""


@dataclass(frozen=True)
class Radio:
    """Powers of a radio in its states (such as "1.4 W"), and the time that it takes to wake."""

    name: str
    asleep: str
    idle: str
    receive: str
    transmit: str
    wake_time: str
    _: KW_ONLY
    waking: str | None = None


@dataclass(frozen=True)
class Station:
    """Nodes behind a wireless link each, whose radios sleep by a mechanism; without one they are awake all the time.

    `radio` lists names (`netlull list radios`) or `Radio`s; energy is reported under each. `wake_time` is a time.
    """

    nodes: Sequence[str]
    _: KW_ONLY
    name: str | None = None
    radio: Sequence[str | Radio | Mapping[str, object]] | None = None
    wake_time: str | None = None
    mechanism: Doze | Mapping[str, object] | None = None
