"""The grid: one download over one bottleneck, for each congestion control, rate, round trip, buffer and loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness import SENDERS

from netlull import Bernoulli, Link, Probe, Scenario, Tcp, TcpOptions

__all__ = ["QUICK", "REPEATED", "Case", "cases"]

SIMULATED_S = 4.0
"""Size of downloads, as the simulated time in s of the RFCs' TCP."""
DURATION = "7 s"
"""A kernel that needs 1.75 times as long does not complete."""
SEED = 1
PACKET_BITS = 8 * 1500
FEWEST_PACKETS = 4

LINUX: dict[str, Any] = {"preset": "linux-6", "receive_buffer": "16 MiB"}
"""Linux's TCP in the scenario's words (docs/models/tcp.md)."""
SIZING: dict[str, Any] = {
    "loss_recovery": "rack",
    "window_reduction": "proportional",
    "timestamps": True,
    "window_scaling": True,
    "initial_window": 10,
    "delayed_ack": False,
    "growth": "when_limited",
    "min_rto": "200 ms",
    "initial_rto": "1 s",
    "receive_buffer": "16 MiB",
}
"""The RFCs' TCP for sizing downloads: the sizes do not change with the preset."""


@dataclass(frozen=True, order=True)
class Case:
    """A point of the grid."""

    control: str
    rate_mbps: int
    rtt_ms: int
    buffer_bdp: float
    loss: float

    @property
    def name(self) -> str:
        """The name in tables and options, such as `cubic-20M-40ms-1bdp-0.1%`."""
        loss = f"{100 * self.loss:g}%"
        return f"{self.control}-{self.rate_mbps}M-{self.rtt_ms}ms-{self.buffer_bdp:g}bdp-{loss}"

    @property
    def made_from(self) -> object:
        """The options of TCP, and the TCP for sizing the download."""
        return [LINUX, SENDERS[self.control], SIZING, SIMULATED_S]

    @property
    def bdp_packets(self) -> float:
        """Packets of 1500 B in flight on the path, without its queue."""
        return self.rate_mbps * 1e6 * self.rtt_ms * 1e-3 / PACKET_BITS

    @property
    def judged(self) -> bool:
        """False for BBR: Linux has version 1, netlull version 3."""
        return self.control != "bbr"

    def scenario(self) -> Scenario:
        """The scenario for both worlds. Its download takes the RFCs' TCP `SIMULATED_S`."""
        endless = self._scenario("endless", f"{SIMULATED_S} s", SIZING)
        # Without the times of the handshake and of the last round trip.
        size = round(float(endless.run(SEED).flow("download")["delivered_bytes"]), -4)
        return self._scenario(f"{max(size, 1e4):.0f} B", DURATION, LINUX)

    def _scenario(self, size: str, duration: str, tcp: dict[str, Any]) -> Scenario:
        buffer = max(FEWEST_PACKETS, round(self.buffer_bdp * self.bdp_packets))
        rate, delay = f"{self.rate_mbps} Mb/s", f"{self.rtt_ms / 2:g} ms"
        return Scenario(
            name=self.name,
            duration=duration,
            nodes=["server", "client"],
            links=[
                Link(
                    *("server", "client", rate, delay, f"{buffer} packets"),
                    loss=Bernoulli(self.loss) if self.loss else None,
                ),
                Link("client", "server", rate, delay, "unlimited"),
            ],
            flows=[Tcp("download", "server", "client", size)],
            tcp=TcpOptions(congestion_control=SENDERS[self.control], **tcp),
            probe=Probe("50 ms", window=True),
        )


def cases() -> list[Case]:
    """56 points: all rates and round trips at 1 BDP, then buffers and losses around 20 Mb/s and 40 ms, then corners."""
    found: set[Case] = set()
    for control in SENDERS:
        for rate in (5, 20, 50):
            found |= {Case(control, rate, rtt, 1, 0) for rtt in (10, 40, 100)}
        found |= {Case(control, 20, 40, buffer, loss) for buffer in (0.5, 1, 2) for loss in (0, 0.001, 0.01)}
    for control in ("reno", "cubic"):
        found |= {Case(control, 5, 100, buffer, 0) for buffer in (0.5, 2)}
        found |= {Case(control, 50, 10, 0.5, 0), Case(control, 50, 100, 2, 0)}
        found |= {Case(control, rate, rtt, 1, 0.01) for rate, rtt in ((5, 10), (50, 100))}
    return sorted(found)


QUICK = (
    Case("reno", 20, 40, 1, 0),
    Case("reno", 20, 40, 1, 0.01),
    Case("cubic", 20, 40, 1, 0),
    Case("cubic", 20, 40, 1, 0.01),
    Case("cubic", 5, 10, 1, 0),
    Case("bbr", 20, 40, 1, 0),
)
"""The cases that fit into a test."""
REPEATED = (Case("reno", 20, 40, 1, 0), Case("cubic", 20, 40, 1, 0), Case("bbr", 20, 40, 1, 0))
"""Cases emulated five times, for the spread."""
