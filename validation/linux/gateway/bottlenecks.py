"""The cases: one bottleneck of 20 Mb/s, senders of one kind, and the control of the link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness import SENDERS

from netlull import Scenario

LINUX: Mapping[str, object] = {"preset": "linux-6"}
"""Linux's TCP in the scenario's words (docs/models/tcp.md)."""
JUDGED = ("reno", "cubic")
"""The judged TCPs. Linux's bbr is version 1, netlull's version 3: it is only shown."""
FLOWS = (4, 20)

RATE, BUFFER, TARGET, BETA = "20 Mb/s", "150 kB", "75 kB", "1 Mb/s"
_PACE = {"min_rate": "1 Mb/s", "round_trip": {"kind": "timestamps", "initial": "60 ms"}, "target": TARGET}
CONTROLS: Mapping[str, Mapping[str, object] | None] = {
    "none": None,
    "practra": {
        "kind": "practra",
        "rates": {"from": "1 Mb/s", "to": RATE, "step": "1 Mb/s"},
        "transition": "2 ms",
        "min_interval": "50 ms",
        "delay_bound": "10 ms",
    },
    "earth": {"kind": "earth", "rates": {"from": "1 Mb/s", "to": RATE, "step": "1 Mb/s"}, "threshold": TARGET},
    "awm": {"kind": "awm", "target": TARGET, "beta": BETA},
    "c-earth": {"kind": "c_earth", **_PACE},
    "awm+c-earth": {"kind": "g_router", **_PACE, "beta": BETA},
    "awm+c-earth-event": {"kind": "g_router", **_PACE, "beta": BETA, "pace": "event"},
    "awm+c-earth-10k": {"kind": "g_router", **_PACE},
    "awm+c-earth-10k-event": {"kind": "g_router", **_PACE, "pace": "event"},
    "awm+c-earth-printed": {"kind": "g_router", **_PACE, "pace": "event", "round_trip": {"kind": "printed"}},
}
"""Mechanisms with the readings that their pages recommend. `10k` has the printed beta of 10 kb/s. `event` has the
printed pace: at each arrival and departure, not once per round trip. `printed` also has the estimators of equation
(5)."""
SEND_BUFFER = "512 KiB"
"""A send buffer above the path's capacity. Without it netlulld lets each sender's kernel hold 16 MiB. A hundred senders
would exceed its TCP memory, and under that pressure receivers offer four segments."""
SETTLED_S: Mapping[int, float] = {4: 15.0, 20: 25.0}
"""Settling times in s by flows: AWM's window falls from 64 kB at the pace of beta, for twenty flows in 12 to 16 s."""
MEASURED_S = 25.0
SEED = 1


@dataclass(frozen=True)
class Case:
    """Some downloads through the link."""

    control: str
    sender: str
    flows: int

    @property
    def name(self) -> str:
        """The name in stored results."""
        return f"{self.control}/{self.sender}/{self.flows}"

    @property
    def made_from(self) -> object:
        """The options of TCP and of the controller."""
        return [LINUX, SENDERS[self.sender], SEND_BUFFER, CONTROLS[self.control], self.settled_s, MEASURED_S]

    @property
    def settled_s(self) -> float:
        """The start of the measurement, in s."""
        return SETTLED_S[self.flows]

    @property
    def uncontrolled(self) -> Case:
        """The same case without control."""
        return Case("none", self.sender, self.flows)

    def scenario(self) -> Scenario:
        """The scenario for either world. The table `link` has the queue every 10 ms."""
        control = CONTROLS[self.control]
        if control and self.control.endswith("printed"):
            control = {**control, "flows": {"kind": "printed", "initial": self.flows}}
        link: dict[str, object] = {
            "from": "router",
            "to": "clients",
            "rate": RATE,
            "delay": "29 ms",
            "buffer": BUFFER,
        }
        if control:
            link["controller"] = control
        wide = {"duplex": True, "rate": "1 Gb/s", "buffer": "unlimited"}
        document: dict[str, object] = {
            "name": self.name.replace("/", " "),
            "duration": f"{self.settled_s + MEASURED_S:g} s",
            "warm_up": f"{self.settled_s:g} s",
            "mtu": "1500 B",
            "nodes": ["servers", "router", "clients"],
            "tcp": {**LINUX, "congestion_control": SENDERS[self.sender], "send_buffer": SEND_BUFFER},
            "link": [
                {"from": "servers", "to": "router", "delay": "1 ms", **wide},
                link,
                {"from": "clients", "to": "router", "rate": "100 Mb/s", "delay": "29 ms", "buffer": "unlimited"},
            ],
            "flow": [
                {
                    "kind": "tcp",
                    "name": "download",
                    "from": "servers",
                    "to": "clients",
                    "count": self.flows,
                    "spacing": "50 ms",
                }
            ],
            "power": [{"model": "fs"}],
            "probe": {"interval": "10 ms", "links": ["router-clients"], "flows": [], "window": False},
        }
        return Scenario.from_dict(document)


_ALL = ("awm+c-earth-10k", "awm+c-earth-10k-event", "awm+c-earth-printed")
PRINTED = {
    (sender, flows): _ALL if sender not in JUDGED else _ALL[1:] if flows > FLOWS[0] else ()
    for sender in SENDERS
    for flows in FLOWS
}
"""The omitted cases."""


def cases() -> list[Case]:
    """All cases: the printed beta and estimators with four judged senders, and the beta with twenty of them."""
    every = [Case(control, sender, flows) for flows in FLOWS for sender in SENDERS for control in CONTROLS]
    return [case for case in every if case.control not in PRINTED[case.sender, case.flows]]


def quick(every: Sequence[Case]) -> list[Case]:
    """A few cases for a test."""
    return [case for case in every if case.sender == "reno" and case.flows == 4 and case.control in {"none", "awm"}]
