"""The path of the suites `sack` and `rack`, and their common checks.

The network is `shipped/conformance/path.toml`: 20 Mb/s and 100 ms. A packet of 1500 bytes takes 0.6 ms, so
acknowledgements arrive 0.6 ms apart. The initial window is ten segments (RFC 6928), all sent at once. Segments of the
data are numbered from 1. Packet 1 is the SYN, so segment n is packet n + 1 when it is first sent. DupThresh is 3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.conformance.frame import Bench
    from netlull.conformance.trace import Trace

PATH = "20 Mb/s, 100 ms"
BULK = f"{PATH}; bulk data"
RTT = 0.1
GAP = 0.6e-3
"""The time between two acknowledgements."""
SLACK = 0.1e-3
"""The time of a packet and its acknowledgement on the fast links, and of the acknowledgement on the bottleneck."""
KEPT = 0.75
"""The largest share of the window that a loss leaves: 0.5 with NewReno, 0.7 with CUBIC."""


def data(*bursts: tuple[float, int]) -> dict[str, object]:
    """An application that writes full segments: at each time in s, that many. The first time is 0."""
    rate, write_ns = "1 Gb/s", 11_600
    steps = []
    for at, count in bursts:
        if at > 0:
            steps.append({"at": f"{round(at * 1e9)} ns", "rate": rate})
        steps.append({"at": f"{round(at * 1e9 + (count - 0.5) * write_ns)} ns", "rate": "0 b/s"})
    return {"flow.flow.write_rate": rate, "flow.flow.write_steps": steps}


def lost(*packets: int, link: str = "N1-N2") -> dict[str, object]:
    """The loss of these packets of the flow on a link: of the data, or on N2-N1 of the acknowledgements."""
    drops = [{"flow": "flow", "packets": sorted(set(packets))}]
    return {f"link.{link}.loss": {"kind": "scripted", "drops": drops}}


def delayed(by_ms: int, *packets: int) -> dict[str, object]:
    """A delay of these packets of the data. A lost packet has no number here."""
    return {"link.N1-N2.late": [{"flow": "flow", "packets": list(packets), "by": f"{by_ms} ms"}]}


def sent(trace: Trace, number: int, nth: int = 0) -> float:
    """The time at which a segment is sent, or sent again for the n-th time; NaN if it is not."""
    times = trace.sends(number)
    return times[nth] if len(times) > nth else math.nan


def packet(trace: Trace, number: int, nth: int = 0) -> int:
    """The number of the packet with a segment, or with its n-th retransmission; without one, a number after all."""
    places = [place for place, (_, sent) in enumerate(trace.segments) if sent == number]
    return 2 + (places[nth] if len(places) > nth else len(trace.segments))


def event(trace: Trace, kind: str, nth: int = 0) -> float:
    """The time of the n-th event of the sender; NaN if there is none."""
    times = trace.events(kind)
    return float(times[nth]) if len(times) > nth else math.nan


def window(trace: Trace, time_s: float) -> float:
    """The congestion window, in segments."""
    return trace.cwnd().at(time_s) / trace.segment_bytes


def words(numbers: Sequence[int]) -> str:
    """Segments in words."""
    return ", ".join(map(str, numbers)) or "none"


def sent_again(bench: Bench, trace: Trace, source: str, *expected: int) -> bool:
    """Checks the segments that are sent again, in order."""
    seen: set[int] = set()
    again = []
    for _, number in trace.segments:
        if number in seen:
            again.append(number)
        seen.add(number)
    return bench.says("segments sent again", words(again), words(expected), source, kind="black box")


def reduced(bench: Bench, trace: Trace, source: str) -> bool:
    """Checks that a recovery has reduced the window."""
    before = window(trace, event(trace, "fast_retransmit") - SLACK)
    after = window(trace, event(trace, "recovered"))
    return bench.black_box("window after the recovery, of the one before", after / before, 0, KEPT, "", source)


def no_timeout(bench: Bench, trace: Trace, source: str) -> bool:
    """Checks that the retransmission timer does not expire."""
    return bench.black_box("timeouts", len(trace.events("timeout")), 0, 0, "", source)
