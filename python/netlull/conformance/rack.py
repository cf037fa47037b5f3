"""The rules of RACK-TLP, RFC 8985. Section numbers are its own. min_RTT is 100 ms, that of the handshake."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.conformance.frame import case
from netlull.conformance.recovery import (
    BULK,
    GAP,
    KEPT,
    PATH,
    RTT,
    SLACK,
    data,
    delayed,
    event,
    lost,
    no_timeout,
    packet,
    reduced,
    sent,
    sent_again,
    window,
    words,
)

if TYPE_CHECKING:
    from netlull.conformance.frame import Bench

_RFC = "RFC 8985"
_QUARTER = RTT / 4
"""The reordering window at first: min_RTT / 4."""
_WHEEL = 1 / 8
"""The lateness of a timer, of its span: the coarsest step of Linux's timer wheel."""
_TICKS = 8e-3
"""The lateness of any timer: two ticks of Linux's clock with 250 Hz."""
_MIN_RTO = {"tcp.min_rto": "1 s"}
_NO_TIMESTAMPS = {"tcp.timestamps": False}
"""With timestamps a receiver refuses segments that were sent before a retransmission and arrive after it (RFC 7323
section 5.3, PAWS), and a late segment that was sent again gives a long round trip."""


def _timed(bench: Bench, what: str, seen: float, due: float, most: float, span: float, source: str) -> bool:
    """Checks a time that a timer of a span sets: from `due`, until `most` and the lateness of the timer."""
    return bench.black_box(what, seen, due, most + span * _WHEEL + _TICKS, "s", source)


@case("R.1", "Loss by time", _RFC, f"{PATH}; three segments of data")
def by_time(bench: Bench) -> None:
    """Lose the first of three segments. The two SACKs are too few for a count."""
    trace = bench.run("2 s", {**data((0, 3)), **lost(2)})
    after = bench.mark(sent(trace, 1, 1), "loss detected") - sent(trace, 1)
    # Segment 3 arrives second: RACK.rtt = 100 ms + 2 * 0.6 ms. The segment is lost min_RTT / 4 later.
    due = RTT + 2 * GAP + _QUARTER
    _timed(bench, "segment 1 is sent again after", after, due, due + SLACK, _QUARTER, "6.2 step 5")
    sent_again(bench, trace, "6.2 step 5", 1)
    no_timeout(bench, trace, "6.2 step 5")


@case("R.2", "Three SACKed segments need no window", _RFC, f"{BULK}; the first two SACKs are lost")
def threshold(bench: Bench) -> None:
    """Lose segment 1, and the acknowledgements of segments 2 and 3. The next one reports three segments."""
    trace = bench.run("1 s", {**lost(2), **lost(2, 3, link="N2-N1")})
    after = bench.mark(sent(trace, 1, 1), "loss detected") - sent(trace, 1)
    # RACK.segs_sacked = 3 and no reordering was seen: RACK.reo_wnd = 0 with the SACK of the third segment that arrives.
    due = RTT + 3 * GAP
    bench.black_box("segment 1 is sent again after", after, due, due + SLACK, "s", "6.2 step 4")
    sent_again(bench, trace, "6.2 step 4", 1)
    no_timeout(bench, trace, "6.2 step 4")


@case("R.3", "Reordering within the window", _RFC, f"{PATH}; three segments, then eight at 0.5 s")
def reordering(bench: Bench) -> None:
    """Delay the first segment of each group by 15 ms. The window of 25 ms covers that."""
    # Segments 1 and 4, packets 2 and 5. The first delay shows reordering, so that seven SACKs do not end the wait.
    trace = bench.run("2 s", {**data((0, 3), (0.5, 8)), **delayed(15, 2, 5)})
    bench.mark(sent(trace, 4), "eight segments")
    sent_again(bench, trace, "6.2 steps 3 to 5")
    delivered = trace.result.flow("flow")["delivered_bytes"] / trace.segment_bytes
    bench.black_box("delivered in all", delivered, 11, 11, "segments", "6.2")


@case("R.4", "Loss after reordering", _RFC, f"{PATH}; three segments, then eight at 0.5 s")
def after_reordering(bench: Bench) -> None:
    """Delay segment 1 by 15 ms, then lose segment 4. Seven SACKs do not shorten the window."""
    trace = bench.run("2 s", {**data((0, 3), (0.5, 8)), **delayed(15, 2), **lost(5)})
    after = bench.mark(sent(trace, 4, 1), "loss detected") - sent(trace, 4)
    # RACK.rtt is that of the first SACK at least, and of the seventh at most.
    _timed(
        bench,
        "segment 4 is sent again after",
        after,
        RTT + GAP + _QUARTER,
        RTT + 7 * GAP + SLACK + _QUARTER,
        _QUARTER,
        "6.2 steps 3, 4",
    )
    sent_again(bench, trace, "6.2", 4)
    reduced(bench, trace, "9.3")
    no_timeout(bench, trace, "6.2")


@case("R.5", "D-SACKs widen the window", _RFC, f"{PATH}; two segments each 0.6 s, seven times")
def widening(bench: Bench) -> None:
    """Delay the first segment of six groups by 240 ms, which no window covers. Delay that of the seventh by 60 ms."""
    groups = 7
    # The congestion window is two segments from the first needless recovery on.
    times = [0.6 * group for group in range(groups)]
    # Each late segment is sent again, so every group has three packets after the SYN.
    packets = [2 + 3 * group for group in range(groups)]
    late = [
        {"flow": "flow", "packets": packets[:-1], "by": "240 ms"},
        {"flow": "flow", "packets": packets[-1:], "by": "60 ms"},
    ]
    settings = {**data(*((at, 2) for at in times)), "link.N1-N2.late": late, **_NO_TIMESTAMPS}
    trace = bench.run("5 s", settings)
    firsts = range(1, 2 * groups, 2)
    for group, number in enumerate(firsts, 1):
        start = bench.mark(sent(trace, number), f"group {group}")
        if group == groups:
            break
        after = sent(trace, number, 1) - start
        # The D-SACK of each group adds min_RTT / 4. From the fourth on the window would exceed SRTT, about 100 ms.
        span = min(group * _QUARTER, RTT)
        due = RTT + 2 * GAP + span
        what = f"group {group}: sent again after"
        _timed(bench, what, after, due, due + SLACK, span, "6.2 step 4: reo_wnd_mult, SRTT")
    sent_again(bench, trace, "6.2 step 4: the window of group 7 covers 60 ms", *firsts[:-1])


@case("R.6", "Loss of a retransmission", _RFC, BULK)
def retransmission(bench: Bench) -> None:
    """Lose segment 1 and its retransmission. Data sent after it reveals the second loss within a round trip."""
    once = bench.run("1 s", lost(2), note="to find the retransmission")
    trace = bench.run("3 s", lost(2, packet(once, 1, 1)), note="with its loss")
    first = bench.mark(sent(trace, 1, 1), "first retransmission")
    second = bench.mark(sent(trace, 1, 2), "second")
    sent_again(bench, trace, "6.2 step 5", 1, 1)
    # In recovery RACK.reo_wnd = 0 without reordering: RACK.rtt after the first, when later data is SACKed. New data
    # follows within 10 acknowledgements.
    bench.black_box("sent again after", second - first, RTT, RTT + 10 * GAP, "s", "6.2 step 5")
    reduced(bench, once, "9.3")
    twice = window(trace, event(trace, "recovered")) / window(once, event(once, "recovered"))
    bench.black_box("window after the second loss, of that after one", twice, 0, KEPT, "", "9.3; RFC 5681 section 4.3")
    no_timeout(bench, trace, "6.2 step 5")


@case("R.7", "Tail loss probe", _RFC, f"{PATH}; ten segments of data")
def tail(bench: Bench) -> None:
    """Lose segments 8, 9 and 10. No acknowledgement follows that of segment 7."""
    trace = bench.run("3 s", {**data((0, 10)), **lost(9, 10, 11)})
    probe = bench.mark(sent(trace, 10, 1), "probe")
    # PTO = 2 SRTT after the last acknowledgement, of the seventh packet. SRTT lies between its RTT and 100 ms.
    last = sent(trace, 1) + RTT + 7 * GAP
    longest = RTT + 7 * GAP
    _timed(bench, "probe after the last acknowledgement", probe - last, 2 * RTT, 2 * longest, 2 * longest, "7.2")
    sent_again(bench, trace, "7.3; 6.2 step 5", 10, 8, 9)
    # The SACK of the probe: segments 8 and 9 are older than RACK.rtt and the window.
    repaired = sent(trace, 8, 1) - probe
    bench.black_box("then segment 8 after", repaired, RTT + GAP, RTT + GAP + SLACK, "s", "7.4.1; 6.2 step 5")
    bench.black_box("recoveries", len(trace.events("fast_retransmit")), 1, 1, "", "7.4.1")
    reduced(bench, trace, "9.3")
    no_timeout(bench, trace, "7.3")


@case("R.8", "A probe that repairs the loss", _RFC, f"{PATH}; one segment at 0 s, 0.6 s and 1.6 s")
def repair(bench: Bench) -> None:
    """Lose the second segment, which is alone. The probe repairs it, and the window is reduced."""
    trace = bench.run("3 s", {**data((0, 1), (0.6, 1), (1.6, 1)), **lost(3), **_MIN_RTO})
    probe = bench.mark(sent(trace, 2, 1), "probe")
    # With one segment in flight a sender may add TLP.max_ack_delay, here at most 200 ms.
    most = 2 * (RTT + GAP + SLACK) + 0.2
    _timed(bench, "probe after the segment", probe - sent(trace, 2), 2 * RTT, most, most, "7.2")
    sent_again(bench, trace, "7.3", 2)
    # The acknowledgement of segment 3 covers more than TLP.end_seq, and no D-SACK came.
    end = bench.mark(sent(trace, 3), "segment 3") + RTT + GAP + SLACK
    before, after = window(trace, sent(trace, 3) - SLACK), window(trace, end)
    bench.black_box(
        "window after segment 3, of the one before", after / before, 0, KEPT, "", "7.4.2: congestion control"
    )
    no_timeout(bench, trace, "7.3")


@case("R.9", "A probe that was not needed", _RFC, f"{PATH}; one segment at 0 s, 0.6 s and 1.6 s")
def needless(bench: Bench) -> None:
    """Lose the acknowledgement of the second segment. A D-SACK answers the probe, and the window stays."""
    # Acknowledgements: 1 is the SYN-ACK, 2 that of the first segment.
    settings = {**data((0, 1), (0.6, 1), (1.6, 1)), **lost(3, link="N2-N1"), **_MIN_RTO}
    trace = bench.run("3 s", settings)
    bench.mark(sent(trace, 2, 1), "probe")
    sent_again(bench, trace, "7.3", 2)
    end = bench.mark(sent(trace, 3), "segment 3") + RTT + GAP + SLACK
    before, after = window(trace, sent(trace, 3) - SLACK), window(trace, end)
    bench.black_box("window after segment 3, of the one before", after / before, 1, math.inf, "", "7.4.2: D-SACK")
    no_timeout(bench, trace, "7.3")


@case("R.10", "A probe of new data", _RFC, f"{BULK}; the first ten segments are lost")
def new_data(bench: Bench) -> None:
    """Lose the whole first window. The probe is a new segment beyond it, and its SACK reveals the loss."""
    trace = bench.run("3 s", lost(*range(2, 12)))
    probe = bench.mark(sent(trace, 11), "probe")
    most = 2 * (RTT + SLACK)
    _timed(bench, "new segment 11 after the first window", probe - sent(trace, 10), 2 * RTT, most, most, "7.2")
    order = [number for _, number in trace.segments][10:12]
    bench.says("order after the first window", words(order), "11, 1", "7.3", kind="black box")
    repaired = sent(trace, 1, 1) - probe
    bench.black_box("segment 1 is sent again after the probe", repaired, RTT, RTT + 2 * GAP, "s", "6.2 step 5")
    sent_again(bench, trace, "6.2 step 5", *range(1, 11))
    reduced(bench, trace, "9.3")
    no_timeout(bench, trace, "7.3")


@case("R.11", "One probe, then the timer", _RFC, f"{PATH}; one segment of data")
def probe_lost(bench: Bench) -> None:
    """Lose the only segment and its probe. No second probe follows, and the timer starts again at the probe."""
    trace = bench.run("4 s", {**data((0, 1)), **lost(2, 3), **_MIN_RTO})
    probe = bench.mark(sent(trace, 1, 1), "probe")
    again = bench.mark(sent(trace, 1, 2), "timeout")
    most = 2 * RTT + 0.2
    _timed(bench, "probe after", probe - sent(trace, 1), 2 * RTT, most, most, "7.2")
    # RTO: 1 s, or with Linux's lower bound SRTT + 1 s.
    most = 1 + RTT
    _timed(bench, "sent a third time after the probe", again - probe, 1, most, most, "7.3: the timer is armed again")
    sent_again(bench, trace, "7.3", 1, 1)


@case("R.12", "A probe instead of an early timeout", _RFC, f"{PATH}; one segment of data; min_rto 200 ms")
def early(bench: Bench) -> None:
    """Lose the only segment, where the timer would expire no later than the probe. A probe is sent at that time."""
    trace = bench.run("2 s", {**data((0, 1)), **lost(2), "tcp.min_rto": "200 ms"})
    probe = bench.mark(sent(trace, 1, 1), "probe")
    # RFC 6298: RTO = R + 4 R / 2 = 300 ms after the first sample, that of the handshake.
    most = 3 * RTT + SLACK
    _timed(bench, "sent again after", probe - sent(trace, 1), 2 * RTT, most, most, "7.2")
    sent_again(bench, trace, "7.2", 1)
    no_timeout(bench, trace, "7.2: TCP_RTO_expiration()")
    least = float(trace.cwnd().between(sent(trace, 1), trace.end_s).min()) / trace.segment_bytes
    bench.black_box("least window", least, 10, math.inf, "segments", "7.3")


@case(
    "R.13", "A timeout marks old segments only", _RFC, f"{PATH}; three segments, one at 0.6 s, five before the timeout"
)
def marking(bench: Bench) -> None:
    """Delay segment 1 by 15 ms. Lose segment 4 and its probe, and send five segments 10 ms before its timeout.

    They are late by 15 ms, so the retransmission is acknowledged before them.
    """
    # Segment 4 is packet 5, and its probe packet 6. Lost packets have no number where they are delayed.
    usual = {**lost(5, 6), **_MIN_RTO, **_NO_TIMESTAMPS}
    alone = bench.run("4 s", {**usual, **data((0, 3), (0.6, 1)), **delayed(15, 2)}, note="to find the timeout")
    at = event(alone, "timeout")
    at = 2.0 if math.isnan(at) else at
    settings = {**usual, **data((0, 3), (0.6, 1), (at - 0.01, 5)), **delayed(15, 2, *range(5, 10))}
    trace = bench.run("4 s", settings, note="with new segments")
    start = sent(trace, 5)
    again = bench.mark(event(trace, "timeout"), "timeout")
    bench.black_box("timeout after the five segments", again - start, 0.005, 0.015, "s", "6.3")
    # The others were sent 10 ms before: less than RACK.rtt + min_RTT / 4 = 125 ms. The acknowledgement of segment 4
    # comes 110 ms after them, theirs come 115 to 118 ms after them, before their time is over.
    sent_again(bench, trace, "6.3: the first segment, RACK.rtt + RACK.reo_wnd", 4, 4)


@case("R.14", "One timer", _RFC, f"{PATH}; two segments of data, at first after eight equal round trips")
def one_timer(bench: Bench) -> None:
    """Lose the first of two segments, and delay the second by 80 ms. Its SACK comes shortly before the probe is due.

    After equal round trips the RTO of 200 ms would expire then, too.
    """
    # The SACK arrives after RACK.rtt = 100 ms + 0.6 ms + 80 ms. The timer of the loss stands at 25 ms later, which is
    # after 2 SRTT = 200 ms. It replaces the other timers.
    due = RTT + GAP + 0.08 + _QUARTER
    for equal in (8, 0):
        bursts = [(0.3 * nth, 1) for nth in range(equal)]
        number = equal + 1
        # A lost packet has no number where packets are delayed.
        late = {**lost(number + 1), **delayed(80, number + 1)}
        settings = {**data(*bursts, (0.3 * equal, 2)), **late, "tcp.min_rto": "200 ms" if equal else "1 s"}
        trace = bench.run("4 s", settings, note=f"after {equal} equal round trips")
        first = sent(trace, number)
        bench.mark(first + 2 * RTT, "2 SRTT")
        after = bench.mark(sent(trace, number, 1), "loss detected") - first
        what = f"segment {number} is sent again after"
        _timed(bench, what, after, due, due + SLACK, _QUARTER, "6.2 step 5; 8")
        sent_again(bench, trace, "8; 7.2: RACK.segs_sacked", number)
        no_timeout(bench, trace, "8")


@case(
    "R.15", "No second probe without a round trip", _RFC, f"{PATH}; one segment at 0 s, 0.6 s and 1.4 s; no timestamps"
)
def unmeasured(bench: Bench) -> None:
    """Lose the acknowledgement of the second segment, so that a D-SACK answers its probe. Lose the third segment.

    The acknowledgement of a segment that was sent again gives no round trip (RFC 6298 section 3). The timer repairs the
    third segment.
    """
    # Acknowledgements: 1 is the SYN-ACK, 2 that of the first segment. Packet 4 is the probe, packet 5 segment 3.
    bursts = data((0, 1), (0.6, 1), (1.4, 1))
    trace = bench.run("5 s", {**bursts, **lost(3, link="N2-N1"), **lost(5), **_MIN_RTO, **_NO_TIMESTAMPS})
    bench.mark(sent(trace, 2, 1), "probe")
    start = bench.mark(sent(trace, 3), "segment 3")
    again = bench.mark(sent(trace, 3, 1), "timeout")
    sent_again(bench, trace, "7.3", 2, 3)
    # RTO: 1 s, or with Linux's lower bound SRTT + 1 s, from the segment or from the time of the skipped probe.
    most = 2 * RTT + 0.2 + 1 + RTT
    _timed(bench, "segment 3 is sent again after", again - start, 1, most, most, "7.3: the timer is armed again")
