"""The rules of CUBIC, RFC 9438. Section numbers are its own.

The path is 100 Mb/s and 100 ms, or 10 ms; scripted losses set the windows. No packet waits for long, so a round trip
is the propagation delay. Windows are in segments. Black-box checks read the congestion window from the stack.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from netlull.conformance.frame import case

if TYPE_CHECKING:
    from netlull.conformance.frame import Bench
    from netlull.conformance.trace import Trace

_RFC = "RFC 9438"
_C = 0.4
_BETA = 0.7
_ALPHA = 3 * (1 - _BETA) / (1 + _BETA)
_SMSS = 1448.0
_RTT = 0.1
_LONG = "100 Mb/s, 100 ms, no queue; bulk data"
_SHORT = "1 Gb/s, 10 ms, no queue; bulk data"


def _lossy(*packets: int, delay_ms: int = 50) -> dict[str, object]:
    """The path with the loss of these packets of the flow."""
    drops = [{"flow": "flow", "packets": list(packets)}]
    delay = f"{delay_ms} ms"
    return {
        "link.N1-N2.rate": "100 Mb/s" if delay_ms > 10 else "1 Gb/s",
        "link.N1-N2.delay": delay,
        "link.N2-N1.delay": delay,
        "link.N1-N2.buffer": "unlimited",
        "link.N1-N2.loss": {"kind": "scripted", "drops": drops},
    }


def _window(trace: Trace, time_s: float) -> float:
    return trace.cwnd().at(time_s) / _SMSS


def _recovery(trace: Trace, number: int = 0) -> tuple[float, float]:
    """The start and the end of a fast recovery; NaN if there is none."""
    starts, ends = trace.events("fast_retransmit"), trace.events("recovered")
    if len(starts) <= number or len(ends) <= number:
        return math.nan, math.nan
    return float(starts[number]), float(ends[number])


def _k(plateau: float, window: float) -> float:
    """Equation 2: the time to the plateau from a window after the reduction."""
    return float(np.cbrt(max(plateau - window, 0) / _C))


def _cubic(plateau: float, k: float, t: float) -> float:
    """Equation 1."""
    return _C * (t - k) ** 3 + plateau


@case("C.1", "Multiplicative decrease", _RFC, _LONG)
def decrease(bench: Bench) -> None:
    """Lose one packet, number 600, and compare the windows before and after the recovery."""
    trace = bench.run("2 s", _lossy(600))
    start, end = _recovery(trace)
    bench.mark(start, "loss detected")
    before = _window(trace, start - 1e-6)
    bench.black_box(
        "window after the recovery, of the one before", _window(trace, end) / before, 0.68, 0.72, "", "4.6: 0.7"
    )
    bench.state("W_max, of the window before", trace.number("W_max").at(end) / before, 0.98, 1.02, "", "4.6")
    bench.state("ssthresh, of the window before", trace.number("ssthresh").at(end) / before, 0.68, 0.72, "", "4.6")


@case("C.2", "The cubic function", _RFC, _LONG)
def function(bench: Bench) -> None:
    """Lose one packet, number 600, and follow the window for 1.4 K: concave up to W_max, then convex."""
    trace = bench.run("12 s", _lossy(600))
    start, end = _recovery(trace)
    bench.mark(start, "loss detected")
    before, after = _window(trace, start - 1e-6), _window(trace, end)
    k = _k(before, after)
    bench.mark(end + k, "K")
    for share in (0.25, 0.5, 0.75, 1.0, 1.25, 1.4):
        t = share * k
        # The target is that of a round trip later (4.2).
        expected = _cubic(before, k, t + _RTT / 2)
        bench.black_box(
            f"window at {share:g} K, of the function",
            _window(trace, end + t) / expected,
            0.97,
            1.03,
            "",
            "4.2 equation 1",
        )
    bench.state("K", trace.number("K").at(end + k / 2), 0.98 * k, 1.02 * k, "s", "4.2 equation 2")


@case("C.3", "Fast convergence", _RFC, _LONG)
def convergence(bench: Bench) -> None:
    """Lose a second packet while the window is below its last maximum, and find the plateau."""
    once = bench.run("4 s", _lossy(600), note="to find the second loss")
    second = once.sent_before(_recovery(once)[1] + 1.0) + 2
    trace = bench.run("8 s", _lossy(600, second), note="with a second loss")
    start, end = _recovery(trace, 1)
    bench.mark(start, "second loss detected")
    before, after = _window(trace, start - 1e-6), _window(trace, end)
    first = _window(trace, _recovery(trace)[0] - 1e-6)
    bench.black_box("window before the second loss, of the first maximum", before / first, 0.5, 0.95, "", "4.7")
    plateau = before * (1 + _BETA) / 2
    k = _k(plateau, after)
    bench.black_box(
        "window at K, of (1 + beta) / 2 of the one before", _window(trace, end + k) / plateau, 0.98, 1.02, "", "4.7"
    )
    bench.black_box(
        "window at 0.5 K, of the function",
        _window(trace, end + k / 2) / _cubic(plateau, k, k / 2 + _RTT / 2),
        0.98,
        1.02,
        "",
        "4.7",
    )
    bench.state("W_max, of the window before", trace.number("W_max").at(end) / before, 0.84, 0.86, "", "4.7: 0.85")


@case("C.4", "Reno-friendly region", _RFC, _SHORT)
def friendly(bench: Bench) -> None:
    """Lose one packet, number 60, where round trips are short: the window grows as Reno's with beta 0.7."""
    trace = bench.run("2.5 s", _lossy(60, delay_ms=5))
    start, end = _recovery(trace)
    bench.mark(start, "loss detected")
    before, after = _window(trace, start - 1e-6), _window(trace, end)
    rtt = 0.01
    # The time from the window after the loss to the one before it, at alpha segments in a round trip.
    t = (before - after) / _ALPHA * rtt
    bench.mark(end + t, "the window before")
    growth = (_window(trace, end + 0.8 * t) - _window(trace, end + 0.2 * t)) / (0.6 * t / rtt)
    bench.black_box(
        "growth below the window before, segments per round trip", growth, 0.9 * _ALPHA, 1.1 * _ALPHA, "", "4.3: 0.53"
    )
    later = end + 1.2 * t
    faster = (_window(trace, later + 0.3) - _window(trace, later)) / (0.3 / rtt)
    bench.black_box("growth above it", faster, 0.9, 1.1, "", "4.3: 1")
    bench.state(
        "alpha_cubic at first", trace.number("alpha_cubic").at(end + 0.5 * t), _ALPHA - 0.001, _ALPHA + 0.001, "", "4.3"
    )
    bench.state("alpha_cubic later", trace.number("alpha_cubic").at(later), 1, 1, "", "4.3")


@case("C.5", "Timeout", _RFC, _LONG)
def timeout(bench: Bench) -> None:
    """Lose all packets from number 600 until the timer expires."""
    silent = bench.run("1.2 s", _lossy(*range(600, 4000)), note="to find the last packet")
    first = silent.events("timeout")
    last = silent.sent_before(float(first[0]) - 1e-6 if len(first) else 1.2) + 1
    trace = bench.run("4 s", _lossy(*range(600, last + 1)), note="with losses")
    expired = trace.events("timeout")
    at = bench.mark(float(expired[0]) if len(expired) else math.nan, "timeout")
    bench.black_box(
        "window after the timeout", float(trace.cwnd().between(at, at + 0.01).min()) / _SMSS, 1, 1, "segments", "4.8"
    )
    bench.black_box("delivered in the last 1 s, of 1 Mb/s", trace.delivered(3, 4) / 125e3, 1, math.inf, "", "4.8")
    threshold = trace.number("ssthresh").at(at)
    bench.state("ssthresh", threshold, 2, 0.72 * float(trace.cwnd().value.max()) / _SMSS, "segments", "4.8, 4.6")
