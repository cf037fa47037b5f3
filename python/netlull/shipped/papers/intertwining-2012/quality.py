"""Judges of the claims on losses, completion time and the difference ES - QoSD (Figs. 4 to 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netlull.papers import Evidence, Part, Tolerance, above_zero, decided, every, number
from netlull.stats import Interval, goodman_kruskal

from .measures import (
    STATIC,
    TCP_PC,
    TCPONLY,
    UDP_PC,
    BySeed,
    apart_from_zero,
    below_zero,
    difference,
    es_qosd_goodput,
    es_qosd_time,
    goodput_lost,
    in_points,
    inflation,
    loads,
    mean,
    mean_over,
    over_loads,
    over_seeds,
    samples,
    share_holds,
    together,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def more_loss(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I4: losses are higher with power control, increasingly with load."""
    found = loads(evidence)
    by_seed = [difference(evidence, load, TCP_PC, TCPONLY, "loss") for load in found]
    gaps = [over_seeds(gap) for gap in by_seed]
    higher = [above_zero(gap) for gap in gaps]
    trend = goodman_kruskal(found, [gap.mean for gap in gaps])
    low = mean_over([gap for gap, load in zip(by_seed, found, strict=True) if load <= tolerance["low_to"] + 1e-9])
    high = mean_over([gap for gap, load in zip(by_seed, found, strict=True) if load >= tolerance["high_from"] - 1e-9])
    grown = over_seeds(together(high, low, lambda a, b: a - tolerance["growth_min"] * b))
    return [
        Part(
            "higher",
            share_holds(higher, tolerance["loads_share"]),
            f"loss significantly above TCPonly at {higher.count(True)} of {len(found)} loads, undecided at "
            f"{higher.count(None)}.",
        ),
        Part("trend", trend >= tolerance["rank_min"], f"order of the gap along load {trend:+.2f} (1: always growing)."),
        Part(
            "growth",
            every([above_zero(over_seeds(high)), above_zero(grown)]),
            f"gap {in_points(over_seeds(low))} points at low and {in_points(over_seeds(high))} at high load.",
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
        doubled = [decided(ratio, at_least=tolerance["ratio_min"]) for ratio in ratios]
        told = f"{name} load: {least.mean:.2f} to {most.mean:.2f} times TCPonly."
        parts.append(Part(name, every(doubled), told))
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
    near = decided(plain, at_least=tolerance["tcponly_low_s"], at_most=tolerance["tcponly_high_s"])
    return [
        Part("tcponly", near, f"TCPonly {number(plain, 's', 3)} (sizes fitted to it).", counted=False),
        Part("control", decided(control, at_least=tolerance["control_min_s"]), f"TCP+PC {number(control, 's', 2)}."),
        Part("tenfold", decided(ratio, at_least=tolerance["ratio_min"]), f"{number(ratio, 'times', 2)}."),
    ]


def low_load_pays(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I14: at low load much energy is saved for a tolerable price."""
    low = loads(evidence, 0.0, tolerance["low_to"])
    saved = [mean(evidence, TCP_PC, load, "saving_fs") for load in low]
    ratios = [over_seeds(inflation(evidence, load)) for load in low]
    least, most = min(value.mean for value in saved), max(ratio.mean for ratio in ratios)
    return [
        Part(
            "large",
            every([decided(value, at_least=tolerance["large"]) for value in saved]),
            f"at least {least:.0%} saved at low load,",
        ),
        Part(
            "tolerable",
            every([decided(ratio, at_most=tolerance["tolerable"]) for ratio in ratios]),
            f"for at most {most:.2f} times the completion time.",
        ),
    ]


def high_load_does_not(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I15: at high load the savings are negligible and the price is unacceptable."""
    saved = over_loads(
        [samples(evidence, TCP_PC, load, "saving_fs") for load in loads(evidence, tolerance["high_from"])]
    )
    ratio = over_loads([inflation(evidence, load) for load in loads(evidence, tolerance["unacceptable_from"])])
    return [
        Part(
            "negligible",
            decided(saved, at_most=tolerance["negligible"]),
            f"{in_points(saved)} % saved, mean over high loads,",
        ),
        Part(
            "unacceptable",
            decided(ratio, at_least=tolerance["unacceptable"]),
            f"for {number(ratio, 'times', 2)} the completion time.",
        ),
    ]


def goodput_hardly_falls(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I16: with goodput as the metric, the impact is small."""
    lost = {load: over_seeds(goodput_lost(evidence, load)) for load in loads(evidence)}
    worst = max(lost, key=lambda load: lost[load].mean)
    small = every([decided(value, at_most=tolerance["small"]) for value in lost.values()])
    return [Part("small", small, f"at most {in_points(lost[worst])} % lost, at load {worst:g}.")]


def goodput_difference(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I7: ES - QoSD with goodput is positive at low load and negative at high load."""
    low, high = loads(evidence, 0.0, tolerance["low_to"]), loads(evidence, tolerance["high_from"])
    parts = []
    for static in ("0", "0.75"):
        saving = "saving_fs" + STATIC[static]
        calm = over_loads([es_qosd_goodput(evidence, load, saving) for load in low])
        worst = min((over_seeds(es_qosd_goodput(evidence, load, saving)) for load in high), key=lambda gap: gap.mean)
        name = f"static{static}".replace(".", "")
        parts.append(Part(f"low-{name}", above_zero(calm), f"P_s {static}: {number(calm, 'points')} at low load,"))
        parts.append(Part(f"high-{name}", below_zero(worst), f"at worst {number(worst, 'points')} at high load."))
    return parts


def time_difference(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I8: ES - QoSD with completion time is near zero at low load and far below zero at high load."""
    low, high = loads(evidence, 0.0, tolerance["low_to"]), loads(evidence, tolerance["high_from"])
    least, most, parts = tolerance["near_least_points"], tolerance["near_most_points"], []
    for static, ending in STATIC.items():
        calm, busy = (
            [over_seeds(es_qosd_time(evidence, load, f"saving_fs{ending}")) for load in found] for found in (low, high)
        )
        name = f"static{static}".replace(".", "")
        parts.append(
            Part(
                f"near-{name}",
                every([decided(value, at_least=least, at_most=most) for value in calm]),
                f"P_s {static}: {_range(calm)} points at low load,",
            )
        )
        parts.append(
            Part(
                f"far-{name}",
                every([decided(value, at_most=tolerance["far_points"]) for value in busy]),
                f"{_range(busy)} points at high load.",
            )
        )
    return parts


def _range(values: Sequence[Interval]) -> str:
    means = [value.mean for value in values]
    return f"{min(means):+.0f} to {max(means):+.0f}"


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
        agree = [_same_sign(fs, dvs) for fs, dvs in pairs if apart_from_zero(fs)]
        holds = share_holds(agree, tolerance["agree_share"]) if agree else False
        told = (
            f"{figure}: the same sign at {agree.count(True)} of {len(agree)} loads, undecided at {agree.count(None)}."
        )
        parts.append(Part(name, holds, told, counted=name != "saving"))
    return parts


def _same_sign(clear: Interval, other: Interval) -> bool | None:
    return clear.mean * other.mean > 0 if apart_from_zero(other) else None
