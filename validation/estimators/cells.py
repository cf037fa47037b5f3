"""The networks for comparing estimates with the truth: a situation, its flows, a gateway with its estimators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import netlull

Table = dict[str, Any]

LINK = "gateway-inside"
"""The gateway's link."""
SPREAD_RTTS_MS = tuple(range(20, 301, 280 // 7))
"""Round trips of mixed flows: 20, 60, ..., 300 ms."""

ESTIMATORS: dict[str, tuple[Table, Table]] = {
    "timestamps": ({"kind": "linear_counting"}, {"kind": "timestamps", "initial": "500 ms"}),
    "handshake": ({"kind": "linear_counting"}, {"kind": "handshake", "initial": "500 ms"}),
    "printed": ({"kind": "printed", "initial": 20}, {"kind": "printed"}),
}
"""The estimators of N and RTT. The initial RTT is wrong on purpose: an estimator that never measures is visible."""


@dataclass(frozen=True)
class Cell:
    """A network under one gateway. `with_` gives variants."""

    title: str
    flows: int = 20
    """Number of endless transfers, without those of `joining`."""
    rate_mbps: float = 10.0
    """C_max."""
    scaled: bool = False
    """C-EARTH between 1 Mb/s and C_max. Otherwise the rate is fixed, with AWM alone."""
    rtts_ms: tuple[float, ...] = (100.0,)
    """Two-way propagation delays, assigned to the hosts in turn. Half of the shortest lies behind the gateway."""
    access_mbps: float = 1000.0
    """Uplink rate of each host. Below 1000, every flow has its own host."""
    far_mbps: float = 1000.0
    """Rate of the link behind the gateway's link."""
    buffer_packets: int = 100
    """Buffer of the gateway's link. The target is half of it."""
    delayed_ack: bool = False
    write_kbps: float = 0.0
    """Write rate of the endless transfers' applications; 0: unlimited."""
    requests_kb: float = 0.0
    """Mean size of requests (fixed, or Pareto with shape 1.35 if `pareto`)."""
    requests_per_s: float = 0.0
    pareto: bool = False
    joining: int = 0
    """Number of flows that open at 30 s and end after `joining_kb` each."""
    joining_kb: float = 0.0
    joining_rtt_ms: float = 100.0
    duration_s: float = 80.0
    warm_up_s: float = 20.0
    bin_s: float = 1.0
    flow_count: Table | None = None
    """Replaces the estimator's flow count."""

    def with_(self, **changes: Any) -> Cell:
        """The cell with other values."""
        return replace(self, **changes)

    def scenario(self, estimator: str) -> netlull.Scenario:
        """The cell's scenario under a gateway with these estimators."""
        flows, round_trip = ESTIMATORS[estimator]
        if estimator == "printed":
            flows = {**flows, "initial": max(self.flows, 1)}
        controller = {
            "kind": "g_router",
            "target": f"{self.buffer_packets // 2} packets",
            "beta": "1 Mb/s",
            "initial_window": "20 kB",
            "min_rate": "1 Mb/s" if self.scaled else f"{self.rate_mbps} Mb/s",
            "flows": self.flow_count or flows,
            "round_trip": round_trip,
        }
        return netlull.Scenario.from_dict(self._document(controller))

    def _document(self, controller: Table) -> Table:
        hosts = self._hosts()
        return {
            "name": "estimators",
            "duration": f"{self.duration_s} s",
            "warm_up": f"{self.warm_up_s} s",
            "mtu": "1000 B",
            "nodes": [*hosts, "gateway", "inside", "far", "server"],
            "link": [*(self._access(host, rtt) for host, rtt in hosts.items()), *self._inner(controller)],
            "flow": self._flows([host for host in hosts if host != "guest"]),
            "tcp": {"congestion_control": "new_reno", "timestamps": True, "delayed_ack": self.delayed_ack},
            "probe": {"interval": f"{self.bin_s} s", "links": [LINK]},
        }

    def _hosts(self) -> dict[str, float]:
        """Hosts and their round-trip times in ms."""
        count = max(self.flows, 1) if self.access_mbps < 1000.0 else len(self.rtts_ms)
        hosts = {f"host-{index}": self.rtts_ms[index % len(self.rtts_ms)] for index in range(count)}
        return {**hosts, "guest": self.joining_rtt_ms} if self.joining else hosts

    def _access(self, host: str, rtt_ms: float) -> Table:
        # Half of the round trip, less the part behind the gateway.
        return {
            "from": host,
            "to": "gateway",
            "duplex": True,
            "rate": f"{self.access_mbps} Mb/s",
            "delay": f"{max(rtt_ms / 2 - self._behind_ms(), 0.1)} ms",
            "buffer": "50 packets" if self.access_mbps < 1000.0 else "unlimited",
        }

    def _behind_ms(self) -> float:
        """Propagation delay from the gateway to the server, in ms: half of the shortest round trip."""
        return min(self.rtts_ms) / 4

    def _inner(self, controller: Table) -> list[Table]:
        behind = self._behind_ms() / 2
        far: Table = {"rate": f"{self.far_mbps} Mb/s"}
        buffer = f"{self.buffer_packets} packets"
        return [
            {
                "from": "gateway",
                "to": "inside",
                "rate": f"{self.rate_mbps} Mb/s",
                "delay": f"{behind / 2} ms",
                "buffer": buffer,
                "controller": controller,
            },
            {
                "from": "inside",
                "to": "gateway",
                "rate": "1 Gb/s",
                "delay": f"{behind / 2} ms",
                "buffer": "unlimited",
            },
            {"from": "inside", "to": "far", "delay": f"{behind / 2} ms", "buffer": "100 packets", **far},
            {"from": "far", "to": "inside", "rate": "1 Gb/s", "delay": f"{behind / 2} ms", "buffer": "unlimited"},
            {"from": "far", "to": "server", "duplex": True, "rate": "1 Gb/s", "delay": f"{behind} ms"},
        ]

    def _flows(self, hosts: list[str]) -> list[Table]:
        flows: list[Table] = []
        for index, host in enumerate(hosts):
            share = len(range(index, self.flows, len(hosts)))
            common = {"kind": "tcp", "from": host, "to": "server", "jitter": "2 s"}
            if share:
                written = {"write_rate": f"{self.write_kbps} kb/s"} if self.write_kbps else {}
                flows.append({**common, "name": f"long-{index}", "count": share, **written})
            if self.requests_per_s:
                flows.append(self._requests(host, f"web-{index}", len(hosts)))
        if self.joining:
            join = {"size": f"{self.joining_kb} kB", "start": "30 s", "jitter": "100 ms", "count": self.joining}
            flows.append({"kind": "tcp", "name": "joins", "from": "guest", "to": "server", **join})
        return flows

    def _requests(self, host: str, name: str, hosts: int) -> Table:
        size: Table = {"kind": "fixed", "size": f"{self.requests_kb} kB"}
        if self.pareto:
            size = {"kind": "pareto", "mean": f"{self.requests_kb} kB", "shape": 1.35, "max": "20 MB"}
        offered = 8.0 * self.requests_kb * self.requests_per_s / hosts
        return {
            "kind": "requests",
            "name": name,
            "from": host,
            "to": "server",
            "offered": f"{offered} kb/s",
            "size": size,
            "most_open": 5000,
        }


def cells() -> dict[str, Cell]:
    """Every steady situation, by name."""
    gateway = Cell("flows limited by the gateway, rate fixed (AWM alone)")
    far = Cell("flows limited by 5 Mb/s behind the gateway", far_mbps=5.0, scaled=True)
    found: dict[str, Cell] = {}
    for flows in (1, 5, 20, 100):
        found[f"gateway-{flows}"] = gateway.with_(flows=flows)
    found["gateway-500"] = gateway.with_(flows=500, rate_mbps=50.0, buffer_packets=400)
    found["gateway-500-floor"] = gateway.with_(flows=500, title="more flows than windows of one MTU fit")
    for flows in (5, 20, 100):
        found[f"g-router-{flows}"] = gateway.with_(title="flows limited by the G-Router", flows=flows, scaled=True)
    for flows in (1, 5, 20, 100):
        found[f"far-{flows}"] = far.with_(flows=flows)
    found["mixed-24"] = gateway.with_(title="round trips of 20 to 300 ms", flows=24, rtts_ms=SPREAD_RTTS_MS)
    found["mixed-far-24"] = far.with_(title="the same behind 5 Mb/s", flows=24, rtts_ms=SPREAD_RTTS_MS)
    found["delayed-ack-20"] = gateway.with_(title="delayed acknowledgements", delayed_ack=True)
    found["delayed-ack-mixed-24"] = found["mixed-24"].with_(title="both", delayed_ack=True)
    access = gateway.with_(title="flows limited by 1 Mb/s of their own", access_mbps=1.0, rate_mbps=30.0, scaled=True)
    found["access-5"] = access.with_(flows=5)
    found["access-20"] = access.with_(flows=20)
    for kbps in (40.0, 400.0):
        found[f"application-{kbps:.0f}"] = gateway.with_(title=f"applications that write {kbps} kb/s", write_kbps=kbps)
    small = gateway.with_(title="requests of 10 kB, 25 a second", flows=0, requests_kb=10.0, requests_per_s=25.0)
    found["requests"] = small
    found["web"] = gateway.with_(
        title="20 long flows and web load (5/s, Pareto, mean 200 kB)",
        rate_mbps=20.0,
        requests_kb=200.0,
        requests_per_s=5.0,
        pareto=True,
    )
    return found
