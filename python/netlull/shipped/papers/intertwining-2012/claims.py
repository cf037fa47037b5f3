"""Judges of the claims in claims.toml. Each claim has parts; each part holds or fails and reports its measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Cell, Evidence, Headline, Part, Tolerance, number
from netlull.stats import Interval, goodman_kruskal, mean_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TCPONLY, TCP_PC, UDP_PC = "tcponly", "tcp-pc", "udp-pc"
STATIC = {"0": "", "0.25": "_25", "0.5": "_50", "0.75": "_75"}
"""Static shares of the power, and the suffixes of the savings metrics under them."""

BySeed = dict[int, float]


def loads(evidence: Evidence, low: float = 0.0, high: float = 1.0) -> list[float]:
    """The offered loads from `low` to `high`, including both."""
    return [load for load in evidence.grid.values(TCP_PC, "load") if low - 1e-9 <= load <= high + 1e-9]


def samples(evidence: Evidence, experiment: str, load: float, metric: str) -> BySeed:
    """The samples of a metric by seed."""
    return evidence.grid.samples(Cell.of(experiment, load=load), metric)


def mean(evidence: Evidence, experiment: str, load: float, metric: str, scale: float = 1.0) -> Interval:
    """The mean of a metric over seeds with its 95 % interval."""
    return evidence.grid.interval(Cell.of(experiment, load=load), metric, scale)


def together(a: BySeed, b: BySeed, combine: Callable[[float, float], float]) -> BySeed:
    """Two samples combined seed by seed."""
    return {seed: combine(a[seed], b[seed]) for seed in a if seed in b}


def over_seeds(sample: BySeed) -> Interval:
    """The mean and 95 % interval of a sample."""
    return mean_interval(list(sample.values()))


def over_loads(parts: Sequence[BySeed]) -> Interval:
    """The interval over seeds of the mean over loads: seeds are independent, but loads of the same seed are not."""
    seeds = [seed for seed in parts[0] if all(seed in part for part in parts)]
    return mean_interval([float(np.mean([part[seed] for part in parts])) for seed in seeds])


def difference(evidence: Evidence, load: float, first: str, second: str, metric: str) -> BySeed:
    """The difference of a metric between two scenarios, by seed."""
    return together(samples(evidence, first, load, metric), samples(evidence, second, load, metric), lambda a, b: a - b)


def inflation(evidence: Evidence, load: float, metric: str = "completion_s") -> BySeed:
    """The completion time of TCP+PC divided by that of TCPonly, by seed."""
    return together(
        samples(evidence, TCP_PC, load, metric), samples(evidence, TCPONLY, load, metric), lambda a, b: a / b
    )


def es_qosd_goodput(evidence: Evidence, load: float, saving: str) -> BySeed:
    """The saving minus the reduction of goodput against TCPonly, in percentage points, by seed (section 3.3)."""
    lost = together(
        samples(evidence, TCP_PC, load, "goodput_bps"),
        samples(evidence, TCPONLY, load, "goodput_bps"),
        lambda a, b: 1 - a / b,
    )
    return together(samples(evidence, TCP_PC, load, saving), lost, lambda a, b: 100 * (a - b))


def es_qosd_time(evidence: Evidence, load: float, saving: str, metric: str = "completion_s") -> BySeed:
    """The saving minus the growth of completion time against TCPonly, in percentage points, by seed (section 3.3)."""
    return together(
        samples(evidence, TCP_PC, load, saving),
        inflation(evidence, load, metric),
        lambda saved, ratio: 100 * (saved - (ratio - 1)),
    )


def _apart(value: Interval) -> bool:
    return value.low > 0 or value.high < 0


def transitions_differ(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I1: rate changes differ between TCP and UDP."""
    found = loads(evidence)
    apart, shown = [], []
    for load in found:
        gap = over_seeds(difference(evidence, load, TCP_PC, UDP_PC, "rate_changes"))
        udp = mean(evidence, UDP_PC, load, "rate_changes").mean
        share = gap.mean / udp if udp else 0.0
        apart.append(_apart(gap) and abs(share) >= tolerance["apart_share"])
        if round(load, 3) in (0.2, 0.5, 0.8, 0.9):
            shown.append(f"{share:+.0%} at load {load:g}")
    return [
        Part(
            "apart",
            sum(apart) >= tolerance["loads_share"] * len(found),
            f"curves apart at {sum(apart)} of {len(found)} loads; TCP+PC against UDP+PC: {', '.join(shown)}.",
        )
    ]


def _saving_gaps(evidence: Evidence, low: float, high: float, saving: str = "saving_fs") -> list[BySeed]:
    return [difference(evidence, load, TCP_PC, UDP_PC, saving) for load in loads(evidence, low, high)]


def tcp_saves_more(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I2: at low load, TCP saves more energy than its replay."""
    gaps = _saving_gaps(evidence, 0.0, tolerance["low_to"])
    whole, single = over_loads(gaps), [over_seeds(gap) for gap in gaps]
    against = sum(gap.high < 0 for gap in single)
    return [
        Part("mean", whole.low > 0, f"TCP+PC saves {_points(whole)} points more than UDP+PC, mean over low loads."),
        Part("each", against == 0, f"significantly less at {against} of {len(single)} of them."),
    ]


def tcp_saves_less(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I3: at high load, TCP saves less energy than its replay."""
    gaps = _saving_gaps(evidence, tolerance["high_from"], 1.0)
    whole, single = over_loads(gaps), [over_seeds(gap) for gap in gaps]
    against = sum(gap.low > 0 for gap in single)
    return [
        Part("mean", whole.high < 0, f"TCP+PC against UDP+PC: {_points(whole)} points, mean over high loads."),
        Part("each", against == 0, f"significantly more at {against} of {len(single)} of them."),
    ]


def _points(value: Interval) -> str:
    return number(Interval(value.mean * 100, value.low * 100, value.high * 100, value.n), digits=2)


def more_loss(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I4: losses are higher with power control, increasingly with load."""
    found = loads(evidence)
    gaps = [over_seeds(difference(evidence, load, TCP_PC, TCPONLY, "loss")) for load in found]
    higher = sum(gap.low > 0 for gap in gaps)
    trend = goodman_kruskal(found, [gap.mean for gap in gaps])
    low = float(np.mean([gap.mean for gap, load in zip(gaps, found, strict=True) if load <= tolerance["low_to"]]))
    high = float(np.mean([gap.mean for gap, load in zip(gaps, found, strict=True) if load >= tolerance["high_from"]]))
    return [
        Part(
            "higher",
            higher >= tolerance["loads_share"] * len(found),
            f"loss significantly above TCPonly at {higher} of {len(found)} loads.",
        ),
        Part("trend", trend >= tolerance["rank_min"], f"order of the gap along load {trend:+.2f} (1: always growing)."),
        Part(
            "growth",
            high > 0 and high >= tolerance["growth_min"] * low,
            f"gap {low * 100:.2f} points at low and {high * 100:.2f} at high load.",
        ),
    ]


def at_least_doubles(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I5: the completion time at least doubles at every load."""
    low_to, high_from = tolerance["low_to"], tolerance["high_from"]
    ranges = {
        "low": loads(evidence, 0.0, low_to),
        "middle": [load for load in loads(evidence) if low_to < load < high_from],
        "high": loads(evidence, high_from),
    }
    parts = []
    for name, within in ranges.items():
        ratios = [over_seeds(inflation(evidence, load)) for load in within]
        least, most = min(ratios, key=lambda ratio: ratio.mean), max(ratios, key=lambda ratio: ratio.mean)
        doubled = all(max(ratio.high, ratio.mean) >= tolerance["ratio_min"] for ratio in ratios)
        parts.append(Part(name, doubled, f"{name} load: {least.mean:.2f} to {most.mean:.2f} times TCPonly."))
    trends = [
        goodman_kruskal(
            loads(evidence), [mean(evidence, experiment, load, "completion_s").mean for load in loads(evidence)]
        )
        for experiment in (TCPONLY, TCP_PC)
    ]
    shown = f"order along load {trends[0]:+.2f} without and {trends[1]:+.2f} with power control."
    return [*parts, Part("grows", min(trends) >= tolerance["rank_min"], shown)]


def headline_time(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I6: at load 0.8, the completion time grows from 0.2 s to more than 7 s."""
    plain = mean(evidence, TCPONLY, 0.8, "completion_s")
    control = mean(evidence, TCP_PC, 0.8, "completion_s")
    ratio = over_seeds(inflation(evidence, 0.8))
    return [
        Part(
            "tcponly",
            tolerance["tcponly_low_s"] <= plain.mean <= tolerance["tcponly_high_s"],
            f"TCPonly {number(plain, 's', 3)}.",
        ),
        Part("control", control.mean >= tolerance["control_min_s"], f"TCP+PC {number(control, 's', 2)}."),
        Part("tenfold", ratio.mean >= tolerance["ratio_min"], f"{number(ratio, 'times', 2)}."),
    ]


def goodput_difference(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I7: ES - QoSD with goodput is positive at low load and negative at high load."""
    low, high = loads(evidence, 0.0, tolerance["low_to"]), loads(evidence, tolerance["high_from"])
    parts = []
    for static in ("0", "0.75"):
        saving = "saving_fs" + STATIC[static]
        calm = over_loads([es_qosd_goodput(evidence, load, saving) for load in low])
        worst = min((over_seeds(es_qosd_goodput(evidence, load, saving)) for load in high), key=lambda gap: gap.mean)
        name = f"static{static}".replace(".", "")
        parts.append(Part(f"low-{name}", calm.low > 0, f"P_s {static}: {number(calm, 'points')} at low load,"))
        parts.append(Part(f"high-{name}", worst.high < 0, f"at worst {number(worst, 'points')} at high load."))
    return parts


def time_difference(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I8: ES - QoSD with completion time is near zero at low load and far below zero at high load."""
    low, high = loads(evidence, 0.0, tolerance["low_to"]), loads(evidence, tolerance["high_from"])
    calm = [over_seeds(es_qosd_time(evidence, load, "saving_fs")).mean for load in low]
    busy = [over_seeds(es_qosd_time(evidence, load, "saving_fs")).mean for load in high]
    return [
        Part(
            "near",
            max(map(abs, calm)) <= tolerance["near_points"],
            f"{min(calm):+.0f} to {max(calm):+.0f} points at low load,",
        ),
        Part(
            "far",
            max(busy) <= tolerance["far_points"],
            f"{max(busy):+.0f} to {min(busy):+.0f} points at high load.",
        ),
    ]


def dvs_alike(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I9: DVS gives similar results."""

    def gap(load: float, saving: str) -> BySeed:
        return difference(evidence, load, TCP_PC, UDP_PC, saving)

    pictures: tuple[tuple[str, str, Callable[[float, str], BySeed]], ...] = (
        ("saving", "Fig. 3", gap),
        ("goodput", "Fig. 6", lambda load, saving: es_qosd_goodput(evidence, load, saving)),
        ("time", "Fig. 7", lambda load, saving: es_qosd_time(evidence, load, saving)),
    )
    parts = []
    for name, figure, quantity in pictures:
        pairs = [
            [over_seeds(quantity(load, saving)) for saving in ("saving_fs", "saving_dvs")] for load in loads(evidence)
        ]
        told = [(fs, dvs) for fs, dvs in pairs if _apart(fs)]
        agree = sum(fs.mean * dvs.mean > 0 for fs, dvs in told)
        holds = bool(told) and agree >= tolerance["agree_share"] * len(told)
        parts.append(Part(name, holds, f"{figure}: the same sign at {agree} of {len(told)} loads."))
    return parts


JUDGES = {
    "I1": transitions_differ,
    "I2": tcp_saves_more,
    "I3": tcp_saves_less,
    "I4": more_loss,
    "I5": at_least_doubles,
    "I6": headline_time,
    "I7": goodput_difference,
    "I8": time_difference,
    "I9": dvs_alike,
}
"""The judge of each claim."""


def _time_headline(label: str, experiment: str, load: float) -> Headline:
    return Headline(label, "s", lambda evidence: mean(evidence, experiment, load, "completion_s").mean)


def _ratio_headline(load: float) -> Headline:
    label = f"Fig. 5 inflation, load {load:g}"
    return Headline(label, "times", lambda evidence: over_seeds(inflation(evidence, load)).mean)


def _saving_headline(load: float) -> Headline:
    label = f"Fig. 3 saving of TCP+PC, load {load:g}"
    return Headline(label, "%", lambda evidence: mean(evidence, TCP_PC, load, "saving_fs").mean * 100)


def _gap_headline(load: float) -> Headline:
    label = f"Fig. 3 TCP+PC less UDP+PC, load {load:g}"
    return Headline(
        label,
        "points",
        lambda evidence: over_seeds(difference(evidence, load, TCP_PC, UDP_PC, "saving_fs")).mean * 100,
    )


HEADLINES = (
    _time_headline("Fig. 5 TCPonly, load 0.8", TCPONLY, 0.8),
    _time_headline("Fig. 5 TCP+PC, load 0.8", TCP_PC, 0.8),
    _ratio_headline(0.3),
    _ratio_headline(0.8),
    _saving_headline(0.3),
    _saving_headline(0.8),
    _gap_headline(0.3),
    _gap_headline(0.9),
    Headline("Fig. 4 loss of TCP+PC, load 0.8", "%", lambda evidence: mean(evidence, TCP_PC, 0.8, "loss").mean * 100),
)
"""The numbers that show the effect of a reading."""
