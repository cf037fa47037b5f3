"""Judges of the claims in claims.toml. Each claim has parts; each part reports its measurement, and if it holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Evidence, Headline, Part, Tolerance, decided, number
from netlull.stats import Interval, goodman_kruskal, mean_interval

from . import flows, series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netlull.papers import Recorded

MAXIMUM_BPS = 10e6
RTT = (1, 10, 50, 100)
MRCI = (10, 50, 100, 500, 1000)
BURSTS = {"bon": 100.0}
BOTH = {"bn": 50.0}
PANELS = {
    "a": "RTT 10, mRCI 10 ms",
    "b": "RTT 100, mRCI 10 ms",
    "c": "RTT 10, mRCI 1000 ms",
    "d": "RTT 100, mRCI 1000 ms",
}
"""The panels of Figs. 3, 5 and 7."""
WARM_UP_S = 10.0
"""The start of a run, with slow start, that measures of variation leave out, in seconds."""
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
            f"points of equal ratio differ by up to {spread * 100:.1f} percentage points (ratio {widest:g}).",
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
        Part("reduction", abs(most) <= tolerance["reduction_max"], f"largest reduction {_percent(most)}."),
        Part(
            "loss",
            all(gap <= most_gap for gap, most_gap in zip(gaps, allowed, strict=True)),
            f"largest gap in loss {max(gaps) * 100:.2f} percentage points.",
        ),
        Part(
            "slight",
            slight,
            f"mRCI 10 ms: lowest mean rate {small_rate * 10:.2f} Mb/s, largest reduction {_percent(small_reduction)}.",
        ),
        Part("present", present, f"a visible effect of mRCI 10 ms: {'yes' if present else 'no'}."),
    ]


def _near(evidence: Evidence, metric: str, mrci: float) -> list[float]:
    """A metric with power control at each RTT near 100 ms."""
    near = evidence.grid.values("near", "near")
    return [evidence.grid.interval(Cell.of("near", near=rtt, mrci=mrci), metric).mean for rtt in near]


def _near_tcponly(evidence: Evidence, metric: str) -> list[float]:
    """A metric of TCPonly at each RTT near 100 ms."""
    near = evidence.grid.values("near", "near")
    return [evidence.grid.interval(Cell.of("near-tcponly", near=rtt), metric).mean for rtt in near]


def large_rtt_rate(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T2: the rate is 20 to 40 % lower at RTT 100 ms."""
    lower = {mrci: [1 - bps / MAXIMUM_BPS for bps in _near(evidence, "mean_rate_bps", mrci)] for mrci in MRCI}
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
    plain = np.array(_near_tcponly(evidence, "loss")) * 100
    gaps = {mrci: np.array(_near(evidence, "loss", mrci)) * 100 - plain for mrci in MRCI}
    parts = []
    for mrci, values in gaps.items():
        found = mean_interval(values)
        parts.append(Part(f"mrci{mrci}", _above(found), f"mRCI {mrci} ms: {_signed(found, 3)}."))
    over = mean_interval(np.mean(list(gaps.values()), axis=0))
    usual = number(mean_interval(plain), "%", 3)
    told = f"mean over mRCI: {_signed(over, 3)} percentage points (TCPonly loses {usual})."
    return [*parts, Part("mean", _above(over), told)]


def _above(measured: Interval) -> bool | None:
    """True if the interval is above zero, False if it is below or the value is 0, None if it includes zero."""
    return False if measured.low == measured.high == 0 else decided(measured, at_least=0.0)


def _signed(measured: Interval, digits: int = 1) -> str:
    return f"{'+' if measured.mean >= 0 else ''}{number(measured, digits=digits)}"


def small_mrci_costs(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T3: with one flow, a small mRCI costs more throughput."""
    plain = np.array(_near_tcponly(evidence, "goodput_bps"))
    cuts = {mrci: 1 - np.array(_near(evidence, "goodput_bps", mrci)) / plain for mrci in MRCI}
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
            f"mRCI 10 ms costs {_signed(gap.scaled(100))} points more than 1000 ms.",
        ),
        Part("trend", trend <= tolerance["rank_max"], f"order along mRCI {trend:+.1f} (-1: always falling)."),
        Part(
            "rtt50",
            at_50[0] - at_50[-1] >= tolerance["gap_min"],
            f"RTT 50 ms: {(at_50[0] - at_50[-1]) * 100:+.1f} points more.",
        ),
    ]


def _recorded(evidence: Evidence, kind: str) -> list[Recorded]:
    """The recorded runs at RTTs near 100 ms: `mrci10`, `mrci1000` or `tcponly`."""
    names = [run.name for run in evidence.paper.series if run.name.startswith("near") and run.name.endswith(f"-{kind}")]
    return [evidence.series[name] for name in names]


def recovery(evidence: Evidence, kind: str, tolerance: Mapping[str, float]) -> series.Recovery:
    """The recovery of TCP at RTTs near 100 ms."""
    return series.recoveries(_recorded(evidence, kind), tolerance["reached_bps"], tolerance["fallen_bps"])


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
        [climb for run in _recorded(evidence, kind) for climb in series.climbs(run, tolerance["fallen_bps"])]
        for kind in ("mrci10", "mrci1000")
    )
    few = min(len(small), len(large)) < tolerance["climbs_min"]
    parts = []
    for part, colour, of in (("service", "green", "service_bps2"), ("arrivals", "blue", "arrivals_bps2")):
        if few:
            told = f"{colour}: {len(small)} and {len(large)} whole climbs at mRCI 10 and 1000 ms."
            parts.append(Part(part, None, told))
            continue
        slow, fast = (float(np.median([getattr(climb, of) for climb in found])) for found in (small, large))
        ratio = fast / slow if slow else math.inf
        told = (
            f"{colour}: {slow / 1e6:.2f} and {fast / 1e6:.2f} Mb/s per s at mRCI 10 and 1000 ms, ratio {ratio:.2f} "
            f"(medians of {len(small)} and {len(large)})."
        )
        parts.append(Part(part, abs(ratio - 1) <= tolerance["share"], told))
    return parts


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
    shares = [evidence.grid.interval(cell("Fig. 4", 100, mrci), "mean_rate_bps", 1 / MAXIMUM_BPS) for mrci in MRCI]
    highest = max(shares, key=lambda share: share.mean)
    cuts = [float(np.mean([reduction(evidence, "Fig. 4", rtt, mrci).mean for mrci in MRCI])) for rtt in RTT]
    lowest = min((reduction(evidence, "Fig. 4", 100, mrci) for mrci in MRCI), key=lambda found: found.mean)
    more = _more_lost(evidence, "Fig. 4", [(rtt, mrci) for rtt in RTT for mrci in MRCI])
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


def _more_lost(evidence: Evidence, figure: str, points: Sequence[tuple[float, float]]) -> list[bool]:
    """For each RTT and mRCI: True if the interval of the loss less TCPonly's is above zero."""
    return [
        evidence.grid.difference(cell(figure, rtt, mrci), reference(figure, rtt), "loss").low > 0
        for rtt, mrci in points
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
                    _above(rise),
                    f"{figure}, RTT {rtt} ms: reduction rises by {number(rise, 'points')} from mRCI 10 to 1000 ms.",
                ),
                Part(
                    f"{name}order{rtt}",
                    order >= tolerance["rank_min"],
                    f"{levels} % along mRCI (order {order:+.1f}).",
                ),
            ]
        over_rtt = _mean_over([_by_seed_rise(evidence, figure, rtt) for rtt in RTT])
        told = f"{figure}, mean over the four RTT: {number(over_rtt, 'points')}."
        parts.append(Part(f"{name}worse", _above(over_rtt), told))
    return parts


def _by_seed_rise(evidence: Evidence, figure: str, rtt: float) -> dict[int, float]:
    slow, fast = (
        evidence.grid.reductions(cell(figure, rtt, mrci), reference(figure, rtt), "goodput_bps") for mrci in (1000, 10)
    )
    return {seed: (slow[seed] - fast[seed]) * 100 for seed in slow if seed in fast}


def _mean_over(samples: Sequence[dict[int, float]]) -> Interval:
    """The confidence interval over seeds of the mean over several samples."""
    seeds = [seed for seed in samples[0] if all(seed in sample for sample in samples)]
    return mean_interval([float(np.mean([sample[seed] for sample in samples])) for seed in seeds])


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
                f"reduction at RTT 50 and 100 ms {_percent(mine, 0)} ({_percent(usual, 0)} at 100 ms).",
            ),
        ]
    return parts


def _cut_with_bursts(evidence: Evidence, bon: float, rtt: float, mrci: float) -> Interval:
    """The reduction of TCP's goodput with bursts of a mean duration in ms."""
    control = Cell.of("background", bon=bon, rtt=rtt, mrci=mrci)
    return evidence.grid.reduction(control, Cell.of("background-tcponly", bon=bon, rtt=rtt), "goodput_bps")


def arrivals_vary_more(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T14: with bursts the arrivals vary more than with one flow."""
    parts = []
    for panel, point in PANELS.items():
        alone, bursts = (_arrival_spread(evidence, f"fig{figure}{panel}") for figure in (3, 5))
        told = f"({panel}) {point}: deviation {alone / 1e6:.2f} in Fig. 3, {bursts / 1e6:.2f} Mb/s in Fig. 5."
        parts.append(Part(panel, bursts > alone, told))
    return parts


def _arrival_spread(evidence: Evidence, name: str) -> float:
    """The standard deviation of the arrival rate in bins of 0.2 s, in bit/s, without the first 10 s."""
    time, arriving = series.arrivals(evidence.series[name], 0.2)
    return float(np.std(arriving[time >= WARM_UP_S]))


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
            Part(f"loss-rtt{rtt}", _above(more), f"loss {_signed(more, 3)} points above TCPonly."),
        ]
    cuts = [
        evidence.grid.reductions(cell("Fig. 4", rtt, 10), reference("Fig. 4", rtt), "goodput_bps") for rtt in (100, 1)
    ]
    gap = mean_interval([(cuts[0][seed] - cuts[1][seed]) * 100 for seed in cuts[0] if seed in cuts[1]])
    lost = evidence.grid.difference(cell("Fig. 4", 100, 10), cell("Fig. 4", 1, 10), "loss", 100)
    return [
        *parts,
        Part("reduction-specially", _above(gap), f"RTT 100 against 1 ms: reduction {_signed(gap)} points."),
        Part("loss-specially", _above(lost), f"loss {_signed(lost, 3)} points."),
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
            gain = _over_seeds(gains[rtt])
            parts.append(Part(f"{part}-rtt{rtt}", _above(gain), f"RTT {rtt} ms: {told} {number(gain, unit, digits)}."))
        more = _over_seeds({seed: gains[largest][seed] - gains[smallest][seed] for seed in gains[largest]})
        shown = f"RTT {largest} ms less RTT {smallest} ms: {number(more, unit, digits)}."
        parts.append(Part(f"{part}-specially", _above(more), shown))
    return parts


def _over_seeds(sample: Mapping[int, float]) -> Interval:
    return mean_interval(list(sample.values()))


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
                    _less(evidence.grid.samples(usual, "mean_rate_bps"), evidence.grid.samples(here, "mean_rate_bps"))
                )
                cuts.append(
                    _less(
                        evidence.grid.reductions(usual, plain, "goodput_bps"),
                        evidence.grid.reductions(here, without, "goodput_bps"),
                    )
                )
        lower, relief = _mean_over(rates).scaled(1e-6), _mean_over(cuts).scaled(100)
        parts += [
            Part(f"bn{bn:g}-saving", _above(lower), f"BN {bn:g} ms: rate lower by {number(lower, 'Mb/s', 2)}."),
            Part(f"bn{bn:g}-reduction", _above(relief), f"reduction lower by {number(relief, 'points')}."),
        ]
    return parts


def _less(a: Mapping[int, float], b: Mapping[int, float]) -> dict[int, float]:
    """The difference a - b by seed."""
    return {seed: a[seed] - b[seed] for seed in a if seed in b}


def smaller_gap(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T17: with the bottleneck the service rate is closer to the arrivals."""
    gaps = {panel: [_gap(evidence, f"fig{figure}{panel}") for figure in (5, 7)] for panel in PANELS}
    arriving = {
        panel: [float(np.mean(series.arrivals(evidence.series[f"fig{figure}{panel}"], 1.0)[1])) for figure in (5, 7)]
        for panel in PANELS
    }
    closer = sum(seven < five for five, seven in gaps.values())
    told = ", ".join(f"({panel}) {five / 1e6:.2f} and {seven / 1e6:.2f}" for panel, (five, seven) in gaps.items())
    lower = ", ".join(f"{five / 1e6:.2f} and {seven / 1e6:.2f}" for five, seven in arriving.values())
    return [
        Part("gap", closer >= tolerance["panels_min"], f"gap in Fig. 5 and 7: {told} Mb/s; smaller in {closer} of 4."),
        Part("gap-b", gaps["b"][1] < gaps["b"][0], "panel (b), which the text compares."),
        Part("arrivals", all(seven < five for five, seven in arriving.values()), f"mean arrivals {lower} Mb/s."),
    ]


def _gap(evidence: Evidence, name: str) -> float:
    """The mean distance of the service rate from the arrivals of the same second, in bit/s."""
    time, arriving = series.arrivals(evidence.series[name], 1.0)
    return float(np.mean(np.abs(series.service_at(evidence.series[name], time) - arriving)))


def late_both_ways(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T18: with the bottleneck a slow rate is reduced and increased too late."""
    waste = {name: _waste(evidence, name) for name in ("fig7b", "fig7d")}
    late = {name: _longest_late(evidence, name) for name in ("fig7b", "fig7d")}
    return [
        Part(
            "waste",
            waste["fig7d"] > waste["fig7b"],
            f"Fig. 7(b, d): the rate is {waste['fig7b'] / 1e6:.2f} and {waste['fig7d'] / 1e6:.2f} Mb/s above arrivals.",
        ),
        Part(
            "late",
            late["fig7d"] >= tolerance["late_s"] and late["fig7d"] > late["fig7b"],
            f"longest time with arrivals above the rate {late['fig7b']:.1f} and {late['fig7d']:.1f} s.",
        ),
    ]


def fast_follows(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T19: with a small mRCI the service rate follows the arrivals at once."""
    parts = []
    for figure in (3, 5, 7):
        fast, slow = (series.following(evidence.series[f"fig{figure}{panel}"], WARM_UP_S) for panel in "bd")
        parts.append(
            Part(
                f"fig{figure}",
                fast.correlation > slow.correlation,
                f"Fig. {figure}(b, d): correlation {fast.correlation:.2f} and {slow.correlation:.2f}.",
            )
        )
        if figure != 3:
            told = f"Fig. {figure}(b): the rate follows after {fast.delay_s:.1f} s."
            parts.append(Part(f"fig{figure}-delay", fast.delay_s <= tolerance["delay_s"] + 1e-9, told))
    return parts


def still_a_loss(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T20: with bottleneck and bursts, TCP still loses throughput and packets."""
    points = [(rtt, mrci) for rtt in RTT for mrci in MRCI]
    small = [(rtt, 10) for rtt in RTT]
    highest = max(
        (evidence.grid.interval(cell("Fig. 6", *point), "mean_rate_bps", 1 / MAXIMUM_BPS) for point in points),
        key=lambda share: share.mean,
    )
    lost, lost_small = (_more_lost(evidence, "Fig. 6", chosen) for chosen in (points, small))
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


def time_series(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T9: the time series."""
    full = [float(np.mean(series.arrivals(evidence.series[name], 1.0)[1])) for name in ("fig3a", "fig3c")]
    spread = {name: _spread(evidence, name) for name in ("fig3a", "fig3c")}
    changes = _changes_after(evidence, "fig3a")
    varies = changes > 0 and 0 < spread["fig3a"] <= tolerance["small_bps"]
    waste = {name: _waste(evidence, name) for name in ("fig3b", "fig3d")}
    back = {name: _sending_percentile(evidence, name) for name in ("fig5b", "fig5-rtt100-tcponly", "fig7b")}
    parts = [
        Part(
            "full", min(full) >= tolerance["full_bps"], f"Fig. 3(a, c): TCP sends {min(full) / 1e6:.2f} Mb/s or more."
        ),
        Part(
            "variations",
            varies,
            f"Fig. 3(a): {changes} changes after 10 s, deviation {spread['fig3a'] / 1e6:.2f} Mb/s.",
        ),
        Part(
            "steady",
            spread["fig3c"] <= tolerance["steady_bps"] and spread["fig3c"] <= spread["fig3a"],
            f"Fig. 3(c): deviation {spread['fig3c'] / 1e6:.2f} Mb/s.",
        ),
    ]
    for part, small, large, counted in (
        ("unfilled", "fig3a", "fig3b", True),
        ("unfilled-tcponly", "fig3-rtt10-tcponly", "fig3-rtt100-tcponly", False),
    ):
        short, long = (float(np.mean(series.sending(evidence.series[name], 1.0)[1])) for name in (small, large))
        less = 1 - long / short if short else 0.0
        told = f"{'TCP+PC' if counted else 'TCPonly'}: TCP sends {_percent(less, 0)} less at RTT 100 than at 10 ms."
        parts.append(Part(part, less >= tolerance["unfilled_share"], told, counted=counted))
    parts.append(
        Part(
            "waste",
            waste["fig3d"] > waste["fig3b"],
            f"Fig. 3(b, d): the rate is {waste['fig3b'] / 1e6:.2f} and {waste['fig3d'] / 1e6:.2f} Mb/s above arrivals.",
        )
    )
    for slow, fast in (("c", "a"), ("d", "b")):
        long, short = (_longest_late(evidence, f"fig5{panel}") for panel in (slow, fast))
        told = f"Fig. 5({fast}, {slow}): longest time with arrivals above the rate {short:.1f} and {long:.1f} s."
        parts.append(Part(f"late-{slow}", long >= tolerance["late_s"] and long > short, told))
    low, high = tolerance["bottleneck_least_bps"], tolerance["bottleneck_bps"]
    plain = back["fig5-rtt100-tcponly"]
    return [
        *parts,
        Part(
            "open",
            back["fig5b"] >= tolerance["open_bps"],
            f"Fig. 5(b): TCP returns to {back['fig5b'] / 1e6:.1f} Mb/s.",
        ),
        Part("open-tcponly", plain >= tolerance["open_bps"], f"TCPonly to {plain / 1e6:.1f} Mb/s.", counted=False),
        Part(
            "bottleneck",
            low <= back["fig7b"] <= high,
            f"Fig. 7(b): to {back['fig7b'] / 1e6:.1f} Mb/s.",
            counted=False,
        ),
    ]


def _changes_after(evidence: Evidence, name: str) -> int:
    """The changes of the service rate after the first 10 s."""
    return int(np.sum(series.service(evidence.series[name])[0] > WARM_UP_S))


def _spread(evidence: Evidence, name: str) -> float:
    """The standard deviation of the service rate over time, in bit/s, without the first 10 s."""
    times = np.arange(WARM_UP_S, evidence.series[name].summary["duration_s"], 0.01)
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


def survives_in_numbers(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T21: practRA costs many flows of different RTTs as much as one."""
    parts = []
    for traffic, words in (("alone", "alone"), ("bursts", "with bursts")):
        for count in (8, 50):
            crowd = flows.Crowd(traffic, flows.MIXED, "NewReno", count)
            found = {mrci: _over_seeds(flows.reductions(evidence, crowd, mrci)) for mrci in (10, 1000)}
            worse = max(found, key=lambda mrci: found[mrci].mean)
            told = f"{count} flows {words}: reduction {number(found[worse].scaled(100), '%')} (mRCI {worse} ms)."
            parts.append(Part(f"{traffic}{count}", decided(found[worse], at_least=tolerance["heavy_min"]), told))
            if traffic == "bursts":
                more = flows.rise(evidence, crowd)
                parts.append(Part(f"reversal{count}", _above(more), f"mRCI 1000 less 10 ms: {_signed(more)} points."))
    return parts


JUDGES = {
    "T1": nothing_happens,
    "T2": large_rtt_rate,
    "T3": small_mrci_costs,
    "T4": recovery_times,
    "T5": fewer_changes,
    "T6": bursts_hurt,
    "T7": large_mrci_is_worse,
    "T8": bottleneck_milder,
    "T9": time_series,
    "T10": relative_values,
    "T11": more_loss,
    "T12": equal_slopes,
    "T13": other_bursts,
    "T14": arrivals_vary_more,
    "T15": small_mrci_is_bad,
    "T16": one_case_is_representative,
    "T17": smaller_gap,
    "T18": late_both_ways,
    "T19": fast_follows,
    "T20": still_a_loss,
    "T21": survives_in_numbers,
}
"""The judge of each claim."""


def _rate_headline(figure: str, rtt: float, mrci: float) -> Headline:
    label = f"{figure} mean rate, RTT {rtt:g}, mRCI {mrci:g}"
    return Headline(label, "Mb/s", lambda evidence: rate(evidence, figure, rtt, mrci) * 10)


def _reduction_headline(figure: str, rtt: float, mrci: float) -> Headline:
    label = f"{figure} reduction, RTT {rtt:g}, mRCI {mrci:g}"
    return Headline(label, "%", lambda evidence: reduction(evidence, figure, rtt, mrci).mean * 100)


def _recovery_headline(label: str, kind: str) -> Headline:
    def measure(evidence: Evidence) -> float:
        claim = next(claim for claim in evidence.paper.claims if claim.id == "T4")
        return recovery(evidence, kind, claim.tolerance).shortest_median_s

    return Headline(label, "s", measure)


def _near_headline(mrci: float) -> Headline:
    def measure(evidence: Evidence) -> float:
        return float(np.mean(_near(evidence, "mean_rate_bps", mrci))) / 1e6

    return Headline(f"RTT near 100, mean rate, mRCI {mrci:g}", "Mb/s", measure)


HEADLINES = (
    _rate_headline("Fig. 2", 1, 1000),
    _rate_headline("Fig. 2", 10, 1000),
    _near_headline(10),
    _near_headline(1000),
    _reduction_headline("Fig. 2", 100, 10),
    _reduction_headline("Fig. 2", 100, 1000),
    _recovery_headline("T4 TCP+PC, at least", "mrci10"),
    _recovery_headline("T4 TCPonly, at least", "tcponly"),
    _rate_headline("Fig. 4", 100, 10),
    _reduction_headline("Fig. 4", 100, 10),
    _reduction_headline("Fig. 4", 100, 1000),
    _reduction_headline("Fig. 6", 100, 10),
    _reduction_headline("Fig. 6", 100, 1000),
)
"""The numbers that show the effect of a reading."""
