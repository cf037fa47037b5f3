"""The cost of low-power idle: instructions per packet-hop under callgrind, next to the same link without it.

    python benches/lpi.py

Two nodes have a link of 10 Gb/s and 10 us in each direction, one of them with low-power idle. Each figure is that of a
longer run less a shorter one. docs/models/eee.md has the table.
"""

from __future__ import annotations

import sys
from typing import Any

from instructions import built, counted
from kept import compiler

LINK = {"rate": "10 Gb/s", "delay": "10 us", "buffer": "1000 packets"}
LPI = {"kind": "lpi", "phy": "10gbase-t"}
CONTROLLERS: dict[str, dict[str, Any] | None] = {
    "plain": None,
    "hysteresis 0 s": LPI | {"hysteresis": "0 s"},
    "hysteresis 30 us": LPI | {"hysteresis": "30 us"},
    "0 s, 10 frames or 50 us": LPI | {"hysteresis": "0 s", "coalesce_frames": 10, "coalesce_time": "50 us"},
}


def poisson(load: float) -> dict[str, Any]:
    """Returns a flow of datagrams."""
    return {"kind": "poisson", "rate": f"{load * 10} Gb/s", "packet": "1500 B"}


# Each traffic with the durations of its two runs.
TRAFFIC = {
    "TCP, one transfer": ({"kind": "tcp"}, "30 ms", "60 ms"),
    "Poisson, load 0.9": (poisson(0.9), "6 ms", "22 ms"),
    "Poisson, load 0.3": (poisson(0.3), "20 ms", "70 ms"),
    "Poisson, load 0.05": (poisson(0.05), "100 ms", "400 ms"),
}


def document(flow: dict[str, Any], controller: dict[str, Any] | None, duration: str) -> dict[str, Any]:
    """Returns the scenario of a run."""
    there = {"from": "a", "to": "b"} | LINK | ({} if controller is None else {"controller": controller})
    back = {"from": "b", "to": "a"} | LINK
    flows = [{"name": "flow", "from": "a", "to": "b"} | flow]
    return {"duration": duration, "nodes": ["a", "b"], "link": [there, back], "flow": flows}


def main() -> int:
    """Prints the table."""
    program = built()
    print(f"{compiler()}; instructions per packet-hop; ratio to plain")
    print(f"{'traffic':<20} {'on the link':<26} {'per hop':>8} {'ratio':>7}")
    for traffic, (flow, *durations) in TRAFFIC.items():
        plain = None
        for name, controller in CONTROLLERS.items():
            short, long = (counted(program, document(flow, controller, duration)) for duration in durations)
            hops = long.summary["packet_hops"] - short.summary["packet_hops"]
            each = (long.instructions - short.instructions) / hops
            plain = each if plain is None else plain
            print(f"{traffic:<20} {name:<26} {each:>8.0f} {each / plain:>7.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
