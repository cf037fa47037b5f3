"""Judges of the claims on congestion windows (Fig. 2), from the recorded runs at 70 %."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np

from netlull.papers import Evidence, Part, Tolerance, decided, number

from . import series
from .measures import AIMD, EARLY_S, LATE_S, LINUX, LOSS_BASED, STABLE_S, Values, less, mean, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from netlull.papers import Recorded
    from netlull.stats import Interval


def windows_of(evidence: Evidence, version: str) -> dict[int, Recorded]:
    """The recorded runs of a version in Fig. 2, by seed."""
    prefix = {"NewReno": "new-reno"}.get(version, version.lower()) + "-"
    names = [name for name in evidence.series if name.startswith(prefix)]
    return {int(name.removeprefix(prefix)): evidence.series[name] for name in names}


def of_runs(evidence: Evidence, version: str, measure: Callable[[Recorded], float]) -> Values:
    """A number of each recorded run of a version."""
    return {seed: measure(run) for seed, run in windows_of(evidence, version).items()}


def mean_windows(evidence: Evidence, version: str, span: tuple[float, float]) -> Values:
    """The mean window of each recorded run of a version, in segments."""
    return of_runs(evidence, version, lambda run: series.mean_window(run, *span))


def peaks(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N9: after the switch-off, windows and their peaks are lower, and peaks take longer to reach."""
    parts = []
    for version in (*LOSS_BASED, "Vegas"):
        name = version.lower()
        early, late = (mean_windows(evidence, version, span) for span in (EARLY_S, LATE_S))
        text = f"{version}: mean {mean(early).mean:.0f} → {mean(late).mean:.0f} segments,"
        parts.append(Part(f"mean-{name}", decided(less(late, early), at_most=0), text))
        if version not in LOSS_BASED:
            continue
        was, now = (teeth_of(evidence, version, span, tolerance["fall"]) for span in (EARLY_S, LATE_S))
        high, low = ({seed: found.peak for seed, found in teeth.items()} for teeth in (was, now))
        text = f"peak {mean(high).mean:.0f} → {mean(low).mean:.0f},"
        parts.append(Part(f"peak-{name}", decided(less(low, high), at_most=0), text))
        short, long = ({seed: found.period_s for seed, found in teeth.items()} for teeth in (was, now))
        text = f"time between peaks {mean(short).mean:.1f} → {mean(long).mean:.1f} s."
        parts.append(Part(f"time-{name}", decided(less(long, short), at_least=0), text))
    return parts


def teeth_of(evidence: Evidence, version: str, span: tuple[float, float], fall: float) -> dict[int, series.Teeth]:
    """The falls of each recorded window of a version in this interval."""
    return {seed: series.teeth(run, *span, fall) for seed, run in windows_of(evidence, version).items()}


def short_fall(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N13: a short fall of the AIMD versions, then another stable state."""
    parts = []
    for version in AIMD:
        name = version.lower()
        early, late = (mean_windows(evidence, version, span) for span in (EARLY_S, STABLE_S))
        lowest = of_runs(
            evidence,
            version,
            lambda run: lowest_after_switch(run) / series.mean_window(run, *EARLY_S),
        )
        back = reactions(evidence, version, tolerance["back"])
        drift = of_runs(
            evidence, version, lambda run: series.mean_window(run, 50, 60) / series.mean_window(run, 40, 50)
        )
        parts += [
            Part(
                f"fall-{name}",
                decided(mean(lowest), at_most=tolerance["fall"]),
                f"{version}: to {percent(mean(lowest), 0)},",
            ),
            Part(
                f"short-{name}",
                decided(mean(back), at_most=tolerance["short_s"]),
                f"back after {number(mean(back), 's')},",
            ),
            Part(
                f"stable-{name}",
                decided(mean(drift), at_least=1 - tolerance["stable"], at_most=1 + tolerance["stable"]),
                f"then {percent(mean(drift), 0)} from 50 s on,",
            ),
            Part(
                f"lower-{name}",
                decided(less(late, early), at_most=0),
                f"mean {mean(early).mean:.0f} → {mean(late).mean:.0f} segments.",
            ),
        ]
    return parts


def lowest_after_switch(run: Recorded) -> float:
    """The lowest window in the first 2 s after the switch-off, in segments."""
    return series.lowest_window(run, series.SWITCH_S, series.SWITCH_S + 2)


def reactions(evidence: Evidence, version: str, share: float) -> Values:
    """The time in s until each run's window is at this share of its later mean again."""
    return of_runs(evidence, version, lambda run: series.reaction_s(run, share * series.mean_window(run, *STABLE_S)))


def variations(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N14: BIC and CUBIC vary their windows less at losses."""
    depth = {}
    for version in LOSS_BASED:
        spans = [teeth_of(evidence, version, span, tolerance["fall"]) for span in (EARLY_S, LATE_S)]
        found = {seed: [depth for span in spans for depth in span[seed].depths] for seed in spans[0]}
        depth[version] = {seed: float(np.mean(depths)) for seed, depths in found.items() if depths}
    return below_aimd(depth, lambda found: percent(found, 0))


def below_aimd(values: Mapping[str, Values], shown: Callable[[Interval], str]) -> list[Part]:
    """A part for BIC and CUBIC against each AIMD version: the value is smaller, seed by seed."""
    texts = {version: f"{version} {shown(mean(found))}" for version, found in values.items()}
    return [
        Part(
            f"{version}-{other}".lower(),
            decided(less(values[version], values[other]), at_most=0),
            f"{texts[version]}, {texts[other]}.",
        )
        for version in LINUX
        for other in AIMD
    ]


def quicker(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N15: BIC and CUBIC react quicker."""
    took = {version: reactions(evidence, version, tolerance["back"]) for version in LOSS_BASED}
    return below_aimd(took, lambda found: f"{found.mean:.2f} s")


def one_segment(evidence: Evidence, _tolerance: Tolerance) -> list[Part]:
    """Judges N8: the windows of BIC and CUBIC never fall to one segment."""
    parts = []
    for version in LOSS_BASED:
        lowest = of_runs(evidence, version, lowest_after_switch).values()
        one = [value <= 1 for value in lowest]
        holds = all(one) if version in AIMD else not any(one)
        parts.append(Part(version.lower(), holds, f"{version} {', '.join(f'{value:.0f}' for value in lowest)}."))
    return parts


def constant(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N16: Vegas keeps its window constant."""
    parts = []
    for name, span in (("before", (10.0, 30.0)), ("after", (45.0, 60.0))):
        found = mean(of_runs(evidence, "Vegas", functools.partial(series.spread, from_s=span[0], to_s=span[1])))
        text = f"{span[0]:.0f} to {span[1]:.0f} s: {percent(found)}."
        parts.append(Part(name, decided(found, at_most=tolerance["spread"]), text))
    return parts


def largest_drop(evidence: Evidence, tolerance: Tolerance) -> list[Part]:
    """Judges N17: Vegas's window falls most."""

    def fall(version: str) -> Values:
        return of_runs(
            evidence, version, lambda run: 1 - series.mean_window(run, *LATE_S) / series.mean_window(run, *EARLY_S)
        )

    mine = fall("Vegas")
    parts = []
    for version in LOSS_BASED:
        other = fall(version)
        text = f"Vegas {percent(mean(mine))}, {version} {percent(mean(other))}."
        parts.append(Part(version.lower(), decided(less(mine, other, tolerance["times"]), at_least=0), text))
    return parts
