"""Judges of the claims on energy and rate changes (Figs. 2 and 3), and on their causes."""

from __future__ import annotations

import numpy as np

from netlull.papers import Cell, Evidence, Part, Tolerance, above_zero, decided, every
from netlull.stats import Interval, goodman_kruskal

from .measures import (
    STATIC,
    TCP_LOSSLESS,
    TCP_PC,
    TCPONLY,
    UDP_LOSSLESS,
    UDP_PC,
    BySeed,
    apart_from_zero,
    below_zero,
    difference,
    in_points,
    inflation,
    less_one,
    loads,
    mean,
    mean_over,
    over_loads,
    over_seeds,
    samples,
    saving_gaps,
    share_holds,
    together,
    window,
)


def most_cases(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I10: in most cases energy is saved, and downloads take longer."""
    cases: list[bool | None] = []
    for load in loads(evidence):
        slower = above_zero(over_seeds(less_one(inflation(evidence, load))))
        for model in ("fs", "dvs"):
            for ending in STATIC.values():
                saved = mean(evidence, TCP_PC, load, f"saving_{model}{ending}")
                cases.append(every([slower, decided(saved, at_least=tolerance["negligible"])]))
    least = tolerance["cases_share"]
    count = f"{cases.count(True)} of {len(cases)} cases save energy and take longer; {cases.count(None)} undecided."
    return [Part("most", share_holds(cases, least), count)]


def transitions_differ(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I1: rate changes differ between TCP and UDP."""
    found = loads(evidence)
    apart: list[bool | None] = []
    shown = []
    for load in found:
        usual = mean(evidence, UDP_PC, load, "rate_changes").mean
        gap = difference(evidence, load, TCP_PC, UDP_PC, "rate_changes")
        # Where the replay never changes the rate, any difference is more than a share of nothing.
        share = over_seeds({seed: changes / (usual or 1.0) for seed, changes in gap.items()})
        least = tolerance["apart_share"]
        alike = decided(share, at_least=-least, at_most=least)
        differs = None if alike is None else not alike
        apart.append(differs if apart_from_zero(share) else False)
        if round(load, 3) in (0.2, 0.5, 0.8, 0.9):
            shown.append(f"{share.mean:+.0%} at load {load:g}")
    told = f"curves apart at {apart.count(True)} of {len(found)} loads; TCP+PC against UDP+PC: {', '.join(shown)}."
    return [Part("apart", share_holds(apart, tolerance["loads_share"]), told)]


def tcp_saves_more(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I2: at low load, TCP saves more energy than its replay."""
    gaps = saving_gaps(evidence, loads(evidence, 0.0, tolerance["low_to"]))
    whole, single = over_loads(gaps), [over_seeds(gap) for gap in gaps]
    against = sum(gap.high < 0 for gap in single)
    told = f"TCP+PC saves {in_points(whole)} points more than UDP+PC, mean over low loads."
    return [
        Part("mean", above_zero(whole), told),
        Part("each", against == 0, f"significantly less at {against} of {len(single)} of them."),
    ]


def tcp_saves_less(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I3: at high load, TCP saves less energy than its replay."""
    gaps = saving_gaps(evidence, loads(evidence, tolerance["high_from"]))
    whole, single = over_loads(gaps), [over_seeds(gap) for gap in gaps]
    against = sum(gap.low > 0 for gap in single)
    return [
        Part("mean", below_zero(whole), f"TCP+PC against UDP+PC: {in_points(whole)} points, mean over high loads."),
        Part("each", against == 0, f"significantly more at {against} of {len(single)} of them."),
    ]


def _lossless_gaps(evidence: Evidence, low: float, high: float) -> tuple[Interval, Interval, BySeed, BySeed]:
    """Mean gap in saving over the loads of the runs without losses: with the paper's buffer, and without losses."""
    at = [load for load in evidence.grid.values(TCP_LOSSLESS, "lossless_load") if low - 1e-9 <= load <= high + 1e-9]
    with_losses = saving_gaps(evidence, at)
    without = [
        together(
            evidence.grid.samples(Cell.of(TCP_LOSSLESS, lossless_load=load), "saving_fs"),
            evidence.grid.samples(Cell.of(UDP_LOSSLESS, lossless_load=load), "saving_fs"),
            lambda a, b: a - b,
        )
        for load in at
    ]
    means = [mean_over(with_losses), mean_over(without)]
    return over_seeds(means[0]), over_seeds(means[1]), means[0], means[1]


def burstiness(evidence: Evidence, kind: str, bin_s: float) -> BySeed:
    """The coefficient of variation of the bytes that arrive at N1 in a bin, by seed, of the recorded runs."""
    found = {}
    for run in evidence.paper.series:
        if run.name.startswith(f"arrivals-{kind}-"):
            recorded = evidence.series[run.name]
            table = recorded.series("arrivals")
            time = np.asarray(table["time_ns"], dtype=np.int64) / 1e9
            begin, end = (float(recorded.summary[key]) for key in ("warm_up_s", "duration_s"))
            bins = int((end - begin) / bin_s)
            size = np.asarray(table["bytes"], dtype=np.float64)
            arrived, _ = np.histogram(time, bins, (begin, begin + bins * bin_s), weights=size)
            found[run.seed] = float(np.std(arrived) / np.mean(arrived))
    return found


def reacts_to_losses(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I11: at low load TCP saves more because its arrivals are smoother and it reacts to losses."""
    tcp, udp = (burstiness(evidence, kind, tolerance["bin_s"]) for kind in ("tcp", "udp"))
    smoother = over_seeds(together(tcp, udp, lambda a, b: a - b))
    low = loads(evidence, 0.0, tolerance["low_to"])
    lost = over_loads([difference(evidence, load, TCP_PC, UDP_PC, "loss") for load in low])
    gap, without, by_seed, left = _lossless_gaps(evidence, 0.0, tolerance["low_to"])
    kept = over_seeds(together(left, by_seed, lambda a, b: a - tolerance["left_share"] * b))
    return [
        Part(
            "smoother",
            below_zero(smoother),
            f"arrivals vary by {over_seeds(tcp).mean:.3f} with TCP and {over_seeds(udp).mean:.3f} with its replay.",
        ),
        Part("losses", below_zero(lost), f"loss of TCP+PC less UDP+PC: {in_points(lost)} points at low load."),
        Part(
            "cause",
            every([above_zero(gap), below_zero(kept)]),
            f"{in_points(gap)} points more saved with losses and {in_points(without)} without any.",
        ),
    ]


def window_falls(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I12: the mean window falls with load."""
    found = loads(evidence)
    parts = []
    for experiment, name in ((TCPONLY, "TCPonly"), (TCP_PC, "TCP+PC")):
        windows = [over_seeds(window(evidence, experiment, load)).mean for load in found]
        trend = goodman_kruskal(found, windows)
        told = f"{name}: {windows[0]:.2f} to {windows[-1]:.2f} segments, order along load {trend:+.2f}."
        parts.append(Part(experiment, trend <= tolerance["rank_max"], told))
    return parts


def retransmits_more(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges I13: at high load TCP saves less because of losses and retransmissions."""
    found, parts = loads(evidence), []
    for metric in ("loss", "retransmissions"):
        trend = goodman_kruskal(found, [mean(evidence, TCP_PC, load, metric).mean for load in found])
        parts.append(Part(metric, trend >= tolerance["rank_min"], f"{metric}: order along load {trend:+.2f}."))
    high = loads(evidence, tolerance["high_from"])
    more = over_loads(
        [
            together(
                samples(evidence, TCP_PC, load, "arrived_bytes"),
                samples(evidence, UDP_PC, load, "arrived_bytes"),
                lambda a, b: a / b - 1,
            )
            for load in high
        ]
    )
    gap, without, by_seed, left = _lossless_gaps(evidence, tolerance["high_from"], 1.0)
    kept = over_seeds(together(by_seed, left, lambda a, b: tolerance["left_share"] * a - b))
    return [
        *parts,
        Part("arrivals", above_zero(more), f"{in_points(more)} % more arrivals at N1 than with UDP+PC at high load."),
        Part(
            "cause",
            every([below_zero(gap), below_zero(kept)]),
            f"saving against UDP+PC {in_points(gap)} points with losses and {in_points(without)} without any.",
        ),
    ]
