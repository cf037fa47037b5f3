"""The rules of loss recovery with SACK, RFC 6675. Section numbers are its own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.conformance.frame import case
from netlull.conformance.recovery import (
    BULK,
    GAP,
    PATH,
    RTT,
    SLACK,
    data,
    event,
    lost,
    no_timeout,
    packet,
    sent,
    sent_again,
    window,
    words,
)

if TYPE_CHECKING:
    from netlull.conformance.frame import Bench
    from netlull.conformance.trace import Trace

_RFC = "RFC 6675"
_TEN = f"{PATH}; ten segments of data"


def _third(bench: Bench, trace: Trace, source: str) -> None:
    """Checks that segment 1 is sent again when three segments above it are SACKed."""
    # The third segment that arrives leaves the bottleneck 3 * 0.6 ms after the first bit, and its SACK takes 100 ms
    # in all. The fourth comes 0.6 ms later.
    after = sent(trace, 1, 1) - sent(trace, 1)
    bench.black_box("segment 1 is sent again after", after, RTT + 3 * GAP, RTT + 3 * GAP + SLACK, "s", source)


@case("S.1", "Loss by three SACKed segments", _RFC, BULK)
def detection(bench: Bench) -> None:
    """Send three segments and lose the first: two SACKs are no loss. Then lose the first segment of bulk data."""
    few = bench.run("3 s", {**data((0, 3)), **lost(2)}, note="three segments")
    bench.black_box("fast retransmissions with two SACKs", len(few.events("fast_retransmit")), 0, 0, "", "4 IsLost")
    # No other timer than that of RFC 6298, which is at least a round trip and 4 * 50 ms.
    waited = sent(few, 1, 1) - sent(few, 1)
    bench.black_box("segment 1 is sent again by the timer after", waited, 2 * RTT, math.inf, "s", "4 IsLost")
    sent_again(bench, few, "4 IsLost", 1)
    trace = bench.run("1 s", lost(2), note="bulk data")
    bench.mark(sent(trace, 1, 1), "loss detected")
    _third(bench, trace, "4 IsLost, 5 step 4.3")
    sent_again(bench, trace, "4 IsLost", 1)


@case("S.2", "Segments count, not acknowledgements", _RFC, f"{BULK}; the first two SACKs are lost")
def lost_acknowledgements(bench: Bench) -> None:
    """Lose segment 1, and the acknowledgements of segments 2 and 3. The next one reports three segments."""
    # Packet 1 of the acknowledgements is the SYN-ACK.
    trace = bench.run("1 s", {**lost(2), **lost(2, 3, link="N2-N1")})
    bench.mark(sent(trace, 1, 1), "loss detected")
    _third(bench, trace, "4 IsLost, 5 step 2")
    sent_again(bench, trace, "5 step 2", 1)
    no_timeout(bench, trace, "5 step 2")


@case("S.3", "New data before the loss is known", _RFC, BULK)
def limited_transmit(bench: Bench) -> None:
    """Lose segment 1. Each of the first two SACKs releases a new segment."""
    trace = bench.run("1 s", lost(2))
    first = sent(trace, 1)
    # pipe = 10 - 1, then 11 - 2 segments, of a window of 10.
    for nth in (1, 2):
        after = bench.mark(sent(trace, 10 + nth), f"segment {10 + nth}") - first
        due = RTT + nth * GAP
        bench.black_box(f"segment {10 + nth} is sent after", after, due, due + SLACK, "s", "5 step 3.3")
    sent_again(bench, trace, "5 step 3", 1)


@case("S.4", "Half the window, then one segment for each SACK", _RFC, BULK)
def halving(bench: Bench) -> None:
    """Lose segment 1, and follow the data in flight until its retransmission is acknowledged."""
    trace = bench.run("1 s", lost(2))
    start = bench.mark(sent(trace, 1, 1), "recovery")
    end = bench.mark(event(trace, "recovered"), "recovered")
    # Step 4.2: FlightSize is 10, without the segments 11 and 12 of limited transmit. cwnd = 5.
    bench.black_box("window in recovery", window(trace, start + GAP / 2), 4.5, 5, "segments", "5 step 4.2")
    # SetPipe: of 12 segments 3 are SACKed and 1 is lost, which is sent again: 12 - 3 - 1 + 1 = 9. Segments 5 to 8
    # bring it to 5. Segment 9, the fifth SACK from here, makes room. Without limited transmit it is the third.
    before = trace.sent_before(start - SLACK)
    sacks = before - 7
    silent = min((at for at, _ in trace.segments if at > start), default=math.nan) - start
    bench.black_box("silence after it", silent, sacks * GAP - SLACK, sacks * GAP + SLACK, "s", "4 SetPipe, 5 step C")
    # SACKs of segments 9, 10, 11 and 12 release one segment each; then the retransmission is acknowledged.
    new = [number for at, number in trace.segments if start < at < start + RTT + GAP]
    expected = range(before + 1, before + 5)
    bench.says("new segments in recovery", words(new), words(expected), "5 step C", kind="black box")
    flight = trace.inflight().between(start + silent, end - SLACK).max() / trace.segment_bytes
    bench.black_box("most data in flight after the silence", float(flight), 4, 5, "segments", "5 step C")
    bench.black_box("window after the recovery", window(trace, end), 4.5, 5, "segments", "5 step 4.2")
    sent_again(bench, trace, "5", 1)


@case("S.5", "Lost segments before new data", _RFC, BULK)
def lost_first(bench: Bench) -> None:
    """Lose segments 1 and 5, and see the order of the segments in recovery."""
    trace = bench.run("1 s", lost(2, 6))
    start = bench.mark(sent(trace, 1, 1), "recovery")
    # pipe is 12 - 3 - 1 + 1 = 9. SACKs of 6 and 7 bring it to 7. That of 8 is the third above segment 5, which is
    # lost: 5. That of 9 makes room: four acknowledgements after the start, or three without limited transmit.
    before = trace.sent_before(start - SLACK)
    sacks = max(before - 8, 3)
    after = sent(trace, 5, 1) - start
    bench.black_box(
        "segment 5 is sent again after", after, sacks * GAP - SLACK, sacks * GAP + SLACK, "s", "4 NextSeg (1)"
    )
    order = [number for at, number in trace.segments if at > start][:2]
    bench.says("order after segment 1", words(order), words([5, before + 1]), "4 NextSeg (1), (2)", kind="black box")
    sent_again(bench, trace, "4 NextSeg (1)", 1, 5)
    no_timeout(bench, trace, "5")


@case("S.6", "A hole that is not lost yet", _RFC, _TEN)
def hole(bench: Bench) -> None:
    """Lose segments 1 and 7. No new data is left, so room in the window goes to segment 7 before it counts as lost."""
    trace = bench.run("2 s", {**data((0, 10)), **lost(2, 8)})
    start = bench.mark(sent(trace, 1, 1), "recovery")
    # pipe is 10 - 3 - 1 + 1 = 7, the window 5. SACKs of 5 and 6 bring pipe to 5, that of 8 to 4: the third after the
    # start. Segment 7 has one SACKed segment above it. With that of 10 it would be lost, two acknowledgements later.
    after = bench.mark(sent(trace, 7, 1), "segment 7") - start
    bench.black_box("segment 7 is sent again after", after, 3 * GAP - SLACK, 3 * GAP + SLACK, "s", "4 NextSeg (3)")
    # With the acknowledgement of segment 1, rule 4 allows a copy of segment 7.
    order = [number for at, number in trace.segments if at >= start][:2]
    bench.says("order from the start of recovery", words(order), "1, 7", "4 NextSeg (3)", kind="black box")
    bench.black_box("times that segment 7 is sent", len(trace.sends(7)), 2, 3, "", "4 NextSeg (4)")
    others = [number for number in range(2, 11) if number != 7 and len(trace.sends(number)) > 1]
    bench.says("others sent again", words(others), "none", "4 NextSeg (3)", kind="black box")
    no_timeout(bench, trace, "4 NextSeg (3)")


@case("S.7", "Rescue of the end of the data", _RFC, _TEN)
def rescue(bench: Bench) -> None:
    """Lose segments 1, 9 and 10. The last one is sent again when the first retransmission is acknowledged."""
    trace = bench.run("2 s", {**data((0, 10)), **lost(2, 10, 11)})
    start = bench.mark(sent(trace, 1, 1), "recovery")
    # Step 4.3 sets RescueRxt to the end of segment 1, "to prevent [...] a premature rescue retransmission". HighACK is
    # larger first with the acknowledgement of segment 8, a round trip and one packet after the start.
    after = bench.mark(sent(trace, 10, 1), "rescue") - start
    bench.black_box(
        "segment 10 is sent again after", after, RTT + GAP, RTT + GAP + SLACK, "s", "4 NextSeg (4), 5 step 4.3"
    )
    # Its SACK makes segment 9 a hole: rule 3.
    last = sent(trace, 9, 1) - sent(trace, 10, 1)
    bench.black_box("then segment 9 after", last, RTT + GAP, RTT + GAP + SLACK, "s", "4 NextSeg (3)")
    sent_again(bench, trace, "4 NextSeg (4)", 1, 10, 9)
    no_timeout(bench, trace, "4 NextSeg (4)")


@case("S.8", "One reduction for each window with losses", _RFC, BULK)
def reductions(bench: Bench) -> None:
    """Lose segments 1 and 5 of one window. Then lose segment 1, and segment 13, which is sent in recovery."""
    once = bench.run("2 s", lost(2, 6), note="in one window")
    # Both lie below RecoveryPoint, the end of segment 12.
    bench.black_box("recoveries, losses in one window", len(once.events("fast_retransmit")), 1, 1, "", "5 step 4.1, B")
    bench.black_box("window after it", window(once, event(once, "recovered")), 4.5, 5, "segments", "5 step 4.2, A")
    sent_again(bench, once, "5 step B", 1, 5)
    no_timeout(bench, once, "5 step B")
    # Packets 2 to 13 are segments 1 to 12, 14 is the retransmission, 15 segment 13.
    twice = bench.run("1 s", lost(2, 15), note="in two windows")
    bench.mark(event(twice, "fast_retransmit"), "first")
    bench.mark(event(twice, "fast_retransmit", 1), "second")
    bench.black_box(
        "recoveries, losses in two windows", len(twice.events("fast_retransmit")), 2, 2, "", "5 step A, 4.1"
    )
    # Segments 13 to 17 are in flight at the second loss, 18 and 19 are of limited transmit: 5 / 2. Some
    # stacks count whole segments.
    second = window(twice, event(twice, "recovered", 1))
    bench.black_box("window after the second", second, 2, 2.5, "segments", "5 step 4.2")
    sent_again(bench, twice, "5 step A, B", 1, 13)


@case("S.9", "A timeout ends the recovery", _RFC, BULK)
def timeout(bench: Bench) -> None:
    """Lose segments 1 and 5 and their retransmissions. Only the timer repairs them; all other segments are SACKed."""
    once = bench.run("1 s", lost(2, 6), note="to find the retransmissions")
    trace = bench.run("2 s", lost(2, 6, packet(once, 1, 1), packet(once, 5, 1)), note="with their loss")
    at = bench.mark(event(trace, "timeout"), "timeout")
    bench.black_box("timeouts", len(trace.events("timeout")), 1, 1, "", "4 NextSeg (1.a)")
    # HighRxt covers both segments after their retransmissions.
    before = len([when for when in trace.sends(1) if when < at])
    bench.black_box("times that segment 1 is sent before", before, 2, 2, "", "4 NextSeg (1.a)")
    bench.black_box("window after it", window(trace, at), 1, 1, "segments", "5.1; RFC 5681 section 3.1")
    # SACKs of data sent before still arrive for a round trip.
    again = [when for when in trace.events("fast_retransmit") if at <= when]
    bench.black_box("recoveries after it", len(again), 0, 0, "", "5.1: RecoveryPoint")
    # In slow start the window is 2 when segment 5 is sent again. Segment 6 was SACKed long before.
    sent_again(bench, trace, "5.1: SACK information", 1, 5, 1, 5)
