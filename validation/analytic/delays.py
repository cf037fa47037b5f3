"""Laws of algorithms controlled by delay, marks or rate: the queue that they leave."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from law import MSS_BYTES, PACKET_BYTES, Law, Row, tcp_pair

if TYPE_CHECKING:
    import netlull


def vegas() -> Law:
    """Vegas' equilibrium: alpha to beta segments of each flow in the queue (Brakmo, Peterson 1995, section 3.2)."""
    rows = []
    for alpha, beta in ((1, 3), (2, 4), (4, 6), (8, 10)):
        options = {"congestion_control": "vegas", "vegas": {"alpha": alpha, "beta": beta, "gamma": 1}}
        scenario = tcp_pair(60, {"rate": "10 Mb/s", "delay": "25 ms"}, options, warm_up="20 s")
        queued = scenario.run(seed=1).metric("link.a-b.mean_queue_packets")
        middle = (alpha + beta) / 2
        rows.append(Row(f"alpha {alpha}, beta {beta}", queued, middle, (beta - alpha) / 2 / middle))
    reason = "from alpha to beta: the law says no more"
    return Law("Vegas: segments queued by one flow", "packets", rows, reason)


def dctcp() -> Law:
    """DCTCP's saw-tooth (M. Alizadeh et al., Data center TCP, SIGCOMM 2010, section 3.3).

    Let X = C RTT + K packets, with marks from K on and N synchronised flows. Then alpha = sqrt(2 N / X). The queue
    rises to K + N (equation 10), and falls from there by sqrt(2 N X) / 2 (equation 8), once in sqrt(2 X / N) / 2 round
    trips (equation 9).

    The analysis takes alpha as constant, for a small g. Every window changes it by g (F - alpha), and F is 0 except in
    one window per cycle. So alpha falls until the reduction of the window, and is then up to g / 2 below its mean.
    """
    gain, threshold, path = 1 / 16, 40, 100
    rows = []
    for flows in (1, 2):
        queue = {
            "kind": "red",
            "min_threshold": f"{threshold} packets",
            "max_threshold": f"{threshold} packets",
            "weight": 1.0,
            "gentle": False,
            "ecn": "always",
        }
        # 1 Gb/s and 1.2 ms: 100 packets in flight on the path.
        link = {"rate": "1 Gb/s", "delay": "0.6 ms", "buffer": "1000 packets", "queue": queue}
        probe = {"window": True, "interval": "100 us"}
        scenario = tcp_pair(6, link, {"congestion_control": "dctcp"}, flows, warm_up="2 s", probe=probe)
        result = scenario.run(seed=1)
        lengths = [
            queue for time, link, queue in rows_of(result, "link", "queue_packets") if link == "a-b" and time > 2
        ]
        windows = list(rows_of(result, "window", "cwnd_bytes"))
        first = windows[0][1]
        changes = [(time, cwnd / MSS_BYTES) for time, flow, cwnd in windows if flow == first and time > 2]
        share, period_s = saw_tooth(changes)
        x = path + threshold
        rtt_s = x * 8 * PACKET_BYTES / 1e9
        alpha = math.sqrt(2 * flows / x)
        loose = gain / 2 / alpha
        depth = math.sqrt(2 * flows * x) / 2
        cycle = math.sqrt(2 * x / flows) / 2
        packet = flows / depth
        rows += [
            Row(f"N = {flows}: longest queue", max(lengths), threshold + flows, 1 / threshold),
            Row(f"N = {flows}: depth of the saw-tooth", max(lengths) - min(lengths), depth, loose + packet),
            Row(f"N = {flows}: alpha at a reduction", 2 * share, alpha, loose),
            Row(f"N = {flows}: round trips in a cycle", period_s / rtt_s, cycle, loose + 1 / cycle),
        ]
    reason = "g / 2 in alpha, a packet of each flow in queues, a round trip in cycles"
    return Law("DCTCP: the square-root law of its saw-tooth", "packets, 1, round trips", rows, reason)


def rows_of(
    result: netlull.Result, table: Literal["link", "window"], column: str
) -> Iterator[tuple[float, str, float]]:
    """Time in s, link or flow, and a column of a run's table, row by row."""
    found = result.series(table)
    name = "flow" if table == "window" else table
    return zip(*(found[one].to_pylist() for one in ("time_s", name, column)), strict=True)


def saw_tooth(changes: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The mean share of a window's reductions (time, segments), and the mean time between them."""
    cuts = [(time, 1 - after / before) for (_, before), (time, after) in itertools.pairwise(changes) if after < before]
    share = sum(cut for _, cut in cuts) / len(cuts)
    return share, (cuts[-1][0] - cuts[0][0]) / (len(cuts) - 1)


def bbr() -> Law:
    """BBR sends at the bottleneck's rate with at most two bandwidth-delay products in flight (draft-ietf-ccwg-bbr).

    It sends below the rate: it paces 1 % below its measured rate (section 5.6.2). Every 5 s it also halves the data in
    flight for 200 ms and a round trip (section 5.3.4, ProbeRTT), which costs at most (0.2 s + RTT) / 2 of 5 s. It
    exceeds two products because the window's gain is 2.25 in ProbeBW_UP.
    """
    rows = []
    for rate_mbps, rtt_s in ((10, 0.05), (100, 0.04)):
        link = {"rate": f"{rate_mbps} Mb/s", "delay": f"{rtt_s / 2 * 1e3:g} ms"}
        options = {"congestion_control": "bbr"}
        probe = {"interval": "1 ms"}
        result = tcp_pair(70, link, options, warm_up="10 s", probe=probe).run(seed=1)
        product = rate_mbps * 1e6 * rtt_s / 8 / PACKET_BYTES
        longest = max(q for time, link, q in rows_of(result, "link", "queue_packets") if link == "a-b" and time > 10)
        case = f"{rate_mbps} Mb/s, {rtt_s * 1e3:g} ms"
        goodput = result.metric("flow.t.goodput_bps") / (rate_mbps * 1e6) * PACKET_BYTES / MSS_BYTES
        rows.append(Row(f"{case}: share of the rate", goodput, 1.0, 0.01 + (0.2 + rtt_s) / 2 / 5))
        rows.append(Row(f"{case}: most in flight / BDP", 1 + (longest + 1) / product, 2.0, 0.125, bound=True))
    reason = "the pacing margin of 1 % and ProbeRTT's share of time; the gain of 2.25 while it probes upwards"
    return Law("BBR: the bottleneck's rate, two BDP in flight", "1", rows, reason)
