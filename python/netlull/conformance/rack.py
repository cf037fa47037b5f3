"""The rules of RACK-TLP, RFC 8985. Section numbers are its own.

The network is `shipped/conformance/path.toml`: 20 Mb/s and 100 ms. A packet of 1500 bytes takes 0.6 ms, so
acknowledgements arrive 0.6 ms apart. min_RTT is 100 ms, that of the handshake. Segments of the data are numbered from
1. Packet 1 is the SYN, so segment n is packet n + 1 when it is first sent. DupThresh is 3.

A timer may expire late by an eighth of its time, the coarsest step of Linux's timer wheel.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.conformance.frame import case
from netlull.conformance.sack import data, lost, no_timeout, packet, sent, sent_again, words

if TYPE_CHECKING:
    from netlull.conformance.frame import Bench
    from netlull.conformance.trace import Trace

_RFC = "RFC 8985"
_PATH = "20 Mb/s, 100 ms"
_BULK = f"{_PATH}; bulk data"
_RTT = 0.1
_GAP = 0.6e-3
_QUARTER = _RTT / 4
"""The reordering window at first: min_RTT / 4."""
_SLACK = 0.1e-3
"""The time of a packet and its acknowledgement on the fast links, and of the acknowledgement on the bottleneck."""
_LATE = 1 / 8
_MIN_RTO = {"tcp.min_rto": "1 s"}
_NO_TIMESTAMPS = {"tcp.timestamps": False}
"""With timestamps a receiver refuses segments that were sent before a retransmission and arrive after it (RFC 7323
section 5.3, PAWS), and a late segment that was sent again gives a long round trip."""


def _late(by_ms: int, *packets: int) -> dict[str, object]:
    """A delay of these packets of the data."""
    return {"link.N1-N2.late": [{"flow": "flow", "packets": list(packets), "by": f"{by_ms} ms"}]}


def _timed(bench: Bench, what: str, seen: float, due: float, most: float, source: str) -> bool:
    """Checks a time that a timer sets: from `due`, until `most` and the lateness of a clock."""
    return bench.black_box(what, seen, due, most * (1 + _LATE), "s", source)


@case("R.1", "Loss by time", _RFC, f"{_PATH}; three segments of data")
def by_time(bench: Bench) -> None:
    """Lose the first of three segments. The two SACKs are too few for a count."""
    trace = bench.run("2 s", {**data((0, 3)), **lost(2)})
    after = bench.mark(sent(trace, 1, 1), "loss detected") - sent(trace, 1)
    # Segment 3 arrives second: RACK.rtt = 100 ms + 2 * 0.6 ms. The segment is lost min_RTT / 4 later.
    due = _RTT + 2 * _GAP + _QUARTER
    _timed(bench, "segment 1 is sent again after", after, due, due + _SLACK, "6.2 step 5")
    no_timeout(bench, trace, "6.2 step 5")


@case("R.2", "Three SACKed segments need no window", _RFC, f"{_BULK}; the first two SACKs are lost")
def threshold(bench: Bench) -> None:
    """Lose segment 1, and the acknowledgements of segments 2 and 3. The next one reports three segments."""
    trace = bench.run("1 s", {**lost(2), **lost(2, 3, link="N2-N1")})
    after = bench.mark(sent(trace, 1, 1), "loss detected") - sent(trace, 1)
    # RACK.segs_sacked = 3 and no reordering was seen: RACK.reo_wnd = 0 with the SACK of the third segment that arrives.
    due = _RTT + 3 * _GAP
    bench.black_box("segment 1 is sent again after", after, due, due + _SLACK, "s", "6.2 step 4")
    no_timeout(bench, trace, "6.2 step 4")


@case("R.3", "Reordering within the window", _RFC, f"{_PATH}; three segments, then eight at 0.5 s")
def reordering(bench: Bench) -> None:
    """Delay the first segment of each group by 15 ms. The window of 25 ms covers that."""
    # Segments 1 and 4, packets 2 and 5. The first delay shows reordering, so that seven SACKs do not end the wait.
    trace = bench.run("2 s", {**data((0, 3), (0.5, 8)), **_late(15, 2, 5)})
    bench.mark(sent(trace, 4), "eight segments")
    bench.says("segments sent again", words(sent_again(trace)), "none", "6.2 steps 3 to 5", kind="black box")
    bench.black_box("delivered in all", len({number for _, number in trace.segments}), 11, 11, "segments", "6.2")


@case("R.4", "Loss after reordering", _RFC, f"{_PATH}; three segments, then eight at 0.5 s")
def after_reordering(bench: Bench) -> None:
    """Delay segment 1 by 15 ms, then lose segment 4. Seven SACKs do not shorten the window."""
    trace = bench.run("2 s", {**data((0, 3), (0.5, 8)), **_late(15, 2), **lost(5)})
    after = bench.mark(sent(trace, 4, 1), "loss detected") - sent(trace, 4)
    # RACK.rtt is that of the first SACK at least, and of the seventh at most.
    _timed(
        bench,
        "segment 4 is sent again after",
        after,
        _RTT + _GAP + _QUARTER,
        _RTT + 7 * _GAP + _SLACK + _QUARTER,
        "6.2 steps 3, 4",
    )
    no_timeout(bench, trace, "6.2")


@case("R.5", "D-SACKs widen the window", _RFC, f"{_PATH}; three segments each 0.6 s, seven times")
def widening(bench: Bench) -> None:
    """Delay the first segment of six groups by 240 ms, which no window covers. Delay that of the seventh by 60 ms."""
    groups = 7
    times = [0.6 * group for group in range(groups)]
    # Each late segment is sent again, so every group has four packets after the SYN.
    firsts = [2 + 4 * group for group in range(groups)]
    late = [
        {"flow": "flow", "packets": firsts[:-1], "by": "240 ms"},
        {"flow": "flow", "packets": firsts[-1:], "by": "60 ms"},
    ]
    settings = {**data(*((at, 3) for at in times)), "link.N1-N2.late": late, **_NO_TIMESTAMPS}
    trace = bench.run("5 s", settings)
    for group in range(groups - 1):
        number = 1 + 3 * group
        after = bench.mark(sent(trace, number, 1), f"{group + 1}") - sent(trace, number)
        # The D-SACK of each group adds min_RTT / 4. From the fourth on the window would exceed SRTT, about 100 ms.
        window = min((group + 1) * _QUARTER, _RTT)
        # RACK.rtt is that of the second or the third packet of the group.
        due, most = _RTT + 2 * _GAP + window, _RTT + 3 * _GAP + _SLACK + window
        what = f"group {group + 1}: sent again after"
        _timed(bench, what, after, due, most, "6.2 step 4: reo_wnd_mult, SRTT")
    again = len(trace.sends(3 * groups - 2))
    bench.black_box("group 7, late by 60 ms: times that the segment is sent", again, 1, 1, "", "6.2 step 4")


@case("R.6", "Loss of a retransmission", _RFC, _BULK)
def retransmission(bench: Bench) -> None:
    """Lose segment 1 and its retransmission. Data sent after it reveals the second loss within a round trip."""
    once = bench.run("1 s", lost(2), note="to find the retransmission")
    trace = bench.run("3 s", lost(2, packet(once, 1, 1)), note="with its loss")
    first = bench.mark(sent(trace, 1, 1), "first retransmission")
    second = bench.mark(sent(trace, 1, 2), "second")
    # In recovery RACK.reo_wnd = 0 without reordering: RACK.rtt after the first, when later data is SACKed. New data
    # follows within 10 acknowledgements.
    bench.black_box("sent again after", second - first, _RTT, _RTT + 10 * _GAP, "s", "6.2 step 5")
    no_timeout(bench, trace, "6.2 step 5")


@case("R.7", "Tail loss probe", _RFC, f"{_PATH}; ten segments of data")
def tail(bench: Bench) -> None:
    """Lose segments 8, 9 and 10. No acknowledgement follows that of segment 7."""
    trace = bench.run("3 s", {**data((0, 10)), **lost(9, 10, 11)})
    probe = bench.mark(sent(trace, 10, 1), "probe")
    # PTO = 2 SRTT after the last acknowledgement, of the seventh packet. SRTT lies between its RTT and 100 ms.
    last = sent(trace, 1) + _RTT + 7 * _GAP
    longest = _RTT + 7 * _GAP
    _timed(bench, "probe after the last acknowledgement", probe - last, 2 * _RTT, 2 * longest, "7.2")
    order = words(sent_again(trace))
    bench.says("segments sent again", order, "10, 8, 9", "7.3; 6.2 step 5", kind="black box")
    # The SACK of the probe: segments 8 and 9 are older than RACK.rtt and the window.
    repaired = sent(trace, 8, 1) - probe
    bench.black_box("then segment 8 after", repaired, _RTT + _GAP, _RTT + _GAP + _SLACK, "s", "7.4.1; 6.2 step 5")
    bench.black_box("recoveries", len(trace.events("fast_retransmit")), 1, 1, "", "7.4.1")
    no_timeout(bench, trace, "7.3")


def _window(trace: Trace, time_s: float) -> float:
    return trace.cwnd().at(time_s) / trace.segment_bytes


@case("R.8", "A probe that repairs the loss", _RFC, f"{_PATH}; one segment at 0 s, 0.6 s and 1.6 s")
def repair(bench: Bench) -> None:
    """Lose the second segment, which is alone. The probe repairs it, and the window hears of the loss."""
    trace = bench.run("3 s", {**data((0, 1), (0.6, 1), (1.6, 1)), **lost(3), **_MIN_RTO})
    probe = bench.mark(sent(trace, 2, 1), "probe")
    # With one segment in flight a sender may add TLP.max_ack_delay, here at most 200 ms.
    _timed(bench, "probe after the segment", probe - sent(trace, 2), 2 * _RTT, 2 * (_RTT + _GAP + _SLACK) + 0.2, "7.2")
    bench.black_box("times that segment 2 is sent", len(trace.sends(2)), 2, 2, "", "7.3")
    # The acknowledgement of segment 3 covers more than TLP.end_seq, and no D-SACK came.
    end = sent(trace, 3) + _RTT + _GAP + _SLACK
    before, after = _window(trace, sent(trace, 3) - _SLACK), _window(trace, end)
    bench.black_box(
        "window after segment 3, of the one before", after / before, 0, 0.75, "", "7.4.2: congestion control"
    )
    no_timeout(bench, trace, "7.3")


@case("R.9", "A probe that was not needed", _RFC, f"{_PATH}; one segment at 0 s, 0.6 s and 1.6 s")
def needless(bench: Bench) -> None:
    """Lose the acknowledgement of the second segment. A D-SACK answers the probe, and the window stays."""
    # Acknowledgements: 1 is the SYN-ACK, 2 that of the first segment.
    settings = {**data((0, 1), (0.6, 1), (1.6, 1)), **lost(3, link="N2-N1"), **_MIN_RTO}
    trace = bench.run("3 s", settings)
    bench.mark(sent(trace, 2, 1), "probe")
    bench.says("segments sent again", words(sent_again(trace)), "2", "7.3", kind="black box")
    end = sent(trace, 3) + _RTT + _GAP + _SLACK
    before, after = _window(trace, sent(trace, 3) - _SLACK), _window(trace, end)
    bench.black_box("window after segment 3, of the one before", after / before, 1, math.inf, "", "7.4.2: D-SACK")
    no_timeout(bench, trace, "7.3")


@case("R.10", "A probe of new data", _RFC, f"{_BULK}; the first ten segments are lost")
def new_data(bench: Bench) -> None:
    """Lose the whole first window. The probe is a new segment beyond it, and its SACK reveals the loss."""
    trace = bench.run("3 s", lost(*range(2, 12)))
    probe = bench.mark(sent(trace, 11), "probe")
    _timed(
        bench, "new segment 11 after the first window", probe - sent(trace, 10), 2 * _RTT, 2 * (_RTT + _SLACK), "7.2"
    )
    order = [number for _, number in trace.segments][10:12]
    bench.says("order after the first window", words(order), "11, 1", "7.3", kind="black box")
    repaired = sent(trace, 1, 1) - probe
    bench.black_box("segment 1 is sent again after the probe", repaired, _RTT, _RTT + 2 * _GAP, "s", "6.2 step 5")
    no_timeout(bench, trace, "7.3")


@case("R.11", "One probe, then the timer", _RFC, f"{_PATH}; one segment of data")
def probe_lost(bench: Bench) -> None:
    """Lose the only segment and its probe. No second probe follows, and the timer starts again at the probe."""
    trace = bench.run("4 s", {**data((0, 1)), **lost(2, 3), **_MIN_RTO})
    probe = bench.mark(sent(trace, 1, 1), "probe")
    again = bench.mark(sent(trace, 1, 2), "timeout")
    _timed(bench, "probe after", probe - sent(trace, 1), 2 * _RTT, 2 * _RTT + 0.2, "7.2")
    # RTO: 1 s, or with Linux's lower bound SRTT + 1 s.
    _timed(bench, "sent a third time after the probe", again - probe, 1, 1 + _RTT, "7.3: the timer is armed again")
    bench.says("it is a timeout", bool(again in trace.events("timeout")), True, "7.3", kind="black box")
    bench.black_box("times that the segment is sent", len(trace.sends(1)), 3, 3, "", "7.3")


@case("R.12", "A probe instead of an early timeout", _RFC, f"{_PATH}; one segment of data; min_rto 200 ms")
def early(bench: Bench) -> None:
    """Lose the only segment, where the timer would expire no later than the probe. A probe is sent at that time."""
    trace = bench.run("2 s", {**data((0, 1)), **lost(2), "tcp.min_rto": "200 ms"})
    probe = bench.mark(sent(trace, 1, 1), "probe")
    # RFC 6298: RTO = R + 4 R / 2 = 300 ms after the first sample, that of the handshake.
    _timed(bench, "sent again after", probe - sent(trace, 1), 2 * _RTT, 3 * _RTT + _SLACK, "7.2")
    no_timeout(bench, trace, "7.2: TCP_RTO_expiration()")
    least = float(trace.cwnd().between(sent(trace, 1), trace.end_s).min()) / trace.segment_bytes
    bench.black_box("least window", least, 10, math.inf, "segments", "7.3")


@case(
    "R.13", "A timeout marks old segments only", _RFC, f"{_PATH}; three segments, one at 0.6 s, five before the timeout"
)
def marking(bench: Bench) -> None:
    """Delay segment 1 by 15 ms. Lose segment 4 and its probe, and send five segments 10 ms before its timeout.

    They are late by 15 ms, so the retransmission is acknowledged before them.
    """
    # Segment 4 is packet 5, and its probe packet 6. Lost packets have no number where they are delayed.
    usual = {**lost(5, 6), **_MIN_RTO, **_NO_TIMESTAMPS}
    alone = bench.run("4 s", {**usual, **data((0, 3), (0.6, 1)), **_late(15, 2)}, note="to find the timeout")
    expired = alone.events("timeout")
    at = float(expired[0]) if len(expired) else 2.0
    settings = {**usual, **data((0, 3), (0.6, 1), (at - 0.01, 5)), **_late(15, 2, *range(5, 10))}
    trace = bench.run("4 s", settings, note="with new segments")
    start = sent(trace, 5)
    again = bench.mark(float(trace.events("timeout")[0]) if len(trace.events("timeout")) else math.nan, "timeout")
    bench.black_box("timeout after the five segments", again - start, 0.005, 0.015, "s", "6.3")
    bench.black_box("times that segment 4 is sent", len(trace.sends(4)), 3, 3, "", "6.3: the first segment")
    # They were sent 10 ms before: less than RACK.rtt + min_RTT / 4 = 125 ms. The acknowledgement of segment 4 comes
    # 110 ms after them, theirs come 115 to 118 ms after them, before their time is over.
    late = sum(len(trace.sends(number)) for number in range(5, 10))
    bench.black_box("times that the five segments are sent", late, 5, 5, "", "6.3: RACK.rtt + RACK.reo_wnd")


@case("R.14", "No probe while the reordering timer runs", _RFC, f"{_PATH}; two segments of data")
def one_timer(bench: Bench) -> None:
    """Lose the first of two segments, and delay the second by 80 ms. Its SACK comes shortly before the probe is due."""
    # Segment 1 is packet 2. A lost packet has no number where packets are delayed.
    trace = bench.run("2 s", {**data((0, 2)), **lost(2), **_late(80, 2)})
    first = sent(trace, 1)
    bench.mark(first + 2 * _RTT, "2 SRTT")
    # The SACK arrives after RACK.rtt = 100 ms + 0.6 ms + 80 ms. The timer of the loss stands at 25 ms later, which is
    # after 2 SRTT = 200 ms. It replaces the timer of the probe.
    due = _RTT + _GAP + 0.08 + _QUARTER
    after = bench.mark(sent(trace, 1, 1), "loss detected") - first
    bench.black_box("probes", len(trace.events("tail_probe")), 0, 0, "", "8; 7.2: RACK.segs_sacked")
    _timed(bench, "segment 1 is sent again after", after, due, due + _SLACK, "6.2 step 5, 8")
