"""The rules of loss recovery with SACK, RFC 6675. Section numbers are its own.

The network is `shipped/conformance/path.toml`: 20 Mb/s and 100 ms. A packet of 1500 bytes takes 0.6 ms, so
acknowledgements arrive 0.6 ms apart. The initial window is ten segments (RFC 6928), all sent at once. Segments of the
data are numbered from 1. Packet 1 is the SYN, so segment n is packet n + 1 when it is first sent. DupThresh is 3.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from netlull.conformance.frame import case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netlull.conformance.frame import Bench
    from netlull.conformance.trace import Trace

_RFC = "RFC 6675"
_BULK = "20 Mb/s, 100 ms; bulk data"
_TEN = "20 Mb/s, 100 ms; ten segments of data"
_RTT = 0.1
_GAP = 0.6e-3
"""The time between two acknowledgements."""
_SLACK = 0.1e-3
"""The time of a packet and its acknowledgement on the fast links, and of the acknowledgement on the bottleneck."""


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
    return {f"link.{link}.loss": {"kind": "scripted", "drops": [{"flow": "flow", "packets": list(packets)}]}}


def sent(trace: Trace, number: int, nth: int = 0) -> float:
    """The time at which a segment is sent, or sent again for the n-th time; NaN if it is not."""
    times = trace.sends(number)
    return times[nth] if len(times) > nth else math.nan


def packet(trace: Trace, number: int, nth: int = 0) -> int:
    """The number of the packet with a segment, or with its n-th retransmission; without one, a number after all."""
    places = [place for place, (_, sent) in enumerate(trace.segments) if sent == number]
    return 2 + (places[nth] if len(places) > nth else len(trace.segments))


def sent_again(trace: Trace) -> Sequence[int]:
    """The segments that are sent again, in order."""
    seen: set[int] = set()
    again = []
    for _, number in trace.segments:
        if number in seen:
            again.append(number)
        seen.add(number)
    return again


def words(numbers: Sequence[int]) -> str:
    """Segments in words."""
    return ", ".join(map(str, numbers)) or "none"


def no_timeout(bench: Bench, trace: Trace, source: str) -> None:
    """Checks that the retransmission timer does not expire."""
    bench.black_box("timeouts", len(trace.events("timeout")), 0, 0, "", source)


def _window(trace: Trace, time_s: float) -> float:
    return trace.cwnd().at(time_s) / trace.segment_bytes


def _event(trace: Trace, kind: str, nth: int = 0) -> float:
    times = trace.events(kind)
    return float(times[nth]) if len(times) > nth else math.nan


def _third(bench: Bench, trace: Trace, source: str) -> None:
    """Checks that segment 1 is sent again when three segments above it are SACKed."""
    # The third segment that arrives leaves the bottleneck 3 * 0.6 ms after the first bit, and its SACK takes 100 ms
    # in all. The fourth comes 0.6 ms later.
    after = sent(trace, 1, 1) - sent(trace, 1)
    bench.black_box("segment 1 is sent again after", after, _RTT + 3 * _GAP, _RTT + 3 * _GAP + _SLACK, "s", source)


@case("S.1", "Loss by three SACKed segments", _RFC, _BULK)
def detection(bench: Bench) -> None:
    """Send three segments and lose the first: two SACKs are no loss. Then lose the first segment of bulk data."""
    few = bench.run("3 s", {**data((0, 3)), **lost(2)}, note="three segments")
    bench.black_box("fast retransmissions with two SACKs", len(few.events("fast_retransmit")), 0, 0, "", "4 IsLost")
    # No other timer than that of RFC 6298, which is at least a round trip and 4 * 50 ms.
    waited = sent(few, 1, 1) - sent(few, 1)
    bench.black_box("segment 1 is sent again by the timer after", waited, 2 * _RTT, math.inf, "s", "4 IsLost")
    trace = bench.run("1 s", lost(2), note="bulk data")
    bench.mark(sent(trace, 1, 1), "loss detected")
    _third(bench, trace, "4 IsLost, 5 step 4.3")


@case("S.2", "Segments count, not acknowledgements", _RFC, f"{_BULK}; the first two SACKs are lost")
def lost_acknowledgements(bench: Bench) -> None:
    """Lose segment 1, and the acknowledgements of segments 2 and 3. The next one reports three segments."""
    # Packet 1 of the acknowledgements is the SYN-ACK.
    trace = bench.run("1 s", {**lost(2), **lost(2, 3, link="N2-N1")})
    bench.mark(sent(trace, 1, 1), "loss detected")
    _third(bench, trace, "4 IsLost, 5 step 2")
    no_timeout(bench, trace, "5 step 2")


@case("S.3", "New data before the loss is known", _RFC, _BULK)
def limited_transmit(bench: Bench) -> None:
    """Lose segment 1. Each of the first two SACKs releases a new segment."""
    trace = bench.run("1 s", lost(2))
    first = sent(trace, 1)
    # pipe = 10 - 1, then 11 - 2 segments, of a window of 10.
    for nth in (1, 2):
        after = bench.mark(sent(trace, 10 + nth), f"segment {10 + nth}") - first
        due = _RTT + nth * _GAP
        bench.black_box(f"segment {10 + nth} is sent after", after, due, due + _SLACK, "s", "5 step 3.3")


@case("S.4", "Half the window, then one segment for each SACK", _RFC, _BULK)
def halving(bench: Bench) -> None:
    """Lose segment 1, and follow the data in flight until its retransmission is acknowledged."""
    trace = bench.run("1 s", lost(2))
    start = bench.mark(sent(trace, 1, 1), "recovery")
    end = bench.mark(_event(trace, "recovered"), "recovered")
    # Step 4.2: FlightSize is 10, without the segments 11 and 12 of limited transmit. cwnd = 5.
    bench.black_box("window in recovery", _window(trace, start + _GAP / 2), 5, 5, "segments", "5 step 4.2")
    # SetPipe: of 12 segments 3 are SACKed and 1 is lost, which is sent again: 12 - 3 - 1 + 1 = 9. Segments 5 to 8
    # bring it to 5. Segment 9, the fifth SACK from here, makes room.
    silent = min((at for at, _ in trace.segments if at > start), default=math.nan) - start
    bench.black_box("silence after it", silent, 5 * _GAP - _SLACK, 5 * _GAP + _SLACK, "s", "4 SetPipe, 5 step C")
    # SACKs of segments 9, 10, 11 and 12 release one segment each; then the retransmission is acknowledged.
    new = [number for at, number in trace.segments if start < at < start + _RTT + _GAP]
    bench.says("new segments in recovery", words(new), "13, 14, 15, 16", "5 step C", kind="black box")
    flight = trace.inflight().between(start + silent, end - _SLACK).max() / trace.segment_bytes
    bench.black_box("most data in flight after the silence", float(flight), 5, 5, "segments", "5 step C")
    bench.black_box("window after the recovery", _window(trace, end), 5, 5, "segments", "5 step 4.2")


@case("S.5", "Lost segments before new data", _RFC, _BULK)
def lost_first(bench: Bench) -> None:
    """Lose segments 1 and 5, and see the order of the segments in recovery."""
    trace = bench.run("1 s", lost(2, 6))
    start = bench.mark(sent(trace, 1, 1), "recovery")
    # pipe is 12 - 3 - 1 + 1 = 9. SACKs of 6 and 7 bring it to 7. That of 8 is the third above segment 5, which is
    # lost: 5. That of 9 makes room: four acknowledgements after the start.
    after = sent(trace, 5, 1) - start
    bench.black_box("segment 5 is sent again after", after, 4 * _GAP - _SLACK, 4 * _GAP + _SLACK, "s", "4 NextSeg (1)")
    order = [number for at, number in trace.segments if at > start][:2]
    bench.says("order after segment 1", words(order), "5, 13", "4 NextSeg (1), (2)", kind="black box")
    no_timeout(bench, trace, "5")


@case("S.6", "A hole that is not lost yet", _RFC, _TEN)
def hole(bench: Bench) -> None:
    """Lose segments 1 and 7. No new data is left, so room in the window goes to segment 7 before it counts as lost."""
    trace = bench.run("2 s", {**data((0, 10)), **lost(2, 8)})
    start = bench.mark(sent(trace, 1, 1), "recovery")
    # pipe is 10 - 3 - 1 + 1 = 7, the window 5. SACKs of 5 and 6 bring pipe to 5, that of 8 to 4: the third after the
    # start. Segment 7 has one SACKed segment above it. With that of 10 it would be lost, two acknowledgements later.
    after = bench.mark(sent(trace, 7, 1), "segment 7") - start
    bench.black_box("segment 7 is sent again after", after, 3 * _GAP - _SLACK, 3 * _GAP + _SLACK, "s", "4 NextSeg (3)")
    bench.says("segments sent again", words(sent_again(trace)), "1, 7", "4 NextSeg (3), (4)", kind="black box")
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
        "segment 10 is sent again after", after, _RTT + _GAP, _RTT + _GAP + _SLACK, "s", "4 NextSeg (4), 5 step 4.3"
    )
    # Its SACK makes segment 9 a hole: rule 3.
    last = sent(trace, 9, 1) - sent(trace, 10, 1)
    bench.black_box("then segment 9 after", last, _RTT + _GAP, _RTT + _GAP + _SLACK, "s", "4 NextSeg (3)")
    bench.says("segments sent again", words(sent_again(trace)), "1, 10, 9", "4 NextSeg (4)", kind="black box")
    no_timeout(bench, trace, "4 NextSeg (4)")


@case("S.8", "One reduction for each window with losses", _RFC, _BULK)
def reductions(bench: Bench) -> None:
    """Lose segments 1 and 5 of one window. Then lose segment 1, and segment 13, which is sent in recovery."""
    once = bench.run("2 s", lost(2, 6), note="in one window")
    # Both lie below RecoveryPoint, the end of segment 12.
    bench.black_box("recoveries, losses in one window", len(once.events("fast_retransmit")), 1, 1, "", "5 step 4.1, B")
    bench.black_box("window after it", _window(once, _event(once, "recovered")), 5, 5, "segments", "5 step 4.2, A")
    no_timeout(bench, once, "5 step B")
    # Packets 2 to 13 are segments 1 to 12, 14 is the retransmission, 15 segment 13.
    twice = bench.run("1 s", lost(2, 15), note="in two windows")
    bench.mark(_event(twice, "fast_retransmit"), "first")
    bench.mark(_event(twice, "fast_retransmit", 1), "second")
    bench.black_box(
        "recoveries, losses in two windows", len(twice.events("fast_retransmit")), 2, 2, "", "5 step A, 4.1"
    )
    # Segments 13 to 17 are in flight at the second loss, 18 and 19 are of limited transmit: 5 / 2.
    second = _window(twice, _event(twice, "recovered", 1))
    bench.black_box("window after the second", second, 2.5, 2.5, "segments", "5 step 4.2")


@case("S.9", "A timeout ends the recovery", _RFC, _BULK)
def timeout(bench: Bench) -> None:
    """Lose segments 1 and 5 and their retransmissions. Only the timer repairs them; all other segments are SACKed."""
    once = bench.run("1 s", lost(2, 6), note="to find the retransmissions")
    trace = bench.run("2 s", lost(2, 6, packet(once, 1, 1), packet(once, 5, 1)), note="with their loss")
    at = bench.mark(_event(trace, "timeout"), "timeout")
    bench.black_box("timeouts", len(trace.events("timeout")), 1, 1, "", "4 NextSeg (1.a)")
    # HighRxt covers both segments after their retransmissions.
    before = len([when for when in trace.sends(1) if when < at])
    bench.black_box("times that segment 1 is sent before", before, 2, 2, "", "4 NextSeg (1.a)")
    bench.black_box("window after it", _window(trace, at), 1, 1, "segments", "5.1; RFC 5681 section 3.1")
    # SACKs of data sent before still arrive for a round trip.
    again = [when for when in trace.events("fast_retransmit") if at <= when]
    bench.black_box("recoveries after it", len(again), 0, 0, "", "5.1: RecoveryPoint")
    # In slow start the window is 2 when segment 5 is sent again. Segment 6 was SACKed long before.
    bench.says("segments sent again", words(sent_again(trace)), "1, 5, 1, 5", "5.1: SACK information", kind="black box")
