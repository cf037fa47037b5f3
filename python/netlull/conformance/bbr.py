"""The cases of BBRv3: draft-ietf-ccwg-bbr, appendix "BBR Example Test Cases", with its numbers.

The network is `shipped/conformance/path.toml`: 20 Mb/s and 100 ms, where a case names no other. Rates in checks are of
data: 1448 of each 1500 bytes. Section numbers are those of draft-ietf-ccwg-bbr-06.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from netlull.conformance.frame import case

if TYPE_CHECKING:
    from netlull.conformance.frame import Bench
    from netlull.conformance.trace import Spell, Steps, Trace

_DRAFT = "draft-ietf-ccwg-bbr-06"
_BULK = "20 Mb/s, 100 ms, buffer of 4 BDP; bulk data"
_SMSS = 1448.0
_WIRE = 1500.0
_RTT = 0.1
_LINK = 20e6


def _data(bits: float) -> float:
    """The rate of data in bytes/s of a link's rate in b/s."""
    return bits / 8 * _SMSS / _WIRE


_RATE = _data(_LINK)
_BDP = _RATE * _RTT
_PROBING = ("PROBE_DOWN", "PROBE_CRUISE", "PROBE_REFILL", "PROBE_UP")


def _steps(*steps: tuple[float, float]) -> dict[str, object]:
    """A capacity that changes at these times, in s, to these rates, in b/s."""
    return {"kind": "steps", "steps": [{"at": _time(at), "rate": f"{round(rate)} b/s"} for at, rate in steps]}


def _time(seconds: float) -> str:
    return f"{round(max(seconds, 0) * 1e9)} ns"


def _writes(*steps: tuple[float, float | None]) -> list[dict[str, str]]:
    """An application's rate from these times on, in s and b/s; None for bulk data."""
    return [{"at": _time(at), **({} if rate is None else {"rate": f"{round(rate)} b/s"})} for at, rate in steps]


def _losses(first: int, count: int, every: int) -> dict[str, object]:
    """The scripted loss of every n-th packet of the flow, on its way to the receiver."""
    return {"kind": "scripted", "drops": [{"flow": "flow", "packets": [first + n * every for n in range(count)]}]}


def _first(trace: Trace, state: str, after_s: float = 0.0) -> Spell | None:
    return next((spell for spell in trace.spells(state) if spell.start_s >= after_s), None)


def _start(spell: Spell | None) -> float:
    return math.nan if spell is None else spell.start_s


def _length(spell: Spell | None) -> float:
    return math.nan if spell is None or not spell.ended else spell.seconds


def _end(spell: Spell | None) -> float:
    return math.nan if spell is None or not spell.ended else spell.end_s


def _sent_gain(trace: Trace, start_s: float, end_s: float) -> float:
    """The rate of sent data over the bottleneck's rate; NaN without time."""
    return trace.sent(start_s, end_s) / _RATE if end_s > start_s else math.nan


@case("A.1", "Exiting STARTUP on bandwidth plateau", _DRAFT, _BULK)
def startup_plateau(bench: Bench) -> None:
    """Send bulk data from the start, and let the delivery rate reach the link's."""
    trace = bench.run("3 s")
    bench.black_box("delivered from 1 s to 3 s", trace.delivered(1, 3), 0.95 * _RATE, 1.001 * _RATE, "B/s", "5.3.1.2")
    bench.black_box("data in flight at 2.5 s", trace.inflight().at(2.5), 0, 1.5 * _BDP, "B", "5.3.2")
    startup = _first(trace, "STARTUP")
    end = bench.mark(_end(startup), "STARTUP ends")
    bench.state(
        "max_bw at the end of STARTUP",
        trace.number("BBR.max_bw").at(end),
        0.98 * _RATE,
        1.02 * _RATE,
        "B/s",
        "A.1 step 3",
    )
    bench.state("full_bw_count at that time", trace.number("BBR.full_bw_count").at(end), 3, 3, "", "A.1 step 4")
    bench.state("full_bw_now", trace.number("BBR.full_bw_now").at(end), 1, 1, "", "A.1 step 4")
    bench.state("full_bw_reached", trace.number("BBR.full_bw_reached").at(end), 1, 1, "", "A.1 step 4")
    bench.follows(startup, trace, "A.1 step 5", "DRAIN")
    paced = trace.number("C.pacing_rate").at(2.5) / trace.number("BBR.bw").at(2.5)
    bench.state("pacing rate at 2.5 s, of BBR.bw", paced, 0.985, 0.995, "", "5.6.2: 0.99")


@case(
    "A.2", "Exiting STARTUP on loss when application-limited", _DRAFT, "20 Mb/s, 100 ms; the application writes 8 Mb/s"
)
def startup_loss(bench: Bench) -> None:
    """Write 8 Mb/s. Lose every 8th of 128 packets in two round trips, from the 300th on."""
    slow = {"flow.flow.write_rate": "8 Mb/s"}
    before = bench.run("1.5 s", slow, note="without losses")
    trace = bench.run("3 s", {**slow, "link.N1-N2.loss": _losses(300, 16, 8)}, note="with losses")
    lost = bench.mark(before.sent_at(299), "first loss")
    bench.black_box("delivered from 1.5 s to 3 s", trace.delivered(1.5, 3), 0.95e6, 1.05e6, "B/s", "A.2")
    bench.says("state without losses", before.spells()[-1].state, "STARTUP", "A.2 step 2")
    startup = _first(trace, "STARTUP")
    end = _end(startup)
    bench.state("STARTUP ends after the first loss by", end - lost, 0, 4 * _RTT, "s", "5.3.1.3")
    bench.state("full_bw_now", trace.number("BBR.full_bw_now").at(end), 1, 1, "", "A.2 step 5")
    bench.state("full_bw_reached", trace.number("BBR.full_bw_reached").at(end), 1, 1, "", "A.2 step 5")
    # With little data in flight, DRAIN ends with the acknowledgement that begins it.
    bench.follows(startup, trace, "A.2 step 5", "DRAIN", *_PROBING)


@case("A.3", "Exiting DRAIN based on inflight", _DRAFT, _BULK)
def drain_inflight(bench: Bench) -> None:
    """Send bulk data, and follow the data in flight from the start of DRAIN on."""
    trace = bench.run("3 s")
    start = bench.mark(bench.entry(trace, "DRAIN"), "DRAIN")
    bench.black_box(
        "rate in the first 100 ms over the link's",
        _sent_gain(trace, start + 0.01, start + 0.11),
        0.4,
        0.6,
        "",
        "5.3.2: 0.5",
    )
    bench.black_box(
        "queue 0.4 s to 0.6 s later",
        float(np.max(trace.queue(start + 0.4, start + 0.6))),
        0,
        0.2 * 167,
        "packets",
        "5.3.2",
    )
    drain = _first(trace, "DRAIN")
    end = _end(drain)
    inflight, target = trace.inflight(), trace.number("BBRInflight(1.0)").at(end)
    bench.state("pacing_gain", trace.number("BBR.pacing_gain").at(start), 0.5, 0.5, "", "A.3 step 2")
    bench.state("inflight at the end, of BBRInflight(1.0)", inflight.at(end) / target, 0.9, 1.02, "", "A.3 step 4")
    bench.state(
        "inflight just before",
        float(inflight.between(end - 0.03, end - 0.02).min()) / target,
        1.0,
        2.2,
        "",
        "A.3 step 4",
    )
    bench.follows(drain, trace, "A.3 step 4", *_PROBING)


@case("A.4", "Exiting DRAIN based on time", _DRAFT, "20 Mb/s until DRAIN begins, then 10 Mb/s; 100 ms; bulk data")
def drain_time(bench: Bench) -> None:
    """Halve the bandwidth upon entering DRAIN, so that the queue cannot drain at half the estimated bandwidth.

    The draft says 10 %. At 90 % of the bandwidth the queue still drains within two round trips (step 3 does not hold).
    """
    start = bench.entry(bench.run("2 s", note="to find DRAIN"), "DRAIN")
    trace = bench.run("4 s", {"link.N1-N2.capacity": _steps((start, _LINK / 2))}, note="with half the bandwidth")
    bench.mark(start, "DRAIN, half the bandwidth")
    bench.black_box(
        "rate 1.2 s to 1.7 s later, over the old link's",
        _sent_gain(trace, start + 1.2, start + 1.7),
        0.4,
        1.0,
        "",
        "5.3.2",
    )
    drain = _first(trace, "DRAIN")
    end = _end(drain)
    rounds = trace.number("BBR.round_count")
    bench.state(
        "rounds in DRAIN",
        rounds.at(end) - trace.number("BBR.drain_start_round").at(start),
        3,
        4,
        "",
        "A.4 step 5, 5.3.2",
    )
    bench.state(
        "inflight at the end, of BBRInflight(1.0)",
        trace.inflight().at(end) / trace.number("BBRInflight(1.0)").at(end),
        1.05,
        3,
        "",
        "A.4 step 3",
    )
    bench.follows(drain, trace, "A.4 step 5", *_PROBING)


@case("A.5", "Exiting PROBE_UP on bandwidth plateau", _DRAFT, _BULK)
def up_plateau(bench: Bench) -> None:
    """Send bulk data until the second bandwidth probe. The buffer holds all of it."""
    trace = bench.run("5 s")
    start = bench.mark(bench.entry(trace, "PROBE_UP", by_s=4.4, exact=True), "PROBE_UP")
    bench.black_box(
        "rate in the first 150 ms over the link's",
        _sent_gain(trace, start, start + 0.15),
        1.15,
        1.3,
        "",
        "5.3.3.5: 1.25",
    )
    bench.black_box(
        "largest queue in the next 1 s",
        float(np.max(trace.queue(start, start + 1.0))),
        25,
        1.4 * 167,
        "packets",
        "5.3.3.5",
    )
    bench.black_box("drops", len(trace.drops()), 0, 0, "", "A.5 step 2")
    up = _first(trace, "PROBE_UP")
    end = _end(up)
    bench.state("full_bw_count at the end", trace.number("BBR.full_bw_count").at(end), 3, 3, "", "A.5 step 4")
    bench.state("full_bw_now", trace.number("BBR.full_bw_now").at(end), 1, 1, "", "A.5 step 4")
    rounds = trace.number("BBR.round_count")
    bench.state("rounds in PROBE_UP", rounds.at(end) - rounds.at(_start(up)), 3, 5, "", "A.5 step 4")
    bench.follows(up, trace, "A.5 step 5", "PROBE_DOWN")


@case(
    "A.6",
    "Exiting PROBE_UP on loss when application-limited",
    _DRAFT,
    "20 Mb/s, 100 ms; 10 Mb/s written from PROBE_UP on",
)
def up_loss(bench: Bench) -> None:
    """Write 10 Mb/s from the start of PROBE_UP on. Lose every 8th of 80 packets, 0.3 s later.

    The draft's text asks for an update of inflight_longterm; its pseudocode makes none from an application-limited
    sample (5.5.10.2, HandleInflightTooHigh). The pseudocode counts here.
    """
    start = bench.entry(bench.run("5 s", note="to find PROBE_UP"), "PROBE_UP", by_s=4.3)
    slow = {"flow.flow.write_steps": _writes((start, 10e6))}
    before = bench.run("5 s", slow, note="without losses")
    first = before.sent_before(start + 0.3) + 2
    trace = bench.run("5 s", {**slow, "link.N1-N2.loss": _losses(first, 10, 8)}, note="with losses")
    lost = bench.mark(start + 0.3, "first loss")
    bench.black_box(
        "delivered from the loss to the end", trace.delivered(lost, 5), 0.95 * 1.25e6, 1.05 * 1.25e6, "B/s", "A.6"
    )
    up = _first(trace, "PROBE_UP")
    end = _end(up)
    bench.state("PROBE_UP ends after the loss by", end - lost, 0, 3 * _RTT, "s", "A.6 step 4")
    bench.state(
        "inflight_longterm then", trace.number("BBR.inflight_longterm").at(end), _BDP, math.inf, "B", "5.5.10.2"
    )
    # With little data in flight, PROBE_DOWN ends with the acknowledgement that begins it.
    bench.follows(up, trace, "A.6 step 5", "PROBE_DOWN", "PROBE_CRUISE")


@case(
    "A.7",
    "Never exiting STARTUP or PROBE_UP when application-limited with no loss",
    _DRAFT,
    "20 Mb/s, 100 ms; 8 Mb/s written",
)
def never_exiting(bench: Bench) -> None:
    """Write 8 Mb/s from the start, for 4.5 s. Then send bulk data until PROBE_UP, and write 8 Mb/s from there on.

    PROBE_RTT, which is due after 5 s, ends the observation.
    """
    start = bench.entry(bench.run("5 s", note="to find PROBE_UP"), "PROBE_UP", by_s=4.2)
    slow = bench.run("4.5 s", {"flow.flow.write_rate": "8 Mb/s"}, note="application-limited from the start")
    trace = bench.run("5 s", {"flow.flow.write_steps": _writes((start, 8e6))}, note="application-limited in PROBE_UP")
    bench.mark(start, "8 Mb/s written")
    bench.black_box("delivered from 1 s on", slow.delivered(1, 4.5), 0.98e6, 1.02e6, "B/s", "A.7")
    bench.black_box("delivered from PROBE_UP on", trace.delivered(start + 0.3, 5), 0.95e6, 1.05e6, "B/s", "A.7")
    bench.says("states from the start", " ".join(spell.state for spell in slow.spells()), "STARTUP", "A.7 step 3")
    last = trace.spells()[-1]
    bench.says("state at the end", last.state, "PROBE_UP", "A.7 step 3")
    rounds = trace.number("BBR.round_count")
    bench.state("rounds in PROBE_UP", rounds.at(5) - rounds.at(start), 6, math.inf, "", "A.7 step 3")


@case("A.8", "Exiting PROBE_DOWN on inflight", _DRAFT, "20 Mb/s, 100 ms, buffer of 1.1 BDP; bulk data")
def down_inflight(bench: Bench) -> None:
    """Send bulk data until the PROBE_DOWN that follows a probe. Losses in STARTUP set inflight_longterm."""
    trace = bench.run("6 s", {"link.N1-N2.buffer": "0.5 BDP"})
    up = bench.entry(trace, "PROBE_UP", by_s=3.9, exact=True)
    start = bench.mark(bench.entry(trace, "PROBE_DOWN", up), "PROBE_DOWN")
    bench.black_box(
        "rate in the first 100 ms over the link's",
        _sent_gain(trace, start, start + 0.1),
        0.8,
        0.96,
        "",
        "5.3.3.1: 0.90",
    )
    down = _first(trace, "PROBE_DOWN", start)
    end = _end(down)
    bench.state("pacing_gain", trace.number("BBR.pacing_gain").at(start), 0.9, 0.9, "", "A.8 step 2")
    inflight = trace.inflight().at(end)
    bench.state(
        "inflight at the end, of BBRInflightWithHeadroom()",
        inflight / trace.number("BBRInflightWithHeadroom()").at(end),
        0,
        1.02,
        "",
        "A.8 step 4",
    )
    bench.state(
        "inflight at the end, of BBRInflight(1.0)",
        inflight / trace.number("BBRInflight(1.0)").at(end),
        0,
        1.02,
        "",
        "A.8 step 4",
    )
    headroom = trace.number("BBRInflightWithHeadroom()").at(end) / trace.number("BBR.inflight_longterm").at(end)
    bench.state("BBRInflightWithHeadroom(), of inflight_longterm", headroom, 0.845, 0.855, "", "5.3.3.9: 0.85")
    bench.follows(down, trace, "A.8 step 5", "PROBE_CRUISE")


@case(
    "A.9",
    "Exiting PROBE_DOWN after max time",
    _DRAFT,
    "20 Mb/s until PROBE_DOWN begins, then 18 Mb/s; 30 ms; bulk data",
)
def down_time(bench: Bench) -> None:
    """Decrease the bandwidth by 10 % upon entering the PROBE_DOWN that follows a probe.

    With 100 ms, PROBE_RTT is due before the time is over. With 30 ms the limit of rounds for coexistence with Reno
    (5.3.3.8.3) ends PROBE_DOWN, or bw_probe_wait.
    """
    near = {"link.N1-N2.delay": "15 ms", "link.N2-N1.delay": "15 ms"}
    found = bench.run("4 s", near, note="to find PROBE_DOWN")
    up = bench.entry(found, "PROBE_UP")
    start = bench.entry(found, "PROBE_DOWN", up)
    trace = bench.run("5 s", {**near, "link.N1-N2.capacity": _steps((start, 0.9 * _LINK))}, note="with 90 %")
    bench.mark(start, "PROBE_DOWN, 90 %")
    bench.black_box(
        "delivered from 0.2 s to 1.2 s later, of the new rate",
        trace.delivered(start + 0.2, start + 1.2) / (0.9 * _RATE),
        0.95,
        1.01,
        "",
        "A.9",
    )
    down = _first(trace, "PROBE_DOWN", start - 0.001)
    end = _end(down)
    rounds = trace.number("BBR.round_count")
    target = min(trace.number("BBR.bdp").at(end), trace.cwnd().at(end)) / _SMSS
    waited = _length(down) / trace.number("BBR.bw_probe_wait").at(start)
    counted = (rounds.at(end) - rounds.at(start)) / min(math.floor(target), 63)
    bench.state(
        "time or rounds in PROBE_DOWN over the limit", max(waited, counted), 0.95, 1.05, "", "A.9 step 3, 5.3.3.8.3"
    )
    bench.follows(down, trace, "A.9 step 4", "PROBE_REFILL")
    inflight = trace.inflight().at(end - 0.001)
    headroom = min(trace.number(name).at(end) for name in ("BBRInflightWithHeadroom()", "BBRInflight(1.0)"))
    bench.state("inflight at the end over its limit", inflight / headroom, 1.0, 3, "", "A.9 step 2")


@case("A.10", "Entering and exiting PROBE_RTT", _DRAFT, _BULK)
def probe_rtt(bench: Bench) -> None:
    """Send bulk data for 8 s. No sample of the round trip is lower than the first ones."""
    trace = bench.run("8 s")
    start = bench.mark(bench.entry(trace, "PROBE_RTT"), "PROBE_RTT")
    low = float(trace.inflight().between(start, start + 0.4).min())
    bench.black_box("least data in flight within 0.4 s, of a BDP", low / _BDP, 0.3, 0.6, "", "5.3.4.3: 0.5")
    bench.black_box(
        "delivered from 0.6 s to 1.6 s later",
        trace.delivered(start + 0.6, start + 1.6),
        0.95 * _RATE,
        1.001 * _RATE,
        "B/s",
        "A.10 step 5",
    )
    stay = _first(trace, "PROBE_RTT")
    # The stamp before the refresh at the entry.
    stamp = trace.number("BBR.probe_rtt_min_stamp").at(start - 0.001)
    bench.state("time since the lowest sample", start - stamp, 5, 5.2, "s", "A.10 step 2")
    bench.state("cwnd_gain", trace.number("BBR.cwnd_gain").at(start), 0.5, 0.5, "", "A.10 step 3")
    bench.state("time in PROBE_RTT", _length(stay), 0.2, 0.2 + 4 * _RTT, "s", "A.10 step 4")
    rounds = trace.number("BBR.round_count")
    bench.state("round trips in PROBE_RTT", rounds.at(_end(stay)) - rounds.at(start), 1, 5, "", "A.10 step 4")
    bench.follows(stay, trace, "A.10 step 5", *_PROBING)


@case(
    "A.11",
    "Skipping PROBE_RTT due to application-limited sending",
    _DRAFT,
    "20 Mb/s, 100 ms; the application pauses from 2 s to 8 s",
)
def probe_rtt_skipped(bench: Bench) -> None:
    """Send bulk data, nothing from 2 s to 8 s, and bulk data again."""
    trace = bench.run("9.5 s", {"flow.flow.write_steps": _writes((2, 0), (8, None))})
    bench.mark(8, "sends again")
    bench.black_box("data in flight at 7.9 s", trace.inflight().at(7.9), 0, 0, "B", "A.11 step 2")
    bench.black_box(
        "rate from 8.1 s to 8.6 s over the link's", _sent_gain(trace, 8.1, 8.6), 0.9, 1.3, "", "A.11 step 5"
    )
    bench.black_box(
        "least data in flight from 8.2 s to 9.4 s, of a BDP",
        float(trace.inflight().between(8.2, 9.4).min()) / _BDP,
        0.75,
        1.1,
        "",
        "A.11 step 5",
    )
    idle = trace.number("BBR.idle_restart")
    bench.state("idle_restart at 8 s", float(idle.between(8.0, 8.05).max()), 1, 1, "", "A.11 step 4")
    bench.says(
        "PROBE_RTT from 8 s to 9.5 s", any(spell.end_s > 8 for spell in trace.spells("PROBE_RTT")), False, "A.11 step 5"
    )


@case(
    "A.12",
    "Achieving expected STARTUP bandwidth on a link with aggregation",
    _DRAFT,
    "20 Mb/s, 100 ms, acknowledgements every 40 ms; bulk data",
)
def startup_aggregation(bench: Bench) -> None:
    """Let acknowledgements arrive in batches, each 40 ms, from the start."""
    trace = bench.run("4 s", {"link.N2-N1.aggregation": {"period": "40 ms"}})
    bench.black_box(
        "delivered from 1.5 s to 4 s", trace.delivered(1.5, 4), 0.95 * _RATE, 1.001 * _RATE, "B/s", "A.12 step 4"
    )
    bench.black_box(
        "largest cwnd from 1 s on, of a BDP",
        float(trace.cwnd().between(1, 4).max()) / _BDP,
        2.0,
        4.5,
        "",
        "A.12 step 3",
    )
    startup = _first(trace, "STARTUP")
    end = bench.mark(_end(startup), "STARTUP ends")
    # A segment sent between two acknowledgements of a batch measures one batch more than its interval has, of four or
    # more in a round trip of 160 ms or more with its queue.
    bench.state(
        "max_bw at the end of STARTUP",
        trace.number("BBR.max_bw").at(end),
        0.95 * _RATE,
        1.25 * _RATE,
        "B/s",
        "A.12 step 4",
    )
    # 40 ms at the link's rate arrive at once; an acknowledgement ahead of the mean rate by at most that.
    extra = trace.number("BBR.extra_acked").between(end, 4)
    bench.state(
        "largest extra_acked, of 40 ms of data", float(extra.max()) / (0.04 * _RATE), 0.6, 1.3, "", "A.12 step 3"
    )
    bdp = trace.number("BBR.bdp").at(end)
    bench.state(
        "largest cwnd after STARTUP, of 2 BBR.bdp",
        float(trace.cwnd().between(end, 4).max()) / (2 * bdp),
        1.02,
        2,
        "",
        "A.12 step 3",
    )


@case(
    "A.13",
    "Achieving expected cruise bandwidth on a link with aggregation",
    _DRAFT,
    "20 Mb/s, 100 ms, acknowledgements every 40 ms from PROBE_CRUISE on; bulk data",
)
def cruise_aggregation(bench: Bench) -> None:
    """Let acknowledgements arrive in batches, each 40 ms, from the start of PROBE_CRUISE on."""
    start = bench.entry(bench.run("3 s", note="to find PROBE_CRUISE"), "PROBE_CRUISE")
    trace = bench.run(
        "5 s", {"link.N2-N1.aggregation": {"period": "40 ms", "start": _time(start)}}, note="with aggregation"
    )
    bench.mark(start, "PROBE_CRUISE, batches")
    bench.black_box(
        "delivered from 0.5 s later to 5 s",
        trace.delivered(start + 0.5, 5),
        0.93 * _RATE,
        1.001 * _RATE,
        "B/s",
        "A.13 step 4",
    )
    bench.black_box(
        "longest silence of the sender", trace.longest_silence(start + 0.5, 4.8), 0, 0.04, "s", "A.13 step 4"
    )
    extra = trace.number("BBR.extra_acked")
    later = start + 0.5
    bench.state(
        "extra_acked 0.5 s later, of 40 ms of data", extra.at(later) / (0.04 * _RATE), 0.6, 1.3, "", "A.13 step 3"
    )
    target = 2 * trace.number("BBR.bdp").at(later) + extra.at(later)
    bench.state("cwnd then, of 2 BBR.bdp + extra_acked", trace.cwnd().at(later) / target, 0.95, 1.05, "", "A.13 step 4")


@case("A.14", "Correctly managing sub-packet BDPs", _DRAFT, "64 kb/s, 2 ms, delayed acknowledgements; bulk data")
def small_bdp(bench: Bench) -> None:
    """Send bulk data over a path whose bandwidth-delay product is 16 bytes."""
    rate = _data(64e3)
    slow = {
        "link.N1-N2.rate": "64 kb/s",
        "link.N1-N2.delay": "1 ms",
        "link.N2-N1.delay": "1 ms",
        "link.N1-N2.buffer": "30 packets",
        "tcp.delayed_ack": True,
    }
    trace = bench.run("60 s", slow)
    bench.black_box(
        "delivered from 30 s to 60 s", trace.delivered(30, 60), 0.95 * rate, 1.01 * rate, "B/s", "A.14 step 4"
    )
    bench.black_box(
        "least cwnd from 5 s on", float(trace.cwnd().between(5, 60).min()), 4 * _SMSS, 4 * _SMSS, "B", "A.14 step 3"
    )
    bench.black_box("largest queue from 30 s on", float(np.max(trace.queue(30, 60))), 0, 12, "packets", "A.14")
    cruise = [spell for spell in trace.spells("PROBE_CRUISE") if spell.start_s > 30]
    bench.state("stays in PROBE_CRUISE from 30 s on", len(cruise), 1, math.inf, "", "A.14 step 2")
    pacing = trace.number("C.pacing_rate")
    rates = [pacing.at(spell.start_s + spell.seconds / 2) / rate for spell in cruise]
    bench.state(
        "pacing rate while cruising, over the link's",
        float(np.mean(rates)) if rates else math.nan,
        0.94,
        1.02,
        "",
        "A.14 step 4",
    )


@case(
    "A.15",
    "Increasing bandwidth 10x and ensuring full bandwidth is reached",
    _DRAFT,
    "10 Mb/s, from 3 s on 100 Mb/s; 100 ms; a buffer of 60 packets, then bulk data fills the link",
)
def ten_times_more(bench: Bench) -> None:
    """Multiply the bandwidth by ten at 3 s. The buffer is small, so that losses have set inflight_longterm before."""
    change, end = 3.0, 14.0
    trace = bench.run(
        "14 s",
        {
            "link.N1-N2.rate": "100 Mb/s",
            "link.N1-N2.buffer": "60 packets",
            "link.N1-N2.capacity": _steps((0, 10e6), (change, 100e6)),
        },
    )
    bench.mark(change, "100 Mb/s")
    full = _data(100e6)
    reached = next(
        (at for at in np.arange(change + 0.1, end, 0.05) if trace.delivered(at - 0.1, at) > 0.9 * full), math.nan
    )
    bench.black_box("90 % of the new bandwidth are delivered after", reached - change, 0, 8, "s", "A.15 step 4")
    probing = [spell for spell in trace.spells("PROBE_REFILL", "PROBE_UP") if spell.start_s >= change - 0.5]
    rounds, most = trace.number("BBR.round_count"), trace.number("BBR.max_bw")
    found = most.first(lambda value: value > 0.95 * full, change)
    used = sum(
        rounds.at(min(spell.end_s, found or end)) - rounds.at(spell.start_s)
        for spell in probing
        if found is None or spell.start_s < found
    )
    bench.state(
        "max_bw reaches 95 % of it",
        0.0 if found is None else most.at(found),
        0.95 * full,
        1.02 * full,
        "B/s",
        "A.15 step 4",
    )
    # O(log BDP): log2 of the new BDP in packets is 9.7. PROBE_RTT interrupts the first PROBE_UP, which begins again.
    bench.state(
        "rounds of probing until then",
        math.nan if found is None else used,
        1,
        3 * math.log2(full * _RTT / _SMSS),
        "",
        "A.15 step 4",
    )
    ups = [spell for spell in probing if spell.state == "PROBE_UP"]
    growth = trace.number("BBR.bw_probe_up_rounds")
    doublings = max((float(growth.between(spell.start_s, spell.end_s).max()) for spell in ups), default=0.0)
    bench.state("doublings of the step in one PROBE_UP", doublings, 5, 30, "", "A.15 step 3")


@case(
    "A.16",
    "Decreasing bandwidth 10x and ensuring max bandwidth adapts down",
    _DRAFT,
    "100 Mb/s, from 3 s on 10 Mb/s; 100 ms; a buffer of 100 packets; bulk data",
)
def ten_times_less(bench: Bench) -> None:
    """Divide the bandwidth by ten at 3 s."""
    change, slow = 3.0, _data(10e6)
    trace = bench.run(
        "24 s",
        {
            "link.N1-N2.rate": "100 Mb/s",
            "link.N1-N2.buffer": "100 packets",
            "link.N1-N2.capacity": _steps((change, 10e6)),
        },
    )
    bench.mark(change, "10 Mb/s")
    bench.black_box(
        "delivered from 5 s later on", trace.delivered(change + 5, 24), 0.9 * slow, 1.001 * slow, "B/s", "A.16"
    )
    bench.black_box(
        "rate from 12 s later on, over the new rate", trace.sent(change + 12, 24) / slow, 0.9, 1.05, "", "A.16 step 4"
    )
    short = trace.number("BBR.bw_shortterm").between(change, change + 3)
    bench.state("least bw_shortterm within 3 s", float(short.min()), 0.9 * slow, 3 * slow, "B/s", "A.16 step 3")
    most = trace.number("BBR.max_bw")
    steps = _falls(trace.number("BBR.bw_shortterm"), most, change, change + 3)
    bench.state("least step of bw_shortterm, of the value before", min(steps), 0.695, 0.705, "", "5.5.10.3: 0.7")
    dropped = most.first(lambda value: value < 1.05 * slow, change)
    bench.state(
        "max_bw is the new bandwidth",
        math.nan if dropped is None else most.at(dropped),
        0.9 * slow,
        1.05 * slow,
        "B/s",
        "A.16 step 4",
    )
    cycles = sum(change < spell.end_s <= (dropped or 0) for spell in trace.spells("PROBE_UP"))
    bench.state("cycles of PROBE_BW until then", math.nan if dropped is None else cycles, 1, 2, "", "A.16 step 4")


def _falls(short: Steps, most: Steps, start_s: float, end_s: float) -> list[float]:
    """The finite values of a lower bound over the values before, or over max_bw where there was no bound."""
    inside = (short.time_s > start_s) & (short.time_s < end_s) & np.isfinite(short.value)
    before = [min(short.value[at - 1], most.at(short.time_s[at] - 1e-9)) for at in np.flatnonzero(inside)]
    return [float(value) for value in short.value[inside] / np.array(before)] or [math.nan]


@case("A.17", "Handling token bucket policers", _DRAFT, "100 Mb/s, 100 ms, a policer of 10 Mb/s and 100 kB; bulk data")
def policer(bench: Bench) -> None:
    """Send bulk data through a token-bucket policer without a buffer."""
    token = _data(10e6)
    settings = {
        "link.N1-N2.rate": "100 Mb/s",
        "link.N1-N2.loss": {"kind": "policer", "rate": "10 Mb/s", "burst": "100 kB"},
    }
    trace = bench.run("30 s", settings)
    bench.black_box(
        "delivered from 15 s to 30 s, of the token rate", trace.delivered(15, 30) / token, 0.8, 1.01, "", "A.17 step 4"
    )
    bench.black_box(
        "sent from 15 s to 30 s, of the token rate", trace.sent(15, 30) / token, 0.8, 1.05, "", "A.17 step 4"
    )
    short, volume = trace.number("BBR.bw_shortterm"), trace.number("BBR.inflight_shortterm")
    bench.state("least bw_shortterm", float(short.value.min()), 0.3 * token, 1.3 * token, "B/s", "A.17 step 3")
    bench.state("least inflight_shortterm", float(volume.value.min()), 4 * _SMSS, 3 * token * _RTT, "B", "A.17 step 3")
    long = trace.number("BBR.inflight_longterm").at(29.9)
    bench.state("inflight_longterm at the end", long, 0.5 * token * _RTT, 3 * token * _RTT, "B", "A.17 step 4")


@case(
    "A.18",
    "Handling spurious fast recovery",
    _DRAFT,
    "20 Mb/s, 100 ms; 10 packets of PROBE_UP arrive 60 ms late; bulk data",
)
def spurious_fast_recovery(bench: Bench) -> None:
    """Delay 10 packets by 60 ms each, sent from 50 ms after the start of PROBE_UP on: they are overtaken, not lost."""
    start = bench.entry(bench.run("5 s", note="to find PROBE_UP"), "PROBE_UP", by_s=4.4)
    before = bench.traces[-1].sent_before(start + 0.05) + 2
    late = [{"flow": "flow", "packets": list(range(before, before + 10)), "by": "60 ms"}]
    trace = bench.run("6 s", {"link.N1-N2.late": late, "tcp.undo": "rfc"}, note="with late packets")
    _undone(bench, trace, start + 0.05, "fast_retransmit", "A.18")


@case(
    "A.19",
    "Handling spurious RTO recovery",
    _DRAFT,
    "20 Mb/s, 100 ms; all packets of PROBE_UP are late until the timer expires; least RTO 200 ms; bulk data",
)
def spurious_timeout(bench: Bench) -> None:
    """Delay all packets from 50 ms after the start of PROBE_UP on, until the retransmission timer has expired.

    A run with longer delays finds that time. The first late packet is then acknowledged 30 ms after it.
    """
    settings = {"tcp.undo": "rfc", "tcp.min_rto": "200 ms"}
    found = bench.run("5 s", settings, note="to find PROBE_UP")
    late = bench.entry(found, "PROBE_UP", by_s=4.2) + 0.05
    first = found.sent_before(late) + 2
    held = [{"flow": "flow", "packets": list(range(first, first + 2000)), "by": "3 s"}]
    silent = bench.run("6 s", {**settings, "link.N1-N2.late": held}, note="to find the timeout")
    expired = next((float(at) for at in silent.events("timeout") if at > late), late + 1)
    numbers = list(range(first, silent.sent_before(expired - 1e-6) + 2))
    by = expired + 0.03 - late - max(_RTT, silent.inflight().at(late) / _RATE)
    lates = [{"flow": "flow", "packets": numbers, "by": _time(by)}]
    trace = bench.run("7 s", {**settings, "link.N1-N2.late": lates}, note="with late packets")
    _undone(bench, trace, late, "timeout", "A.19")


def _undone(bench: Bench, trace: Trace, late: float, event: str, number: str) -> None:
    """The checks of an undone recovery that packets late from a time on have caused."""
    bench.mark(late, "late packets")
    starts = trace.events(event)
    begun = next((float(at) for at in starts if at > late), math.nan)
    bench.black_box(
        f"{event.replace('_', ' ')} after the first late packet by", begun - late, 0, 2, "s", f"{number} step 1"
    )
    bench.black_box("drops", len(trace.drops()), 0, 0, "", f"{number} step 1")
    bench.black_box(
        "delivered from 0.2 s to 0.42 s later",
        trace.delivered(begun + 0.2, begun + 0.42),
        0.9 * _RATE,
        1.001 * _RATE,
        "B/s",
        f"{number} step 4",
    )
    for name, unit in (("BBR.inflight_longterm", "B"), ("BBR.inflight_shortterm", "B"), ("BBR.bw_shortterm", "B/s")):
        before = trace.number(name).at(late)
        bench.state(
            f"{name.removeprefix('BBR.')} 0.3 s later, at least as before",
            trace.number(name).at(begun + 0.3),
            before,
            math.inf,
            unit,
            f"{number} step 3",
        )
    back = next((spell.start_s for spell in trace.spells("PROBE_UP") if spell.end_s > begun), math.nan)
    bench.state(
        "back in PROBE_UP after the start of the recovery by", max(back - begun, 0.0), 0, 0.5, "s", f"{number} step 4"
    )


@case(
    "A.20",
    "Entering and exiting PROBE_RTT during STARTUP",
    _DRAFT,
    "20 Mb/s, 100 ms; 1 Mb/s written until 6 s, then bulk data",
)
def probe_rtt_in_startup(bench: Bench) -> None:
    """Write 1 Mb/s, so that STARTUP lasts more than 5 s. Send bulk data from 6 s on."""
    trace = bench.run("9 s", {"flow.flow.write_rate": "1 Mb/s", "flow.flow.write_steps": _writes((6, None))})
    bench.mark(6, "bulk data")
    bench.black_box(
        "delivered from 7.5 s to 9 s", trace.delivered(7.5, 9), 0.9 * _RATE, 1.001 * _RATE, "B/s", "A.20 step 3"
    )
    stay = _first(trace, "PROBE_RTT")
    bench.state("PROBE_RTT begins at", _start(stay), 5, 5.5, "s", "A.20 step 1")
    bench.state("full_bw_reached then", trace.number("BBR.full_bw_reached").at(_start(stay)), 0, 0, "", "A.20 step 1")
    bench.state("time in PROBE_RTT", _length(stay), 0.2, 0.2 + 4 * _RTT, "s", "A.20 step 2")
    bench.follows(stay, trace, "A.20 step 3", "STARTUP")


@case(
    "A.21",
    "Handling loss during PROBE_UP after inflight_longterm is set",
    _DRAFT,
    "20 Mb/s, 100 ms, buffer of 0.5 BDP; losses in PROBE_UP; bulk data",
)
def up_loss_bounded(bench: Bench) -> None:
    """Lose 12 packets in a row at the start of PROBE_UP. Losses in STARTUP have set inflight_longterm."""
    shallow = {"link.N1-N2.buffer": "0.5 BDP"}
    before = bench.run("5 s", shallow, note="to find PROBE_UP")
    start = bench.entry(before, "PROBE_UP", by_s=4.5)
    lost = start + 0.02
    losses = {**shallow, "link.N1-N2.loss": _losses(before.sent_before(lost) + 2, 12, 1)}
    trace = bench.run("5 s", losses, note="with losses")
    bench.mark(lost, "12 losses")
    bench.black_box(
        "rate 0.2 s to 0.4 s after the loss, over the link's",
        _sent_gain(trace, lost + 0.2, lost + 0.4),
        0.6,
        1.0,
        "",
        "A.21 step 5",
    )
    long = trace.number("BBR.inflight_longterm")
    up = _first(trace, "PROBE_UP")
    end = _end(up)
    bench.state("inflight_longterm at the start of PROBE_UP", long.at(start), _SMSS * 4, 4 * _BDP, "B", "A.21 step 1")
    bench.state("PROBE_UP ends after the loss by", end - lost, 0, 2 * _RTT, "s", "A.21 step 5")
    bench.state(
        "inflight_longterm then, of the one before", long.at(end) / long.at(end - 0.001), 0.5, 0.999, "", "A.21 step 4"
    )
    target = min(trace.number("BBR.bdp").at(end), trace.cwnd().at(end - 0.001))
    bench.state(
        "inflight_longterm then, of 0.7 BBRTargetInflight()", long.at(end) / (0.7 * target), 0.999, 2, "", "A.21 step 4"
    )
    bench.follows(up, trace, "A.21 step 5", "PROBE_DOWN")


@case(
    "A.22",
    "Handling application-limited sending during PROBE_REFILL",
    _DRAFT,
    "20 Mb/s, 100 ms; 2 Mb/s written for 0.3 s from PROBE_REFILL on; bulk data",
)
def refill_limited(bench: Bench) -> None:
    """Write only 2 Mb/s from the start of PROBE_REFILL on, for 0.3 s."""
    start = bench.entry(bench.run("5 s", note="to find PROBE_REFILL"), "PROBE_REFILL", by_s=4.0)
    trace = bench.run("6 s", {"flow.flow.write_steps": _writes((start, 2e6), (start + 0.3, None))}, note="limited")
    bench.mark(start, "PROBE_REFILL, 2 Mb/s written")
    bench.black_box(
        "rate from 0.6 s to 1.1 s later, over the link's",
        _sent_gain(trace, start + 0.6, start + 1.1),
        0.9,
        1.3,
        "",
        "A.22 step 4",
    )
    most = trace.number("BBR.max_bw")
    refill = _first(trace, "PROBE_REFILL")
    bench.state(
        "least max_bw until 0.4 s later, of the one before",
        float(most.between(start, start + 0.4).min()) / most.at(start - 0.001),
        0.999,
        1.001,
        "",
        "A.22 step 3",
    )
    rounds = trace.number("BBR.round_count")
    bench.state("rounds in PROBE_REFILL", rounds.at(_end(refill)) - rounds.at(start), 1, 2, "", "A.22 step 4")
    bench.follows(refill, trace, "A.22 step 4", "PROBE_UP")
    after = [one.state for one in trace.spells() if refill is not None and one.start_s >= refill.end_s]
    bench.says("then", " ".join(after[1:2]), "PROBE_DOWN", "A.22 step 4")
