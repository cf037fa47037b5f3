"""Laws of a window under a given loss, on a path with a negligible queue and room for every window."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from law import MSS_BYTES, Law, Row, Table, tcp_pair

RTT_S = 0.1
ROUND_TRIPS_OF_RECOVERY = 2


def window(duration_s: float, loss: Table, tcp: Table, warm_up_s: float = 0.0) -> float:
    """Mean window in segments, from goodput. Every segment is acknowledged."""
    link = {"rate": "100 Gb/s", "delay": f"{RTT_S / 2 * 1e3:g} ms", "loss": loss}
    options = {"receive_buffer": "512 MiB"} | dict(tcp)
    scenario = tcp_pair(duration_s, link, options, warm_up=f"{warm_up_s:g} s")
    return scenario.run(seed=1).metric("flow.t.goodput_bps") * RTT_S / 8 / MSS_BYTES


def reno_loss(others_at: Sequence[float] = (3e-4, 1e-3)) -> Law:
    """Reno's window under independent loss: 1.31 / sqrt(p) segments on time average (Ott, Kemperman, Mathis 1996).

    At larger p timeouts reduce the window. The law has no timeouts, so its range ends there.

    Args:
        others_at: The probabilities for Reno and SACK; NewReno has all p.
    """
    rows = []
    windows = []
    losses = (1e-4, 3e-4, 1e-3, 3e-3)
    for loss in losses:
        windows.append(random_loss("new_reno", loss, 10_000))
        rows.append(Row(f"new_reno, window at p = {loss:g}", windows[-1], 1.31 / math.sqrt(loss), 0.08))
    slope = float(np.polyfit(np.log(losses), np.log(windows), 1)[0])
    rows.append(Row("new_reno, exponent of p", slope, -0.5, 0.04))
    for algorithm in ("reno", "sack"):
        for loss in others_at:
            measured = random_loss(algorithm, loss, 10_000)
            rows.append(Row(f"{algorithm}, window at p = {loss:g}", measured, 1.31 / math.sqrt(loss), 0.08))
    reason = "the law has no timeouts and recovers at once, and its constant is an asymptote for small p"
    return Law("Reno's window under random loss: 1.31 / sqrt(p)", "segments", rows, reason)


def random_loss(algorithm: str, probability: float, duration_s: float) -> float:
    """Mean window under independent loss, in segments."""
    loss = {"kind": "bernoulli", "probability": probability}
    return window(duration_s, loss, {"congestion_control": algorithm, "min_rto": "200 ms"})


def periodic_loss(algorithm: str, every: int, expected: float, cycles: int) -> float:
    """Mean window in segments if each `every`-th packet is lost. The first quarter of the time does not count."""
    duration_s = cycles * every / expected * RTT_S
    drops = list(range(every, 2 * cycles * every, every))
    loss = {"kind": "scripted", "drops": [{"flow": "t", "packets": drops}]}
    return window(duration_s, loss, {"congestion_control": algorithm}, warm_up_s=duration_s / 4)


def reno_periodic() -> Law:
    """Reno's window if every 1/p-th packet is lost.

    It grows from W/2 to W by a segment per round trip, so 1/p = 3/8 W^2 packets and W = sqrt(8 / (3 p)) (M. Mathis, J.
    Semke, J. Mahdavi, T. Ott, The macroscopic behavior of the TCP congestion avoidance algorithm, 1997, section 2). The
    mean is 3/4 of it, sqrt(3 / (2 p)). A cycle is W/2 round trips. Recovery takes two of them at half the window.
    """
    rows = []
    for algorithm in ("reno", "new_reno", "sack"):
        for every in (1000, 10_000):
            theory = math.sqrt(1.5 * every)
            cycle = theory / 1.5  # W/2 round trips, W = 4/3 of the mean
            measured = periodic_loss(algorithm, every, theory, cycles=100)
            rows.append(Row(f"{algorithm}, p = 1/{every}", measured, theory, ROUND_TRIPS_OF_RECOVERY / cycle))
    reason = "two round trips of recovery in a cycle of W/2, which the model has not"
    return Law("Reno's window under periodic loss: sqrt(3 / (2 p))", "segments", rows, reason)


def cubic_periodic(rarest: int = 1_000_000) -> Law:
    """CUBIC's window if every 1/p-th packet is lost (RFC 9438 section 5.1, its table for a round trip of 100 ms).

    The mean window is (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), C = 0.4, beta = 0.7; in the Reno-friendly
    region (section 4.3) it is Reno's. The formula assumes that each cycle ends when the window is W_max again, which is
    hardly stable. Equation 1, integrated cycle by cycle with fast convergence (section 4.7) and a round trip of
    recovery, gives 11 %, 10 % and 10 % less at p = 1e-4, 1e-5 and 1e-6, and 7 % less without these two.

    Args:
        rarest: The largest 1/p. The simulation time grows with it.
    """
    scale = (0.4 * 3.7 / 1.2) ** 0.25
    rows = []
    for every, cycles in ((100, 400), (1000, 100), (10_000, 60), (100_000, 40), (1_000_000, 40)):
        if every > rarest:
            continue
        cubic = scale * (RTT_S * every) ** 0.75
        reno = math.sqrt(1.5 * every)
        theory = max(cubic, reno)
        recovery = ROUND_TRIPS_OF_RECOVERY * theory / every
        tolerance = recovery if reno > cubic else 0.11 + recovery
        measured = periodic_loss("cubic", every, theory, cycles)
        rows.append(Row(f"p = 1/{every}{', Reno-friendly' if reno > cubic else ''}", measured, theory, tolerance))
    reason = "two round trips of recovery per cycle; 11 % for the formula's unstable fixed point"
    return Law("CUBIC's window under periodic loss (RFC 9438 section 5.1)", "segments", rows, reason)
