"""ns-2's kinds of TCP, and netlull's options for equality with each."""

from __future__ import annotations

from typing import Any

AGENTS = (
    "tahoe",
    "reno",
    "new_reno",
    "sack",
    "vegas",
    "linux-reno",
    "linux-bic",
    "linux-cubic",
    "linux-vegas",
    "linux-compound",
)
"""ns-2's own agents, and those of Agent/TCP/Linux."""


def is_linux(agent: str) -> bool:
    """True for agents of Agent/TCP/Linux."""
    return agent.startswith("linux-")


def tcp_options(agent: str) -> dict[str, Any]:
    """The TCP options with which netlull equals an agent of ns-2."""
    name = agent.removeprefix("linux-")
    if not is_linux(agent):
        return {"preset": "ns2", "congestion_control": name}
    return {
        "preset": "ns2",
        "congestion_control": {"reno": "reno_2_6_22", "cubic": "cubic_2_6_22"}.get(name, name),
        "loss_recovery": "sack",
        "sack_detection": "forward",
        "window_reduction": "rate_halving",
        "rto_granularity": "1 ms",
    } | ({"vegas_flavour": "linux", "vegas": {"alpha": 2, "beta": 4, "gamma": 1}} if name == "vegas" else {})
