"""Judges of the claims on bursts, bottlenecks and many flows (Figs. 4 and 6)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netlull.papers import Cell, Evidence, Part, Tolerance, above_zero, decided, number
from netlull.stats import Interval, goodman_kruskal, mean_interval

from . import flows
from .measures import (
    MAXIMUM_BPS,
    MRCI,
    RTT,
    cell,
    less_by_seed,
    mean_over,
    more_lost,
    over_seeds,
    percent,
    rate,
    reduction,
    reference,
    signed,
)


def bursts_hurt(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T6: bursts cause a low rate, more loss and a large reduction of throughput."""
    rates = [float(np.mean([rate(evidence, "Fig. 4", rtt, mrci) for mrci in MRCI])) for rtt in RTT]
    shares = [evidence.grid.interval(cell("Fig. 4", 100, mrci), "mean_rate_bps", 1 / MAXIMUM_BPS) for mrci in MRCI]
    highest = max(shares, key=lambda share: share.mean)
    cuts = [float(np.mean([reduction(evidence, "Fig. 4", rtt, mrci).mean for mrci in MRCI])) for rtt in RTT]
    lowest = min((reduction(evidence, "Fig. 4", 100, mrci) for mrci in MRCI), key=lambda found: found.mean)
    more = more_lost(evidence, "Fig. 4", [(rtt, mrci) for rtt in RTT for mrci in MRCI])
    by_rtt = ", ".join(f"{value * 10:.1f}" for value in rates)
    cut_by_rtt = ", ".join(f"{value * 100:.0f}" for value in cuts)
    return [
        Part(
            "rate",
            decided(highest, at_most=tolerance["rate_share_max"]),
            f"mean rate at RTT 100 ms at most {number(highest.scaled(10), 'Mb/s')}.",
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
        Part(
            "huge",
            decided(lowest, at_least=tolerance["huge_min"]),
            f"smallest reduction at RTT 100 ms {number(lowest.scaled(100), '%')}.",
        ),
        Part(
            "reduction-rtt",
            goodman_kruskal(RTT, cuts) >= tolerance["rank_min"],
            f"reduction over mRCI {cut_by_rtt} % at RTT 1, 10, 50, 100 ms.",
        ),
    ]


def large_mrci_is_worse(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T7: with bursts or bottlenecks, performance falls as mRCI grows."""
    parts = []
    for figure, name in (("Fig. 4", ""), ("Fig. 6", "bottleneck-")):
        for rtt in (100, 50):
            rise = mean_interval(list(_by_seed_rise(evidence, figure, rtt).values()))
            cuts = [reduction(evidence, figure, rtt, mrci).mean for mrci in MRCI]
            order = goodman_kruskal(MRCI, cuts)
            levels = ", ".join(f"{value * 100:.0f}" for value in cuts)
            parts += [
                Part(
                    f"{name}rtt{rtt}",
                    above_zero(rise),
                    f"{figure}, RTT {rtt} ms: reduction rises by {number(rise, 'points')} from mRCI 10 to 1000 ms.",
                ),
                Part(
                    f"{name}order{rtt}", order >= tolerance["rank_min"], f"{levels} % along mRCI (order {order:+.1f})."
                ),
            ]
        over_rtt = mean_over([_by_seed_rise(evidence, figure, rtt) for rtt in RTT])
        told = f"{figure}, mean over the four RTT: {number(over_rtt, 'points')}."
        parts.append(Part(f"{name}worse", above_zero(over_rtt), told))
    return parts


def _by_seed_rise(evidence: Evidence, figure: str, rtt: float) -> dict[int, float]:
    slow, fast = (
        evidence.grid.reductions(cell(figure, rtt, mrci), reference(figure, rtt), "goodput_bps") for mrci in (1000, 10)
    )
    return {seed: (slow[seed] - fast[seed]) * 100 for seed in slow if seed in fast}


def other_bursts(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T13: other burst durations give similar results."""
    ran = evidence.grid.values("background", "bon")
    parts = []
    for bon in (1.0, 10.0, 50.0):
        if bon not in ran:
            parts.append(Part(f"bon{bon:g}", None, f"bON {bon:g} ms: only --full runs it."))
            continue
        points = [(rtt, mrci) for rtt in RTT for mrci in MRCI]
        here = [_cut_with_bursts(evidence, bon, *point) for point in points]
        there = [_cut_with_bursts(evidence, 100.0, *point) for point in points]
        order = goodman_kruskal([found.mean for found in there], [found.mean for found in here])
        mine, usual = (
            float(np.mean([found.mean for found, (rtt, _) in zip(cuts, points, strict=True) if rtt >= 50]))
            for cuts in (here, there)
        )
        factor = tolerance["factor_max"]
        parts += [
            Part(f"bon{bon:g}-order", order >= tolerance["rank_min"], f"bON {bon:g} ms: order {order:+.2f}."),
            Part(
                f"bon{bon:g}",
                usual / factor <= mine <= usual * factor,
                f"reduction at RTT 50 and 100 ms {percent(mine, 0)} ({percent(usual, 0)} at 100 ms).",
            ),
        ]
    return parts


def _cut_with_bursts(evidence: Evidence, bon: float, rtt: float, mrci: float) -> Interval:
    """The reduction of TCP's goodput with bursts of a mean duration in ms."""
    control = Cell.of("background", bon=bon, rtt=rtt, mrci=mrci)
    return evidence.grid.reduction(control, Cell.of("background-tcponly", bon=bon, rtt=rtt), "goodput_bps")


def small_mrci_is_bad(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T15: with bursts, a small mRCI costs throughput and packets as well."""
    parts = []
    for rtt in (50, 100):
        cut = reduction(evidence, "Fig. 4", rtt, 10)
        more = evidence.grid.difference(cell("Fig. 4", rtt, 10), reference("Fig. 4", rtt), "loss", 100)
        parts += [
            Part(
                f"reduction-rtt{rtt}",
                decided(cut, at_least=tolerance["high_min"]),
                f"RTT {rtt} ms: reduction {number(cut.scaled(100), '%')}.",
            ),
            Part(f"loss-rtt{rtt}", above_zero(more), f"loss {signed(more, 3)} points above TCPonly."),
        ]
    cuts = [
        evidence.grid.reductions(cell("Fig. 4", rtt, 10), reference("Fig. 4", rtt), "goodput_bps") for rtt in (100, 1)
    ]
    gap = mean_interval([(cuts[0][seed] - cuts[1][seed]) * 100 for seed in cuts[0] if seed in cuts[1]])
    lost = evidence.grid.difference(cell("Fig. 4", 100, 10), cell("Fig. 4", 1, 10), "loss", 100)
    return [
        *parts,
        Part("reduction-specially", above_zero(gap), f"RTT 100 against 1 ms: reduction {signed(gap)} points."),
        Part("loss-specially", above_zero(lost), f"loss {signed(lost, 3)} points."),
    ]


def bottleneck_milder(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T8: bottleneck and bursts together are milder than bursts alone."""
    saving = {rtt: _by_seed_gain(evidence, rtt, _rate_by_seed) for rtt in RTT}
    relief = {rtt: _by_seed_gain(evidence, rtt, _reduction_by_seed) for rtt in RTT}
    parts = []
    for part, gains, largest, smallest, told, unit, digits in (
        ("saving", saving, 1, 100, "rate lower by", "Mb/s", 2),
        ("reduction", relief, 100, 1, "reduction lower by", "points", 1),
    ):
        for rtt in RTT:
            gain = over_seeds(gains[rtt])
            shown = f"RTT {rtt} ms: {told} {number(gain, unit, digits)}."
            parts.append(Part(f"{part}-rtt{rtt}", above_zero(gain), shown))
        more = over_seeds({seed: gains[largest][seed] - gains[smallest][seed] for seed in gains[largest]})
        shown = f"RTT {largest} ms less RTT {smallest} ms: {number(more, unit, digits)}."
        parts.append(Part(f"{part}-specially", above_zero(more), shown))
    return parts


def _rate_by_seed(evidence: Evidence, figure: str, rtt: float, mrci: float) -> dict[int, float]:
    samples = evidence.grid.samples(cell(figure, rtt, mrci), "mean_rate_bps")
    return {seed: value / 1e6 for seed, value in samples.items()}


def _reduction_by_seed(evidence: Evidence, figure: str, rtt: float, mrci: float) -> dict[int, float]:
    samples = evidence.grid.reductions(cell(figure, rtt, mrci), reference(figure, rtt), "goodput_bps")
    return {seed: value * 100 for seed, value in samples.items()}


BySeed = Callable[[Evidence, str, float, float], dict[int, float]]


def _by_seed_gain(evidence: Evidence, rtt: float, quantity: BySeed) -> dict[int, float]:
    """By seed: a quantity of Fig. 4 less that of Fig. 6, as a mean over mRCI."""
    without, beside = ([quantity(evidence, figure, rtt, mrci) for mrci in MRCI] for figure in ("Fig. 4", "Fig. 6"))
    seeds = [seed for seed in without[0] if all(seed in sample for sample in (*without, *beside))]
    return {seed: float(np.mean([a[seed] - b[seed] for a, b in zip(without, beside, strict=True)])) for seed in seeds}


def one_case_is_representative(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T16: other bottlenecks relate to Fig. 4 as that of Fig. 6 does."""
    ran = evidence.grid.values("both", "bn")
    parts = []
    for bn in (5.0, 500.0, 5000.0):
        if bn not in ran:
            parts.append(Part(f"bn{bn:g}", None, f"BN {bn:g} ms: only --full runs it."))
            continue
        rates, cuts = [], []
        for rtt in RTT:
            for mrci in MRCI:
                usual, plain = cell("Fig. 4", rtt, mrci), reference("Fig. 4", rtt)
                here = Cell.of("both", bn=bn, rtt=rtt, mrci=mrci)
                without = Cell.of("both-tcponly", bn=bn, rtt=rtt)
                rates.append(
                    less_by_seed(
                        evidence.grid.samples(usual, "mean_rate_bps"), evidence.grid.samples(here, "mean_rate_bps")
                    )
                )
                cuts.append(
                    less_by_seed(
                        evidence.grid.reductions(usual, plain, "goodput_bps"),
                        evidence.grid.reductions(here, without, "goodput_bps"),
                    )
                )
        lower, relief = mean_over(rates).scaled(1e-6), mean_over(cuts).scaled(100)
        parts += [
            Part(f"bn{bn:g}-saving", above_zero(lower), f"BN {bn:g} ms: rate lower by {number(lower, 'Mb/s', 2)}."),
            Part(f"bn{bn:g}-reduction", above_zero(relief), f"reduction lower by {number(relief, 'points')}."),
        ]
    return parts


def still_a_loss(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T20: with bottleneck and bursts, TCP still loses throughput and packets."""
    points = [(rtt, mrci) for rtt in RTT for mrci in MRCI]
    small = [(rtt, 10) for rtt in RTT]
    highest = max(
        (evidence.grid.interval(cell("Fig. 6", *point), "mean_rate_bps", 1 / MAXIMUM_BPS) for point in points),
        key=lambda share: share.mean,
    )
    lost, lost_small = (more_lost(evidence, "Fig. 6", chosen) for chosen in (points, small))
    cut, cut_small = ([reduction(evidence, "Fig. 6", *point).low > 0 for point in chosen] for chosen in (points, small))
    wanted = tolerance["points_share"] * len(points)
    return [
        Part(
            "saving",
            decided(highest, at_most=tolerance["rate_share_max"]),
            f"highest mean rate {number(highest.scaled(10), 'Mb/s')}.",
        ),
        Part("loss-small", all(lost_small), f"mRCI 10 ms: loss above TCPonly at {sum(lost_small)} of 4 RTT."),
        Part("reduction-small", all(cut_small), f"throughput reduced at {sum(cut_small)} of 4."),
        Part("loss", sum(lost) >= wanted, f"all points: loss above TCPonly at {sum(lost)} of {len(points)}."),
        Part("reduction", sum(cut) >= wanted, f"throughput reduced at {sum(cut)} of {len(points)}."),
    ]


def survives_in_numbers(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T21: practRA costs many flows of different RTTs as much as one."""
    parts = []
    for traffic, words in (("alone", "alone"), ("bursts", "with bursts")):
        for count in (8, 50):
            crowd = flows.Crowd(traffic, flows.MIXED, "NewReno", count)
            found = {mrci: over_seeds(flows.reductions(evidence, crowd, mrci)) for mrci in (10, 1000)}
            worse = max(found, key=lambda mrci: found[mrci].mean)
            told = f"{count} flows {words}: reduction {number(found[worse].scaled(100), '%')} (mRCI {worse} ms)."
            parts.append(Part(f"{traffic}{count}", decided(found[worse], at_least=tolerance["heavy_min"]), told))
            if traffic == "bursts":
                more = flows.rise(evidence, crowd)
                told = f"mRCI 1000 less 10 ms: {signed(more)} points."
                parts.append(Part(f"reversal{count}", above_zero(more), told))
    return parts
