"""Judges of the claims on the time series (Figs. 3, 5 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Evidence, Part, Tolerance, above_zero, decided, every, number
from netlull.stats import Interval, mean_interval

from . import series
from .measures import PANELS, percent, seeded

if TYPE_CHECKING:
    from collections.abc import Callable

    from netlull.papers import Recorded

    Quantity = Callable[[Recorded], float]

WARM_UP_S = 10.0
"""The start of a run, with slow start, that measures of variation leave out, in seconds."""


def arrivals_vary_more(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T14: with bursts the arrivals vary more than with one flow."""
    parts = []
    for panel, point in PANELS.items():
        alone = _arrival_spread(evidence.series[f"fig3{panel}"])
        bursts = _mean(evidence, f"fig5{panel}", _arrival_spread)
        told = f"({panel}) {point}: deviation {alone / 1e6:.2f} in Fig. 3, {_megabits(bursts)} in Fig. 5."
        more = mean_interval([_arrival_spread(run) - alone for run in seeded(evidence, f"fig5{panel}")])
        parts.append(Part(panel, above_zero(more), told))
    return parts


def _arrival_spread(recorded: Recorded) -> float:
    """The standard deviation of the arrival rate in bins of 0.2 s, in bit/s, without the first 10 s."""
    time, arriving = series.arrivals(recorded, 0.2)
    return float(np.std(arriving[time >= WARM_UP_S]))


def smaller_gap(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T17: with the bottleneck the service rate is closer to the arrivals."""
    closer = {panel: _less(evidence, f"fig5{panel}", f"fig7{panel}", gap) for panel in PANELS}
    fewer = {panel: _less(evidence, f"fig5{panel}", f"fig7{panel}", mean_arrivals) for panel in PANELS}
    answers = [above_zero(less) for less in closer.values()]
    wanted = int(tolerance["panels_min"])
    enough = True if answers.count(True) >= wanted else None if answers.count(False) <= len(answers) - wanted else False
    five, seven = ({panel: _mean(evidence, f"fig{figure}{panel}", gap) for panel in PANELS} for figure in (5, 7))
    gaps = ", ".join(f"({panel}) {five[panel].mean / 1e6:.2f} and {_megabits(seven[panel])}" for panel in PANELS)
    lower = ", ".join(number(less.scaled(1e-6), digits=2) for less in fewer.values())
    return [
        Part("gap", enough, f"gap in Fig. 5 and 7: {gaps}; smaller in {answers.count(True)} of 4."),
        Part("gap-b", above_zero(closer["b"]), f"panel (b), which the text compares: {_megabits(closer['b'])} less."),
        Part("arrivals", every(above_zero(less) for less in fewer.values()), f"mean arrivals lower by {lower} Mb/s."),
    ]


def gap(recorded: Recorded) -> float:
    """The mean distance of the service rate from the arrivals of the same second, in bit/s."""
    time, arriving = series.arrivals(recorded, 1.0)
    return float(np.mean(np.abs(series.service_at(recorded, time) - arriving)))


def mean_arrivals(recorded: Recorded) -> float:
    """The mean arrival rate, in bit/s."""
    return float(np.mean(series.arrivals(recorded, 1.0)[1]))


def late_both_ways(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T18: with the bottleneck a slow rate is reduced and increased too late."""
    fast, slow = (_mean(evidence, name, _waste) for name in ("fig7b", "fig7d"))
    wasted = f"Fig. 7(b, d): the rate is {fast.mean / 1e6:.2f} and {_megabits(slow)} above arrivals."
    more = _less(evidence, "fig7d", "fig7b", _waste)
    return [
        Part("waste", above_zero(more), wasted),
        _late(evidence, "late", "fig7b", "fig7d", tolerance, "longest time"),
    ]


def _late(evidence: Evidence, part: str, fast: str, slow: str, tolerance: Tolerance, words: str) -> Part:
    """The longest time with arrivals above a slow rate: long enough, and longer than with a fast rate."""
    short, long = (_mean(evidence, name, _longest_late) for name in (fast, slow))
    longer = above_zero(_less(evidence, slow, fast, _longest_late))
    told = f"{words} with arrivals above the rate {short.mean:.1f} and {number(long, 's', 1)}."
    return Part(part, every([decided(long, at_least=tolerance["late_s"]), longer]), told)


def fast_follows(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T19: with a small mRCI the service rate follows the arrivals at once."""
    parts = []
    for figure in (3, 5, 7):
        fast, slow = (_mean(evidence, f"fig{figure}{panel}", _correlation) for panel in "bd")
        more = _less(evidence, f"fig{figure}b", f"fig{figure}d", _correlation)
        told = f"Fig. {figure}(b, d): correlation {fast.mean:.2f} and {slow.mean:.2f}."
        parts.append(Part(f"fig{figure}", above_zero(more) if more.n > 1 else more.mean > 0, told))
        if figure != 3:
            delays = [series.following(run, WARM_UP_S).delay_s for run in seeded(evidence, f"fig{figure}b")]
            at_once = max(delays) <= tolerance["delay_s"] + 1e-9
            told = f"Fig. {figure}(b): the rate follows after {max(delays):.1f} s at most."
            parts.append(Part(f"fig{figure}-delay", at_once, told))
    return parts


def _correlation(recorded: Recorded) -> float:
    return series.following(recorded, WARM_UP_S).correlation


def time_series(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges T9: the time series."""
    full = [mean_arrivals(evidence.series[name]) for name in ("fig3a", "fig3c")]
    spread = {name: _spread(evidence.series[name]) for name in ("fig3a", "fig3c")}
    changes = _changes_after(evidence.series["fig3a"])
    varies = changes > 0 and 0 < spread["fig3a"] <= tolerance["small_bps"]
    waste = {name: _waste(evidence.series[name]) for name in ("fig3b", "fig3d")}
    back = {name: _mean(evidence, name, _sending_percentile) for name in ("fig5b", "fig5-rtt100-tcponly", "fig7b")}
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
        told = f"{'TCP+PC' if counted else 'TCPonly'}: TCP sends {percent(less, 0)} less at RTT 100 than at 10 ms."
        parts.append(Part(part, less >= tolerance["unfilled_share"], told, counted=counted))
    parts.append(
        Part(
            "waste",
            waste["fig3d"] > waste["fig3b"],
            f"Fig. 3(b, d): the rate is {waste['fig3b'] / 1e6:.2f} and {waste['fig3d'] / 1e6:.2f} Mb/s above arrivals.",
        )
    )
    for slow, fast in (("c", "a"), ("d", "b")):
        words = f"Fig. 5({fast}, {slow}): longest time"
        parts.append(_late(evidence, f"late-{slow}", f"fig5{fast}", f"fig5{slow}", tolerance, words))
    least = decided(back["fig5b"], at_least=tolerance["open_bps"])
    plain = decided(back["fig5-rtt100-tcponly"], at_least=tolerance["open_bps"])
    level = decided(back["fig7b"], at_least=tolerance["bottleneck_least_bps"], at_most=tolerance["bottleneck_bps"])
    return [
        *parts,
        Part("open", least, f"Fig. 5(b): TCP returns to {_megabits(back['fig5b'])}."),
        Part("open-tcponly", plain, f"TCPonly to {_megabits(back['fig5-rtt100-tcponly'])}.", counted=False),
        Part("bottleneck", level, f"Fig. 7(b): to {_megabits(back['fig7b'])}.", counted=False),
    ]


def _mean(evidence: Evidence, name: str, quantity: Quantity) -> Interval:
    """A quantity of a figure's recorded runs: the mean over its seeds."""
    return mean_interval([quantity(run) for run in seeded(evidence, name)])


def _less(evidence: Evidence, name: str, other: str, quantity: Quantity) -> Interval:
    """A quantity of a figure's recorded runs less that of another's, seed by seed."""
    pairs = zip(seeded(evidence, name), seeded(evidence, other), strict=True)
    return mean_interval([quantity(one) - quantity(two) for one, two in pairs])


def _megabits(found: Interval) -> str:
    return number(found.scaled(1e-6), "Mb/s", 2)


def _changes_after(recorded: Recorded) -> int:
    """The changes of the service rate after the first 10 s."""
    return int(np.sum(series.service(recorded)[0] > WARM_UP_S))


def _spread(recorded: Recorded) -> float:
    """The standard deviation of the service rate over time, in bit/s, without the first 10 s."""
    times = np.arange(WARM_UP_S, recorded.summary["duration_s"], 0.01)
    return float(np.std(series.service_at(recorded, times)))


def _waste(recorded: Recorded) -> float:
    """The mean excess of the service rate over the arrivals of the same second, in bit/s."""
    time, arriving = series.arrivals(recorded, 1.0)
    return float(np.mean(np.maximum(series.service_at(recorded, time) - arriving, 0)))


def _longest_late(recorded: Recorded) -> float:
    """The longest time for which arrivals exceed the service rate, in seconds, with bins of 0.1 s."""
    time, arriving = series.arrivals(recorded, 0.1)
    longest = run = 0
    for above in arriving > series.service_at(recorded, time):
        run = run + 1 if above else 0
        longest = max(longest, run)
    return longest * 0.1


def _sending_percentile(recorded: Recorded) -> float:
    """The 90th percentile of TCP's sending rate in bins of 1 s, in bit/s."""
    return float(np.percentile(series.sending(recorded, 1.0)[1], 90))
