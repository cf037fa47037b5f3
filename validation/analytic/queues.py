"""Laws of queues without TCP."""

from __future__ import annotations

from law import PACKET_BYTES, Law, Row, one_link


def serialisation() -> Law:
    """N back-to-back packets end at exactly floor(8 L n 10^9 / r): the last one shows the sum of all."""
    rows = []
    for rate_bps in (7_000_003, 9_999_991, 64_000):
        flow = {"kind": "cbr", "name": "c", "from": "a", "to": "b", "rate": "20 Mb/s"}
        scenario = one_link("10 s", {"rate": f"{rate_bps} b/s"}, flow)
        delivered = scenario.run(seed=1).metric("link.a-b.delivered_packets")
        whole = 10 * 10**9 * rate_bps // (8 * PACKET_BYTES * 10**9)
        rows.append(Row(f"packets in 10 s at {rate_bps} b/s", delivered, float(whole), 0.0))
    title = "Serialisation: packets that a busy link delivers"
    return Law(title, "packets", rows, "nothing, it is arithmetic")


def md1() -> Law:
    """M/D/1: mean wait rho s / (2 (1 - rho)) (Pollaczek-Khinchine with no variance of service)."""
    service_s = 8 * PACKET_BYTES / 10e6
    rows = []
    for load, tolerance in ((0.3, 0.01), (0.5, 0.01), (0.8, 0.02), (0.9, 0.05)):
        flow = {"kind": "poisson", "name": "p", "from": "a", "to": "b", "rate": f"{load * 10:g} Mb/s"}
        wait_s = one_link("6000 s", {}, flow).run(seed=1).metric("link.a-b.mean_wait_s")
        rows.append(Row(f"load {load}", wait_s * 1e3, load * service_s / (2 * (1 - load)) * 1e3, tolerance))
    reason = "sampling: 1.5 to 4.5 million waits, the more correlated the higher the load"
    return Law("M/D/1: mean wait of a packet", "ms", rows, reason)
