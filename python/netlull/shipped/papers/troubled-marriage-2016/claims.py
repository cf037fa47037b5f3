"""Judges of the claims in claims.toml. Each claim has parts; each part holds or fails and reports its measurement."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Evidence, Headline, Part, Tolerance, number
from netlull.stats import Interval, goodman_kruskal, mean_interval

from . import series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAXIMUM_BPS = 10e6
RTT = (1, 10, 50, 100)
MRCI = (10, 50, 100, 500, 1000)
BURSTS = {"bon": 100.0}
BOTH = {"bon": 100.0, "bn": 50.0}
FIGURES = {"Fig. 2": ("single", {}), "Fig. 4": ("background", BURSTS), "Fig. 6": ("both", BOTH)}


def cell(figure: str, rtt: float, mrci: float) -> Cell:
    """The point of a figure of the paper with power control."""
    experiment, point = FIGURES[figure]
    return Cell.of(experiment, rtt=rtt, mrci=mrci, **point)


def reference(figure: str, rtt: float) -> Cell:
    """The TCPonly point of a figure of the paper."""
    experiment, point = FIGURES[figure]
    return Cell.of(f"{experiment}-tcponly", rtt=rtt, **point)


def rate(evidence: Evidence, figure: str, rtt: float, mrci: float) -> float:
    """The mean service rate as a share of the maximum, averaged over seeds."""
    return evidence.grid.interval(cell(figure, rtt, mrci), "mean_rate_bps").mean / MAXIMUM_BPS


def reduction(evidence: Evidence, figure: str, rtt: float, mrci: float) -> Interval:
    """The reduction of TCP's goodput compared with TCPonly, as a fraction, paired by seed."""
    return evidence.grid.reduction(cell(figure, rtt, mrci), reference(figure, rtt), "goodput_bps")


def _percent(value: float, digits: int = 1) -> str:
    return f"{value * 100:.{digits}f} %"


def nothing_happens(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T1: with a small RTT and a large mRCI, power control has almost no effect."""
    calm = [(rtt, mrci) for rtt in (1, 10) for mrci in (500, 1000)]
    lowest = min(rate(evidence, "Fig. 2", *point) for point in calm)
    most = max(reduction(evidence, "Fig. 2", *point).mean for point in calm)
    gaps, allowed = [], []
    for rtt, mrci in calm:
        plain = evidence.grid.interval(reference("Fig. 2", rtt), "loss").mean
        gaps.append(abs(evidence.grid.interval(cell("Fig. 2", rtt, mrci), "loss").mean - plain))
        allowed.append(max(tolerance["loss_gap_points"] / 100, tolerance["loss_gap_share"] * plain))
    small_rate = min(rate(evidence, "Fig. 2", rtt, 10) for rtt in (1, 10))
    small_reduction = max(reduction(evidence, "Fig. 2", rtt, 10).mean for rtt in (1, 10))
    slight = small_rate >= tolerance["small_rate_share_min"] and small_reduction <= tolerance["small_reduction_max"]
    return [
        Part("rate", lowest >= tolerance["rate_share_min"], f"lowest mean rate {lowest * 10:.2f} Mb/s."),
        Part("reduction", most <= tolerance["reduction_max"], f"largest reduction {_percent(most)}."),
        Part(
            "loss",
            all(gap <= most_gap for gap, most_gap in zip(gaps, allowed, strict=True)),
            f"largest gap in loss {max(gaps) * 100:.2f} percentage points.",
        ),
        Part(
            "small-mrci",
            slight,
            f"mRCI 10 ms: lowest mean rate {small_rate * 10:.2f} Mb/s, largest reduction {_percent(small_reduction)}.",
        ),
    ]


def large_rtt_rate(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T2: the rate is 20 to 40 % lower at RTT 100 ms."""
    lower = {mrci: 1 - rate(evidence, "Fig. 2", 100, mrci) for mrci in MRCI}
    mean = float(np.mean(list(lower.values())))
    low, high, slack = tolerance["low"], tolerance["high"], tolerance["slack"]
    parts = [
        Part(f"mrci{mrci}", low - slack <= value <= high + slack, f"mRCI {mrci} ms: {_percent(value, 0)} lower.")
        for mrci, value in lower.items()
    ]
    return [*parts, Part("mean", low <= mean <= high, f"mean over mRCI: {_percent(mean, 0)} lower.")]


def small_mrci_costs(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T3: with one flow, a small mRCI costs more throughput."""
    at_100 = [reduction(evidence, "Fig. 2", 100, mrci).mean for mrci in MRCI]
    at_50 = [reduction(evidence, "Fig. 2", 50, mrci).mean for mrci in MRCI]
    trend = goodman_kruskal(MRCI, at_100)
    return [
        Part(
            "heavy",
            max(at_100) >= tolerance["heavy_min"],
            f"RTT 100 ms: reduction {', '.join(f'{value * 100:.1f}' for value in at_100)} % at mRCI 10 to 1000 ms.",
        ),
        Part(
            "rtt100",
            at_100[0] - at_100[-1] >= tolerance["gap_min"],
            f"mRCI 10 ms costs {(at_100[0] - at_100[-1]) * 100:+.1f} points more than 1000 ms.",
        ),
        Part("trend", trend <= tolerance["rank_max"], f"order along mRCI {trend:+.1f} (-1: always falling)."),
        Part(
            "rtt50",
            at_50[0] - at_50[-1] >= tolerance["gap_min"],
            f"RTT 50 ms: {(at_50[0] - at_50[-1]) * 100:+.1f} points more.",
        ),
    ]


def recovery(evidence: Evidence, name: str, tolerance: Mapping[str, float]) -> series.Recovery:
    """The recovery of TCP in a recorded run."""
    return series.recoveries(evidence.series[name], tolerance["reached_bps"], tolerance["fallen_bps"])


def recovery_times(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T4: the recovery after a loss takes 14 s instead of 6 s."""
    control = recovery(evidence, "fig3b", tolerance)
    plain = recovery(evidence, "fig3-rtt100-tcponly", tolerance)
    ratio = control.median_s / plain.median_s if plain.median_s else math.inf if control.median_s else 1.0
    shown = f"ratio {ratio:.1f}" if math.isfinite(ratio) else "TCPonly needs none"

    def near(value: float, wanted: float) -> bool:
        return abs(value - wanted) <= tolerance["share"] * wanted

    return [
        Part("slower", ratio >= tolerance["ratio_min"], f"slower with power control: {shown}."),
        Part("tcponly", near(plain.median_s, tolerance["tcponly_s"]), f"TCPonly {_recovered(plain)}."),
        Part("control", near(control.median_s, tolerance["power_control_s"]), f"TCP+PC {_recovered(control)}."),
    ]


def _recovered(found: series.Recovery) -> str:
    if not found.episodes:
        return "loses nothing"
    if not found.times_s:
        return f"stays at 10 Mb/s through {found.episodes} losses"
    late = f", {found.unfinished} of them cut off by the next loss" if found.unfinished else ""
    return f"{found.median_s:.1f} s (median of {len(found.times_s)}{late})"


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


def bursts_hurt(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T6: bursts cause a low rate, more loss and a large reduction of throughput."""
    rates = [float(np.mean([rate(evidence, "Fig. 4", rtt, mrci) for mrci in MRCI])) for rtt in RTT]
    highest = max(rate(evidence, "Fig. 4", 100, mrci) for mrci in MRCI)
    cuts = [float(np.mean([reduction(evidence, "Fig. 4", rtt, mrci).mean for mrci in MRCI])) for rtt in RTT]
    lowest = min(reduction(evidence, "Fig. 4", 100, mrci).mean for mrci in MRCI)
    more = [
        evidence.grid.difference(cell("Fig. 4", rtt, mrci), reference("Fig. 4", rtt), "loss").low > 0
        for rtt in RTT
        for mrci in MRCI
    ]
    by_rtt = ", ".join(f"{value * 10:.1f}" for value in rates)
    cut_by_rtt = ", ".join(f"{value * 100:.0f}" for value in cuts)
    return [
        Part(
            "rate", highest <= tolerance["rate_share_max"], f"mean rate at RTT 100 ms at most {highest * 10:.1f} Mb/s."
        ),
        Part(
            "rate-rtt",
            goodman_kruskal(RTT, rates) <= -tolerance["rank_min"],
            f"over mRCI {by_rtt} Mb/s at RTT 1, 10, 50, 100 ms.",
        ),
        Part(
            "loss",
            sum(more) >= tolerance["loss_points_share"] * len(more),
            f"loss significantly above TCPonly at {sum(more)} of {len(more)} points.",
        ),
        Part("huge", lowest >= tolerance["huge_min"], f"smallest reduction at RTT 100 ms {_percent(lowest)}."),
        Part(
            "reduction-rtt",
            goodman_kruskal(RTT, cuts) >= tolerance["rank_min"],
            f"reduction over mRCI {cut_by_rtt} % at RTT 1, 10, 50, 100 ms.",
        ),
    ]


def large_mrci_no_help(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T7: with bursts, a large mRCI no longer helps."""
    rises = {rtt: _rise(evidence, rtt) for rtt in RTT}
    over_rtt = _mean_over([_by_seed_rise(evidence, rtt) for rtt in RTT])
    parts = [
        Part(
            f"rtt{rtt}",
            rises[rtt].high >= 0,
            f"RTT {rtt} ms: reduction rises by {number(rises[rtt], 'points')} from mRCI 10 to 1000 ms.",
        )
        for rtt in (100, 50)
    ]
    worse = Part("worse", over_rtt.low > 0, f"mean over the four RTT: {number(over_rtt, 'points')}.")
    return [*parts, worse]


def _by_seed_rise(evidence: Evidence, rtt: float) -> dict[int, float]:
    slow, fast = (
        evidence.grid.reductions(cell("Fig. 4", rtt, mrci), reference("Fig. 4", rtt), "goodput_bps")
        for mrci in (1000, 10)
    )
    return {seed: (slow[seed] - fast[seed]) * 100 for seed in slow if seed in fast}


def _rise(evidence: Evidence, rtt: float) -> Interval:
    return mean_interval(list(_by_seed_rise(evidence, rtt).values()))


def _mean_over(samples: Sequence[dict[int, float]]) -> Interval:
    """The confidence interval over seeds of the mean over several samples."""
    seeds = [seed for seed in samples[0] if all(seed in sample for sample in samples)]
    return mean_interval([float(np.mean([sample[seed] for sample in samples])) for seed in seeds])


def bottleneck_milder(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T8: bottleneck and bursts together are milder than bursts alone."""
    saving = {rtt: _gain(evidence, rtt, _rate_by_seed) for rtt in RTT}
    relief = {rtt: _gain(evidence, rtt, _reduction_by_seed) for rtt in RTT}
    return [
        Part(
            "saving",
            all(saving[rtt].low > 0 for rtt in (1, 10)),
            f"rate lower by {number(saving[1], 'Mb/s', 2)} at RTT 1 and {number(saving[10], 'Mb/s', 2)} at RTT 10 ms.",
        ),
        Part(
            "saving-rtt",
            saving[1].mean > saving[100].mean,
            f"at RTT 100 ms by {number(saving[100], 'Mb/s', 2)}.",
        ),
        Part("reduction", relief[100].low > 0, f"reduction lower by {number(relief[100], 'points')} at RTT 100 ms."),
        Part("reduction-rtt", relief[100].mean > relief[1].mean, f"at RTT 1 ms by {number(relief[1], 'points')}."),
    ]


def _rate_by_seed(evidence: Evidence, figure: str, rtt: float, mrci: float) -> dict[int, float]:
    samples = evidence.grid.samples(cell(figure, rtt, mrci), "mean_rate_bps")
    return {seed: value / 1e6 for seed, value in samples.items()}


def _reduction_by_seed(evidence: Evidence, figure: str, rtt: float, mrci: float) -> dict[int, float]:
    samples = evidence.grid.reductions(cell(figure, rtt, mrci), reference(figure, rtt), "goodput_bps")
    return {seed: value * 100 for seed, value in samples.items()}


BySeed = Callable[[Evidence, str, float, float], dict[int, float]]


def _gain(evidence: Evidence, rtt: float, quantity: BySeed) -> Interval:
    """The difference of a quantity between Fig. 4 and Fig. 6, as a mean over mRCI, paired by seed."""
    without, beside = ([quantity(evidence, figure, rtt, mrci) for mrci in MRCI] for figure in ("Fig. 4", "Fig. 6"))
    lower = [{seed: a[seed] - b[seed] for seed in a if seed in b} for a, b in zip(without, beside, strict=True)]
    return _mean_over(lower)


def time_series(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T9: the time series."""
    full = [float(np.mean(series.arrivals(evidence.series[name], 1.0)[1])) for name in ("fig3a", "fig3c")]
    spread = {name: _spread(evidence, name) for name in ("fig3a", "fig3c")}
    waste = {name: _waste(evidence, name) for name in ("fig3b", "fig3d")}
    late = {name: _longest_late(evidence, name) for name in ("fig5b", "fig5d")}
    back = {name: _sending_percentile(evidence, name) for name in ("fig5b", "fig7b")}
    return [
        Part(
            "full", min(full) >= tolerance["full_bps"], f"Fig. 3(a, c): TCP sends {min(full) / 1e6:.2f} Mb/s or more."
        ),
        Part(
            "steady",
            spread["fig3c"] <= tolerance["steady_bps"] and spread["fig3c"] <= spread["fig3a"],
            f"Fig. 3(a, c): the rate's deviation is {spread['fig3a'] / 1e6:.2f} and {spread['fig3c'] / 1e6:.2f} Mb/s.",
        ),
        Part(
            "waste",
            waste["fig3d"] > waste["fig3b"],
            f"Fig. 3(b, d): the rate is {waste['fig3b'] / 1e6:.2f} and {waste['fig3d'] / 1e6:.2f} Mb/s above arrivals.",
        ),
        Part(
            "late",
            late["fig5d"] >= tolerance["late_s"] and late["fig5d"] > late["fig5b"],
            f"Fig. 5(b, d): longest time with arrivals above the rate {late['fig5b']:.1f} and {late['fig5d']:.1f} s.",
        ),
        Part(
            "open",
            back["fig5b"] >= tolerance["open_bps"],
            f"Fig. 5(b): TCP returns to {back['fig5b'] / 1e6:.1f} Mb/s.",
        ),
        Part(
            "bottleneck",
            back["fig7b"] <= tolerance["bottleneck_bps"],
            f"Fig. 7(b): to {back['fig7b'] / 1e6:.1f} Mb/s.",
        ),
    ]


def _spread(evidence: Evidence, name: str) -> float:
    """The standard deviation of the service rate over time, in bit/s, without the first 10 s."""
    times = np.arange(10.0, evidence.series[name].summary["duration_s"], 0.01)
    return float(np.std(series.service_at(evidence.series[name], times)))


def _waste(evidence: Evidence, name: str) -> float:
    """The mean excess of the service rate over the arrivals of the same second, in bit/s."""
    time, arriving = series.arrivals(evidence.series[name], 1.0)
    return float(np.mean(np.maximum(series.service_at(evidence.series[name], time) - arriving, 0)))


def _longest_late(evidence: Evidence, name: str) -> float:
    """The longest time for which arrivals exceed the service rate, in seconds, with bins of 0.1 s."""
    time, arriving = series.arrivals(evidence.series[name], 0.1)
    longest = run = 0
    for above in arriving > series.service_at(evidence.series[name], time):
        run = run + 1 if above else 0
        longest = max(longest, run)
    return longest * 0.1


def _sending_percentile(evidence: Evidence, name: str) -> float:
    """The 90th percentile of TCP's sending rate in bins of 1 s, in bit/s."""
    return float(np.percentile(series.sending(evidence.series[name], 1.0)[1], 90))


JUDGES = {
    "T1": nothing_happens,
    "T2": large_rtt_rate,
    "T3": small_mrci_costs,
    "T4": recovery_times,
    "T5": fewer_changes,
    "T6": bursts_hurt,
    "T7": large_mrci_no_help,
    "T8": bottleneck_milder,
    "T9": time_series,
}
"""The judge of each claim."""


def _rate_headline(figure: str, rtt: float, mrci: float) -> Headline:
    label = f"{figure} mean rate, RTT {rtt:g}, mRCI {mrci:g}"
    return Headline(label, "Mb/s", lambda evidence: rate(evidence, figure, rtt, mrci) * 10)


def _reduction_headline(figure: str, rtt: float, mrci: float) -> Headline:
    label = f"{figure} reduction, RTT {rtt:g}, mRCI {mrci:g}"
    return Headline(label, "%", lambda evidence: reduction(evidence, figure, rtt, mrci).mean * 100)


def _recovery_headline(label: str, name: str) -> Headline:
    def measure(evidence: Evidence) -> float:
        claim = next(claim for claim in evidence.paper.claims if claim.id == "T4")
        return recovery(evidence, name, claim.tolerance).median_s

    return Headline(label, "s", measure)


HEADLINES = (
    _rate_headline("Fig. 2", 1, 1000),
    _rate_headline("Fig. 2", 10, 1000),
    _rate_headline("Fig. 2", 100, 10),
    _rate_headline("Fig. 2", 100, 1000),
    _reduction_headline("Fig. 2", 100, 10),
    _reduction_headline("Fig. 2", 100, 1000),
    _recovery_headline("T4 TCP+PC", "fig3b"),
    _recovery_headline("T4 TCPonly", "fig3-rtt100-tcponly"),
    _rate_headline("Fig. 4", 100, 10),
    _reduction_headline("Fig. 4", 100, 10),
    _reduction_headline("Fig. 4", 100, 1000),
    _reduction_headline("Fig. 6", 100, 10),
    _reduction_headline("Fig. 6", 100, 1000),
)
"""The numbers that show the effect of a reading."""
