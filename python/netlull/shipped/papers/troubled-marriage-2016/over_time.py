"""Judges of the claims on the time series (Figs. 3, 5 and 7)."""

from __future__ import annotations

import numpy as np

from netlull.papers import Evidence, Part, Tolerance

from . import series
from .measures import PANELS, percent

WARM_UP_S = 10.0
"""The start of a run, with slow start, that measures of variation leave out, in seconds."""


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
        long, short = (_longest_late(evidence, f"fig5{panel}") for panel in (slow, fast))
        told = f"Fig. 5({fast}, {slow}): longest time with arrivals above the rate {short:.1f} and {long:.1f} s."
        parts.append(Part(f"late-{slow}", long >= tolerance["late_s"] and long > short, told))
    low, high = tolerance["bottleneck_least_bps"], tolerance["bottleneck_bps"]
    plain = back["fig5-rtt100-tcponly"]
    return [
        *parts,
        Part(
            "open", back["fig5b"] >= tolerance["open_bps"], f"Fig. 5(b): TCP returns to {back['fig5b'] / 1e6:.1f} Mb/s."
        ),
        Part("open-tcponly", plain >= tolerance["open_bps"], f"TCPonly to {plain / 1e6:.1f} Mb/s.", counted=False),
        Part(
            "bottleneck", low <= back["fig7b"] <= high, f"Fig. 7(b): to {back['fig7b'] / 1e6:.1f} Mb/s.", counted=False
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
