"""Judges of the claims on one flow (Fig. 2), on its recovery after losses, and on the number of rate changes."""

from __future__ import annotations

import math

import numpy as np

from netlull.papers import Evidence, Part, Tolerance, above_zero, decided, number
from netlull.stats import goodman_kruskal, mean_interval

from . import series
from .measures import (
    FIGURES,
    MAXIMUM_BPS,
    MRCI,
    RTT,
    cell,
    near_tcponly,
    near_values,
    percent,
    rate,
    recorded,
    recovery,
    reduction,
    reference,
    signed,
)


def relative_values(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T10: the ratio of mRCI and RTT decides the reduction of throughput."""
    points = [(rtt, mrci) for rtt in RTT for mrci in MRCI]
    reductions = [reduction(evidence, "Fig. 2", rtt, mrci).mean for rtt, mrci in points]
    ratios = [mrci / rtt for rtt, mrci in points]
    by_ratio, by_rtt, by_mrci = (
        goodman_kruskal(x, reductions) for x in (ratios, [rtt for rtt, _ in points], [mrci for _, mrci in points])
    )
    equal: dict[float, list[float]] = {}
    for ratio, value in zip(ratios, reductions, strict=True):
        equal.setdefault(ratio, []).append(value)
    spread, widest = max((max(values) - min(values), ratio) for ratio, values in equal.items())
    return [
        Part("order", by_ratio <= tolerance["rank_max"], f"order of the reductions along mRCI / RTT {by_ratio:+.2f}."),
        Part(
            "best",
            -by_ratio > max(abs(by_rtt), abs(by_mrci)),
            f"along RTT alone {by_rtt:+.2f}, along mRCI alone {by_mrci:+.2f}.",
        ),
        Part(
            "alike",
            spread <= tolerance["spread_max"],
            f"ours: points of equal ratio differ by up to {spread * 100:.1f} percentage points (ratio {widest:g}).",
            counted=False,
        ),
    ]


def nothing_happens(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T1: with a small RTT and a large mRCI, power control has almost no effect."""
    calm = [(rtt, mrci) for rtt in (1, 10) for mrci in (500, 1000)]
    lowest = min(rate(evidence, "Fig. 2", *point) for point in calm)
    most = max((reduction(evidence, "Fig. 2", *point).mean for point in calm), key=abs)
    gaps, allowed = [], []
    for rtt, mrci in calm:
        plain = evidence.grid.interval(reference("Fig. 2", rtt), "loss").mean
        gaps.append(abs(evidence.grid.interval(cell("Fig. 2", rtt, mrci), "loss").mean - plain))
        allowed.append(max(tolerance["loss_gap_points"] / 100, tolerance["loss_gap_share"] * plain))
    small_rate = min(rate(evidence, "Fig. 2", rtt, 10) for rtt in (1, 10))
    small_reduction = max(reduction(evidence, "Fig. 2", rtt, 10).mean for rtt in (1, 10))
    slight = small_rate >= tolerance["small_rate_share_min"] and small_reduction <= tolerance["small_reduction_max"]
    present = min(1 - small_rate, small_reduction) >= tolerance["visible_min"]
    return [
        Part("rate", lowest >= tolerance["rate_share_min"], f"lowest mean rate {lowest * 10:.2f} Mb/s."),
        Part("reduction", abs(most) <= tolerance["reduction_max"], f"largest reduction {percent(most)}."),
        Part(
            "loss",
            all(gap <= most_gap for gap, most_gap in zip(gaps, allowed, strict=True)),
            f"largest gap in loss {max(gaps) * 100:.2f} percentage points.",
        ),
        Part(
            "slight",
            slight,
            f"mRCI 10 ms: lowest mean rate {small_rate * 10:.2f} Mb/s, largest reduction {percent(small_reduction)}.",
        ),
        Part("present", present, f"a visible effect of mRCI 10 ms: {'yes' if present else 'no'}."),
    ]


def large_rtt_rate(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T2: the rate is 20 to 40 % lower at RTT 100 ms."""
    lower = {mrci: [1 - bps / MAXIMUM_BPS for bps in near_values(evidence, "mean_rate_bps", mrci)] for mrci in MRCI}
    low, high, slack = tolerance["low"], tolerance["high"], tolerance["slack"]
    parts = []
    for mrci, values in lower.items():
        found = mean_interval(values)
        holds = decided(found, at_least=low - slack, at_most=high + slack)
        parts.append(Part(f"mrci{mrci}", holds, f"mRCI {mrci} ms: {number(found.scaled(100), '%', 0)} lower."))
    over = mean_interval(np.mean(list(lower.values()), axis=0))
    told = f"mean over mRCI: {number(over.scaled(100), '%', 0)} lower."
    return [*parts, Part("mean", decided(over, at_least=low, at_most=high), told)]


def more_loss(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T11: at RTT 100 ms one flow loses more packets."""
    plain = np.array(near_tcponly(evidence, "loss")) * 100
    gaps = {mrci: np.array(near_values(evidence, "loss", mrci)) * 100 - plain for mrci in MRCI}
    parts = []
    for mrci, values in gaps.items():
        found = mean_interval(values)
        parts.append(Part(f"mrci{mrci}", above_zero(found), f"mRCI {mrci} ms: {signed(found, 3)}."))
    over = mean_interval(np.mean(list(gaps.values()), axis=0))
    usual = number(mean_interval(plain), "%", 3)
    told = f"mean over mRCI: {signed(over, 3)} percentage points (TCPonly loses {usual})."
    return [*parts, Part("mean", above_zero(over), told)]


def small_mrci_costs(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T3: with one flow, a small mRCI costs more throughput."""
    plain = np.array(near_tcponly(evidence, "goodput_bps"))
    cuts = {mrci: 1 - np.array(near_values(evidence, "goodput_bps", mrci)) / plain for mrci in MRCI}
    at_100 = [mean_interval(values) for values in cuts.values()]
    at_50 = [reduction(evidence, "Fig. 2", 50, mrci).mean for mrci in MRCI]
    heaviest = max(at_100, key=lambda found: found.mean)
    gap = mean_interval(cuts[10] - cuts[1000])
    trend = goodman_kruskal(MRCI, [found.mean for found in at_100])
    levels = ", ".join(number(found.scaled(100)) for found in at_100)
    return [
        Part(
            "heavy",
            decided(heaviest, at_least=tolerance["heavy_min"]),
            f"RTT 100 ms: reduction {levels} % at mRCI 10 to 1000 ms.",
        ),
        Part(
            "rtt100",
            decided(gap, at_least=tolerance["gap_min"]),
            f"mRCI 10 ms costs {signed(gap.scaled(100))} points more than 1000 ms.",
        ),
        Part("trend", trend <= tolerance["rank_max"], f"order along mRCI {trend:+.1f} (-1: always falling)."),
        Part(
            "rtt50",
            at_50[0] - at_50[-1] >= tolerance["gap_min"],
            f"RTT 50 ms: {(at_50[0] - at_50[-1]) * 100:+.1f} points more.",
        ),
    ]


def recovery_times(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T4: the recovery after a loss takes 14 s instead of 6 s."""
    control, plain = (recovery(evidence, kind, tolerance) for kind in ("mrci10", "tcponly"))
    ratio = control.median_s / plain.median_s if plain.median_s else math.inf if control.median_s else 1.0
    known = math.isfinite(control.median_s) and math.isfinite(plain.median_s)
    shown = f"ratio {ratio:.1f}" if math.isfinite(ratio) else "TCPonly needs none" if known else "no ratio"

    def near(found: series.Recovery, wanted: float) -> bool | None:
        if not math.isfinite(found.median_s):
            return None
        return abs(found.median_s - wanted) <= tolerance["share"] * wanted

    slower = ratio >= tolerance["ratio_min"] if known else None
    return [
        Part("slower", slower, f"slower with power control: {shown}."),
        Part("control", near(control, tolerance["power_control_s"]), f"TCP+PC {_recovered(control)}."),
        Part("tcponly", near(plain, tolerance["tcponly_s"]), f"TCPonly {_recovered(plain)}.", counted=False),
    ]


def _recovered(found: series.Recovery) -> str:
    if not found.episodes:
        return "loses nothing"
    if not found.times_s:
        return f"stays at 10 Mb/s through {found.episodes} losses"
    cut = f"{found.unfinished} of {len(found.times_s)} episodes cut off"
    if math.isfinite(found.median_s):
        return f"{found.median_s:.1f} s ({cut})"
    return f"has no median: {cut}; at least {found.shortest_median_s:.1f} s"


def equal_slopes(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T12: arrivals and service rate climb as slowly at large mRCI as at small mRCI."""
    small, large = (
        [found for run in recorded(evidence, kind) if (found := series.climb(run, tolerance["until_s"]))]
        for kind in ("mrci10", "mrci1000")
    )
    least = tolerance["climbs_min"]
    times = {rate: [_median_time(climbs, rate, least) for climbs in (small, large)] for rate in _rates(small)}
    both = {rate: (fast, slow) for rate, (fast, slow) in sorted(times.items()) if fast and slow}
    alike = [abs(slow / fast - 1) <= tolerance["share"] for fast, slow in both.values()]
    fast_s, slow_s = (", ".join(f"{pair[side]:.1f}" for pair in both.values()) for side in (0, 1))
    at = ", ".join(f"{rate / 1e6:g}" for rate in both)
    told = f"{fast_s} s at {at} Mb/s with mRCI 10 ms, {slow_s} s with 1000 ms." if both else "no common rate."
    service = Part("service", all(alike) if both else None, f"green: {told}")
    slopes = [[found.arrivals_bps2 for found in climbs if len(found.times_s) > 1] for climbs in (small, large)]
    if min(map(len, slopes)) < least:
        few = f"blue: {len(slopes[0])} and {len(slopes[1])} climbs over two rates or more."
        return [service, Part("arrivals", None, few)]
    by_mrci = [float(np.median(found)) for found in slopes]
    ratio = by_mrci[1] / by_mrci[0] if by_mrci[0] else math.inf
    told = f"blue: {by_mrci[0] / 1e6:.2f} and {by_mrci[1] / 1e6:.2f} Mb/s per s, ratio {ratio:.2f}."
    return [service, Part("arrivals", abs(ratio - 1) <= tolerance["share"], told)]


def _rates(climbs: list[series.Climb]) -> set[float]:
    return {rate for found in climbs for rate in found.times_s}


def _median_time(climbs: list[series.Climb], rate: float, least: float) -> float | None:
    """The median time that the climbs spend at a rate; None if fewer than `least` pass it."""
    found = [climb.times_s[rate] for climb in climbs if rate in climb.times_s]
    return float(np.median(found)) if len(found) >= least else None


def fewer_changes(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T5: the rate changes less often with a larger mRCI."""
    parts = []
    for figure in FIGURES:
        falling, ends = 0, []
        for rtt in RTT:
            changes = [evidence.grid.interval(cell(figure, rtt, mrci), "rate_changes").mean for mrci in MRCI]
            ends.append(f"{changes[0]:.0f} → {changes[-1]:.0f}")
            falling += goodman_kruskal(MRCI, changes) <= tolerance["rank_max"] and changes[-1] < changes[0]
        text = f"{figure}: falls at {falling} of 4 RTT (mRCI 10 → 1000 ms: {', '.join(ends)})."
        parts.append(Part(figure.lower().replace(". ", ""), falling == len(RTT), text))
    return parts
