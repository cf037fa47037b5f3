"""A network for all simulators: one description gives netlull's scenario and the peers' file.

The file that `ns2/bench.tcl`, `ns3/bench.cc` and `htsim/bench.cc` read has one entry per line, nodes as numbers, in SI
units:

```text
nodes N
link A B RATE DELAY LIMIT THERE BACK   both directions; a backlog of LIMIT packets (0: no limit); THERE, BACK: the
                                       number of remaining links of a TCP data packet, this one included, from A
                                       to B and from B to A
route NODE DESTINATION NEXT            only for routes with traffic
tcp FROM TO START LINKS                an endless transfer over LINKS links
cbr FROM TO RATE SIZE START LINKS      SIZE bytes on the wire
web FROM TO LINKS                      the path of every request below
request TIME SIZE                      SIZE bytes of data, in the order of time
```
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

HEADERS_BYTES = 40
SET_UP_ONLY_S = 1e-6


@dataclass(frozen=True)
class Link:
    """A link in both directions between nodes. `buffer` is the limit of the backlog in packets; None for no limit."""

    one: str
    other: str
    rate_bps: int
    delay_s: float
    buffer: int | None = None


@dataclass(frozen=True)
class Transfer:
    """An endless transfer over TCP."""

    source: str
    target: str
    start_s: float = 0.0


@dataclass(frozen=True)
class Cbr:
    """A stream of datagrams at a constant rate."""

    source: str
    target: str
    rate_bps: int
    packet_bytes: int
    start_s: float


@dataclass(frozen=True)
class Requests:
    """Transfers as a Poisson process with Pareto sizes, each on its own TCP connection."""

    source: str
    target: str
    offered_bps: int
    mean_bytes: int
    shape: float
    max_bytes: int


@dataclass(frozen=True)
class Network:
    """Nodes, links and traffic. TCP has segments of `mss` bytes and optionally an initial `ssthresh` in segments."""

    name: str
    duration_s: float
    nodes: Sequence[str]
    links: Sequence[Link]
    transfers: Sequence[Transfer] = ()
    cbr: Sequence[Cbr] = ()
    requests: Requests | None = None
    mss: int = 1460
    ssthresh: int | None = None
    tcp: dict[str, Any] = field(default_factory=lambda: {"preset": "ns2"})

    def set_up_only(self) -> Network:
        """Returns the same network with almost no simulated time and all flows from the start."""
        transfers = [replace(flow, start_s=0.0) for flow in self.transfers]
        streams = [replace(stream, start_s=0.0) for stream in self.cbr]
        return replace(self, duration_s=SET_UP_ONLY_S, transfers=transfers, cbr=streams)

    def document(self, *, record_requests: bool = False) -> dict[str, Any]:
        """Returns the network as netlull's scenario."""
        tcp = {**self.tcp, "mss": f"{self.mss} B"}
        if self.ssthresh is not None:
            tcp["initial_ssthresh"] = f"{self.ssthresh * self.mss} B"
        document: dict[str, Any] = {
            "name": self.name,
            "duration": f"{nanoseconds(self.duration_s)} ns",
            "nodes": list(self.nodes),
            "link": [scenario_link(link) for link in self.links],
            "flow": [*self._scenario_flows()],
            "tcp": tcp,
        }
        if record_requests:
            document["probe"] = {"requests": True}
        return document

    def _scenario_flows(self) -> Iterator[dict[str, Any]]:
        for number, flow in enumerate(self.transfers):
            ends = {"kind": "tcp", "name": f"tcp{number}", "from": flow.source, "to": flow.target}
            yield ends | {"start": f"{nanoseconds(flow.start_s)} ns"}
        for number, stream in enumerate(self.cbr):
            ends = {"kind": "cbr", "name": f"cbr{number}", "from": stream.source, "to": stream.target}
            rate = {"rate": f"{stream.rate_bps} b/s", "packet": f"{stream.packet_bytes} B"}
            yield ends | rate | {"start": f"{nanoseconds(stream.start_s)} ns"}
        if self.requests:
            web = self.requests
            size = {"kind": "pareto", "mean": f"{web.mean_bytes} B", "shape": web.shape, "max": f"{web.max_bytes} B"}
            ends = {"kind": "requests", "name": "web", "from": web.source, "to": web.target}
            yield ends | {"offered": f"{web.offered_bps} b/s", "size": size, "most_open": 10_000}

    def peer_text(self, requests: Sequence[tuple[float, int]] = ()) -> str:
        """Returns the network as the file above; `requests` are times in seconds and sizes in bytes."""
        number = {name: index for index, name in enumerate(self.nodes)}
        paths = Paths(self)
        lines = [f"nodes {len(self.nodes)}"]
        routes: dict[tuple[str, str], str] = {}
        remaining: dict[tuple[str, str], int] = {}
        flows: list[str] = []

        def ends(source: str, target: str) -> tuple[str, int]:
            there, back = paths.between(source, target), paths.between(target, source)
            for path in (there, back):
                routes.update({(node, path[-1]): after for node, after in itertools.pairwise(path)})
            return f"{number[source]} {number[target]}", len(there) - 1

        def tcp_ends(source: str, target: str) -> tuple[str, int]:
            path = paths.between(source, target)
            for index, hop in enumerate(itertools.pairwise(path)):
                if remaining.setdefault(hop, len(path) - 1 - index) != len(path) - 1 - index:
                    raise ValueError(f"{self.name}: TCPs cross {hop} with different numbers of links before them")
            return ends(source, target)

        for flow in self.transfers:
            pair, links = tcp_ends(flow.source, flow.target)
            flows.append(f"tcp {pair} {flow.start_s:.9g} {links}")
        for stream in self.cbr:
            pair, links = ends(stream.source, stream.target)
            flows.append(f"cbr {pair} {stream.rate_bps} {stream.packet_bytes} {stream.start_s:.9g} {links}")
        if self.requests:
            pair, links = tcp_ends(self.requests.source, self.requests.target)
            flows.append(f"web {pair} {links}")
        for link in self.links:
            there, back = remaining.get((link.one, link.other), 0), remaining.get((link.other, link.one), 0)
            pair = f"{number[link.one]} {number[link.other]}"
            lines.append(f"link {pair} {link.rate_bps} {link.delay_s:.9g} {link.buffer or 0} {there} {back}")
        lines += [f"route {number[node]} {number[to]} {number[after]}" for (node, to), after in routes.items()]
        lines += flows
        lines += [f"request {time:.9f} {size}" for time, size in requests]
        return "\n".join(lines) + "\n"


class Paths:
    """Shortest paths by number of links."""

    def __init__(self, network: Network) -> None:
        self._neighbours: dict[str, list[str]] = {name: [] for name in network.nodes}
        for link in network.links:
            self._neighbours[link.one].append(link.other)
            self._neighbours[link.other].append(link.one)

    def between(self, source: str, target: str) -> list[str]:
        """Returns the nodes of a path, both ends included. The search skips ends with a single link."""
        head, tail = [source], [target]
        while len(self._neighbours[head[-1]]) == 1 and head[-1] != target:
            head.append(self._neighbours[head[-1]][0])
        while len(self._neighbours[tail[-1]]) == 1 and tail[-1] != source:
            tail.append(self._neighbours[tail[-1]][0])
        if target in head:
            return head
        return head[:-1] + self._search(head[-1], tail[-1]) + tail[-2::-1]

    def _search(self, source: str, target: str) -> list[str]:
        before = {source: source}
        waiting = deque([source])
        while waiting and target not in before:
            node = waiting.popleft()
            for after in self._neighbours[node]:
                if after not in before and (after == target or len(self._neighbours[after]) > 1):
                    before[after] = node
                    waiting.append(after)
        path = [target]
        while path[-1] != source:
            path.append(before[path[-1]])
        return path[::-1]


def scenario_link(link: Link) -> dict[str, Any]:
    """Returns a link of netlull's scenario."""
    return {
        "from": link.one,
        "to": link.other,
        "duplex": True,
        "rate": f"{link.rate_bps} b/s",
        "delay": f"{nanoseconds(link.delay_s)} ns",
        "buffer": "unlimited" if link.buffer is None else f"{link.buffer} packets",
    }


def nanoseconds(seconds: float) -> int:
    """Converts seconds to nanoseconds, rounded to the nearest."""
    return round(seconds * 1e9)
