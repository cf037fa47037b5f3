"""Jain's index of equal flows."""

from __future__ import annotations

from law import Law, Row, tcp_pair

from netlull.results.entries import jain

FLOWS = 8
DROP_TAIL = {"kind": "drop_tail"}
STEP = {
    "kind": "red",
    "min_threshold": "20 packets",
    "max_threshold": "20 packets",
    "weight": 1.0,
    "gentle": False,
    "ecn": "always",
}
"""Marks from 20 packets on."""


STARTS = {"vegas": "0 s", "dctcp": "20 ms"}
"""The span of the starts, if it is not the first 5 s; see `equal_flows`."""


def share(algorithm: str) -> float:
    """Jain's index of eight flows that differ only in their start."""
    queue = STEP if algorithm == "dctcp" else DROP_TAIL
    link = {"rate": "20 Mb/s", "delay": "25 ms", "buffer": "1 BDP", "queue": queue}
    flow = {"kind": "tcp", "name": "t", "from": "a", "to": "b", "count": FLOWS}
    flow["jitter"] = STARTS.get(algorithm, "5 s")
    scenario = tcp_pair(300, link, {"congestion_control": algorithm}, warm_up="60 s", flow=[flow])
    return jain([entry["goodput_bps"] for entry in scenario.run(seed=1).summary["flows"]])


def equal_flows() -> Law:
    """Eight equal flows of each algorithm over 240 s: Jain's index is 1 (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984).

    A window that is halved at random moments has a coefficient of variation below 1. Over 20 or more cycles, that of a
    flow's mean is below 0.23, which gives 1 / (1 + 0.23^2) = 0.95. Vegas accepts any value from alpha to beta: half of
    the flows at 2 and half at 4 segments give 3^2 / 10 = 0.9. This requires that all know the path's round trip and are
    not limited by ssthresh (README.md), which holds if they start together. DCTCP's flows start within 20 ms: a SYN,
    which is not ECN-capable, is dropped where other packets are marked, and a repeated SYN requests no ECN (RFC 3168
    section 6.1.1.1). Among DCTCP flows such a connection starves.
    """
    algorithms = (
        "bbr",
        "bic",
        "compound",
        "cubic",
        "cubic_2_6_22",
        "dctcp",
        "new_reno",
        "reno",
        "sack",
        "tahoe",
        "vegas",
    )
    rows = [Row(name, share(name), 1.0, 0.1 if name == "vegas" else 0.05) for name in algorithms]
    reason = "the mean of some 20 cycles of a saw-tooth; for Vegas, anything from alpha to beta"
    return Law("Eight equal flows: Jain's index", "1", rows, reason)
