"""The cases: a link of 10 Mb/s under Lull, with the TCP, the traffic, the round-trip time and the buffer of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness import SENDERS

from netlull import Scenario

LINUX: Mapping[str, object] = {"preset": "linux-6", "send_buffer": "512 KiB"}
"""Linux's TCP in the scenario's words (docs/models/tcp.md)."""
LULL: Mapping[str, object] = {
    "kind": "lull",
    "rates": {"from": "1 Mb/s", "to": "10 Mb/s", "step": "1 Mb/s"},
    "transition": "2 ms",
}
SEEDS: Mapping[bool, int] = {True: 5, False: 1}
"""Number of seeds. Buffers of at most 21 packets drop packets of requests, and single timeouts then dominate a mean of
95 requests: five seeds for web load over them."""
DURATION_S = 10.0
BDP_PACKETS_PER_MS = 10e6 * 1e-3 / (8 * 1500)
FEWEST_PACKETS = 4

GOODPUT, COMPLETION, SAVING = 3.0, 5.0, 3.0
"""Tolerances between simulator and Linux, fixed before the runs: percent, percent, points."""
LOST: Mapping[str, float] = {"bulk1": 1.0, "bulk4": 1.0, "writer": 1.0, "bursts": 2.0}
"""The largest accepted loss of goodput under Lull, in percent of always-on, fixed before the runs (issue 23)."""
SLOWER: Mapping[bool, float] = {True: 5.0, False: 16.0}
"""The largest accepted growth of the mean completion time in percent, with a round-trip time of 20 ms or more (issue
23), and below (where the prototypes had 9 to 16 %)."""


@dataclass(frozen=True)
class Case:
    """A point of the grid."""

    sender: str
    traffic: str
    rtt_ms: int
    buffer_bdp: float
    controlled: bool = True

    @property
    def name(self) -> str:
        """The name in tables and options, such as `cubic/web/20ms/1bdp`; always-on links end with `/on`."""
        name = f"{self.sender}/{self.traffic}/{self.rtt_ms}ms/{self.buffer_bdp:g}bdp"
        return name if self.controlled else f"{name}/on"

    @property
    def made_from(self) -> object:
        """The scenario, and the number of seeds if there are several."""
        return self.document() if self.seeds == 1 else [self.document(), self.seeds]

    @property
    def seeds(self) -> int:
        """The number of seeds, from 1."""
        return SEEDS[self.traffic == "web" and (self.rtt_ms <= 20 or self.buffer_bdp < 1)]

    @property
    def always_on(self) -> Case:
        """The same case with a link that is always at its highest rate."""
        return Case(self.sender, self.traffic, self.rtt_ms, self.buffer_bdp, controlled=False)

    @property
    def short_transfers(self) -> bool:
        """True if completion times matter, not goodput."""
        return self.traffic in {"web", "sizes"}

    def scenario(self) -> Scenario:
        """The scenario for both worlds."""
        return Scenario.from_dict(self.document())

    def document(self) -> dict[str, object]:
        """The scenario's document."""
        buffer = max(FEWEST_PACKETS, round(self.buffer_bdp * self.rtt_ms * BDP_PACKETS_PER_MS))
        delay = f"{self.rtt_ms / 2:g} ms"
        link: dict[str, object] = {
            "from": "server",
            "to": "client",
            "rate": "10 Mb/s",
            "delay": delay,
            "buffer": f"{buffer} packets",
        }
        if self.controlled:
            link["controller"] = dict(LULL)
        back = {"from": "client", "to": "server", "rate": "100 Mb/s", "delay": delay, "buffer": "unlimited"}
        return {
            "name": self.name.replace("/", " "),
            "duration": f"{DURATION_S:g} s",
            "mtu": "1500 B",
            "nodes": ["server", "client"],
            "tcp": {**LINUX, "congestion_control": SENDERS[self.sender]},
            "link": [link, back],
            "flow": flows(self.traffic),
            "power": [{"model": "fs"}],
        }


def flows(traffic: str) -> list[dict[str, object]]:
    """The flows of a kind of traffic."""
    ends = {"from": "server", "to": "client"}
    download = {"kind": "tcp", "name": "download", **ends}
    if traffic == "bulk1":
        return [download]
    if traffic == "bulk4":
        return [{**download, "count": 4, "spacing": "50 ms"}]
    if traffic == "writer":
        return [{**download, "write_rate": "3 Mb/s"}]
    if traffic == "bursts":
        bursts = {"kind": "bursts", "name": "bursts", **ends, "rate": "5 Mb/s", "cycle": "1 s", "mean_on": "50 ms"}
        return [download, bursts]
    if traffic == "web":
        size = {"kind": "exponential", "mean": "30 kB"}
        return [{"kind": "requests", "name": "web", **ends, "offered": "3 Mb/s", "size": size, "stop": "9 s"}]
    downloads = (("20 kB", "0 s"), ("100 kB", "1 s"), ("400 kB", "2.5 s"), ("1500 kB", "5 s"))
    return [
        {"kind": "tcp", "name": f"download{number}", **ends, "size": size, "start": start}
        for number, (size, start) in enumerate(downloads, 1)
    ]


def cases() -> list[Case]:
    """63 points, each also always-on: round-trip times with a buffer of 1 BDP, other traffic, and half a BDP."""
    every = [
        Case(sender, traffic, rtt, 1)
        for sender in SENDERS
        for traffic in ("bulk1", "web", "sizes")
        for rtt in (10, 20, 50, 100)
    ]
    every += [
        Case(sender, traffic, rtt, 1)
        for sender in SENDERS
        for traffic in ("bulk4", "writer", "bursts")
        for rtt in (20, 100)
    ]
    every += [Case(sender, traffic, 50, 0.5) for sender in SENDERS for traffic in ("bulk1", "bulk4", "web")]
    return every


def quick(every: Sequence[Case]) -> list[Case]:
    """A few cases for a test."""
    return [case for case in every if case.name in {"cubic/web/20ms/1bdp", "reno/bulk1/20ms/1bdp"}]
